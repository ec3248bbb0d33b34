#include "stiction/geometry/surface_pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "stiction/geometry/closest.hpp"
#include "stiction/geometry/cylinder.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;

constexpr double kStrict = 1e-6;    // slack of normal cones for nearest features
constexpr double kCrossing = 0.17;  // and for crossings of edges: sine of 10 degrees

/// Contacts of features in the surface's frame, put into the world without repeating a point.
class Collector {
 public:
  Collector(const Eigen::Isometry3d& X, double radius, ContactSink& sink)
      : X_(X), radius_(radius), sink_(sink), first_(sink.contacts.size()) {}

  double reach() const { return sink_.margin + radius_; }

  /// `p`: point of the shape's core, at signed distance `distance` along n from the surface.
  void add(const Vector3d& p, const Vector3d& n, double distance, std::uint64_t name_shape, std::uint64_t name_surface) {
    const double gap = distance - radius_;
    const Vector3d n_W = X_.linear() * n, p_W = X_ * (p - (radius_ + 0.5 * gap) * n);
    const double sign = sink_.flip ? -1.0 : 1.0;
    for (std::size_t i = first_; i < sink_.contacts.size(); ++i) {
      const RawContact& c = sink_.contacts[i];
      if ((c.p - p_W).squaredNorm() < 1e-18 && (c.n - sign * n_W).squaredNorm() < 1e-12) return;
    }
    sink_.add(p_W, n_W, gap, name_shape, name_surface);
  }

 private:
  const Eigen::Isometry3d& X_;
  double radius_;
  ContactSink& sink_;
  std::size_t first_;
};

bool in_vertex_cone(const Surface& s, int v, const Vector3d& n, double slack) {
  for (int k : s.spokes_of(v)) {
    const Vector3d e = s.vertex(k) - s.vertex(v);
    if (n.dot(e) > slack * e.norm()) return false;
  }
  return true;
}

bool in_edge_cone(const Surface& s, const Surface::Edge& e, const Vector3d& n, double slack) {
  if (n.dot(e.into_left) > slack) return false;
  if (e.right < 0) return n.dot(s.triangle(e.left).normal) > -slack;
  return n.dot(e.into_right) <= slack;
}

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

/// True when the shape's vertex has no neighbour further along -n than the slack allows.
bool rests(const FeatureSet& f, const FeatureSet::Vertex& v, const Vector3d& n, double slack) {
  for (int i = v.spoke_begin; i < v.spoke_begin + v.spoke_count; ++i) {
    if (f.spokes[static_cast<std::size_t>(i)].dot(n) < -slack) return false;
  }
  return true;
}

/// One vertex of a shape against the candidate triangles.
class VertexContacts {
 public:
  VertexContacts(const Surface& s, const std::vector<int>& triangles, const FeatureSet& f, SurfaceScratch& scratch, Collector& out)
      : s_(s), triangles_(triangles), f_(f), near_(scratch.near), below_(scratch.below), around_(scratch.around), out_(out) {}

  void run(const FeatureSet::Vertex& v) {
    find_near(v);
    if (near_.empty() && below_.empty()) return;
    const bool inside = is_inside(v.p);
    for (const auto& c : near_) {
      const Surface::Triangle& tri = s_.triangle(c.triangle);
      const auto k = static_cast<std::size_t>(c.at.k);
      if (c.at.region == TriangleRegion::face) {
        add_face(v, c.triangle, c.height);
      } else if (!inside && c.at.region == TriangleRegion::edge) {
        add_edge(v, tri.edge[k], c.at.point);
      } else if (!inside) {
        add_vertex(v, tri.v[k], c.at.point);
      }
    }
    if (inside) add_below(v);
  }

 private:
  /// Sorts the candidates: features within reach in front of the vertex, faces it is behind.
  void find_near(const FeatureSet::Vertex& v) {
    near_.clear();
    below_.clear();
    for (int t : triangles_) {
      const Surface::Triangle& tri = s_.triangle(t);
      const double height = tri.normal.dot(v.p - s_.vertex(tri.v[0]));
      if (height > out_.reach() || height < -f_.reach) continue;
      const double beside = tri.radius + std::max(out_.reach(), height < 0.0 && tri.hollow ? -2.0 * height : 0.0);
      if ((v.p - tri.center).squaredNorm() - height * height > beside * beside) continue;
      const TrianglePoint c = over_triangle(s_, tri, v.p, height);
      if (height < 0.0 && (c.region == TriangleRegion::face || in_hollow(c, tri, height, v.p))) {
        if (rests(f_, v, tri.normal, kSteep)) below_.emplace_back(height, t);
      } else if (c.region != TriangleRegion::face || rests(f_, v, tri.normal, kSteep)) {
        near_.push_back({t, height, c});
      }
    }
  }

