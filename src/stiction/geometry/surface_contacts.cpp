#include "stiction/geometry/surface_contacts.hpp"

#include <algorithm>

namespace stiction {

namespace {
using Eigen::Vector3d;

constexpr double kRounding = 1e-9;     // of the shape's size
constexpr double kSameNormal = 1e-12;  // square of the angle below which two normals are one
constexpr double kNear = 0.985;        // cosine of 10 degrees

constexpr double kOneNormal = 1.01e-6;  // a little more than that angle
constexpr double kCells = 512.0;        // per unit, for normals by their components
constexpr std::size_t kLists = 2048;    // of cells

Eigen::Vector3i cell_of(const Vector3d& n) { return (n.array() * kCells).floor().cast<int>(); }
std::size_t list_of(const Eigen::Vector3i& cell) {
  const auto at = [&](int i, unsigned prime) { return static_cast<unsigned>(cell[i]) * prime; };
  return (at(0, 73856093u) ^ at(1, 19349663u) ^ at(2, 83492791u)) % kLists;
}

bool same_normal(const Vector3d& a, const Vector3d& b) { return (a - b).squaredNorm() < kSameNormal; }
}  // namespace

SurfaceContacts::SurfaceContacts(Scratch& scratch, double margin, double radius, double size, double thickness)
    : scratch_(scratch), reach_(margin + radius), radius_(radius), thickness_(thickness), tolerance_(kRounding * size) {
  scratch_.found.clear();
  scratch_.touches.clear();
  scratch_.next.clear();
  scratch_.first.assign(kLists, -1);
}

void SurfaceContacts::add(const SurfaceContact& c) {
  if (!(c.distance <= reach_) || (!c.nearest && c.distance < -thickness_)) return;
  const int repeated = find(c);
  if (repeated < 0) {
    int& first = scratch_.first[list_of(cell_of(c.n))];
    scratch_.next.push_back(first);
    first = static_cast<int>(scratch_.found.size());
    scratch_.found.push_back(c);
    return;
  }
  SurfaceContact& x = scratch_.found[repeated];
  x.touch = x.touch || c.touch;
  x.nearest = x.nearest || c.nearest;
  x.border = x.border && c.border;
  x.back = x.back && c.back;
  x.aside = x.aside && c.aside;
  x.sharp_shape = x.sharp_shape || c.sharp_shape;
  x.sharp_surface = x.sharp_surface || c.sharp_surface;
  if (c.to_shape.isZero(0.0)) x.to_shape.setZero();
  if (c.to_surface.isZero(0.0)) x.to_surface.setZero();
}

int SurfaceContacts::find(const SurfaceContact& c) const {
  int least = -1;
  const auto look = [&](const Eigen::Vector3i& at) {
    for (int i = scratch_.first[list_of(at)]; i >= 0; i = scratch_.next[i]) {
      const SurfaceContact& x = scratch_.found[i];
      const bool same_features =
          c.name_shape == x.name_shape && c.name_surface == x.name_surface;  // triangles of one patch, flat to rounding
      if (same_normal(c.n, x.n) && (same_features || (c.p - x.p).squaredNorm() <= tolerance_ * tolerance_))
        least = least < 0 ? i : std::min(least, i);
    }
  };
  const Eigen::Vector3i from = cell_of(c.n - Vector3d::Constant(kOneNormal)), to = cell_of(c.n + Vector3d::Constant(kOneNormal));
  for (int i = from.x(); i <= to.x(); ++i) {
    for (int j = from.y(); j <= to.y(); ++j) {
      for (int k = from.z(); k <= to.z(); ++k) look({i, j, k});
    }
  }
  return least;
}

bool SurfaceContacts::is_cleared_by(const SurfaceContact& c, const SurfaceContact& other) const {
  const Vector3d base = other.on_surface();
  return other.n.dot(c.on_surface() - base) <= tolerance_ && other.n.dot(c.p - base) - other.distance >= -tolerance_;
}

Vector3d SurfaceContacts::way_together(const SurfaceContact& c, std::size_t count) const {
  constexpr int kSweeps = 100;  // walls 30 degrees apart take 32 to a ten-thousandth of the depth; walls that face each other never end
  Vector3d way = Vector3d::Zero();
  bool moved = true;
  for (int sweep = 0; moved && sweep < kSweeps; ++sweep) {
    moved = false;
    for (std::size_t i = 0; i < count; ++i) {
      const SurfaceContact& t = scratch_.touches[i];
      if (t.distance > tolerance_ || !(t.distance > c.distance + 2.0 * tolerance_) || !is_cleared_by(c, t)) continue;
      // Beyond what still counts as in the body, and a little more, so that the sweeps end.
      const double lacking = std::max(0.0, -t.distance) + 3.0 * tolerance_ - t.n.dot(way);
      if (!(lacking > tolerance_)) continue;
      way += lacking * t.n;
      moved = true;
    }
  }
  return way;
}

void SurfaceContacts::sort_touches() {
  auto &found = scratch_.found, &touches = scratch_.touches;
  touches.clear();
  for (const SurfaceContact& c : found) {
    if (c.touch) touches.push_back(c);
  }
  std::sort(touches.begin(), touches.end(), [](const auto& x, const auto& y) { return x.distance > y.distance; });
}

void SurfaceContacts::keep_touches() {
  auto &found = scratch_.found, &touches = scratch_.touches;
  const auto stays = [&](const SurfaceContact& c) {
    return std::any_of(touches.begin(), touches.end(), [&](const SurfaceContact& t) { return t.p == c.p && t.n == c.n; });
  };
  found.erase(std::remove_if(found.begin(), found.end(), [&](const SurfaceContact& c) { return c.touch && !stays(c); }), found.end());
}

bool SurfaceContacts::is_held(const SurfaceContact& c) const {
  return std::any_of(scratch_.touches.begin(), scratch_.touches.end(),
                     [&](const SurfaceContact& t) { return t.n.dot(c.n) > kNear && t.distance <= c.distance + tolerance_; });
}

void SurfaceContacts::emit(const Eigen::Isometry3d& X, ContactSink& sink) const {
  for (const SurfaceContact& c : scratch_.found) {
    if (!c.touch && !c.nearest && !is_held(c)) continue;
    const double gap = c.distance - radius_;
    sink.add(X * (c.p - (radius_ + 0.5 * gap) * c.n), X.linear() * c.n, gap, c.name_shape, c.name_surface);
  }
}

}  // namespace stiction
