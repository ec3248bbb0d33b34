#include "stiction/model/world.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/dynamics.hpp"
#include "stiction/model/inertia.hpp"
#include "stiction/model/robots_for_test.hpp"

namespace stiction::world_test {
namespace {

World pendulum(const RobotOptions& options = {}) {
  WorldBuilder builder;
  builder.add_robot_text(double_pendulum(), options);
  return builder.build();
}

TEST(WorldBuilder, AReflectionIsNoPose) {
  WorldBuilder builder;
  FreeBody ball{"ball", 1.0, Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero(), Eigen::Isometry3d::Identity(), {{Sphere{0.1}}}};
  ball.pose.linear()(0, 0) = -1.0;
  try {
    builder.add_free_body(ball);
    ADD_FAILURE() << "a reflection was taken";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("expected a rotation and a translation, got a reflection, determinant -1"), std::string::npos)
        << error.what();
  }
}

TEST(World, JointsCarryWhatTheFileSays) {
  const World world = pendulum();
  const Joint& shoulder = world.joints()[world.joint("shoulder")];
  const Joint& elbow = world.joints()[world.joint("elbow")];
  EXPECT_EQ(shoulder.damping, 0.25);
  EXPECT_EQ(shoulder.dry_friction, 0.5);
  EXPECT_TRUE(std::isinf(shoulder.upper) && std::isinf(shoulder.lower) && std::isinf(shoulder.effort_limit));
  EXPECT_EQ(elbow.lower, -2.0);
  EXPECT_EQ(elbow.upper, 2.5);
  EXPECT_EQ(elbow.effort_limit, 40.0);
  EXPECT_EQ(elbow.velocity_limit, 8.0);
  EXPECT_EQ(elbow.v, shoulder.v + 1);
  EXPECT_EQ(world.nq(), world.nv());  // a continuous joint is one coordinate
}

TEST(World, SettingsOverrideTheFile) {
  RobotOptions options;
  options.name = "p2";
  options.joints["elbow"] = {0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.7};
  options.actuated = {"elbow"};
  const World world = pendulum(options);
  const Joint& elbow = world.joints()[world.joint("p2/elbow")];
  EXPECT_EQ(elbow.effort_limit, 1.0);
  EXPECT_EQ(elbow.velocity_limit, 2.0);
  EXPECT_EQ(elbow.dry_friction, 3.0);
  EXPECT_EQ(elbow.damping, 4.0);
  EXPECT_EQ(elbow.armature, 5.0);
  EXPECT_EQ(world.initial_configuration()[elbow.q], 0.5);
  EXPECT_EQ(std::vector<int>(world.actuated().begin(), world.actuated().end()), std::vector<int>{elbow.v});
}

TEST(World, AJointWithoutEffortIsPassive) {
  RobotOptions options;
  options.joints["shoulder"].effort_limit = 0.0;
  EXPECT_EQ(pendulum(options).actuated().size(), 1u);
  EXPECT_EQ(pendulum().actuated().size(), 2u);
}

TEST(World, FloatingBaseStartsAtItsPose) {
  RobotOptions options;
  options.base = BaseKind::floating;
  options.pose.translation() << 1, 2, 3;
  options.pose.linear() = Eigen::AngleAxisd(0.4, Eigen::Vector3d::UnitY()).toRotationMatrix();
  WorldBuilder builder;
  builder.add_robot(robot_file("anymal"), options);
  const World world = builder.build();
  EXPECT_EQ(world.nv(), 18);
  EXPECT_TRUE(world.robots()[0].floating);
  EXPECT_EQ(world.joints()[0].kind, JointKind::free);
  EXPECT_EQ(world.actuated().size(), 12u);
  WorldData data(world);
  update_kinematics(world, world.initial_configuration(), data);
  EXPECT_TRUE(data.X_WB[0].isApprox(options.pose, 1e-14));
}

TEST(World, FixedBaseStandsAtItsPose) {
  RobotOptions options;
  options.pose.translation() << 1, 2, 3;
  options.pose.linear() = Eigen::AngleAxisd(M_PI_2, Eigen::Vector3d::UnitX()).toRotationMatrix();
  const World world = pendulum(options);
  WorldData data(world);
  update_kinematics(world, Eigen::Vector2d::Zero(), data);
  EXPECT_TRUE(link_pose(world, data, world.link("base")).isApprox(options.pose, 1e-14));
  const Eigen::Vector3d elbow = link_pose(world, data, world.link("lower")).translation();
  EXPECT_LT((elbow - Eigen::Vector3d(1, 3, 3)).norm(), 1e-14);  // hanging along -z of the base is +y of the world
}

TEST(World, FixedLinksAreMergedAndStayNamed) {
  RobotOptions options;
  options.base = BaseKind::floating;
  WorldBuilder builder;
  builder.add_robot(robot_file("solo12"), options);
  const World world = builder.build();
  const int foot = world.link("FL_FOOT");
  EXPECT_EQ(world.body("FL_FOOT"), world.body("FL_LOWER_LEG"));
  EXPECT_GT(world.links()[foot].X_BL.translation().norm(), 0.1);
  EXPECT_EQ(world.bodies().size(), 13u);
  EXPECT_NEAR(world.robots()[0].mass, 2.5, 0.1);
}

TEST(World, NamesAreQualifiedWhenTwoRobotsShareThem) {
  WorldBuilder builder;
  RobotOptions left, right;
  left.name = "left";
  right.name = "right";
  builder.add_robot_text(double_pendulum(), left);
  EXPECT_THROW(builder.add_robot_text(double_pendulum(), left), InvalidArgument);
  builder.add_robot_text(double_pendulum(), right);
  const World world = builder.build();
  EXPECT_THROW(world.joint("elbow"), InvalidArgument);
  EXPECT_THROW(world.joint("wrist"), InvalidArgument);
  EXPECT_EQ(world.joint("right/elbow"), world.joint("left/elbow") + 2);
  EXPECT_EQ(world.bodies()[world.body("right/upper")].robot, 1);
  EXPECT_EQ(world.robot("right"), 1);
  EXPECT_EQ(world.blocks()[1].v, 2);
}

TEST(World, GeometriesAreFixedToBodies) {
  WorldBuilder builder;
  builder.add_robot_text(double_pendulum());
  FreeBody ball;
  ball.name = "ball";
  ball.mass = 1.0;
  ball.inertia = solid_inertia(Sphere{0.1}, 1.0);
  ball.shapes.push_back({Sphere{0.1}, Eigen::Isometry3d::Identity(), 0.4});
  const int index = builder.add_free_body(ball);
  const World world = builder.build();
  ASSERT_EQ(world.geometries().size(), 2u);
  EXPECT_EQ(world.geometries()[0].body, world.body("upper"));
  EXPECT_EQ(world.geometries()[0].placement.translation(), Eigen::Vector3d(0, 0, -0.5));
  EXPECT_EQ(std::get<Box>(world.geometries()[0].shape).half_extents, Eigen::Vector3d(0.05, 0.05, 0.5));
  EXPECT_FALSE(world.geometries()[0].friction.has_value());
  EXPECT_EQ(world.geometries()[1].body, index);
  EXPECT_EQ(world.geometries()[1].friction, 0.4);
}

int body_of(const World& world, int geometry) { return world.geometries()[geometry].body; }

TEST(World, NeighboursAndOnlyTheyAreExcluded) {
  RobotOptions options;
  options.base = BaseKind::floating;
  options.srdf = "";
  WorldBuilder builder;
  builder.add_robot(robot_file("anymal"), options);
  const World world = builder.build();
  std::set<std::pair<int, int>> bodies;
  for (const auto& [g, h] : world.excluded_geometries()) bodies.insert(std::minmax({body_of(world, g), body_of(world, h)}));
  const auto excluded = [&](const char* a, const char* b) { return bodies.contains(std::minmax({world.body(a), world.body(b)})); };
  EXPECT_TRUE(excluded("LF_HIP", "base"));
  EXPECT_TRUE(excluded("LF_THIGH", "LF_SHANK"));
  EXPECT_FALSE(excluded("LF_SHANK", "RF_SHANK"));
  EXPECT_FALSE(excluded("LF_SHANK", "base"));
}

TEST(World, MeshesAreFoundBesideTheRobotFile) {
  WorldBuilder builder;
  builder.add_robot(robot_file("talos_reduced"));
  const World world = builder.build();
  int meshes = 0;
  for (const CollisionGeometry& geometry : world.geometries()) {
    if (const auto* mesh = std::get_if<MeshFile>(&geometry.shape)) {
      EXPECT_TRUE(std::filesystem::exists(mesh->path));
      ++meshes;
    }
  }
  EXPECT_GT(meshes, 10);
}

TEST(World, MeshesAreFoundInPackageFolders) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "stiction_packages";
  std::filesystem::create_directories(folder / "arm" / "meshes");
  std::ofstream(folder / "arm" / "meshes" / "hand.stl") << "solid";
  const std::string file = R"(<robot name="p"><link name="a"><collision><geometry>
      <mesh filename="package://arm/meshes/hand.stl" scale="0.001 0.001 0.001"/></geometry></collision></link></robot>)";
  for (const std::filesystem::path& package : {folder, folder / "arm"}) {
    RobotOptions options;
    options.package_dirs = {package.string()};
    WorldBuilder builder;
    builder.add_robot_text(file, options);
    const World world = builder.build();
    EXPECT_EQ(std::get<MeshFile>(world.geometries()[0].shape).scale.x(), 0.001);
  }
  EXPECT_THROW(WorldBuilder().add_robot_text(file), FileError);
  std::filesystem::remove_all(folder);
}