  /// Side of the surface, from the pseudo-normal of the nearest feature (Baerentzen and Aanaes, 2005). The candidates are all there is
  /// within reach; a vertex that may lie deeper needs a wider look.
  bool is_inside(const Vector3d& p) const {
    double depth = std::numeric_limits<double>::infinity();
    for (const auto& [height, t] : below_) depth = std::min(depth, -height);
    if (below_.empty() || depth <= out_.reach()) return is_inside(p, triangles_);
    const Vector3d box = Vector3d::Constant(depth * (1.0 + 1e-9));
    s_.query(p - box, p + box, around_);
    return is_inside(p, around_);
  }

  bool is_inside(const Vector3d& p, const std::vector<int>& triangles) const {
    double least = std::numeric_limits<double>::infinity();
    bool inside = false;
    for (int t : triangles) {
      const Surface::Triangle& tri = s_.triangle(t);
      const double height = tri.normal.dot(p - s_.vertex(tri.v[0]));
      if (height * height >= least) continue;
      const TrianglePoint c = closest_on(s_, tri, p);
      const double d = (p - c.point).squaredNorm();
      if (d >= least) continue;
      least = d;
      inside = pseudo_normal(c, t).dot(p - c.point) < 0.0;
    }
    return inside;
  }

  Vector3d pseudo_normal(const TrianglePoint& c, int t) const {
    const Surface::Triangle& tri = s_.triangle(t);
    if (c.region == TriangleRegion::face) return tri.normal;
    if (c.region == TriangleRegion::vertex) return s_.vertex_normal[static_cast<std::size_t>(tri.v[static_cast<std::size_t>(c.k)])];
    const Surface::Edge& e = s_.edge(tri.edge[static_cast<std::size_t>(c.k)]);
    // Beside an open border nothing is inside.
    return e.right < 0 ? Vector3d(Vector3d::Zero()) : Vector3d(s_.triangle(e.left).normal + s_.triangle(e.right).normal);
  }

  /// Just beyond a concave edge, below the face extended: both faces of the hollow hold the point.
  bool in_hollow(const TrianglePoint& c, const Surface::Triangle& tri, double height, const Vector3d& p) const {
    if (c.region != TriangleRegion::edge || !s_.edge(tri.edge[static_cast<std::size_t>(c.k)]).concave) return false;
    return (p - c.point).squaredNorm() <= 4.0 * height * height;
  }

  void add_face(const FeatureSet::Vertex& v, int t, double height) {
    out_.add(v.p, s_.triangle(t).normal, height, v.name, face_name(s_.patch[static_cast<std::size_t>(t)]));
  }

  void add_edge(const FeatureSet::Vertex& v, int e, const Vector3d& point) {
    const Surface::Edge& edge = s_.edge(e);
    const Vector3d d = v.p - point;
    const double distance = d.norm();
    if (!edge.convex || distance > out_.reach() || !(distance > 1e-13)) return;
    const Vector3d n = d / distance;
    if (in_edge_cone(s_, edge, n, kStrict) && rests(f_, v, n, kStrict)) out_.add(v.p, n, distance, v.name, edge_name(edge.a, edge.b));
  }

  void add_vertex(const FeatureSet::Vertex& v, int k, const Vector3d& point) {
    const Vector3d d = v.p - point;
    const double distance = d.norm();
    if (!s_.vertex_convex[static_cast<std::size_t>(k)] || distance > out_.reach() || !(distance > 1e-13)) return;
    const Vector3d n = d / distance;
    if (in_vertex_cone(s_, k, n, kStrict) && rests(f_, v, n, kStrict)) out_.add(v.p, n, distance, v.name, vertex_name(k));
  }

  /// Faces over a vertex inside the solid: the nearest, and those that form a hollow with it.
  void add_below(const FeatureSet::Vertex& v) {
    if (below_.empty()) return;
    const auto nearest = *std::max_element(below_.begin(), below_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [height, t] : below_) {
      if (t == nearest.second || (in_front(nearest.second, t) && in_front(t, nearest.second))) add_face(v, t, height);
    }
  }

