#include "stiction/model/inertia.hpp"

#include <cmath>
#include <numbers>
#include <variant>

#include <fmt/format.h>
#include <Eigen/Eigenvalues>

#include "stiction/base/errors.hpp"
#include "stiction/model/world.hpp"

namespace stiction {

namespace {

/// Steiner's term: inertia of a unit mass at r about the origin.
Eigen::Matrix3d point_inertia(const Eigen::Vector3d& r) { return r.squaredNorm() * Eigen::Matrix3d::Identity() - r * r.transpose(); }

/// Principal moments of a solid of unit mass, symmetric about z unless it is a box.
struct UnitSolid {
  Eigen::Vector3d operator()(const Sphere& s) const { return Eigen::Vector3d::Constant(0.4 * s.radius * s.radius); }
  Eigen::Vector3d operator()(const Box& s) const {
    const Eigen::Vector3d d = s.half_extents.cwiseAbs2();
    return Eigen::Vector3d(d.y() + d.z(), d.x() + d.z(), d.x() + d.y()) / 3.0;
  }
  Eigen::Vector3d operator()(const Cylinder& s) const {
    const double r2 = s.radius * s.radius, across = r2 / 4.0 + s.half_length * s.half_length / 3.0;
    return {across, across, r2 / 2.0};
  }
  Eigen::Vector3d operator()(const Capsule& s) const {
    const double r = s.radius, h = s.half_length;
    const double cylinder = 2.0 * h, caps = 4.0 / 3.0 * r;  // volumes over π r²
    const double part = cylinder / (cylinder + caps), cap_part = 1.0 - part;
    const double axial = part * r * r / 2.0 + cap_part * 0.4 * r * r;
    // A half-ball about its own centre of mass, at 3r/8 from its flat side, shifted to h + 3r/8 from the middle.
    const double cap_across = 0.4 * r * r + h * h + 0.75 * h * r;
    const double across = part * (r * r / 4.0 + h * h / 3.0) + cap_part * cap_across;
    return {across, across, axial};
  }
  template <class Other>
  Eigen::Vector3d operator()(const Other& other) const {
    throw InvalidArgument("shape", "a sphere, box, capsule or cylinder", std::string("a ").append(shape_name(Shape(other))));
  }
};

}  // namespace

Inertial transformed(const Eigen::Isometry3d& X_AB, const Inertial& body) {
  const Eigen::Matrix3d R = X_AB.linear();
  return {body.mass, X_AB * body.com, R * body.inertia * R.transpose()};
}

Inertial operator+(const Inertial& a, const Inertial& b) {
  const double mass = a.mass + b.mass;
  if (mass == 0.0) return {0.0, Eigen::Vector3d::Zero(), a.inertia + b.inertia};
  Inertial sum{mass, (a.mass * a.com + b.mass * b.com) / mass, a.inertia + b.inertia};
  sum.inertia += a.mass * b.mass / mass * point_inertia(a.com - b.com);
  return sum;
}

std::string inertia_defect(const Inertial& body) {
  if (!std::isfinite(body.mass) || !body.com.allFinite() || !body.inertia.allFinite()) return "mass properties are not finite";
  if (!(body.mass >= 0.0)) return fmt::format("mass {} kg is negative", body.mass);
  const Eigen::Vector3d w = Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(body.inertia, Eigen::EigenvaluesOnly).eigenvalues();
  const double rounding = 1e-9 * w.cwiseAbs().maxCoeff() + 1e-12 * body.mass;
  const std::string moments = fmt::format("principal moments {:.6g}, {:.6g}, {:.6g} kg m²", w[0], w[1], w[2]);
  if (w[0] < -rounding) return fmt::format("inertia is not positive definite ({})", moments);
  if (w[0] + w[1] < w[2] - 1e-3 * w[2] - rounding) {
    return fmt::format("inertia violates the triangle inequality, so no rigid body has it ({})", moments);
  }
  return {};
}

Eigen::Matrix3d solid_inertia(const Shape& shape, double mass) {
  require_positive("mass", mass);
  validate(shape, "shape");
  return (mass * std::visit(UnitSolid{}, shape)).asDiagonal();
}

}  // namespace stiction
