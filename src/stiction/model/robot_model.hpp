// Pinocchio's model of one robot. Internal: the only header of this room that includes Pinocchio.
#pragma once

#include <pinocchio/multibody.hpp>

namespace stiction {

struct RobotModel {
  pinocchio::Model model;
};

}  // namespace stiction