  /// The middle of triangle b lies in front of triangle a's plane.
  bool in_front(int a, int b) const {
    const Surface::Triangle &ta = s_.triangle(a), &tb = s_.triangle(b);
    const Vector3d middle = (s_.vertex(tb.v[0]) + s_.vertex(tb.v[1]) + s_.vertex(tb.v[2])) / 3.0 - s_.vertex(ta.v[0]);
    return ta.normal.dot(middle) > 1e-9 * middle.norm();
  }

  const Surface& s_;
  const std::vector<int>& triangles_;
  const FeatureSet& f_;
  std::vector<SurfaceScratch::Near>& near_;
  std::vector<std::pair<double, int>>& below_;
  std::vector<int>& around_;
  Collector& out_;
};

/// Least extent; for thin sheets a tenth of the largest.
double thickness_of(const Surface& s) { return std::max(2.0 * s.box_half.minCoeff(), 0.2 * s.box_half.maxCoeff()); }

/// -n in the normal cone of the shape's edge.
bool rests(const FeatureSet::Edge& e, const Vector3d& n, double slack) {
  return e.faces == 0 || (n.dot(e.into_left) >= -slack && (e.faces == 1 || n.dot(e.into_right) >= -slack));
}

void cross_edges(const FeatureSet& f, const Surface& s, const std::vector<int>& convex_edges, Collector& out) {
  const double thickness = std::min(f.thickness, thickness_of(s));  // edges further through are on the far side
  const double farthest = std::max(out.reach(), thickness);
  for (const auto& e : f.edges) {
    const Vector3d along = (e.b - e.a).normalized();
    for (int k : convex_edges) {
      const Surface::Edge& edge = s.edge(k);
      Vector3d n = along.cross(edge.along);
      if (!rests(e, n, kCrossing * e.bend) && !rests(e, -n, kCrossing * e.bend)) continue;  // most pairs of a fine hull end here
      const double sine = n.norm();
      if (sine < 1e-3) continue;
      n /= sine;
      const double slack = kCrossing * edge.bend, slack_e = kCrossing * e.bend;
      const bool plus = in_edge_cone(s, edge, n, slack) && rests(e, n, slack_e),
                 minus = in_edge_cone(s, edge, -n, slack) && rests(e, -n, slack_e);
      if (plus == minus && !(plus && f.radius > 0.0)) continue;
      const double apart = n.dot(e.a - s.vertex(edge.a));  // of the two lines
      if (!plus || (minus && apart < 0.0)) n = -n;
      if (std::abs(apart) > farthest) continue;
      const SegmentPair r = closest_segments(e.a, e.b, s.vertex(edge.a), s.vertex(edge.b));
      const Vector3d pe = e.a + r.s * (e.b - e.a), ps = s.vertex(edge.a) + r.t * (s.vertex(edge.b) - s.vertex(edge.a));
      // Only where the segments cross, ends included: a ridge goes on in the next edge.
      if ((pe - ps).cross(n).squaredNorm() > 1e-18 * (e.b - e.a).squaredNorm()) continue;
      out.add(pe, n, n.dot(pe - ps), e.name, edge_name(edge.a, edge.b));
    }
  }
}

/// Convex surface vertices against the faces of a polytope; works in the polytope's frame.
void surface_vertices_on_faces(const Convex& shape, const PlacedSurface& placed, const std::vector<int>& convex_vertices, Collector& out) {
  const Surface& s = *placed.surface;
  const Eigen::Isometry3d X = shape.X.inverse() * placed.X;  // surface to shape
  const Eigen::Matrix3d R = X.linear().transpose();
  const Polytope& core = *shape.core;
  for (int v : convex_vertices) {
    const Vector3d p = X * s.vertex(v);
    int best = -1;
    double height = -std::numeric_limits<double>::infinity(), outside = height;
    for (int f = 0; f < static_cast<int>(core.faces.size()); ++f) {
      const Polytope::Face& face = core.faces[static_cast<std::size_t>(f)];
      const double h = face.normal.dot(p) - face.offset;
      outside = std::max(outside, h);
      if (h > out.reach()) break;
      if (h > height && in_vertex_cone(s, v, -(R * face.normal), kSteep)) height = h, best = f;
    }
    if (best < 0 || outside > out.reach() || (outside > 0.0 && height < outside)) continue;
    const Polytope::Face& face = core.faces[static_cast<std::size_t>(best)];
    const auto loop = core.face_loop(best);
    bool over = true;
    for (std::size_t i = 0; i < loop.size() && over && outside > 0.0; ++i) {
      const Vector3d &a = core.vertex(loop[i]), &b = core.vertex(loop[(i + 1) % loop.size()]);
      over = face.normal.dot((b - a).cross(p - a)) >= -1e-9 * (b - a).squaredNorm();
    }
    const Vector3d n = -(R * face.normal);
    if (over) out.add(s.vertex(v) + height * n, n, height, face_name(best), vertex_name(v));
  }
}

