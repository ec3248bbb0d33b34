#include "stiction/geometry/convex_pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "stiction/geometry/closest.hpp"
#include "stiction/geometry/cylinder.hpp"
#include "stiction/geometry/ridges.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;

constexpr double kCoincident = 1e-9;            // of the radii: a difference of centres below this has no direction
constexpr double kTouching = 0.5 * kLaidFlush;  // m: overlap that is left alone is as deep, so what bears is no more open than that

/// Adds the point of a core at signed distance `core_gap` along n from the other surface.
void add_core_point(const Vector3d& core_point, const Vector3d& n, double core_gap, double radius, std::uint64_t name_a,
                    std::uint64_t name_b, ContactSink& sink) {
  const double gap = core_gap - radius;
  sink.add(core_point - (radius + 0.5 * gap) * n, n, gap, name_a, name_b);
}

/// Two balls at a and b; `across` is the normal where their centres coincide.
void add_balls(const Vector3d& a, double radius_a, const Vector3d& b, double radius_b, const Vector3d& across, std::uint64_t name_a,
               std::uint64_t name_b, ContactSink& sink) {
  const Vector3d d = a - b;
  const double length = d.norm();
  const Vector3d n = length > kCoincident * (radius_a + radius_b) ? Vector3d(d / length) : across;
  const double gap = length - radius_a - radius_b;
  sink.add(b + (radius_b + 0.5 * gap) * n, n, gap, name_a, name_b);
}

void cylinder_on_plane(const Convex& shape, const Plane3& plane, ContactSink& sink) {
  std::array<BearingPoint, kOverlapPoints> points;
  const int count = points_on_plane(shape, plane.n, plane.offset, points);
  for (int i = 0; i < count; ++i)
    add_core_point(points[i].p, plane.n, plane.n.dot(points[i].p) - plane.offset, 0.0, vertex_name(points[i].name), 0, sink);
}

/// Visits the vertices at or below `bound` along `down`... from the lowest one outwards; they are connected by convexity.
template <class F>
void visit_low_vertices(const Polytope& core, const Vector3d& up, double bound, std::vector<int>& scratch, const F& f) {
  if (core.size() <= Polytope::kScanned) {
    for (int v = 0; v < core.size(); ++v) {
      if (up.dot(core.vertex(v)) <= bound) f(v);
    }
    return;
  }
  scratch.clear();
  const int lowest = core.support(-up);
  if (up.dot(core.vertex(lowest)) <= bound) scratch.push_back(lowest);
  for (std::size_t i = 0; i < scratch.size(); ++i) {
    for (int k : core.neighbors_of(scratch[i])) {
      if (up.dot(core.vertex(k)) <= bound && std::find(scratch.begin(), scratch.end(), k) == scratch.end()) scratch.push_back(k);
    }
  }
  std::sort(scratch.begin(), scratch.end());
  for (int v : scratch) f(v);
}

bool has_steep_neighbor(const Polytope& core, int v, const Vector3d& up) {
  for (int k : core.neighbors_of(v)) {
    const Vector3d e = core.vertex(k) - core.vertex(v);
    if (up.dot(e) < -kSteep * e.norm()) return true;
  }
  return false;
}

void sphere_box(const Convex& sphere, const Convex& box, ContactSink& sink) {
  const Vector3d& h = box.core->box_half;
  const Vector3d c = box.X.linear().transpose() * (sphere.center() - box.center());
  const Vector3d nearest = c.cwiseMax(-h).cwiseMin(h);
  Vector3d n = c - nearest;
  double distance = n.norm();
  if (distance > 1e-12 * h.maxCoeff()) {
    n /= distance;
  } else {  // inside: through the nearest face
    int axis = 0;
    distance = (c.cwiseAbs() - h).maxCoeff(&axis);
    n = (c[axis] < 0.0 ? -1.0 : 1.0) * Vector3d::Unit(axis);
  }
  add_core_point(sphere.center(), box.X.linear() * n, distance, sphere.radius, 0, 0, sink);
}

