// Drives of a scene file's joints: its tables [[drive]] and [[coupled]] (docs/scenes.md).
#pragma once

#include "stiction/drive/joint_drives.hpp"
#include "stiction/sim/scene_table.hpp"

namespace stiction {

/// A velocity drive or servo of each joint that the table names, of all driven ones where it names none. Throws FileError.
void read_drive(Table table, const World& world, Drives& drives);
/// A velocity row of the joints that the table names with their factors. Throws FileError.
void read_coupled(Table table, const World& world, Drives& drives);

}  // namespace stiction
