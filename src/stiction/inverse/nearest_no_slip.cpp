#include "stiction/inverse/nearest_no_slip.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/problem/inertia_block.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Ref = Eigen::Ref<const Eigen::VectorXd>;

constexpr double kWellApart = 1e-3;   // of R's first pivot: as the solver takes rows into account at first (laws/convex.cpp)
constexpr double kTouch = 1e-9;       // of the speeds: what the certificate lets pass
constexpr double kDependent = 1e-10;  // of a joint's motion: if the base takes up all but this, what is left is rounding

// Tangents and bilateral rows, and of the others those that v₀ touches or passes.
void list_rows(const ProblemView& p, const StandardForm& form, OneSided one_sided, NearestNoSlipWorkspace& w) {
  w.rows.clear();
  const int contacts = form.problem.contacts();
  for (int k = 0; k < contacts; ++k) {
    if (std::isinf(form.problem.mu[k])) w.rows.insert(w.rows.end(), {3 * k + 1, 3 * k + 2});
  }
  const bool kept = one_sided == OneSided::touching;
  const double touch = kTouch * std::max(largest_entry(w.motion), largest_entry(p.v));
  w.u.resize(p.J.rows());
  p.J.multiply(w.motion, w.u);
  for (int k = 0; k < contacts && kept; ++k) {
    if (w.u[3 * form.contacts[k]] + form.problem.offset[k] <= touch) w.rows.push_back(3 * k);
  }
  for (int j = 0; j < p.bounded_rows(); ++j) {
    bool holds = is_bilateral(p, j);
    if (kept && !holds && !is_two_sided(p, j)) {
      Eigen::Matrix<double, 1, 1> room(-p.b[j]);
      p.J_b.add_group_product(j, w.motion, room);
      holds = (std::isinf(p.hi[j]) ? room[0] : -room[0]) <= touch;
    }
    if (holds) w.rows.push_back(3 * contacts + j);
  }
}

// Places of the coordinates, D of those that are not driven, and v₀.
void order_coordinates(const ProblemView& p, const Ref& motion, std::span<const int> joints, const Ref& v_desired,
                       NearestNoSlipWorkspace& w) {
  w.place.assign(p.velocities(), -1);
  w.joint.assign(joints.begin(), joints.end());
  w.other.clear();
  w.motion = motion;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    w.place[joints[i]] = static_cast<int>(i);
    w.motion[joints[i]] = v_desired[static_cast<Index>(i)];
  }
  w.scale.resize(p.velocities());
  for (int j = 0; j < p.velocities(); ++j) {
    const int block = inertia_block(p.M, j), local = j - p.M.offset(block);
    w.scale[j] = 1.0 / std::sqrt(p.M.block(block)(local, local));
    if (w.place[j] >= 0) continue;
    w.place[j] = -1 - static_cast<int>(w.other.size());
    w.other.push_back(j);
  }
}

// One row of E into row t of E_f D and E_q; its velocity at v₀.
double take_row(const BlockRows& rows, int group, int row, Index t, GrowMatrix& base, NearestNoSlipWorkspace& w) {
  double velocity = 0.0;
  for (int e = rows.entry_begin(group); e < rows.entry_end(group); ++e) {
    const auto entry = rows.entry(e);
    const int first = rows.col_offset(rows.entry_block(e));
    for (Index c = 0; c < entry.cols(); ++c) {
      const int j = first + static_cast<int>(c), place = w.place[j];
      velocity += entry(row, c) * w.motion[j];
      if (place >= 0) {
        w.columns(t, place) = entry(row, c);
      } else {
        base(t, -1 - place) = entry(row, c) * w.scale[j];
      }
    }
  }
  return velocity;
}

void gather(const ProblemView& p, const StandardForm& form, std::size_t joints, NearestNoSlipWorkspace& w) {
  const Index count = static_cast<Index>(w.rows.size()), driven = static_cast<Index>(joints);
  const Index most = 3 * form.problem.contacts() + p.bounded_rows();  // rows that may touch: memory for all of them at once
  w.base.reset(most, p.velocities() - driven);
  w.range.reset(most, driven);
  w.rank_rows.reset(std::min(most, driven), driven);
  for (GrowVector* x : {&w.slip, &w.rho}) x->resize(most);
  w.columns.resize(most, driven);
  GrowMatrix& base = w.base.reset(count, p.velocities() - driven);
  base.setZero();
  w.columns.setZero(count, driven);
  w.slip.resize(count);
  for (Index t = 0; t < count; ++t) {
    const int place = w.rows[t] / 3, row = w.rows[t] % 3, j = w.rows[t] - 3 * form.problem.contacts();
    if (j >= 0) {
      w.slip[t] = take_row(p.J_b, j, 0, t, base, w) - p.b[j];
    } else {
      w.slip[t] = take_row(p.J, form.contacts[place], row, t, base, w) + (row == 0 ? form.problem.offset[place] : 0.0);
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

void nearest_no_slip(const ProblemView& p, const StandardForm& form, OneSided one_sided, const Ref& motion, std::span<const int> joints,
                     GrowVector& velocities, NearestNoSlipWorkspace& w) {
  order_coordinates(p, motion, joints, velocities, w);
  list_rows(p, form, one_sided, w);
  gather(p, form, joints.size(), w);
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

void take_held_rows(const ProblemView& p, const NearestNoSlipWorkspace& w, HeldRows& held) {
  const Index settled = w.base.rank(), asked = w.range.rank();
  held.rows.reset(1, p.M.sizes());
  held.targets.resize(settled + asked);
  for (Index i = 0; i < settled + asked; ++i) {
    held.row.setZero(p.velocities());
    double velocity = 0.0;  // of the row at v₀
    for (int j = 0; j < p.velocities(); ++j) {
      if (w.place[j] >= 0 && i < settled) held.row[j] = w.columns(i, w.place[j]);
    }
    if (i < settled) {
      for (Index k = i; k < w.base.cols(); ++k) held.row[w.other[w.base.column(k)]] = w.base.r(i, k) / w.scale[w.other[w.base.column(k)]];
      velocity = w.slip[i];
    } else {
      for (Index k = i - settled; k < w.range.cols(); ++k) held.row[w.joint[w.range.column(k)]] = w.range.r(i - settled, k);
      velocity = w.rho[i - settled];
    }
    held.targets[i] = held.row.dot(w.motion) - velocity;
    held.rows.add_group();
    for (int k = 0; k < p.M.blocks(); ++k) held.rows.add_entry(k).row(0) = held.row.segment(p.M.offset(k), p.M.block_size(k)).transpose();
  }
}

}  // namespace stiction
