#include "stiction/geometry/polytope.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <Eigen/Geometry>

#include "stiction/base/disjoint_sets.hpp"
#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;
using Triangles = std::vector<Eigen::Vector3i>;

template <class Pairs>
void assign_lists(std::size_t size, const Pairs& pairs, std::vector<int>& begin, std::vector<int>& items) {
  begin.assign(size + 1, 0);
  for (const auto& [key, value] : pairs) ++begin[static_cast<std::size_t>(key) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  items.resize(pairs.size());
  std::vector<int> next = begin;
  for (const auto& [key, value] : pairs) items[next[key]++] = value;
}

/// Normals of an edge that two faces share; `left_face` of an edge a b has it counter-clockwise.
void shape_edge(const Polytope& p, Polytope::Edge& e) {
  const Vector3d along = (p.vertex(e.b) - p.vertex(e.a)).normalized();
  const Vector3d &nl = p.faces[e.left_face].normal, &nr = p.faces[e.right_face].normal;
  e.into_left = nl.cross(along);
  e.into_right = -nr.cross(along);
  e.bend = nl.dot(nr) < 0.0 ? 1.0 : nl.cross(nr).norm();
  e.outward = (nl + nr).normalized();
  e.spread = std::acos(std::clamp(0.5 * (nl + nr).norm(), 0.0, 1.0));
}

/// Halves of halves, along the longest side of their boxes, down to kMost vertices.
void add_clusters(Polytope& p, std::vector<int> vertices) {
  constexpr std::size_t kMost = 16;
  Eigen::AlignedBox3d box;
  for (int v : vertices) box.extend(p.vertex(v));
  if (vertices.size() > kMost) {
    int axis = 0;
    box.sizes().maxCoeff(&axis);
    const auto middle = vertices.begin() + static_cast<std::ptrdiff_t>(vertices.size() / 2);
    std::nth_element(vertices.begin(), middle, vertices.end(), [&](int i, int j) { return p.vertex(i)[axis] < p.vertex(j)[axis]; });
    add_clusters(p, {vertices.begin(), middle});
    add_clusters(p, {middle, vertices.end()});
    return;
  }
  Polytope::Cluster c{box.center()};
  for (int v : vertices) {
    c.radius = std::max(c.radius, (p.vertex(v) - c.center).norm());
    p.cluster_of[v] = static_cast<int>(p.clusters.size());
  }
  p.clusters.push_back(c);
}

/// Edges, neighbours, clusters and boxes from vertices, faces and loops.
void finish(Polytope& p) {
  std::map<std::pair<int, int>, int> left;  // directed edge -> face on its left
  std::vector<std::pair<int, int>> around;
  for (int f = 0; f < static_cast<int>(p.faces.size()); ++f) {
    const auto loop = p.face_loop(f);
    for (std::size_t i = 0; i < loop.size(); ++i) {
      left[{loop[i], loop[(i + 1) % loop.size()]}] = f;
      around.emplace_back(loop[i], f);
    }
  }
  for (const auto& [key, face] : left) {
    if (key.first > key.second) continue;
    const auto other = left.find({key.second, key.first});
    p.edges.push_back({key.first, key.second, face, other == left.end() ? -1 : other->second});
    if (other != left.end()) shape_edge(p, p.edges.back());
  }
  std::vector<std::pair<int, int>> joined;
  for (const auto& e : p.edges) {
    joined.emplace_back(e.a, e.b);
    joined.emplace_back(e.b, e.a);
  }
  std::sort(joined.begin(), joined.end());
  std::sort(around.begin(), around.end());
  assign_lists(p.vertices.size(), joined, p.neighbor_begin, p.neighbors);
  const auto left_of = [&](int a, int b) {
    const auto at = left.find({a, b});
    return at == left.end() ? -1 : at->second;
  };
  for (const auto& [a, b] : joined) {
    p.neighbor_faces.push_back({left_of(a, b), left_of(b, a)});
    p.spokes.push_back((p.vertex(b) - p.vertex(a)).normalized());
  }
  assign_lists(p.vertices.size(), around, p.vertex_face_begin, p.vertex_faces);
  Eigen::AlignedBox3d box;
  for (const auto& v : p.vertices) box.extend(v);
  if (p.size() <= Polytope::kScanned) {
    p.by_coordinate.assign(static_cast<std::size_t>(3 * Polytope::kScanned), 0.0);
    for (int i = 0; i < p.size(); ++i) {
      for (int k = 0; k < 3; ++k) p.by_coordinate[k * Polytope::kScanned + i] = p.vertices[i][k];
    }
  }
  std::vector<int> all(p.vertices.size());
  std::iota(all.begin(), all.end(), 0);
  p.cluster_of.resize(all.size());
  add_clusters(p, std::move(all));
  p.box_center = box.center();
  p.box_half = 0.5 * box.sizes();
}

/// Boundary of a group of coplanar triangles as one loop; empty when it isn't a single simple loop.
std::vector<int> boundary_loop(const std::vector<std::pair<int, int>>& directed) {
  std::map<int, int> next;
  for (const auto& [a, b] : directed) {
    if (!next.emplace(a, b).second) return {};
  }
  std::vector<int> loop;
  int v = next.begin()->first;
  do {
    loop.push_back(v);
    const auto it = next.find(v);
    if (it == next.end() || loop.size() > next.size()) return {};
    v = it->second;
  } while (v != loop.front());
  return loop.size() == next.size() ? loop : std::vector<int>{};
}

/// Removes vertices that only two faces share and that lie on the straight line between their neighbours.
void drop_collinear(std::span<const Eigen::Vector3d> vertices, std::vector<std::vector<int>>& loops) {
  std::vector<int> uses(vertices.size(), 0);
  for (const auto& loop : loops) {
    for (int v : loop) ++uses[v];
  }
  for (auto& loop : loops) {
    const std::vector<int> all = loop;
    const auto at = [&](std::size_t i) -> const Eigen::Vector3d& { return vertices[all[i % all.size()]]; };
    loop.clear();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Eigen::Vector3d before = at(i) - at(i + all.size() - 1), after = at(i + 1) - at(i);
      const bool straight = before.cross(after).norm() < 1e-9 * before.norm() * after.norm();
      if (!straight || uses[all[i]] != 2) loop.push_back(all[i]);
    }
  }
}

