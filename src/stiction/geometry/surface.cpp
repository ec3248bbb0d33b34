#include "stiction/geometry/surface.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/geometry/closest.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;

constexpr double kFlat = 1e-6;  // sine of the dihedral below which an edge counts as flat
constexpr int kLeafTriangles = 4;

/// Vertices at the same place become one, in order of first appearance.
void join_vertices(const std::vector<Vector3d>& vertices, std::vector<Vector3d>& joined, std::vector<int>& index) {
  std::map<std::array<double, 3>, int> seen;
  index.resize(vertices.size());
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const Vector3d v = vertices[i] + Vector3d::Zero();  // -0 becomes 0
    const auto [it, fresh] = seen.emplace(std::array<double, 3>{v.x(), v.y(), v.z()}, static_cast<int>(joined.size()));
    if (fresh) joined.push_back(v);
    index[i] = it->second;
  }
}

/// Those with area, each once, whichever vertex it begins with; `given` numbers them as the mesh does.
void add_triangles(const std::vector<Eigen::Vector3i>& triangles, const std::vector<int>& index, Surface& s, std::vector<int>& given) {
  double largest = 0.0;
  const auto twice_area = [&](const std::array<int, 3>& v) -> Vector3d {
    return (s.vertex(v[1]) - s.vertex(v[0])).cross(s.vertex(v[2]) - s.vertex(v[0]));
  };
  std::vector<std::array<int, 3>> all;
  for (const auto& t : triangles) {
    all.push_back({index[t[0]], index[t[1]], index[t[2]]});
    largest = std::max(largest, twice_area(all.back()).norm());
  }
  std::set<std::array<int, 3>> seen;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& v = all[i];
    const Vector3d area = twice_area(v);
    if (area.norm() <= 1e-14 * largest || largest == 0.0) continue;
    std::array<int, 3> turned = v;
    std::rotate(turned.begin(), std::min_element(turned.begin(), turned.end()), turned.end());
    if (!seen.insert(turned).second) continue;
    given.push_back(static_cast<int>(i));
    Surface::Triangle& t = s.triangles.emplace_back();
    t.v = v;
    t.normal = area.normalized();
    t.center = (s.vertex(v[0]) + s.vertex(v[1]) + s.vertex(v[2])) / 3.0;
    for (int k : v) t.radius = std::max(t.radius, (s.vertex(k) - t.center).norm());
  }
}

/// Joins triangles that run along an edge in opposite directions, in their order; the others end in edges of their own.
void add_edges(Surface& s) {
  std::map<std::pair<int, int>, std::deque<int>> ends;  // by direction, edges with one triangle yet
  for (int t = 0; t < static_cast<int>(s.triangles.size()); ++t) {
    auto& tri = s.triangles[t];
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = tri.v[k], b = tri.v[(k + 1) % 3];
      if (auto& back = ends[{b, a}]; !back.empty()) {
        tri.edge[k] = back.front();
        back.pop_front();
        s.edges[tri.edge[k]].right = t;
      } else {
        tri.edge[k] = static_cast<int>(s.edges.size());
        ends[{a, b}].push_back(tri.edge[k]);
        s.edges.push_back({a, b, t, -1});
      }
    }
  }
}

/// Two triangles alone at an edge face the same way; one of a pair that does not is seen from behind. Where more meet nothing is known.
void require_one_side(const Surface& s, const std::vector<int>& given, std::string_view argument) {
  std::map<std::pair<int, int>, std::vector<int>> at;
  for (int k = 0; k < static_cast<int>(s.edges.size()); ++k) at[std::minmax(s.edge(k).a, s.edge(k).b)].push_back(k);
  for (const auto& [ends, edges] : at) {
    if (edges.size() != 2 || s.edge(edges[0]).right >= 0 || s.edge(edges[1]).right >= 0) continue;
    const Surface::Edge &one = s.edge(edges[0]), &other = s.edge(edges[1]);
    const Vector3d &a = s.vertex(one.a), &b = s.vertex(one.b);
    throw InvalidArgument(
        argument, "triangles that face to one side, counter-clockwise seen from there",
        fmt::format("triangles {} and {} (from 0), which both run from ({:.6g}, {:.6g}, {:.6g}) to ({:.6g}, {:.6g}, {:.6g})",
                    given[one.left], given[other.left], a.x(), a.y(), a.z(), b.x(), b.y(), b.z()));
  }
}

