#include "stiction/base/errors.hpp"

#include <cmath>

#include <fmt/format.h>
#include <Eigen/Cholesky>

#include "stiction/base/utf8.hpp"

namespace stiction {

InvalidArgument::InvalidArgument(std::string_view argument, std::string_view expected, std::string_view actual)
    : std::invalid_argument(printable(fmt::format("{}: expected {}, got {}", argument, expected, actual))) {}

FileError::FileError(std::string_view file, std::string_view place, std::string_view reason)
    : std::runtime_error(printable(place.empty() ? fmt::format("{}: {}", file, reason) : fmt::format("{}: {}: {}", file, place, reason))) {}

void refuse_size(std::string_view argument, Eigen::Index actual, Eigen::Index expected) {
  throw InvalidArgument(argument, fmt::format("size {}", expected), fmt::format("size {}", actual));
}

void require_finite(std::string_view argument, const Eigen::Ref<const Eigen::MatrixXd>& values) {
  for (Eigen::Index j = 0; j < values.cols(); ++j) {
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
      if (!std::isfinite(values(i, j))) {
        const std::string where = values.cols() == 1 ? fmt::format("[{}]", i) : fmt::format("[{}, {}]", i, j);
        throw InvalidArgument(fmt::format("{}{}", argument, where), "a finite number", fmt::format("{}", values(i, j)));
      }
    }
  }
}

void require_nonnegative(std::string_view argument, const Eigen::Ref<const Eigen::VectorXd>& values, bool allow_infinity) {
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    if (!(values[i] >= 0.0) || (!allow_infinity && std::isinf(values[i]))) {
      throw InvalidArgument(fmt::format("{}[{}]", argument, i), allow_infinity ? "a number >= 0 or infinity" : "a finite number >= 0",
                            fmt::format("{}", values[i]));
    }
  }
}

void require_positive(std::string_view argument, double value) {
  if (!(value > 0.0) || std::isinf(value)) {
    throw InvalidArgument(argument, "a finite number > 0", fmt::format("{}", value));
  }
}

void require_spd(std::string_view argument, const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  if (matrix.rows() != matrix.cols()) {
    throw InvalidArgument(argument, "a square matrix", fmt::format("{} x {}", matrix.rows(), matrix.cols()));
  }
  require_finite(argument, matrix);
  const double scale = matrix.size() == 0 ? 0.0 : matrix.cwiseAbs().maxCoeff();
  const double asymmetry = matrix.size() == 0 ? 0.0 : (matrix - matrix.transpose()).cwiseAbs().maxCoeff();
  if (asymmetry > 1e-9 * scale) {
    throw InvalidArgument(argument, "a symmetric matrix", fmt::format("asymmetry {:.3g}", asymmetry));
  }
  if (Eigen::LLT<Eigen::MatrixXd>(matrix).info() != Eigen::Success) {
    throw InvalidArgument(argument, "a positive definite matrix", "one with an eigenvalue <= 0");
  }
}

}  // namespace stiction
