// The r-space of a reduced problem: products with R_t and B_t, and the linear system that every iteration of the cone solvers solves,
//
//   (I + Σ_i R_iᵀ D_i R_i + Σ_j d_j b_j b_jᵀ) δy = rhs       D_i 3 x 3 (any), d_j >= 0
//
// Where the problem brings its W as sparse blocks and that costs less, y stands for λ itself:
//
//   (I + D W) δy = rhs,   u = W y                            the determinant is the same; the rows of the system are those of D⁻¹ + W,
//                                                            scaled, so diagonal pivots serve, and W may be singular
// So it does for (λ, β), with W = (R_t, B_t)(R_t, B_t)ᵀ dense, for a single block of columns that are more than the rows: a legged robot
// on its feet, some of its joints at their limits.
// One block of columns is dense; several are factored by BlockLu over the graph of bodies. 6-column blocks run on fixed-size code.
// Cost of `factor`: 36 r flops per contact and block of 6; memory and the symbolic factorisation are kept between calls.
#pragma once

#include <vector>

#include "stiction/problem/reduced.hpp"
#include "stiction/programs/cone/block_lu.hpp"

namespace stiction {

class RSpace {
 public:
  /// Binds the problem, which must outlive the use of this object; `by_matrix`: on its W where that is cheaper.
  void bind(const ReducedProblem& problem, bool by_matrix = false);
  /// Then the unknowns y are λ, or (λ, β), and |y|² is not an energy.
  bool on_matrix() const { return unknowns_ != Unknowns::bodies; }
  int size() const { return lu_.size(); }

  /// u = R_t y (3n) and w = B_t y (m), or both of W y.
  void velocities(const GrowVector& y, GrowVector& u, GrowVector& w) const;
  /// y = R_tᵀ λ + B_tᵀ β, or (λ, β).
  void gather(const GrowVector& lambda, const GrowVector& beta, GrowVector& y) const;
  /// Builds and factors the matrix from D (9 per contact, row-major) and d (m), unless these are the last ones since `bind`. False when it
  /// is singular or not finite.
  bool factor(const GrowVector& D, const GrowVector& d);
  /// Sign of the determinant of the factored matrix.
  bool positive_determinant() const { return lu_.positive_determinant(); }
  /// rhs <- solution.
  void solve(GrowVector& rhs) const { lu_.solve(rhs); }

 private:
  enum class Unknowns : char { bodies, sparse_matrix, few_contacts };  ///< what y stands for
  bool bind_matrix();
  bool bind_few();
  void add_matrix(const GrowVector& D);
  void add_few(const GrowVector& D, const GrowVector& d);
  void find_used();
  void add_contacts(const GrowVector& D, int first, int last);
  void add_contacts_narrow(const GrowVector& D, int first, int last);
  void add_contacts_wide(const GrowVector& D, int first, int last);
  void add_rows(const GrowVector& d);

  const ReducedProblem* problem_ = nullptr;
  BlockLu lu_;
  Unknowns unknowns_ = Unknowns::bodies;
  GrowMatrix few_;  // W of few_contacts
  bool factored_ = false;
  GrowVector last_D_, last_d_;  // what lu_ was factored from
  int largest_ = 0;             // block of columns
  struct Used {
    int begin, past;
  };
  std::vector<Used> used_;  // per entry of R_t: its columns but for zeros at both ends
  int places_version_ = 0;
  std::vector<int> clique_begin_, clique_blocks_;
  std::vector<std::ptrdiff_t> places_;  // of the blocks that each group adds to, entries a x b row by row, contacts then rows
};

}  // namespace stiction