TEST(World, GravityIsThatOfTheBuilder) {
  WorldBuilder builder;
  builder.add_robot_text(double_pendulum());
  const World earth = builder.build();
  builder.set_gravity(Eigen::Vector3d::Zero());
  const World space = builder.build();
  WorldData data(space), heavy(earth);
  const Eigen::Vector2d q(0.5, 0.5), rest(0.0, 0.0);
  update(space, q, rest, data);
  update(earth, q, rest, heavy);
  EXPECT_EQ(data.bias.norm(), 0.0);
  EXPECT_GT(heavy.bias.norm(), 1.0);
}

TEST(World, EmptyWorldIsAWorld) {
  const World world;
  WorldData data(world);
  update(world, Eigen::VectorXd(0), Eigen::VectorXd(0), data);
  EXPECT_EQ(kinetic_energy(world, data, Eigen::VectorXd(0)), 0.0);
  EXPECT_THROW(center_of_mass(world, data), InvalidArgument);
}

TEST(Inertia, SolidsMatchTheirIntegrals) {
  // A capsule by slices: discs of radius r(z), each r²/2 about its axis and r²/4 + z² across.
  const double r = 0.3, h = 0.7;
  double volume = 0.0, axial = 0.0, across = 0.0;
  const int slices = 200000;
  for (int i = 0; i < slices; ++i) {
    const double z = -(h + r) + 2.0 * (h + r) * (i + 0.5) / slices;
    const double beyond = std::max(0.0, std::abs(z) - h), r2 = r * r - beyond * beyond;
    volume += r2;
    axial += r2 * r2 / 2.0;
    across += r2 * (r2 / 4.0 + z * z);
  }
  const Eigen::Matrix3d capsule = solid_inertia(Capsule{r, h}, 2.0);
  EXPECT_NEAR(capsule(2, 2), 2.0 * axial / volume, 1e-8);
  EXPECT_NEAR(capsule(0, 0), 2.0 * across / volume, 1e-8);
  EXPECT_NEAR(solid_inertia(Sphere{2.0}, 5.0)(1, 1), 8.0, 1e-14);
  EXPECT_NEAR(solid_inertia(Cylinder{1.0, 3.0}, 4.0)(0, 0), 4.0 * (0.25 + 3.0), 1e-14);
  EXPECT_NEAR(solid_inertia(Box{{1.0, 2.0, 3.0}}, 3.0)(2, 2), 5.0, 1e-14);
}

TEST(Inertia, JoinedHalvesAreTheWhole) {
  const Inertial half{1.0, Eigen::Vector3d::Zero(), solid_inertia(Box{{0.5, 0.2, 0.1}}, 1.0)};
  Eigen::Isometry3d left = Eigen::Isometry3d::Identity(), right = Eigen::Isometry3d::Identity();
  left.translation().x() = -0.5;
  right.translation().x() = 0.5;
  const Inertial whole = transformed(left, half) + transformed(right, half);
  EXPECT_TRUE(whole.inertia.isApprox(solid_inertia(Box{{1.0, 0.2, 0.1}}, 2.0), 1e-14));
  EXPECT_TRUE(whole.com.isZero(1e-15));
}

}  // namespace
}  // namespace stiction::world_test