/// Newell's normal, area-weighted: exact for planar loops, stable for slivers.
Eigen::Vector3d loop_normal(std::span<const Eigen::Vector3d> vertices, const std::vector<int>& loop) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  const Eigen::Vector3d& origin = vertices[loop[0]];
  for (std::size_t i = 1; i + 1 < loop.size(); ++i) {
    sum += (vertices[loop[i]] - origin).cross(vertices[loop[i + 1]] - origin);
  }
  return sum.normalized();
}

void require_convex(const Polytope& p, std::string_view argument) {
  const double tolerance = 1e-6 * p.box_half.norm();
  for (std::size_t f = 0; f < p.faces.size(); ++f) {
    for (std::size_t v = 0; v < p.vertices.size(); ++v) {
      const double height = p.faces[f].normal.dot(p.vertices[v]) - p.faces[f].offset;
      if (height > tolerance) {
        throw InvalidArgument(argument, "a convex mesh with faces counter-clockwise from outside",
                              fmt::format("vertex {} lying {:.3g} m outside face {}", v, height, f));
      }
    }
  }
  for (const auto& e : p.edges) {
    if (e.right_face < 0) throw InvalidArgument(argument, "a closed convex mesh", "an edge with one face");
  }
}

/// Keeps the vertices that some loop names, in their order.
void compact(std::span<const Eigen::Vector3d> vertices, Polytope& p) {
  std::vector<int> index(vertices.size(), -1);
  for (int v : p.loops) index[v] = 0;
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    if (index[v] < 0) continue;
    index[v] = p.size();
    p.vertices.push_back(vertices[v]);
  }
  for (int& v : p.loops) v = index[v];
}

}  // namespace

int Polytope::support(const Eigen::Vector3d& direction, int start) const {
  if (size() <= kScanned) {
    // By coordinates, which the compiler takes several at a time.
    const double *x = by_coordinate.data(), *y = x + kScanned, *z = y + kScanned;
    const double dx = direction.x(), dy = direction.y(), dz = direction.z();
    std::array<double, kScanned> along;
    for (int i = 0; i < kScanned; ++i) along[i] = dx * x[i] + (dy * y[i] + dz * z[i]);
    int best = 0;
    double value = along[0];
    for (int i = 1; i < size(); ++i) {
      if (along[i] > value) value = along[i], best = i;
    }
    return best;
  }
  int best = start;
  double value = direction.dot(vertex(start));
  for (bool climbing = true; climbing;) {
    climbing = false;
    for (int k : neighbors_of(best)) {
      const double x = direction.dot(vertex(k));
      if (x > value) value = x, best = k, climbing = true;
    }
  }
  return best;
}