void sphere_cylinder(const Convex& sphere, const Convex& cylinder, ContactSink& sink) {
  Vector3d n;
  const double distance = cylinder_distance(cylinder, cylinder.X.inverse() * sphere.center(), n);
  add_core_point(sphere.center(), cylinder.X.linear() * n, distance, sphere.radius, 0, 0, sink);
}

/// What is round about the segment between its ends: a capsule or a cylinder.
struct Rod {
  const Convex& shape;
  std::array<Vector3d, 2> end;
  std::array<int, 2> name;
  double radius;

  Vector3d along() const { return end[1] - end[0]; }
  std::uint64_t edge() const { return edge_name(name[0], name[1]); }
};

Rod rod_of(const Convex& shape) {
  const std::array name{end_name(shape, 0), end_name(shape, 1)};
  if (!shape.is_cylinder()) return {shape, {shape.world(0), shape.world(1)}, name, shape.round()};
  const Vector3d half = shape.half_length() * shape.axis();
  return {shape, {shape.center() - half, shape.center() + half}, name, shape.round()};
}

/// The rim point of a cylinder's cap that faces `other` along n against its side.
void add_rim_point(const Rod& rod, int end, const Rod& other, const Vector3d& n, std::uint64_t name_other, bool rod_first,
                   ContactSink& sink) {
  const Vector3d rim = farthest_on_rim(rod.shape, end == 0 ? -1.0 : 1.0, -n), axis = other.along().normalized();
  const Vector3d out = (rim - other.end[0]) - axis.dot(rim - other.end[0]) * axis;
  const double length = out.norm(), gap = length - other.radius;
  const Vector3d up = length > kCoincident * other.radius ? Vector3d(out / length) : n;
  const std::uint64_t name = vertex_name(rod.name[end]);
  rod_first ? sink.add(rim - 0.5 * gap * up, up, gap, name, name_other) : sink.add(rim - 0.5 * gap * up, -up, gap, name_other, name);
}

/// An end of one rod against the other rod, when the contact is (nearly) a local minimum of distance.
void add_rod_end(const Rod& a, int end, const Rod& b, const Vector3d& across, bool a_first, ContactSink& sink) {
  const Vector3d p = a.end[end], inward = (a.end[1 - end] - p).normalized(), along = b.along();
  const double t = closest_on_segment(p, b.end[0], b.end[1]);
  const Vector3d q = b.end[0] + t * along, d = p - q;
  const double length = d.norm();
  const bool coincident = length <= kCoincident * (a.radius + b.radius);
  if (!coincident && inward.dot(d) < -kSlant * length) return;
  const double beyond = 1e-9 * length * along.norm();
  if ((t == 0.0 && along.dot(d) > beyond) || (t == 1.0 && -along.dot(d) > beyond)) return;
  const std::uint64_t name_p = vertex_name(a.name[end]);
  const std::uint64_t name_q = t == 0.0 ? vertex_name(b.name[0]) : (t == 1.0 ? vertex_name(b.name[1]) : b.edge());
  if (a.shape.is_cylinder()) {
    add_rim_point(a, end, b, coincident ? across : Vector3d(d / length), name_q, a_first, sink);
  } else {
    a_first ? add_balls(p, a.radius, q, b.radius, across, name_p, name_q, sink)
            : add_balls(q, b.radius, p, a.radius, across, name_q, name_p, sink);
  }
}

/// The ends of two rods that lie all but side by side; two ends that meet each other, or a contact from `first` on, give one point.
void add_rod_ends(const Rod& a, const Rod& b, const Vector3d& across, std::size_t first, ContactSink& sink) {
  for (const bool of_a : {true, false}) {
    for (int end = 0; end < 2; ++end) {
      const std::size_t before = sink.contacts.size();
      add_rod_end(of_a ? a : b, end, of_a ? b : a, across, of_a, sink);
      if (sink.contacts.size() == before) continue;
      const auto from = sink.contacts.begin() + static_cast<std::ptrdiff_t>(first),
                 to = sink.contacts.begin() + static_cast<std::ptrdiff_t>(before);
      const Vector3d p = sink.contacts.back().p;
      if (std::any_of(from, to, [&](const RawContact& c) { return (c.p - p).squaredNorm() < kSamePoint * kSamePoint; }))
        sink.contacts.pop_back();
    }
  }
}

