// The active-set engine shared by the low-rank QPs:
//
//   minimise  φ(x) = 1/2 |y - t|² + cᵀx + Σ_i ω_i/2 max(0, δ_i - c_iᵀy)²,   y = Aᵀx,   lo <= x <= hi        (last term: penalty_rows.hpp)
//
//   inside set F   variables being solved for; their generators a_j (rows of A) are linearly independent, A_Fᵀ = Q R (row_basis.hpp)
//   others         at lo, at hi, or `idle`: between the bounds, left where they are because nothing needs them or a_j depends on F
//   z = ∂φ/∂y  r,  g = A z + c  n
// settle   minimise over F: Newton direction R Δx_F = Δu, (I + QᵀHQ) Δu = -(Qᵀz + R⁻ᵀc_F), exact line search, and the first variable
//          to reach a bound leaves F; F only shrinks, so this ends
// enter    the variable with the steepest wrong-signed g_j joins F. When a_j depends on F the objective falls along
//          p = (e_j, -R⁻¹Qᵀa_j), Aᵀp = 0, at the rate cᵀp until a variable reaches a bound; none does: unbounded, p is the proof
//          (by duality some row misses |cᵀp|/|p|₁ at every y: as little as options.contradiction is none)
// Every settled point is the minimum of φ over its F and bounds, and φ falls strictly from one to the next, so no F comes back
// [Lawson & Hanson 1974, theorem 23.3]. Rounding can break this: a variable that entered without measurable descent is barred until
// there is some.
#pragma once

#include <vector>

#include "stiction/base/grow.hpp"
#include "stiction/base/row_basis.hpp"
#include "stiction/problem/solution.hpp"
#include "stiction/programs/qp/penalty_rows.hpp"
#include "stiction/programs/qp/views.hpp"

namespace stiction {

struct QpOptions {
  double tolerance = 1e-13;    ///< scaled, see the stopping test of each program
  int max_pivots = 0;          ///< 0: 20 (n + r) + 200
  double contradiction = 0.0;  ///< of c: what rows that contradict each other may miss without being a proof that they do
};

class ActiveSet {
 public:
  /// Reads the data (the views must outlive the engine's use), clips x0 to the bounds and takes its inside entries into F. Errors name
  /// the arguments as KineticQp does. The target is set to zero and the rows are cleared.
  void start(RowsView A, VectorView c, VectorView lo, VectorView hi, VectorView x0);
  /// t, r entries; may be changed between calls of `minimise`.
  GrowVector& target() { return target_; }
  PenaltyRows& rows() { return rows_; }
  const PenaltyRows& rows() const { return rows_; }

  /// Minimises from the current point. solved; infeasible when unbounded (`direction` is the proof), iteration_limit, numerical_error.
  Status minimise(const QpOptions& options);

  const GrowVector& x() const { return x_; }
  const GrowVector& y() const { return y_; }
  /// g, n.
  const GrowVector& gradient() const { return gradient_; }
  /// |a_j|, n.
  const GrowVector& norms() const { return norm_; }
  const GrowVector& direction() const { return direction_; }
  const RowBasis& factor() const { return basis_; }
  /// |t| + Σ |a_j||x_j| + norms of the penalty forces: what rounding in z is relative to.
  double scale() const { return scale_; }
  int pivots() const { return pivots_; }
  Eigen::Index size() const { return A_.rows(); }
  Eigen::Index inside_size() const { return static_cast<Eigen::Index>(inside_.size()); }
  Eigen::Index inside(Eigen::Index k) const { return inside_[k]; }

 private:
  enum class Place : signed char { lower, upper, idle, inside, fixed };

  Place& place(Eigen::Index j) { return place_[j]; }
  Place place_of(Eigen::Index j) const;
  double cost(Eigen::Index j) const { return c_.empty() ? 0.0 : c_[j]; }
  void read_bounds(VectorView lo, VectorView hi, VectorView x0);
  void read_generators();
  void take_inside_entries();
  bool try_inside(Eigen::Index j);
  void leave(Eigen::Index k, Place where);
  void refresh_outside();
  void refresh();
  Status settle(double entering);
  void drop_resting();
  void newton_direction();
  double step_length(double limit);
  double limit_along(const double* dx, double limit, Eigen::Index& blocking) const;
  void stop_at_bound(Eigen::Index k, double toward);
  void compute_gradient();
  Eigen::Index price(double tolerance) const;
  static double steepness(Place where, double g);
  Status enter(Eigen::Index j, double tolerance);
  double dependence(Eigen::Index j, double sign, double& noise);
  Status slide(Eigen::Index j, double sign, double slope);
  void bar_unless_descended(Eigen::Index j);
  void allow_all();
  void record_direction(Eigen::Index j, double sign);

  RowsView A_;
  VectorView c_;
  GrowVector lo_, hi_, x_, y_, z_, gradient_, target_, norm_, inverse_norm_, direction_;
  GrowVector outside_;  // Σ over variables not in F of x_j a_j
  GrowVector du_, dx_, dy_, work_;
  GrowVector projected_;  // the row that was last tried, in the coordinates of basis_
  GrowMatrix hessian_;
  double contradiction_ = 0.0;
  double scale_ = 0.0, outside_scale_ = 0.0, target_scale_ = 0.0;
  double descent_ = 0.0;  // of the last settle, |Δu| over the scale
  std::vector<Eigen::Index> inside_;
  std::vector<Place> place_;
  std::vector<signed char> barred_;
  bool any_barred_ = false, outside_stale_ = false;
  RowBasis basis_;  // of the generators of F
  PenaltyRows rows_;
  int pivots_ = 0;
};

}  // namespace stiction
