#include "stiction/problem/reduced.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/dot.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/problem/coupled_blocks.hpp"

namespace stiction {

namespace {

using Index = Eigen::Index;
using Vector6 = Eigen::Matrix<double, 6, 1>;

void classify_rows(const ProblemView& p, bool keep_bilateral, Reduction& red) {
  red.bilateral.clear();
  red.bounded.clear();
  for (int j = 0; j < p.bounded_rows(); ++j) (is_bilateral(p, j) && !keep_bilateral ? red.bilateral : red.bounded).push_back(j);
  red.is_prescribed.assign(p.velocities(), 0);
  for (int j : p.prescribed) red.is_prescribed[j] = 1;
}

// Rows x over `cols` coordinates from `first` on, among them all of an uncoupled block: y <- x L⁻ᵀ, which may take the place of x where
// these are all. Six are multiplied by L⁻ᵀ without the chain of dependent operations of a substitution.
void whiten_rows(const Reduction::Block& block, const double* x, int first, Index cols, Index count, GrowVector& scratch, double* y) {
  constexpr Index kAhead = 8;
  const int* c = block.coordinates.data();
  x -= first;
  if (block.size() == 6) {
    const auto& inverse = block.inverse;
    for (Index i = 0; i < count; ++i, x += cols, y += 6) {
      __builtin_prefetch(x + kAhead * cols);
      Eigen::Map<Vector6>{y} = x[c[0]] * inverse.col(0) + x[c[1]] * inverse.col(1) + x[c[2]] * inverse.col(2) + x[c[3]] * inverse.col(3) +
                               x[c[4]] * inverse.col(4) + x[c[5]] * inverse.col(5);
    }
    return;
  }
  const Index size = block.size();
  scratch.resize(size);
  for (Index i = 0; i < count; ++i, x += cols, y += size) {
    for (Index j = 0; j < size; ++j) scratch.data()[j] = x[c[j]];
    block.cholesky.solve_lower(scratch.data());
    std::copy_n(scratch.data(), size, y);
  }
}

// With nothing eliminated every entry keeps its place.
void whiten_in_place(Reduction& red, BlockRows& rows) {
  for (int e = 0; e < rows.entry_begin(rows.groups()); ++e) {
    const int k = rows.entry_block(e);
    const auto entry = rows.entry(e);
    whiten_rows(red.blocks[k], entry.data(), rows.col_offset(k), entry.cols(), entry.rows(), red.scratch, rows.entry(e).data());
  }
}

// One robot, its free coordinates selected: the rows are gathered in one pass.
void reduce_single_block(Reduction& red, const BlockRows& from, BlockRows& to) {
  const Reduction::Block& block = red.blocks[0];
  const ConstRowMap rows = from.single_block();
  RowMap out = to.reset_single_block(3, block.size(), from.groups());
  whiten_rows(block, rows.data(), 0, rows.cols(), rows.rows(), red.scratch, out.data());
}

// Least block of reduced columns above `last` that group g touches; the number of these when there is none.
int next_columns(const Reduction& red, const BlockRows& from, int g, int last) {
  int next = static_cast<int>(red.block_sizes.size());
  for (int e = from.entry_begin(g); e < from.entry_end(g); ++e) {
    const int k = reduced_block(red, from, e);
    if (k < 0) continue;
    if (const int c = red.blocks[k].columns; c > last) next = std::min(next, c);
  }
  return next;
}

// A row in the span of the bilateral rows moves nothing: what the projection leaves of it is rounding, whose inverse would be velocities of
// 1e14 m/s.
void project(NullSpace& null_space, double* row, Index size, Eigen::Ref<Eigen::RowVectorXd> out) {
  const double before = Eigen::Map<const Eigen::VectorXd>(row, size).norm();
  null_space.project(row, out.data());
  if (out.norm() <= kDependent * before) out.setZero();
}

// Group g of `from` (columns of M) becomes a group of `to` (reduced columns): L⁻ᵀ from the right, then Z where rows couple blocks. A single
// block of columns is stored by every group.
void reduce_group(Reduction& red, const BlockRows& from, int g, BlockRows& to) {
  to.add_group();
  const int columns = static_cast<int>(red.block_sizes.size()), blocks = static_cast<int>(red.blocks.size());
  for (int c = columns == 1 ? 0 : next_columns(red, from, g, -1); c < columns; c = next_columns(red, from, g, c)) {
    RowMap out = to.add_entry(c);
    const int coupled = red.coupled_of[c];
    Reduction::Coupled* set = coupled < 0 ? nullptr : &red.coupled[coupled];
    const Index stride = set != nullptr ? set->coordinates : out.cols();
    if (set != nullptr) red.scratch.setZero(from.height() * stride);
    double* to_rows = set != nullptr ? red.scratch.data() : out.data();
    for (int k = next_block(red, from, g, -1); k < blocks; k = next_block(red, from, g, k)) {
      const Reduction::Block& block = red.blocks[k];
      if (block.columns == c) whiten_group(red, from, g, k, to_rows + (set != nullptr ? block.offset : 0), stride);
    }
    for (Index i = 0; set != nullptr && i < out.rows(); ++i) project(set->null_space, to_rows + i * stride, stride, out.row(i));
  }
}

void reduce_rows(Reduction& red, const BlockRows& from, BlockRows& to) {
  if (!red.eliminates) {
    to = from;
    return whiten_in_place(red, to);
  }
  if (from.groups() > 0 && from.is_single_block() && red.block_sizes.size() == 1 && red.coupled_sets == 0)
    return reduce_single_block(red, from, to);
  to.reset(from.height(), red.block_sizes);
  for (int i = 0; i < from.groups(); ++i) reduce_group(red, from, i, to);
}

// Rows of group g that prescribed coordinates settle but for rounding, as of a contact at the centre of a free joint, are zero in group k
// of `to`: what an impulse along the rest of them would move is nothing of theirs.
void drop_rounding(const Reduction& red, const BlockRows& from, int g, BlockRows& to, int k) {
  constexpr double kRounding = 1e-13;  // of the group's largest entry: each is a sum of a few products
  double whole = 0.0;
  for (int e = from.entry_begin(g); e < from.entry_end(g); ++e) whole = std::max(whole, from.entry(e).cwiseAbs().maxCoeff());
  for (int i = 0; i < from.height(); ++i) {
    double free = 0.0;
    for (int e = from.entry_begin(g); e < from.entry_end(g); ++e) {
      const std::size_t first = static_cast<std::size_t>(from.col_offset(from.entry_block(e)));
      const auto row = from.entry(e).row(i);
      for (Index j = 0; j < row.size(); ++j) {
        if (red.is_prescribed[first + static_cast<std::size_t>(j)] == 0) free = std::max(free, std::abs(row[j]));
      }
    }
    if (free > kRounding * whole) continue;
    for (int e = to.entry_begin(k); e < to.entry_end(k); ++e) to.entry(e).row(i).setZero();
  }
}

// One column per compliant row: R λ is the velocity of a coordinate that nothing else moves. Gives their number.
int add_compliant_columns(const ProblemView& p, Reduction& red) {
  int columns = 0;
  for (const int row : red.bounded) {
    if (compliance(p, row) == 0.0) continue;
    red.block_sizes.push_back(1);
    ++columns;
  }
  return columns;
}

constexpr double kVelocityRounding = 1e-12;  // of the largest velocity
constexpr double kLeastVelocity = 1e-290;    // m/s: the parts of it that solvers aim at are normal numbers

// u_free of contact rows that nothing moves is what coordinates that are known make of it: rounding of that would be an approach that no
// impulse can stop.
void drop_velocity_rounding(Reduction& red) {
  ReducedProblem& out = red.reduced;
  for (int i = 0; i < out.contacts(); ++i) {
    for (int k = 0; k < 3; ++k) {
      double& u = out.u_free[3 * i + k];
      if (u == 0.0 || std::abs(u) > kVelocityRounding * out.velocity) continue;
      if (out.Rt.is_zero(i, k)) u = 0.0;
    }
  }
}

// Impulse of a bounded row whose velocity w is fixed by prescribed coordinates and bilateral rows: it follows from the sign (friction of a
// driven joint), and is none where w is rounding.
double fixed_impulse(const ProblemView& p, int row, double w, double velocity) {
  const double R = compliance(p, row);
  const double impulse = std::clamp(R > 0.0 ? -w / R : 0.0, p.lo[row], p.hi[row]);
  if (R > 0.0 || std::abs(w) <= kVelocityRounding * velocity) return impulse;
  const double bound = w > 0.0 ? p.lo[row] : p.hi[row];
  return std::isfinite(bound) ? bound : impulse;
}

// The bounded rows in reduced columns. Those whose velocity is fixed never reach a solver.
void reduce_bounded(const ProblemView& p, Reduction& red) {
  ReducedProblem& out = red.reduced;
  const bool named = std::ssize(p.row_ids) == p.bounded_rows();
  int compliant = static_cast<int>(red.coupled_of.size());
  red.fixed.clear();
  red.fixed_impulse.clear();
  out.Bt.reset(1, red.block_sizes);
  for (GrowVector* v : {&out.w_free, &out.lo, &out.hi}) v->resize(std::ssize(red.bounded));
  out.row_ids.clear();
  int kept = 0;
  for (const int row : red.bounded) {
    Eigen::Matrix<double, 1, 1> w(-p.b[row]);
    p.J_b.add_group_product(row, red.v_free, w);
    reduce_group(red, p.J_b, row, out.Bt);
    if (!p.prescribed.empty()) drop_rounding(red, p.J_b, row, out.Bt, kept);
    if (out.Bt.is_zero(kept)) {
      out.Bt.truncate(kept);
      red.fixed.push_back(row);
      red.fixed_impulse.push_back(fixed_impulse(p, row, w[0], out.velocity));
      continue;
    }
    if (const double R = compliance(p, row); R > 0.0) out.Bt.add_entry(compliant++)(0, 0) = std::sqrt(R);
    if (const double pull = std::clamp(0.0, p.lo[row], p.hi[row]); pull != 0.0)
      out.velocity = std::max(out.velocity, std::abs(pull) * out.Bt.group_square(kept));
    out.w_free[kept] = w[0];
    out.lo[kept] = p.lo[row];
    out.hi[kept] = p.hi[row];
    if (named) out.row_ids.push_back(p.row_ids[row]);
    red.bounded[kept++] = row;
  }
  red.bounded.resize(kept);
  for (GrowVector* v : {&out.w_free, &out.lo, &out.hi}) v->resize(kept);  // keeps their entries
}

// The rows kept, over the whitened coordinates of every block by itself.
void keep_rows_before(const ProblemView& p, Reduction& red) {
  ReducedProblem& out = red.reduced;
  red.sizes_before.clear();
  for (const Reduction::Block& block : red.blocks) red.sizes_before.push_back(block.size());
  const int blocks = static_cast<int>(red.blocks.size());
  int compliant = blocks;
  red.sizes_before.insert(red.sizes_before.end(), red.block_sizes.begin() + std::ssize(red.coupled_of), red.block_sizes.end());
  const auto add = [&](const BlockRows& from, int g, BlockRows& to) {
    to.add_group();
    for (int k = next_block(red, from, g, -1); k < blocks; k = next_block(red, from, g, k)) {
      RowMap entry = to.add_entry(k);
      whiten_group(red, from, g, k, entry.data(), entry.cols());
    }
  };
  out.Rt_before.reset(3, red.sizes_before);
  out.Bt_before.reset(1, red.sizes_before);
  for (int i = 0; i < p.contacts(); ++i) add(p.J, i, out.Rt_before);
  for (const int row : red.bounded) {
    add(p.J_b, row, out.Bt_before);
    if (const double R = compliance(p, row); R > 0.0) out.Bt_before.add_entry(compliant++)(0, 0) = std::sqrt(R);
  }
}

// v_free = particular + L⁻ᵀ Z Zᵀ L⁻¹ (M v + p - M particular): the free directions take up what momentum is left. Zᵀ L⁻¹ M v_free is
// Zᵀ L⁻¹ (M v + p).
void find_free_motion(const ProblemView& p, int columns, Reduction& red) {
  ReducedProblem& out = red.reduced;
  red.momentum.resize(p.velocities());
  p.M.multiply(p.v, red.momentum);
  red.momentum += p.impulse;
  out.y_free.setZero(columns);
  whiten(red, red.momentum, out.y_free);
  red.y_momentum = out.y_free;
  if (red.eliminates) {
    red.momentum_scratch.resize(p.velocities());
    p.M.multiply(red.v_free, red.momentum_scratch);
    red.momentum -= red.momentum_scratch;
    whiten(red, red.momentum, red.y_momentum);
  }
  add_velocity(red, red.y_momentum, red.v_free);
  out.u_free.resize(p.J.rows());
  p.J.multiply(red.v_free, out.u_free);
  out.velocity = std::max({kLeastVelocity, largest_entry(p.v), largest_entry(red.v_free)});
}

void place_prescribed(const ProblemView& p, Reduction& red) {
  red.v_free.setZero(p.velocities());
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) red.v_free[p.prescribed[i]] = p.v_prescribed[static_cast<Index>(i)];
}

}  // namespace

