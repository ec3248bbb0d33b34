#include "stiction/plan/world_legs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "test_paths.hpp"

namespace stiction::world_legs_test {
namespace {

const std::vector<std::string> kLegs{"LF", "RF", "LH", "RH"};

World links() {
  WorldBuilder builder;
  RobotOptions options;
  options.base = BaseKind::floating;
  options.pose.translation() << 1.0, 2.0, 3.0;
  options.pose.linear() = Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, 3).normalized()).toRotationMatrix();
  const Eigen::VectorXd standing = links_standing_posture();
  const std::vector<Leg> legs = links_legs();
  for (std::size_t l = 0; l < legs.size(); ++l) {
    for (int i = 0; i < 3; ++i)
      options.joints[kLegs[l] + (i == 0 ? "_HIP" : i == 1 ? "_THIGH" : "_SHANK")].position = standing[legs[l].joints[i]];
  }
  builder.add_robot(STICTION_SOURCE_DIR "/models/links.urdf", options);
  return builder.build();
}

WorldFoot foot(const World& world, const std::string& name) {
  const Link& link = world.links()[world.link(name)];
  return {name, link.body, link.X_BL};
}

WorldLegs legs_of_links(const World& world) {
  std::vector<WorldFoot> feet;
  for (const std::string& leg : kLegs) feet.push_back(foot(world, leg + "_foot"));
  return world_legs(world, feet);
}

// links_legs() says in closed form what models/links.urdf does.
TEST(WorldLegs, OfTheFileAreThoseInClosedForm) {
  const WorldLegs found = legs_of_links(links());
  const std::vector<Leg> known = links_legs();
  EXPECT_EQ(found.posture, links_standing_posture());
  ASSERT_EQ(found.legs.size(), 4U);
  for (std::size_t l = 0; l < 4; ++l) {
    const Leg &leg = found.legs[l], &reference = known[l];
    EXPECT_EQ(leg.joints, reference.joints);
    EXPECT_EQ(leg.lower, reference.lower);
    EXPECT_EQ(leg.upper, reference.upper);
    for (const LegVector& q : {LegVector(Eigen::Vector3d(0.1, -0.7, 1.2)), LegVector(Eigen::Vector3d(-1.0, 0.4, -0.3))}) {
      Eigen::Vector3d p, p_known;
      LegJacobian J, J_known, W, W_known;
      Eigen::Matrix3d R, R_known;
      leg.kinematics(q, p, J);
      reference.kinematics(q, p_known, J_known);
      leg.rotation(q, R, W);
      reference.rotation(q, R_known, W_known);
      EXPECT_LT((p - p_known).norm(), 1e-14);
      EXPECT_LT((J - J_known).norm(), 1e-14);
      EXPECT_LT((R - R_known).norm(), 1e-14);
      EXPECT_LT((W - W_known).norm(), 1e-14);
    }
  }
}

TEST(WorldLegs, AreRefusedByTheNameOfTheirFoot) {
  const World world = links();
  const auto message = [&](const std::vector<WorldFoot>& feet) -> std::string {
    try {
      world_legs(world, feet);
      return "";
    } catch (const InvalidArgument& error) {
      return error.what();
    }
  };
  EXPECT_EQ(message({foot(world, "LF_foot"), foot(world, "LF_foot")}), "feet: expected every foot once, got 'LF_foot' twice");
  EXPECT_EQ(message({foot(world, "trunk")}), "feet: expected feet that 1 to 8 driven joints move, got 0 for 'trunk'");
}

}  // namespace
}  // namespace stiction::world_legs_test
