#include "stiction/geometry/surface_vertices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "stiction/geometry/cylinder.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;

TrianglePoint closest_on(const Surface& s, const Surface::Triangle& tri, const Vector3d& p) {
  return closest_on_triangle(p, s.vertex(tri.v[0]), s.vertex(tri.v[1]), s.vertex(tri.v[2]));
}

/// The same, where a point on the border, seen along the normal, counts as over the face: rounding must not lose it to both neighbours.
TrianglePoint over_triangle(const Surface& s, const Surface::Triangle& tri, const Vector3d& p, double height) {
  TrianglePoint c = closest_on(s, tri, p);
  if (c.region != TriangleRegion::face && (p - c.point - height * tri.normal).squaredNorm() < 1e-18 * tri.radius * tri.radius)
    c.region = TriangleRegion::face;
  return c;
}

/// p over a face of the polytope, seen along its normal.
bool is_over(const Polytope& core, int face, const Vector3d& p) {
  const Vector3d& n = core.faces[face].normal;
  const auto loop = core.face_loop(face);
  for (std::size_t i = 0; i < loop.size(); ++i) {
    const Vector3d &a = core.vertex(loop[i]), &b = core.vertex(loop[(i + 1) % loop.size()]);
    if (n.dot((b - a).cross(p - a)) < -1e-9 * (b - a).squaredNorm()) return false;
  }
  return true;
}

/// Whether a vertex of the surface may have points of a shape in a ball along its normals, with slack. A ball wider than what the steep
/// cone leaves out, seen from there, may anyway.
struct ConesToBall {
  bool steep = true, strict = true;  ///< cones with the slack kSteep, kStrict

  ConesToBall(const Surface& s, int v, const Vector3d& center, double radius) {
    constexpr double kSide = 0.6;  // sine to the cosine kSteep
    static_assert(kSide * kSide + kSteep * kSteep == 1.0);
    constexpr double kRoom = 1e-5;  // rad, and of cosines: rounding
    const Vector3d to = center - s.vertex(v);
    const double distance = to.norm();
    if (!(radius < kSide * distance)) return;
    const double sine = radius / distance, cosine = std::sqrt(1.0 - sine * sine);
    const double ahead = to.dot(s.vertex_normal[v]) / (distance * s.vertex_normal[v].norm());
    strict = std::acos(std::clamp(ahead, -1.0, 1.0)) <= s.vertex_spread[v] + std::asin(sine) + kRoom;
    const double beyond = kSteep * cosine + kSide * sine + kRoom;  // cosine of what the whole ball is beyond the steep cone at
    const auto rises = [&](int k) { return to.dot(s.vertex(k) - s.vertex(v)) > beyond * distance * (s.vertex(k) - s.vertex(v)).norm(); };
    steep = (s.vertex_open[v] != 0 || ahead >= -beyond) && std::ranges::none_of(s.spokes_of(v), rises);
  }
};

/// Whether a point, seen from the beginning of an edge, may have its nearest point of the polytope between the edge's ends: neither face
/// is nearer. Rounding must not leave out what has.
bool may_be_nearest(const Polytope::Edge& edge, const Vector3d& along, const Vector3d& from, double tolerance) {
  const double way = along.dot(from), square = along.squaredNorm(), beside = 10.0 * kStrict * from.norm() + tolerance;
  return way >= -kStrict * square && way <= (1.0 + kStrict) * square && from.dot(edge.into_left) <= beside &&
         from.dot(edge.into_right) <= beside;
}

/// Vertex v of the surface on a face of the shape.
SurfaceContact on_face(SurfaceContact c, const Surface& s, int v) {
  c.sharp_shape = false;
  c.border = s.vertex_open[v];
  c.back = is_back(s, v, c.n);
  return c;
}

}  // namespace

