#include "stiction/io/npz_writer.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stiction/base/utf8.hpp"

namespace stiction {

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as little-endian");

/// "(rows, shape...)" without its parentheses, for `count` numbers in rows of this shape.
std::string rows_of(std::size_t count, std::initializer_list<std::size_t> shape) {
  std::size_t size = 1;
  for (const std::size_t extent : shape) size *= extent;
  std::string text = fmt::format("{},", size == 0 ? 0 : count / size);
  for (const std::size_t extent : shape) text += fmt::format(" {},", extent);
  return text;
}

}  // namespace

void NpzWriter::add(std::string_view key, std::string_view type, bool by_columns, std::string_view shape, const void* data,
                    std::size_t bytes) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}", type, by_columns ? "True" : "False", shape);
  header.append(63 - (10 + header.size()) % 64, ' ');  // entries start at a multiple of 64 bytes
  header += '\n';
  std::string text("\x93NUMPY");
  text += {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  text += header;
  if (bytes > 0) text.append(static_cast<const char*>(data), bytes);
  members_.push_back({fmt::format("{}.npy", key), std::move(text)});
}

void NpzWriter::scalar(std::string_view key, double value) { add(key, "<f8", true, "", &value, 8); }

void NpzWriter::vector(std::string_view key, const Eigen::Ref<const Eigen::VectorXd>& values) {
  rows(key, {values.data(), static_cast<std::size_t>(values.size())}, {});
}

void NpzWriter::matrix(std::string_view key, const Eigen::MatrixXd& values) {
  add(key, "<f8", true, fmt::format("{}, {}", values.rows(), values.cols()), values.data(), 8 * static_cast<std::size_t>(values.size()));
}

void NpzWriter::rows(std::string_view key, std::span<const double> values, std::initializer_list<std::size_t> shape) {
  add(key, "<f8", false, rows_of(values.size(), shape), values.data(), values.size_bytes());
}

void NpzWriter::table(std::string_view key, std::span<const double> values, std::size_t count, std::size_t width) {
  table(key, values, count, {width});
}

void NpzWriter::table(std::string_view key, std::span<const double> values, std::size_t count, std::initializer_list<std::size_t> shape) {
  add(key, "<f8", false, fmt::format("{}, {}", count, fmt::join(shape, ", ")), values.data(), values.size_bytes());
}

void NpzWriter::integers(std::string_view key, std::span<const int> values) {
  const std::vector<std::int64_t> wide(values.begin(), values.end());
  integers(key, wide);
}

void NpzWriter::integers(std::string_view key, std::span<const std::int64_t> values, std::initializer_list<std::size_t> shape) {
  add(key, "<i8", false, rows_of(values.size(), shape), values.data(), values.size_bytes());
}

void NpzWriter::words(std::string_view key, std::span<const std::string_view> values) {
  std::vector<std::u32string> wide;
  std::size_t width = 1;
  for (const std::string_view word : values) width = std::max(width, wide.emplace_back(code_points(word)).size());
  std::u32string letters(values.size() * width, U'\0');
  for (std::size_t i = 0; i < wide.size(); ++i) std::ranges::copy(wide[i], letters.begin() + static_cast<std::ptrdiff_t>(i * width));
  add(key, fmt::format("<U{}", width), false, fmt::format("{},", values.size()), letters.data(), 4 * letters.size());
}

}  // namespace stiction
