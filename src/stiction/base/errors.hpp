// Errors at the public boundary: every message names the argument, what was expected and what came.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <Eigen/Core>

#include "stiction/base/eigen_layout.hpp"

namespace stiction {

/// Bad input to a public function. Numerical outcomes are a `Status`, never an exception.
class InvalidArgument : public std::invalid_argument {
 public:
  InvalidArgument(std::string_view argument, std::string_view expected, std::string_view actual);
};

/// A file that could not be read or parsed; the message names file, place (line, link, key) and reason.
class FileError : public std::runtime_error {
 public:
  FileError(std::string_view file, std::string_view place, std::string_view reason);
};

[[noreturn]] void refuse_size(std::string_view argument, Eigen::Index actual, Eigen::Index expected);
inline void require_size(std::string_view argument, Eigen::Index actual, Eigen::Index expected) {
  if (actual != expected) refuse_size(argument, actual, expected);
}
void require_finite(std::string_view argument, const Eigen::Ref<const Eigen::MatrixXd>& values);
/// NaN fails; infinity passes when `allow_infinity`.
void require_nonnegative(std::string_view argument, const Eigen::Ref<const Eigen::VectorXd>& values, bool allow_infinity = false);
void require_positive(std::string_view argument, double value);
/// Symmetric to rounding and positive definite (by Cholesky).
void require_spd(std::string_view argument, const Eigen::Ref<const Eigen::MatrixXd>& matrix);

}  // namespace stiction
