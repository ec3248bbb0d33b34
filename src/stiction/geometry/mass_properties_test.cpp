// Solids in closed form against the divergence theorem, about axes and in places that hide no mistake.
#include "stiction/geometry/mass_properties.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include <gmock/gmock.h>

#include "stiction/base/errors.hpp"

namespace stiction::mass_properties_test {
namespace {

/// Twelve triangles of a box, counter-clockwise from outside.
TriangleMesh box_mesh(const Eigen::Vector3d& half, const Eigen::Isometry3d& X) {
  TriangleMesh mesh;
  for (int i = 0; i < 8; ++i) {
    mesh.vertices.push_back(X * Eigen::Vector3d((i & 1 ? 1 : -1) * half.x(), (i & 2 ? 1 : -1) * half.y(), (i & 4 ? 1 : -1) * half.z()));
  }
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return mesh;
}

Eigen::Isometry3d somewhere() {
  Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
  X.translation() << 3.0, -2.0, 1.0;
  X.linear() = Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, 3).normalized()).toRotationMatrix();
  return X;
}

void expect_near(const Inertial& a, const Inertial& b, double tolerance) {
  EXPECT_NEAR(a.mass, b.mass, tolerance * b.mass);
  EXPECT_LE((a.com - b.com).norm(), tolerance);
  EXPECT_LE((a.inertia - b.inertia).norm(), tolerance * b.inertia.norm());
}

TEST(MassProperties, ABoxOfTrianglesIsTheBox) {
  const Eigen::Vector3d half(0.1, 0.25, 0.4);
  const Inertial box = transformed(somewhere(), homogeneous_solid(Box{half}, 700.0));
  EXPECT_NEAR(box.mass, 700.0 * 8.0 * half.prod(), 1e-12);
  expect_near(mass_properties(box_mesh(half, somewhere()), 700.0, "mesh"), box, 1e-12);
  expect_near(mass_properties(ConvexMesh{box_mesh(half, somewhere()).vertices, {}}, 700.0, "mesh"), box, 1e-12);
}

