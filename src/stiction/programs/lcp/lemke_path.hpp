// One path of Lemke's method on the equilibrated problem  w = M' z + d z0 + q',  M' = D M D,  q' = D q / |D q|_inf.
//
// Revised form: of the basis only the small part is kept that is not a unit matrix. With R the rows whose w is nonbasic and
// C the basic z's, z0 among them, |R| = |C| = m,
//
//   S = [M' d]_{R,C},  P = S⁻¹ (m x m),  x_C = -P q_R,  w_i = q_i + [M' d]_{i,C} x_C  for i not in R.
//
// A pivot appends, replaces or deletes a row and a column of S; P follows by a rank-one update. The direction is refined
// once where S says that P has lost accuracy: a pivot that is only rounding would send the path in circles. Cost per pivot: 2 m² for P
// and m n for the direction of w, which reads only the columns of M in the basis; m is the number of positive z, for
// contact problems far below n.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "stiction/base/grow.hpp"
#include "stiction/programs/lcp/lcp_solution.hpp"

namespace stiction {

enum class TieRule { lexicographic, largest_pivot };

/// What tells one path from another.
struct LemkePathOptions {
  TieRule rule = TieRule::lexicographic;
  int covering = 0;  ///< which covering vector d; 0 is all ones
  int max_pivots = 0;
  double pivot_tolerance = 1e-10;  ///< smallest pivot, relative to the largest entry of the direction
  double tie_tolerance = 1e-9;     ///< slack of the ratio test
};

class LemkePath {
 public:
  enum class End { basis, ray, pivot_limit };

  /// Memory for problems up to n unknowns.
  void reserve(int n);
  /// M, q and the equilibration must outlive the path; q has a negative entry.
  void reset(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q, const Equilibration& equilibration,
             const LemkePathOptions& options);
  /// Adds the number of pivots made.
  End run(int& pivots);

  /// Indices of the basic z, without z0, in increasing order.
  void support(std::vector<int>& indices) const;
  /// After End::basis: z of the basis in the original units.
  void solution(Eigen::Ref<Eigen::VectorXd> z) const;
  /// After End::basis: z -= M_SS⁻¹ w_S, in the original units.
  void correct(const Eigen::Ref<const Eigen::VectorXd>& w, Eigen::Ref<Eigen::VectorXd> z);
  /// After End::ray: the z-part of the ray in the original units, scaled to |u|_inf = 1.
  void ray(Eigen::Ref<Eigen::VectorXd> u) const;

 private:
  // Variables are numbered w_i -> i, z_i -> n + i, z0 -> 2 n. A column of [M' d] is numbered 0..n.
  int complement(int var) const { return var < n_ ? var + n_ : var - n_; }
  int size() const { return static_cast<int>(rows_.size()); }
  double* inverse_row(int c) { return inverse_.data() + static_cast<std::size_t>(c) * stride_; }
  const double* inverse_row(int c) const { return inverse_.data() + static_cast<std::size_t>(c) * stride_; }
  double entry(int i, int column) const;
  double lexicographic_entry(int var, int r) const;
  double value(int var) const { return var < n_ ? w_[var] : x_[column_place_[var - n_]]; }
  double decrease(int var) const { return var < n_ ? -dw_[var] : -dx_[column_place_[var - n_]]; }

  int first_row() const;
  void find_direction(int entering);
  void accumulate_columns(int entering);
  void refine_point();
  void refine_direction(int entering);
  int leaving_variable();
  void collect_ties();
  void keep_lexicographic_least();
  void keep_least_of_row(int r);
  void exchange(int entering, int leaving);
  void append(int row, int column);
  void replace_column(int place, int column);
  void replace_row(int place, int row);
  void remove(int row_place, int column_place);
  void left_row(int row);

  int n_ = 0;
  std::size_t stride_ = 0;
  const double* M_ = nullptr;
  Eigen::Index outer_ = 0;
  const Equilibration* equilibration_ = nullptr;
  LemkePathOptions options_;
  double size_q_ = 1.0;
  int entering_ = 0;
  std::vector<double> inverse_;                ///< P, row-major with rows in the order of columns_, columns of rows_
  std::vector<int> rows_, columns_;            ///< R and C
  std::vector<int> row_place_, column_place_;  ///< position in rows_ and columns_, -1 when absent
  std::vector<int> ties_;
  GrowVector covering_, q_, x_, w_, dx_, dw_, u_, v_;
};

}  // namespace stiction
