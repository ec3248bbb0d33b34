#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numbers>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/geometry/collider.hpp"
#include "stiction/geometry/pair_fixture.hpp"

namespace stiction::mesh_file_test {
namespace {

using Eigen::Vector3d;

/// Writes a mesh as Wavefront OBJ or ASCII STL, removed at the end of the test.
class TemporaryMesh {
 public:
  TemporaryMesh(const TriangleMesh& mesh, const std::string& extension)
      : path_((std::filesystem::path(::testing::TempDir()) / (testing::UnitTest::GetInstance()->current_test_info()->name() + extension))
                  .string()) {
    std::ofstream out(path_);
    out.precision(17);
    if (extension == ".obj") {
      for (const auto& v : mesh.vertices) out << "v " << v.x() << ' ' << v.y() << ' ' << v.z() << '\n';
      for (const auto& t : mesh.triangles) out << "f " << t[0] + 1 << ' ' << t[1] + 1 << ' ' << t[2] + 1 << '\n';
      return;
    }
    out << "solid s\n";
    for (const auto& t : mesh.triangles) {
      out << "facet normal 0 0 0\nouter loop\n";
      for (int k = 0; k < 3; ++k) out << "vertex " << mesh.vertices[t[k]].transpose() << '\n';
      out << "endloop\nendfacet\n";
    }
    out << "endsolid s\n";
  }
  ~TemporaryMesh() { std::filesystem::remove(path_); }
  TemporaryMesh(const TemporaryMesh&) = delete;
  TemporaryMesh& operator=(const TemporaryMesh&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(MeshFile, LoadsScaledHullsAndTriangles) {
  // Powers of two survive the single precision of the files.
  const Vector3d h(0.5, 0.25, 0.125);
  for (const std::string extension : {".obj", ".stl"}) {
    const TemporaryMesh file(mesh_box(h, 2), extension);
    for (const Vector3d& scale : {Vector3d(1, 1, 1), Vector3d(2, 0.5, 1), Vector3d(1, -1, 1)}) {
      const Collider hull = make_collider(MeshFile{file.path(), scale, true}, "hull");
      EXPECT_EQ(hull.core->size(), 8);
      EXPECT_EQ(hull.core->faces.size(), 6u);
      EXPECT_EQ(hull.core->edges.size(), 12u);
      EXPECT_LT((hull.core->box_half - h.cwiseProduct(scale.cwiseAbs())).norm(), 1e-12);
      const Collider surface = make_collider(MeshFile{file.path(), scale, false}, "surface");
      EXPECT_EQ(surface.surface->convex_vertices.size(), 8u);
      for (const auto& t : surface.surface->triangles) EXPECT_GT(t.normal.dot(t.center), 0.0);
    }
  }
}

TEST(MeshFile, ReachesAsFarAsItsVertices) {
  const Vector3d h(0.5, 0.25, 0.125), scale(8.0, -2.0, 0.5);
  for (const std::string extension : {".obj", ".stl"}) {
    const TemporaryMesh file(mesh_box(h, 2), extension);
    for (const bool convex : {true, false}) {
      EXPECT_NEAR(make_collider(MeshFile{file.path(), scale, convex}, "mesh").reach, h.cwiseProduct(scale).norm(), 1e-12);
    }
  }
}

TEST(MeshFile, UnreadableFilesAreNamed) {
  const std::string path = (std::filesystem::path(::testing::TempDir()) / "stiction_bad.stl").string();
  std::ofstream(path) << "this is no mesh";
  for (const std::string& p : {path, path + ".missing"}) {
    try {
      make_collider(MeshFile{p}, "mesh");
      ADD_FAILURE() << "no error";
    } catch (const FileError& e) {
      const std::string said = e.what();
      EXPECT_TRUE(said.starts_with(p == path ? p + ": cannot be read as a mesh: " : p + ": no such file")) << said;
      EXPECT_EQ(said.find("\\x0a"), std::string::npos) << said;      // lines of another's message
      EXPECT_EQ(said.find("From file"), std::string::npos) << said;  // and a place in its code
    }
  }
  std::filesystem::remove(path);
}

TEST(Polytope, CoplanarTrianglesBecomeOneFace) {
  ConvexMesh prism;  // twelve-sided, with points inside and on its faces that the hull must drop
  for (int i = 0; i < 12; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / 12;
    for (double z : {-0.1, 0.1}) prism.vertices.emplace_back(std::cos(angle), std::sin(angle), z);
  }
  prism.vertices.emplace_back(0.0, 0.0, 0.0);
  prism.vertices.emplace_back(0.1, 0.2, 0.1);
  const Collider c = make_collider(prism, "prism");
  EXPECT_EQ(c.core->size(), 24);
  EXPECT_EQ(c.core->faces.size(), 14u);
  EXPECT_EQ(c.core->edges.size(), 36u);
  for (int v = 0; v < 24; ++v) {
    EXPECT_EQ(c.core->neighbors_of(v).size(), 3u);
    EXPECT_EQ(c.core->faces_of(v).size(), 3u);
  }
}

TEST(Polytope, LargeFlatFacesAreKept) {
  ConvexMesh disc;
  for (int i = 0; i < 600; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / 600;
    for (double z : {-0.1, 0.1}) disc.vertices.emplace_back(std::cos(angle), std::sin(angle), z);
  }
  const Collider c = make_collider(disc, "disc");
  EXPECT_EQ(c.core->size(), 1200);
  std::vector<int> sizes;
  for (const auto& face : c.core->faces) {
    if (std::abs(face.normal.z()) > 0.5) sizes.push_back(face.count);
  }
  std::sort(sizes.begin(), sizes.end());
  ASSERT_GE(sizes.size(), 2u);
  EXPECT_GT(sizes[sizes.size() - 2], 550);  // joggling may cut slivers off the rim
}

TEST(Polytope, SupportIsTheFarthestVertex) {
  Random random(8);
  ConvexMesh ball;
  for (int i = 0; i < 300; ++i) ball.vertices.push_back(random.vector(1.0).normalized());
  const Collider c = make_collider(ball, "ball");
  for (int trial = 0; trial < 200; ++trial) {
    const Vector3d d = random.vector(1.0).normalized();
    double best = -1.0;
    for (const auto& v : c.core->vertices) best = std::max(best, d.dot(v));
    EXPECT_EQ(d.dot(c.core->vertex(c.core->support(d, trial % c.core->size()))), best);
  }
}

TEST(Polytope, FacesThatAreNotConvexAreRefused) {
  ConvexMesh dented;
  dented.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.1, 0.1, 0.1}};
  dented.faces = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 4}, {2, 3, 4}, {3, 1, 4}};
  EXPECT_THROW(make_collider(dented, "dented"), InvalidArgument);
  dented.faces.pop_back();
  EXPECT_THROW(make_collider(dented, "open"), InvalidArgument);
}

}  // namespace
}  // namespace stiction::mesh_file_test
