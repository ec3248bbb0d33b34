#include "stiction/geometry/ridges.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stiction/geometry/cylinder.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;

constexpr double kNever = std::numeric_limits<double>::infinity();
// Of the stretch: nearer points are one. Of a rod that leans, the nearest point is that far from where its end is seen along the edge.
constexpr double kSameEnd = 1e-6, kSameEndOfRod = 1e-2;
constexpr double kLevelFace = 1.0 - 5e-5;  // cosine of 0.01 rad: a face less tilted than that stands on another with an area

/// An edge, or the line on the surface of a rod that faces the other shape.
struct Ridge {
  const Convex& shape;
  std::array<Vector3d, 2> end;
  std::array<int, 2> name;  ///< of an edge: its vertices
};

Ridge side_of(const Convex& rod, const Vector3d& out) {
  const Vector3d axis = rod.axis(), half = rod.half_length() * axis;
  const Vector3d middle = rod.center() + rod.round() * (out - axis.dot(out) * axis).normalized();
  return {rod, {middle - half, middle + half}, {end_name(rod, 0), end_name(rod, 1)}};
}

/// The face at this vertex that is all but square to `local`; -1: none.
int level_face(const Polytope& core, int vertex, const Vector3d& local) {
  for (const int f : core.faces_of(vertex)) {
    if (core.faces[f].normal.dot(local) >= kLevelFace) return f;
  }
  return -1;
}

/// Visits the ridges of a shape that are all but square to `out`: those at its support point, or all round `face`; until `visit` returns
/// true.
template <class Visit>
bool any_ridge(const Convex& shape, const SupportPoint& at, int face, const Vector3d& out, const Visit& visit) {
  if (shape.is_rod()) return std::abs(shape.axis().dot(out)) <= kSlant && visit(side_of(shape, out));
  const Polytope& core = *shape.core;
  const Vector3d local = shape.X.linear().transpose() * out;
  const auto visit_from = [&](int from, const auto& wanted) {
    const auto neighbors = core.neighbors_of(from);
    for (std::size_t k = 0; k < neighbors.size(); ++k) {
      const Vector3d e = core.vertex(neighbors[k]) - core.vertex(from);
      if (wanted(neighbors[k]) && std::abs(local.dot(e)) <= kSlant * e.norm() &&
          visit(Ridge{shape, {shape.world(from), shape.world(neighbors[k])}, {from, neighbors[k]}}))
        return true;
    }
    return false;
  };
  if (face < 0) return visit_from(at.vertex, [](int) { return true; });
  const auto loop = core.face_loop(face);
  for (std::size_t i = 0; i < loop.size(); ++i) {
    const int next = loop[(i + 1) % loop.size()];
    if (visit_from(loop[i], [&](int to) { return to == next; })) return true;
  }
  return false;
}

/// The way from x along the unit vector d to the surface of a rod, were it without ends; infinite where it passes by.
double way_to_rod(const Convex& rod, const Vector3d& x, const Vector3d& d) {
  const Vector3d axis = rod.axis(), to = x - rod.center(), across = to - axis.dot(to) * axis, along = d - axis.dot(d) * axis;
  const double a = along.squaredNorm(), b = along.dot(across), root = b * b - a * (across.squaredNorm() - rod.round() * rod.round());
  return root >= 0.0 ? -(b + std::sqrt(root)) / a : kNever;
}

/// The same to a polytope, without the faces that its edge ends in.
double way_to_edge(const Ridge& edge, const Vector3d& x, const Vector3d& d) {
  const Polytope& core = *edge.shape.core;
  const Vector3d from = edge.shape.X.inverse() * x, way = edge.shape.X.linear().transpose() * d;
  const auto is_at = [&](int face, std::size_t end) {
    const auto faces = core.faces_of(edge.name[end]);
    return std::find(faces.begin(), faces.end(), face) != faces.end();
  };
  double enters = -kNever, leaves = kNever;
  for (int f = 0; f < static_cast<int>(core.faces.size()); ++f) {
    if (is_at(f, 0) != is_at(f, 1)) continue;
    const Polytope::Face& face = core.faces[f];
    const double above = face.normal.dot(from) - face.offset, faces = -face.normal.dot(way);
    if (faces > 0.0) enters = std::max(enters, above / faces);
    if (faces < 0.0) leaves = std::min(leaves, above / faces);
    if (faces == 0.0 && above > 0.0) return kNever;
  }
  return enters <= leaves ? enters : kNever;
}

double way_to(const Ridge& ridge, const Vector3d& x, const Vector3d& d) {
  return ridge.shape.is_rod() ? way_to_rod(ridge.shape, x, d) : way_to_edge(ridge, x, d);
}

/// Two ridges, seen along the first: stations are the way along it from its first end.
class RidgePair {
 public:
  RidgePair(const Ridge& ridge_a, const Ridge& ridge_b, const Axis& axis)
      : ridge_a_(ridge_a), ridge_b_(ridge_b), n_(axis.n), least_(axis.separation - ridge_a.shape.radius - ridge_b.shape.radius) {
    const Vector3d d = ridge_a.end[1] - ridge_a.end[0];
    length_ = d.norm();
    along_ = d / length_;
    across_ = n_.cross(along_).normalized();
    const double b0 = along_.dot(ridge_b.end[0] - ridge_a.end[0]), b1 = along_.dot(ridge_b.end[1] - ridge_a.end[0]);
    low_b_ = b0 < b1 ? 0 : 1;
    from_b_ = std::min(b0, b1);
    to_b_ = std::max(b0, b1);
  }

