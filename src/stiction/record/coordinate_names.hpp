// Names of the coordinates of a state, for tables and logs.
//
// A joint of one coordinate gives its name; a free body or floating base gives body.x .y .z .qx .qy .qz .qw and, in the body's axes,
// body.vx .vy .vz .wx .wy .wz; a spherical joint joint.qx .qy .qz .qw and joint.wx .wy .wz. "robot/" stands before the names of each robot
// where there are several.
#pragma once

#include <string>
#include <vector>

#include "stiction/model/world.hpp"

namespace stiction {

std::vector<std::string> position_names(const World& world);  ///< nq
std::vector<std::string> velocity_names(const World& world);  ///< nv

}  // namespace stiction
