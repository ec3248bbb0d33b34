#include "stiction/geometry/separation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <coal/narrowphase/gjk.h>

#include "stiction/geometry/closest.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;

constexpr int kMaxRounds = 8;
constexpr std::size_t kGjkIterations = 128, kEpaIterations = 64;
// Below kGjkTolerance (m) GJK leaves the pair to EPA, which needs some depth to tell directions apart.
constexpr double kGjkTolerance = 1e-9, kEpaTolerance = 1e-6;

/// Local search of s(n) over the axes that the features around the supports can produce.
class AxisSearch {
 public:
  AxisSearch(const Convex& a, const Convex& b, const Axis& start) : a_(a), b_(b), best_(start) {
    scale_ = (best_.a.point - a.center()).norm() + (best_.b.point - b.center()).norm();
  }

  Axis run() {
    for (int round = 0; round < kMaxRounds; ++round) {
      const int a = best_.a.vertex, b = best_.b.vertex;
      improved_ = false;
      try_round();
      // The features at the same two vertices give the same axes; at a cylinder's support they turn with the axis.
      const bool same = a == best_.a.vertex && b == best_.b.vertex && a >= 0 && b >= 0;
      if (!improved_ || same) break;
    }
    return best_;
  }

 private:
  struct Edge {
    Edge() = default;
    explicit Edge(const Vector3d& vector) : along(vector) {}

    Vector3d along;
    bool has_faces = false;
    Vector3d left, right;  ///< outward normals of the faces beside it
  };

  /// Edges at a support, from there: as many as fit.
  struct Edges {
    std::array<Edge, 16> edges;
    int count = 0;

    void take(const Convex& shape, const SupportPoint& at) {
      count = 0;
      if (shape.is_cylinder()) return;
      const auto ends = shape.core->neighbors_of(at.vertex);
      const auto faces = shape.core->neighbor_faces_of(at.vertex);
      for (std::size_t i = 0; i < std::min(ends.size(), edges.size()); ++i) {
        Edge& edge = edges[count++];
        edge.along = shape.world(ends[i]) - at.point;
        edge.has_faces = faces[i][0] >= 0 && faces[i][1] >= 0;
        if (!edge.has_faces) continue;
        edge.left = shape.X.linear() * shape.core->faces[faces[i][0]].normal;
        edge.right = shape.X.linear() * shape.core->faces[faces[i][1]].normal;
      }
    }
    /// How much farther along n than the support one of their ends is.
    double farthest(const Vector3d& n) const {
      double most = 0.0;
      for (int i = 0; i < count; ++i) most = std::max(most, n.dot(edges[i].along));
      return most;
    }
  };

  /// Whether the cross of the two edges is a normal of the Minkowski difference: the arcs that their faces' normals span on the sphere, one
  /// of them mirrored, intersect [Gregorius 2013]. No other cross separates best. Where an arc ends on another the normal is a face's.
  static bool makes_face(const Edge& a, const Edge& b) {
    if (!a.has_faces || !b.has_faces) return true;
    const double left_b = b.left.dot(a.along), right_b = b.right.dot(a.along);
    if (left_b * right_b >= 0.0) return false;
    const double left_a = a.left.dot(b.along), right_a = a.right.dot(b.along);
    return left_a * right_a < 0.0 && left_b * right_a < 0.0;
  }

  void try_round() {
    const Axis at = best_;
    edges_a_.take(a_, at.a);
    edges_b_.take(b_, at.b);
    try_faces(at);
    try_edge_pairs(at);
    if (a_.is_cylinder() || b_.is_cylinder()) try_curved(at);
    if (at.separation > 0.0) try_differences(at);
  }