/// Rods that cross at a small angle: beside the crossing, which runs their length while one rocks, the ends of the stretch they share.
/// (Of rods that are parallel the overlap of their features has these already.)
void add_crossed_ends(const Convex& a, const Convex& b, const Axis& axis, std::size_t first, ContactSink& sink) {
  if (!a.is_rod() || !b.is_rod()) return;
  const Rod rod_a = rod_of(a), rod_b = rod_of(b);
  const Vector3d along_a = rod_a.along().normalized(), along_b = rod_b.along().normalized();
  const double sine = along_a.cross(along_b).norm();
  if (sine <= kParallel || sine > kSlant || std::max(std::abs(axis.n.dot(along_a)), std::abs(axis.n.dot(along_b))) > kSlant) return;
  add_rod_ends(rod_a, rod_b, axis.n, first, sink);
}

/// Whether `other`, not in touch with `shape` along n but at a line or point, touches the plane of a face of it from outside, n all but in
/// that plane.
bool passes(const Convex& shape, const Convex& other, const Vector3d& n, const Vector3d& nearest_on_other) {
  constexpr double kInPlane = 0.1;  // sine: that of kLaidFlush over a gap of 20 um
  const Vector3d along = shape.X.linear().transpose() * n;
  const auto touches = [&](const Vector3d& normal, double offset) {
    if (std::abs(normal.dot(along)) > kInPlane) return false;
    const Vector3d up = shape.X.linear() * normal;
    const double bare = up.dot(shape.center()) + offset + shape.radius + other.radius;
    return up.dot(nearest_on_other) >= bare - kLaidFlush && std::abs(up.dot(support(other, -up).point) - bare) <= kLaidFlush;
  };
  if (shape.is_cylinder()) return touches(Vector3d::UnitZ(), shape.cylinder_half) || touches(-Vector3d::UnitZ(), shape.cylinder_half);
  return std::ranges::any_of(shape.core->faces, [&](const Polytope::Face& face) { return touches(face.normal, face.offset); });
}

/// Half of it, of the core's box.
double least_extent(const Convex& shape) {
  if (shape.is_cylinder()) return std::min(shape.cylinder_radius, shape.cylinder_half);
  return shape.core->box_half.minCoeff() + shape.radius;
}

/// Drops the contacts from `first` on of shapes that are about to pass each other, face on face: what slides over tiles laid flush has the
/// side of the next one ahead, of which nothing stands in its way. The margin is the way that they may go within the step: where it is half
/// of one's extent, one could be through the other before their overlap tells.
void drop_passing(const Convex& a, const Convex& b, const Axis& axis, std::size_t first, ContactSink& sink) {
  if (sink.contacts.size() == first || axis.separation - a.radius - b.radius < -kLaidFlush) return;
  if (sink.margin > std::min(least_extent(a), least_extent(b))) return;
  if (passes(b, a, axis.n, axis.a.point) || passes(a, b, axis.n, axis.b.point)) sink.contacts.resize(first);
}

}  // namespace

void collide_convex_plane(const Convex& shape, const Plane3& plane, ContactSink& sink, std::vector<int>& scratch) {
  if (shape.is_cylinder()) {
    cylinder_on_plane(shape, plane, sink);
    return;
  }
  const Polytope& core = *shape.core;
  const Vector3d up = shape.X.linear().transpose() * plane.n;
  const double base = plane.n.dot(shape.center()) - plane.offset;  // height of the shape's origin
  const std::size_t first = sink.contacts.size();
  visit_low_vertices(core, up, sink.margin + shape.radius - base, scratch, [&](int v) {
    if (has_steep_neighbor(core, v, up)) return;
    add_core_point(shape.world(v), plane.n, base + up.dot(core.vertex(v)), shape.radius, vertex_name(v), 0, sink);
  });
  thin_out(sink.contacts, first);
}

