#include "stiction/inverse/nearest_no_slip.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/problem/inertia_block.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Ref = Eigen::Ref<const Eigen::VectorXd>;
using Entries = Eigen::Ref<Eigen::RowVectorXd, 0, Eigen::InnerStride<>>;

constexpr double kWellApart = 1e-3;   // of R's first pivot: as the solver takes rows into account at first (laws/convex.cpp)
constexpr double kTouch = 1e-9;       // of the speeds: what the certificate lets pass
constexpr double kDependent = 1e-10;  // of a joint's motion: if the base takes up all but this, what is left is rounding

// Bilateral rows; tangents, and of the normals and one-sided rows those that v₀ touches or passes.
void list_rows(const ProblemView& p, const StandardForm& form, OneSided one_sided, NearestNoSlipWorkspace& w) {
  w.rows.clear();
  w.bilateral.clear();
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
    if (is_bilateral(p, j)) {
      w.bilateral.push_back(j);
    } else if (kept && !is_two_sided(p, j)) {
      Eigen::Matrix<double, 1, 1> room(-p.b[j]);
      p.J_b.add_group_product(j, w.motion, room);
      if ((std::isinf(p.hi[j]) ? room[0] : -room[0]) <= touch) w.rows.push_back(3 * contacts + j);
    }
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

// One row of E: entries of E_f D and of E_q, added to; its velocity at v₀.
double take_row(const BlockRows& rows, int group, int row, const NearestNoSlipWorkspace& w, Entries others, Entries joints) {
  double velocity = 0.0;
  for (int e = rows.entry_begin(group); e < rows.entry_end(group); ++e) {
    const auto entry = rows.entry(e);
    const int first = rows.col_offset(rows.entry_block(e));
    for (Index c = 0; c < entry.cols(); ++c) {
      const int j = first + static_cast<int>(c), place = w.place[j];
      velocity += entry(row, c) * w.motion[j];
      if (place >= 0) {
        joints[place] = entry(row, c);
      } else {
        others[-1 - place] = entry(row, c) * w.scale[j];
      }
    }
  }
  return velocity;
}

void gather_bilateral(const ProblemView& p, Index driven, NearestNoSlipWorkspace& w) {
  const Index count = static_cast<Index>(w.bilateral.size()), free = p.velocities() - driven;
  w.coupled.setZero(count, free);
  w.coupled_joints.setZero(count, driven);
  w.miss.resize(count);
  for (Index t = 0; t < count; ++t) {
    const int j = w.bilateral[t];
    w.miss[t] = take_row(p.J_b, j, 0, w, w.coupled.row(t), w.coupled_joints.row(t)) - p.b[j];
  }
  w.couplings.reset(count, free) = w.coupled.transpose();
  w.couplings.factor(kDependent);
}

void gather(const ProblemView& p, const StandardForm& form, Index driven, NearestNoSlipWorkspace& w) {
  const Index count = static_cast<Index>(w.rows.size()), free = p.velocities() - driven;
  w.tangents.setZero(count, free);
  w.columns.setZero(count, driven);
  w.slip.resize(count);
  for (Index t = 0; t < count; ++t) {
    const int place = w.rows[t] / 3, row = w.rows[t] % 3, j = w.rows[t] - 3 * form.problem.contacts();
    const auto take = [&](const BlockRows& rows, int group, int of_group) {
      return take_row(rows, group, of_group, w, w.tangents.row(t), w.columns.row(t));
    };
    w.slip[t] = j >= 0 ? take(p.J_b, j, 0) - p.b[j] : take(p.J, form.contacts[place], row) + (row == 0 ? form.problem.offset[place] : 0.0);
  }
}

// What the others take up of a column of B_q, B_f⁺ of it, taken away from it and from the column of E_q.
void take_up(NearestNoSlipWorkspace& w, Eigen::Ref<Eigen::VectorXd> column, Eigen::Ref<Eigen::VectorXd> of_rows) {
  w.couplings.solve(column, w.share);
  column.noalias() -= w.coupled * w.share;
  of_rows.noalias() -= w.tangents * w.share;
}

// E_q and E v₀ - e where the others follow the bilateral rows, and what is left to them, E_f D Z.
void eliminate_bilateral(NearestNoSlipWorkspace& w) {
  const PivotedQr& across = w.couplings.rows();
  const Index left = w.tangents.cols() - across.rank();
  if (across.rank() > 0) {
    for (Index j = 0; j < w.columns.cols(); ++j) take_up(w, w.coupled_joints.col(j), w.columns.col(j));
    take_up(w, w.miss, w.slip);
  }
  GrowMatrix& base = w.base.reset(w.tangents.rows(), left);
  for (Index t = 0; t < w.tangents.rows(); ++t) {
    w.share = w.tangents.row(t).transpose();
    across.apply_transposed(w.share);
    base.row(t) = w.share.tail(left).transpose();
  }
}

// Memory for all rows that may touch at once.
void reserve(const ProblemView& p, const StandardForm& form, Index driven, NearestNoSlipWorkspace& w) {
  const Index most = 3 * form.problem.contacts() + p.bounded_rows(), free = p.velocities() - driven;
  w.base.reset(most, free);
  w.range.reset(most, driven);
  w.rank_rows.reset(std::min(most, driven), driven);
  w.tangents.resize(most, free);
  w.columns.resize(most, driven);
  for (GrowVector* x : {&w.slip, &w.rho}) x->resize(most);
  w.share.resize(std::max(free, most));
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
  const Index driven = static_cast<Index>(joints.size());
  order_coordinates(p, motion, joints, velocities, w);
  list_rows(p, form, one_sided, w);
  reserve(p, form, driven, w);
  gather_bilateral(p, driven, w);
  gather(p, form, driven, w);
  double size = 0.0, largest = 0.0;
  for (Index j = 0; j < driven; ++j) size = std::max({size, w.columns.col(j).norm(), w.coupled_joints.col(j).norm()});
  eliminate_bilateral(w);
  w.base.factor(kWellApart);
  w.base.apply_transposed(w.slip);
  const Index left = w.base.rows() - w.base.rank(), coupled = w.coupled_joints.rows();
  GrowMatrix& range = w.range.reset(left + coupled, driven);
  for (Index j = 0; j < driven; ++j) {
    size = std::max(size, w.columns.col(j).norm());
    w.base.apply_transposed(w.columns.col(j));
    range.col(j).head(left) = w.columns.col(j).tail(left);
    range.col(j).tail(coupled) = w.coupled_joints.col(j);
    largest = std::max(largest, range.col(j).norm());
  }
  w.range.factor(largest > 0.0 ? std::min(1.0, kDependent * size / largest) : 1.0);
  w.share.resize(left + coupled);
  w.share << w.slip.tail(left), w.miss;
  least_change(w.share, w);
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
      const PivotedQr& across = w.couplings.rows();
      held.share.setZero(across.rows());
      for (Index k = i; k < w.base.cols(); ++k) held.share[across.rank() + w.base.column(k)] = w.base.r(i, k);
      across.apply(held.share);
      for (std::size_t k = 0; k < w.other.size(); ++k) held.row[w.other[k]] = held.share[static_cast<Index>(k)] / w.scale[w.other[k]];
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
