// Legs of any robot, by the kinematics of its world.
#pragma once

#include <string>
#include <vector>

#include "stiction/model/world.hpp"
#include "stiction/plan/leg_kinematics.hpp"

namespace stiction {

/// A frame fixed to a body, whose origin is the foot.
struct WorldFoot {
  std::string name;
  int body = 0;
  Eigen::Isometry3d X_BF = Eigen::Isometry3d::Identity();
};

struct WorldLegs {
  std::vector<Leg> legs;    ///< their joints are places in World::actuated; each has the world's kinematics to itself
  Eigen::VectorXd posture;  ///< one per place in World::actuated, at the world's start; joints of several coordinates: 0
  Eigen::Matrix3Xd feet;    ///< places of the feet then, in the frame of the body that carries the leg (m)
};

/// The driven joints that move each foot. Throws InvalidArgument naming `feet` where there are none or too many, or a foot comes twice.
WorldLegs world_legs(const World& world, const std::vector<WorldFoot>& feet);

}  // namespace stiction
