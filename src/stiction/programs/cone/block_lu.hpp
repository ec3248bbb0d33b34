// Block-sparse LU of a matrix with symmetric block pattern: one block row per body, one off-diagonal pair per pair of bodies in contact.
//
//   analyze   minimum-degree elimination order on the graph of bodies, fill, and a table of destinations for every update; skipped
//             when the cliques are those of the last call, so a scene whose contact graph rests pays for it once
//   factor    right-looking; pivots inside the diagonal blocks alone (the matrices are I + Σ Rᵀ D R, whose diagonal blocks dominate)
//   solve     forward and back substitution, in place
// Cost: Σ_p d_p² b³ with d_p the degree of body p when it is eliminated and b the block size. Nothing is allocated when neither the
// pattern nor the sizes grow. Source: Davis, Direct Methods for Sparse Linear Systems (2006), ch. 6 and 7, on blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stiction/base/grow.hpp"

namespace stiction {

class BlockLu {
 public:
  /// Blocks of these sizes; clique g couples blocks clique_blocks[clique_begin[g] .. clique_begin[g + 1]).
  void analyze(std::span<const int> sizes, std::span<const int> clique_begin, std::span<const int> clique_blocks);
  int size() const { return offsets_.back(); }
  int blocks() const { return static_cast<int>(sizes_.size()); }
  /// All entries of the matrix to the identity.
  void set_identity();
  /// Column-major block (row, column), which must lie in the pattern; valid until `analyze`.
  double* block(int row, int column) { return values_.data() + block_offset(row, column); }
  /// Place of that block among the values: constant until the pattern changes.
  std::ptrdiff_t block_offset(int row, int column) const;
  double* values() { return values_.data(); }
  /// Changes whenever `analyze` found a new pattern.
  int pattern_version() const { return version_; }

  /// False when a diagonal block is singular or not finite.
  bool factor();
  /// Sign of the determinant of the factored matrix.
  bool positive_determinant() const;
  /// x <- A⁻¹ x.
  void solve(Eigen::Ref<Eigen::VectorXd> x) const;
  /// Multiplications of `factor`, about.
  double work() const;

 private:
  struct Upper {           // blocks (p, q) and (q, p) with q eliminated after p
    int q;                 // position of q in the elimination order
    std::ptrdiff_t upper;  // offset of (p, q), size_p x size_q
    std::ptrdiff_t lower;  // offset of (q, p), size_q x size_p
  };
  void order(std::span<const int> clique_begin, std::span<const int> clique_blocks);
  void allocate_values();
  void find_destinations();
  bool factor_blocks();
  void solve_blocks(double* x) const;
  bool factor_sixes();  // every block has 6: six.hpp
  bool factor_sixes_narrow();
  bool factor_sixes_wide();
  void solve_sixes(double* x) const;
  void solve_sixes_narrow(double* x) const;
  void solve_sixes_wide(double* x) const;
  int size_at(int position) const { return sizes_[sequence_[position]]; }

  int version_ = 0;
  bool uniform6_ = false;
  std::vector<int> sizes_, offsets_{0}, clique_begin_, clique_blocks_;
  std::vector<int> sequence_, position_;  // block at a position of the order, and its inverse
  std::vector<std::uint64_t> adjacency_;  // bit sets of neighbours during the ordering
  std::vector<int> degree_;
  std::vector<char> eliminated_;
  std::vector<int> upper_begin_;              // per position
  std::vector<Upper> upper_;                  // neighbours eliminated later, ascending
  std::vector<std::ptrdiff_t> diagonal_;      // per position
  std::vector<std::ptrdiff_t> destinations_;  // of every update (p; qa, qb), in the order in which factor visits them
  std::vector<int> pivots_;                   // per scalar row, in the order of the diagonal blocks
  std::vector<int> pivot_begin_;
  std::vector<double> values_;
  mutable std::vector<double> scratch_;
};

}  // namespace stiction
