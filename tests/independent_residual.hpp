// The worst violation of a law at a returned point, from the law's definition in docs/laws.md and the point's v⁺, λ, λ_b, λ_P alone: dense
// algebra, no code of the certificate. Where the certificate measures an inclusion by its natural map, this measures its parts:
//
//   normal         min(λ_N, ρ (u_N + c))                      ρ = impulse scale / velocity scale
//   friction       λ_T - P(λ_T - ρ u_T), P the projection on the section of radius μ λ_N: most dissipative in it [Moreau];
//                  μ = ∞: docs/laws.md
//   relaxed        λ outside its cone, ũ outside the dual one, λ·ũ
// Everything is divided by the problem's scales of docs/certificate.md, written down here a second time.
#pragma once

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "stiction/laws/law.hpp"
#include "stiction/problem/contact_problem.hpp"
#include "stiction/problem/solution.hpp"

namespace stiction::independent {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

inline double largest(const VectorXd& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

class Residual {
 public:
  Residual(const ContactProblem& problem, const SolveOptions& options, const Solution& solution)
      : p(problem), law(options.law), s(solution), M(p.M.to_dense()), J(p.J.to_dense()), B(p.J_b.to_dense()), h(p.dt) {
    before = J * p.v;
    after = J * s.v;
    measure();
  }

  /// Largest violation, dimensionless.
  double worst() {
    check_momentum();
    check_rows();
    if (law == Law::max_dissipation) check_least_energy();
    for (int i = 0; i < p.contacts(); ++i) check_contact(i);
    return worst_;
  }
  double impulse_scale() const { return A; }

 private:
  // ---- what the law reads of the state ----

  Vector3d lambda(int i) const { return s.impulses.segment<3>(3 * i); }
  Vector3d u(int i) const { return after.segment<3>(3 * i); }
  const ContactMaterial& material(int i) const { return material_of(p.material, i); }
  double offset(int i) const {
    const double approach = before[3 * i];
    if (p.restitution[i] > 0.0 && approach < 0.0 && p.gap[i] + h * approach <= 0.0) return p.restitution[i] * approach;
    return p.gap[i] > std::min(1e-7, 0.1 * h * h) ? p.gap[i] / h : 0.0;
  }
  bool approaches(int i) const { return p.gap[i] + h * std::min(before[3 * i], 0.0) <= 1e-6; }
  bool closed(int i) const { return approaches(i) || (p.gap[i] - h * before[3 * i] <= 1e-6 && before[3 * i] <= 10.0 * h); }

  struct Soft {
    double normal = 0.0, tangential = 0.0, reference = 0.0;
  };
  Soft softness(int i) const {
    const ContactMaterial& m = material(i);
    if (law == Law::sap) {
      const double time = h + m.dissipation_time;
      const double weight = (J.middleRows<3>(3 * i) * M.llt().solve(J.middleRows<3>(3 * i).transpose())).trace() / 3.0;
      return {1.0 / (h * m.stiffness * time), m.regularization > 0.0 ? m.regularization : 1e-3 * weight,
              -p.gap[i] / (p.gap[i] > 0.0 ? h : time)};
    }
    Soft out{0.0, 0.0, -offset(i)};
    if (law != Law::todorov) return out;
    out.normal = out.tangential = m.regularization;
    if (p.gap[i] < 0.0 && m.time_constant > 0.0) out.reference = std::max(out.reference, -p.gap[i] / (h + m.time_constant));
    return out;
  }
  bool polygonal() const { return law == Law::coulomb_pyramid || law == Law::anitescu || law == Law::max_dissipation; }

  // Section of four edges, vertices on the axes: the 1-norm's ball, whose support is the largest entry.
  double gauge(const Vector2d& f) const { return polygonal() ? f.lpNorm<1>() : f.norm(); }
  double support(const Vector2d& x) const { return polygonal() ? x.lpNorm<Eigen::Infinity>() : x.norm(); }
  Vector2d project(const Vector2d& x, double radius) const {
    if (gauge(x) <= radius) return x;
    if (!polygonal()) return x * (radius / x.norm());
    const Vector2d size = x.cwiseAbs();
    double drop = 0.5 * (size.sum() - radius);  // both entries stay, or the smaller one vanishes
    if (drop > size.minCoeff()) drop = size.maxCoeff() - radius;
    const Vector2d kept = (size.array() - drop).max(0.0);
    return {std::copysign(kept[0], x[0]), std::copysign(kept[1], x[1])};
  }

  // ---- scales ----

  void measure() {
    const VectorXd inertia = M.diagonal();
    V = std::max({largest(p.v), largest(p.b), largest(p.v_prescribed), largest((p.impulse.array() / inertia.array()).matrix())});
    A = std::max(largest(p.impulse), largest((inertia.array() * p.v.array()).matrix()));
    for (std::size_t k = 0; k < p.prescribed.size(); ++k) {
      A = std::max(A, inertia[p.prescribed[k]] * std::abs(p.v_prescribed[static_cast<Index>(k)]));
    }
    for (int j = 0; j < p.bounded_rows(); ++j) {
      const double moved = B.row(j).cwiseAbs2().dot(inertia.cwiseInverse().transpose());
      if (p.b[j] != 0.0 && moved > 0.0) A = std::max(A, std::abs(p.b[j]) / moved);
      for (const double limit : {p.lo[j], p.hi[j]}) {
        if (std::isfinite(limit) && std::abs(s.bounded_impulses[j] - limit) <= 1e-6 * std::abs(limit)) A = std::max(A, std::abs(limit));
      }
    }
    for (int i = 0; i < p.contacts(); ++i) {
      V = std::max(V, std::abs(offset(i)));
      if (is_compliant()) A = std::max(A, compliant(i, Vector3d::Zero()).lpNorm<Eigen::Infinity>());
      if (law != Law::sap && law != Law::todorov) continue;
      const Soft soft = softness(i);
      const double moved = J.row(3 * i).cwiseAbs2().dot(inertia.cwiseInverse().transpose());
      V = std::max(V, soft.reference);
      if (soft.reference > 0.0 && soft.normal + moved > 0.0) A = std::max(A, soft.reference / (soft.normal + moved));
    }
    V = std::max(V, 1e-300);
    A = std::max(A, 1e-300);
  }

  void raise(double violation) { worst_ = std::max(worst_, std::isnan(violation) ? kInfinity : violation); }

  // ---- conditions ----

  void check_momentum() {
    VectorXd balance = M * (s.v - p.v) - p.impulse - J.transpose() * s.impulses - B.transpose() * s.bounded_impulses;
    for (std::size_t k = 0; k < p.prescribed.size(); ++k) balance[p.prescribed[k]] -= s.prescribed_impulses[static_cast<Index>(k)];
    raise(largest(balance) / A);
    for (std::size_t k = 0; k < p.prescribed.size(); ++k) raise(std::abs(s.v[p.prescribed[k]] - p.v_prescribed[static_cast<Index>(k)]) / V);
  }

  void check_rows() {
    for (int j = 0; j < p.bounded_rows(); ++j) {
      const double w = B.row(j).dot(s.v) - p.b[j], beta = s.bounded_impulses[j];
      if (p.lo[j] == -kInfinity && p.hi[j] == kInfinity) {
        raise(std::abs(w) / V);
      } else {
        raise(std::max(p.lo[j] - beta, beta - p.hi[j]) / A);
        if (law != Law::max_dissipation) raise(std::abs(beta / A - std::clamp(beta / A - w / V, p.lo[j] / A, p.hi[j] / A)));
      }
    }
  }

  void check_signorini(double normal, double velocity) { raise(std::abs(std::min(normal / A, velocity / V))); }

  // `apart` is u_N + c.
  void check_friction(double mu, double apart, const Vector2d& slip, const Vector3d& l) {
    const Vector2d f = l.tail<2>() / A;
    if (std::isinf(mu)) {  // bears nothing; or touches, and holds or slips without a load against its friction
      const double turned = (f - project(f - slip / V, gauge(f))).norm();
      const double touching = std::max(std::abs(apart) / V, std::min(slip.norm() / V, std::max(l[0] / A, turned)));
      return raise(std::min(l.norm() / A, touching));
    }
    const double radius = mu * std::max(l[0], 0.0) / A;
    raise((f - project(f - slip / V, radius)).norm() / std::max(1.0, mu));
  }

  void check_relaxed(int i, double mu, const Soft& soft) {
    const Vector3d l = lambda(i);
    const Vector3d x = u(i) + Vector3d(soft.normal * l[0] - soft.reference, soft.tangential * l[1], soft.tangential * l[2]);
    if (std::isinf(mu)) {
      raise(std::max({x.tail<2>().norm() / V, -x[0] / V, -l[0] / A}));
    } else {
      raise(std::max({(gauge(l.tail<2>()) - mu * l[0]) / A, -l[0] / A, (mu * support(x.tail<2>()) - x[0]) / V}));
    }
    raise(std::abs(l.dot(x)) / std::max(A, l.norm()) / V);  // λ_T = -u_T / R_t may be far beyond A
  }

  void check_contact(int i) {
    const Vector3d l = lambda(i);
    const double c = offset(i);
    switch (law) {
      case Law::frictionless:
        check_signorini(l[0], u(i)[0] + c);
        return raise(l.tail<2>().norm() / A);
      case Law::no_slip:
        check_signorini(l[0], u(i)[0] + c);
        return raise(closed(i) ? u(i).tail<2>().norm() / V : l.tail<2>().norm() / A);
      case Law::viscous: {
        const double damping = closed(i) ? h * material(i).viscosity : 0.0;
        check_signorini(l[0], u(i)[0] + c);
        return raise((l.tail<2>() + damping * u(i).tail<2>()).norm() / (A + damping * V));
      }
      case Law::coulomb_pyramid:
      case Law::coulomb_cone:
        check_signorini(l[0], u(i)[0] + c);
        return check_friction(p.mu[i], u(i)[0] + c, u(i).tail<2>(), l);
      case Law::coulomb_ellipse: {  // friction and slip along the axes of the ellipse, in units of its half axes
        check_signorini(l[0], u(i)[0] + c);
        const double angle = material(i).friction_angle, ratio = material(i).friction_ratio;
        const Vector2d along(std::cos(angle), std::sin(angle)), across(-std::sin(angle), std::cos(angle));
        const Vector2d f = l.tail<2>(), slip = u(i).tail<2>();
        return check_friction(p.mu[i], u(i)[0] + c, Vector2d(slip.dot(along), ratio * slip.dot(across)),
                              Vector3d(l[0], f.dot(along), f.dot(across) / ratio));
      }
      case Law::moreau: {
        if (p.gap[i] + 0.5 * h * before[3 * i] > 1e-6) return raise(l.norm() / A);
        const double tangential = material(i).restitution_tangential;
        check_signorini(l[0], u(i)[0] + p.restitution[i] * before[3 * i]);
        return check_friction(p.mu[i], u(i)[0] + p.restitution[i] * before[3 * i],
                              u(i).tail<2>() + tangential * before.segment<2>(3 * i + 1), l);
      }
      case Law::anitescu:
        return check_relaxed(i, closed(i) ? p.mu[i] : 0.0, softness(i));
      case Law::todorov:
      case Law::sap:
        return check_relaxed(i, p.mu[i], softness(i));
      case Law::max_dissipation:
        return;  // check_least_energy
      default:
        return raise((l - compliant(i, u(i))).norm() / A);
    }
  }

  bool is_compliant() const {
    return law == Law::linear_penalty || law == Law::stick_slip_spring || law == Law::regularized_stiction || law == Law::hunt_crossley;
  }

  /// λ = f(u), docs/laws.md.
  Vector3d compliant(int i, const Vector3d& x) const {
    const ContactMaterial& m = material(i);
    const double reach = p.gap[i] + h * x[0], damping = p.gap[i] <= 0.0 ? m.damping : 0.0;
    const double normal = law == Law::hunt_crossley
                              ? h * m.stiffness * std::pow(std::max(0.0, -reach), m.exponent) * std::max(0.0, 1.0 - m.dissipation * x[0])
                              : h * std::max(0.0, -m.stiffness * reach - damping * x[0]);
    const double limit = normal > 0.0 ? p.mu[i] * normal : 0.0;
    Vector2d wish = h * m.damping_tangential * x.tail<2>();
    if (law == Law::stick_slip_spring) {
      wish += h * m.stiffness_tangential * (Vector2d(m.spring[0], m.spring[1]) + h * x.tail<2>());
    } else if (law != Law::linear_penalty) {
      wish = x.tail<2>() * (limit / m.stiction_speed);
    }
    if (wish.norm() > limit) wish *= limit / wish.norm();
    return {normal, -wish[0], -wish[1]};
  }

  /// min ½ v⁺ᵀM v⁺ by its multipliers ν, ν_b: docs/certificate.md.
  void check_least_energy() {
    const Index n = p.contacts(), m = p.bounded_rows(), nv = p.velocities();
    if (s.multipliers.size() != n + m) return raise(kInfinity);
    MatrixXd held(0, nv);  // rows that no motion may break
    const auto hold = [&](const MatrixXd& row) {
      held.conservativeResize(held.rows() + 1, nv);
      held.bottomRows<1>() = row;
    };
    for (const int j : p.prescribed) hold(MatrixXd::Identity(nv, nv).row(j));
    const auto bilateral = [&](Index j) { return p.lo[j] == -kInfinity && p.hi[j] == kInfinity; };
    for (Index j = 0; j < m; ++j) {
      if (bilateral(j)) hold(B.row(j));
    }
    const MatrixXd Z = held.rows() > 0 ? MatrixXd(held.fullPivLu().kernel()) : MatrixXd(MatrixXd::Identity(nv, nv));
    const MatrixXd inverse = Z * (Z.transpose() * M * Z).fullPivLu().solve(Z.transpose());
    const VectorXd nu = s.multipliers.head(n), nu_b = s.multipliers.tail(m);
    VectorXd force = M * s.v - B.transpose() * nu_b;
    for (Index i = 0; i < n; ++i) force -= J.row(3 * i).transpose() * nu[i];
    const VectorXd a = inverse * force, g = J * a, dual = inverse * (M * s.v);
    VectorXd given = J.transpose() * s.impulses;  // momentum from contacts and bounded rows
    for (Index j = 0; j < m; ++j) {
      if (!bilateral(j)) given += B.row(j).transpose() * s.bounded_impulses[j];
    }
    const double slope_scale = std::max(V, largest(J * (dual - inverse * given)));  // what the gradient is made of
    for (int i = 0; i < n; ++i) {
      const Vector3d l = lambda(i), x = g.segment<3>(3 * i);
      const double velocity = u(i)[0] + offset(i);
      if (!approaches(i)) {
        raise(l.norm() / A);
        continue;
      }
      raise(std::max(
          {-l[0] / A, -velocity / V, -nu[i] / A, std::abs(nu[i] * velocity) / A / slope_scale, std::abs(x.dot(l)) / A / slope_scale}));
      if (std::isinf(p.mu[i])) {
        raise(std::max(x.tail<2>().norm(), -x[0]) / slope_scale);
      } else {
        raise(std::max((gauge(l.tail<2>()) - p.mu[i] * l[0]) / A, (p.mu[i] * support(x.tail<2>()) - x[0]) / slope_scale));
      }
    }
    for (Index j = 0; j < m; ++j) {
      if (bilateral(j)) continue;
      const double w = B.row(j).dot(s.v) - p.b[j], beta = s.bounded_impulses[j];
      const double slope = B.row(j).dot(a) + w - B.row(j).dot(dual);
      raise(std::abs(beta / A - std::clamp(beta / A - slope / slope_scale, p.lo[j] / A, p.hi[j] / A)));
      raise(std::abs(nu_b[j] * w) / A / slope_scale);
      if (p.hi[j] == kInfinity)
        raise(std::max(-nu_b[j] / A, -w / V));
      else if (p.lo[j] == -kInfinity)
        raise(std::max(nu_b[j] / A, w / V));
    }
  }

  const ContactProblem& p;
  Law law;
  const Solution& s;
  MatrixXd M, J, B;
  double h, V = 0.0, A = 0.0;  ///< step; scales of velocity and impulse
  VectorXd before, after;      ///< contact velocities
  double worst_ = 0.0;
};

}  // namespace stiction::independent
