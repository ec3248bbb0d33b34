// Archives of named arrays as numpy.savez_compressed writes them: 64-bit floats and integers, and words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "stiction/io/zip.hpp"

namespace stiction {

class NpzWriter {
 public:
  void scalar(std::string_view key, double value);
  void vector(std::string_view key, const Eigen::Ref<const Eigen::VectorXd>& values);
  void matrix(std::string_view key, const Eigen::MatrixXd& values);
  /// Rows of numbers one after the other; `shape` is that of a row.
  void rows(std::string_view key, std::span<const double> values, std::initializer_list<std::size_t> shape);
  /// `count` rows of this shape or width, which may be none.
  void table(std::string_view key, std::span<const double> values, std::size_t count, std::initializer_list<std::size_t> shape);
  void table(std::string_view key, std::span<const double> values, std::size_t count, std::size_t width);
  void integers(std::string_view key, std::span<const int> values);
  void integers(std::string_view key, std::span<const std::int64_t> values, std::initializer_list<std::size_t> shape = {});
  /// UTF-8.
  void words(std::string_view key, std::span<const std::string_view> values);

  /// Throws InvalidArgument on a key that comes twice.
  std::string archive() const { return write_zip(members_); }

 private:
  void add(std::string_view key, std::string_view type, bool by_columns, std::string_view shape, const void* data, std::size_t bytes);

  std::vector<ZipMember> members_;
};

}  // namespace stiction
