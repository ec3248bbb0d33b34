#include "stiction/problem/sections.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stiction {

void SectionShape::reset(int edges) {
  if (edges == edges_) return;
  edges_ = edges;
  vertices_.resize(2 * (edges + 1));
  if (edges == 0) return;
  const double half = std::numbers::pi / edges;
  cos_half_ = std::cos(half);
  sin_half_ = std::sin(half);
  for (int j = 0; j <= edges; ++j) {
    vertices_[2 * j] = std::cos(2.0 * half * (j % edges));
    vertices_[2 * j + 1] = std::sin(2.0 * half * (j % edges));
  }
}

Sector SectionShape::sector(const Eigen::Vector2d& t) const {
  int j = 0;
  if (edges_ == 4) {
    // Signs alone: the common case must not pay for an arc tangent.
    j = t[1] >= 0.0 ? (t[0] > 0.0 || (t[0] == 0.0 && t[1] == 0.0) ? 0 : 1) : (t[0] < 0.0 ? 2 : 3);
  } else {
    const double turn = std::atan2(t[1], t[0]) / (2.0 * std::numbers::pi);
    j = std::clamp(static_cast<int>(std::floor((turn < 0.0 ? turn + 1.0 : turn) * edges_)), 0, edges_ - 1);
  }
  const Eigen::Vector2d a = vertex(j), b = vertex(j + 1);
  return {j, (a + b) / (2.0 * cos_half_), (b - a) / (2.0 * sin_half_)};
}

double SectionShape::slip(const Eigen::Vector2d& u_t) const {
  if (disc()) return u_t.norm();
  const Sector sector_of = sector(-u_t);
  return std::max(-u_t.dot(vertex(sector_of.vertex)), -u_t.dot(vertex(sector_of.vertex + 1)));
}

double SectionShape::gauge(const Eigen::Vector2d& t) const { return disc() ? t.norm() : sector(t).normal.dot(t) / cos_half_; }

Eigen::Vector2d SectionShape::clip(double radius, const Eigen::Vector2d& t) const {
  if (gauge(t) <= radius) return t;
  if (disc()) return (radius / t.norm()) * t;
  const Sector s = sector(t);
  const double half = sin_half_ * radius;
  return cos_half_ * radius * s.normal + std::clamp(s.tangent.dot(t), -half, half) * s.tangent;
}

namespace {

/// Projection on the cone over a disc: its normal, and what becomes of the tangential part, of length t. NaN where x is.
struct OnDisc {
  double normal, shrink;
};
OnDisc project_on_disc(double mu, double x0, double t) {
  if (t <= mu * x0) return {x0, 1.0};
  if (mu * t <= -x0) return {0.0, 0.0};
  const double normal = (x0 + mu * t) / (1.0 + mu * mu);
  return {normal, mu * normal / t};
}

}  // namespace

Eigen::Vector3d SectionShape::project(double mu, const Eigen::Vector3d& x) const {
  if (mu == 0.0) return {std::max(x[0], 0.0), 0.0, 0.0};
  if (disc()) {
    const OnDisc p = project_on_disc(mu, x[0], x.tail<2>().norm());
    if (p.shrink == 0.0) return {p.normal, 0.0, 0.0};  // no zeros with a sign
    return {p.normal, p.shrink * x[1], p.shrink * x[2]};
  }
  const Sector s = sector(x.tail<2>());
  const double along = s.normal.dot(x.tail<2>()), across = s.tangent.dot(x.tail<2>());
  const double reach = mu * cos_half_;
  if (along <= reach * x[0]) return x;
  const double normal = (x[0] + reach * along) / (1.0 + reach * reach);
  if (std::abs(across) <= mu * sin_half_ * normal) {
    const Eigen::Vector2d t = reach * normal * s.normal + across * s.tangent;
    return {normal, t[0], t[1]};
  }
  const Eigen::Vector2d d = vertex(across < 0.0 ? s.vertex : s.vertex + 1);
  const double ray = std::max(0.0, (x[0] + mu * d.dot(x.tail<2>())) / (1.0 + mu * mu));
  return {ray, mu * ray * d[0], mu * ray * d[1]};
}

namespace {

// Coulomb's law with μ = ∞, at u_N + c = a.
double infinite_natural_map(const SectionShape& shape, double a, double rho, const Eigen::Vector3d& lambda, const Eigen::Vector3d& u) {
  const Eigen::Vector2d slip = u.tail<2>(), friction = lambda.tail<2>();
  const double open = std::max(lambda.lpNorm<Eigen::Infinity>() / rho, -a), held = slip.lpNorm<Eigen::Infinity>();
  const double turned = (friction - shape.clip(shape.gauge(friction), friction - rho * slip)).lpNorm<Eigen::Infinity>();
  const double lets_go = std::max(std::abs(lambda[0]), turned) / rho;
  return std::min(open, std::max({std::abs(a), -lambda[0] / rho, std::min(held, lets_go)}));
}

// Coulomb's law and the disc, 0 < μ <= 1: the case of most iterations. In plain numbers, as vectors of three that are written by twos and
// read by other twos wait for memory.
double disc_natural_map(double mu, double offset, double rho, const Eigen::Vector3d& lambda, const Eigen::Vector3d& u) {
  const double slip = std::sqrt(u[1] * u[1] + u[2] * u[2]);
  const double x0 = lambda[0] - rho * u[0] - rho * (offset + mu * slip), x1 = lambda[1] - rho * u[1], x2 = lambda[2] - rho * u[2];
  const OnDisc p = project_on_disc(mu, x0, std::sqrt(x1 * x1 + x2 * x2));
  return std::max({std::abs(lambda[0] - p.normal), std::abs(lambda[1] - p.shrink * x1), std::abs(lambda[2] - p.shrink * x2)}) / rho;
}

}  // namespace

double contact_natural_map(const SectionShape& shape, bool relaxed, double mu, double offset, double rho, const Eigen::Vector3d& lambda,
                           const Eigen::Vector3d& u) {
  if (shape.disc() && !relaxed && mu > 0.0 && mu <= 1.0) return disc_natural_map(mu, offset, rho, lambda, u);
  const double a = u[0] + offset;
  if (mu == kInfinity && !relaxed) return infinite_natural_map(shape, a, rho, lambda, u);
  if (mu == kInfinity) {
    const double normal = std::abs(lambda[0] - std::max(0.0, lambda[0] - rho * a)) / rho;
    return std::max(normal, u.tail<2>().lpNorm<Eigen::Infinity>());
  }
  Eigen::Vector3d x = lambda - rho * u;
  x[0] -= rho * (offset + (relaxed || mu == 0.0 ? 0.0 : mu * shape.slip(u.tail<2>())));
  if (mu == 0.0) x.tail<2>().setZero();
  const double map = (lambda - shape.project(mu, x)).lpNorm<Eigen::Infinity>() / rho;
  if (relaxed || mu <= 1.0) return map;
  // μ |u_T| is no approach velocity: a wide cone multiplies slip, rounding included, by μ.
  return std::max(map / mu, std::abs(lambda[0] - std::max(0.0, lambda[0] - rho * a)) / rho);
}

double row_natural_map(double lo, double hi, double rho, double beta, double w) {
  return std::abs(beta - std::clamp(beta - rho * w, lo, hi)) / rho;
}

}  // namespace stiction
