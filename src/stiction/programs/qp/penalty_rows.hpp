// The piecewise quadratic term  Σ_i ω_i/2 max(0, δ_i - c_iᵀy)²  of the method of multipliers for rows C y >= d, δ_i = d_i + μ_i/ω_i.
//
//   slack_i = δ_i - c_iᵀy      a row is active when its slack is positive; its force is ω_i slack_i = the new multiplier
//   H = Σ_active ω_i c_i c_iᵀ  r x r, kept up to date as rows switch
#pragma once

#include <vector>

#include "stiction/base/grow.hpp"
#include "stiction/programs/qp/views.hpp"

namespace stiction {

class PenaltyRows {
 public:
  void clear() { C_ = RowsView(); }
  bool empty() const { return C_.empty(); }
  Eigen::Index size() const { return C_.rows(); }
  /// Rows with weights ω_i = stiffness / |c_i|² (0 for a zero row); levels δ start at zero.
  void reset(RowsView C, double stiffness);
  /// Multiplies the stiffness.
  void stiffen(double factor);
  double weight(Eigen::Index i) const { return weight_[i]; }
  double norm(Eigen::Index i) const { return norm_[i]; }
  double slack(Eigen::Index i) const { return slack_[i]; }
  bool active(Eigen::Index i) const { return active_[i] != 0; }
  double force(Eigen::Index i) const { return active(i) ? weight_[i] * slack_[i] : 0.0; }
  GrowVector& level() { return level_; }
  const GrowMatrix& hessian() const { return hessian_; }

  /// Slacks, active rows and H at y.
  void evaluate(const Eigen::Ref<const Eigen::VectorXd>& y);
  /// z -= Σ_active ω_i slack_i c_i; returns Σ of the norms of the terms.
  double subtract_forces(GrowVector& z) const;
  /// Minimiser over [0, limit] of the objective along y + α dy whose quadratic part has this slope and curvature at α = 0.
  double line_search(const Eigen::Ref<const Eigen::VectorXd>& dy, double slope, double curvature, double limit);

 private:
  RowsView C_;
  GrowVector weight_, norm_, level_, slack_, rate_;
  GrowMatrix hessian_;
  std::vector<signed char> active_;
  std::vector<std::pair<double, Eigen::Index>> kinks_;
};

}  // namespace stiction
