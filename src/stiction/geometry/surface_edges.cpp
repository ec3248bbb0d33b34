#include "stiction/geometry/surface_edges.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>

#include "stiction/geometry/closest.hpp"
#include "stiction/geometry/convex_pairs.hpp"
#include "stiction/geometry/cylinder.hpp"

namespace stiction {

namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr double kParallel = 1e-6;        // sine below which two edges have no common normal of their own
constexpr double kBeyond = 1.7320508;     // of the depth: how far beyond its end an edge counts, as faces do beyond the edge of a hollow
constexpr double kNearlyParallel = 1e-3;  // and no crossing worth a corner

/// Directions within an angle of one. Edges whose normals, with the slack of `meet`, do not face each other do not meet.
struct Normals {
  Vector3d middle;
  double spread = 0.0;  ///< rad

  bool face(const Normals& other) const {
    const double sum = spread + other.spread;
    return -middle.dot(other.middle) >= 1.0 - 0.5 * sum * sum;  // which is less than its cosine
  }
};

constexpr double kAngles = 1e-7;                                                               // rad, of rounding
double slack_of(double bend) { return 1.01 * std::max(kStrict, kCrossing * bend) + kAngles; }  // no less than the arc sine
Normals normals_of(const FeatureSet::Edge& e) { return {e.outward, e.spread + slack_of(e.bend)}; }
Normals normals_of(const Surface::Edge& e) { return {e.outward, e.spread + slack_of(e.bend)}; }
Normals normals_of(const Polytope::Edge& e) { return {e.outward, e.spread + slack_of(e.bend)}; }
/// No less than the arc cosine, and faster.
double angle_of(double cosine) {
  return cosine > 0.0 ? 0.5 * std::numbers::pi * std::sqrt(std::max(1.0 - cosine, 0.0)) : std::acos(std::max(cosine, -1.0));
}
/// Of all of some edges.
Normals normals_of(const Surface& s, const std::vector<int>& edges) {
  Normals all{Vector3d::Zero()};
  for (int k : edges) all.middle += s.edge(k).outward;
  all.middle.normalize();
  for (int k : edges) {
    const Normals one = normals_of(s.edge(k));
    all.spread = std::max(all.spread, one.spread + angle_of(all.middle.dot(one.middle)) + kAngles);
  }
  return all;
}

/// Two lines seen along n: where they cross, and from there to the ends of the edges, where it lies beyond them.
struct Crossing {
  Vector3d p;  ///< on the line of the shape's edge
  Vector3d to_shape = Vector3d::Zero(), to_surface = to_shape;
};

/// Whether x is a parameter between the ends of an edge along u, or a little beyond one where the solid may go on.
bool is_on(double x, const Vector3d& u, bool ends_a, bool ends_b, double depth, double tolerance) {
  const double beyond = std::max(-x, x - 1.0) * u.norm();
  return !(beyond > 0.0) || (!(x < 0.0 ? ends_a : ends_b) && beyond <= kBeyond * depth + tolerance);
}

/// Whether the edges cross, seen along n, or do so beyond an end of either: at a vertex that is not convex an edge may go on in the solid.
bool cross_in_solids(const FeatureSet::Edge& e, const Surface& s, const Surface::Edge& edge, const Vector3d& n, double depth,
                     double tolerance, Crossing& at) {
  const Vector3d &a = s.vertex(edge.a), u = e.b - e.a, v = s.vertex(edge.b) - a, between = a - e.a;
  const double area = n.dot(u.cross(v)), x = n.dot(between.cross(v)) / area, y = n.dot(between.cross(u)) / area;
  at = {e.a + x * u, (std::clamp(x, 0.0, 1.0) - x) * u, (std::clamp(y, 0.0, 1.0) - y) * v};
  return is_on(x, u, e.ends_a, e.ends_b, depth, tolerance) &&
         is_on(y, v, s.vertex_convex[edge.a] != 0, s.vertex_convex[edge.b] != 0, depth, tolerance);
}

/// The edges where they meet along ±n, if n is in or near both normal cones.
void meet(const FeatureSet::Edge& e, const Surface& s, const Surface::Edge& edge, const Vector3d& n, double slack, bool may_touch,
          SurfaceContacts& out) {
  if (!rests(e, n, std::max(kStrict, slack * e.bend)) || !in_edge_cone(edge, n, std::max(kStrict, slack * edge.bend))) return;
  const Vector3d &a = s.vertex(edge.a), &b = s.vertex(edge.b);
  const SegmentPair r = closest_segments(e.a, e.b, a, b);
  Crossing at{e.a + r.s * (e.b - e.a)};
  const Vector3d ps = a + r.t * (b - a);
  const double distance = n.dot(e.a - a);
  const bool touch = may_touch && rests(e, n, kStrict) && in_edge_cone(edge, n, kStrict);
  // Only where the segments cross, ends included: a ridge goes on in the next edge.
  if ((at.p - ps).cross(n).squaredNorm() > 1e-18 * (e.b - e.a).squaredNorm() &&
      (!touch || !(distance < 0.0) || !cross_in_solids(e, s, edge, n, -distance, out.tolerance(), at)))
    return;
  out.add({at.p, n, distance, e.name, edge_name(edge.a, edge.b), touch, touch && distance >= 0.0, at.to_shape, at.to_surface, true, true,
           edge.right < 0, is_back(s, edge, n)});
}

void meet(const FeatureSet::Edge& e, const Vector3d& along, const Surface& s, const Surface::Edge& edge, bool may_touch,
          SurfaceContacts& out) {
  Vector3d n = along.cross(edge.along);
  const double slack = kCrossing * e.bend;
  if (!rests(e, n, slack) && !rests(e, -n, slack)) return;  // most pairs of a fine hull end here
  const double sine = n.norm();
  if (sine < kParallel) return;
  n /= sine;
  for (double sign : {1.0, -1.0}) meet(e, s, edge, sign * n, sine > kNearlyParallel ? kCrossing : 0.0, may_touch, out);
}

/// One edge of the shape and those of the surface that it may meet.
void meet(const FeatureSet::Edge& e, const Surface& s, const std::vector<int>& edges, SurfaceContacts& out) {
  const Normals own = normals_of(e);
  const Vector3d along = (e.b - e.a).normalized();
  for (int k : edges) {
    if (normals_of(s.edge(k)).face(own)) meet(e, along, s, s.edge(k), true, out);
  }
}

/// Whether a shape in a ball may meet the edge along one of its normals, with the slack of `meet`.
bool may_meet(const Surface& s, const Surface::Edge& edge, const Vector3d& center, double radius, const SurfaceContacts& out) {
  constexpr double kWidest = 1.4;  // rad: a wider cone leaves little out
  constexpr double kRounded = 1.0 + 1e-6;
  constexpr double kWays = 1.0 + 2.0 * kBeyond;  // of the depth, between points of the two where edges cross beyond their ends
  const Vector3d &a = s.vertex(edge.a), &b = s.vertex(edge.b), between = center - 0.5 * (a + b);
  const double grown = kRounded * (radius + 0.5 * (b - a).norm()) + out.tolerance(), apart = between.norm();
  if (apart <= grown) return true;
  const double spread = edge.normals_bound() + slack_of(edge.bend);
  if (!(spread < kWidest)) return apart <= grown + std::max(out.reach(), kWays * out.thickness());
  const double up = edge.outward.dot(between), across = std::sqrt(std::max(apart * apart - up * up, 0.0));
  const double cosine = std::cos(spread), sine = std::sin(spread);
  const double depth = std::clamp(grown - (up * cosine - across * sine), 0.0, out.thickness());
  if (apart <= grown + kWays * depth) return true;
  return apart <= grown + out.reach() && (across - grown) * cosine <= (up + grown) * sine;
}

/// s(n) of a cylinder and an edge for n square to the edge: n(θ) = cos θ u + sin θ w.
class Arc {
 public:
  Arc(const Convex& cylinder, const Surface& s, const Surface::Edge& edge)
      : radius_(cylinder.cylinder_radius), half_(cylinder.cylinder_half) {
    u_ = s.triangle(edge.left).normal;
    w_ = (-edge.into_left);
    end_ = std::numbers::pi;  // from the left face's normal around the open border to the back, or to the right face's normal
    if (edge.right >= 0) end_ = std::atan2(w_.dot(s.triangle(edge.right).normal), u_.dot(s.triangle(edge.right).normal));
    if (end_ < 0.0) end_ += 2.0 * std::numbers::pi;
    const Vector3d offset = cylinder.center() - s.vertex(edge.a), axis = cylinder.axis();
    offset_ = {u_.dot(offset), w_.dot(offset)};
    axis_ = {u_.dot(axis), w_.dot(axis)};
    axis_along_edge_ = u_.cross(w_).dot(axis);
  }

