#include <algorithm>
#include <cmath>
#include <utility>

#include "stiction/programs/cone/memory.hpp"

namespace stiction {

namespace {

bool is_lower_limit(const ReducedProblem& p, int j) { return p.lo[j] == 0.0 && p.hi[j] == kInfinity; }

// b_j = -b_k to rounding.
bool opposite(const BlockRows& rows, int j, int k, double size) {
  constexpr double kRounding = 1e-26;  // of the rows' square
  if (rows.entry_end(j) - rows.entry_begin(j) != rows.entry_end(k) - rows.entry_begin(k)) return false;
  double sum = 0.0;
  for (int e = rows.entry_begin(j), f = rows.entry_begin(k); e < rows.entry_end(j); ++e, ++f) {
    if (rows.entry_block(e) != rows.entry_block(f)) return false;
    const auto a = rows.entry(e), b = rows.entry(f);
    for (Eigen::Index i = 0; i < a.cols(); ++i) sum += (a(0, i) + b(0, i)) * (a(0, i) + b(0, i));
  }
  return sum <= kRounding * size;
}

void pair_rows(const ReducedProblem& p, double width, OpposingRows& rows) {
  constexpr double kSameSize = 1e-12;
  const int m = p.bounded_rows();
  rows.partner.assign(m, -1);
  rows.order.clear();
  for (int j = 0; j < m; ++j) {
    if (is_lower_limit(p, j) && p.Bt.group_square(j) > 0.0) rows.order.push_back(j);
  }
  std::ranges::sort(rows.order, [&](int a, int b) { return std::pair(p.Bt.group_square(a), a) < std::pair(p.Bt.group_square(b), b); });
  for (std::size_t a = 0; a < rows.order.size(); ++a) {
    const int j = rows.order[a];
    const double size = p.Bt.group_square(j);
    for (std::size_t b = a + 1; b < rows.order.size() && rows.partner[j] < 0; ++b) {
      const int k = rows.order[b];
      if (p.Bt.group_square(k) > (1.0 + kSameSize) * size) break;
      if (rows.partner[k] >= 0 || std::abs(p.w_free[j] + p.w_free[k]) > width || !opposite(p.Bt, j, k, size)) continue;
      rows.partner[j] = k;
      rows.partner[k] = j;
    }
  }
}

void add_row(const ReducedProblem& p, int j, OpposingRows& rows) {
  const Eigen::Index row = static_cast<Eigen::Index>(rows.kept.size());
  ReducedProblem& out = rows.merged;
  const int other = rows.partner[j];
  out.Bt.append_group(p.Bt, j);
  for (GrowVector* x : {&out.w_free, &out.lo, &out.hi}) x->resize(row + 1);  // keeps its entries
  out.w_free[row] = other < 0 ? p.w_free[j] : 0.5 * (p.w_free[j] - p.w_free[other]);
  out.lo[row] = other < 0 ? p.lo[j] : -kInfinity;
  out.hi[row] = other < 0 ? p.hi[j] : kInfinity;
  rows.kept.push_back(j);
}

}  // namespace

bool merge_opposing_rows(const ReducedProblem& p, double width, OpposingRows& rows) {
  if (p.bounded_rows() < 2) return false;
  pair_rows(p, width, rows);
  if (std::ranges::all_of(rows.partner, [](int k) { return k < 0; })) return false;
  rows.merged = p;
  rows.merged.Bt.truncate(0);
  for (GrowVector* x : {&rows.merged.w_free, &rows.merged.lo, &rows.merged.hi}) x->resize(0);
  rows.kept.clear();
  for (int j = 0; j < p.bounded_rows(); ++j) {
    const int other = rows.partner[j];
    if (other < 0 || j < other) add_row(p, j, rows);
  }
  return true;
}

void split_opposing_rows(const OpposingRows& rows, const GrowVector& merged, GrowVector& beta) {
  beta.setZero(static_cast<Eigen::Index>(rows.partner.size()));
  for (std::size_t r = 0; r < rows.kept.size(); ++r) {
    const int j = rows.kept[r], other = rows.partner[j];
    const double value = merged[static_cast<Eigen::Index>(r)];
    beta[value >= 0.0 || other < 0 ? j : other] = other < 0 ? value : std::abs(value);
  }
}

}  // namespace stiction
