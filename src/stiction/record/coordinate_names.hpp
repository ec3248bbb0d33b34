// Names of bodies and of the coordinates of a state, for tables and logs: each its own.
//
// A body or joint goes by its name, or by "robot/name" where another robot or a free or static body has that name too; so do World::body
// and World::joint take it.
//
// A joint of one coordinate gives its name; a free body or floating base gives body.x .y .z .qx .qy .qz .qw and, in the body's axes,
// body.vx .vy .vz .wx .wy .wz; a spherical joint joint.qx .qy .qz .qw and joint.wx .wy .wz.
#pragma once

#include <string>
#include <vector>

#include "stiction/model/world.hpp"

namespace stiction {

std::vector<std::string> body_names(const World& world);      ///< of World::bodies
std::vector<std::string> position_names(const World& world);  ///< nq
std::vector<std::string> velocity_names(const World& world);  ///< nv

}  // namespace stiction