  Vector3d normal(double angle) const { return std::cos(angle) * u_ + std::sin(angle) * w_; }

  /// Calls f with every angle at which s has a peak, the ends of the arc too.
  template <class F>
  void for_peaks(const F& f) const {
    // Where the axis is square to n, or as near to it as it gets, s has a kink or nearly one.
    std::array<double, 8> cuts{0.0, end_};
    std::size_t count = 2;
    const double toward = std::atan2(axis_.y(), axis_.x());
    for (int i = -4; i < 8 && count < cuts.size(); ++i) {
      const double at = toward + 0.5 * std::numbers::pi * i;
      if (at > 0.0 && at < end_) cuts[count++] = at;
    }
    std::sort(cuts.begin(), cuts.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const bool rises = i == 0 || slope(cuts[i] - kInset) > 0.0, falls = i + 1 == count || slope(cuts[i] + kInset) < 0.0;
      if (rises && falls) f(cuts[i]);
    }
    constexpr double kPart = 0.5;  // rad; of two peaks nearer than that one may be missed
    for (std::size_t i = 0; i + 1 < count; ++i) {
      const int parts = 1 + static_cast<int>((cuts[i + 1] - cuts[i]) / kPart);
      const double step = (cuts[i + 1] - cuts[i]) / parts;
      for (int k = 0; k < parts; ++k) {
        if (const double at = top(cuts[i] + k * step, cuts[i] + (k + 1) * step); at > 0.0) f(at);
      }
    }
  }

