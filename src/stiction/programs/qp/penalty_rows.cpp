#include "stiction/programs/qp/penalty_rows.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace stiction {

void PenaltyRows::reset(RowsView C, double stiffness) {
  C_ = C;
  const Eigen::Index m = C.rows();
  weight_.resize(m);
  norm_.resize(m);
  rate_.resize(m);
  slack_.setZero(m);
  level_.setZero(m);
  hessian_.setZero(C.cols(), C.cols());
  active_.assign(m, 0);
  kinks_.reserve(m);
  for (Eigen::Index i = 0; i < m; ++i) {
    norm_[i] = C.row(i).norm();
    weight_[i] = norm_[i] > 0.0 ? stiffness / (norm_[i] * norm_[i]) : 0.0;
  }
}

void PenaltyRows::stiffen(double factor) {
  weight_ *= factor;
  hessian_ *= factor;
}

void PenaltyRows::evaluate(const Eigen::Ref<const Eigen::VectorXd>& y) {
  for (Eigen::Index i = 0; i < size(); ++i) {
    slack_[i] = level_[i] - C_.row(i).dot(y);
    const signed char now = slack_[i] > 0.0 && weight_[i] > 0.0 ? 1 : 0;
    signed char& was = active_[i];
    if (now == was) continue;
    const double signed_weight = now != 0 ? weight_[i] : -weight_[i];
    for (Eigen::Index b = 0; b < C_.cols(); ++b) hessian_.col(b) += (signed_weight * C_.row(i)[b]) * C_.row(i);
    was = now;
  }
}

double PenaltyRows::subtract_forces(GrowVector& z) const {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < size(); ++i) {
    if (!active(i)) continue;
    z -= force(i) * C_.row(i);
    sum += force(i) * norm_[i];
  }
  return sum;
}

double PenaltyRows::line_search(const Eigen::Ref<const Eigen::VectorXd>& dy, double slope, double curvature, double limit) {
  kinks_.clear();
  for (Eigen::Index i = 0; i < size(); ++i) {
    rate_[i] = C_.row(i).dot(dy);
    if (slack_[i] > 0.0 || (slack_[i] == 0.0 && rate_[i] < 0.0)) {
      slope -= weight_[i] * slack_[i] * rate_[i];
      curvature += weight_[i] * rate_[i] * rate_[i];
    }
    const double kink = slack_[i] / rate_[i];  // no kink when the rate is zero: inf or nan fails the comparison
    if (weight_[i] > 0.0 && kink > 0.0 && kink < limit) kinks_.emplace_back(kink, i);
  }
  std::make_heap(kinks_.begin(), kinks_.end(), std::greater<>());
  double at = 0.0;  // slope and curvature are those at `at`, valid up to the next kink
  while (true) {
    const double next = kinks_.empty() ? limit : kinks_.front().first;
    const double minimum = at - slope / curvature;
    if (!(minimum > next)) return std::max(minimum, at);
    if (kinks_.empty()) return limit;
    slope += curvature * (next - at);
    const Eigen::Index i = kinks_.front().second;
    const double change = weight_[i] * rate_[i] * rate_[i];
    curvature += rate_[i] > 0.0 ? -change : change;  // a positive rate takes the row out of the active ones
    at = next;
    std::pop_heap(kinks_.begin(), kinks_.end(), std::greater<>());
    kinks_.pop_back();
  }
}

}  // namespace stiction