bool has_one_block(const ReducedProblem& p) {
  const auto is_whole = [](const BlockRows& rows) { return rows.groups() == 0 || rows.is_single_block(); };
  return p.Rt.blocks() == 1 && is_whole(p.Rt) && is_whole(p.Bt);
}

void dense_delassus(const ReducedProblem& p, GrowMatrix& out) {
  const Index contacts = p.Rt.rows(), size = contacts + p.Bt.rows(), r = p.Rt.cols();
  const double *R = p.Rt.single_block().data(), *B = p.Bt.single_block().data();
  const auto row = [&](Index i) { return i < contacts ? R + i * r : B + (i - contacts) * r; };
  out.resize(size, size);
  for (Index j = 0; j < size; ++j) {
    for (Index i = 0; i <= j; ++i) out(i, j) = out(j, i) = dot(row(i), row(j), r);
  }
}

void reduce(const ProblemView& p, Reduction& red, const ReduceOptions& options) {
  ReducedProblem& out = red.reduced;
  classify_rows(p, options.keep_bilateral, red);
  place_prescribed(p, red);
  const int columns = couple_blocks(p, red) + add_compliant_columns(p, red);
  red.eliminates = !p.prescribed.empty() || !red.bilateral.empty() || std::ssize(red.blocks) != p.M.blocks() ||
                   red.block_sizes.size() != red.coupled_of.size();
  find_free_motion(p, columns, red);  // before the rows are picked apart: J times v_free brings J into the cache in order
  reduce_rows(red, p.J, out.Rt);
  for (int i = 0; i < p.contacts() && !p.prescribed.empty(); ++i) drop_rounding(red, p.J, i, out.Rt, i);
  if (red.eliminates) drop_velocity_rounding(red);
  normal_offset(p, out.offset);
  out.mu = p.mu;
  find_closed(p, out.closed);
  out.dt = p.dt;
  out.gap = p.gap;
  out.edge_angle.resize(0);
  out.laws = p.laws;
  out.material = p.material;
  out.ids = p.ids;
  out.u_before.resize(options.velocity_before ? p.J.rows() : 0);
  if (options.velocity_before) p.J.multiply(p.v, out.u_before);
  out.restitution = p.restitution;

  reduce_bounded(p, red);
  out.Rt_before.reset(3, {});
  out.Bt_before.reset(1, {});
  if (options.rows_before && red.coupled_sets > 0) keep_rows_before(p, red);
}

