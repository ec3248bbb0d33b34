#include "stiction/problem/cone_lp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/LU>

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kPivot = 1e-10;  // smaller entries of a column do not limit a step
constexpr double kTie = 1e-12;    // of the ratios, in units of the largest impulse
constexpr double kExact = 1e-6;   // of b: what the point may miss of it
constexpr int kRefactorAfter = 40;

}  // namespace

ConeLp::ConeLp(MatrixXd A, std::vector<ContactCone> cones, const std::vector<WeightedRay>& start)
    : A_(std::move(A)), cones_(std::move(cones)) {
  start_from(start);
}

// Phase one over the rays of the starting point alone: finitely many, and their weights prove that it ends at zero.
void ConeLp::start_from(const std::vector<WeightedRay>& start) {
  const Index k = A_.rows();
  b_.setZero(k);
  for (const WeightedRay& w : start) b_ += w.weight * (columns_of(w.contact) * w.ray);
  basis_.assign(k, Column{});
  const VectorXd sign = b_.unaryExpr([](double v) { return v < 0.0 ? -1.0 : 1.0; });
  A_ = sign.asDiagonal() * A_;
  b_ = b_.cwiseAbs();
  inverse_.setIdentity(k, k);
  x_ = b_;
  const double largest = A_.size() == 0 ? 0.0 : A_.cwiseAbs().maxCoeff();
  for (int round = 0; round < 20 * static_cast<int>(start.size() + 1); ++round) {
    // Prices of max -Σ artificials: those in the basis cost -1.
    dual_.setZero(k);
    for (Index i = 0; i < k; ++i) {
      if (basis_[i].contact < 0) dual_ -= inverse_.row(i).transpose();
    }
    double best = 1e-11 * largest;
    const WeightedRay* entering = nullptr;
    for (const WeightedRay& w : start) {
      const double gain = -dual_.dot(columns_of(w.contact) * w.ray) / std::max(1.0, w.ray.norm());
      if (gain > best) {
        best = gain;
        entering = &w;
      }
    }
    if (entering == nullptr) break;
    enter({entering->contact, entering->ray});
  }
  // What rounding left on artificials is not part of b.
  for (Index i = 0; i < k; ++i) {
    if (basis_[i].contact < 0) x_[i] = 0.0;
  }
  pivots_ = 0;
}

VectorXd ConeLp::point() const {
  VectorXd lambda = VectorXd::Zero(A_.cols());
  for (std::size_t i = 0; i < basis_.size(); ++i) {
    if (basis_[i].contact >= 0) lambda.segment<3>(3 * basis_[i].contact) += x_[static_cast<Index>(i)] * basis_[i].ray;
  }
  return lambda;
}

void ConeLp::price(const VectorXd& cost, Candidate& best) {
  dual_.setZero(A_.rows());
  for (std::size_t i = 0; i < basis_.size(); ++i) {
    if (basis_[i].contact < 0) continue;
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

int ConeLp::leaving_row(const VectorXd& alpha) const {
  const Index k = alpha.size();
  if (k == 0) return -1;
  const double smallest = kPivot * std::max(1.0, alpha.cwiseAbs().maxCoeff());
  double step = std::numeric_limits<double>::infinity();
  const auto limits = [&](Index i) {
    // An artificial at zero may move neither way; in phase one it only falls.
    const bool artificial = basis_[i].contact < 0;
    return artificial && x_[i] <= 0.0 ? std::abs(alpha[i]) > smallest : alpha[i] > smallest;
  };
  for (Index i = 0; i < k; ++i) {
    if (limits(i)) step = std::min(step, std::max(x_[i], 0.0) / std::abs(alpha[i]));
  }
  int row = -1;
  for (Index i = 0; i < k; ++i) {
    if (!limits(i) || std::max(x_[i], 0.0) / std::abs(alpha[i]) > step + kTie) continue;
    if (row < 0) {
      row = static_cast<int>(i);
    } else if (degenerate_ <= 2 * k) {
      if (std::abs(alpha[i]) > std::abs(alpha[row])) row = static_cast<int>(i);
    } else {
      const VectorXd a = inverse_.row(i).transpose() / alpha[i], b = inverse_.row(row).transpose() / alpha[row];
      if (std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end())) row = static_cast<int>(i);
    }
  }
  return row;
}

bool ConeLp::enter(const Column& column) {
  entering_ = inverse_ * (columns_of(column.contact) * column.ray);
  const int row = leaving_row(entering_);
  if (row < 0) {
    ray_.setZero(A_.cols());
    ray_.segment<3>(3 * column.contact) = column.ray;
    for (std::size_t i = 0; i < basis_.size(); ++i) {
      if (basis_[i].contact >= 0) ray_.segment<3>(3 * basis_[i].contact) -= entering_[static_cast<Index>(i)] * basis_[i].ray;
    }
    return false;
  }
  const double step = std::max(x_[row], 0.0) / entering_[row];
  degenerate_ = step > kTie ? 0 : degenerate_ + 1;
  x_ -= step * entering_;
  x_[row] = step;
  for (Index i = 0; i < x_.size(); ++i) {
    if (x_[i] < 0.0) x_[i] = 0.0;  // rounding: the ratio test kept it above
  }
  const VectorXd pivot_row = inverse_.row(row) / entering_[row];
  inverse_.noalias() -= entering_ * pivot_row.transpose();
  inverse_.row(row) = pivot_row.transpose();
  basis_[row] = column;
  ++pivots_;
  if (++since_refactor_ > kRefactorAfter) refactor();
  return true;
}

// The inverse and the point anew from the basis, against the rounding of many pivots.
void ConeLp::refactor() {
  since_refactor_ = 0;
  const Index k = A_.rows();
  MatrixXd basis = MatrixXd::Zero(k, k);
  for (Index i = 0; i < k; ++i) {
    const Column& column = basis_[i];
    if (column.contact >= 0) {
      basis.col(i) = columns_of(column.contact) * column.ray;
    } else {
      basis(i, i) = 1.0;  // an artificial never changes its row
    }
  }
  const Eigen::PartialPivLU<MatrixXd> lu(basis);
  const MatrixXd inverse = lu.inverse();
  if (!inverse.allFinite()) return;
  inverse_ = inverse;
  const VectorXd x = inverse_ * b_;
  for (Index i = 0; i < k; ++i) x_[i] = basis_[i].contact >= 0 ? std::max(x[i], 0.0) : x_[i];
}

bool ConeLp::is_exact() const { return b_.size() == 0 || (A_ * point() - b_).cwiseAbs().maxCoeff() <= kExact * b_.cwiseAbs().maxCoeff(); }

ConeLp::Outcome ConeLp::maximise(const VectorXd& cost, double gap, int max_pivots) {
  degenerate_ = 0;
  Candidate best;
  for (int count = 0; count < max_pivots; ++count) {
    price(cost, best);
    double sum = 0.0;
    for (std::size_t i = 0; i < basis_.size(); ++i) sum += basis_[i].contact >= 0 ? x_[static_cast<Index>(i)] : 0.0;
    if (best.reduced_cost * std::max(sum, 1.0) <= gap) return Outcome::optimal;
    if (!enter(best.column)) return Outcome::unbounded;
  }
  return Outcome::pivot_limit;
}

}  // namespace stiction