  /// Takes the direction if it separates better; the sign is that of the current best.
  void attempt(Vector3d n, const Axis& at) {
    const double square = n.squaredNorm();
    if (!(square > 0.0)) return;
    if (n.dot(at.n) < 0.0) n = -n;
    // Curved features make s flat at its maximum, so its value tells n to 1e-8 only: an axis that solves its own condition is preferred to
    // the first direction when they tie.
    const double needed = best_.separation + (raw_ ? -1.0 : 1.0) * 1e-14 * scale_;
    const double least = needed * std::abs(needed) * square;
    const auto too_low = [least](double bound) { return bound * std::abs(bound) <= least; };
    // Any two points of the shapes bound s(n) from above: the supports at hand, and their neighbours, which leave one axis in ten.
    const double bound = n.dot(at.a.point - at.b.point);
    if (too_low(bound) || too_low(bound - edges_a_.farthest(-n) - edges_b_.farthest(n))) return;
    n /= std::sqrt(square);
    const SupportPoint pa = support(a_, -n, std::max(at.a.vertex, 0)), pb = support(b_, n, std::max(at.b.vertex, 0));
    const double s = n.dot(pa.point - pb.point);
    if (s <= needed) return;
    best_ = {n, s, pa, pb};
    raw_ = false;
    improved_ = true;
  }

  void try_faces(const Axis& at) {
    for (const Convex* shape : {&b_, &a_}) {
      if (shape->is_cylinder()) {
        attempt(shape->axis(), at);
        continue;
      }
      for (int f : shape->core->faces_of(shape == &a_ ? at.a.vertex : at.b.vertex)) {
        attempt(shape->X.linear() * shape->core->faces[f].normal, at);
      }
    }
  }

  /// Calls f with every edge at the support, from there; a cylinder's side counts as one.
  template <class F>
  void for_edges(const Convex& shape, const Edges& edges, const SupportPoint& at, const F& f) {
    if (shape.is_cylinder()) {
      f(Edge(shape.axis()));
      return;
    }
    for (int i = 0; i < edges.count; ++i) f(edges.edges[i]);
    for (int k : shape.core->neighbors_of(at.vertex).subspan(edges.count)) f(Edge(shape.world(k) - at.point));
  }

  void try_edge_pairs(const Axis& at) {
    for_edges(a_, edges_a_, at.a, [&](const Edge& a) {
      for_edges(b_, edges_b_, at.b, [&](const Edge& b) {
        if (!makes_face(a, b)) return;
        const Vector3d n = a.along.cross(b.along);
        if (n.squaredNorm() > 1e-12 * a.along.squaredNorm() * b.along.squaredNorm()) attempt(n, at);
      });
    });
  }

  /// Vertex to vertex and vertex to edge, for shapes apart.
  void try_differences(const Axis& at) {
    attempt(at.a.point - at.b.point, at);
    try_vertex_edges(a_, at.a, at.b.point, 1.0, at);
    try_vertex_edges(b_, at.b, at.a.point, -1.0, at);
  }

  void try_vertex_edges(const Convex& shape, const SupportPoint& at_shape, const Vector3d& p, double sign, const Axis& at) {
    if (shape.is_cylinder()) return;
    for (int k : shape.core->neighbors_of(at_shape.vertex)) {
      const Vector3d end = shape.world(k);
      const double s = closest_on_segment(p, at_shape.point, end);
      if (s > 0.0 && s < 1.0) attempt(sign * (at_shape.point + s * (end - at_shape.point) - p), at);
    }
  }

  /// Axes on which a cylinder's round parts touch.
  void try_curved(const Axis& at) {
    if (a_.is_cylinder()) try_cylinder(a_, b_, at.b, 1.0, at);
    if (b_.is_cylinder()) try_cylinder(b_, a_, at.a, -1.0, at);
    if (a_.is_cylinder() && b_.is_cylinder()) {
      ascend(at);
    }
    for_edges(a_, edges_a_, at.a, [&](const Edge& e) { try_arc(e.along.normalized(), at); });
    for_edges(b_, edges_b_, at.b, [&](const Edge& e) { try_arc(e.along.normalized(), at); });
  }

