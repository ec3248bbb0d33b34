#include "stiction/geometry/surface_contacts.hpp"

#include <algorithm>

namespace stiction {

namespace {
using Eigen::Vector3d;

constexpr double kRounding = 1e-9;     // of the shape's size
constexpr double kSameNormal = 1e-12;  // square of the angle below which two normals are one
constexpr double kNear = 0.985;        // cosine of 10 degrees

bool same_normal(const Vector3d& a, const Vector3d& b) { return (a - b).squaredNorm() < kSameNormal; }
}  // namespace

SurfaceContacts::SurfaceContacts(Scratch& scratch, double margin, double radius, double size, double thickness)
    : scratch_(scratch), reach_(margin + radius), radius_(radius), thickness_(thickness), tolerance_(kRounding * size) {
  scratch_.found.clear();
  scratch_.touches.clear();
}

void SurfaceContacts::add(const SurfaceContact& c) {
  if (!(c.distance <= reach_) || (!c.nearest && c.distance < -thickness_)) return;
  for (SurfaceContact& x : scratch_.found) {
    const bool same_features =
        c.name_shape == x.name_shape && c.name_surface == x.name_surface;  // triangles of one patch, flat to rounding
    if (!same_normal(c.n, x.n) || (!same_features && (c.p - x.p).squaredNorm() > tolerance_ * tolerance_)) continue;
    x.touch = x.touch || c.touch;
    x.nearest = x.nearest || c.nearest;
    x.border = x.border && c.border;
    x.back = x.back && c.back;
    x.aside = x.aside && c.aside;
    x.sharp_shape = x.sharp_shape || c.sharp_shape;
    x.sharp_surface = x.sharp_surface || c.sharp_surface;
    if (c.to_shape.isZero(0.0)) x.to_shape.setZero();
    if (c.to_surface.isZero(0.0)) x.to_surface.setZero();
    return;
  }
  scratch_.found.push_back(c);
}

bool SurfaceContacts::is_cleared_by(const SurfaceContact& c, const SurfaceContact& other) const {
  const Vector3d base = other.on_surface();
  return other.n.dot(c.on_surface() - base) <= tolerance_ && other.n.dot(c.p - base) - other.distance >= -tolerance_;
}

void SurfaceContacts::sort_touches() {
  auto& [found, touches] = scratch_;
  touches.clear();
  for (const SurfaceContact& c : found) {
    if (c.touch) touches.push_back(c);
  }
  std::sort(touches.begin(), touches.end(), [](const auto& x, const auto& y) { return x.distance > y.distance; });
}

void SurfaceContacts::keep_touches() {
  auto& [found, touches] = scratch_;
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