TEST(MassProperties, ATetrahedronByItsClosedForm) {
  // Corner of the unit cube: mass 1/6, centre at 1/4, moments about the corner 1/30, products -> second moments 1/60 and 1/120.
  const TriangleMesh corner{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
  const Inertial solid = mass_properties(corner, 1.0, "mesh");
  EXPECT_NEAR(solid.mass, 1.0 / 6.0, 1e-15);
  EXPECT_LE((solid.com - Eigen::Vector3d::Constant(0.25)).norm(), 1e-15);
  EXPECT_NEAR(solid.inertia(0, 0), 2.0 / 60.0 - 2.0 / 96.0, 1e-15);
  EXPECT_NEAR(solid.inertia(0, 1), -(1.0 / 120.0 - 1.0 / 96.0), 1e-15);
}

TEST(MassProperties, AHollowBoxIsTheDifference) {
  const Eigen::Vector3d outer(0.3, 0.3, 0.3), inner(0.1, 0.2, 0.1);
  TriangleMesh mesh = box_mesh(outer, somewhere());
  const TriangleMesh hole = box_mesh(inner, somewhere());
  for (const Eigen::Vector3i& t : hole.triangles) mesh.triangles.emplace_back(t[0] + 8, t[2] + 8, t[1] + 8);
  mesh.vertices.insert(mesh.vertices.end(), hole.vertices.begin(), hole.vertices.end());
  const Inertial full = homogeneous_solid(Box{outer}, 1000.0), taken = homogeneous_solid(Box{inner}, 1000.0);
  const Inertial expected =
      transformed(somewhere(), {full.mass - taken.mass, Eigen::Vector3d::Zero(), Eigen::Matrix3d(full.inertia - taken.inertia)});
  expect_near(mass_properties(mesh, 1000.0, "mesh"), expected, 1e-11);
}

/// The letter L of two bars, as one mesh and as two boxes: masses 3 : 2 at (0.15, 0.05) and (0.05, 0.2).
TEST(MassProperties, AnLIsItsTwoBars) {
  const double depth = 0.1, density = 500.0;
  TriangleMesh mesh;
  for (const double z : {-0.5 * depth, 0.5 * depth}) {
    for (const auto& [x, y] : {std::pair(0.0, 0.0), {0.3, 0.0}, {0.3, 0.1}, {0.1, 0.1}, {0.1, 0.3}, {0.0, 0.3}})
      mesh.vertices.emplace_back(x, y, z);
  }
  for (const auto& [a, b, c] : {std::array{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}}) {
    mesh.triangles.emplace_back(a, c, b);
    mesh.triangles.emplace_back(a + 6, b + 6, c + 6);
  }
  for (int i = 0; i < 6; ++i) {
    const int j = (i + 1) % 6;
    mesh.triangles.emplace_back(i, j, j + 6);
    mesh.triangles.emplace_back(i, j + 6, i + 6);
  }
  std::vector<BodyShape> bars(2);
  bars[0].shape = Box{{0.15, 0.05, 0.5 * depth}};
  bars[0].placement.translation() << 0.15, 0.05, 0.0;
  bars[1].shape = Box{{0.05, 0.1, 0.5 * depth}};
  bars[1].placement.translation() << 0.05, 0.2, 0.0;
  const Inertial solid = mass_properties(mesh, density, "mesh");
  expect_near(solid, mass_properties(bars, density), 1e-13);
  const double m1 = density * 0.3 * 0.1 * depth, m2 = density * 0.2 * 0.1 * depth, reduced = m1 * m2 / (m1 + m2);
  EXPECT_NEAR(solid.mass, m1 + m2, 1e-13);
  EXPECT_NEAR(solid.com.x(), (3.0 * 0.15 + 2.0 * 0.05) / 5.0, 1e-14);
  EXPECT_NEAR(solid.com.y(), (3.0 * 0.05 + 2.0 * 0.2) / 5.0, 1e-14);
  EXPECT_NEAR(solid.inertia(2, 2), m1 / 12.0 * (0.09 + 0.01) + m2 / 12.0 * (0.04 + 0.01) + reduced * (0.01 + 0.0225), 1e-14);
  EXPECT_NEAR(solid.inertia(0, 1), -reduced * 0.1 * -0.15, 1e-14);
}

TEST(MassProperties, PrimitivesHaveTheirVolume) {
  constexpr double pi = 3.14159265358979323846;
  EXPECT_NEAR(mass_properties(Sphere{0.5}, 2.0, "shape").mass, 2.0 * pi / 6.0, 1e-14);
  EXPECT_NEAR(mass_properties(Cylinder{0.5, 1.0}, 2.0, "shape").mass, pi, 1e-14);
  EXPECT_NEAR(mass_properties(Capsule{0.5, 1.0}, 2.0, "shape").mass, pi + 2.0 * pi / 6.0, 1e-14);
}

/// A file in which every triangle has vertices of its own, as all STL files do.
TEST(MassProperties, AnStlFileIsClosedByWhereItsVerticesAre) {
  const TriangleMesh mesh = box_mesh({0.5, 0.25, 0.125}, Eigen::Isometry3d::Identity());
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "stiction_mass_properties.stl";
  std::ofstream out(file);
  out << "solid box\n";
  for (const Eigen::Vector3i& t : mesh.triangles) {
    out << "facet normal 0 0 0\nouter loop\n";
    for (int k = 0; k < 3; ++k) out << "vertex " << mesh.vertices[t[k]].transpose() << "\n";
    out << "endloop\nendfacet\n";
  }
  out << "endsolid box\n";
  out.close();
  for (const bool convex : {true, false}) {
    const Inertial solid = mass_properties(MeshFile{file.string(), {2.0, 2.0, 2.0}, convex}, 10.0, "mesh");
    expect_near(solid, homogeneous_solid(Box{{1.0, 0.5, 0.25}}, 10.0), 1e-6);
  }
  std::filesystem::remove(file);
}

TEST(MassProperties, WhatIsNoSolidIsRefused) {
  TriangleMesh open = box_mesh({1, 1, 1}, Eigen::Isometry3d::Identity()), inside_out = open;
  open.triangles.pop_back();
  for (Eigen::Vector3i& t : inside_out.triangles) std::swap(t[1], t[2]);
  const auto message = [](const Shape& shape) -> std::string {
    try {
      mass_properties(shape, 1.0, "shape");
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message(open), testing::HasSubstr("not closed: 3 edges"));
  EXPECT_THAT(message(inside_out), testing::HasSubstr("outwards"));
  EXPECT_THAT(message(HalfSpace{}), testing::HasSubstr("a shape with a mass"));
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "stiction_open.obj";
  std::ofstream(file) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n";
  try {
    mass_properties(MeshFile{file.string(), {1.0, 1.0, 1.0}, true}, 1.0, "shape");
    FAIL() << "accepted";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("stiction_open.obj"), testing::HasSubstr("not closed")));
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace stiction::mass_properties_test
