// The law's projection at every contact, λ⁺ = P_K(λ - ρ ũ), and its linearisation.
//
//   (I - J) δλ + ρ J δu = P_K(λ - ρ ũ) - λ,      J the derivative of the projection
// For Coulomb friction the normal and the tangential projections are taken one after the other (Alart and Curnier 1991), which needs
// no derivative of |u_T|. J has orthonormal eigenvectors e and eigenvalues q in [0, 1]; along each of them
//   δλ_e = soft(q) (F_e - q ρ δu_e),     soft(q) = 1 / (1 - q + q / limit)
// is the Newton equation of the natural map with a proximal term -δλ/(limit ρ).
#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

#include "stiction/programs/cone/memory.hpp"

namespace stiction {

namespace {

struct Affine {  // δλ = r - D δu
  Eigen::Map<Matrix3Row> D;
  Eigen::Map<Eigen::Vector3d> r;
};

struct Gain {
  double rho, limit;
  double soft(double q) const { return 1.0 / (1.0 - q + q / limit); }
  double full() const { return rho * limit; }  // of a direction that is free: q = 1
};

void relaxed_contact(const SectionShape& shape, double mu, const Gain& gain, const Eigen::Vector3d& lambda, const Eigen::Vector3d& u,
                     Affine out) {
  const Eigen::Vector3d x = lambda - gain.rho * u;
  const Eigen::Vector3d p = shape.project(mu, x);
  const Eigen::Vector3d f = p - lambda;
  if (p == x) {
    out.D.setIdentity();
    out.D *= gain.full();
    out.r = gain.limit * f;
    return;
  }
  out.D.setZero();
  out.r = f;
  if (p[0] <= 0.0) return;
  const auto add = [&](const Eigen::Vector3d& e, double q) {
    const double soft = gain.soft(q);
    out.r += (soft - 1.0) * e.dot(f) * e;
    out.D += (soft * q * gain.rho) * e * e.transpose();
  };
  add(p.normalized(), 1.0);
  if (mu == 0.0) return;
  const double t = x.tail<2>().norm();
  if (shape.disc()) {
    add({0.0, -x[2] / t, x[1] / t}, p.tail<2>().norm() / t);
    return;
  }
  // Facet or ray: on the facet the second direction of the face is free too.
  const Sector s = shape.sector(x.tail<2>());
  const double across = s.tangent.dot(p.tail<2>());
  if (std::abs(across) < mu * shape.sin_half() * p[0] * (1.0 - 1e-14)) {
    Eigen::Vector3d facet_normal(-mu * shape.cos_half(), s.normal[0], s.normal[1]);
    add(facet_normal.cross(p).normalized(), 1.0);
  }
}

/// Radius of the section: now, by which the face is chosen, and once u has changed, factor (after - slope δu_N).
struct Radius {
  double now, factor, after, slope;
};

void stick(const Gain& gain, const Eigen::Vector3d& u, Affine out) {
  out.r.tail<2>() = -gain.full() * u.tail<2>();
  out.D.bottomRightCorner<2, 2>().diagonal().setConstant(gain.full());
}

// λ_T⁺ on the boundary of the section.
void slide(const SectionShape& shape, const Gain& gain, const Radius& radius, const Eigen::Vector3d& lambda, const Eigen::Vector3d& u,
           Affine out) {
  const Eigen::Vector2d l = lambda.tail<2>(), x = l - gain.rho * u.tail<2>();
  if (shape.disc()) {
    const double t = x.norm();
    const Eigen::Vector2d n = x / t, across(-n[1], n[0]);
    const double q = std::min(1.0, radius.now / t), soft = gain.soft(q);
    out.r.tail<2>() = (radius.factor * radius.after - n.dot(l)) * n - soft * (1.0 - q) * across.dot(l) * across -
                      soft * q * gain.rho * across.dot(u.tail<2>()) * across;
    out.D.bottomRightCorner<2, 2>() = soft * q * gain.rho * across * across.transpose();
    out.D.bottomLeftCorner<2, 1>() = radius.factor * radius.slope * n;
    return;
  }
  const Sector s = shape.sector(x);
  const double across = s.tangent.dot(x), reach = radius.factor * shape.cos_half(), kappa = gain.full();
  if (std::abs(across) < shape.sin_half() * radius.now) {
    out.r.tail<2>() = (reach * radius.after - s.normal.dot(l)) * s.normal - kappa * s.tangent.dot(u.tail<2>()) * s.tangent;
    out.D.bottomRightCorner<2, 2>() = kappa * s.tangent * s.tangent.transpose();
    out.D.bottomLeftCorner<2, 1>() = reach * radius.slope * s.normal;
    return;
  }
  const Eigen::Vector2d d = shape.vertex(across < 0.0 ? s.vertex : s.vertex + 1);
  out.r.tail<2>() = radius.factor * radius.after * d - l;
  out.D.bottomLeftCorner<2, 1>() = radius.factor * radius.slope * d;
}

bool is_within(const SectionShape& shape, double radius, const Eigen::Vector2d& x) {
  return shape.disc() ? x.norm() <= radius : shape.sector(x).normal.dot(x) <= shape.cos_half() * radius;
}

void press(const Gain& gain, const Eigen::Vector3d& u, Affine out) {
  out.r[0] = -gain.full() * u[0];
  out.D(0, 0) = gain.full();
}

// μ = ∞. A contact that pushes holds, unless it slips more than the wide cone of the path allows: then friction alone, which is what μ λ_N
// tends to, keeps it from approaching, and there is no load.
void infinite_friction(const SectionShape& shape, const Gain& gain, const Eigen::Vector3d& lambda, const Eigen::Vector3d& u, Affine out) {
  const Eigen::Vector2d l = lambda.tail<2>(), x = l - gain.rho * u.tail<2>();
  const double pushing = lambda[0] - gain.rho * u[0], own = std::copysign(shape.gauge(l), l.dot(x));
  const Radius radius{own - gain.rho * u[0], 1.0, own - gain.full() * u[0], gain.full()};
  if (pushing > 0.0 && is_within(shape, std::max(kInteriorInfinity * pushing, radius.now), x)) {
    press(gain, u, out);
    return stick(gain, u, out);
  }
  out.r = -lambda;
  if (radius.now > 0.0 && !x.isZero(0.0)) slide(shape, gain, radius, lambda, u, out);
}

void coulomb_contact(const SectionShape& shape, double mu, const Gain& gain, const Eigen::Vector3d& lambda, const Eigen::Vector3d& u,
                     Affine out) {
  out.D.setZero();
  if (mu == kInfinity) return infinite_friction(shape, gain, lambda, u, out);
  const double pushing = lambda[0] - gain.rho * u[0];
  if (pushing <= 0.0) {
    out.r = -lambda;
    return;
  }
  press(gain, u, out);
  if (mu == 0.0) {
    out.r.tail<2>() = -lambda.tail<2>();
  } else if (is_within(shape, mu * pushing, lambda.tail<2>() - gain.rho * u.tail<2>())) {
    stick(gain, u, out);
  } else {
    slide(shape, gain, {mu * pushing, mu, lambda[0] + out.r[0], out.D(0, 0)}, lambda, u, out);
  }
}

// K = {λ_N >= 0}, K* = {u_N >= 0, u_T = 0}: the relaxed law as μ grows.
void relaxed_no_slip(const Gain& gain, const Eigen::Vector3d& lambda, const Eigen::Vector3d& u, Affine out) {
  const double kappa = gain.full();
  out.D.setZero();
  out.D.diagonal().setConstant(kappa);
  out.r = -kappa * u;
  if (lambda[0] - gain.rho * u[0] > 0.0) return;
  out.D(0, 0) = 0.0;
  out.r[0] = -lambda[0];
}

}  // namespace

void linearise(const ReducedProblem& problem, ConeMemory& memory, double limit) {
  for (int i = 0; i < problem.contacts(); ++i) {
    const Eigen::Index row = 3 * i;
    Eigen::Vector3d u = memory.u.segment<3>(row);
    u[0] += problem.offset[i];
    const Eigen::Vector3d lambda = memory.lambda.segment<3>(row);
    const Gain gain{1.0 / (memory.scale[i] * memory.scale[i]), limit};
    const Affine out{Eigen::Map<Matrix3Row>(memory.D.data() + 9 * i), Eigen::Map<Eigen::Vector3d>(memory.dlambda.data() + row)};
    if (!memory.relaxed) {
      coulomb_contact(memory.shape, problem.mu[i], gain, lambda, u, out);
    } else if (problem.mu[i] == kInfinity) {
      relaxed_no_slip(gain, lambda, u, out);
    } else {
      relaxed_contact(memory.shape, problem.mu[i], gain, lambda, u, out);
    }
  }
  for (int j = 0; j < problem.bounded_rows(); ++j) {
    const Gain gain{1.0 / (memory.row_scale[j] * memory.row_scale[j]), limit};
    const double x = memory.beta[j] - gain.rho * memory.w[j], inside = std::clamp(x, problem.lo[j], problem.hi[j]);
    const bool free = x == inside && problem.lo[j] < problem.hi[j];
    memory.Db[j] = free ? gain.full() : 0.0;
    memory.dbeta[j] = free ? -gain.full() * memory.w[j] : inside - memory.beta[j];
  }
}

}  // namespace stiction
