#include "stiction/base/blocks.hpp"

#include <algorithm>
#include <numeric>

#include "stiction/base/dot.hpp"
#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

void assign_offsets(std::span<const int> sizes, std::vector<int>& offsets) {
  offsets.resize(sizes.size() + 1);
  offsets[0] = 0;
  std::inclusive_scan(sizes.begin(), sizes.end(), offsets.begin() + 1);
}

// Contacts of free bodies: 3 rows on 6 columns, whose products are inlined where the sizes are known.
constexpr int kContactRows = 3, kBodyColumns = 6;
using ContactRows = Eigen::Map<const Eigen::Matrix<double, kContactRows, kBodyColumns, Eigen::RowMajor>>;
using ContactVector = Eigen::Matrix<double, kContactRows, 1>;
using BodyVector = Eigen::Matrix<double, kBodyColumns, 1>;
using BodyBlock = Eigen::Map<const Eigen::Matrix<double, kBodyColumns, kBodyColumns>>;

// y = A x, A square and column-major.
void multiply_block(const double* a, Eigen::Index n, const double* x, double* y) {
  std::fill_n(y, n, 0.0);
  Eigen::Index j = 0;
  for (; j + 2 <= n; j += 2, a += 2 * n) add_scaled(a, x[j], a + n, x[j + 1], y, n);
  if (j < n) add_scaled(a, x[j], y, n);
}

// y += A x for one entry.
void add_product(const ConstRowMap& a, const double* x, double* y) {
  if (a.rows() == kContactRows && a.cols() == kBodyColumns) {
    Eigen::Map<ContactVector>(y) += ContactRows(a.data()).lazyProduct(Eigen::Map<const BodyVector>(x));
  } else {
    for (Eigen::Index i = 0; i < a.rows(); ++i) y[i] += dot(a.data() + i * a.cols(), x, a.cols());
  }
}

// x += Aᵀ y for one entry.
void add_transposed_product(const ConstRowMap& a, const double* y, double* x) {
  if (a.rows() == kContactRows && a.cols() == kBodyColumns) {
    Eigen::Map<BodyVector>(x) += ContactRows(a.data()).transpose().lazyProduct(Eigen::Map<const ContactVector>(y));
  } else {
    for (Eigen::Index i = 0; i < a.rows(); ++i) add_scaled(a.data() + i * a.cols(), y[i], x, a.cols());
  }
}

}  // namespace

BlockDiagonal BlockDiagonal::dense(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  const int size = static_cast<int>(matrix.rows());
  BlockDiagonal m(std::span(&size, 1));
  m.block(0) = matrix;
  return m;
}

void BlockDiagonal::reset(std::span<const int> sizes) {
  sizes_.assign(sizes.begin(), sizes.end());
  assign_offsets(sizes_, offsets_);
  data_offsets_.resize(sizes_.size());
  std::size_t end = 0;
  for (std::size_t k = 0; k < sizes_.size(); ++k) {
    data_offsets_[k] = end;
    end += static_cast<std::size_t>(sizes_[k]) * static_cast<std::size_t>(sizes_[k]);
  }
  data_.assign(end, 0.0);
}

Eigen::Map<Eigen::MatrixXd> BlockDiagonal::block(int k) { return {data_.data() + data_offsets_[k], block_size(k), block_size(k)}; }

Eigen::Map<const Eigen::MatrixXd> BlockDiagonal::block(int k) const {
  return {data_.data() + data_offsets_[k], block_size(k), block_size(k)};
}

void BlockDiagonal::multiply(const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y) const {
  for (int k = 0; k < blocks(); ++k) {
    if (block_size(k) == kBodyColumns) {
      y.segment<kBodyColumns>(offset(k)).noalias() = BodyBlock(block(k).data()) * x.segment<kBodyColumns>(offset(k));
    } else {
      multiply_block(block(k).data(), block_size(k), x.data() + offset(k), y.data() + offset(k));
    }
  }
}

Eigen::MatrixXd BlockDiagonal::to_dense() const {
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(size(), size());
  for (int k = 0; k < blocks(); ++k) m.block(offset(k), offset(k), block_size(k), block_size(k)) = block(k);
  return m;
}

BlockRows BlockRows::from_dense(int height, const Eigen::Ref<const Eigen::MatrixXd>& matrix, std::span<const int> block_sizes) {
  BlockRows rows;
  rows.reset(height, block_sizes);
  require_size("matrix.cols", matrix.cols(), rows.cols());
  if (matrix.rows() % height != 0)
    throw InvalidArgument("matrix.rows", "a multiple of " + std::to_string(height), std::to_string(matrix.rows()));
  for (Eigen::Index g = 0; g < matrix.rows() / height; ++g) {
    rows.add_group();
    for (int k = 0; k < rows.blocks(); ++k) {
      const auto part = matrix.block(g * height, rows.col_offset(k), height, rows.block_size(k));
      if (rows.blocks() == 1 || !part.isZero(0.0)) rows.add_entry(k) = part;
    }
  }
  return rows;
}