void PointContacts::vertices(const Convex& shape, FeatureSet& f, const std::vector<int>& reached, SurfaceScratch::Reach& reach) {
  const Polytope& core = *shape.core;
  reach.begin.assign(1, 0);
  reach.triangles.clear();
  if (core.clusters.size() > 1) {
    const Vector3d middle = shape.X * core.box_center;
    reach.of_any.clear();
    for (int t : reached) {
      if (may_reach(middle, core.box_half.norm(), f.size, s_.triangle(t))) reach.of_any.push_back(t);
    }
  }
  const std::vector<int>& of_any = core.clusters.size() > 1 ? reach.of_any : reached;
  for (const Polytope::Cluster& cluster : core.clusters) {
    const Vector3d center = shape.X * cluster.center;
    for (int t : of_any) {
      if (may_reach(center, cluster.radius, f.size, s_.triangle(t))) reach.triangles.push_back(t);
    }
    reach.begin.push_back(reach.triangles.size());
  }
  for (int v = 0; v < core.size(); ++v) {
    const auto cluster = static_cast<std::size_t>(core.cluster_of[v]);
    const std::size_t begin = reach.begin[cluster], end = reach.begin[cluster + 1];
    if (begin < end) vertex(f, vertex_of(core, v, shape.X, f), {reach.triangles.data() + begin, end - begin}, reached);
  }
}

void PointContacts::vertex(const FeatureSet& f, const FeatureSet::Vertex& v, std::span<const int> near, std::span<const int> reached) {
  find_near(f, v, near);
  if (near_.empty() && below_.empty()) return;
  if (!below_.empty()) to_surface_ = distance_to(f, v, reached);
  for (const auto& c : near_) {
    if (c.at.region == TriangleRegion::face) {
      const Vector3d& n = s_.triangle(c.triangle).normal;
      add(v.p, n, c.height, v.name, patch_name(c.triangle), rests(f, v, n, kStrict), c.height >= 0.0);
    } else {
      add_feature(f, v, c);
    }
  }
  if (!below_.empty() && (to_surface_ <= out_.tolerance() || is_inside(v.p))) add_below(f, v);
}

/// Sorts the candidates: features within reach in front of the vertex, faces it is behind.
void PointContacts::find_near(const FeatureSet& f, const FeatureSet::Vertex& v, std::span<const int> near) {
  near_.clear();
  below_.clear();
  inside_.reset();
  for (int t : near) {
    const Surface::Triangle& tri = s_.triangle(t);
    const double height = tri.normal.dot(v.p - s_.vertex(tri.v[0]));
    if (height > out_.reach() || height < -f.size) continue;
    const double within = beside(tri, height, height);
    if ((v.p - tri.center).squaredNorm() - height * height > within * within) continue;
    const TrianglePoint c = over_triangle(s_, tri, v.p, height);
    if (height < 0.0 && (c.region == TriangleRegion::face || in_hollow(c, tri, height, v.p))) {
      if (rests(f, v, tri.normal, kSteep)) below_.push_back({height, t, c.region == TriangleRegion::face});
    } else if (c.region != TriangleRegion::face || rests(f, v, tri.normal, kSteep)) {
      near_.push_back({t, height, c});
    }
  }
}

double PointContacts::distance_to(const FeatureSet& f, const FeatureSet::Vertex& v, std::span<const int> reached) const {
  double least = std::numeric_limits<double>::infinity();
  for (int t : reached) {
    const Surface::Triangle& tri = s_.triangle(t);
    const double height = tri.normal.dot(v.p - s_.vertex(tri.v[0]));
    if (height > out_.reach() || height < -f.size) continue;
    const double within = tri.radius + std::max(out_.reach(), height < 0.0 && tri.hollow ? -2.0 * height : 0.0);
    if ((v.p - tri.center).squaredNorm() - height * height > within * within) continue;
    least = std::min(least, (v.p - closest_on(s_, tri, v.p).point).squaredNorm());
  }
  return std::sqrt(least);
}

// Over the face, or behind it as in_hollow asks, or along a normal of its edges and vertices.
double PointContacts::beside(const Surface::Triangle& tri, double lowest, double highest) const {
  constexpr double kRounded = 1.0 + 1e-6;
  const double behind = lowest < 0.0 ? -2.0 * lowest : 0.0, anywhere = tri.radius + std::max(out_.reach(), tri.hollow ? behind : 0.0);
  if (std::isinf(tri.lean)) return anywhere;
  return std::min(anywhere, kRounded * tri.radius + out_.tolerance() + std::max(tri.lean * highest, behind));
}

bool PointContacts::may_reach(const Vector3d& center, double radius, double size, const Surface::Triangle& tri) const {
  const double ball = radius + 1e-9 * size;  // rounding must not leave out what find_near takes
  const double height = tri.normal.dot(center - s_.vertex(tri.v[0])), lowest = height - ball;
  if (lowest > out_.reach() || height + ball < -size) return false;
  const double within = ball + beside(tri, lowest, height + ball);
  return (center - tri.center).squaredNorm() - height * height <= within * within;
}

