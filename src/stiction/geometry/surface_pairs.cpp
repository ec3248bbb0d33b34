#include "stiction/geometry/surface_pairs.hpp"

#include <algorithm>
#include <optional>

#include "stiction/geometry/cylinder.hpp"
#include "stiction/geometry/surface_edges.hpp"
#include "stiction/geometry/surface_vertices.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;

/// Grown by `slack`, past corners by more; a negative one shrinks it.
bool contains(const Convex& shape, const Vector3d& p_W, double slack) {
  const Vector3d p = shape.X.inverse() * p_W;
  if (shape.is_cylinder()) {
    Vector3d normal;
    return cylinder_distance(shape, p, normal) <= slack;
  }
  const Polytope& core = *shape.core;
  if (core.size() == 1) return (p - core.vertex(0)).norm() <= shape.radius + slack;
  if (core.size() == 2) {
    const Vector3d &a = core.vertex(0), &b = core.vertex(1);
    return (p - a - closest_on_segment(p, a, b) * (b - a)).norm() <= shape.radius + slack;
  }
  return std::all_of(core.faces.begin(), core.faces.end(), [&](const auto& face) { return face.normal.dot(p) <= face.offset + slack; });
}

void query_box(const Surface& s, const Eigen::Isometry3d& X, const Vector3d& center, const Vector3d& half, double grow,
               std::vector<int>& found) {
  const Vector3d c = X * center, h = X.linear().cwiseAbs() * half + Vector3d::Constant(grow);
  s.query(c - h, c + h, found);
}

bool is_near(const Surface& s, const Vector3d& p, double distance, std::vector<int>& scratch) {
  s.query(p - Vector3d::Constant(distance), p + Vector3d::Constant(distance), scratch);
  return std::any_of(scratch.begin(), scratch.end(), [&](int t) {
    const auto& v = s.triangle(t).v;
    return (p - closest_on_triangle(p, s.vertex(v[0]), s.vertex(v[1]), s.vertex(v[2])).point).squaredNorm() <= distance * distance;
  });
}

/// The same of a surface, for points no farther than `depth` from it.
bool contains(const Surface& s, const Vector3d& p, double depth, double slack, std::vector<int>& scratch) {
  if (slack < 0.0) return s.contains(p, 2.0 * depth, scratch) && !is_near(s, p, -slack, scratch);
  return s.contains(p, 2.0 * depth, scratch) || is_near(s, p, slack, scratch);
}

/// What lies behind an open surface may lie beside it. Near its border, and where the border is in the shape, a point behind counts only
/// where the surface cuts the shape along its normal, to the slack of a patch; the back of the border counts where no point behind does.
template <class IsCut>
void settle_border(const IsCut& is_cut, SurfaceContacts& out) {
  const bool has_border = out.any([](const SurfaceContact& c) { return c.border && c.touch && c.distance < 0.0; });
  const auto is_behind = [](const SurfaceContact& c) { return c.distance < 0.0 && !c.sharp_surface; };
  out.drop(0, [&](const SurfaceContact& c) { return (c.aside || (has_border && is_behind(c))) && !is_cut(c); });
  if (out.any([&](const SurfaceContact& c) { return c.nearest && is_behind(c); }))
    out.drop(0, [](const SurfaceContact& c) { return c.back; });
}

