// Torques as Python gives them to a step.
#pragma once

#include <optional>

#include "arrays.hpp"
#include "stiction/model/world.hpp"

namespace stiction::python {

/// (nv) generalised forces, or one torque per driven joint; None: zero. Finite.
class TorqueArgument {
 public:
  /// Throws InvalidArgument naming `argument`.
  TorqueArgument(nb::handle value, const World& world, const char* argument = "tau");
  Eigen::Map<const Eigen::VectorXd> vector() const { return {data_, size_}; }

 private:
  std::optional<Numbers> given_;  ///< read where it lies when it is one number per coordinate of v
  Eigen::VectorXd own_;
  const double* data_ = nullptr;
  Eigen::Index size_ = 0;
};

}  // namespace stiction::python
