// Names of what a user wrote for what the rooms refuse: they speak of their own structs.
#pragma once

#include <string>

namespace stiction {

/// A message about RobotOptions, by the keys of scene files, which are the arguments of Python.
std::string by_keys_of_robots(std::string message);
/// A message about Drives, by the keys of [[drive]] and [[coupled]].
std::string by_keys_of_drives(std::string message);

}  // namespace stiction
