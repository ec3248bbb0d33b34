#include "stiction/problem/constitutive.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

namespace {

using Eigen::Matrix2d;
using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;

struct Normal {
  double impulse = 0.0, slope = 0.0;  // slope = -dλ_N/du_N >= 0
};

Normal linear_normal(const CompliantContact& c, double u) {
  const ContactMaterial& m = *c.material;
  const double damping = c.gap <= 0.0 ? m.damping : 0.0, slope = c.dt * (c.dt * m.stiffness + damping);
  const double impulse = -c.dt * m.stiffness * c.gap - slope * u;
  return impulse > 0.0 ? Normal{impulse, slope} : Normal{};
}

Normal hunt_crossley_normal(const CompliantContact& c, double u) {
  const ContactMaterial& m = *c.material;
  const double x = -c.gap - c.dt * u, damping = 1.0 - m.dissipation * u;
  if (x <= 0.0 || damping <= 0.0) return {};
  const double elastic = c.dt * m.stiffness * std::pow(x, m.exponent);
  return {elastic * damping, elastic * (m.exponent * c.dt * damping / x + m.dissipation)};
}

Normal normal_law(const CompliantContact& c, double u) {
  return c.normal == NormalForce::hunt_crossley ? hunt_crossley_normal(c, u) : linear_normal(c, u);
}

// λ_T = -proj_ρ(a w + b): linear up to the limit ρ.
struct Tangent {
  Vector2d impulse = Vector2d::Zero(), by_limit = Vector2d::Zero();  // by_limit = dλ_T/dρ
  Matrix2d slope = Matrix2d::Zero();                                 // -dλ_T/du_T
};

// |x|, also of entries whose squares would lose digits: from 2^-459 on the squares of all that counts beside the largest are normal
// numbers.
double length_of(const Vector2d& x) {
  const double length = x.norm();
  return length > 0x1p-459 ? length : std::hypot(x[0], x[1]);
}

Tangent clamped(double a, const Vector2d& wish, double limit) {
  Tangent t;
  const double length = length_of(wish);
  if (length <= limit) {
    t.impulse = -wish;
    t.slope = a * Matrix2d::Identity();
    return t;
  }
  const Vector2d direction = wish / length;
  t.impulse = -limit * direction;
  t.by_limit = -direction;
  t.slope = (a * limit / length) * (Matrix2d::Identity() - direction * direction.transpose());
  return t;
}

Tangent regularized(double speed, const Vector2d& u, double limit) {
  Tangent t = clamped(limit / speed, (limit / speed) * u, limit);
  if (u.norm() <= speed) t.by_limit = -u / speed;
  return t;
}

Tangent tangential_law(const CompliantContact& c, const Vector2d& u, double limit) {
  const ContactMaterial& m = *c.material;
  if (limit <= 0.0) return {};
  if (c.friction == FrictionForce::damper) return clamped(c.dt * m.damping_tangential, c.dt * m.damping_tangential * u, limit);
  if (c.friction == FrictionForce::spring) {
    const double a = c.dt * (c.dt * m.stiffness_tangential + m.damping_tangential);
    return clamped(a, a * u + c.dt * m.stiffness_tangential * Vector2d(m.spring[0], m.spring[1]), limit);
  }
  return regularized(m.stiction_speed, u, limit);
}

double friction_limit(double mu, double normal) { return normal > 0.0 ? mu * normal : 0.0; }

}  // namespace

Vector3d compliant_impulse(const CompliantContact& c, const Vector3d& u) {
  Matrix3d slope;
  return compliant_impulse(c, u, -1.0, slope);
}

Vector3d compliant_impulse(const CompliantContact& c, const Vector3d& u, double frozen_normal, Matrix3d& slope) {
  const Normal normal = normal_law(c, u[0]);
  const bool frozen = frozen_normal >= 0.0;
  const double limit = friction_limit(c.mu, frozen ? frozen_normal : normal.impulse);
  const Tangent tangent = tangential_law(c, u.tail<2>(), limit);
  slope.setZero();
  slope(0, 0) = normal.slope;
  slope.bottomRightCorner<2, 2>() = tangent.slope;
  if (!frozen && std::isfinite(limit)) slope.bottomLeftCorner<2, 1>() = (c.mu * normal.slope) * tangent.by_limit;
  return {normal.impulse, tangent.impulse[0], tangent.impulse[1]};
}

std::array<double, 2> next_spring(const CompliantContact& c, const Vector3d& u) {
  const ContactMaterial& m = *c.material;
  const Vector3d lambda = compliant_impulse(c, u);
  if (lambda[0] <= 0.0 || m.stiffness_tangential == 0.0) return {0.0, 0.0};
  std::array<double, 2> s{};
  double square = 0.0;
  for (int k = 0; k < 2; ++k) {
    const std::size_t i = static_cast<std::size_t>(k);
    s[i] = m.spring[i] + c.dt * u[k + 1];
    const double wish = c.dt * (m.stiffness_tangential * s[i] + m.damping_tangential * u[k + 1]);
    square += wish * wish;
  }
  if (std::sqrt(square) <= friction_limit(c.mu, lambda[0])) return s;
  for (int k = 0; k < 2; ++k) s[k] = -lambda[k + 1] / (c.dt * m.stiffness_tangential);
  return s;
}

}  // namespace stiction
