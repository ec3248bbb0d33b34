// Cholesky factor M = L Lᵀ of a small symmetric positive definite matrix, row by row within the envelope of M: what lies before the first
// entry of a row of M is zero in L as well [George and Liu 1981, ch. 4]. A robot's M with the leaves of its tree first has each chain's
// coordinates in rows of their own and those that carry all chains last, so L has the zeros of M. Cost: Σ_i (entries of row i)²/2 for a
// tree, n³/6 for a full matrix. Memory is reused.
#pragma once

#include <vector>

#include "stiction/base/grow.hpp"

namespace stiction {

class EnvelopeCholesky {
 public:
  /// n x n, to be filled with M: of column i the rows up to i are read.
  GrowMatrix& reset(Eigen::Index n);
  /// Factors what was filled in; entries are not finite where M is not positive definite.
  void factor();
  Eigen::Index size() const { return rows_.cols(); }
  /// x <- L⁻¹ x (n).
  void solve_lower(double* x) const;
  /// x <- L⁻ᵀ x (n).
  void solve_upper(double* x) const;

 private:
  GrowMatrix rows_;         // column i is row i of L
  GrowVector reciprocal_;   // of L's diagonal
  std::vector<int> first_;  // first entry of each row
};

}  // namespace stiction
