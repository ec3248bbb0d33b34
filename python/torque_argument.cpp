#include "torque_argument.hpp"

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction::python {

TorqueArgument::TorqueArgument(nb::handle value, const World& world, const char* argument) : size_(world.nv()) {
  if (!value.is_none()) {
    const auto numbers = given_.emplace(nb::borrow<ArrayLike>(value), argument, 1).vector();
    require_finite(argument, numbers);
    const std::span<const int> driven = world.actuated();
    if (numbers.size() == size_) {
      data_ = numbers.data();
      return;
    }
    if (numbers.size() != static_cast<Eigen::Index>(driven.size())) {
      throw InvalidArgument(argument, fmt::format("{} generalised forces, or {} torques of the driven joints", size_, driven.size()),
                            fmt::format("{} numbers", numbers.size()));
    }
    own_.setZero(size_);
    for (std::size_t i = 0; i < driven.size(); ++i) own_[driven[i]] = numbers[static_cast<Eigen::Index>(i)];
  } else {
    own_.setZero(size_);
  }
  data_ = own_.data();
}

}  // namespace stiction::python
