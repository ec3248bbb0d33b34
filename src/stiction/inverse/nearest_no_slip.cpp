#include "stiction/inverse/nearest_no_slip.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

namespace {

using Eigen::Index;

constexpr double kWellApart = 1e-3;   // of R's first pivot: as the solver takes rows into account at first (laws/convex.cpp)
constexpr double kDependent = 1e-10;  // of a joint's motion: below it, it is rounding of what the base takes up

// u_T of the half spaces: R_T, its columns J_q of the driven joints, and the slip at `w.motion`.
void gather(const ProblemView& p, const StandardForm& form, std::span<const int> joints, NearestNoSlipWorkspace& w) {
  const ReducedProblem& reduced = form.problem;
  w.rows.clear();
  for (int k = 0; k < reduced.contacts(); ++k) {
    if (std::isinf(reduced.mu[k])) w.rows.insert(w.rows.end(), {3 * k + 1, 3 * k + 2});
  }
  w.joint.assign(static_cast<std::size_t>(p.velocities()), -1);
  for (std::size_t i = 0; i < joints.size(); ++i) w.joint[static_cast<std::size_t>(joints[i])] = static_cast<int>(i);
  const Index count = static_cast<Index>(w.rows.size());
  GrowMatrix& base = w.base.reset(count, reduced.rank_bound());
  base.setZero();
  w.columns.setZero(count, static_cast<Index>(joints.size()));
  w.slip.setZero(count);
  for (Index t = 0; t < count; ++t) {
    const int place = w.rows[static_cast<std::size_t>(t)] / 3, row = w.rows[static_cast<std::size_t>(t)] % 3;
    const int contact = form.contacts[static_cast<std::size_t>(place)];
    for (int e = reduced.Rt.entry_begin(place); e < reduced.Rt.entry_end(place); ++e) {
      const auto entry = reduced.Rt.entry(e);
      base.row(t).segment(reduced.Rt.col_offset(reduced.Rt.entry_block(e)), entry.cols()) = entry.row(row);
    }
    for (int e = p.J.entry_begin(contact); e < p.J.entry_end(contact); ++e) {
      const auto entry = p.J.entry(e);
      const int first = p.J.col_offset(p.J.entry_block(e));
      for (Index j = 0; j < entry.cols(); ++j) {
        const int joint = w.joint[static_cast<std::size_t>(first + j)];
        if (joint >= 0) w.columns(t, joint) = entry(row, j);
        w.slip[t] += entry(row, j) * w.motion[first + j];
      }
    }
  }
}

}  // namespace

void nearest_no_slip(const ProblemView& p, const StandardForm& form, std::span<const int> joints,
                     const Eigen::Ref<const Eigen::VectorXd>& v_desired, NearestNoSlipWorkspace& w, GrowVector& nearest) {
  w.motion = p.v;
  for (std::size_t i = 0; i < joints.size(); ++i) w.motion[joints[i]] = v_desired[static_cast<Index>(i)];
  gather(p, form, joints, w);
  w.base.factor(kWellApart);
  w.base.apply_transposed(w.slip);
  const Index left = w.base.rows() - w.base.rank();
  double size = 0.0, largest = 0.0;
  for (Index j = 0; j < w.columns.cols(); ++j) {
    size = std::max(size, w.columns.col(j).norm());
    w.base.apply_transposed(w.columns.col(j));
  }
  GrowMatrix& transposed = w.range.reset(left, w.columns.cols());
  transposed = w.columns.bottomRows(left).transpose();
  for (Index t = 0; t < left; ++t) largest = std::max(largest, transposed.col(t).norm());
  w.range.factor(largest > 0.0 ? std::min(1.0, kDependent * size / largest) : 1.0);
  w.range.solve(w.slip.tail(left), w.change);
  nearest = v_desired - w.change;
}

}  // namespace stiction