/// The candidates are all there is within reach; a point that may lie deeper needs a wider look.
bool PointContacts::is_inside(const Vector3d& p) {
  if (!inside_) inside_ = find_inside(p);
  return *inside_;
}

bool PointContacts::find_inside(const Vector3d& p) const {
  double depth = to_surface_;
  for (const auto& c : below_) depth = std::min(depth, -2.0 * c.height);  // the edge of a hollow is no farther
  if (below_.empty() || depth <= out_.reach()) return s_.contains(p, triangles_);
  return s_.contains(p, depth * (1.0 + 1e-9), around_);
}

/// Just beyond a concave edge, below the face extended: both faces of the hollow hold the point.
bool PointContacts::in_hollow(const TrianglePoint& c, const Surface::Triangle& tri, double height, const Vector3d& p) const {
  const auto k = static_cast<std::size_t>(c.k);
  if (c.region == TriangleRegion::edge && !s_.edge(tri.edge[k]).concave) return false;
  if (c.region == TriangleRegion::vertex && s_.vertex_convex[tri.v[k]]) return false;
  return (p - c.point).norm() <= -2.0 * height + out_.tolerance();
}

void PointContacts::add_feature(const FeatureSet& f, const FeatureSet::Vertex& v, const SurfaceScratch::Near& c) {
  const Surface::Triangle& tri = s_.triangle(c.triangle);
  const Vector3d d = v.p - c.at.point;
  const double distance = d.norm();
  if (distance > out_.reach() || !(distance > 1e-13)) return;
  const Vector3d n = d / distance;
  const auto k = static_cast<std::size_t>(c.at.k);
  if (c.at.region == TriangleRegion::edge) {
    const Surface::Edge& edge = s_.edge(tri.edge[k]);
    if (!edge.convex || !in_edge_cone(edge, n, kStrict) || !rests(f, v, n, kStrict) || is_inside(v.p)) return;
    add(v.p, n, distance, v.name, edge_name(edge.a, edge.b), true, true, is_back(s_, edge, n));
  } else {
    const int w = tri.v[k];
    if (!s_.vertex_convex[w] || !in_vertex_cone(s_, w, n, kStrict) || !rests(f, v, n, kStrict) || is_inside(v.p)) return;
    add(v.p, n, distance, v.name, vertex_name(w), true, true, is_back(s_, w, n));
  }
}

/// Faces over a vertex inside the solid: the nearest, those that form a hollow with it, and those it may be the lowest point below.
void PointContacts::add_below(const FeatureSet& f, const FeatureSet::Vertex& v) {
  const auto nearest = *std::max_element(below_.begin(), below_.end(), [](const auto& a, const auto& b) { return a.height < b.height; });
  for (const auto& c : below_) {
    const Vector3d& n = s_.triangle(c.triangle).normal;
    const bool out = c.triangle == nearest.triangle || hollow_between(nearest.triangle, c.triangle);
    // A ball inside the solid bounds every way out; a plane of the hollow farther than the surface does not, nor is it one.
    const bool is_least = out && -c.height <= to_surface_ * (1.0 + 1e-9);
    const bool touch = (is_least || c.over) && rests(f, v, n, kStrict);
    if (out || touch) add(v.p, n, c.height, v.name, patch_name(c.triangle), touch, is_least);
  }
}

/// Whether a candidate is nearer to p than this.
bool PointContacts::is_nearer(const Vector3d& p, double distance) const {
  return std::any_of(triangles_.begin(), triangles_.end(), [&](int t) {
    const Surface::Triangle& tri = s_.triangle(t);
    return std::abs(tri.normal.dot(p - s_.vertex(tri.v[0]))) < distance &&
           (closest_on(s_, tri, p).point - p).squaredNorm() < distance * distance;
  });
}

/// The middle of each triangle lies in front of the other's plane.
bool PointContacts::hollow_between(int a, int b) const {
  const auto in_front = [&](const Surface::Triangle& x, const Surface::Triangle& y) {
    const Vector3d middle = (s_.vertex(y.v[0]) + s_.vertex(y.v[1]) + s_.vertex(y.v[2])) / 3.0 - s_.vertex(x.v[0]);
    return x.normal.dot(middle) > 1e-9 * middle.norm();
  };
  return in_front(s_.triangle(a), s_.triangle(b)) && in_front(s_.triangle(b), s_.triangle(a));
}