// One point, which goes on as the same from face to edge and corner.
void collide_sphere(const Convex& sphere, const Convex& other, ContactSink& sink) {
  if (other.is_cylinder()) {
    sphere_cylinder(sphere, other, sink);
  } else if (other.core->size() == 1) {
    add_balls(sphere.center(), sphere.radius, other.center(), other.radius, Vector3d::UnitZ(), 0, 0, sink);
  } else if (other.core->size() == 2) {
    const Vector3d b0 = other.world(0), b1 = other.world(1);
    const double t = closest_on_segment(sphere.center(), b0, b1);
    const Vector3d q = b0 + t * (b1 - b0);
    add_balls(sphere.center(), sphere.radius, q, other.radius, other.X.linear().col(0), 0, 0, sink);
  } else {
    sphere_box(sphere, other, sink);
  }
}

void collide_capsules(const Convex& a, const Convex& b, ContactSink& sink) {
  const Vector3d a0 = a.world(0), a1 = a.world(1), b0 = b.world(0), b1 = b.world(1);
  const SegmentPair r = closest_segments(a0, a1, b0, b1);
  const bool inside = !r.parallel && r.s > 0.0 && r.s < 1.0 && r.t > 0.0 && r.t < 1.0;
  const Vector3d square = r.parallel ? Vector3d(a.X.linear().col(0)) : (a1 - a0).cross(b1 - b0).normalized();
  if (inside) {
    const Vector3d pa = a0 + r.s * (a1 - a0), pb = b0 + r.t * (b1 - b0);
    const double along = square.dot(pa - pb);  // exact where pa - pb all but vanishes
    const Vector3d n = (along != 0.0 ? along : square.dot(a.center() - b.center())) < 0.0 ? Vector3d(-square) : square;
    const double gap = std::abs(along) - a.radius - b.radius;
    sink.add(0.5 * (pa - a.radius * n + pb + b.radius * n), n, gap, edge_name(0, 1), edge_name(0, 1));
    if (r.sine > kSlant) return;
  }
  add_rod_ends(rod_of(a), rod_of(b), square, sink.contacts.size(), sink);
}

void collide_boxes(const Convex& a, const Convex& b, Gjk& gjk, ContactSink& sink) {
  const Axis axis = box_axes(a, b, sink.margin);
  if (axis.separation > sink.margin) return;
  const std::size_t first = sink.contacts.size();
  if (!add_overlap(a, b, axis, sink)) {
    if (axis.separation > 0.0) {
      sink.contacts.resize(first);
      return collide_convex(a, b, gjk, sink);
    }
    add_nearest(a, b, axis, sink);
  }
  add_ridge_ends(a, b, axis, first, sink);
  drop_passing(a, b, axis, first, sink);
}

void collide_convex(const Convex& a, const Convex& b, Gjk& gjk, ContactSink& sink) {
  const Axis axis = signed_distance(a, b, sink.margin + a.radius + b.radius, gjk);
  if (axis.separation - a.radius - b.radius > sink.margin) return;
  const std::size_t first = sink.contacts.size();
  if (!add_overlap(a, b, axis, sink)) add_nearest(a, b, axis, sink);
  add_crossed_ends(a, b, axis, first, sink);
  add_ridge_ends(a, b, axis, first, sink);
  drop_passing(a, b, axis, first, sink);
  thin_out(sink.contacts, first);
}

namespace {

/// Indices of contacts that are kept, without repetition.
struct Kept {
  std::array<std::size_t, kMaxPoints> at;
  int count = 0;

  bool full() const { return count == kMaxPoints; }
  void add(std::size_t i) {
    if (!full() && std::find(at.begin(), at.begin() + count, i) == at.begin() + count) at[count++] = i;
  }
};

/// Convex polygon of points in the plane square to n that grows by the point farthest outside, so that every corner is one of their hull.
class Footprint {
 public:
  Footprint(std::span<const RawContact> contacts, const Vector3d& n) : contacts_(contacts), n_(n) {}

