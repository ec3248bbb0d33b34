#include "stiction/programs/mlcp/mlcp.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using Eigen::Index;

void check_bounds(const Mlcp& p, Index i) {
  if (!(p.lo[i] <= p.hi[i]) || p.lo[i] == kInfinity || p.hi[i] == -kInfinity) {
    throw InvalidArgument(fmt::format("lo[{0}], hi[{0}]", i), "lo <= hi, lo < infinity, hi > -infinity",
                          fmt::format("{}, {}", p.lo[i], p.hi[i]));
  }
  const int j = p.normal_of(i);
  if (j < 0) return;
  if (j >= p.size() || p.normal_of(j) >= 0) {
    throw InvalidArgument(fmt::format("normal[{}]", i), fmt::format("-1 or a row in [0, {}) that is no friction row itself", p.size()),
                          fmt::format("{}", j));
  }
  if (!(p.lo[i] <= 0.0 && p.hi[i] >= 0.0 && std::isfinite(p.lo[i]) && std::isfinite(p.hi[i]))) {
    throw InvalidArgument(fmt::format("lo[{0}], hi[{0}]", i), "finite factors lo <= 0 <= hi of the normal force",
                          fmt::format("{}, {}", p.lo[i], p.hi[i]));
  }
}

}  // namespace

void check(const Mlcp& p) {
  require_size("q", p.q.size(), p.size());
  require_size("lo", p.lo.size(), p.size());
  require_size("hi", p.hi.size(), p.size());
  if (!p.normal.empty()) require_size("normal", static_cast<Index>(p.normal.size()), p.size());
  if (!p.x0.empty()) require_size("x0", p.x0.size(), p.size());
  for (Index i = 0; i < p.size(); ++i) {
    check_bounds(p, i);
    const double start = !p.x0.empty() ? p.x0[i] : 0.0;
    if (!std::isfinite(p.q[i]) || !std::isfinite(start) || !std::isfinite(p.R.row(i).squaredNorm())) {
      throw InvalidArgument(fmt::format("R.row({0}), q[{0}], x0[{0}]", i), "finite numbers, squares included", "one that is not");
    }
  }
}

void row_norms(const Mlcp& p, GrowVector& norms) {
  norms.resize(p.size());
  for (Index i = 0; i < p.size(); ++i) norms[i] = p.R.row(i).norm();
}

double mlcp_residual(const Mlcp& p, const GrowVector& norms, const GrowVector& x, GrowVector& y, GrowVector& w) {
  y.setZero(p.R.cols());
  w.resize(p.size());
  double terms = 0.0, size = 0.0, worst = 0.0;
  for (Index i = 0; i < p.size(); ++i) {
    size = std::max(size, std::abs(x[i]));
    if (norms[i] > 0.0) size = std::max(size, std::abs(p.q[i]) / (norms[i] * norms[i]));
    if (x[i] == 0.0) continue;
    y += x[i] * p.R.row(i);
    terms += norms[i] * std::abs(x[i]);
  }
  w.noalias() = p.R.map() * y;
  w += p.q.map();
  for (Index i = 0; i < p.size(); ++i) {
    const double low = p.lower(i, x), high = p.upper(i, x);
    worst = std::max({worst, ratio(low - x[i], size), ratio(x[i] - high, size)});
    if (w[i] == 0.0) continue;
    const double room = w[i] > 0.0 ? x[i] - low : high - x[i];
    const double off = ratio(std::abs(w[i]), norms[i] * terms + std::abs(p.q[i]));
    worst = std::max(worst, room == kInfinity ? off : std::min(off, ratio(room, size)));
  }
  return std::isfinite(terms) && w.allFinite() ? worst : kInfinity;
}

}  // namespace stiction
