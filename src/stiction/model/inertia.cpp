#include "stiction/model/inertia.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>
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

struct Volume {
  double operator()(const Sphere& s) const { return 4.0 / 3.0 * std::numbers::pi * s.radius * s.radius * s.radius; }
  double operator()(const Box& s) const { return 8.0 * s.half_extents.prod(); }
  double operator()(const Cylinder& s) const { return 2.0 * std::numbers::pi * s.radius * s.radius * s.half_length; }
  double operator()(const Capsule& s) const {
    return std::numbers::pi * s.radius * s.radius * (2.0 * s.half_length + 4.0 / 3.0 * s.radius);
  }
  template <class Other>
  double operator()(const Other& other) const {
    throw InvalidArgument("shape", "a sphere, box, capsule or cylinder", std::string("a ").append(shape_name(Shape(other))));
  }
};

/// Edges whose triangles do not cancel.
std::ptrdiff_t open_edges(const TriangleMesh& surface) {
  std::map<std::array<double, 3>, int> places;
  std::map<std::pair<int, int>, int> edges;
  const auto id = [&](int vertex) {
    const Eigen::Vector3d& p = surface.vertices[vertex];
    return places.try_emplace({p.x(), p.y(), p.z()}, static_cast<int>(places.size())).first->second;
  };
  for (const Eigen::Vector3i& t : surface.triangles) {
    const std::array<int, 3> v{id(t[0]), id(t[1]), id(t[2])};
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = v[k], b = v[(k + 1) % 3];
      if (a != b) edges[std::minmax({a, b})] += a < b ? 1 : -1;
    }
  }
  return std::ranges::count_if(edges, [](const auto& e) { return e.second != 0; });
}

/// Integrals over a solid of 1, x and x xᵀ about its first vertex, so that nothing large cancels.
struct Moments {
  double volume = 0.0;
  Eigen::Vector3d first = Eigen::Vector3d::Zero();
  Eigen::Matrix3d second = Eigen::Matrix3d::Zero();

  explicit Moments(const TriangleMesh& surface) {
    for (const Eigen::Vector3i& t : surface.triangles) {
      Eigen::Matrix3d P;  // corners of a tetrahedron but the first vertex
      for (int k = 0; k < 3; ++k) P.col(k) = surface.vertices[t[k]] - surface.vertices.front();
      const double part = P.determinant() / 6.0;
      const Eigen::Vector3d sum = P.rowwise().sum();
      volume += part;
      first += part / 4.0 * sum;
      second += part / 20.0 * (P * P.transpose() + sum * sum.transpose());
    }
  }
};

}  // namespace

std::string surface_defect(const TriangleMesh& surface) {
  if (const auto open = open_edges(surface); open > 0) {
    return fmt::format("its surface is not closed: {} edges are not shared by two triangles of opposite sense", open);
  }
  const double volume = surface.vertices.empty() ? 0.0 : Moments(surface).volume;
  return volume > 0.0 ? "" : fmt::format("its triangles do not face outwards: they enclose {:.6g} m³", volume);
}

Inertial solid_inside(const TriangleMesh& surface, double density) {
  require_positive("density", density);
  const Moments m(surface);
  const Eigen::Vector3d middle = m.first / m.volume;
  const Eigen::Matrix3d spread = m.second - m.volume * middle * middle.transpose();
  return {density * m.volume, surface.vertices.front() + middle, density * (spread.trace() * Eigen::Matrix3d::Identity() - spread)};
}

namespace {

struct Corners {
  Eigen::Matrix3d P;  ///< one per column
  Eigen::Vector3d middle() const { return P.rowwise().mean(); }
  double area() const { return 0.5 * (P.col(1) - P.col(0)).cross(P.col(2) - P.col(0)).norm(); }
};

Corners corners_of(const TriangleMesh& surface, const Eigen::Vector3i& t, const Eigen::Vector3d& origin) {
  Corners c;
  for (int k = 0; k < 3; ++k) c.P.col(k) = surface.vertices[t[k]] - origin;
  return c;
}

Eigen::Vector3d centroid(const TriangleMesh& surface) {
  double area = 0.0;
  Eigen::Vector3d first = Eigen::Vector3d::Zero();
  for (const Eigen::Vector3i& t : surface.triangles) {
    const Corners c = corners_of(surface, t, surface.vertices.front());
    area += c.area();
    first += c.area() * c.middle();
  }
  return surface.vertices.front() + (area > 0.0 ? Eigen::Vector3d(first / area) : Eigen::Vector3d::Zero());
}

/// Parts of these measures over triangles, each with the second moment measure/share (Σ p pᵀ + s sᵀ) about `com`, p corners and s their
/// sum.
template <class Measure>
Inertial sum_over_triangles(const TriangleMesh& surface, const Eigen::Vector3d& com, double share, double density, const Measure& measure) {
  double total = 0.0;
  Eigen::Matrix3d second = Eigen::Matrix3d::Zero();
  for (const Eigen::Vector3i& t : surface.triangles) {
    const Corners c = corners_of(surface, t, com);
    const double part = measure(c);
    const Eigen::Vector3d sum = c.P.rowwise().sum();
    total += part;
    second += part / share * (c.P * c.P.transpose() + sum * sum.transpose());
  }
  return {density * total, com, density * (second.trace() * Eigen::Matrix3d::Identity() - second)};
}

}  // namespace

Inertial shell_on(const TriangleMesh& surface, double density) {
  require_positive("density", density);
  return sum_over_triangles(surface, centroid(surface), 12.0, density, [](const Corners& c) { return c.area(); });
}

Inertial solid_of_pyramids(const TriangleMesh& surface, double density) {
  require_positive("density", density);
  const auto volume = [](const Corners& c) { return std::abs(c.P.determinant()) / 6.0; };
  const Eigen::Vector3d apex = centroid(surface);
  double total = 0.0;
  Eigen::Vector3d first = Eigen::Vector3d::Zero();
  for (const Eigen::Vector3i& t : surface.triangles) {
    const Corners c = corners_of(surface, t, apex);
    total += volume(c);
    first += 0.75 * volume(c) * c.middle();
  }
  const Eigen::Vector3d com = apex + (total > 0.0 ? Eigen::Vector3d(first / total) : Eigen::Vector3d::Zero());
  return sum_over_triangles(surface, com, 20.0, density, volume);
}

Inertial homogeneous_solid(const Shape& shape, double density) {
  require_positive("density", density);
  validate(shape, "shape");
  const double mass = density * std::visit(Volume{}, shape);
  return {mass, Eigen::Vector3d::Zero(), solid_inertia(shape, mass)};
}

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
