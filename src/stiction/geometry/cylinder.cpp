#include "stiction/geometry/cylinder.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/geometry/convex_pairs.hpp"
#include "stiction/geometry/manifold.hpp"

namespace stiction {

using Eigen::Vector3d;

namespace {

// Of 60 discs that roll without slip none then touches by two points at once for long; a patch's corner moves by this part of the radius.
constexpr double kBeside = 3e-3;   // rad
constexpr double kAsLow = 1e-7;    // of the radius
constexpr double kLevel = 1e-9;    // sine of the tilt below which the rim is level to that part of its radius
constexpr double kFadeFrom = 0.4;  // sine of a tilt at which the lowest point bears alone: a rim that rolls is not to meet its corners

constexpr double kStep = 2.0 * std::numbers::pi / kCapPoints;

Vector3d rim_corner(const Convex& cylinder, int i, double z) {
  const double r = cylinder.cylinder_radius, at = i * kStep;
  return cylinder.X * Vector3d(r * std::cos(at), r * std::sin(at), z);
}

/// The lowest point takes the place of a fixed one beside it that is as low: two that may not slip would keep the disc from turning.
bool as_low(double angle, int corner, double rho) {
  const double apart = std::abs(std::remainder(angle - corner * kStep, 2.0 * std::numbers::pi));
  return rho > kLevel && apart < kBeside && 0.5 * rho * apart * apart < kAsLow;
}

}  // namespace

int cap_corners(const Convex& cylinder, double side, const Vector3d& d, std::array<RimPoint, kCapCorners>& corners) {
  const Vector3d local = cylinder.X.linear().transpose() * d;
  const double rho = std::hypot(local.x(), local.y());
  const double r = cylinder.cylinder_radius, z = side * cylinder.cylinder_half;
  const bool tilted = rho > kLevel;
  double angle = tilted ? std::atan2(local.y(), local.x()) : 0.0;
  if (angle < 0.0) angle += 2.0 * std::numbers::pi;
  const int after = std::min(static_cast<int>(angle / kStep), kCapPoints - 1);  // 2 pi, of an angle that was negative by rounding
  int count = 0;
  const auto lowest = [&] {
    if (!tilted) return;
    corners[count++] = {cylinder.X * Vector3d(r * local.x() / rho, r * local.y() / rho, z), lowest_name(side)};
  };
  for (int i = 0; i < kCapPoints; ++i) {
    if (!as_low(angle, i, rho)) corners[count++] = {rim_corner(cylinder, i, z), lowest_name(side) + 1 + i};
    if (i == after) lowest();
  }
  return count;
}

CornerFade corner_fade(const Convex& cylinder, const Vector3d& d) {
  const Vector3d axis = cylinder.axis(), across = d - axis.dot(d) * axis;
  const double rho = across.norm(), x = rho - kFadeFrom;
  if (x <= 0.0) return {};
  const double slope = cylinder.cylinder_radius * x / (1.0 - kFadeFrom);
  return {0.5 * slope * x, -slope * (across / rho - rho * d)};
}

int overlap_points(const Convex& cylinder, const Vector3d& d, std::array<OverlapPoint, kOverlapPoints>& points) {
  const Vector3d local = cylinder.X.linear().transpose() * d;
  const double rho = std::hypot(local.x(), local.y()), angle = std::atan2(local.y(), local.x());
  const CornerFade fade = corner_fade(cylinder, d);
  int count = 0;
  for (const double side : {-1.0, 1.0}) {
    if (rho > kLevel) {
      const Vector3d p = farthest_on_rim(cylinder, side, d);
      points[count++] = {{p, p, lowest_name(side)}, side, true, false};
    }
    for (int i = 0; i < kCapPoints; ++i) {
      const Vector3d rim = rim_corner(cylinder, i, side * cylinder.cylinder_half);
      points[count++] = {{rim, rim + fade.shift - fade.lift * d, lowest_name(side) + 1 + i}, side, false, as_low(angle, i, rho)};
    }
  }
  return count;
}

int points_on_plane(const Convex& cylinder, const Vector3d& n, double offset, std::array<BearingPoint, kOverlapPoints>& points) {
  const double along = -cylinder.axis().dot(n);  // the axis against the way down
  const double side_down = along < 0.0 ? -1.0 : 1.0;
  const bool on_cap = std::abs(along) > kSteep;
  int count = 0;
  if (on_cap) {
    std::array<RimPoint, kCapCorners> corners;
    const int on_rim = cap_corners(cylinder, side_down, -n, corners);
    const CornerFade fade = corner_fade(cylinder, -n);
    for (int i = 0; i < on_rim; ++i) {
      const RimPoint& c = corners[i];
      const bool fades = c.name != lowest_name(side_down);
      points[count++] = {c.p, fades ? Vector3d(c.p + fade.shift + fade.lift * n) : c.p, c.name};
    }
  } else {
    for (double side : {-1.0, 1.0}) {
      const Vector3d p = farthest_on_rim(cylinder, side, -n);
      points[count++] = {p, p, lowest_name(side)};
    }
  }
  // Nothing overlaps while the lowest of all does not.
  const double reach = std::abs(along) * cylinder.cylinder_half + std::sqrt(std::max(0.0, 1.0 - along * along)) * cylinder.cylinder_radius;
  if (n.dot(cylinder.center()) - offset >= reach) return count;
  std::array<OverlapPoint, kOverlapPoints> below;
  const int overlapping = overlap_points(cylinder, -n, below);
  for (int i = 0; i < overlapping; ++i) {
    const OverlapPoint& q = below[i];
    if (on_cap ? q.side == side_down && !q.beside : q.lowest) continue;
    if (n.dot(q.p) - offset < (q.beside ? -kLaidFlush : 0.0)) points[count++] = q;
  }
  return count;
}

Vector3d farthest_on_rim(const Convex& cylinder, double side, const Vector3d& d) {
  const Vector3d axis = cylinder.axis();
  return cylinder.center() + side * cylinder.cylinder_half * axis + cylinder.cylinder_radius * (d - axis.dot(d) * axis).normalized();
}

double cylinder_distance(const Convex& cylinder, const Vector3d& local, Vector3d& normal) {
  const double rho = std::hypot(local.x(), local.y());
  const Vector3d radial = rho > 1e-14 ? Vector3d(local.x() / rho, local.y() / rho, 0.0) : Vector3d::UnitX();
  const Vector3d axial = std::copysign(1.0, local.z()) * Vector3d::UnitZ();
  const double out = rho - cylinder.cylinder_radius, up = std::abs(local.z()) - cylinder.cylinder_half;
  if (out > 0.0 && up > 0.0) {
    const double d = std::hypot(out, up);
    normal = (out * radial + up * axial) / d;
    return d;
  }
  normal = out > up ? radial : axial;
  return std::max(out, up);
}

}  // namespace stiction