/// Outside in: a closed surface of negative volume has its triangles turned.
void orient(Surface& s) {
  double volume = 0.0;
  for (const auto& e : s.edges) {
    if (e.right < 0) return;
  }
  for (const auto& t : s.triangles) volume += s.vertex(t.v[0]).dot(s.vertex(t.v[1]).cross(s.vertex(t.v[2])));
  if (volume >= 0.0) return;
  for (auto& t : s.triangles) {
    std::swap(t.v[1], t.v[2]);
    std::swap(t.edge[0], t.edge[2]);
    t.normal = -t.normal;
  }
  for (auto& e : s.edges) std::swap(e.a, e.b);
}

int opposite(const Surface::Triangle& t, const Surface::Edge& e) {
  for (int v : t.v) {
    if (v != e.a && v != e.b) return v;
  }
  return t.v[0];
}

void mark_edges(Surface& s) {
  for (auto& e : s.edges) {
    e.along = (s.vertex(e.b) - s.vertex(e.a)).normalized();
    const auto into = [&](int t) -> Vector3d {
      const Vector3d d = s.vertex(opposite(s.triangle(t), e)) - s.vertex(e.a);
      return (d - e.along.dot(d) * e.along).normalized();
    };
    e.into_left = into(e.left);
    if (e.right >= 0) e.into_right = into(e.right);
    if (e.right < 0) {
      e.convex = true;
      e.outward = -e.into_left;
      e.spread = 0.5 * std::numbers::pi;
      continue;
    }
    const Surface::Triangle& left = s.triangle(e.left);
    const Vector3d out = s.vertex(opposite(s.triangle(e.right), e)) - s.vertex(e.a);
    const double sine = left.normal.cross(s.triangle(e.right).normal).norm();
    e.outward = (left.normal + s.triangle(e.right).normal).normalized();
    e.spread = std::acos(std::clamp(e.outward.dot(left.normal), -1.0, 1.0));
    const bool folded = left.normal.dot(s.triangle(e.right).normal) < 0.0;
    const double height = left.normal.dot(out);
    e.bend = folded ? 1.0 : sine;
    e.convex = (sine > kFlat || folded) && height < 0.0;
    e.concave = (sine > kFlat || folded) && height > 0.0;
    if (e.concave) s.triangles[e.left].hollow = s.triangles[e.right].hollow = true;
  }
}

/// Numbers the flat patches: triangles joined across flat edges to a first one that face as it does share its number. Half of the angle,
/// as any two of a patch are to count as one plane.
void mark_patches(Surface& s) {
  s.patch.assign(s.triangles.size(), -1);
  std::vector<int> reached;
  for (int first = 0; first < static_cast<int>(s.patch.size()); ++first) {
    if (s.patch[first] >= 0) continue;
    s.patch[first] = first;
    reached.push_back(first);
    while (!reached.empty()) {
      const int t = reached.back();
      reached.pop_back();
      for (int k : s.triangles[t].edge) {
        const Surface::Edge& e = s.edges[k];
        if (e.convex || e.concave) continue;
        const int next = e.left == t ? e.right : e.left;
        if (s.patch[next] >= 0 || (s.triangles[next].normal - s.triangles[first].normal).norm() > 0.5 * kFlat) continue;
        s.patch[next] = first;
        reached.push_back(next);
      }
    }
  }
}