 private:
  static constexpr double kInset = 1e-12;  // off the kinks

  double slope(double angle) const {
    const Vector2d n(std::cos(angle), std::sin(angle)), d(-n.y(), n.x());
    const double along = n.dot(axis_), turn = d.dot(axis_);
    const double across = std::hypot(turn, axis_along_edge_);  // 1 - along² would cancel where the axis is all but along n
    return d.dot(offset_) + (across > 1e-12 ? radius_ * along * turn / across : 0.0) - half_ * std::copysign(turn, along * turn);
  }
  /// Where the slope turns from up to down between two angles (Illinois variant of regula falsi), or -1.
  double top(double low, double high) const {
    low += kInset, high -= kInset;
    double f_low = slope(low), f_high = slope(high);
    if (!(f_low > 0.0 && f_high < 0.0)) return -1.0;
    double x = low;
    for (int i = 0; i < 60 && high - low > 1e-15; ++i) {
      x = (low * f_high - high * f_low) / (f_high - f_low);
      const double f = slope(x);
      if (f > 0.0) {
        low = x, f_low = f;
        f_high *= 0.5;
      } else if (f < 0.0) {
        high = x, f_high = f;
        f_low *= 0.5;
      } else {
        break;
      }
    }
    return x;
  }

  double radius_, half_, end_ = 0.0;
  Vector3d u_, w_;
  Vector2d offset_, axis_;
  double axis_along_edge_;
};

/// Points of the cap's rim over the edge, seen along n.
template <class F>
void for_rim_crossings(const Convex& cylinder, double side, const Vector3d& a, const Vector3d& b, const Vector3d& n, const F& f) {
  const Vector3d axis = cylinder.axis(), middle = cylinder.center() + side * cylinder.cylinder_half * axis;
  const auto onto_cap = [&](const Vector3d& x) -> Vector3d { return x + (axis.dot(middle - x) / axis.dot(n)) * n - middle; };
  const Vector3d from = onto_cap(a), d = onto_cap(b) - from;
  const double dd = d.squaredNorm(), half = from.dot(d) / dd;
  const double root = half * half - (from.squaredNorm() - cylinder.cylinder_radius * cylinder.cylinder_radius) / dd;
  if (!(root > 0.0)) return;
  for (int i = 0; i < 2; ++i) {
    const double t = -half + (i == 0 ? -1.0 : 1.0) * std::sqrt(root);
    if (t < 0.0 || t > 1.0) continue;
    f(Vector3d(middle + from + t * d), Vector3d(a + t * (b - a)), i);
  }
}

std::uint64_t rim_name(double side, int i) { return face_name(2 * (side < 0.0 ? 1 : 2) + i); }

/// Where the edge touches the cylinder's rim or side, or crosses the rim of a cap flat on it.
void touch(const Convex& cylinder, const Surface& s, const Surface::Edge& edge, const Vector3d& n, SurfaceContacts& out) {
  const Vector3d &a = s.vertex(edge.a), &b = s.vertex(edge.b);
  const double along = cylinder.axis().dot(n), side = along > 0.0 ? -1.0 : 1.0;  // of the cap that faces the edge
  const auto add = [&](const Vector3d& p, double distance, std::uint64_t name, const Vector3d& to_surface) {
    out.add({p, n, distance, name, edge_name(edge.a, edge.b), true, distance >= 0.0, Vector3d::Zero(), to_surface, true, true,
             edge.right < 0, is_back(s, edge, n)});
  };
  if (cylinder.axis().cross(n).norm() < kSquare) {
    for_rim_crossings(cylinder, side, a, b, n,
                      [&](const Vector3d& p, const Vector3d& q, int i) { add(p, n.dot(p - q), rim_name(side, i), Vector3d::Zero()); });
    return;
  }
  const bool line = std::abs(along) < kSquare;
  Vector3d p = farthest_on_rim(cylinder, side, -n);
  const Vector3d along_edge = b - a;
  if (line) {
    const Vector3d u = farthest_on_rim(cylinder, -side, -n) - p;
    const double area = n.dot(u.cross(along_edge));
    const bool crosses = std::abs(area) > kNearlyParallel * u.norm() * along_edge.norm();
    p += (crosses ? std::clamp(n.dot((a - p).cross(along_edge)) / area, 0.0, 1.0) : closest_segments(p, p + u, a, b).s) * u;
  }
  const double distance = n.dot(p - a), t = along_edge.dot(p - a) / along_edge.squaredNorm(), on_edge = std::clamp(t, 0.0, 1.0);
  const double size = cylinder.cylinder_radius + cylinder.cylinder_half;
  const auto is_over = [&](double at) { return (p - a - at * along_edge - distance * n).norm() <= 1e-7 * size; };
  const bool over = is_over(on_edge);
  // Nearest beyond an end: a convex vertex has it.
  if (!over && !(distance < 0.0 && is_over(t) &&
                 is_on(t, along_edge, s.vertex_convex[edge.a] != 0, s.vertex_convex[edge.b] != 0, -distance, out.tolerance())))
    return;
  add(p, distance, line ? edge_name(lowest_name(-1.0), lowest_name(1.0)) : vertex_name(lowest_name(side)),
      over ? Vector3d(Vector3d::Zero()) : Vector3d((on_edge - t) * along_edge));
}

/// The ends of a rod that lies along the edge: corners of the patch beside the point where the two cross or touch, wherever rounding has
/// that. What else ends their stretch is a convex vertex of the surface.
void add_ends_along(const Convex& rod, const Surface& s, const Surface::Edge& edge, SurfaceContacts& out) {
  const Vector3d axis = rod.axis(), &a = s.vertex(edge.a), v = s.vertex(edge.b) - a;
  if (axis.cross(v).norm() > kSlant * v.norm()) return;
  const double half = rod.half_length(), core = rod.round() - rod.radius;
  for (const int end : {0, 1}) {
    const Vector3d center = rod.center() + (end == 0 ? -half : half) * axis;
    const double t = v.dot(center - a) / v.squaredNorm();
    if (t < 0.0 || t > 1.0) continue;
    const Vector3d between = center - a - t * v, out_of = between - axis.dot(between) * axis, n = out_of.normalized();
    if (!in_edge_cone(edge, n, kSlant)) continue;
    out.add({.p = center - core * n,
             .n = n,
             .distance = out_of.norm() - core,
             .name_shape = vertex_name(end_name(rod, end)),
             .name_surface = edge_name(edge.a, edge.b),
             .border = edge.right < 0,
             .back = is_back(s, edge, n)});
  }
}

}  // namespace