void PointContacts::add(const Vector3d& p, const Vector3d& n, double distance, std::uint64_t name, std::uint64_t name_surface, bool touch,
                        bool nearest, bool back) {
  // Past a border nearer than this there may be a shorter way out.
  const bool aside = distance < 0.0 && s_.is_near_border(p, -distance, around_);
  nearest = nearest && !aside;
  SurfaceContact c{p, n, distance, name, name_surface, touch, nearest};
  if (turned_ != nullptr) c = {*turned_ * (p - distance * n), -(turned_->linear() * n), distance, name_surface, name, touch, nearest};
  c.back = back;
  c.aside = aside;
  (turned_ == nullptr ? c.sharp_surface : c.sharp_shape) = distance >= 0.0;  // below, the other feature is a face
  out_.add(c);
}

void PointContacts::rims(const Convex& cylinder) {
  for (int t : triangles_) {
    const Surface::Triangle& tri = s_.triangle(t);
    const double lowest = tri.normal.dot(support(cylinder, -tri.normal).point - s_.vertex(tri.v[0]));
    if (lowest > out_.reach()) continue;
    std::array<BearingPoint, kOverlapPoints> points;
    const int count = points_on_plane(cylinder, tri.normal, tri.normal.dot(s_.vertex(tri.v[0])), points);
    for (int i = 0; i < count; ++i) rim_point(cylinder, t, points[i], lowest);
  }
}

void PointContacts::rim_point(const Convex& cylinder, int t, const BearingPoint& q, double lowest) {
  const Surface::Triangle& tri = s_.triangle(t);
  const Vector3d& p = q.rim;
  const double height = tri.normal.dot(p - s_.vertex(tri.v[0])), gap = height + tri.normal.dot(q.p - p);
  if (gap > out_.reach() || height < -2.0 * std::hypot(cylinder.cylinder_radius, cylinder.cylinder_half)) return;
  const double beside = tri.radius + (height < 0.0 && tri.hollow ? -2.0 * height : 0.0);
  if ((p - tri.center).squaredNorm() - height * height > beside * beside) return;
  const TrianglePoint c = over_triangle(s_, tri, p, height);
  const bool over = c.region == TriangleRegion::face, touch = gap - lowest <= kStrict * (cylinder.cylinder_radius + cylinder.cylinder_half);
  if (height >= 0.0) {
    if (over) add(q.p, tri.normal, gap, vertex_name(q.name), patch_name(t), touch, true);
    return;
  }
  if (!over && !in_hollow(c, tri, height, p)) return;
  // Deeper than the bodies are thick, what lies behind a face may be in front of a nearer one.
  if (height < -out_.thickness() && is_nearer(p, -height * (1.0 - 1e-9))) return;
  double least = -height;
  bool hollow = over || !is_nearer(p, -height * (1.0 - 1e-9));
  for (int k : triangles_) {
    const Surface::Triangle& other = s_.triangle(k);
    const double depth = other.normal.dot(s_.vertex(other.v[0]) - p);
    if (depth > 0.0 && depth < least * (1.0 - 1e-9) && over_triangle(s_, other, p, -depth).region == TriangleRegion::face) {
      least = depth;
      hollow = hollow_between(t, k);
    }
  }
  const bool nearest = least == -height;
  if ((touch && over) || hollow) {
    if (least <= out_.tolerance() || s_.contains(p, 2.0 * least, around_))
      add(q.p, tri.normal, gap, vertex_name(q.name), patch_name(t), touch, nearest);
  }
}