/// Leaves of a convex polygon what rises nowhere above zero, of a function linear in the plane.
template <class Rise>
void cut(std::vector<Eigen::Vector2d>& left, std::vector<Eigen::Vector2d>& next, const Rise& rise) {
  next.clear();
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Eigen::Vector2d &p = left[i], &q = left[(i + 1) % left.size()];
    const double at_p = rise(p), at_q = rise(q);
    if (at_p <= 0.0) next.push_back(p);
    if ((at_p <= 0.0) != (at_q <= 0.0)) next.push_back(p + at_p / (at_p - at_q) * (q - p));
  }
  std::swap(left, next);
}

/// Whether all edges at v fall away from some direction on the outside: d = outward + x t1 + y t2, the polygon of all (x, y) cut edge by
/// edge.
bool falls_away(const Surface& s, int v) {
  constexpr double kWidest = 1e3;  // up to 0.06 degrees short of a right angle to the outward direction
  using Eigen::Vector2d;
  const double length = s.vertex_normal[v].norm();
  if (s.spokes_of(v).empty() || !(length > 0.0)) return false;
  const Vector3d outward = s.vertex_normal[v] / length, t1 = outward.unitOrthogonal(), t2 = outward.cross(t1);
  std::vector<Vector2d> left{{-kWidest, -kWidest}, {kWidest, -kWidest}, {kWidest, kWidest}, {-kWidest, kWidest}}, next;
  for (int k : s.spokes_of(v)) {
    const Vector3d e = (s.vertex(k) - s.vertex(v)).normalized();
    cut(left, next, [&](const Vector2d& q) { return e.dot(outward) + q.x() * e.dot(t1) + q.y() * e.dot(t2) + kFlat; });
  }
  return left.size() >= 3;
}

void mark_vertices(Surface& s) {
  std::vector<std::pair<int, int>> joined;
  for (const auto& e : s.edges) {
    joined.emplace_back(e.a, e.b);
    joined.emplace_back(e.b, e.a);
  }
  std::sort(joined.begin(), joined.end());
  s.spoke_begin.assign(s.vertices.size() + 1, 0);
  for (const auto& [v, k] : joined) {
    ++s.spoke_begin[static_cast<std::size_t>(v) + 1];
    s.spokes.push_back(k);
  }
  std::partial_sum(s.spoke_begin.begin(), s.spoke_begin.end(), s.spoke_begin.begin());
  s.vertex_normal.assign(s.vertices.size(), Vector3d::Zero());
  for (const auto& t : s.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Vector3d u = (s.vertex(t.v[(k + 1) % 3]) - s.vertex(t.v[k])).normalized();
      const Vector3d w = (s.vertex(t.v[(k + 2) % 3]) - s.vertex(t.v[k])).normalized();
      s.vertex_normal[t.v[k]] += std::acos(std::clamp(u.dot(w), -1.0, 1.0)) * t.normal;
    }
  }
  s.vertex_open.assign(s.vertices.size(), 0);
  for (const auto& e : s.edges) {
    if (e.right >= 0) continue;
    s.open = true;
    s.vertex_open[e.a] = s.vertex_open[e.b] = 1;
  }
  s.vertex_convex.assign(s.vertices.size(), 0);
  for (int v = 0; v < static_cast<int>(s.vertices.size()); ++v) {
    if (!falls_away(s, v)) continue;
    s.vertex_convex[v] = 1;
    s.convex_vertices.push_back(v);
  }
}