/// Edges may cross on the far side of either body; that is no contact. What is left gives way as `settle` says. At the corner of a patch
/// the edges cross on the side faces of both bodies, so points count as in them to the tolerance.
template <class InShape>
void settle(const Surface& s, bool convex, const InShape& in_shape, std::vector<int>& scratch, std::size_t edges_begin,
            SurfaceContacts& out) {
  const double rounding = out.tolerance();
  const auto in_surface = [&](const Vector3d& p, double depth) { return contains(s, p, depth, rounding, scratch); };
  out.drop(edges_begin, [&](const SurfaceContact& c) {
    if (!c.touch || !(c.distance < 0.0)) return false;
    return (!in_shape(c.on_surface(), -c.distance, rounding) && !in_surface(c.p, -c.distance)) ||
           (!c.to_surface.isZero(0.0) && !in_surface(c.on_surface(), -c.distance)) ||
           (!c.to_shape.isZero(0.0) && !in_shape(c.p, -c.distance, rounding));
  });
  if (s.open) {
    settle_border(
        [&](const SurfaceContact& c) {
          const double depth = -c.distance, slack = kCrossing * depth;
          if (c.sharp_surface) return contains(s, c.p, depth, slack, scratch);
          return in_shape(c.on_surface(), depth, slack) && is_near(s, c.on_surface(), slack, scratch);
        },
        out);
  }
  const auto overlap = [&](const SurfaceContact& c, const Vector3d& way, double slack) {
    const Vector3d p = c.p + c.to_shape + way;
    const double depth = -c.distance;
    return (c.sharp_surface && in_shape(c.on_surface() + c.to_surface - way, depth, slack)) ||
           (c.sharp_shape && contains(s, p, depth, slack, scratch) && !s.is_near_border(p, depth, scratch));
  };
  out.settle(convex, overlap);
}

void thin_out_many(ContactSink& sink, std::size_t first) {
  if (sink.contacts.size() - first > 4 * static_cast<std::size_t>(kMaxPoints)) thin_out(sink.contacts, first);
}

void meet_features(const Convex& shape, const PlacedSurface& placed, SurfaceScratch& scratch, ContactSink& sink) {
  const Surface& s = *placed.surface;
  Convex local = shape;
  local.X = placed.X.inverse() * shape.X;
  const bool cylinder = shape.is_cylinder();
  const Vector3d half = cylinder ? Vector3d(shape.cylinder_radius, shape.cylinder_radius, shape.cylinder_half) : shape.core->box_half;
  const Vector3d center = cylinder ? Vector3d(Vector3d::Zero()) : shape.core->box_center;
  query_box(s, local.X, center, half, sink.margin + shape.radius, scratch.triangles);
  // What lies all in front of a triangle, out of its reach, meets neither it nor its edges.
  const double reach = sink.margin + shape.radius;
  scratch.reached.clear();
  for (int hint = 0; int t : scratch.triangles) {
    const Surface::Triangle& tri = s.triangle(t);
    const SupportPoint lowest = support(local, -tri.normal, hint);
    hint = std::max(lowest.vertex, 0);
    if (tri.normal.dot(lowest.point - s.vertex(tri.v[0])) <= reach) scratch.reached.push_back(t);
  }
  if (scratch.reached.empty()) return;
  collect_convex(s, scratch.reached, scratch.convex_vertices, scratch.convex_edges);
  FeatureSet& f = scratch.shape;
  collect_features(shape, local.X, f);
  SurfaceContacts out(scratch.contacts, sink.margin, shape.radius, f.size, std::min(f.thickness, thickness_of(s)));
  PointContacts points(s, scratch.triangles, scratch, out);
  std::size_t edges_begin = 0;
  if (cylinder) {
    points.rims(local);
    surface_vertices_on_cylinder(local, s, scratch.convex_vertices, out);
    edges_begin = out.size();
    meet_edges(local, f, s, scratch.convex_edges, out);
  } else {
    points.vertices(local, f, scratch.reached, scratch.reach);
    surface_vertices_on_polytope(local, s, scratch.convex_vertices, out);
    edges_begin = out.size();
    meet_edges(local, s, scratch.convex_edges, scratch.near_edges, out);
  }
  settle(
      s, true, [&](const Vector3d& p, double /*depth*/, double slack) { return contains(local, p, slack); }, scratch.around, edges_begin,
      out);
  const std::size_t first = sink.contacts.size();
  out.emit(placed.X, sink);
  thin_out_many(sink, first);
}