  void try_cylinder(const Convex& cylinder, const Convex& other, const SupportPoint& at_other, double sign, const Axis& at) {
    const Vector3d local = cylinder.X.inverse() * at_other.point;
    const double rho = std::hypot(local.x(), local.y());
    if (!(rho > 0.0) || other.is_cylinder()) return;
    const Vector3d radial(local.x() / rho, local.y() / rho, 0.0);
    attempt(cylinder.X.linear() * radial, at);
    const Vector3d rim = cylinder.cylinder_radius * radial + std::copysign(cylinder.cylinder_half, local.z()) * Vector3d::UnitZ();
    attempt(sign * (cylinder.X.linear() * (rim - local)), at);
  }

  double slope(const Vector3d& n, const Vector3d& along) const { return along.dot(support(a_, -n).point - support(b_, n).point); }

  /// Maximises s on the great circle perpendicular to e: ds/dψ = n'(ψ)·(a(n) - b(n)), bracketed, then by the Illinois variant of regula
  /// falsi.
  void try_arc(const Vector3d& e, const Axis& at) {
    const double off = e.dot(at.n);
    if (std::abs(off) > 0.2) return;  // the first direction is nearer than that
    const Vector3d u = (at.n - off * e).normalized(), w = e.cross(u);
    const auto direction = [&](double x) -> Vector3d { return (u + x * w).normalized(); };  // x = tan ψ
    const auto derivative = [&](double x) { return slope(direction(x), w - x * u); };
    const double f_0 = derivative(0.0), tolerance = 1e-15 * scale_;
    if (std::abs(f_0) <= tolerance) return attempt(u, at);
    // The root lies uphill; widen until the slope turns.
    double lo = 0.0, f_lo = f_0, hi = 0.0, f_hi = f_0;
    for (double step = std::copysign(1e-6, f_0); f_hi * f_0 > 0.0; step *= 20.0) {
      if (std::abs(step) > 1.0) return;
      lo = hi, f_lo = f_hi;
      hi = step, f_hi = derivative(hi);
    }
    double x = hi;
    const double largest = std::max(std::abs(f_lo), std::abs(f_hi));
    for (int i = 0; i < 40; ++i) {
      x = (lo * f_hi - hi * f_lo) / (f_hi - f_lo);
      const double f = derivative(x);
      if (i == 8 && std::abs(f) > 1e-3 * largest) return;  // a jump, not a root: a face or edge has the maximum
      if (std::abs(f) <= tolerance || std::abs(hi - lo) < 1e-15) break;
      if (f * f_hi < 0.0) {
        lo = hi, f_lo = f_hi;
      } else {
        f_lo *= 0.5;
      }
      hi = x, f_hi = f;
    }
    attempt(direction(x), at);
  }

  /// Newton's method for the maximum of s over the sphere, for rim against rim. The gradient is the tangential part of a(n) - b(n).
  void ascend(const Axis& at) {
    Vector3d n = at.n;
    constexpr double h = 1e-5;
    for (int i = 0; i < 12; ++i) {
      const Vector3d t1 = n.unitOrthogonal(), t2 = n.cross(t1);
      const auto gradient = [&](double x, double y) {
        const Vector3d m = (n + x * t1 + y * t2).normalized();
        const Vector3d d = support(a_, -m).point - support(b_, m).point;
        return Eigen::Vector2d(t1.dot(d) - m.dot(d) * m.dot(t1), t2.dot(d) - m.dot(d) * m.dot(t2));
      };
      const Eigen::Vector2d g = gradient(0.0, 0.0);
      Eigen::Matrix2d hessian;
      hessian << (gradient(h, 0.0) - gradient(-h, 0.0)) / (2.0 * h), (gradient(0.0, h) - gradient(0.0, -h)) / (2.0 * h);
      if (!(hessian(0, 0) < 0.0 && hessian.determinant() > 0.0)) return;
      Eigen::Vector2d step = -hessian.inverse() * g;
      if (step.norm() > 0.2) step *= 0.2 / step.norm();
      n = (n + step.x() * t1 + step.y() * t2).normalized();
      if (step.norm() < 1e-15) break;
    }
    attempt(n, at);
  }

