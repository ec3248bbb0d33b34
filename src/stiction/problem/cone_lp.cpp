#include "stiction/problem/cone_lp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/LU>
#include <Eigen/QR>

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kPivot = 1e-7;       // smaller entries of a column do not limit a step: rays along impulses are no more exact
constexpr double kFeasible = 1e-8;    // how far below zero a weight may come, in units of the largest impulse
constexpr double kTie = 1e-12;        // a shorter step is degenerate
constexpr double kExact = 1e-6;       // of b, and of the largest weight: what the point may miss of them
constexpr double kPreference = 1e-3;  // of rays without weight for the first basis, which has to be well-conditioned before all
constexpr int kRefactorAfter = 40;

}  // namespace

ConeLp::ConeLp(MatrixXd A, std::vector<ContactCone> cones, const std::vector<WeightedRay>& start)
    : A_(std::move(A)), cones_(std::move(cones)) {
  start_from(start);
}

// The rays of the starting point, and at weight zero those that complete them to the rank of all.
std::vector<WeightedRay> ConeLp::rays_at_hand(const std::vector<WeightedRay>& start) const {
  std::vector<WeightedRay> rays = start;
  for (int i = 0; i < static_cast<int>(cones_.size()); ++i) {
    for (const Vector3d& g : cones_[i].generators) rays.push_back({i, g, 0.0});
    if (!cones_[i].disc) continue;
    for (const double side : {-cones_[i].mu, cones_[i].mu}) {
      rays.push_back({i, {1.0, side, 0.0}, 0.0});
      rays.push_back({i, {1.0, 0.0, side}, 0.0});
    }
  }
  return rays;
}

// The given point is feasible, so there is no phase one: a well-conditioned basis, its rays by preference those with weight, then the
// weights outside it are pushed to zero one by one (the primal push of a crossover, Bixby & Saltzman 1994).
void ConeLp::start_from(const std::vector<WeightedRay>& start) {
  const Index k = A_.rows();
  b_.setZero(k);
  x_.setZero(k);
  basis_.assign(k, Column{});
  if (k == 0) return;
  const std::vector<WeightedRay> rays = rays_at_hand(start);
  double largest = 0.0;
  for (const WeightedRay& w : start) largest = std::max(largest, w.weight);
  MatrixXd columns(k, static_cast<Index>(rays.size()));
  for (Index j = 0; j < columns.cols(); ++j) {
    const WeightedRay& w = rays[j];
    const VectorXd column = columns_of(w.contact) * w.ray;
    columns.col(j) = std::max(kPreference, w.weight > 0.0 ? w.weight / largest : 0.0) / w.ray.norm() * column;
  }
  const Eigen::ColPivHouseholderQR<MatrixXd> qr(columns);
  std::vector<char> is_basic(rays.size(), 0);
  for (Index i = 0; i < k; ++i) {
    const int j = qr.colsPermutation().indices()[i];
    is_basic[j] = 1;
    basis_[i] = {rays[j].contact, rays[j].ray};
  }
  refactor();
  for (Index i = 0; i < k; ++i) {
    x_[i] = rays[qr.colsPermutation().indices()[i]].weight;
    b_ += x_[i] * (columns_of(basis_[i].contact) * basis_[i].ray);
  }
  for (std::size_t j = 0; j < start.size(); ++j) {
    if (!is_basic[j]) push_out({start[j].contact, start[j].ray}, start[j].weight);
  }
  pivots_ = 0;
}

// Adds a weighted column to the point and lowers its weight to zero; where one of the basis gets there first, they change places.
void ConeLp::push_out(const Column& column, double weight) {
  const VectorXd a = columns_of(column.contact) * column.ray;
  b_ += weight * a;
  entering_ = -(inverse_ * a);
  const int row = leaving_row(entering_, weight);
  const double step = row < 0 ? weight : std::max(x_[row], 0.0) / entering_[row];
  x_ -= step * entering_;
  if (row < 0) return;
  entering_ = -entering_;
  exchange(row, column, weight - step);
}

VectorXd ConeLp::point() const {
  VectorXd lambda = VectorXd::Zero(A_.cols());
  for (std::size_t i = 0; i < basis_.size(); ++i) lambda.segment<3>(3 * basis_[i].contact) += x_[static_cast<Index>(i)] * basis_[i].ray;
  return lambda;
}