void meet_features(const PlacedSurface& a, const PlacedSurface& b, SurfaceScratch& scratch, ContactSink& sink) {
  const Surface &sa = *a.surface, &sb = *b.surface;
  const Eigen::Isometry3d X_BA = b.X.inverse() * a.X, X_AB = X_BA.inverse();
  query_box(sb, X_BA, sa.box_center, sa.box_half, sink.margin, scratch.triangles);
  query_box(sa, X_AB, sb.box_center, sb.box_half, sink.margin, scratch.other_triangles);
  if (scratch.triangles.empty() || scratch.other_triangles.empty()) return;
  collect_convex(sa, scratch.other_triangles, scratch.convex_vertices, scratch.convex_edges);
  collect_features(sa, scratch.convex_vertices, scratch.convex_edges, X_BA, scratch.shape);
  collect_convex(sb, scratch.triangles, scratch.convex_vertices, scratch.convex_edges);
  collect_features(sb, scratch.convex_vertices, scratch.convex_edges, X_AB, scratch.other);
  SurfaceContacts out(scratch.contacts, sink.margin, 0.0, std::min(scratch.shape.size, scratch.other.size),
                      std::min(scratch.shape.thickness, scratch.other.thickness));
  PointContacts on_b(sb, scratch.triangles, scratch, out), on_a(sa, scratch.other_triangles, scratch, out, &X_BA);
  for (const auto& v : scratch.shape.vertices) on_b.vertex(scratch.shape, v, scratch.triangles, scratch.triangles);
  for (const auto& v : scratch.other.vertices) on_a.vertex(scratch.other, v, scratch.other_triangles, scratch.other_triangles);
  std::size_t first = out.size();
  meet_edges(scratch.shape, sb, scratch.convex_edges, out);
  const auto in_a = [&](const Vector3d& p, double depth, double slack) { return contains(sa, X_AB * p, depth, slack, scratch.around); };
  settle(sb, false, in_a, scratch.around, first, out);
  first = sink.contacts.size();
  out.emit(b.X, sink);
  thin_out_many(sink, first);
}

/// The plane of the triangle nearest to a point of the solid: the ground to what lies wholly in it.
std::optional<Plane3> cover(const PlacedSurface& placed, const Vector3d& p_W, std::vector<int>& scratch) {
  const Surface& s = *placed.surface;
  const int t = s.cover(placed.X.inverse() * p_W, scratch);
  if (t < 0) return std::nullopt;
  const Vector3d n = placed.X.linear() * s.triangle(t).normal;
  return Plane3{n, n.dot(placed.X * s.vertex(s.triangle(t).v[0]))};
}

}  // namespace

void collide_convex_surface(const Convex& shape, const PlacedSurface& surface, SurfaceScratch& scratch, ContactSink& sink) {
  const std::size_t first = sink.contacts.size();
  meet_features(shape, surface, scratch, sink);
  if (sink.contacts.size() > first) return;
  if (const auto ground = cover(surface, shape.center(), scratch.around)) collide_convex_plane(shape, *ground, sink, scratch.triangles);
}

void collide_surfaces(const PlacedSurface& a, const PlacedSurface& b, SurfaceScratch& scratch, ContactSink& sink) {
  const std::size_t first = sink.contacts.size();
  meet_features(a, b, scratch, sink);
  if (sink.contacts.size() > first) return;
  if (const auto ground = cover(b, a.X * a.surface->vertex(0), scratch.around)) {
    collide_surface_plane(a, *ground, sink);
  } else if (const auto other = cover(a, b.X * b.surface->vertex(0), scratch.around)) {
    ContactSink turned = sink;
    turned.flip = !sink.flip;
    collide_surface_plane(b, *other, turned);
  }
}

void collide_surface_plane(const PlacedSurface& placed, const Plane3& plane, ContactSink& sink) {
  const Surface& s = *placed.surface;
  const Vector3d up = placed.X.linear().transpose() * plane.n;
  const double base = plane.n.dot(placed.X.translation()) - plane.offset;
  const std::size_t first = sink.contacts.size();
  for (int v : s.convex_vertices) {
    const double height = base + up.dot(s.vertex(v));
    if (height > sink.margin || !in_vertex_cone(s, v, -up, kSteep) || up.dot(s.vertex_normal[v]) > kSteep * s.vertex_normal[v].norm())
      continue;
    sink.add(placed.X * s.vertex(v) - 0.5 * height * plane.n, plane.n, height, vertex_name(v), 0);
  }
  thin_out(sink.contacts, first);
}

}  // namespace stiction