  /// Adds the corners of the hull of those that touch until `most` are kept.
  void keep_corners(int most, Kept& kept) {
    const auto start = farthest([&](const RawContact& c) { return flat(c.p - contacts_[kept.at[0]].p).norm(); });
    const auto end = farthest([&](const RawContact& c) { return flat(c.p - contacts_[start.corner].p).norm(); });
    const double rounding = 1e-9 * end.out;
    kept.add(start.corner);
    if (!(end.out > 0.0)) return;
    kept.add(end.corner);
    sides_[0] = side(start.corner, end.corner);
    sides_[1] = side(end.corner, start.corner);
    for (count_ = 2; kept.count < most && count_ < most; ++count_) {
      const auto widest =
          std::max_element(sides_.begin(), sides_.begin() + count_, [](const Side& x, const Side& y) { return x.out < y.out; });
      if (!(widest->out > rounding)) return;
      const std::size_t corner = widest->corner;
      kept.add(corner);
      sides_[count_] = side(corner, widest->to);
      *widest = side(widest->from, corner);
    }
  }

 private:
  /// An edge, counter-clockwise, and the point that is farthest outside.
  struct Side {
    std::size_t from = 0, to = 0, corner = 0;
    double out = -1.0;
  };

  Vector3d flat(const Vector3d& d) const { return d - n_.dot(d) * n_; }

  template <class F>
  Side farthest(const F& distance) const {
    Side s;
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
      if (contacts_[i].gap > kTouching) continue;
      if (const double out = distance(contacts_[i]); out > s.out) s.out = out, s.corner = i;
    }
    return s;
  }

  Side side(std::size_t from, std::size_t to) const {
    const Vector3d& origin = contacts_[from].p;
    const Vector3d outward = (contacts_[to].p - origin).cross(n_).normalized();
    Side s = farthest([&](const RawContact& c) { return outward.dot(c.p - origin); });
    s.from = from;
    s.to = to;
    return s;
  }

  std::span<const RawContact> contacts_;
  Vector3d n_;
  std::array<Side, kMaxPoints> sides_;
  int count_ = 0;
};

}  // namespace

// On a plane, the corners of the hull of the points that touch bear every load that all of these can bear, and the deepest one tells of all
// overlap. Of those left, ways out that ask for the outermost point alternate with ways to which the body is tilted a little.
void thin_out(std::vector<RawContact>& contacts, std::size_t first) {
  constexpr int kWays = 15, kTurn = 4;  // in turns of 4/15, so that the first few look to all sides
  constexpr int kForOpen = 4;           // of kMaxPoints, for those that a fast tilt brings down
  constexpr double kTilt = 1e-2;        // rad, as far as a body at 10 rad/s turns in 1 ms: of a steeper ring the inner one touches first
  const std::size_t count = contacts.size() - first;
  if (count <= static_cast<std::size_t>(kMaxPoints)) return;
  const auto begin = contacts.begin() + static_cast<std::ptrdiff_t>(first);
  const auto deepest = std::min_element(begin, contacts.end(), [](const auto& x, const auto& y) { return x.gap < y.gap; });
  const Vector3d n = deepest->n, t1 = n.unitOrthogonal(), t2 = n.cross(t1);
  Kept kept;
  kept.add(static_cast<std::size_t>(deepest - begin));
  if (deepest->gap <= kTouching) Footprint(std::span(contacts).subspan(first), n).keep_corners(kMaxPoints - kForOpen, kept);
  for (int k = 0; k < kWays && !kept.full(); ++k) {
    const int way = (kTurn * k + 1) % kWays + 1;
    const double angle = 2.0 * std::numbers::pi * way / kWays;
    const Vector3d out = std::cos(angle) * t1 + std::sin(angle) * t2;
    const double down = way % 2 == 0 ? 0.0 : 1.0 / kTilt;
    const auto far = std::max_element(
        begin, contacts.end(), [&](const auto& x, const auto& y) { return out.dot(x.p) - down * x.gap < out.dot(y.p) - down * y.gap; });
    kept.add(static_cast<std::size_t>(far - begin));
  }
  std::sort(kept.at.begin(), kept.at.begin() + kept.count);
  std::size_t out = first;
  for (int k = 0; k < kept.count; ++k) contacts[out++] = contacts[first + kept.at[k]];
  contacts.resize(out);
}

}  // namespace stiction
