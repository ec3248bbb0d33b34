// What a World holds. Internal to this room; plain data.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "stiction/model/robot_description.hpp"
#include "stiction/model/world.hpp"

namespace stiction {

struct RobotTree;

/// One joint, with the body that it moves.
struct JointPlan {
  JointKind kind = JointKind::revolute;
  int parent = -1;                                              ///< index of the parent's plan, -1 for the world
  Eigen::Isometry3d placement = Eigen::Isometry3d::Identity();  ///< joint frame in the parent body (or in the world)
  Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();
  double armature = 0.0;
  Inertial inertial;  ///< of the body, body frame = joint frame
  std::string place;  ///< for errors
};

/// A robot before it joins a world: as the world's members, with indices counted from zero. Plans, joints and the bodies that they move
/// have one order, behind the static bodies.
struct RobotParts {
  Robot robot;
  std::vector<Body> bodies;
  std::vector<Eigen::Isometry3d> static_pose;  ///< per body, in the world
  std::vector<int> plan_of_body;               ///< -1: static
  std::vector<Link> links;
  std::vector<Joint> joints;
  std::vector<JointPlan> plans;  ///< one per joint
  std::vector<CollisionGeometry> geometries;
  std::vector<Equality> equalities;
  std::vector<std::pair<int, int>> excluded;  ///< geometries
  std::vector<DeclaredPair> declared;
  Eigen::VectorXd q0;
  std::vector<int> first_plan{0};  ///< of each block: one, or the subsystems of a robot that is cut
  std::vector<CutJoint> cuts;
  std::vector<int> uncut_joint;  ///< per joint, its index in the uncut robot; empty: the same
};

/// Applies the options to a description. Throws FileError, InvalidArgument.
RobotParts assemble_robot(const RobotDescription& description, const RobotOptions& options);

/// Which geometries of the robot may collide: `excluded`, `declared` and the trees of its links. Needs bodies, links and geometries.
/// Throws FileError when the description names an unknown geometry.
void choose_pairs(const RobotDescription& description, RobotParts& parts);

/// The joints for `update` (tree.hpp); checks that M is positive definite (FileError naming the joint's place otherwise).
std::shared_ptr<const RobotTree> build_tree(const RobotParts& parts);

/// The robot cut as the options say (cut_joints.cpp). Throws InvalidArgument on joints that cannot be cut.
RobotParts cut_at_joints(const RobotParts& whole, const RobotOptions& options);
/// Plans, joints and start of one of its blocks, counted from zero.
RobotParts parts_of_block(const RobotParts& parts, std::size_t block);

struct World::Impl {
  Eigen::Vector3d gravity{0.0, 0.0, -9.81};
  bool gravity_given = false;  ///< by the builder's user
  std::vector<Block> blocks;
  std::vector<int> block_sizes;
  std::vector<std::shared_ptr<const RobotTree>> trees;  ///< per block, null for free bodies
  std::vector<Robot> robots;
  std::vector<Body> bodies;
  std::vector<Eigen::Isometry3d> static_pose;  ///< per body; identity when it moves
  std::vector<Link> links;
  std::vector<Joint> joints;
  std::vector<CollisionGeometry> geometries;
  std::vector<Equality> equalities;
  std::vector<CutJoint> cuts;
  std::shared_ptr<Impl> uncut;      ///< null where nothing is cut
  std::vector<int> uncut_joint;     ///< per joint, its index in `uncut`, empty without it
  std::vector<int> sprung, lifted;  ///< joints with a spring; bodies with compensated gravity
  std::vector<int> actuated;
  std::vector<std::pair<int, int>> excluded;  ///< geometries, sorted once the world is built
  std::vector<DeclaredPair> declared;
  Eigen::VectorXd q0;
  int nq = 0, nv = 0;
  /// Velocity coordinates of the body's block that move it: support[support_begin[b] .. support_begin[b + 1]), ascending.
  std::vector<int> support_begin{0};
  std::vector<int> support;
};

}  // namespace stiction
