// For tests: two shapes on two bodies, their contacts, and motions of the first.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "stiction/geometry/collision_scene.hpp"

namespace stiction {

inline Eigen::Isometry3d pose(const Eigen::Vector3d& p, const Eigen::Vector3d& rotation = Eigen::Vector3d::Zero()) {
  Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
  X.translation() = p;
  if (rotation.norm() > 0.0) X.linear() = Eigen::AngleAxisd(rotation.norm(), rotation.normalized()).toRotationMatrix();
  return X;
}

/// X moved by a twist (linear velocity of the world origin's point, angular; world axes) over time h.
inline Eigen::Isometry3d moved(const Eigen::Isometry3d& X, const Eigen::Vector3d& v, const Eigen::Vector3d& w, double h) {
  Eigen::Isometry3d step = Eigen::Isometry3d::Identity();
  if (w.norm() > 0.0) step.linear() = Eigen::AngleAxisd(h * w.norm(), w.normalized()).toRotationMatrix();
  Eigen::Isometry3d out = step * X;
  out.translation() += h * v;
  return out;
}

inline bool is_fixed_shape(const Shape& s) { return std::holds_alternative<HalfSpace>(s) || std::holds_alternative<HeightMap>(s); }

/// Midway between a contact's features: on a face of several contacts one of these, as p_WC lies in the plane of the deepest of them.
inline std::vector<Eigen::Vector3d> middles(const ContactPoint& c, const std::vector<ContactPoint>& contacts, bool on_static) {
  std::vector<Eigen::Vector3d> out;
  for (const ContactPoint& deeper : contacts) {
    if (deeper.gap > c.gap) continue;
    for (const double side : {0.5, -0.5})
      out.emplace_back(c.p_WC + ((on_static ? 0.5 * deeper.gap : 0.0) + side * (c.gap - deeper.gap)) * c.n);
  }
  return out;
}

class ShapePair {
 public:
  ShapePair(const Shape& a, const Shape& b) : scene_(make(a, b)) {}

  const std::vector<ContactPoint>& contacts(const Eigen::Isometry3d& X_WA, const Eigen::Isometry3d& X_WB, double margin) {
    const std::vector<Eigen::Isometry3d> poses{X_WA, X_WB};
    scene_.update_poses(poses);
    scene_.detect(margin, contacts_);
    return contacts_;
  }
  CollisionScene& scene() { return scene_; }

 private:
  static CollisionScene make(const Shape& a, const Shape& b) {
    std::vector<SceneGeometry> g(2);
    g[0].name = std::string("first");
    g[0].body = 0;
    g[0].shape = a;
    g[0].fixed = is_fixed_shape(a);
    g[1].name = std::string("second");
    g[1].body = 1;
    g[1].shape = b;
    g[1].fixed = is_fixed_shape(b);
    return CollisionScene(std::move(g));
  }
  CollisionScene scene_;
  std::vector<ContactPoint> contacts_;
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double operator()(double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(engine_); }
  Eigen::Vector3d vector(double size) { return {(*this)(-size, size), (*this)(-size, size), (*this)(-size, size)}; }
  Eigen::Isometry3d pose(double size) {
    Eigen::Quaterniond q(normal_(engine_), normal_(engine_), normal_(engine_), normal_(engine_));
    Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
    X.linear() = q.normalized().toRotationMatrix();
    X.translation() = vector(size);
    return X;
  }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
};

/// 0 to count - 1.
inline int pick(Random& random, int count) { return std::min(static_cast<int>(random(0.0, count)), count - 1); }

inline const ContactPoint& deepest(const std::vector<ContactPoint>& contacts) {
  return *std::min_element(contacts.begin(), contacts.end(), [](const auto& x, const auto& y) { return x.gap < y.gap; });
}

inline Shape convex_box(const Eigen::Vector3d& h) {
  ConvexMesh m;
  for (int i = 0; i < 8; ++i) m.vertices.emplace_back(i & 1 ? h.x() : -h.x(), i & 2 ? h.y() : -h.y(), i & 4 ? h.z() : -h.z());
  return m;
}

/// Box as a triangle mesh, each face split into 2 n² triangles.
inline TriangleMesh mesh_box(const Eigen::Vector3d& h, int n = 1) {
  TriangleMesh m;
  for (int axis = 0; axis < 3; ++axis) {
    for (double side : {-1.0, 1.0}) {
      const int u = (axis + 1) % 3, v = (axis + 2) % 3, base = static_cast<int>(m.vertices.size());
      for (int i = 0; i <= n; ++i) {
        for (int j = 0; j <= n; ++j) {
          Eigen::Vector3d p;
          p[axis] = side * h[axis];
          p[u] = h[u] * (2.0 * i / n - 1.0);
          p[v] = h[v] * (2.0 * j / n - 1.0);
          m.vertices.push_back(p);
        }
      }
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          const int a = base + i * (n + 1) + j, b = a + n + 1, c = b + 1, d = a + 1;
          if (side > 0) {
            m.triangles.emplace_back(a, b, c);
            m.triangles.emplace_back(a, c, d);
          } else {
            m.triangles.emplace_back(a, c, b);
            m.triangles.emplace_back(a, d, c);
          }
        }
      }
    }
  }
  return m;
}

}  // namespace stiction
