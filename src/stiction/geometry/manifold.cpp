#include "stiction/geometry/manifold.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "stiction/geometry/closest.hpp"
#include "stiction/geometry/cylinder.hpp"

namespace stiction {

namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr int kMaxCorners = 48;  // of one feature; larger faces are thinned
constexpr double kOnCap = 0.6;   // cosine of the tilt at which a cylinder's feature changes from its cap to its side

/// Face, edge or vertex of A or B, seen along n: corners in the tangent plane, height along n.
struct Feature {
  int count = 0;
  std::array<Vector2d, kMaxCorners> q;
  std::array<double, kMaxCorners> z;
  std::array<int, kMaxCorners> name;
  Vector2d slope = Vector2d::Zero();  ///< of the plane of a face: z = z[0] + slope · (q - q[0])
  CornerFade fade;                    ///< of a cap's corners
  int unfaded = -1;                   ///< name of its lowest point

  double height(const Vector2d& at) const {
    if (count >= 3) return z[0] + slope.dot(at - q[0]);
    if (count == 1) return z[0];
    const Vector2d d = q[1] - q[0];
    return z[0] + (z[1] - z[0]) * std::clamp(d.dot(at - q[0]) / d.squaredNorm(), 0.0, 1.0);
  }
  std::uint64_t vertex(int i) const { return vertex_name(name[i]); }
  std::uint64_t edge(int i) const { return edge_name(name[i], name[(i + 1) % count]); }
};

/// Tangent plane at the nearest points.
struct Plane {
  Vector3d origin, n, t1, t2;
  Plane(const Vector3d& o, const Vector3d& normal) : origin(o), n(normal) {
    t1 = n.unitOrthogonal();
    t2 = n.cross(t1);
  }
  void put(const Vector3d& x, int name, Feature& f) const {
    const auto i = static_cast<std::size_t>(f.count++);
    const Vector3d d = x - origin;
    f.q[i] = {t1.dot(d), t2.dot(d)};
    f.z[i] = n.dot(d);
    f.name[i] = name;
  }
  Vector2d at(const Vector3d& x) const { return {t1.dot(x - origin), t2.dot(x - origin)}; }
  void set_slope(const Vector3d& normal, Feature& f) const {
    const double along = n.dot(normal);
    f.slope = {-t1.dot(normal) / along, -t2.dot(normal) / along};
  }
};

void reverse(Feature& f) {
  std::reverse(f.q.begin(), f.q.begin() + f.count);
  std::reverse(f.z.begin(), f.z.begin() + f.count);
  std::reverse(f.name.begin(), f.name.begin() + f.count);
}

void polytope_feature(const Convex& shape, const Vector3d& d, int vertex, const Plane& plane, Feature& f) {
  const Polytope& core = *shape.core;
  const Vector3d local = shape.X.linear().transpose() * d;
  int face = -1;
  double best = 0.3;  // a steeper face has no heights worth extrapolating
  for (int k : core.faces_of(vertex)) {
    const double c = core.faces[k].normal.dot(local);
    if (c > best + 1e-12) best = c, face = k;
  }
  if (face >= 0) {
    const auto loop = core.face_loop(face);
    const std::size_t corners = std::min<std::size_t>(loop.size(), kMaxCorners);
    for (std::size_t i = 0; i < corners; ++i) {
      const int v = loop[i * loop.size() / corners];
      plane.put(shape.world(v), v, f);
    }
    plane.set_slope(shape.X.linear() * core.faces[face].normal, f);
    return;
  }
  int other = -1;
  double least = 0.8;
  for (int k : core.neighbors_of(vertex)) {
    const double c = std::abs((core.vertex(k) - core.vertex(vertex)).normalized().dot(local));
    if (c < least - 1e-12) least = c, other = k;
  }
  plane.put(shape.world(vertex), vertex, f);
  if (other >= 0) plane.put(shape.world(other), other, f);
}

void cylinder_feature(const Convex& shape, const Vector3d& d, const Plane& plane, Feature& f) {
  const double along = shape.axis().dot(d);
  const double side = along < 0.0 ? -1.0 : 1.0;
  if (std::abs(along) > kOnCap) {
    std::array<RimPoint, kCapCorners> corners;
    const int count = cap_corners(shape, side, d, corners);
    for (int i = 0; i < count; ++i) plane.put(corners[i].p, corners[i].name, f);
    // Seen from outside its cap, the ring turns with the axis.
    if (side < 0.0) reverse(f);
    plane.set_slope(side * shape.axis(), f);
    f.fade = corner_fade(shape, d);
    f.unfaded = lowest_name(side);
    return;
  }
  const Vector3d radial = shape.cylinder_radius * (d - along * shape.axis()).normalized();
  for (int end = 0; end < 2; ++end) {
    const double z = (end == 0 ? -1.0 : 1.0) * shape.cylinder_half;
    plane.put(shape.center() + z * shape.axis() + radial, lowest_name(end == 0 ? -1.0 : 1.0), f);
  }
}

Feature support_feature(const Convex& shape, const Vector3d& d, int vertex, const Plane& plane) {
  Feature f;
  if (shape.is_cylinder()) {
    cylinder_feature(shape, d, plane, f);
  } else {
    polytope_feature(shape, d, vertex, plane, f);
  }
  return f;
}

double cross(const Vector2d& u, const Vector2d& v) { return u.x() * v.y() - u.y() * v.x(); }

/// A corner of the overlap: vertex a of A, vertex b of B, or the crossing of edge a of A with edge b of B.
struct Corner {
  Vector2d q;
  int a, b;  ///< -1: of the other shape alone
  int edge;  ///< edge that leaves the corner: i >= 0 is A's edge i, -1 - j is B's edge j
};
struct Corners {
  std::array<Corner, 2 * kMaxCorners + 4> at;  // only `count` of them are ever written
  int count = 0;
  void push(const Corner& c) {
    if (count < static_cast<int>(at.size())) at[count++] = c;
  }
};

/// Where the edge that leaves `from` meets line j of B.
Corner crossing(const Corner& from, const Vector2d& q, const Feature& b, int j) {
  if (from.edge >= 0) return {q, from.edge, j, 0};
  const int k = -1 - from.edge;
  const int shared = (k + 1) % b.count == j ? j : ((j + 1) % b.count == k ? k : -1);
  if (shared < 0) return {q, -1, j, 0};
  return {b.q[shared], -1, shared, 0};
}

/// Sutherland-Hodgman: polygon A inside polygon B, both counter-clockwise, names kept.
class Clipper {
 public:
  Clipper(const Feature& a, const Feature& b, double tolerance) {
    for (int i = 0; i < a.count; ++i) out_->push({a.q[i], i, -1, i});
    for (int j = 0; j < b.count; ++j) cut(b, j, tolerance);
  }
  const Corners& corners() const { return *out_; }

