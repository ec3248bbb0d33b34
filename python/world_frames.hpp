// Frames of a world by name: links as the robot files place them, free and static bodies.
#pragma once

#include <string>
#include <string_view>

#include "stiction/model/dynamics.hpp"

namespace stiction::python {

struct NamedFrame {
  int body = 0;
  Eigen::Isometry3d X_BF = Eigen::Isometry3d::Identity();

  /// A point of this frame in the world.
  Eigen::Vector3d world_point(const WorldData& data, const Eigen::Vector3d& p_F) const { return data.X_WB[body] * (X_BF * p_F); }
};

/// Throws InvalidArgument, naming the caller's argument, when nothing, or more than one robot's part, has this name.
inline NamedFrame frame_named(const World& world, const std::string& name, std::string_view argument) {
  for (const Body& body : world.bodies()) {
    if (body.robot < 0 && body.name == name) return {world.body(name, argument), Eigen::Isometry3d::Identity()};
  }
  const Link& link = world.links()[world.link(name, argument)];
  return {link.body, link.X_BL};
}

}  // namespace stiction::python
