#include "stiction/problem/reduced.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "stiction/base/errors.hpp"
#include "stiction/problem/inertia_block.hpp"

namespace stiction {

namespace {

using Index = Eigen::Index;
using Vector6 = Eigen::Matrix<double, 6, 1>;

void classify_rows(const ProblemView& p, bool keep_bilateral, Reduction& red) {
  red.bilateral.clear();
  red.bounded.clear();
  for (int j = 0; j < p.bounded_rows(); ++j) (is_bilateral(p, j) && !keep_bilateral ? red.bilateral : red.bounded).push_back(j);
  red.is_prescribed.assign(static_cast<std::size_t>(p.velocities()), 0);
  for (int j : p.prescribed) red.is_prescribed[static_cast<std::size_t>(j)] = 1;
}

int find_root(std::vector<int>& root, int k) {
  const auto at = [&](int i) -> int& { return root[static_cast<std::size_t>(i)]; };
  while (at(k) != k) k = at(k) = at(at(k));
  return k;
}

// Root of each block of M once blocks that share a bilateral row are joined (union-find, the smallest index is the root).
std::vector<int>& join_coupled_blocks(const ProblemView& p, Reduction& red) {
  std::vector<int>& root = red.root;
  root.resize(static_cast<std::size_t>(p.M.blocks()));
  std::iota(root.begin(), root.end(), 0);
  for (int row : red.bilateral) {
    for (int e = p.J_b.entry_begin(row) + 1; e < p.J_b.entry_end(row); ++e) {
      const int a = find_root(root, p.J_b.entry_block(e - 1)), b = find_root(root, p.J_b.entry_block(e));
      root[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }
  }
  for (int k = 0; k < p.M.blocks(); ++k) root[static_cast<std::size_t>(k)] = find_root(root, k);
  return root;
}

void add_block(Reduction& red) {
  if (red.spare.empty()) {
    red.blocks.emplace_back();
  } else {
    red.blocks.push_back(std::move(red.spare.back()));
    red.spare.pop_back();
  }
}

// Free coordinates of block m of M, the last first, as the next ones of reduced block `to`.
void append_coordinates(const ProblemView& p, int m, int to, Reduction& red) {
  std::vector<int>& coordinates = red.blocks[static_cast<std::size_t>(to)].coordinates;
  for (int j = p.M.offset(m) + p.M.block_size(m); j-- > p.M.offset(m);) {
    const std::size_t s = static_cast<std::size_t>(j);
    if (red.is_prescribed[s] != 0) continue;
    red.block_of[s] = to;
    red.index_in_block[s] = static_cast<int>(coordinates.size());
    coordinates.push_back(j);
  }
}

bool has_free_coordinates(const ProblemView& p, int m, const Reduction& red) {
  const auto first = red.is_prescribed.begin() + p.M.offset(m);
  return std::find(first, first + p.M.block_size(m), 0) != first + p.M.block_size(m);
}

// One reduced block per set of coupled blocks of M with any free coordinate, in the order in which the first of these comes. The root of a
// set that has its block holds that block's complement.
void collect_coordinates(const ProblemView& p, Reduction& red) {
  std::vector<int>& root = join_coupled_blocks(p, red);
  const std::size_t nv = static_cast<std::size_t>(p.velocities());
  red.block_of.assign(nv, -1);
  red.index_in_block.assign(nv, -1);
  std::size_t used = 0;
  for (int m = 0; m < p.M.blocks(); ++m) {
    if (!has_free_coordinates(p, m, red)) continue;
    int& place = root[static_cast<std::size_t>(root[static_cast<std::size_t>(m)])];
    if (place >= 0) {
      if (red.blocks.size() <= used) add_block(red);
      red.blocks[used].coordinates.clear();
      place = ~static_cast<int>(used++);
    }
    append_coordinates(p, m, ~place, red);
  }
  while (red.blocks.size() > used) {
    red.spare.push_back(std::move(red.blocks.back()));
    red.blocks.pop_back();
  }
}

// Dense M over the coordinates of a reduced block, which come one block of M after the other.
void gather_inertia(const ProblemView& p, const Reduction::Block& block, GrowMatrix& out) {
  const std::vector<int>& coordinates = block.coordinates;
  out.resize(static_cast<Index>(coordinates.size()), static_cast<Index>(coordinates.size()));
  for (std::size_t begin = 0, end = 0; begin < coordinates.size(); begin = end) {
    const int m = inertia_block(p.M, coordinates[begin]), first = p.M.offset(m), past = first + p.M.block_size(m);
    while (end < coordinates.size() && coordinates[end] < past && coordinates[end] >= first) ++end;
    if (begin == 0 && end < coordinates.size()) out.setZero();
    const auto M = p.M.block(m);
    for (std::size_t j = begin; j < end; ++j) {
      const double* from = M.data() + (coordinates[j] - first) * M.rows();
      double* to = out.data() + static_cast<Index>(j) * out.rows();
      for (std::size_t i = begin; i < end; ++i) to[i] = from[coordinates[i] - first];
    }
  }
}

// The reduced block of an entry's columns, all of which belong to one block of M; -1 when they are prescribed.
int reduced_block(const Reduction& red, const BlockRows& rows, int e) {
  const int first = rows.col_offset(rows.entry_block(e)), width = rows.block_size(rows.entry_block(e));
  for (int j = first; j < first + width; ++j) {
    if (const int k = red.block_of[static_cast<std::size_t>(j)]; k >= 0) return k;
  }
  return -1;
}

// Each bilateral row goes to the block that it couples.
void distribute_bilateral(const ProblemView& p, Reduction& red) {
  for (Reduction::Block& block : red.blocks) block.bilateral.clear();
  for (const int row : red.bilateral) {
    int k = -1;
    for (int e = p.J_b.entry_begin(row); e < p.J_b.entry_end(row) && k < 0; ++e) k = reduced_block(red, p.J_b, e);
    if (k >= 0) red.blocks[static_cast<std::size_t>(k)].bilateral.push_back(row);
  }
}

// Bilateral rows over the free coordinates of a block, as columns, and the velocities they ask of them.
void gather_bilateral(const ProblemView& p, const Reduction& red, const Reduction::Block& block, GrowMatrix& columns, GrowVector& target) {
  columns.setZero(static_cast<Index>(block.coordinates.size()), static_cast<Index>(block.bilateral.size()));
  target.resize(columns.cols());
  for (Index r = 0; r < columns.cols(); ++r) {
    const int row = block.bilateral[static_cast<std::size_t>(r)];
    target[r] = p.b[row];
    for (int e = p.J_b.entry_begin(row); e < p.J_b.entry_end(row); ++e) {
      const int first = p.J_b.col_offset(p.J_b.entry_block(e));
      const auto entry = p.J_b.entry(e);
      for (Index j = 0; j < entry.cols(); ++j) {
        const std::size_t s = static_cast<std::size_t>(first + j);
        if (red.is_prescribed[s] != 0) {
          target[r] -= entry(0, j) * red.v_free[first + j];
        } else {
          columns(red.index_in_block[s], r) = entry(0, j);
        }
      }
    }
  }
}

// Null space Z of a block's bilateral rows, and the particular velocity that satisfies them (least squares when they clash).
void eliminate_bilateral(const ProblemView& p, Reduction& red, Reduction::Block& block) {
  constexpr double kDependent = 1e-10;
  block.unit = block.bilateral.empty();
  const Index c = static_cast<Index>(block.coordinates.size());
  block.size = static_cast<int>(c);
  if (block.unit) return;
  LeastSquares& rows = red.bilateral_rows;
  gather_bilateral(p, red, block, rows.reset(static_cast<Index>(block.bilateral.size()), c), red.scratch);
  rows.factor(kDependent);
  const Index rank = rows.rank();
  block.Z.setZero(c, c - rank);
  for (Index j = 0; j < c - rank; ++j) {
    block.Z(rank + j, j) = 1.0;
    rows.rows().apply(block.Z.col(j));
  }
  block.size = static_cast<int>(c - rank);
  rows.solve(red.scratch, red.scratch2);
  for (Index i = 0; i < c; ++i) red.v_free[block.coordinates[static_cast<std::size_t>(i)]] = red.scratch2[i];
}

void factor_block(const ProblemView& p, Reduction& red, Reduction::Block& block) {
  GrowMatrix& to = block.cholesky.reset(block.size);
  if (block.unit) {
    gather_inertia(p, block, to);
  } else {
    // Column by column: a product of matrices would allocate.
    GrowMatrix& M = red.scratch_matrix;
    gather_inertia(p, block, M);
    red.scratch.resize(M.rows());
    for (Index j = 0; j < block.size; ++j) {
      red.scratch.noalias() = M * block.Z.col(j);
      to.col(j).noalias() = block.Z.transpose() * red.scratch;
    }
  }
  block.cholesky.factor();
  if (block.size != 6) return;
  block.inverse.setIdentity();
  for (int j = 0; j < 6; ++j) block.cholesky.solve_lower(block.inverse.col(j).data());
}

// y = L⁻¹ Zᵀ momentum[coordinates].
void whiten(Reduction& red, const GrowVector& momentum, GrowVector& y) {
  for (const Reduction::Block& block : red.blocks) {
    double* part = y.data() + block.offset;
    if (block.unit) {
      for (std::size_t i = 0; i < block.coordinates.size(); ++i) part[i] = momentum.data()[block.coordinates[i]];
    } else {
      red.scratch.resize(static_cast<Index>(block.coordinates.size()));
      for (std::size_t i = 0; i < block.coordinates.size(); ++i) red.scratch[static_cast<Index>(i)] = momentum[block.coordinates[i]];
      y.segment(block.offset, block.size).noalias() = block.Z.transpose() * red.scratch;
    }
    block.cholesky.solve_lower(part);
  }
}

// v[coordinates] += Z L⁻ᵀ y.
void add_velocity(Reduction& red, const Eigen::Ref<const Eigen::VectorXd>& y, GrowVector& v) {
  for (const Reduction::Block& block : red.blocks) {
    red.scratch.resize(block.size);
    std::copy_n(y.data() + block.offset, block.size, red.scratch.data());
    block.cholesky.solve_upper(red.scratch.data());
    if (!block.unit) {
      red.scratch2.resize(block.Z.rows());
      red.scratch2.noalias() = block.Z * red.scratch;
    }
    const double* change = (block.unit ? red.scratch : red.scratch2).data();
    for (std::size_t i = 0; i < block.coordinates.size(); ++i) v.data()[block.coordinates[i]] += change[i];
  }
}

// Rows x over `cols` coordinates from `first` on, among them all of a block with unit Z: y <- x L⁻ᵀ, which may take the place of x where
// these are all. Six are multiplied by L⁻ᵀ without the chain of dependent operations of a substitution.
void whiten_rows(const Reduction::Block& block, const double* x, int first, Index cols, Index count, GrowVector& scratch, double* y) {
  constexpr Index kAhead = 8;
  const int* c = block.coordinates.data();
  x -= first;
  if (block.size == 6) {
    const auto& inverse = block.inverse;
    for (Index i = 0; i < count; ++i, x += cols, y += 6) {
      __builtin_prefetch(x + kAhead * cols);
      Eigen::Map<Vector6>{y} = x[c[0]] * inverse.col(0) + x[c[1]] * inverse.col(1) + x[c[2]] * inverse.col(2) + x[c[3]] * inverse.col(3) +
                               x[c[4]] * inverse.col(4) + x[c[5]] * inverse.col(5);
    }
    return;
  }
  scratch.resize(block.size);
  for (Index i = 0; i < count; ++i, x += cols, y += block.size) {
    for (Index j = 0; j < block.size; ++j) scratch.data()[j] = x[c[j]];
    block.cholesky.solve_lower(scratch.data());
    std::copy_n(scratch.data(), block.size, y);
  }
}

// With nothing eliminated every entry keeps its place.
void whiten_in_place(Reduction& red, BlockRows& rows) {
  for (int e = 0; e < rows.entry_begin(rows.groups()); ++e) {
    const int k = rows.entry_block(e);
    const auto entry = rows.entry(e);
    whiten_rows(red.blocks[static_cast<std::size_t>(k)], entry.data(), rows.col_offset(k), entry.cols(), entry.rows(), red.scratch,
                rows.entry(e).data());
  }
}

// One robot, its free coordinates selected: the rows are gathered in one pass.
void reduce_single_block(Reduction& red, const BlockRows& from, BlockRows& to) {
  const Reduction::Block& block = red.blocks[0];
  const ConstRowMap rows = from.single_block();
  RowMap out = to.reset_single_block(3, block.size, from.groups());
  whiten_rows(block, rows.data(), 0, rows.cols(), rows.rows(), red.scratch, out.data());
}

// Least reduced block above `last` that group g touches; the number of blocks when there is none.
int next_block(const Reduction& red, const BlockRows& from, int g, int last) {
  int next = static_cast<int>(red.blocks.size());
  for (int e = from.entry_begin(g); e < from.entry_end(g); ++e) {
    if (const int k = reduced_block(red, from, e); k > last) next = std::min(next, k);
  }
  return next;
}

// Group g of `from` (columns of M) becomes a group of `to` (reduced columns): rows Z, then L⁻¹ from the right. A single block is stored
// by every group.
void reduce_group(const Reduction& red, const BlockRows& from, int g, BlockRows& to) {
  to.add_group();
  const int blocks = static_cast<int>(red.blocks.size());
  for (int k = blocks == 1 ? 0 : next_block(red, from, g, -1); k < blocks; k = next_block(red, from, g, k)) {
    const Reduction::Block& block = red.blocks[static_cast<std::size_t>(k)];
    RowMap out = to.add_entry(k);
    for (int e = from.entry_begin(g); e < from.entry_end(g); ++e) {
      const auto entry = from.entry(e);
      const int first = from.col_offset(from.entry_block(e));
      for (Index j = 0; j < entry.cols(); ++j) {
        const std::size_t s = static_cast<std::size_t>(first + j);
        if (red.block_of[s] != k) continue;
        const int place = red.index_in_block[s];
        if (block.unit) {
          out.col(place) += entry.col(j);
        } else {
          out.noalias() += entry.col(j) * block.Z.row(place);
        }
      }
    }
    for (Index i = 0; i < out.rows(); ++i) block.cholesky.solve_lower(out.data() + i * out.cols());
  }
}

void reduce_rows(Reduction& red, const BlockRows& from, BlockRows& to) {
  if (!red.eliminates) {
    to = from;
    return whiten_in_place(red, to);
  }
  if (from.groups() > 0 && from.is_single_block() && red.blocks.size() == 1 && red.blocks[0].unit)
    return reduce_single_block(red, from, to);
  to.reset(from.height(), red.block_sizes);
  for (int i = 0; i < from.groups(); ++i) reduce_group(red, from, i, to);
}

// A bounded row on prescribed coordinates alone has its velocity fixed: its impulse follows from the sign (friction of a driven
// joint), and the row never reaches a solver.
void settle_fixed_rows(const ProblemView& p, Reduction& red) {
  red.fixed.clear();
  red.fixed_impulse.clear();
  std::erase_if(red.bounded, [&](int row) {
    for (int e = p.J_b.entry_begin(row); e < p.J_b.entry_end(row); ++e) {
      const int first = p.J_b.col_offset(p.J_b.entry_block(e));
      const auto entry = p.J_b.entry(e);
      for (Index j = 0; j < entry.cols(); ++j) {
        if (entry(0, j) != 0.0 && red.is_prescribed[static_cast<std::size_t>(first + j)] == 0) return false;
      }
    }
    Eigen::Matrix<double, 1, 1> w(-p.b[row]);
    p.J_b.add_group_product(row, red.v_free, w);
    double impulse = std::clamp(0.0, p.lo[row], p.hi[row]);
    if (w[0] > 0.0 && p.lo[row] != -kInfinity) impulse = p.lo[row];
    if (w[0] < 0.0 && p.hi[row] != kInfinity) impulse = p.hi[row];
    red.fixed.push_back(row);
    red.fixed_impulse.push_back(impulse);
    return true;
  });
}

double bilateral_residual(const ProblemView& p, const Reduction& red) {
  double worst = 0.0;
  for (int row : red.bilateral) {
    Eigen::Matrix<double, 1, 1> w(-p.b[row]);
    p.J_b.add_group_product(row, red.v_free, w);
    worst = std::max(worst, std::abs(w[0]));
  }
  return worst;
}

}  // namespace

void reduce(const ProblemView& p, Reduction& red, const ReduceOptions& options) {
  const Index nv = p.velocities();
  ReducedProblem& out = red.reduced;
  classify_rows(p, options.keep_bilateral, red);
  collect_coordinates(p, red);
  red.eliminates = !p.prescribed.empty() || !red.bilateral.empty() || std::ssize(red.blocks) != p.M.blocks();
  red.v_free.setZero(nv);
  for (std::size_t i = 0; i < p.prescribed.size(); ++i) red.v_free[p.prescribed[i]] = p.v_prescribed[static_cast<Index>(i)];
  red.block_sizes.clear();
  int offset = 0;
  distribute_bilateral(p, red);
  for (Reduction::Block& block : red.blocks) {
    eliminate_bilateral(p, red, block);
    block.offset = offset;
    offset += block.size;
    red.block_sizes.push_back(block.size);
  }
  for (Reduction::Block& block : red.blocks) factor_block(p, red, block);

  // v_free = particular + Z L⁻ᵀ L⁻¹ Zᵀ (M v + p - M particular): the free directions take up what momentum is left. L⁻¹ Zᵀ M v_free is
  // L⁻¹ Zᵀ (M v + p).
  red.momentum.resize(nv);
  p.M.multiply(p.v, red.momentum);
  red.momentum += p.impulse;
  out.y_free.resize(offset);
  whiten(red, red.momentum, out.y_free);
  red.y_momentum = out.y_free;
  if (red.eliminates) {
    red.momentum_scratch.resize(nv);
    p.M.multiply(red.v_free, red.momentum_scratch);
    red.momentum -= red.momentum_scratch;
    whiten(red, red.momentum, red.y_momentum);
  }
  add_velocity(red, red.y_momentum, red.v_free);

  out.u_free.resize(p.J.rows());
  p.J.multiply(red.v_free, out.u_free);  // before the rows are picked apart below: it brings J into the cache in order
  reduce_rows(red, p.J, out.Rt);
  normal_offset(p, out.offset);
  out.mu = p.mu;
  find_closed(p, out.closed);
  out.dt = p.dt;
  out.velocity =
      std::max(p.v.size() > 0 ? p.v.lpNorm<Eigen::Infinity>() : 0.0, red.v_free.size() > 0 ? red.v_free.lpNorm<Eigen::Infinity>() : 0.0);
  out.gap = p.gap;
  out.edge_angle.resize(0);
  out.laws = p.laws;
  out.material = p.material;
  out.ids = p.ids;
  out.u_before.resize(options.velocity_before ? p.J.rows() : 0);
  if (options.velocity_before) p.J.multiply(p.v, out.u_before);
  out.restitution = p.restitution;

  settle_fixed_rows(p, red);
  const Index m = static_cast<Index>(red.bounded.size());
  out.Bt.reset(1, red.block_sizes);
  out.w_free.resize(m);
  out.lo.resize(m);
  out.hi.resize(m);
  const bool named = std::ssize(p.row_ids) == p.bounded_rows();
  out.row_ids.resize(named ? red.bounded.size() : 0);
  for (Index j = 0; j < m; ++j) {
    const int row = red.bounded[static_cast<std::size_t>(j)];
    reduce_group(red, p.J_b, row, out.Bt);
    Eigen::Matrix<double, 1, 1> w(-p.b[row]);
    p.J_b.add_group_product(row, red.v_free, w);
    out.w_free[j] = w[0];
    out.lo[j] = p.lo[row];
    out.hi[j] = p.hi[row];
    if (named) out.row_ids[static_cast<std::size_t>(j)] = p.row_ids[static_cast<std::size_t>(row)];
  }
  red.bilateral_residual = bilateral_residual(p, red);
}

void recover_velocity(Reduction& red, const Eigen::Ref<const Eigen::VectorXd>& lambda, const Eigen::Ref<const Eigen::VectorXd>& beta,
                      GrowVector& v_plus) {
  red.y_momentum.setZero(red.reduced.rank_bound());
  red.reduced.Rt.add_transposed(lambda, red.y_momentum);
  red.reduced.Bt.add_transposed(beta, red.y_momentum);
  v_plus = red.v_free;
  add_velocity(red, red.y_momentum, v_plus);
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

// Least-norm impulses of a coupled block's bilateral rows that take up what is left of the momentum.
void recover_block_bilateral(const ProblemView& p, Reduction& red, const Reduction::Block& block, GrowVector& lambda_b) {
  const Index c = static_cast<Index>(block.coordinates.size()), k = static_cast<Index>(block.bilateral.size());
  LeastSquares& columns = red.bilateral_rows;
  gather_bilateral(p, red, block, red.scratch_matrix, red.scratch);
  GrowMatrix& rows = columns.reset(c, k);
  for (Index i = 0; i < c; ++i) {
    for (Index j = 0; j < k; ++j) rows(j, i) = red.scratch_matrix(i, j);
  }
  columns.factor(std::numeric_limits<double>::epsilon() * static_cast<double>(std::min(c, k)));
  red.scratch.resize(c);
  for (Index i = 0; i < c; ++i) red.scratch[i] = red.momentum[block.coordinates[static_cast<std::size_t>(i)]];
  columns.solve(red.scratch, red.scratch2);
  for (Index r = 0; r < k; ++r) lambda_b[block.bilateral[static_cast<std::size_t>(r)]] = red.scratch2[r];
}

}  // namespace

void recover_bilateral(const ProblemView& p, Reduction& red, const Eigen::Ref<const Eigen::VectorXd>& v_plus,
                       const Eigen::Ref<const Eigen::VectorXd>& lambda, GrowVector& lambda_b, GrowVector& lambda_prescribed) {
  lambda_prescribed.resize(static_cast<Index>(p.prescribed.size()));
  if (!red.eliminates) return;
  for (int row : red.bilateral) lambda_b[row] = 0.0;
  momentum_left(p, red, v_plus, lambda, lambda_b, red.momentum);
  if (!red.bilateral.empty()) {
    for (const Reduction::Block& block : red.blocks) {
      if (!block.unit) recover_block_bilateral(p, red, block, lambda_b);
    }
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