  const Convex &a_, &b_;
  Edges edges_a_, edges_b_;  // at the supports that a round starts from
  Axis best_;
  double scale_ = 1.0;
  bool raw_ = true;  ///< the best is still the first direction
  bool improved_ = false;
};

}  // namespace

SupportPoint support(const Convex& shape, const Vector3d& direction, int hint) {
  const Vector3d d = shape.X.linear().transpose() * direction;
  if (!shape.is_cylinder()) {
    const int v = shape.core->support(d, hint);
    return {shape.world(v), v};
  }
  // A direction along the axis, or square to it, meets a flat: its middle is the support that stays put.
  const double rho = std::hypot(d.x(), d.y());
  Vector3d p = Vector3d::Zero();
  if (rho > 1e-14) p = (shape.cylinder_radius / rho) * Vector3d(d.x(), d.y(), 0.0);
  if (std::abs(d.z()) > 1e-14) p.z() = std::copysign(shape.cylinder_half, d.z());
  return {shape.X * p, -1};
}

namespace {
Axis axis_along(const Convex& a, const Convex& b, const Vector3d& n) {
  Axis axis{n, 0.0, support(a, -n), support(b, n)};
  axis.separation = n.dot(axis.a.point - axis.b.point);
  return axis;
}
/// Length along n from the axis' support to the first vertex: at most the shape's.
double reach(const Convex& shape, const SupportPoint& at, const Vector3d& n) {
  return std::abs(n.dot((shape.is_cylinder() ? shape.center() : shape.world(0)) - at.point));
}
}  // namespace

struct Gjk::Impl {
  coal::details::GJK gjk{kGjkIterations, kGjkTolerance};
  coal::details::EPA epa{kEpaIterations, kEpaTolerance};
  coal::details::MinkowskiDiff difference;
};

Gjk::Gjk() : impl_(std::make_unique<Impl>()) {}
Gjk::~Gjk() = default;

Gjk::Answer Gjk::run(const Convex& a, const Convex& b) {
  using coal::details::GJK;
  auto& [gjk, epa, difference] = *impl_;
  difference.set<coal::details::SupportOptions::NoSweptSphere>(a.coal_shape, b.coal_shape, {a.X.linear(), a.X.translation()},
                                                               {b.X.linear(), b.X.translation()});
  Vector3d guess = a.X.linear().transpose() * (a.center() - b.center());
  if (!(guess.squaredNorm() > 1e-12)) guess = Vector3d::UnitX();
  gjk.evaluate(difference, guess);  // starts afresh; `reset` would allocate (the message of an error it doesn't throw)
  Vector3d w0, w1, normal;
  double distance = gjk.distance;
  if (gjk.status == GJK::Collision) {
    epa.reset(kEpaIterations, kEpaTolerance);
    epa.evaluate(gjk, -guess);
    epa.getWitnessPointsAndNormal(difference, w0, w1, normal);
    distance = -epa.depth;
  } else {
    gjk.getWitnessPointsAndNormal(difference, w0, w1, normal);
  }
  if (!normal.allFinite() || !(normal.squaredNorm() > 0.25)) normal = -guess.normalized();
  return {-(a.X.linear() * normal).normalized(), distance};
}