void surface_vertices_on_segment(const FeatureSet& f, const Surface& s, const std::vector<int>& convex_vertices, Collector& out) {
  const FeatureSet::Edge& e = f.edges[0];
  for (int v : convex_vertices) {
    const double t = closest_on_segment(s.vertex(v), e.a, e.b);
    const Vector3d q = e.a + t * (e.b - e.a), d = q - s.vertex(v);
    const double distance = d.norm();
    if (t <= 0.0 || t >= 1.0 || distance > out.reach() || !(distance > 1e-13)) continue;
    if (in_vertex_cone(s, v, d / distance, kStrict)) out.add(q, d / distance, distance, e.name, vertex_name(v));
  }
}

void collect_convex(const Surface& s, const std::vector<int>& triangles, std::vector<int>& vertices, std::vector<int>& edges) {
  vertices.clear();
  edges.clear();
  for (int t : triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Surface::Triangle& tri = s.triangle(t);
      if (s.vertex_convex[static_cast<std::size_t>(tri.v[k])]) vertices.push_back(tri.v[k]);
      if (s.edge(tri.edge[k]).convex) edges.push_back(tri.edge[k]);
    }
  }
  for (auto* list : {&vertices, &edges}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
}

Vector3d into_face(const Polytope& core, int face, const Polytope::Edge& e) {
  if (face < 0) return Vector3d::Zero();
  const Vector3d along = (core.vertex(e.b) - core.vertex(e.a)).normalized();
  return core.faces[static_cast<std::size_t>(face)].normal.cross(along);
}

/// Features of a polytope; `left_face` of an edge a b has it counter-clockwise, so its inside is normal × (b - a).
void collect_features(const Convex& shape, const Eigen::Isometry3d& X, FeatureSet& f) {
  const Polytope& core = *shape.core;
  f.clear();
  f.radius = shape.radius;
  f.reach = 2.0 * core.box_half.norm() + shape.radius;
  f.thickness = 2.0 * core.box_half.minCoeff() + shape.radius;
  for (int v = 0; v < core.size(); ++v) {
    f.vertices.push_back(
        {X * core.vertex(v), vertex_name(v), static_cast<int>(f.spokes.size()), static_cast<int>(core.neighbors_of(v).size())});
    for (int k : core.neighbors_of(v)) f.spokes.push_back(X.linear() * (core.vertex(k) - core.vertex(v)).normalized());
  }
  for (const auto& e : core.edges) {
    FeatureSet::Edge& out = f.edges.emplace_back();
    out.a = X * core.vertex(e.a);
    out.b = X * core.vertex(e.b);
    out.name = edge_name(e.a, e.b);
    if (e.left_face < 0) continue;
    out.faces = 2;
    out.into_left = X.linear() * into_face(core, e.left_face, e);
    out.into_right = -(X.linear() * into_face(core, e.right_face, e));
    const Vector3d &nl = core.faces[static_cast<std::size_t>(e.left_face)].normal,
                   &nr = core.faces[static_cast<std::size_t>(e.right_face)].normal;
    out.bend = nl.dot(nr) < 0.0 ? 1.0 : nl.cross(nr).norm();
  }
}