/// Bound of the angle between `vertex_normal` and the normals of a convex vertex: the farthest out of the normals outward + x t1 + y t2 in
/// its cone, grown. No edge rises along the outward direction by more than half of that growth, or no bound is known: so whatever is
/// farther out, down to the horizon, has an edge that rises along it by more than the slack of the strict cone.
double spread_of(const Surface& s, int v) {
  constexpr double kGrown = 1e-3;  // sine, a thousand times that slack
  constexpr double kWidest = 1.5;  // tangent; wider ones leave little out
  using Eigen::Vector2d;
  constexpr double kUnknown = std::numbers::pi;
  if (s.vertex_convex[v] == 0 || s.vertex_open[v] != 0) return kUnknown;
  const Vector3d outward = s.vertex_normal[v].normalized(), t1 = outward.unitOrthogonal(), t2 = outward.cross(t1);
  std::vector<Vector2d> left{{-2.0, -2.0}, {2.0, -2.0}, {2.0, 2.0}, {-2.0, 2.0}}, next;
  for (int k : s.spokes_of(v)) {
    const Vector3d e = (s.vertex(k) - s.vertex(v)).normalized();
    if (e.dot(outward) > 0.5 * kGrown) return kUnknown;
    cut(left, next, [&](const Vector2d& q) { return e.dot(outward) + q.x() * e.dot(t1) + q.y() * e.dot(t2) - kGrown; });
  }
  double widest = 0.0;
  for (const Vector2d& q : left) widest = std::max(widest, q.norm());
  return widest <= kWidest ? std::atan(widest) : kUnknown;
}

/// Bounds of normals, by which what looks for contacts far away leaves most triangles and vertices out.
void bound_normals(Surface& s) {
  constexpr double kWidest = 1.4;      // rad, 80 degrees
  constexpr double kAngles = 1e-5;     // rad, ten times the slack of strict cones
  constexpr double kProducts = 1e-14;  // rounding of a cross product, of the product of the lengths
  s.vertex_spread.resize(s.vertices.size());
  for (int v = 0; v < static_cast<int>(s.vertices.size()); ++v) s.vertex_spread[v] = spread_of(s, v);
  for (auto& t : s.triangles) {
    const Vector3d &a = s.vertex(t.v[0]), &b = s.vertex(t.v[1]), &c = s.vertex(t.v[2]);
    const double rounding = kAngles + kProducts * t.radius * t.radius / (b - a).cross(c - a).norm();
    double widest = rounding;
    bool known = rounding < 2.0 * kAngles;
    const auto take = [&](const Vector3d& outward, double spread) {
      const double angle = std::acos(std::clamp(t.normal.dot(outward), -1.0, 1.0)) + spread + rounding;
      known = known && angle < kWidest;  // false of a NaN
      widest = std::max(widest, angle);
    };
    for (std::size_t k = 0; k < 3; ++k) {
      const Surface::Edge& e = s.edge(t.edge[k]);
      if (e.convex) take(e.outward, e.normals_bound());
      if (s.vertex_convex[t.v[k]] != 0) take(s.vertex_normal[t.v[k]].normalized(), s.vertex_spread[t.v[k]]);
    }
    if (known) t.lean = std::tan(widest);
  }
}

/// Tree of boxes by median split of the longest axis; the first child follows its parent.
class TreeBuilder {
 public:
  explicit TreeBuilder(Surface& s) : s_(s) {
    s_.order.resize(s_.triangles.size());
    std::iota(s_.order.begin(), s_.order.end(), 0);
    for (const auto& t : s_.triangles) centers_.push_back((s.vertex(t.v[0]) + s.vertex(t.v[1]) + s.vertex(t.v[2])) / 3.0);
    build(0, static_cast<int>(s_.order.size()));
  }

 private:
  int build(int begin, int count) {
    const int id = static_cast<int>(s_.nodes.size());
    Eigen::AlignedBox3d box, middles;
    for (int i = begin; i < begin + count; ++i) {
      const int t = s_.order[i];
      for (int v : s_.triangle(t).v) box.extend(s_.vertex(v));
      middles.extend(centers_[t]);
    }
    s_.nodes.push_back({box.min(), box.max(), -1, begin, count});
    if (count <= kLeafTriangles) return id;
    int axis = 0;
    middles.sizes().maxCoeff(&axis);
    const auto first = s_.order.begin() + begin;
    std::nth_element(first, first + count / 2, first + count, [&](int a, int b) {
      const double ca = centers_[a][axis], cb = centers_[b][axis];
      return ca < cb || (ca == cb && a < b);
    });
    build(begin, count / 2);
    const int right = build(begin + count / 2, count - count / 2);
    s_.nodes[id].right = right;
    return id;
  }