void meet_edges(const FeatureSet& f, const Surface& s, const std::vector<int>& edges, SurfaceContacts& out) {
  const Normals all = normals_of(s, edges);
  for (const auto& e : f.edges) {
    if (all.face(normals_of(e))) meet(e, s, edges, out);
  }
}

void meet_edges(const Convex& shape, const Surface& s, const std::vector<int>& edges, std::vector<int>& near, SurfaceContacts& out) {
  const Vector3d center = shape.X * shape.core->box_center;
  const double radius = shape.core->box_half.norm();
  near.clear();
  std::ranges::copy_if(edges, std::back_inserter(near), [&](int k) { return may_meet(s, s.edge(k), center, radius, out); });
  if (!near.empty()) {
    Normals all = normals_of(s, near);
    all.middle = shape.X.linear().transpose() * all.middle;
    for (const auto& e : shape.core->edges) {
      if (all.face(normals_of(e))) meet(edge_of(*shape.core, e, shape.X), s, near, out);
    }
  }
  if (!shape.is_rod()) return;
  for (const int k : edges) add_ends_along(shape, s, s.edge(k), out);
}

void meet_edges(const Convex& cylinder, const FeatureSet& rims, const Surface& s, const std::vector<int>& edges, SurfaceContacts& out) {
  const Vector3d half_axis = cylinder.cylinder_half * cylinder.axis();
  for (int k : edges) {
    const Surface::Edge& edge = s.edge(k);
    const Vector3d &a = s.vertex(edge.a), &b = s.vertex(edge.b);
    const SegmentPair r = closest_segments(cylinder.center() - half_axis, cylinder.center() + half_axis, a, b);
    const Vector3d apart = cylinder.center() + (2.0 * r.s - 1.0) * half_axis - (a + r.t * (b - a));
    if (apart.norm() > cylinder.cylinder_radius + out.reach()) continue;
    if (may_meet(s, edge, cylinder.center(), std::hypot(cylinder.cylinder_radius, cylinder.cylinder_half), out)) {
      const Arc arc(cylinder, s, edge);
      arc.for_peaks([&](double angle) { touch(cylinder, s, edge, arc.normal(angle), out); });
      for (const auto& e : rims.edges) meet(e, (e.b - e.a).normalized(), s, edge, false, out);
    }
    add_ends_along(cylinder, s, edge, out);
  }
}

}  // namespace stiction
