#include "stiction/geometry/drawn_shape.hpp"

#include <gtest/gtest.h>

namespace stiction::drawn_shape_test {
namespace {

using Eigen::Vector3d;

/// Volume inside a closed surface, by the divergence theorem; negative when its triangles turn the wrong way.
double volume(const TriangleMesh& mesh) {
  double sum = 0.0;
  const auto at = [&](int i) -> const Vector3d& { return mesh.vertices[i]; };
  for (const Eigen::Vector3i& t : mesh.triangles) sum += at(t[0]).dot(at(t[1]).cross(at(t[2]))) / 6.0;
  return sum;
}

World world_of(const Shape& shape) {
  WorldBuilder builder;
  StaticBody body{"thing", Eigen::Isometry3d::Identity(), {{shape, Eigen::Isometry3d(Eigen::Translation3d(1, 2, 3))}}};
  builder.add_static_body(body);
  return builder.build();
}

TEST(DrawnShape, PrimitivesHaveTheirSizes) {
  const auto size = [](const Shape& shape, std::string_view kind) {
    const DrawnShape drawn = drawn_shapes(world_of(shape)).at(0);
    EXPECT_EQ(drawn.kind, kind);
    EXPECT_EQ(drawn.body, 0);
    EXPECT_EQ(drawn.placement.translation(), Vector3d(1, 2, 3));
    EXPECT_TRUE(drawn.mesh.vertices.empty());
    return drawn.size;
  };
  EXPECT_EQ(size(Sphere{0.3}, "sphere"), Vector3d(0.3, 0, 0));
  EXPECT_EQ(size(Box{{0.1, 0.2, 0.3}}, "box"), Vector3d(0.2, 0.4, 0.6));
  EXPECT_EQ(size(Capsule{0.1, 0.25}, "capsule"), Vector3d(0.1, 0.5, 0));
  EXPECT_EQ(size(Cylinder{0.1, 0.25}, "cylinder"), Vector3d(0.1, 0.5, 0));
  EXPECT_EQ(size(HalfSpace{}, "plane"), Vector3d::Zero());
}

TEST(DrawnShape, MeshesAreClosedAndOutwardSurfacesOfWhatCollides) {
  ConvexMesh cube;
  for (int i = 0; i < 8; ++i) cube.vertices.emplace_back(i & 1, i >> 1 & 1, i >> 2);
  cube.vertices.emplace_back(0.5, 0.5, 0.5);  // inside the hull
  HeightMap step;
  step.heights = Eigen::MatrixXd::Constant(3, 4, 0.5);
  step.size_x = 2.0;
  step.size_y = 3.0;
  step.bottom = -0.5;
  EXPECT_NEAR(volume(drawn_shapes(world_of(cube)).at(0).mesh), 1.0, 1e-12);
  EXPECT_NEAR(volume(drawn_shapes(world_of(step)).at(0).mesh), 6.0, 1e-12);
  EXPECT_EQ(drawn_shapes(world_of(cube)).at(0).kind, "mesh");
}

}  // namespace
}  // namespace stiction::drawn_shape_test