void ConeLp::price(const VectorXd& cost, Candidate& best) {
  dual_.setZero(A_.rows());
  for (std::size_t i = 0; i < basis_.size(); ++i) {
    const double c = cost.segment<3>(3 * basis_[i].contact).dot(basis_[i].ray);
    if (c != 0.0) dual_ += c * inverse_.row(static_cast<Index>(i)).transpose();
  }
  best.reduced_cost = 0.0;
  reduced_cost_ = 0.0;
  for (int i = 0; i < static_cast<int>(cones_.size()); ++i) {
    const ContactCone& cone = cones_[i];
    if (cone.empty()) continue;
    const Vector3d reduced = cost.segment<3>(3 * i) - columns_of(i).transpose() * dual_;
    if (cone.disc) {
      const double t = std::hypot(reduced[1], reduced[2]), gain = reduced[0] + cone.mu * t;
      reduced_cost_ = std::max(reduced_cost_, gain);
      if (gain <= best.reduced_cost) continue;
      const double scale = t > 0.0 ? cone.mu / t : 0.0;
      best = {{i, {1.0, scale * reduced[1], scale * reduced[2]}}, gain};
    }
    for (const Vector3d& g : cone.generators) {
      if (reduced.dot(g) > best.reduced_cost) best = {{i, g}, reduced.dot(g)};
    }
  }
}

// Harris' ratio test: of the rows that may limit the step once each may fall short by kFeasible, the largest pivot. None where they let
// `wish` pass.
int ConeLp::leaving_row(const VectorXd& alpha, double wish) const {
  const Index k = alpha.size();
  if (k == 0) return -1;
  const double smallest = kPivot * std::max(1.0, alpha.cwiseAbs().maxCoeff());
  double step = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < k; ++i) {
    if (alpha[i] > smallest) step = std::min(step, (std::max(x_[i], 0.0) + kFeasible) / alpha[i]);
  }
  if (wish <= step) return -1;
  int row = -1;
  for (Index i = 0; i < k; ++i) {
    if (alpha[i] <= smallest || std::max(x_[i], 0.0) / alpha[i] > step) continue;
    if (row < 0) {
      row = static_cast<int>(i);
    } else if (degenerate_ <= 2 * k) {
      if (alpha[i] > alpha[row]) row = static_cast<int>(i);
    } else {
      const VectorXd a = inverse_.row(i).transpose() / alpha[i], b = inverse_.row(row).transpose() / alpha[row];
      if (std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end())) row = static_cast<int>(i);
    }
  }
  return row;
}

bool ConeLp::enter(const Column& column) {
  entering_ = inverse_ * (columns_of(column.contact) * column.ray);
  const int row = leaving_row(entering_, std::numeric_limits<double>::infinity());
  if (row < 0) {
    ray_.setZero(A_.cols());
    ray_.segment<3>(3 * column.contact) = column.ray;
    for (std::size_t i = 0; i < basis_.size(); ++i)
      ray_.segment<3>(3 * basis_[i].contact) -= entering_[static_cast<Index>(i)] * basis_[i].ray;
    return false;
  }
  const double step = std::max(x_[row], 0.0) / entering_[row];
  degenerate_ = step > kTie ? 0 : degenerate_ + 1;
  x_ -= step * entering_;
  exchange(row, column, step);
  return true;
}

// `entering_` is the column in the basis.
void ConeLp::exchange(int row, const Column& column, double weight) {
  x_[row] = weight;
  const VectorXd pivot_row = inverse_.row(row) / entering_[row];
  inverse_.noalias() -= entering_ * pivot_row.transpose();
  inverse_.row(row) = pivot_row.transpose();
  basis_[row] = column;
  ++pivots_;
  if (++since_refactor_ > kRefactorAfter) refactor();
}

// The inverse and the point anew from the basis, against the rounding of many pivots.
void ConeLp::refactor() {
  since_refactor_ = 0;
  const Index k = A_.rows();
  MatrixXd basis(k, k);
  for (Index i = 0; i < k; ++i) basis.col(i) = columns_of(basis_[i].contact) * basis_[i].ray;
  const Eigen::PartialPivLU<MatrixXd> lu(basis);
  inverse_ = lu.inverse();
  x_ = lu.solve(b_);  // has b to rounding, as inverse times b has not where the basis is ill-conditioned
}

bool ConeLp::is_exact() const {
  if (b_.size() == 0) return true;
  if (x_.minCoeff() < -kExact * std::max(1.0, x_.maxCoeff())) return false;
  return (A_ * point() - b_).cwiseAbs().maxCoeff() <= kExact * b_.cwiseAbs().maxCoeff();
}

ConeLp::Outcome ConeLp::maximise(const VectorXd& cost, double gap, int max_pivots) {
  degenerate_ = 0;
  Candidate best;
  for (int count = 0; count < max_pivots; ++count) {
    price(cost, best);
    const bool optimal = best.reduced_cost * std::max(x_.sum(), 1.0) <= gap;
    if (!optimal && enter(best.column)) continue;
    if (since_refactor_ == 0 || is_exact()) return optimal ? Outcome::optimal : Outcome::unbounded;
    refactor();
  }
  return Outcome::pivot_limit;
}

}  // namespace stiction
