#include "stiction/inverse/nearest_no_slip.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

namespace {

using Eigen::Index;
using Ref = Eigen::Ref<const Eigen::VectorXd>;

constexpr double kWellApart = 1e-3;   // of R's first pivot: as the solver takes rows into account at first (laws/convex.cpp)
constexpr double kDependent = 1e-10;  // of a joint's motion: if the base takes up all but this, what is left is rounding

void list_rows(const StandardForm& form, const Solution& refused, std::vector<int>& rows) {
  rows.clear();
  for (int k = 0; k < form.problem.contacts(); ++k) {
    if (std::isinf(form.problem.mu[k])) rows.insert(rows.end(), {3 * k + 1, 3 * k + 2});
  }
  for (int k = 0; k < form.problem.contacts(); ++k) {
    if (refused.impulses[3 * form.contacts[k]] > 0.0) rows.push_back(3 * k);
  }
}

// R, its columns J_q of the driven joints, and what the refused motion leaves of the rows.
void gather(const ProblemView& p, const StandardForm& form, const Solution& refused, std::span<const int> joints,
            NearestNoSlipWorkspace& w) {
  const ReducedProblem& reduced = form.problem;
  w.joint.assign(p.velocities(), -1);
  for (std::size_t i = 0; i < joints.size(); ++i) w.joint[joints[i]] = static_cast<int>(i);
  const Index count = static_cast<Index>(w.rows.size());
  GrowMatrix& base = w.base.reset(count, reduced.rank_bound());
  base.setZero();
  w.columns.setZero(count, static_cast<Index>(joints.size()));
  w.slip.resize(count);
  for (Index t = 0; t < count; ++t) {
    const int place = w.rows[t] / 3, row = w.rows[t] % 3;
    const int contact = form.contacts[place];
    w.slip[t] = refused.u[3 * contact + row] + (row == 0 ? reduced.offset[place] : 0.0);
    for (int e = reduced.Rt.entry_begin(place); e < reduced.Rt.entry_end(place); ++e) {
      const auto entry = reduced.Rt.entry(e);
      base.row(t).segment(reduced.Rt.col_offset(reduced.Rt.entry_block(e)), entry.cols()) = entry.row(row);
    }
    for (int e = p.J.entry_begin(contact); e < p.J.entry_end(contact); ++e) {
      const auto entry = p.J.entry(e);
      const double* velocities = entry.row(row).data();
      const int* joint = w.joint.data() + p.J.col_offset(p.J.entry_block(e));
      for (Index j = 0; j < entry.cols(); ++j) {
        if (joint[j] >= 0) w.columns(t, joint[j]) = velocities[j];
      }
    }
  }
}

// The least change x of the joints with A x = ρ: A P = Q [R; 0], so that R Pᵀ x = Qᵀ ρ in as many rows as the rank.
void least_change(const Ref& rho, NearestNoSlipWorkspace& w) {
  w.rho = rho;
  w.range.apply_transposed(w.rho);
  const Index rank = w.range.rank(), joints = w.range.cols();
  GrowMatrix& transposed = w.rank_rows.reset(rank, joints);
  for (Index i = 0; i < rank; ++i) {
    for (Index j = 0; j < joints; ++j) transposed(w.range.column(j), i) = j >= i ? w.range.r(i, j) : 0.0;
  }
  w.rank_rows.factor(0.0);  // full rank by now
  w.rank_rows.solve(w.rho.head(rank), w.change);
}

}  // namespace

void nearest_no_slip(const ProblemView& p, const StandardForm& form, const Solution& refused, std::span<const int> joints,
                     GrowVector& velocities, NearestNoSlipWorkspace& w) {
  list_rows(form, refused, w.rows);
  gather(p, form, refused, joints, w);
  w.base.factor(kWellApart);
  w.base.apply_transposed(w.slip);
  const Index left = w.base.rows() - w.base.rank(), driven = w.columns.cols();
  double size = 0.0, largest = 0.0;
  GrowMatrix& range = w.range.reset(left, driven);
  for (Index j = 0; j < driven; ++j) {
    size = std::max(size, w.columns.col(j).norm());
    w.base.apply_transposed(w.columns.col(j));
    range.col(j) = w.columns.col(j).tail(left);
    largest = std::max(largest, range.col(j).norm());
  }
  w.range.factor(largest > 0.0 ? std::min(1.0, kDependent * size / largest) : 1.0);
  least_change(w.slip.tail(left), w);
  velocities -= w.change;
}

}  // namespace stiction