/// Convex features of a surface's candidate triangles.
void collect_features(const Surface& s, const std::vector<int>& vertices, const std::vector<int>& edges, const Eigen::Isometry3d& X,
                      FeatureSet& f) {
  f.clear();
  f.radius = 0.0;
  f.reach = f.thickness = thickness_of(s);
  for (int v : vertices) {
    f.vertices.push_back({X * s.vertex(v), vertex_name(v), static_cast<int>(f.spokes.size()), static_cast<int>(s.spokes_of(v).size())});
    for (int k : s.spokes_of(v)) f.spokes.push_back(X.linear() * (s.vertex(k) - s.vertex(v)).normalized());
  }
  for (int k : edges) {
    const Surface::Edge& e = s.edge(k);
    f.edges.push_back({X * s.vertex(e.a), X * s.vertex(e.b), X.linear() * e.into_left, X.linear() * e.into_right, e.bend,
                       e.right < 0 ? 1 : 2, edge_name(e.a, e.b)});
  }
}

void query_box(const Surface& s, const Eigen::Isometry3d& X, const Vector3d& center, const Vector3d& half, double grow,
               std::vector<int>& found) {
  const Vector3d c = X * center, h = X.linear().cwiseAbs() * half + Vector3d::Constant(grow);
  s.query(c - h, c + h, found);
}

void collide_cylinder_surface(const Convex& shape, const PlacedSurface& placed, SurfaceScratch& scratch, ContactSink& sink) {
  const Surface& s = *placed.surface;
  Convex local = shape;  // in the surface's frame
  local.X = placed.X.inverse() * shape.X;
  Collector out(placed.X, 0.0, sink);
  const double reach = std::min(shape.cylinder_radius, shape.cylinder_half);
  for (int t : scratch.triangles) {
    const Surface::Triangle& tri = s.triangle(t);
    const auto add = [&](const Vector3d& p, int name) {
      const double height = tri.normal.dot(p - s.vertex(tri.v[0]));
      if (height > sink.margin || height < -reach) return;
      if (over_triangle(s, tri, p, height).region != TriangleRegion::face) return;
      out.add(p, tri.normal, height, vertex_name(name), face_name(s.patch[static_cast<std::size_t>(t)]));
    };
    const double along = -local.axis().dot(tri.normal);
    if (std::abs(along) > kSteep) {
      std::array<RimPoint, kCapCorners> corners;
      const int count = cap_corners(local, along < 0.0 ? -1.0 : 1.0, -tri.normal, corners);
      for (int i = 0; i < count; ++i) add(corners[static_cast<std::size_t>(i)].p, corners[static_cast<std::size_t>(i)].name);
    } else {
      for (double side : {-1.0, 1.0}) add(farthest_on_rim(local, side, -tri.normal), lowest_name(side));
    }
  }
  for (int v : scratch.convex_vertices) {
    Vector3d normal;
    const double distance = cylinder_distance(local, local.X.inverse() * s.vertex(v), normal);
    const Vector3d n = -(local.X.linear() * normal);
    if (distance > sink.margin || distance < -reach) continue;
    if (in_vertex_cone(s, v, n, std::abs(normal.z()) == 1.0 ? kSteep : kCrossing)) {
      out.add(s.vertex(v) + distance * n, n, distance, face_name(normal.z() > 0.5 ? 1 : (normal.z() < -0.5 ? 2 : 0)), vertex_name(v));
    }
  }
  for (int k : scratch.convex_edges) {
    const Surface::Edge& edge = s.edge(k);
    const Vector3d bottom = local.center() - local.cylinder_half * local.axis(), top = local.center() + local.cylinder_half * local.axis();
    const SegmentPair r = closest_segments(bottom, top, s.vertex(edge.a), s.vertex(edge.b));
    const Vector3d toward = bottom + r.s * (top - bottom) - (s.vertex(edge.a) + r.t * (s.vertex(edge.b) - s.vertex(edge.a)));
    if (!(toward.squaredNorm() > 0.0) || toward.norm() > local.cylinder_radius + sink.margin) continue;
    scratch.edge.vertices[0] = s.vertex(edge.a);
    scratch.edge.vertices[1] = s.vertex(edge.b);
    Convex segment;
    segment.core = &scratch.edge;
    const Axis axis = signed_distance_from(local, segment, toward.normalized());
    if (axis.separation > sink.margin || axis.separation < -reach || !in_edge_cone(s, edge, axis.n, kCrossing)) continue;
    scratch.found.clear();
    ContactSink part{scratch.found, sink.margin, false};
    if (!add_overlap(local, segment, axis, part)) continue;  // nearest at an end of the edge: the vertex has it
    for (const RawContact& c : scratch.found) out.add(c.p + 0.5 * c.gap * c.n, c.n, c.gap, c.feature, edge_name(edge.a, edge.b));
  }
}

}  // namespace

