// Where the mesh files named in a robot file are.
#pragma once

#include <string>
#include <vector>

namespace stiction {

/// Absolute path of an existing file for `uri`: package://NAME/rest (looked up in `package_dirs`, then in every ancestor folder of
/// `robot_file`, then in the folders of the environment variable ROS_PACKAGE_PATH), file://path, an absolute path, or one relative
/// to the robot file: meshes are read later, maybe from another working folder. Empty when none exists.
std::string find_resource(const std::string& uri, const std::string& robot_file, const std::vector<std::string>& package_dirs);

}  // namespace stiction
