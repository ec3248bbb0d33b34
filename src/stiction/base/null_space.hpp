// Orthonormal basis of the null space of rows that touch few blocks of columns each, kept as the reflectors that make it.
//
//   A  m x n, any rank      Aᵀ = Q R by fronts (multifrontal QR)      Z = the columns of Q that meet no row of R: A Z = 0, ZᵀZ = 1
// Blocks come the farthest from the first one first, along rows (reverse Cuthill-McKee on the graph of blocks). The front of a block
// eliminates the rows that touch it: it gathers the coordinates that these rows still touch, takes their QR factors (base/pivoted_qr.hpp),
// and passes on the few combinations of coordinates that the other rows see. Where the graph is a tree, as that of a robot cut at its
// joints, no front sees more than two blocks' coordinates: cost and memory O(blocks) for chains, O(Σ d²) for blocks of d neighbours.
//   dependent row   |what is left of it when its turn comes| <= threshold * largest row; a front sees all that is left of its rows
// Source: Davis, Direct Methods for Sparse Linear Systems (2006), ch. 5; rank as Heath (1982). Least-norm answers with dependent rows take
// a basis of the rows' relations, O(m d²) for d of them. Nothing is allocated when the sizes have been seen.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "stiction/base/blocks.hpp"
#include "stiction/base/pivoted_qr.hpp"

namespace stiction {

class NullSpace {
 public:
  /// Rows (groups of height 1) over blocks of these sizes, none yet, to be filled in before `factor`.
  BlockRows& reset(std::span<const int> sizes);
  void factor(double threshold);

  int cols() const { return rows_.cols(); }
  int rank() const { return rank_; }
  /// Columns of Z.
  int size() const { return cols() - rank_; }
  /// y <- Zᵀ x; x (cols) is overwritten, y has `size` entries.
  void project(double* x, double* y);
  /// x <- Z y.
  void expand(const double* y, double* x);
  /// Least-norm least-squares solution of A x = b; b (m) is overwritten, x has `cols` entries.
  void particular(GrowVector& b, double* x);
  /// Least-norm least-squares solution of Aᵀ λ = g; g (cols) is overwritten, λ (m) resized.
  void multipliers(double* g, GrowVector& lambda);
  /// Of a row: its length, and what was left of that when its turn came, 0 where it is dependent.
  double length(int row) const { return std::sqrt(rows_.group_square(row)); }
  double left(int row) const { return left_[row]; }
  /// Multiplications of `factor`, about.
  double work() const { return work_; }

 private:
  struct Front {
    std::vector<int> pivots, others;  // rows of A: those eliminated here, and what else their coordinates touch
    std::vector<int> fronts, blocks;  // whose coordinates come together here
    std::vector<int> coordinates;     // of x: after the reflections R's, those passed on, those of the null space
    PivotedQr range, rest;            // of the pivots; of the others below the pivots' rows
    GrowMatrix coupling;              // coordinates x others, of which the first range.rank() rows stay
  };
  void order_blocks();
  void plan_fronts();
  void gather(Front& front);
  void eliminate(Front& front, double threshold, double largest);
  void find_relations();
  void remove_relations(GrowVector& x);
  void reflect_all(double* x);
  void unreflect_all(double* x);
  void substitute(const double* g, GrowVector& lambda);

  BlockRows rows_;
  std::vector<Front> fronts_;  // one per block, in order; the first rows_.blocks() are in use
  std::vector<int> touching_begin_, touching_, place_of_block_, queue_, front_of_row_, column_of_row_, dependent_;
  GrowVector gathered_, relation_, left_;
  PivotedQr relations_;  // m x dependent rows
  int rank_ = 0;
  double work_ = 0.0;
};

}  // namespace stiction