 private:
  void cut(const Feature& b, int j, double tolerance) {
    const Vector2d &from = b.q[j], &to = b.q[(j + 1) % b.count];
    const Vector2d e = (to - from).normalized();
    next_->count = 0;
    const int count = out_->count;
    if (count == 0) return;
    double hc = cross(e, out_->at[0].q - from);
    const double first = hc;
    for (int i = 0; i < count; ++i) {
      const bool last = i + 1 == count;
      const Corner &c = out_->at[i], &d = out_->at[last ? 0 : static_cast<std::size_t>(i + 1)];
      const double hd = last ? first : cross(e, d.q - from);
      const bool in_c = hc >= -tolerance, in_d = hd >= -tolerance;
      if (in_c) next_->push(c);
      if (in_c != in_d) {
        Corner x = crossing(c, c.q + std::clamp(hc / (hc - hd), 0.0, 1.0) * (d.q - c.q), b, j);
        x.edge = in_c ? -1 - j : c.edge;
        next_->push(x);
      }
      hc = hd;
    }
    std::swap(out_, next_);
  }

  Corners first_, second_;
  Corners *out_ = &first_, *next_ = &second_;
};

/// Part of segment s inside polygon f, as parameters and the edges that cut it (-1: the end itself).
struct SegmentClip {
  double t0 = 0.0, t1 = 1.0;
  int edge0 = -1, edge1 = -1;
  bool empty = false;
};
SegmentClip clip_segment(const Feature& s, const Feature& f, double tolerance) {
  SegmentClip r;
  const Vector2d d = s.q[1] - s.q[0];
  for (int j = 0; j < f.count; ++j) {
    const Vector2d& from = f.q[j];
    const Vector2d e = (f.q[(j + 1) % f.count] - from).normalized();
    const double h0 = cross(e, s.q[0] - from), h1 = h0 + cross(e, d);
    if (h0 < -tolerance && h1 < -tolerance) r.empty = true;
    if (h0 < -tolerance && h1 >= -tolerance && h0 / (h0 - h1) > r.t0) r.t0 = h0 / (h0 - h1), r.edge0 = j;
    if (h1 < -tolerance && h0 >= -tolerance && h0 / (h0 - h1) < r.t1) r.t1 = h0 / (h0 - h1), r.edge1 = j;
  }
  r.empty = r.empty || r.t0 > r.t1;
  return r;
}

/// f counter-clockwise.
bool inside(const Vector2d& q, const Feature& f, double tolerance) {
  for (int j = 0; j < f.count; ++j) {
    if (cross((f.q[(j + 1) % f.count] - f.q[j]).normalized(), q - f.q[j]) < -tolerance) return false;
  }
  return true;
}

/// Emits the points of an overlap and remembers the least gap.
class Emitter {
 public:
  Emitter(const Convex& a, const Convex& b, const Feature& fa, const Feature& fb, const Plane& plane, ContactSink& sink)
      : a_(a), b_(b), fa_(fa), fb_(fb), plane_(plane), sink_(sink) {}