/// Where the shapes all but touch, EPA may start from a simplex without volume and return any direction, which its own depth then gives
/// away. The search starts afresh then, from the best of the directions at hand: with A moved by d along n, which takes it clear of B, GJK
/// finds a direction n' with s(n') >= s(n) + d (1 - n·n'), so repeating that climbs.
Axis Gjk::axis(const Convex& a, const Convex& b) {
  constexpr double kDoubt = 1e-3, kApart = 0.01;  // of the shapes' size
  constexpr int kClimbs = 12;
  const Answer first = run(a, b);
  Axis best = axis_along(a, b, first.n);
  const Vector3d& n = best.n;
  const auto is_plausible = [&](double size) { return best.separation > first.distance - kDoubt * size; };
  if (is_plausible(reach(a, best.a, n) + reach(b, best.b, n))) return best;
  const double size = (support(a, n).point - best.a.point).norm() + (best.b.point - support(b, -n).point).norm();
  if (is_plausible(size)) return best;
  const auto attempt = [&](const Vector3d& direction) {
    const Axis at = axis_along(a, b, direction);
    if (at.separation > best.separation) best = at;
  };
  const Vector3d between = a.center() - b.center();
  if (between.norm() > 0.0) attempt(between.normalized());
  for (int i = 0; i < 3; ++i) {
    for (double sign : {1.0, -1.0}) attempt(sign * a.X.linear().col(i)), attempt(sign * b.X.linear().col(i));
  }
  Convex moved = a;
  for (int i = 0; i < kClimbs; ++i) {
    const double before = best.separation;
    moved.X.translation() = a.X.translation() + (kApart * size - before) * n;
    attempt(run(moved, b).n);
    if (!(best.separation > before + 1e-9 * size)) break;
  }
  return best;
}

Axis signed_distance(const Convex& a, const Convex& b, double margin, Gjk& gjk) {
  const Vector3d between = a.center() - b.center();
  const double length = between.norm();
  if (length > 0.0) {
    const Axis middle = axis_along(a, b, between / length);
    if (middle.separation > margin) return middle;
  }
  const Axis first = gjk.axis(a, b);
  return first.separation > margin ? first : AxisSearch(a, b, first).run();
}

Axis box_axes(const Convex& a, const Convex& b, double margin) {
  const Vector3d &ha = a.core->box_half, &hb = b.core->box_half;
  const Eigen::Matrix3d R = a.X.linear().transpose() * b.X.linear();
  const Eigen::Matrix3d absR = R.cwiseAbs();
  const Vector3d between = a.center() - b.center();
  const Vector3d d_a = a.X.linear().transpose() * between, d_b = b.X.linear().transpose() * between;
  Axis best;
  best.separation = -std::numeric_limits<double>::infinity();
  const auto take = [&](double s, double along, const Vector3d& axis) {
    best.separation = s;
    best.n = along < 0.0 ? Vector3d(-axis) : axis;
  };
  for (int i = 0; i < 3; ++i) {
    const double s = std::abs(d_b[i]) - hb[i] - ha.dot(absR.col(i));
    if (s > best.separation) take(s, d_b[i], b.X.linear().col(i));
  }
  // A face of A or a pair of edges must be clearly better, so that parallel boxes keep one reference face.
  const double slack = 1e-10 * (ha.sum() + hb.sum());
  for (int i = 0; i < 3; ++i) {
    const double s = std::abs(d_a[i]) - ha[i] - hb.dot(absR.row(i).transpose());
    if (s > best.separation + slack) take(s, d_a[i], a.X.linear().col(i));
  }
  if (best.separation > margin) return best;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      // a_i × b_j in A's axes.
      const Vector3d axis = Vector3d::Unit(i).cross(R.col(j));
      const double length = axis.norm();
      if (length < 1e-6) continue;
      const double along = axis.dot(d_a) / length;
      const double s = std::abs(along) - (ha.dot(axis.cwiseAbs()) + hb.dot((R.transpose() * axis).cwiseAbs())) / length;
      if (s > best.separation + slack) take(s, along, a.X.linear() * (axis / length));
    }
  }
  best.a = support(a, -best.n);
  best.b = support(b, best.n);
  best.separation = best.n.dot(best.a.point - best.b.point);
  return best;
}

}  // namespace stiction
