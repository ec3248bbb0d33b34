#include "stiction/programs/soft_cone/face_projection.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Projection x̂ -> P̂(x̂) with its derivative, Euclidean.
struct Projected {
  Vector3d point;
  Matrix3d derivative;
};

Projected apex() { return {Vector3d::Zero(), Matrix3d::Zero()}; }

Projected on_ray(const Vector3d& ray, const Vector3d& x) {
  const double square = ray.squaredNorm(), along = ray.dot(x);
  if (along <= 0.0) return apex();
  return {(along / square) * ray, ray * ray.transpose() / square};
}

// Cone of two rays of equal length, in the orthogonal basis of their sum and difference: inside, on one of them, or at the apex.
Projected on_sector(const Vector3d& a, const Vector3d& b, const Vector3d& x) {
  const Vector3d middle = a + b, across = b - a;
  const double mm = middle.squaredNorm(), cc = across.squaredNorm();
  const double along = middle.dot(x) / mm, side = across.dot(x) / cc;
  if (std::abs(side) > along) return side < 0.0 ? on_ray(a, x) : on_ray(b, x);
  return {along * middle + side * across, middle * middle.transpose() / mm + across * across.transpose() / cc};
}

Projected on_half_space(const Vector3d& x) {
  const bool inside = x[0] > 0.0;
  return {{inside ? x[0] : 0.0, x[1], x[2]}, Vector3d(inside ? 1.0 : 0.0, 1.0, 1.0).asDiagonal()};
}

Projected on_disc(double mu, const Vector3d& x) {
  const double t = x.tail<2>().norm();
  if (t <= mu * x[0]) return {x, Matrix3d::Identity()};
  if (mu * t <= -x[0]) return apex();
  const double normal = (x[0] + mu * t) / (1.0 + mu * mu), shrink = mu * normal / t;
  const Vector3d ray(1.0, mu * x[1] / t, mu * x[2] / t), circle(0.0, -x[2] / t, x[1] / t);
  return {{normal, shrink * x[1], shrink * x[2]}, ray * ray.transpose() / (1.0 + mu * mu) + shrink * circle * circle.transpose()};
}

// The polygon's reflections keep the projection in the sector of the point (sections.hpp).
Projected on_polygon(const SectionShape& shape, double mu, const Vector3d& x) {
  const Sector s = shape.sector(x.tail<2>());
  const double reach = mu * shape.cos_half(), along = s.normal.dot(x.tail<2>());
  if (along <= reach * x[0]) return {x, Matrix3d::Identity()};
  const Eigen::Vector2d p = shape.vertex(s.vertex), q = shape.vertex(s.vertex + 1);
  return on_sector({1.0, mu * p[0], mu * p[1]}, {1.0, mu * q[0], mu * q[1]}, x);
}

Projected project(const SectionShape& section, const SoftContact& c, const Metric& m, const Vector3d& x) {
  const auto scaled = [&](const Vector3d& ray) { return Vector3d(m.normal * ray[0], m.tangential * ray[1], m.tangential * ray[2]); };
  switch (c.face) {
    case SoftContact::Face::apex:
      return apex();
    case SoftContact::Face::ray:
      return on_ray(scaled(c.ray), x);
    case SoftContact::Face::sector:
      return on_sector(scaled(c.ray), scaled(c.other_ray), x);
    case SoftContact::Face::tangents:
      return {{0.0, x[1], x[2]}, Vector3d(0.0, 1.0, 1.0).asDiagonal()};
    case SoftContact::Face::cone:
      break;
  }
  if (c.mu == 0.0) return on_ray(Vector3d::UnitX(), x);
  if (c.mu == kInfinity) return on_half_space(x);
  const double mu = c.mu * m.tangential / m.normal;
  return section.disc() ? on_disc(mu, x) : on_polygon(section, mu, x);
}

}  // namespace

Vector3d project_face(const SectionShape& section, const SoftContact& contact, const Metric& metric, const Vector3d& scaled,
                      Matrix3d* derivative) {
  const Projected p = project(section, contact, metric, scaled);
  const Vector3d inverse(1.0 / metric.normal, 1.0 / metric.tangential, 1.0 / metric.tangential);
  if (derivative != nullptr) *derivative = inverse.asDiagonal() * p.derivative * inverse.asDiagonal();
  return inverse.cwiseProduct(p.point);
}

}  // namespace stiction