  Surface& s_;
  std::vector<Vector3d> centers_;
};

Surface build(const std::vector<Vector3d>& vertices, const std::vector<Eigen::Vector3i>& triangles, std::string_view argument,
              bool one_side = false) {
  Surface s;
  std::vector<int> index;
  join_vertices(vertices, s.vertices, index);
  std::vector<int> given;
  add_triangles(triangles, index, s, given);
  if (s.triangles.empty()) throw InvalidArgument(argument, "at least one triangle with area", "none");
  add_edges(s);
  if (one_side) require_one_side(s, given, argument);
  orient(s);
  mark_edges(s);
  mark_patches(s);
  mark_vertices(s);
  bound_normals(s);
  TreeBuilder tree(s);
  s.box_center = 0.5 * (s.nodes[0].lower + s.nodes[0].upper);
  s.box_half = 0.5 * (s.nodes[0].upper - s.nodes[0].lower);
  return s;
}

Vector3d pseudo_normal(const Surface& s, const TrianglePoint& c, const Surface::Triangle& tri) {
  const auto k = static_cast<std::size_t>(c.k);
  if (c.region == TriangleRegion::face) return tri.normal;
  // Beside an open border nothing is inside.
  if (c.region == TriangleRegion::vertex) return s.vertex_open[tri.v[k]] ? Vector3d(Vector3d::Zero()) : s.vertex_normal[tri.v[k]];
  const Surface::Edge& e = s.edge(tri.edge[k]);
  return e.right < 0 ? Vector3d(Vector3d::Zero()) : Vector3d(s.triangle(e.left).normal + s.triangle(e.right).normal);
}

}  // namespace

Surface::Nearest Surface::nearest(const Vector3d& p, std::span<const int> among) const {
  Nearest out;
  double least = out.distance;  // squares
  for (int t : among) {
    const Triangle& tri = triangle(t);
    const double height = tri.normal.dot(p - vertex(tri.v[0]));
    if (height * height >= least) continue;
    const TrianglePoint c = closest_on_triangle(p, vertex(tri.v[0]), vertex(tri.v[1]), vertex(tri.v[2]));
    const double d = (p - c.point).squaredNorm();
    if (d >= least) continue;
    least = d;
    out.triangle = t;
    out.behind = pseudo_normal(*this, c, tri).dot(p - c.point) < 0.0;
  }
  out.distance = std::sqrt(least);
  return out;
}

bool Surface::contains(const Vector3d& p, double reach, std::vector<int>& scratch) const {
  query(p - Vector3d::Constant(reach), p + Vector3d::Constant(reach), scratch);
  return contains(p, scratch);
}

int Surface::cover(const Vector3d& p, std::vector<int>& scratch) const {
  if (open) return -1;
  // What is in a solid has its surface above; the nearest triangle there bounds the search for the nearest of all.
  query(p, {p.x(), p.y(), nodes.front().upper.z()}, scratch);
  if (scratch.empty()) return -1;
  constexpr double kRoom = 1.01;  // for rounding
  const Vector3d reach = Vector3d::Constant(kRoom * nearest(p, scratch).distance);
  query(p - reach, p + reach, scratch);
  const Nearest n = nearest(p, scratch);
  return n.behind ? n.triangle : -1;
}

