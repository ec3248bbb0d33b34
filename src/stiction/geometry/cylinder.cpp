#include "stiction/geometry/cylinder.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stiction {

using Eigen::Vector3d;

namespace {

// Of 60 discs that roll without slip none then touches by two points at once for long; a patch's corner moves by this part of the radius.
constexpr double kBeside = 3e-3;  // rad
constexpr double kAsLow = 1e-7;   // of the radius

}  // namespace

int cap_corners(const Convex& cylinder, double side, const Vector3d& d, std::array<RimPoint, kCapCorners>& corners) {
  constexpr double step = 2.0 * std::numbers::pi / kCapPoints;
  const Vector3d local = cylinder.X.linear().transpose() * d;
  const double rho = std::hypot(local.x(), local.y());
  const double r = cylinder.cylinder_radius, z = side * cylinder.cylinder_half;
  // Below this tilt the rim is level to 1e-9 of its radius.
  const bool tilted = rho > 1e-9;
  double angle = tilted ? std::atan2(local.y(), local.x()) : 0.0;
  if (angle < 0.0) angle += 2.0 * std::numbers::pi;
  const int after = std::min(static_cast<int>(angle / step), kCapPoints - 1);  // 2 pi, of an angle that was negative by rounding
  int count = 0;
  const auto lowest = [&] {
    if (!tilted) return;
    corners[count++] = {cylinder.X * Vector3d(r * local.x() / rho, r * local.y() / rho, z), lowest_name(side)};
  };
  for (int i = 0; i < kCapPoints; ++i) {
    const double at = i * step;
    // The lowest point takes the place of a fixed one beside it that is as low: two that may not slip would keep the disc from turning.
    const double apart = std::abs(std::remainder(angle - at, 2.0 * std::numbers::pi));
    const bool meets = tilted && apart < kBeside && 0.5 * rho * apart * apart < kAsLow;
    if (!meets) corners[count++] = {cylinder.X * Vector3d(r * std::cos(at), r * std::sin(at), z), lowest_name(side) + 1 + i};
    if (i == after) lowest();
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