bool change_prescribed(const ProblemView& p, Reduction& red) {
  if (p.bounded_rows() > 0) return false;
  place_prescribed(p, red);
  find_free_motion(p, static_cast<int>(red.reduced.rank_bound()), red);
  drop_velocity_rounding(red);
  return true;
}

void recover_velocity(Reduction& red, const Eigen::Ref<const Eigen::VectorXd>& lambda, const Eigen::Ref<const Eigen::VectorXd>& beta,
                      GrowVector& v_plus) {
  red.y_momentum.setZero(red.reduced.rank_bound());
  red.reduced.Rt.add_transposed(lambda, red.y_momentum);
  red.reduced.Bt.add_transposed(beta, red.y_momentum);
  recover_velocity(red, red.y_momentum, v_plus);
}

void recover_velocity(Reduction& red, const Eigen::Ref<const Eigen::VectorXd>& y, GrowVector& v_plus) {
  v_plus = red.v_free;
  add_velocity(red, y, v_plus);
}

namespace {

// left = M (v⁺ - v) - p - Jᵀλ - J_bᵀλ_b.
void momentum_left(const ProblemView& p, Reduction& red, const Eigen::Ref<const Eigen::VectorXd>& v_plus,
                   const Eigen::Ref<const Eigen::VectorXd>& lambda, const Eigen::Ref<const Eigen::VectorXd>& lambda_b, GrowVector& left) {
  red.momentum_scratch = v_plus - p.v;
  left.resize(p.velocities());
  p.M.multiply(red.momentum_scratch, left);
  red.momentum_scratch = p.impulse;
  p.J.add_transposed(lambda, red.momentum_scratch);
  p.J_b.add_transposed(lambda_b, red.momentum_scratch);
  left -= red.momentum_scratch;
}

// Least-norm impulses of the bilateral rows that take up what is left of the momentum.
void recover_coupled(Reduction& red, GrowVector& lambda_b) {
  red.y_momentum.resize(red.reduced.rank_bound());
  whiten_blocks(red, red.momentum, red.y_momentum);
  for (int c = 0; c < red.coupled_sets; ++c) {
    Reduction::Coupled& set = red.coupled[c];
    set.null_space.multipliers(set.x.data(), set.target);
    for (Index r = 0; r < set.target.size(); ++r) lambda_b[set.bilateral[r]] = set.target[r];
  }
}

}  // namespace

