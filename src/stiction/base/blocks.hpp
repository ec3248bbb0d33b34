// Block-structured matrices of a world with many bodies: one block of columns per robot or free body.
//
//   BlockDiagonal   M = diag(M_1, ..., M_K), each block dense.
//   BlockRows       rows in groups of equal height (3 per contact: N, S, T; 1 per bounded joint row); a group touches at most
//                   a few blocks of columns (two for a contact). Entries are stored row-major, one after the other, so a
//                   single-block matrix is one contiguous row-major matrix (`single_block`).
// Products cost O(stored entries). `reset` and `add_*` keep the memory of earlier use.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "stiction/base/eigen_layout.hpp"

namespace stiction {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowMap = Eigen::Map<RowMatrix>;
using ConstRowMap = Eigen::Map<const RowMatrix>;

class BlockDiagonal {
 public:
  BlockDiagonal() = default;
  explicit BlockDiagonal(std::span<const int> sizes) { reset(sizes); }
  /// One dense block.
  static BlockDiagonal dense(const Eigen::Ref<const Eigen::MatrixXd>& matrix);

  /// Blocks of these sizes, all zero.
  void reset(std::span<const int> sizes);
  int blocks() const { return static_cast<int>(sizes_.size()); }
  int size() const { return offsets_.empty() ? 0 : offsets_.back(); }
  int block_size(int k) const { return sizes_[k]; }
  /// First row (and column) of block k.
  int offset(int k) const { return offsets_[k]; }
  std::span<const int> sizes() const { return sizes_; }
  Eigen::Map<Eigen::MatrixXd> block(int k);
  Eigen::Map<const Eigen::MatrixXd> block(int k) const;

  /// y = M x (sizes n).
  void multiply(const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y) const;
  Eigen::MatrixXd to_dense() const;

 private:
  std::vector<int> sizes_, offsets_{0};
  std::vector<std::size_t> data_offsets_;
  std::vector<double> data_;
};

class BlockRows {
 public:
  BlockRows() { reset(1, {}); }
  /// Splits a dense (groups*height) x sum(block_sizes) matrix; blocks of a group that are all zero are not stored.
  static BlockRows from_dense(int height, const Eigen::Ref<const Eigen::MatrixXd>& matrix, std::span<const int> block_sizes);

  /// No groups; `height` rows per group, columns in blocks of these sizes.
  void reset(int height, std::span<const int> block_sizes);
  /// Appends an empty group and returns its index.
  int add_group();
  /// Appends an entry (height x block size, zero) to the last group. Invalidates earlier maps.
  RowMap add_entry(int block);
  /// Appends group g of other rows, which have the same height and at least as many blocks of the same sizes.
  void append_group(const BlockRows& from, int g);

  /// One block of columns of this size, stored by every one of the groups; entries are unspecified. The whole matrix, to be filled in.
  RowMap reset_single_block(int height, int size, int groups);

  /// Drops the groups from `groups` on.
  void truncate(int groups);

  int height() const { return height_; }
  int groups() const { return static_cast<int>(group_begin_.size()) - 1; }
  int rows() const { return groups() * height_; }
  int cols() const { return col_offsets_.back(); }
  int blocks() const { return static_cast<int>(block_sizes_.size()); }
  int block_size(int k) const { return block_sizes_[k]; }
  int col_offset(int k) const { return col_offsets_[k]; }
  std::span<const int> block_sizes() const { return block_sizes_; }

  /// Entries of group g are [entry_begin(g), entry_end(g)).
  int entry_begin(int g) const { return group_begin_[g]; }
  int entry_end(int g) const { return group_begin_[static_cast<std::size_t>(g) + 1]; }
  int entry_block(int e) const { return entries_[e].block; }
  ConstRowMap entry(int e) const {
    const Entry& x = entries_[e];
    return {data_.data() + x.data, height_, block_size(x.block)};
  }
  RowMap entry(int e) {
    const Entry& x = entries_[e];
    return {data_.data() + x.data, height_, block_size(x.block)};
  }
  /// True when there is one block of columns and every group stores it: then `single_block` is the whole matrix.
  bool is_single_block() const { return blocks() == 1 && static_cast<int>(entries_.size()) == groups(); }
  ConstRowMap single_block() const { return {data_.data(), rows(), cols()}; }

  /// y = A x, with x of size cols and y of size rows.
  void multiply(const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y) const;
  /// x += Aᵀ y.
  void add_transposed(const Eigen::Ref<const Eigen::VectorXd>& y, Eigen::Ref<Eigen::VectorXd> x) const;
  /// y += A_g x for one group (y of size height).
  void add_group_product(int g, const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y) const;
  /// Sum of the squares of all entries, of a group's and of those of one of its rows.
  double square() const;
  double group_square(int g) const;
  double row_square(int g, int row) const;
  /// Whether group g has no entry but zeros; the same of one of its rows.
  bool is_zero(int g) const;
  bool is_zero(int g, int row) const;
  /// x += A_gᵀ y for one group.
  void add_group_transposed(int g, const Eigen::Ref<const Eigen::VectorXd>& y, Eigen::Ref<Eigen::VectorXd> x) const;
  Eigen::MatrixXd to_dense() const;

 private:
  struct Entry {
    int block;
    std::size_t data;
  };
  int height_ = 1;
  std::vector<int> block_sizes_, col_offsets_{0}, group_begin_{0};
  std::vector<Entry> entries_;
  std::vector<double> data_;
};

}  // namespace stiction