bool Surface::is_near_border(const Vector3d& p, double depth, std::vector<int>& scratch) const {
  if (!open) return false;
  constexpr double kReach = 2.2360680;  // of the depth: nothing of the surface that holds p is farther than twice it
  query(p - Vector3d::Constant(kReach * depth), p + Vector3d::Constant(kReach * depth), scratch);
  double to_surface = std::numeric_limits<double>::infinity(), to_border = to_surface;  // squares
  for (int t : scratch) {
    const Triangle& tri = triangle(t);
    to_surface =
        std::min(to_surface, (p - closest_on_triangle(p, vertex(tri.v[0]), vertex(tri.v[1]), vertex(tri.v[2])).point).squaredNorm());
    for (int k : tri.edge) {
      const Vector3d &a = vertex(edge(k).a), along = vertex(edge(k).b) - a;
      if (edge(k).right < 0) to_border = std::min(to_border, (p - a - closest_on_segment(p, a, a + along) * along).squaredNorm());
    }
  }
  return to_border - to_surface < depth * depth;
}

void Surface::query(const Vector3d& lower, const Vector3d& upper, std::vector<int>& found) const {
  found.clear();
  const auto meets = [&](const Node& n) { return (n.lower.array() <= upper.array()).all() && (n.upper.array() >= lower.array()).all(); };
  std::array<int, 64> stack;
  std::size_t depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const int id = stack[--depth];
    const Node& node = nodes[id];
    if (!meets(node)) continue;
    if (node.right >= 0) {
      stack[depth++] = node.right;
      stack[depth++] = id + 1;
      continue;
    }
    for (int i = node.begin; i < node.begin + node.count; ++i) {
      const int t = order[i];
      const Vector3d &a = vertex(triangle(t).v[0]), &b = vertex(triangle(t).v[1]), &c = vertex(triangle(t).v[2]);
      const bool in =
          (a.cwiseMin(b).cwiseMin(c).array() <= upper.array()).all() && (a.cwiseMax(b).cwiseMax(c).array() >= lower.array()).all();
      if (in) found.push_back(t);
    }
  }
  std::sort(found.begin(), found.end());
}

Surface make_surface(const TriangleMesh& mesh, std::string_view argument, bool one_side) {
  return build(mesh.vertices, mesh.triangles, argument, one_side);
}

Surface make_surface(const HeightMap& map, std::string_view argument) {
  const int rows = static_cast<int>(map.heights.rows()), cols = static_cast<int>(map.heights.cols());
  std::vector<Vector3d> vertices;
  std::vector<Eigen::Vector3i> triangles;
  const auto at = [&](int i, int j) { return i * cols + j; };
  const auto x = [&](int i) { return -0.5 * map.size_x + map.size_x * i / (rows - 1); };
  const auto y = [&](int j) { return -0.5 * map.size_y + map.size_y * j / (cols - 1); };
  const auto quad = [&](int a, int b, int c, int d) {
    triangles.emplace_back(a, b, c);
    triangles.emplace_back(a, c, d);
  };
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) vertices.emplace_back(x(i), y(j), map.heights(i, j));
  }
  for (int i = 0; i + 1 < rows; ++i) {
    for (int j = 0; j + 1 < cols; ++j) quad(at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
  }
  if (map.bottom < map.heights.minCoeff()) {
    // Around the border, counter-clockwise from above: each stretch hangs a wall.
    std::vector<int> border;
    for (int i = 0; i + 1 < rows; ++i) border.push_back(at(i, 0));
    for (int j = 0; j + 1 < cols; ++j) border.push_back(at(rows - 1, j));
    for (int i = rows - 1; i > 0; --i) border.push_back(at(i, cols - 1));
    for (int j = cols - 1; j > 0; --j) border.push_back(at(0, j));
    const int base = static_cast<int>(vertices.size()), n = static_cast<int>(border.size());
    for (int v : border) vertices.emplace_back(vertices[v].x(), vertices[v].y(), map.bottom);
    const int middle = static_cast<int>(vertices.size());
    vertices.emplace_back(0.0, 0.0, map.bottom);
    for (int k = 0; k < n; ++k) {
      const int next = (k + 1) % n;
      quad(base + k, base + next, border[next], border[k]);
      triangles.emplace_back(base + next, base + k, middle);
    }
  }
  return build(vertices, triangles, argument);
}

}  // namespace stiction