  double least() const { return least_; }

  void point(const Vector2d& q, std::uint64_t name_a, std::uint64_t name_b) { point(q, fa_.height(q), fb_.height(q), name_a, name_b); }

  void point(const Vector2d& q, double za, double zb, std::uint64_t name_a, std::uint64_t name_b) {
    for (int i = 0; i < count_; ++i) {
      if ((seen_[i] - q).squaredNorm() < kSamePoint * kSamePoint) return;
    }
    if (count_ < static_cast<int>(seen_.size())) seen_[count_++] = q;
    least_ = std::min(least_, za - zb - a_.radius - b_.radius);
    add(q, za, zb, name_a, name_b);
  }

  void polygons(double tolerance) {
    const Clipper clipper(fa_, fb_, tolerance);
    const Corners& corners = clipper.corners();
    for (int i = 0; i < corners.count; ++i) {
      const Corner& c = corners.at[i];
      if (c.a >= 0 && c.b >= 0) {
        point(c.q, fa_.edge(c.a), fb_.edge(c.b));
      } else if (c.a >= 0) {
        corner(fa_, c.a, true);
      } else {
        corner(fb_, c.b, false);
      }
    }
  }

  /// What overlaps of a cylinder's rims beside the corners of its feature, seen against the other's face.
  void overlapping_rims(const Convex& cylinder, const Feature& face, const Vector3d& d, bool of_a, double tolerance) {
    if (!cylinder.is_cylinder() || face.count < 3) return;
    const double along = cylinder.axis().dot(d), side = along < 0.0 ? -1.0 : 1.0;
    std::array<OverlapPoint, kOverlapPoints> points;
    const int count = overlap_points(cylinder, d, points);
    for (int i = 0; i < count; ++i) {
      const OverlapPoint& x = points[i];
      if (std::abs(along) > kOnCap ? x.side == side && !x.beside : x.lowest) continue;
      const Vector2d rim = plane_.at(x.rim);
      const double z = plane_.n.dot(x.p - plane_.origin), za = of_a ? z : fa_.height(rim), zb = of_a ? fb_.height(rim) : z;
      const double gap = za - zb - a_.radius - b_.radius;
      if (gap >= (x.beside ? -kLaidFlush : 0.0) || !inside(rim, face, tolerance)) continue;
      const std::uint64_t name = vertex_name(x.name);
      add(plane_.at(x.p), za, zb, of_a ? name : 0, of_a ? 0 : name);
    }
  }

  /// `a_is_segment`: which of the two is the segment.
  void segment_polygon(bool a_is_segment, double tolerance) {
    const Feature &s = a_is_segment ? fa_ : fb_, &f = a_is_segment ? fb_ : fa_;
    const SegmentClip r = clip_segment(s, f, tolerance);
    if (r.empty) return;
    const auto end = [&](double t, int edge, int vertex) {
      const std::uint64_t on_s = edge < 0 ? s.vertex(vertex) : s.edge(0), on_f = edge < 0 ? 0 : f.edge(edge);
      point(s.q[0] + t * (s.q[1] - s.q[0]), a_is_segment ? on_s : on_f, a_is_segment ? on_f : on_s);
    };
    end(r.t0, r.edge0, 0);
    end(r.t1, r.edge1, 1);
  }

