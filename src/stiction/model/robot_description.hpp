// What a robot file says, free of its format: a tree of links, each joined to its parent by one joint. The readers (urdf_reader,
// mjcf_reader) produce it, `assemble_robot` turns it into bodies and joints.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "stiction/model/inertia.hpp"
#include "stiction/model/world.hpp"

namespace stiction {

struct JointDescription {
  std::string name;
  bool fixed = true;
  JointKind kind = JointKind::revolute;                    ///< when not fixed
  Eigen::Isometry3d X_PJ = Eigen::Isometry3d::Identity();  ///< joint frame in the parent link's frame, at zero position
  Eigen::Isometry3d X_JL = Eigen::Isometry3d::Identity();  ///< link frame in the (moved) joint frame
  Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();         ///< unit, joint frame; 1-dof joints
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  double velocity_limit = std::numeric_limits<double>::infinity();
  double effort_limit = std::numeric_limits<double>::infinity();
  double dry_friction = 0.0, damping = 0.0, armature = 0.0;
  double stiffness = 0.0, spring_reference = 0.0;           ///< 1-dof joints
  std::optional<double> reference;                          ///< position in the pose in which the file is written (rad or m)
  bool actuated = false;                                    ///< the format's own default choice
  Eigen::Isometry3d start = Eigen::Isometry3d::Identity();  ///< start pose of a free joint in the parent's frame
};

struct GeometryDescription {
  std::string name;
  Eigen::Isometry3d X_LG = Eigen::Isometry3d::Identity();
  Shape shape = {};
  std::optional<double> friction = std::nullopt;
  unsigned type = 1, mask = 1;
  bool frictionless = false;
};

/// Two geometries of these names collide whatever else is said.
struct PairDescription {
  std::string a, b;
  std::string place;
  std::optional<double> friction = std::nullopt;
};

struct LinkDescription {
  std::string name;
  std::string place;  ///< "line 12, link 'foot'" for errors
  int parent = -1;    ///< index of an earlier link, -1 for the root
  JointDescription joint;
  Inertial inertial;
  std::vector<GeometryDescription> geometries;
  bool carries_joint = false;         ///< massless link between two joints of one body
  double gravity_compensation = 0.0;  ///< share of the link's weight that does not act
};

/// An equality by links and names of joints; the frames are in the links.
struct EqualityDescription {
  Equality equality;
  std::string place;  ///< "line 12, connect" for errors
  int link_a = 0, link_b = 0;
  std::string joint_a, joint_b;  ///< empty: none
};

/// Positions of all joints in the file's order, quaternions [x y z w].
struct KeyframeDescription {
  std::string name;
  std::vector<double> q;
};

/// Positions of some 1-dof joints by name: the <group_state>s of one name.
struct PoseDescription {
  std::string name;
  std::vector<std::pair<std::string, double>> positions;
};

struct RobotDescription {
  std::string name;
  std::string file;
  std::vector<LinkDescription> links;  ///< depth-first, parents before children, root first
  bool root_may_float = true;          ///< the root link is a part of the robot, not the world
  bool excludes_parent = true;         ///< whether a body may not touch the body that it is joined to
  bool excludes_static_parent = true;  ///< the same for a static one
  bool skips_empty_parent = true;      ///< that body is the nearest ancestor with geometry
  std::vector<std::pair<std::string, std::string>> excluded_links;
  std::vector<PairDescription> pairs;
  std::vector<EqualityDescription> equalities;
  std::vector<KeyframeDescription> keyframes;
  std::vector<PoseDescription> poses;
  std::optional<Eigen::Vector3d> gravity;
  std::optional<double> timestep;
  std::vector<std::string> warnings;
  std::vector<std::string> weighed_files;  ///< meshes that masses come from
};

}  // namespace stiction