  /// Within kSlant of parallel and beside each other.
  bool share_a_stretch() const {
    const double length_b = (ridge_b_.end[1] - ridge_b_.end[0]).norm();
    return to_b_ - from_b_ > std::sqrt(1.0 - kSlant * kSlant) * length_b && from() < to();
  }
  double from() const { return std::max(0.0, from_b_); }
  double to() const { return std::min(length_, to_b_); }

  Vector3d on_a(double s) const { return ridge_a_.end[0] + s * along_; }
  Vector3d on_b(double s) const {
    const Vector3d& start = ridge_b_.end[static_cast<std::size_t>(low_b_)];
    return start + (s - from_b_) / (to_b_ - from_b_) * (ridge_b_.end[static_cast<std::size_t>(1 - low_b_)] - start);
  }
  double offset(double s) const { return across_.dot(on_b(s) - on_a(s)); }

  /// Whether the lines meet in the tangent plane, or all but meet: where an end is nearest, and where edges penetrate, which part along the
  /// normal of one's face.
  bool touches() const {
    const double x = offset(from()), y = offset(to()), beside = has_rod() ? kSameEndOfRod * (to() - from()) : std::max(0.0, -least_);
    return x * y <= 0.0 || std::min(std::abs(x), std::abs(y)) <= kSamePoint + beside;
  }

  /// The contact at a station, at the one of the two lines that is nearer to the other shape. One less open than the shapes are lies beyond
  /// their ends.
  void add(double s, std::size_t first, ContactSink& sink) const {
    const Vector3d pa = on_a(s), pb = on_b(s);
    const double from_b = way_to(ridge_a_, pb, n_), from_a = way_to(ridge_b_, pa, -n_), gap = std::min(from_a, from_b);
    if (!(gap <= sink.margin) || gap < least_ - kSamePoint) return;
    const Vector3d middle = from_b < from_a ? Vector3d(pb + 0.5 * gap * n_) : Vector3d(pa - 0.5 * gap * n_);
    sink.add(middle, n_, gap, name(s, 0.0, length_, ridge_a_, 0), name(s, from_b_, to_b_, ridge_b_, low_b_));
    keep_least(0.5 * (pa + pb), std::abs(offset(s)), first, sink);
  }

 private:
  bool has_rod() const { return ridge_a_.shape.is_rod() || ridge_b_.shape.is_rod(); }
  static std::uint64_t name(double s, double from, double to, const Ridge& ridge, int low) {
    if (s == from) return vertex_name(ridge.name[static_cast<std::size_t>(low)]);
    return s == to ? vertex_name(ridge.name[static_cast<std::size_t>(1 - low)]) : 0;
  }
  /// Of the last contact, those between the lines there and one of its name only the least open stays, under that name, which rounding does
  /// not change.
  void keep_least(const Vector3d& middle, double distance, std::size_t first, ContactSink& sink) const {
    const double reach = distance + (has_rod() ? kSameEndOfRod : kSameEnd) * (to() - from());
    RawContact least = sink.contacts.back();
    double bar = least.gap + kSamePoint;
    const std::uint64_t name = least.feature;
    const auto is_same = [&](const RawContact& c) {
      return c.feature == name || (c.p - middle - n_.dot(c.p - middle) * n_).norm() <= reach;
    };
    const auto begin = sink.contacts.begin() + static_cast<std::ptrdiff_t>(first);
    for (auto c = begin; c != sink.contacts.end(); ++c) {
      if (c->gap < bar && is_same(*c)) least = *c, bar = c->gap;
    }
    sink.contacts.erase(std::remove_if(begin, sink.contacts.end(), is_same), sink.contacts.end());
    least.feature = name;
    sink.contacts.push_back(least);
  }

  const Ridge &ridge_a_, &ridge_b_;
  Vector3d n_, along_, across_;
  double least_, length_ = 0.0, from_b_ = 0.0, to_b_ = 0.0;
  int low_b_ = 0;
};

}  // namespace

void add_ridge_ends(const Convex& a, const Convex& b, const Axis& axis, std::size_t first, ContactSink& sink) {
  if (a.is_rod() && b.is_rod()) return;
  const auto face_of = [](const Convex& shape, const SupportPoint& at, const Vector3d& out) {
    return shape.is_rod() ? -1 : level_face(*shape.core, at.vertex, shape.X.linear().transpose() * out);
  };
  const int face_a = face_of(a, axis.a, -axis.n), face_b = face_of(b, axis.b, axis.n);
  if (face_a >= 0 && face_b >= 0) return;  // whose overlap has an area, and all of its corners
  any_ridge(a, axis.a, face_a, -axis.n, [&](const Ridge& ridge_a) {
    return any_ridge(b, axis.b, face_b, axis.n, [&](const Ridge& ridge_b) {
      const RidgePair pair(ridge_a, ridge_b, axis);
      if (!pair.share_a_stretch() || !pair.touches()) return false;
      pair.add(pair.from(), first, sink);
      pair.add(pair.to(), first, sink);
      return true;
    });
  });
}

}  // namespace stiction
