// Robots of example-robot-data at random states with contact points at their feet, as contact problems.
#pragma once

#include <random>

#include <gtest/gtest.h>

#include "stiction/assemble/assemble.hpp"
#include "stiction/laws/solve.hpp"
#include "test_paths.hpp"

namespace stiction::robot_scenes {

using Eigen::Vector3d;
using Eigen::VectorXd;

struct RobotCase {
  const char* name;
  const char* file;
  bool floating;
  std::vector<const char*> feet;  ///< links that touch
  int driven;                     ///< how many of the actuated joints are prescribed; 0: all
};

inline void PrintTo(const RobotCase& robot, std::ostream* out) { *out << robot.name; }

inline const RobotCase kRobots[] = {
    {"links", STICTION_SOURCE_DIR "/models/links.urdf", true, {"LF_foot", "RF_foot", "LH_foot", "RH_foot"}, 0},
    {"solo12", EXAMPLE_ROBOT_DATA "/solo_description/robots/solo12.urdf", true, {"FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"}, 0},
    {"anymal_b",
     EXAMPLE_ROBOT_DATA "/anymal_b_simple_description/robots/anymal.urdf",
     true,
     {"LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"},
     0},
    {"ur10", EXAMPLE_ROBOT_DATA "/ur_description/urdf/ur10_robot.urdf", false, {"ee_link"}, 3},
    {"humanoid", EXAMPLE_ROBOT_DATA "/talos_data/robots/talos_reduced.urdf", true, {"left_sole_link", "right_sole_link"}, 0},
};

inline World load(const RobotCase& robot) {
  WorldBuilder builder;
  RobotOptions options;
  options.base = robot.floating ? BaseKind::floating : BaseKind::fixed;
  options.package_dirs = {EXAMPLE_ROBOT_DATA "/../.."};
  builder.add_robot(robot.file, options);
  return builder.build();
}

/// One state with n contacts spread over the feet: points near each foot, upright normals, closed gaps.
class Scene {
 public:
  Scene(const RobotCase& robot, int contacts, unsigned seed) : world(load(robot)), data(world), rng(seed) {
    std::normal_distribution<double> normal;
    q = random_configuration(world, seed);
    if (robot.floating) q.head<7>() << 0, 0, 1, 0, 0, 0, 1;
    v = VectorXd::NullaryExpr(world.nv(), [&] { return 0.3 * normal(rng); });
    update(world, q, v, data);
    for (int i = 0; i < contacts; ++i) add_contact(robot.feet[static_cast<std::size_t>(i) % robot.feet.size()]);
    AssembleOptions options;
    options.joint_limits = options.dry_friction = false;
    assemble(world, data, q, v, VectorXd::Zero(world.nv()), points, options, problem);
    ContactMaterial wet;
    wet.viscosity = 8.0;
    wet.stiffness = wet.stiffness_tangential = 1e5;
    wet.damping = wet.damping_tangential = 50.0;
    wet.dissipation = 1.0;
    wet.restitution_tangential = 0.2;
    problem.material.assign(points.size(), wet);
    joints.assign(world.actuated().begin(), world.actuated().end());
    if (robot.driven > 0) joints.resize(robot.driven);
    desired.resize(static_cast<Eigen::Index>(joints.size()));
    for (std::size_t i = 0; i < joints.size(); ++i) desired[static_cast<Eigen::Index>(i)] = v[joints[i]] + 1e-3 * 5.0 * normal(rng);
  }

  /// Desired velocities that the law can reach: those of a forward step under random torques.
  void desire_reachable(const SolveOptions& law) {
    std::normal_distribution<double> normal;
    const GrowVector tau = VectorXd::NullaryExpr(desired.size(), [&] { return 3.0 * normal(rng); });
    const Solution forward = solve(with_torques(tau), law);
    ASSERT_EQ(forward.status, Status::solved) << forward.certificate.worst();
    for (std::size_t i = 0; i < joints.size(); ++i) desired[static_cast<Eigen::Index>(i)] = forward.v[joints[i]];
  }

  /// The forward problem with these torques applied.
  ContactProblem with_torques(const GrowVector& tau) const {
    ContactProblem forward = problem;
    for (std::size_t i = 0; i < joints.size(); ++i) forward.impulse[joints[i]] += forward.dt * tau[static_cast<Eigen::Index>(i)];
    return forward;
  }

  World world;
  WorldData data;
  std::mt19937 rng;
  VectorXd q, v, desired;
  std::vector<ContactPoint> points;
  ContactProblem problem;
  std::vector<int> joints;

 private:
  void add_contact(const char* foot) {
    std::uniform_real_distribution<double> near(-0.08, 0.08);
    ContactPoint c;
    c.body_a = world.body(foot);
    const Eigen::Isometry3d X = link_pose(world, data, world.link(foot));
    c.p_WC = X * Vector3d(near(rng), near(rng), 0.0);
    contact_tangents(c.n, c.t1, c.t2);
    c.mu = 0.6;
    points.push_back(c);
  }
};

inline SolveOptions with(Law law) {
  SolveOptions options;
  options.law = law;
  options.tolerance = 1e-9;
  return options;
}

}  // namespace stiction::robot_scenes