Polytope make_point() {
  Polytope p;
  p.vertices = {Eigen::Vector3d::Zero()};
  finish(p);
  return p;
}

Polytope make_segment(double half_length) {
  Polytope p;
  p.vertices = {{0.0, 0.0, -half_length}, {0.0, 0.0, half_length}};
  p.edges = {{0, 1, -1, -1}};
  finish(p);
  return p;
}

Polytope make_box(const Eigen::Vector3d& h) {
  Polytope p;
  for (int i = 0; i < 8; ++i) p.vertices.emplace_back(i & 1 ? h.x() : -h.x(), i & 2 ? h.y() : -h.y(), i & 4 ? h.z() : -h.z());
  constexpr std::array<std::array<int, 4>, 6> quads{{{1, 3, 7, 5}, {0, 4, 6, 2}, {2, 6, 7, 3}, {0, 1, 5, 4}, {4, 5, 7, 6}, {0, 2, 3, 1}}};
  for (int f = 0; f < 6; ++f) {
    const int axis = f / 2;
    const Eigen::Vector3d n = (f % 2 == 0 ? 1.0 : -1.0) * Eigen::Vector3d::Unit(axis);
    p.faces.push_back({n, h[axis], 4 * f, 4});
    p.loops.insert(p.loops.end(), quads[f].begin(), quads[f].end());
  }
  finish(p);
  return p;
}

Polytope make_polytope(std::span<const Eigen::Vector3d> vertices, std::span<const Eigen::Vector3i> triangles, std::string_view argument,
                       double angle) {
  const auto corner = [&](const Eigen::Vector3i& t, int k) -> const Eigen::Vector3d& { return vertices[t[k % 3]]; };
  std::vector<Eigen::Vector3d> normals;
  std::map<std::pair<int, int>, int> left;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const Eigen::Vector3i& tri = triangles[t];
    normals.push_back((corner(tri, 1) - corner(tri, 0)).cross(corner(tri, 2) - corner(tri, 0)));
    for (int k = 0; k < 3; ++k) left[{tri[k], tri[(k + 1) % 3]}] = static_cast<int>(t);
  }
  double largest = 0.0;
  for (const auto& n : normals) largest = std::max(largest, n.norm());
  DisjointSets groups(static_cast<int>(triangles.size()));  // of triangles whose normals agree across their edges
  for (const auto& [key, t] : left) {
    const auto other = left.find({key.second, key.first});
    if (other == left.end())
      throw InvalidArgument(argument, "a closed mesh", fmt::format("edge {}-{} with one triangle", key.first, key.second));
    const Eigen::Vector3d &a = normals[t], &b = normals[other->second];
    // A sliver has no normal of its own: it joins whichever neighbour comes.
    const bool sliver = std::min(a.norm(), b.norm()) < 1e-12 * largest;
    if (sliver || (a.cross(b).norm() <= angle * a.norm() * b.norm() && a.dot(b) > 0.0)) groups.join(t, other->second);
  }
  std::map<int, std::vector<std::pair<int, int>>> boundaries;
  for (const auto& [key, t] : left) {
    const int group = groups.find(t);
    if (groups.find(left[{key.second, key.first}]) != group) boundaries[group].push_back(key);
  }
  std::vector<std::vector<int>> loops;
  Polytope p;
  for (const auto& [group, directed] : boundaries) {
    loops.push_back(boundary_loop(directed));
    if (loops.back().size() < 3) {
      throw InvalidArgument(argument, "faces bounded by one loop each", fmt::format("a face of {} edges that is not", directed.size()));
    }
    p.faces.emplace_back().normal = loop_normal(vertices, loops.back());
  }
  drop_collinear(vertices, loops);
  for (std::size_t f = 0; f < loops.size(); ++f) {
    Polytope::Face& face = p.faces[f];
    face.begin = static_cast<int>(p.loops.size());
    face.count = static_cast<int>(loops[f].size());
    face.offset = -std::numeric_limits<double>::infinity();
    for (int v : loops[f]) face.offset = std::max(face.offset, face.normal.dot(vertices[v]));
    p.loops.insert(p.loops.end(), loops[f].begin(), loops[f].end());
  }
  if (p.faces.size() < 4) throw InvalidArgument(argument, "a convex mesh with a volume", fmt::format("{} distinct faces", p.faces.size()));
  compact(vertices, p);
  finish(p);
  require_convex(p, argument);
  return p;
}

}  // namespace stiction