void surface_vertices_on_polytope(const Convex& shape, const Surface& s, const std::vector<int>& vertices, SurfaceContacts& out) {
  const Polytope& core = *shape.core;
  const Eigen::Isometry3d X = shape.X.inverse();
  const Vector3d center = shape.X * core.box_center;
  const double radius = core.box_half.norm();
  for (int v : vertices) {
    const Vector3d &w = s.vertex(v), p = X * w;
    const ConesToBall seen(s, v, center, radius);
    if (!seen.steep) continue;
    int nearest = -1;
    double outside = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < static_cast<int>(core.faces.size()) && outside <= out.reach(); ++i) {
      const double h = core.faces[i].normal.dot(p) - core.faces[i].offset;
      if (h > outside) outside = h, nearest = i;
    }
    if (outside > out.reach()) continue;
    const auto normal = [&](int i) -> Vector3d { return -(shape.X.linear() * core.faces[i].normal); };
    const auto add_face = [&](int i, double h, bool touch) {
      const Vector3d n = normal(i);
      if (touch || in_vertex_cone(s, v, n, kSteep))
        out.add(on_face({w + h * n, n, h, face_name(i), vertex_name(v), touch, i == nearest}, s, v));
    };
    if (nearest >= 0 && (outside <= 0.0 || is_over(core, nearest, p))) {
      if (!(outside <= out.tolerance())) {
        add_face(nearest, outside, in_vertex_cone(s, v, normal(nearest), kStrict));
        continue;
      }
      // Of the faces over the vertex with their normals in its cone, strictly or to the slack of a patch, those it is least far behind.
      int touched = -1, rested = -1;
      double touched_at = -std::numeric_limits<double>::infinity(), rested_at = touched_at;
      for (int i = 0; i < static_cast<int>(core.faces.size()); ++i) {
        const double h = core.faces[i].normal.dot(p) - core.faces[i].offset;
        if (!(h > std::min(touched_at, rested_at))) continue;
        const Vector3d n = normal(i);
        if (!in_vertex_cone(s, v, n, kCrossing) || !is_over(core, i, p)) continue;
        if (h > rested_at) rested_at = h, rested = i;
        if (h > touched_at && in_vertex_cone(s, v, n, kStrict)) touched_at = h, touched = i;
      }
      add_face(nearest, outside, touched == nearest);
      if (touched >= 0 && touched != nearest) add_face(touched, touched_at, true);
      // A vertex just within a side face holds the corner of the patch below.
      if (rested >= 0 && rested != nearest && rested != touched) add_face(rested, rested_at, false);
      continue;
    }
    if (!seen.strict) continue;
    for (const auto& edge : core.edges) {
      const Vector3d &a = core.vertex(edge.a), along = core.vertex(edge.b) - a, from = p - a;
      const double within = along.norm() + 2.0 * out.reach();
      if (from.squaredNorm() > within * within || !may_be_nearest(edge, along, from, out.tolerance())) continue;
      const FeatureSet::Edge e = edge_of(core, edge, shape.X);
      const double t = closest_on_segment(w, e.a, e.b);
      const Vector3d q = e.a + t * (e.b - e.a), d = q - w;
      const double distance = d.norm();
      if (t <= 0.0 || t >= 1.0 || distance > out.reach() || !(distance > 1e-13)) continue;
      const Vector3d n = d / distance;
      if (!rests(e, n, kStrict) || !in_vertex_cone(s, v, n, kStrict)) continue;
      out.add({q, n, distance, e.name, vertex_name(v), true, true, Vector3d::Zero(), Vector3d::Zero(), true, true, s.vertex_open[v] != 0,
               is_back(s, v, n)});
    }
  }
}

void surface_vertices_on_cylinder(const Convex& shape, const Surface& s, const std::vector<int>& vertices, SurfaceContacts& out) {
  for (int v : vertices) {
    const Vector3d& w = s.vertex(v);
    const Vector3d p = shape.X.inverse() * w;
    Vector3d nearest;
    const double distance = cylinder_distance(shape, p, nearest);
    if (distance > out.reach()) continue;
    const auto add = [&](const Vector3d& outward, double d, bool is_nearest) {
      const Vector3d n = -(shape.X.linear() * outward);
      const bool touch = in_vertex_cone(s, v, n, kStrict);
      if (!touch && (!is_nearest || !in_vertex_cone(s, v, n, std::abs(outward.z()) == 1.0 ? kSteep : kCrossing))) return;
      const int part = outward.z() > 0.5 ? 1 : (outward.z() < -0.5 ? 2 : 0);
      out.add(on_face({w + d * n, n, d, face_name(part), vertex_name(v), touch, is_nearest}, s, v));
    };
    add(nearest, distance, true);
    if (distance > 0.0) continue;
    const double rho = std::hypot(p.x(), p.y());
    if (std::abs(nearest.z()) > 0.5 && rho > 0.0) add({p.x() / rho, p.y() / rho, 0.0}, rho - shape.cylinder_radius, false);
    for (double side : {-1.0, 1.0}) {
      if (side * nearest.z() < 0.5) add(side * Vector3d::UnitZ(), side * p.z() - shape.cylinder_half, false);
    }
  }
}

}  // namespace stiction
