#include "stiction/geometry/surface_features.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/geometry/cylinder.hpp"
#include "stiction/geometry/manifold.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;

void collect_chords(const Convex& cylinder, const Eigen::Isometry3d& X, FeatureSet& f) {
  const double r = cylinder.cylinder_radius, h = cylinder.cylinder_half;
  f.clear();
  f.size = 2.0 * std::hypot(r, h);
  f.thickness = 2.0 * std::min(r, h);
  const auto at = [](int i) {
    const double angle = 2.0 * std::numbers::pi * i / kCapPoints;
    return Vector3d(std::cos(angle), std::sin(angle), 0.0);
  };
  for (double side : {-1.0, 1.0}) {
    for (int i = 0; i < kCapPoints; ++i) {
      const Vector3d a = at(i), b = at(i + 1), up = side * Vector3d::UnitZ();
      const int name = lowest_name(side) + 1;
      f.edges.push_back({X * (r * a + h * up), X * (r * b + h * up), -(X.linear() * (a + b).normalized()), -(X.linear() * up), 1.0, true,
                         true, 2, edge_name(name + i, name + (i + 1) % kCapPoints)});
    }
  }
}

}  // namespace

void collect_features(const Convex& shape, const Eigen::Isometry3d& X, FeatureSet& f) {
  if (shape.is_cylinder()) return collect_chords(shape, X, f);
  f.clear();
  f.size = 2.0 * shape.core->box_half.norm() + shape.radius;
  f.thickness = 2.0 * shape.core->box_half.minCoeff() + shape.radius;
}

FeatureSet::Vertex vertex_of(const Polytope& core, int v, const Eigen::Isometry3d& X, FeatureSet& f) {
  f.spokes.clear();
  for (const Vector3d& spoke : core.spokes_of(v)) f.spokes.push_back(X.linear() * spoke);
  return {X * core.vertex(v), vertex_name(v), 0, static_cast<int>(f.spokes.size())};
}

FeatureSet::Edge edge_of(const Polytope& core, const Polytope::Edge& e, const Eigen::Isometry3d& X) {
  FeatureSet::Edge out;
  out.a = X * core.vertex(e.a);
  out.b = X * core.vertex(e.b);
  out.name = edge_name(e.a, e.b);
  if (e.left_face < 0) return out;
  out.faces = 2;
  out.into_left = X.linear() * e.into_left;
  out.into_right = X.linear() * e.into_right;
  out.bend = e.bend;
  out.outward = X.linear() * e.outward;
  out.spread = e.spread;
  return out;
}

double thickness_of(const Surface& s) { return std::max(2.0 * s.box_half.minCoeff(), 0.2 * s.box_half.maxCoeff()); }

void collect_features(const Surface& s, const std::vector<int>& vertices, const std::vector<int>& edges, const Eigen::Isometry3d& X,
                      FeatureSet& f) {
  f.clear();
  f.size = 2.0 * s.box_half.norm();
  f.thickness = thickness_of(s);
  for (int v : vertices) {
    f.vertices.push_back({X * s.vertex(v), vertex_name(v), static_cast<int>(f.spokes.size()), static_cast<int>(s.spokes_of(v).size())});
    for (int k : s.spokes_of(v)) f.spokes.push_back(X.linear() * (s.vertex(k) - s.vertex(v)).normalized());
  }
  for (int k : edges) {
    const Surface::Edge& e = s.edge(k);
    f.edges.push_back({X * s.vertex(e.a), X * s.vertex(e.b), X.linear() * e.into_left, X.linear() * e.into_right, e.bend,
                       s.vertex_convex[e.a] != 0, s.vertex_convex[e.b] != 0, e.right < 0 ? 1 : 2, edge_name(e.a, e.b),
                       X.linear() * e.outward, e.spread});
  }
}

void collect_convex(const Surface& s, const std::vector<int>& triangles, std::vector<int>& vertices, std::vector<int>& edges) {
  vertices.clear();
  edges.clear();
  for (int t : triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Surface::Triangle& tri = s.triangle(t);
      if (s.vertex_convex[tri.v[k]]) vertices.push_back(tri.v[k]);
      if (s.edge(tri.edge[k]).convex) edges.push_back(tri.edge[k]);
    }
  }
  for (auto* list : {&vertices, &edges}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
}

bool in_vertex_cone(const Surface& s, int v, const Vector3d& n, double slack) {
  const Vector3d& outward = s.vertex_normal[v];
  if (!s.vertex_open[v] && n.dot(outward) < -slack * outward.norm()) return false;
  for (int k : s.spokes_of(v)) {
    const Vector3d e = s.vertex(k) - s.vertex(v);
    if (n.dot(e) > slack * e.norm()) return false;
  }
  return true;
}

bool in_edge_cone(const Surface::Edge& e, const Vector3d& n, double slack) {
  if (n.dot(e.into_left) > slack) return false;
  return e.right < 0 || n.dot(e.into_right) <= slack;
}

bool is_back(const Surface& s, int v, const Vector3d& n) {
  return s.vertex_open[v] && n.dot(s.vertex_normal[v]) < -kStrict * s.vertex_normal[v].norm();
}

bool is_back(const Surface& s, const Surface::Edge& e, const Vector3d& n) {
  return e.right < 0 && n.dot(s.triangle(e.left).normal) < -kStrict;
}

bool rests(const FeatureSet& f, const FeatureSet::Vertex& v, const Vector3d& n, double slack) {
  for (int i = v.spoke_begin; i < v.spoke_begin + v.spoke_count; ++i) {
    if (f.spokes[i].dot(n) < -slack) return false;
  }
  return true;
}

bool rests(const FeatureSet::Edge& e, const Vector3d& n, double slack) {
  return e.faces == 0 || (n.dot(e.into_left) >= -slack && (e.faces == 1 || n.dot(e.into_right) >= -slack));
}

}  // namespace stiction
