// For tests: signed distances from the definitions alone, by sampling, sharing nothing with the code under test.
//
//   support       h(d) = max over the shape of d · x
//   separation    s(n) = -h_A(-n) - h_B(n),   signed distance = max over unit n of s(n): any n gives a bound from below
//   to_surface    signed distance of a point to the shape, negative inside
#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <variant>
#include <vector>

#include <Eigen/Geometry>

#include "stiction/geometry/pair_fixture.hpp"

namespace stiction::reference {

using Eigen::Isometry3d;
using Eigen::Vector3d;

struct Plane {
  Vector3d n;
  double offset = 0.0;
};

/// A convex shape as what its definition says; hulls with their planes found by trying every three points.
struct Solid {
  Shape shape;
  std::vector<Plane> planes;
  double size = 0.0;  ///< radius of a ball about the origin that holds it

  explicit Solid(Shape s) : shape(std::move(s)) {
    if (const auto* hull = std::get_if<ConvexMesh>(&shape)) find_planes(hull->vertices);
    for (int i = 0; i < 6; ++i) size = std::max(size, std::sqrt(3.0) * support((i < 3 ? 1.0 : -1.0) * Vector3d::Unit(i % 3)));
  }

  double support(const Vector3d& d) const {
    if (const auto* s = std::get_if<Sphere>(&shape)) return s->radius * d.norm();
    if (const auto* s = std::get_if<Capsule>(&shape)) return s->radius * d.norm() + s->half_length * std::abs(d.z());
    if (const auto* s = std::get_if<Cylinder>(&shape)) return s->radius * std::hypot(d.x(), d.y()) + s->half_length * std::abs(d.z());
    if (const auto* s = std::get_if<Box>(&shape)) return s->half_extents.dot(d.cwiseAbs());
    double most = -std::numeric_limits<double>::infinity();
    for (const auto& v : std::get<ConvexMesh>(shape).vertices) most = std::max(most, d.dot(v));
    return most;
  }

  /// Exact inside and over faces; over edges of hulls it may fall short of the distance.
  double to_surface(const Vector3d& p) const {
    if (const auto* s = std::get_if<Sphere>(&shape)) return p.norm() - s->radius;
    if (const auto* s = std::get_if<Capsule>(&shape))
      return (p - Vector3d(0, 0, std::clamp(p.z(), -s->half_length, s->half_length))).norm() - s->radius;
    if (const auto* s = std::get_if<Cylinder>(&shape)) {
      const double out = std::hypot(p.x(), p.y()) - s->radius, up = std::abs(p.z()) - s->half_length;
      return out > 0.0 && up > 0.0 ? std::hypot(out, up) : std::max(out, up);
    }
    if (const auto* s = std::get_if<Box>(&shape)) {
      const Vector3d d = p.cwiseAbs() - s->half_extents;
      return d.maxCoeff() > 0.0 ? d.cwiseMax(0.0).norm() : d.maxCoeff();
    }
    double most = -std::numeric_limits<double>::infinity();
    for (const auto& plane : planes) most = std::max(most, plane.n.dot(p) - plane.offset);
    return most;
  }

 private:
  void find_planes(const std::vector<Vector3d>& v) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      for (std::size_t j = i + 1; j < v.size(); ++j) {
        for (std::size_t k = j + 1; k < v.size(); ++k) {
          const Vector3d n = (v[j] - v[i]).cross(v[k] - v[i]);
          if (!(n.norm() > 1e-9 * (v[j] - v[i]).norm() * (v[k] - v[i]).norm())) continue;
          for (const Vector3d& out : {Vector3d(n.normalized()), Vector3d(-n.normalized())}) {
            const double offset = out.dot(v[i]);
            if (support(out) <= offset + 1e-12 * v[i].norm()) planes.push_back({out, offset});
          }
        }
      }
    }
  }
};

struct Placed {
  const Solid& solid;
  Isometry3d X;
  double support(const Vector3d& d) const { return d.dot(X.translation()) + solid.support(X.linear().transpose() * d); }
  double to_surface(const Vector3d& p) const { return solid.to_surface(X.inverse() * p); }
};

inline double separation(const Placed& a, const Placed& b, const Vector3d& n) { return -a.support(-n) - b.support(n); }

/// Greatest s(n) found: an even cover of the sphere and the directions of both frames, then the best of them by ever smaller random steps.
inline double signed_distance(const Placed& a, const Placed& b, Random& random, const std::vector<Vector3d>& also = {}) {
  constexpr int kCover = 1500, kRefined = 6, kSteps = 70, kTries = 14;
  std::vector<std::pair<double, Vector3d>> all;
  const auto take = [&](const Vector3d& n) {
    if (n.norm() > 1e-12) all.emplace_back(separation(a, b, n.normalized()), n.normalized());
  };
  for (int i = 0; i < kCover; ++i) {
    const double z = 1.0 - (2.0 * i + 1.0) / kCover, angle = i * std::numbers::pi * (3.0 - std::sqrt(5.0));
    take({std::sqrt(1.0 - z * z) * std::cos(angle), std::sqrt(1.0 - z * z) * std::sin(angle), z});
  }
  for (int i = 0; i < 3; ++i) {
    for (double sign : {1.0, -1.0}) {
      take(sign * a.X.linear().col(i));
      take(sign * b.X.linear().col(i));
      for (int j = 0; j < 3; ++j) take(sign * a.X.linear().col(i).cross(b.X.linear().col(j)));
    }
  }
  for (const auto* shape : {&a, &b}) {
    for (const auto& plane : shape->solid.planes) take((shape == &a ? -1.0 : 1.0) * (shape->X.linear() * plane.n));
  }
  for (const auto& n : also) take(n);
  const auto better = [](const auto& x, const auto& y) { return x.first > y.first; };
  std::partial_sort(all.begin(), all.begin() + kRefined, all.end(), better);
  double best = all[0].first;
  for (int k = 0; k < kRefined; ++k) {
    auto [s, n] = all[k];
    double size = 0.05;
    for (int step = 0; step < kSteps; ++step, size *= 0.72) {
      for (int i = 0; i < kTries; ++i) {
        const Vector3d m = (n + size * random.vector(1.0)).normalized();
        const double at = separation(a, b, m);
        if (at > s) s = at, n = m;
      }
    }
    best = std::max(best, s);
  }
  return best;
}

}  // namespace stiction::reference