  void segments() {
    const Vector2d u = fa_.q[1] - fa_.q[0], v = fb_.q[1] - fb_.q[0];
    const double lu = u.norm(), lv = v.norm();
    if (std::abs(cross(u, v)) > kParallel * lu * lv) {
      const double s = cross(fb_.q[0] - fa_.q[0], v) / cross(u, v), t = cross(fb_.q[0] - fa_.q[0], u) / cross(u, v);
      if (s >= -1e-9 && s <= 1.0 + 1e-9 && t >= -1e-9 && t <= 1.0 + 1e-9) point(fa_.q[0] + s * u, fa_.edge(0), fb_.edge(0));
      return;
    }
    // Parallel: the ends of the stretch they share.
    const auto along = [&](const Vector2d& q) { return u.dot(q - fa_.q[0]) / (lu * lu); };
    double b0 = along(fb_.q[0]), b1 = along(fb_.q[1]);
    int low = 0, high = 1;
    if (b0 > b1) std::swap(b0, b1), std::swap(low, high);
    if (b0 > 1.0 || b1 < 0.0) return;
    b0 > 0.0 ? point(fa_.q[0] + b0 * u, fa_.edge(0), fb_.vertex(low)) : point(fa_.q[0], fa_.vertex(0), fb_.edge(0));
    b1 < 1.0 ? point(fa_.q[0] + b1 * u, fa_.edge(0), fb_.vertex(high)) : point(fa_.q[1], fa_.vertex(1), fb_.edge(0));
  }

 private:
  void add(const Vector2d& q, double za, double zb, std::uint64_t name_a, std::uint64_t name_b) {
    const double middle = 0.5 * ((za - a_.radius) + (zb + b_.radius));
    sink_.add(plane_.origin + q.x() * plane_.t1 + q.y() * plane_.t2 + middle * plane_.n, plane_.n, za - zb - a_.radius - b_.radius, name_a,
              name_b);
  }

  /// Corner i of one feature inside the other.
  void corner(const Feature& f, int i, bool of_a) {
    const Vector2d& q = f.q[i];
    const std::uint64_t name = f.vertex(i), name_a = of_a ? name : 0, name_b = of_a ? 0 : name;
    if (f.fade.lift == 0.0 || f.name[i] == f.unfaded) return point(q, name_a, name_b);
    const double za = fa_.height(q), zb = fb_.height(q);
    least_ = std::min(least_, za - zb - a_.radius - b_.radius);
    const Vector2d shift(plane_.t1.dot(f.fade.shift), plane_.t2.dot(f.fade.shift));
    add(q + shift, of_a ? za + f.fade.lift : za, of_a ? zb : zb - f.fade.lift, name_a, name_b);
  }

  const Convex &a_, &b_;
  const Feature &fa_, &fb_;
  const Plane& plane_;
  ContactSink& sink_;
  std::array<Vector2d, 2 * kMaxCorners> seen_;
  int count_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
};

/// Where a shape can touch along n: one point, edges square to n (pairs of ends; all around a face), or a cap, a disc about its point.
struct Touching {
  std::array<Vector3d, 2 * kMaxCorners> points;
  int count = 0;
  double disc = 0.0;

  bool is_point() const { return count == 1 && disc == 0.0; }
  void add(const Vector3d& from, const Vector3d& to) {
    if (count + 2 > static_cast<int>(points.size())) return;
    points[count++] = from;
    points[count++] = to;
  }
  template <class F>
  void for_edges(const F& f) const {
    for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(count); i += 2) f(points[i], points[i + 1]);
  }
  Vector3d nearest_on_edges(const Vector3d& p) const {
    Vector3d nearest = points[0];
    for_edges([&](const Vector3d& from, const Vector3d& to) {
      const Vector3d q = from + closest_on_segment(p, from, to) * (to - from);
      if ((q - p).squaredNorm() < (nearest - p).squaredNorm()) nearest = q;
    });
    return nearest;
  }
};

void touching_edges(const Convex& shape, const SupportPoint& at, const Vector3d& n, Touching& r) {
  for (int k : shape.core->neighbors_of(at.vertex)) {
    const Vector3d end = shape.world(k), e = end - at.point;
    if (std::abs(n.dot(e)) < kSquare * e.norm()) r.add(at.point, end);
  }
  if (r.count < 4) return;
  for (int f : shape.core->faces_of(at.vertex)) {
    if ((shape.X.linear() * shape.core->faces[f].normal).cross(n).norm() > kSquare) continue;
    const auto loop = shape.core->face_loop(f);
    r.count = 0;
    for (std::size_t i = 0; i < loop.size(); ++i) r.add(shape.world(loop[i]), shape.world(loop[(i + 1) % loop.size()]));
    return;
  }
}

Touching touching_features(const Convex& shape, const SupportPoint& at, const Vector3d& n) {
  Touching r;
  if (shape.is_cylinder()) {
    const Vector3d axis = shape.axis(), along = axis.dot(at.point - shape.center()) * axis;
    if (axis.cross(n).norm() < kSquare) {
      r.disc = shape.cylinder_radius;
      r.points[r.count++] = shape.center() + along;
    } else if (std::abs(axis.dot(n)) < kSquare) {
      const Vector3d middle = at.point - along;
      r.add(middle - shape.cylinder_half * axis, middle + shape.cylinder_half * axis);
    }
  } else {
    touching_edges(shape, at, n, r);
  }
  if (r.count == 0) r.points[r.count++] = at.point;
  return r;
}

