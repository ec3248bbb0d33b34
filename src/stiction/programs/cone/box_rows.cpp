#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/programs/cone/interior_cones.hpp"

namespace stiction {

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::max();
// A bilateral row moves by -kBilateral w per scaled unit, a proximal step whose error the next iterations remove.
constexpr double kBilateral = 1e8;

}  // namespace

void BoxRows::bind(const ReducedProblem& problem) {
  rows_.resize(static_cast<std::size_t>(problem.bounded_rows()));
  count_ = 0;
  for (int j = 0; j < problem.bounded_rows(); ++j) {
    Row& x = rows_[static_cast<std::size_t>(j)];
    x.lo = problem.lo[j];
    x.hi = problem.hi[j];
    x.fixed = x.lo == x.hi;
    x.has_lo = !x.fixed && x.lo > -kInfinity;
    x.has_hi = !x.fixed && x.hi < kInfinity;
    count_ += static_cast<int>(x.has_lo) + static_cast<int>(x.has_hi);
  }
}

void BoxRows::start(const GrowVector& row_scale, double t, GrowVector& beta) {
  for (std::size_t j = 0; j < rows_.size(); ++j) {
    Row& x = rows_[j];
    double& b = beta.data()[j];
    x.scale = row_scale.data()[j];
    const double size = t / x.scale;
    const double inside = x.has_lo && x.has_hi ? std::min(size, 0.5 * (x.hi - x.lo)) : size;
    b = x.fixed ? x.lo : std::clamp(0.0, x.has_lo ? x.lo + inside : -kUnbounded, x.has_hi ? x.hi - inside : kUnbounded);
    x.z_lo = x.has_lo ? t * t / (b - x.lo) : 0.0;
    x.z_hi = x.has_hi ? t * t / (x.hi - b) : 0.0;
    x.dz_lo = x.dz_hi = 0.0;
  }
}

void BoxRows::eliminate(const GrowVector&, const GrowVector& beta, GrowVector& D) {
  for (std::size_t j = 0; j < rows_.size(); ++j) {
    const Row& x = rows_[j];
    const double b = beta.data()[j];
    double stiffness = 0.0;
    if (x.has_lo) stiffness += x.z_lo / (b - x.lo);
    if (x.has_hi) stiffness += x.z_hi / (x.hi - b);
    const double softest = x.scale * x.scale / kBilateral;
    D.data()[j] = x.fixed ? 0.0 : 1.0 / std::max(stiffness, softest);
  }
}

void BoxRows::right_hand_side(const Target& target, const GrowVector& w, const GrowVector& beta, GrowVector& d) {
  for (std::size_t j = 0; j < rows_.size(); ++j) {
    Row& x = rows_[j];
    const double b = beta.data()[j];
    double& out = d.data()[j];  // holds the last direction until it is overwritten
    if (x.fixed) {
      out = 0.0;
      continue;
    }
    double force = -w.data()[j], stiffness = 0.0;
    if (x.has_lo) {
      const double p = b - x.lo;
      x.c_lo = (target.m - (target.second_order ? out * x.dz_lo : 0.0)) / p - x.z_lo;
      force += x.z_lo + x.c_lo;
      stiffness += x.z_lo / p;
    }
    if (x.has_hi) {
      const double p = x.hi - b;
      x.c_hi = (target.m + (target.second_order ? out * x.dz_hi : 0.0)) / p - x.z_hi;
      force -= x.z_hi + x.c_hi;
      stiffness += x.z_hi / p;
    }
    out = force / std::max(stiffness, x.scale * x.scale / kBilateral);
  }
}

double BoxRows::recover(const GrowVector& D, const GrowVector& beta, const GrowVector& dw, GrowVector& d) {
  double step = kLongestStep;
  for (std::size_t j = 0; j < rows_.size(); ++j) {
    Row& x = rows_[j];
    double& out = d.data()[j];
    out -= D.data()[j] * dw.data()[j];
    const double b = beta.data()[j];
    if (x.has_lo) {
      x.dz_lo = x.c_lo - x.z_lo / (b - x.lo) * out;
      shorten(b - x.lo, out, step);
      shorten(x.z_lo, x.dz_lo, step);
    }
    if (x.has_hi) {
      x.dz_hi = x.c_hi + x.z_hi / (x.hi - b) * out;
      shorten(x.hi - b, -out, step);
      shorten(x.z_hi, x.dz_hi, step);
    }
  }
  return step;
}

double BoxRows::products(double step, const GrowVector& beta, const GrowVector& dbeta) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < rows_.size(); ++j) {
    const Row& x = rows_[j];
    const double b = beta.data()[j] + step * dbeta.data()[j];
    if (x.has_lo) sum += (b - x.lo) * (x.z_lo + step * x.dz_lo);
    if (x.has_hi) sum += (x.hi - b) * (x.z_hi + step * x.dz_hi);
  }
  return sum;
}

double BoxRows::smallest(double step, const GrowVector& beta, const GrowVector& dbeta) const {
  double least = kInfinity;
  for (std::size_t j = 0; j < rows_.size(); ++j) {
    const Row& x = rows_[j];
    const double b = beta.data()[j] + step * dbeta.data()[j];
    if (x.has_lo) least = std::min(least, (b - x.lo) * (x.z_lo + step * x.dz_lo));
    if (x.has_hi) least = std::min(least, (x.hi - b) * (x.z_hi + step * x.dz_hi));
  }
  return least;
}

void BoxRows::relative(const GrowVector& beta, const GrowVector& dbeta, GrowVector& out) const {
  out.setZero(relative_size());
  for (std::size_t j = 0; j < rows_.size(); ++j) {
    const Row& x = rows_[j];
    double* to = out.data() + 4 * j;
    if (x.has_lo) {
      to[0] = dbeta.data()[j] / (beta.data()[j] - x.lo);
      to[1] = x.dz_lo / x.z_lo;
    }
    if (x.has_hi) {
      to[2] = -dbeta.data()[j] / (x.hi - beta.data()[j]);
      to[3] = x.dz_hi / x.z_hi;
    }
  }
}

void BoxRows::advance(double step) {
  for (Row& x : rows_) {
    x.z_lo += step * x.dz_lo;
    x.z_hi += step * x.dz_hi;
  }
}

}  // namespace stiction