void BlockRows::reset(int height, std::span<const int> block_sizes) {
  height_ = height;
  block_sizes_.assign(block_sizes.begin(), block_sizes.end());
  assign_offsets(block_sizes_, col_offsets_);
  group_begin_.assign(1, 0);
  entries_.clear();
  data_.clear();
}

int BlockRows::add_group() {
  group_begin_.push_back(group_begin_.back());
  return groups() - 1;
}

RowMap BlockRows::add_entry(int block) {
  entries_.push_back({block, data_.size()});
  ++group_begin_.back();
  data_.resize(data_.size() + static_cast<std::size_t>(height_) * static_cast<std::size_t>(block_size(block)));
  return entry(static_cast<int>(entries_.size()) - 1);
}

void BlockRows::append_group(const BlockRows& from, int g) {
  add_group();
  for (int e = from.entry_begin(g); e < from.entry_end(g); ++e) add_entry(from.entry_block(e)) = from.entry(e);
}

RowMap BlockRows::reset_single_block(int height, int size, int groups) {
  height_ = height;
  block_sizes_.assign(1, size);
  assign_offsets(block_sizes_, col_offsets_);
  const std::size_t count = static_cast<std::size_t>(groups), entry = static_cast<std::size_t>(height) * static_cast<std::size_t>(size);
  group_begin_.resize(count + 1);
  entries_.resize(count);
  for (std::size_t g = 0; g < count; ++g) {
    group_begin_[g] = static_cast<int>(g);
    entries_[g] = {0, g * entry};
  }
  group_begin_[count] = groups;
  data_.resize(count * entry);
  return {data_.data(), Eigen::Index{groups} * height, size};
}

void BlockRows::truncate(int count) {
  if (count >= groups()) return;
  const std::size_t left = static_cast<std::size_t>(entry_begin(count));
  group_begin_.resize(static_cast<std::size_t>(count) + 1);
  if (left < entries_.size()) data_.resize(entries_[left].data);
  entries_.resize(left);
}

void BlockRows::multiply(const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y) const {
  y.setZero();
  for (int g = 0; g < groups(); ++g) {
    for (int e = entry_begin(g); e < entry_end(g); ++e)
      add_product(entry(e), x.data() + col_offset(entry_block(e)), y.data() + g * height_);
  }
}

void BlockRows::add_transposed(const Eigen::Ref<const Eigen::VectorXd>& y, Eigen::Ref<Eigen::VectorXd> x) const {
  // Impulses are often sparse (a rigid foot presses on few of its points), so groups without one are passed over.
  for (int g = 0; g < groups(); ++g) {
    const double* part = y.data() + g * height_;
    if (std::all_of(part, part + height_, [](double value) { return value == 0.0; })) continue;
    for (int e = entry_begin(g); e < entry_end(g); ++e) add_transposed_product(entry(e), part, x.data() + col_offset(entry_block(e)));
  }
}

void BlockRows::add_group_product(int g, const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y) const {
  for (int e = entry_begin(g); e < entry_end(g); ++e) add_product(entry(e), x.data() + col_offset(entry_block(e)), y.data());
}

void BlockRows::add_group_transposed(int g, const Eigen::Ref<const Eigen::VectorXd>& y, Eigen::Ref<Eigen::VectorXd> x) const {
  for (int e = entry_begin(g); e < entry_end(g); ++e) add_transposed_product(entry(e), y.data(), x.data() + col_offset(entry_block(e)));
}

bool BlockRows::is_zero(int g) const {
  for (int e = entry_begin(g); e < entry_end(g); ++e) {
    if (!entry(e).isZero(0.0)) return false;
  }
  return true;
}

bool BlockRows::is_zero(int g, int row) const {
  for (int e = entry_begin(g); e < entry_end(g); ++e) {
    if (!entry(e).row(row).isZero(0.0)) return false;
  }
  return true;
}

double BlockRows::square() const {
  double sum = 0.0;
  for (int g = 0; g < groups(); ++g) sum += group_square(g);
  return sum;
}

double BlockRows::row_square(int g, int row) const {
  double sum = 0.0;
  for (int e = entry_begin(g); e < entry_end(g); ++e) sum += entry(e).row(row).squaredNorm();
  return sum;
}

double BlockRows::group_square(int g) const {
  double sum = 0.0;
  for (int e = entry_begin(g); e < entry_end(g); ++e) {
    const auto a = entry(e);
    sum += dot(a.data(), a.data(), a.size());
  }
  return sum;
}

Eigen::MatrixXd BlockRows::to_dense() const {
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(rows(), cols());
  for (int g = 0; g < groups(); ++g) {
    for (int e = entry_begin(g); e < entry_end(g); ++e) {
      m.block(g * height_, col_offset(entry_block(e)), height_, block_size(entry_block(e))) = entry(e);
    }
  }
  return m;
}

}  // namespace stiction