void recover_bilateral(const ProblemView& p, Reduction& red, const Eigen::Ref<const Eigen::VectorXd>& v_plus,
                       const Eigen::Ref<const Eigen::VectorXd>& lambda, GrowVector& lambda_b, GrowVector& lambda_prescribed) {
  lambda_prescribed.resize(static_cast<Index>(p.prescribed.size()));
  if (!red.eliminates) return;
  for (int row : red.bilateral) lambda_b[row] = 0.0;
  momentum_left(p, red, v_plus, lambda, lambda_b, red.momentum);
  if (!red.bilateral.empty()) {
    recover_coupled(red, lambda_b);
    momentum_left(p, red, v_plus, lambda, lambda_b, red.momentum);
  }
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) lambda_prescribed[static_cast<Index>(i)] = red.momentum[p.prescribed[i]];
}

void expand_bounded(const ProblemView& p, const Reduction& red, const Eigen::Ref<const Eigen::VectorXd>& beta, GrowVector& lambda_b) {
  lambda_b.setZero(p.bounded_rows());
  for (std::size_t j = 0; j < red.bounded.size(); ++j) lambda_b[red.bounded[j]] = beta[static_cast<Index>(j)];
  for (std::size_t j = 0; j < red.fixed.size(); ++j) lambda_b[red.fixed[j]] = red.fixed_impulse[j];
}

}  // namespace stiction
