// Robots for the tests: those of example-robot-data, and small ones as text.
#pragma once

#include <string>
#include <string_view>

#include "test_paths.hpp"

namespace stiction {

/// "solo12", "anymal", "ur10", "talos", "talos_reduced" or "humanoid": the URDF in the folder of example robots.
inline std::string robot_file(std::string_view name) {
  const std::string folder = EXAMPLE_ROBOT_DATA;
  if (name == "solo12") return folder + "/solo_description/robots/solo12.urdf";
  if (name == "anymal") return folder + "/anymal_b_simple_description/robots/anymal.urdf";
  if (name == "ur10") return folder + "/ur_description/urdf/ur10_robot.urdf";
  if (name == "talos_reduced") return folder + "/talos_data/robots/talos_reduced.urdf";
  if (name == "talos") return folder + "/talos_data/robots/talos_full_v2.urdf";
  return folder + "/simple_humanoid_description/urdf/simple_humanoid.urdf";
}

/// Two links of equal length 1 m and mass 1 kg swinging about y, as slender boxes; z up, hanging down at zero.
inline const char* double_pendulum() {
  return R"(<robot name="double_pendulum">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 -0.5"/><mass value="1.0"/><inertia ixx="0.084" iyy="0.084" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -0.5"/><geometry><box size="0.1 0.1 1.0"/></geometry></collision>
  </link>
  <link name="lower">
    <inertial><origin xyz="0.05 0 -0.5"/><mass value="1.0"/><inertia ixx="0.084" iyy="0.084" izz="0.002" ixy="0" ixz="0.001" iyz="0"/></inertial>
  </link>
  <joint name="shoulder" type="continuous">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/><dynamics damping="0.25" friction="0.5"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/><child link="lower"/><origin xyz="0 0 -1" rpy="0.3 0 0.2"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2.5" effort="40" velocity="8"/>
  </joint>
</robot>)";
}

}  // namespace stiction