/// The point of A's core nearest to B: a point that the features of both share, seen along n.
Vector3d nearest_on_a(const Convex& a, const Convex& b, const Axis& axis) {
  const Touching ta = touching_features(a, axis.a, axis.n), tb = touching_features(b, axis.b, axis.n);
  const Vector3d offset = axis.separation * axis.n;
  if (ta.is_point()) return axis.a.point;
  if (tb.is_point()) return axis.b.point + offset;
  if (ta.disc > 0.0 && tb.disc > 0.0) {
    const Vector3d between = tb.points[0] + offset - ta.points[0];
    return ta.points[0] + std::min(1.0, ta.disc / between.norm()) * between;
  }
  // The point of an edge or face nearest to a disc's centre is on the disc if any is.
  if (ta.disc > 0.0) return tb.nearest_on_edges(ta.points[0] - offset) + offset;
  if (tb.disc > 0.0) return ta.nearest_on_edges(tb.points[0] + offset);
  double best = std::numeric_limits<double>::infinity();
  Vector3d result = axis.a.point;
  ta.for_edges([&](const Vector3d& a0, const Vector3d& a1) {
    tb.for_edges([&](const Vector3d& b0, const Vector3d& b1) {
      const SegmentPair r = closest_segments(a0 - offset, a1 - offset, b0, b1);
      const Vector3d pa = a0 + r.s * (a1 - a0), pb = b0 + r.t * (b1 - b0);
      const double miss = (pa - pb - offset).squaredNorm();
      if (miss < best) best = miss, result = pa;
    });
  });
  return result;
}

}  // namespace

bool add_overlap(const Convex& a, const Convex& b, const Axis& axis, ContactSink& sink) {
  const Plane plane(axis.b.point, axis.n);
  Feature fa = support_feature(a, -axis.n, axis.a.vertex, plane);
  const Feature fb = support_feature(b, axis.n, axis.b.vertex, plane);
  if (fa.count >= 3) reverse(fa);  // its outside faces -n
  const double size =
      a.cylinder_radius + b.cylinder_radius + (a.core ? a.core->box_half.maxCoeff() : 0.0) + (b.core ? b.core->box_half.maxCoeff() : 0.0);
  const double tolerance = 1e-10 * size;
  Emitter emit(a, b, fa, fb, plane, sink);
  if (fa.count >= 3 && fb.count >= 3) {
    emit.polygons(tolerance);
  } else if (fa.count == 1 || fb.count == 1) {
    const Vector2d& q = fa.count == 1 ? fa.q[0] : fb.q[0];
    emit.point(q, axis.separation, 0.0, fa.count == 1 ? fa.vertex(0) : 0, fb.count == 1 ? fb.vertex(0) : 0);
  } else if (fa.count == 2 && fb.count == 2) {
    emit.segments();
  } else {
    emit.segment_polygon(fa.count == 2, tolerance);
  }
  const double exact = axis.separation - a.radius - b.radius;
  if (exact < 0.0) {
    emit.overlapping_rims(a, fb, -axis.n, true, tolerance);
    emit.overlapping_rims(b, fa, axis.n, false, tolerance);
  }
  return emit.least() <= exact + 1e-9 * size;
}

void add_nearest(const Convex& a, const Convex& b, const Axis& axis, ContactSink& sink) {
  const Vector3d on_a = nearest_on_a(a, b, axis);
  const double gap = axis.separation - a.radius - b.radius;
  sink.add(on_a - (a.radius + 0.5 * gap) * axis.n, axis.n, gap, vertex_name(std::max(axis.a.vertex, 0)),
           vertex_name(std::max(axis.b.vertex, 0)));
}

void level_faces(std::vector<RawContact>& contacts) {
  constexpr double kFlush = 1e-9;  // m: rounding of surface points
  const auto on_one_face = [](const RawContact& x, const RawContact& y) {
    if ((x.n - y.n).squaredNorm() > kSquare * kSquare) return false;
    const double rise = x.n.dot(x.p - y.p), half = 0.5 * (x.gap - y.gap);
    return std::min(std::abs(rise - half), std::abs(rise + half)) <= kFlush;
  };
  for (RawContact& c : contacts) {
    const RawContact* least = &c;
    for (const RawContact& other : contacts) {
      if (other.gap < least->gap && on_one_face(c, other)) least = &other;
    }
    c.p -= c.n.dot(c.p - least->p) * c.n;
    c.least_gap = least->gap;
  }
}

}  // namespace stiction
