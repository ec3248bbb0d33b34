#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/programs/cone/smooth_cones.hpp"

namespace stiction {

void BoxRows::bind(const ReducedProblem& problem, const GrowVector& scale, double soft) {
  rows_.resize(problem.bounded_rows());
  soft_ = soft;
  for (int j = 0; j < problem.bounded_rows(); ++j) {
    Row& x = rows_[j];
    x.lo = problem.lo[j];
    x.hi = problem.hi[j];
    x.scale = scale[j];
    x.fixed = x.lo == x.hi;
    x.has_lo = !x.fixed && x.lo > -kInfinity;
    x.has_hi = !x.fixed && x.hi < kInfinity;
  }
}

void BoxRows::start(double t, double* w) const {
  for (const Row& x : rows_) {
    const double inside = x.has_lo && x.has_hi ? std::min(t, 0.5 * x.scale * (x.hi - x.lo)) : t;
    w[0] = w[1] = 0.0;
    if (x.has_lo) w[0] = inside - t * (t / inside);
    if (x.has_hi) w[1] = inside - t * (t / inside);
    w += kUnknowns;
  }
}

void BoxRows::from_impulses(const GrowVector& beta, const GrowVector& v, double* w) const {
  for (std::size_t j = 0; j < rows_.size(); ++j, w += kUnknowns) {
    const Row& x = rows_[j];
    const double b = beta.data()[j], speed = v.data()[j] / x.scale;
    w[0] = w[1] = 0.0;
    if (x.fixed) continue;
    if (!x.has_lo && !x.has_hi) {
      w[0] = x.scale * b;
      continue;
    }
    if (x.has_lo) w[0] = x.scale * (b - x.lo) - (x.has_hi ? std::max(speed, 0.0) : speed);
    if (x.has_hi) w[1] = x.scale * (x.hi - b) - (x.has_lo ? std::max(-speed, 0.0) : -speed);
  }
}

void BoxRows::place(const double* w, double nu, GrowVector& beta) {
  for (std::size_t j = 0; j < rows_.size(); ++j, w += kUnknowns) {
    Row& x = rows_[j];
    double& b = beta.data()[j];
    if (x.has_lo) x.at_lo.place(w[0], nu);
    if (x.has_hi) x.at_hi.place(w[1], nu);
    b = x.fixed ? x.lo : x.has_lo ? x.lo + x.at_lo.x / x.scale : x.has_hi ? x.hi - x.at_hi.x / x.scale : w[0] / x.scale;
  }
}

void BoxRows::residual(const GrowVector& v, double* r) const {
  for (std::size_t j = 0; j < rows_.size(); ++j, r += kUnknowns) {
    const Row& x = rows_[j];
    r[0] = r[1] = 0.0;
    if (x.fixed) continue;
    r[0] = -v.data()[j] / x.scale;
    if (x.has_lo) r[0] += x.at_lo.z;
    if (x.has_hi) r[0] -= x.at_hi.z;
    if (x.has_lo && x.has_hi) r[1] = x.at_lo.x + x.at_hi.x - x.scale * (x.hi - x.lo);
  }
}

// δβ = d - D δv; of two bounds, δx_hi = -δx_lo - r_1.
void BoxRows::eliminate(GrowVector& D) {
  for (std::size_t j = 0; j < rows_.size(); ++j) {
    Row& x = rows_[j];
    x.lo_then = x.at_lo, x.hi_then = x.at_hi;
    double stiffness = soft_;
    if (x.has_lo) stiffness += x.lo_then.z / x.lo_then.x;
    if (x.has_hi) stiffness += x.hi_then.z / x.hi_then.x;
    D.data()[j] = x.fixed ? 0.0 : 1.0 / (stiffness * x.scale * x.scale);
  }
}

void BoxRows::right_hand_side(double p, const double* r, GrowVector& d) {
  for (std::size_t j = 0; j < rows_.size(); ++j, r += kUnknowns) {
    Row& x = rows_[j];
    double force = r[0], stiffness = soft_;
    if (x.has_lo) {
      force += p / x.lo_then.x;
      stiffness += x.lo_then.z / x.lo_then.x;
    }
    if (x.has_hi) {
      force -= (p + x.hi_then.z * r[1]) / x.hi_then.x;
      stiffness += x.hi_then.z / x.hi_then.x;
    }
    d.data()[j] = x.fixed ? 0.0 : force / (stiffness * x.scale);
  }
}

void BoxRows::recover(double p, const double* r, const GrowVector& D, const GrowVector& dv, GrowVector& d, double* dw) const {
  for (std::size_t j = 0; j < rows_.size(); ++j, r += kUnknowns, dw += kUnknowns) {
    const Row& x = rows_[j];
    double& out = d.data()[j];
    out -= D.data()[j] * dv.data()[j];
    const double step = x.scale * out;
    dw[0] = dw[1] = 0.0;
    if (x.has_lo) dw[0] = step - (p - x.lo_then.z * step) / x.lo_then.x;
    if (x.has_hi) {
      const double back = -step - (x.has_lo ? r[1] : 0.0);
      dw[1] = back - (p - x.hi_then.z * back) / x.hi_then.x;
    }
    if (!x.fixed && !x.has_lo && !x.has_hi) dw[0] = step;
  }
}

}  // namespace stiction
