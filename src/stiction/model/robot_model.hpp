// Pinocchio's model of one robot. Internal: the only header of this room that includes Pinocchio.
#pragma once

#include <memory>

#include <pinocchio/multibody.hpp>

namespace stiction {

struct RobotModel {
  pinocchio::Model model;
};

/// What `nonLinearEffects`, `crba` in the world convention and `computeJointJacobians` read and write, and nothing else: a complete
/// pinocchio::Data also has four tensors of nv³ numbers for second derivatives, 32 GB for a thousand joints.
std::unique_ptr<pinocchio::Data> make_scratch(const pinocchio::Model& model);

}  // namespace stiction