void collide_convex_surface(const Convex& shape, const PlacedSurface& placed, SurfaceScratch& scratch, ContactSink& sink) {
  const Surface& s = *placed.surface;
  const Eigen::Isometry3d X = placed.X.inverse() * shape.X;
  const bool cylinder = shape.is_cylinder();
  const Vector3d half = cylinder ? Vector3d(shape.cylinder_radius, shape.cylinder_radius, shape.cylinder_half) : shape.core->box_half;
  query_box(s, X, cylinder ? Vector3d(Vector3d::Zero()) : shape.core->box_center, half, sink.margin + shape.radius, scratch.triangles);
  if (scratch.triangles.empty()) return;
  collect_convex(s, scratch.triangles, scratch.convex_vertices, scratch.convex_edges);
  const std::size_t first = sink.contacts.size();
  if (cylinder) {
    collide_cylinder_surface(shape, placed, scratch, sink);
  } else {
    collect_features(shape, X, scratch.shape);
    Collector out(placed.X, shape.radius, sink);
    VertexContacts vertices(s, scratch.triangles, scratch.shape, scratch, out);
    for (const auto& v : scratch.shape.vertices) vertices.run(v);
    if (shape.core->size() == 2) surface_vertices_on_segment(scratch.shape, s, scratch.convex_vertices, out);
    if (!shape.core->faces.empty()) surface_vertices_on_faces(shape, placed, scratch.convex_vertices, out);
    cross_edges(scratch.shape, s, scratch.convex_edges, out);
  }
  if (sink.contacts.size() - first > 4 * static_cast<std::size_t>(kMaxPoints)) thin_out(sink.contacts, first);
}

void collide_surfaces(const PlacedSurface& a, const PlacedSurface& b, SurfaceScratch& scratch, ContactSink& sink) {
  const Eigen::Isometry3d X_BA = b.X.inverse() * a.X, X_AB = X_BA.inverse();
  query_box(*b.surface, X_BA, a.surface->box_center, a.surface->box_half, sink.margin, scratch.triangles);
  query_box(*a.surface, X_AB, b.surface->box_center, b.surface->box_half, sink.margin, scratch.other_triangles);
  if (scratch.triangles.empty() || scratch.other_triangles.empty()) return;
  const std::size_t first = sink.contacts.size();
  collect_convex(*a.surface, scratch.other_triangles, scratch.convex_vertices, scratch.convex_edges);
  collect_features(*a.surface, scratch.convex_vertices, scratch.convex_edges, X_BA, scratch.shape);
  collect_convex(*b.surface, scratch.triangles, scratch.convex_vertices, scratch.convex_edges);
  collect_features(*b.surface, scratch.convex_vertices, scratch.convex_edges, X_AB, scratch.other);
  {
    Collector out(b.X, 0.0, sink);
    VertexContacts vertices(*b.surface, scratch.triangles, scratch.shape, scratch, out);
    for (const auto& v : scratch.shape.vertices) vertices.run(v);
    cross_edges(scratch.shape, *b.surface, scratch.convex_edges, out);
  }
  ContactSink turned{sink.contacts, sink.margin, !sink.flip};
  Collector out(a.X, 0.0, turned);
  VertexContacts vertices(*a.surface, scratch.other_triangles, scratch.other, scratch, out);
  for (const auto& v : scratch.other.vertices) vertices.run(v);
  if (sink.contacts.size() - first > 4 * static_cast<std::size_t>(kMaxPoints)) thin_out(sink.contacts, first);
}

void collide_surface_plane(const PlacedSurface& placed, const Plane3& plane, ContactSink& sink) {
  const Surface& s = *placed.surface;
  const Vector3d up = placed.X.linear().transpose() * plane.n;
  const double base = plane.n.dot(placed.X.translation()) - plane.offset;
  const std::size_t first = sink.contacts.size();
  for (int v : s.convex_vertices) {
    const double height = base + up.dot(s.vertex(v));
    if (height > sink.margin || !in_vertex_cone(s, v, -up, kSteep)) continue;
    sink.add(placed.X * s.vertex(v) - 0.5 * height * plane.n, plane.n, height, vertex_name(v), 0);
  }
  thin_out(sink.contacts, first);
}

}  // namespace stiction
