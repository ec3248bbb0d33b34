// Semantic descriptions (SRDF) of robots: which pairs of links a planner's set-up found not to collide, and poses by name.
//
// Read: <disable_collisions link1 link2>, <disable_default_collisions link>, <enable_collisions link1 link2> (which takes such a default
// back). All else (groups, states, end effectors) is about planning and is passed over.
#pragma once

#include <string>

#include "stiction/model/robot_description.hpp"
#include "stiction/model/xml.hpp"

namespace stiction {

/// The SRDF that belongs to a URDF: looked for in its own folder, then in the folder srdf beside that (robots/X.urdf, srdf/X.srdf).
/// In each: the file whose name is the URDF's or the longest beginning of it (solo.srdf for solo12.urdf), else the only one whose
/// <robot name> is the URDF's. Empty when there is none.
std::string find_srdf(const std::string& urdf, const std::string& robot_name);

/// Adds what the file says to `excluded_links` and `poses`; links that the robot has not are a warning. Throws FileError naming file and
/// line.
void read_srdf(const XmlElement& root, RobotDescription& robot);

}  // namespace stiction
