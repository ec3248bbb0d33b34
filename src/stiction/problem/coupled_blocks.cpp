#include "stiction/problem/coupled_blocks.hpp"

#include <algorithm>
#include <cstring>

#include "stiction/problem/inertia_block.hpp"

namespace stiction {

namespace {

using Index = Eigen::Index;

// The first of the blocks of M that each is coupled with by bilateral rows.
std::vector<int>& join_coupled_blocks(const ProblemView& p, Reduction& red) {
  DisjointSets& sets = red.joined;
  sets.reset(p.M.blocks());
  for (int row : red.bilateral) {
    for (int e = p.J_b.entry_begin(row) + 1; e < p.J_b.entry_end(row); ++e) sets.join(p.J_b.entry_block(e - 1), p.J_b.entry_block(e));
  }
  red.root.resize(p.M.blocks());
  for (int k = 0; k < p.M.blocks(); ++k) red.root[k] = sets.find(k);
  return red.root;
}

void add_block(Reduction& red) {
  if (red.spare.empty()) {
    red.blocks.emplace_back();
  } else {
    red.blocks.push_back(std::move(red.spare.back()));
    red.spare.pop_back();
  }
}

// Free coordinates of block m of M, the last first.
void append_coordinates(const ProblemView& p, int m, Reduction& red) {
  const int k = static_cast<int>(red.blocks.size()) - 1;
  std::vector<int>& coordinates = red.blocks.back().coordinates;
  for (int j = p.M.offset(m) + p.M.block_size(m); j-- > p.M.offset(m);) {
    const std::size_t s = static_cast<std::size_t>(j);
    if (red.is_prescribed[s] != 0) continue;
    red.block_of[s] = k;
    red.index_in_block[s] = static_cast<int>(coordinates.size());
    coordinates.push_back(j);
  }
}

bool has_free_coordinates(const ProblemView& p, int m, const Reduction& red) {
  const auto first = red.is_prescribed.begin() + p.M.offset(m);
  return std::find(first, first + p.M.block_size(m), 0) != first + p.M.block_size(m);
}

// Whether the blocks are those of the last problem, as in most steps: they follow from these three.
bool keeps_blocks(const ProblemView& p, Reduction& red) {
  if (std::ranges::equal(red.last_sizes, p.M.sizes()) && red.last_root == red.root && red.last_prescribed == red.is_prescribed) return true;
  red.last_sizes.assign(p.M.sizes().begin(), p.M.sizes().end());
  red.last_root = red.root;
  red.last_prescribed = red.is_prescribed;
  return false;
}

// One block per block of M with any free coordinate. Reduced columns: one block per coupled set of them, in the order in which the first of
// these comes.
void collect_coordinates(const ProblemView& p, Reduction& red) {
  const std::vector<int>& root = join_coupled_blocks(p, red);
  std::ranges::fill(red.coupled_of, -1);
  if (keeps_blocks(p, red)) return;
  const std::size_t nv = static_cast<std::size_t>(p.velocities());
  red.block_of.assign(nv, -1);
  red.index_in_block.assign(nv, -1);
  red.columns_of_root.assign(root.size(), -1);
  red.coupled_of.clear();
  while (!red.blocks.empty()) {  // from the back, so that each block keeps its own memory
    red.spare.push_back(std::move(red.blocks.back()));
    red.blocks.pop_back();
  }
  for (int m = 0; m < p.M.blocks(); ++m) {
    if (!has_free_coordinates(p, m, red)) continue;
    add_block(red);
    Reduction::Block& block = red.blocks.back();
    block.coordinates.clear();
    block.inertia.resize(0, 0);
    append_coordinates(p, m, red);
    int& columns = red.columns_of_root[root[m]];
    if (columns < 0) {
      columns = static_cast<int>(red.coupled_of.size());
      red.coupled_of.push_back(-1);
    }
    block.columns = columns;
  }
}

// Of the inertia over a block's coordinates, from `first` on, what the factor reads: of column j the rows up to j.
void gather_inertia(const Reduction::Block& block, int first, GrowMatrix& out) {
  const std::vector<int>& coordinates = block.coordinates;
  for (std::size_t j = 0; j < coordinates.size(); ++j) {
    const double* from = block.inertia.data() + (coordinates[j] - first) * block.inertia.rows();
    double* to = out.data() + static_cast<Index>(j) * out.rows();
    for (std::size_t i = 0; i <= j; ++i) to[i] = from[coordinates[i] - first];
  }
}

// Each bilateral row goes to the set of blocks that it couples; one on prescribed coordinates alone to none.
void distribute_bilateral(const ProblemView& p, Reduction& red) {
  red.coupled_sets = 0;
  for (const int row : red.bilateral) {
    int k = -1;
    for (int e = p.J_b.entry_begin(row); e < p.J_b.entry_end(row) && k < 0; ++e) k = reduced_block(red, p.J_b, e);
    if (k < 0) continue;
    const int columns = red.blocks[k].columns;
    int& set = red.coupled_of[columns];
    if (set < 0) {
      set = red.coupled_sets++;
      if (std::ssize(red.coupled) < red.coupled_sets) red.coupled.emplace_back();
      Reduction::Coupled& coupled = red.coupled[set];
      coupled.columns = columns;
      coupled.sizes.clear();
      coupled.bilateral.clear();
      coupled.coordinates = 0;
    }
    red.coupled[set].bilateral.push_back(row);
  }
}

// Coupled blocks are numbered within their sets, where their coordinates follow each other.
void place_coupled_blocks(Reduction& red) {
  for (Reduction::Block& block : red.blocks) {
    block.coupled = red.coupled_of[block.columns];
    if (block.coupled < 0) continue;
    Reduction::Coupled& set = red.coupled[block.coupled];
    block.member = static_cast<int>(set.sizes.size());
    block.offset = set.coordinates;
    set.sizes.push_back(block.size());
    set.coordinates += block.size();
  }
}

// The inertia of a free body in its own axes stays as it is, and so does its factor.
void factor_block(const ProblemView& p, Reduction::Block& block) {
  const int m = inertia_block(p.M, block.coordinates[0]);
  const auto M = p.M.block(m);
  const std::size_t bytes = static_cast<std::size_t>(M.size()) * sizeof(double);
  if (block.inertia.size() == M.size() && std::memcmp(block.inertia.data(), M.data(), bytes) == 0) return;
  block.inertia = M;
  gather_inertia(block, p.M.offset(m), block.cholesky.reset(block.size()));
  block.cholesky.factor();
  if (block.size() != 6) return;
  block.inverse.setIdentity();
  for (int j = 0; j < 6; ++j) block.cholesky.solve_lower(block.inverse.col(j).data());
}

// Null space of a set's bilateral rows, and the particular velocity that satisfies them (least squares when they clash).
void eliminate_bilateral(const ProblemView& p, Reduction& red, Reduction::Coupled& set) {
  BlockRows& rows = set.null_space.reset(set.sizes);
  set.target.resize(std::ssize(set.bilateral));
  const int blocks = static_cast<int>(red.blocks.size());
  for (Index r = 0; r < set.target.size(); ++r) {
    const int row = set.bilateral[r];
    Eigen::Matrix<double, 1, 1> prescribed(0.0);
    p.J_b.add_group_product(row, red.v_free, prescribed);  // v_free has the prescribed velocities alone, so far
    set.target[r] = p.b[row] - prescribed[0];
    rows.add_group();
    for (int k = next_block(red, p.J_b, row, -1); k < blocks; k = next_block(red, p.J_b, row, k)) {
      RowMap entry = rows.add_entry(red.blocks[k].member);
      whiten_group(red, p.J_b, row, k, entry.data(), entry.cols());
    }
  }
  set.null_space.factor(kDependent);
  set.size = set.null_space.size();
  set.x.resize(set.coordinates);
  set.null_space.particular(set.target, set.x.data());
}

double* whitened(Reduction& red, const Reduction::Block& block, GrowVector& y) {
  return (block.coupled < 0 ? y : red.coupled[block.coupled].x).data() + block.offset;
}

// v[coordinates] += L⁻ᵀ x of a block.
void add_block_velocity(Reduction& red, const Reduction::Block& block, const double* x, GrowVector& v) {
  red.scratch.resize(block.size());
  std::copy_n(x, block.size(), red.scratch.data());
  block.cholesky.solve_upper(red.scratch.data());
  for (std::size_t i = 0; i < block.coordinates.size(); ++i) v.data()[block.coordinates[i]] += red.scratch.data()[i];
}

void add_coupled_velocities(Reduction& red, GrowVector& v) {
  for (const Reduction::Block& block : red.blocks) {
    if (block.coupled >= 0) add_block_velocity(red, block, red.coupled[block.coupled].x.data() + block.offset, v);
  }
}

// The particular velocities of coupled sets, and where the columns of every set and block begin; gives their number.
int place_columns(const ProblemView& p, Reduction& red) {
  red.block_sizes.assign(red.coupled_of.size(), 0);
  for (int c = 0; c < red.coupled_sets; ++c) {
    Reduction::Coupled& set = red.coupled[c];
    eliminate_bilateral(p, red, set);
    red.block_sizes[set.columns] = set.size;
  }
  for (const Reduction::Block& block : red.blocks) {
    if (block.coupled < 0) red.block_sizes[block.columns] = block.size();
  }
  add_coupled_velocities(red, red.v_free);
  int offset = 0, placed = 0;  // columns come in the order of their first blocks
  for (Reduction::Block& block : red.blocks) {
    if (block.columns == placed) {
      if (block.coupled < 0)
        block.offset = offset;
      else
        red.coupled[block.coupled].offset = offset;
      offset += red.block_sizes[placed++];
    }
  }
  return offset;
}

}  // namespace

void least_motion(Reduction& red, const Eigen::Ref<const Eigen::VectorXd>& targets, GrowVector& v) {
  v.setZero(static_cast<Index>(red.block_of.size()));
  for (int c = 0; c < red.coupled_sets; ++c) {
    Reduction::Coupled& set = red.coupled[c];
    for (Index r = 0; r < set.target.size(); ++r) set.target[r] = targets[set.bilateral[r]];
    set.null_space.particular(set.target, set.x.data());
  }
  add_coupled_velocities(red, v);
}

int reduced_block(const Reduction& red, const BlockRows& rows, int e) {
  const int first = rows.col_offset(rows.entry_block(e)), width = rows.block_size(rows.entry_block(e));
  for (int j = first; j < first + width; ++j) {
    if (const int k = red.block_of[j]; k >= 0) return k;
  }
  return -1;
}

void whiten_group(const Reduction& red, const BlockRows& from, int g, int k, double* to, Index stride) {
  const Reduction::Block& block = red.blocks[k];
  for (int e = from.entry_begin(g); e < from.entry_end(g); ++e) {
    const auto entry = from.entry(e);
    const int first = from.col_offset(from.entry_block(e));
    for (Index j = 0; j < entry.cols(); ++j) {
      const std::size_t s = static_cast<std::size_t>(first + j);
      if (red.block_of[s] != k) continue;
      for (Index i = 0; i < entry.rows(); ++i) to[i * stride + red.index_in_block[s]] += entry(i, j);
    }
  }
  for (int i = 0; i < from.height(); ++i) block.cholesky.solve_lower(to + i * stride);
}

int next_block(const Reduction& red, const BlockRows& from, int g, int last) {
  int next = static_cast<int>(red.blocks.size());
  for (int e = from.entry_begin(g); e < from.entry_end(g); ++e) {
    if (const int k = reduced_block(red, from, e); k > last) next = std::min(next, k);
  }
  return next;
}

void whiten_blocks(Reduction& red, const GrowVector& momentum, GrowVector& y) {
  for (const Reduction::Block& block : red.blocks) {
    double* part = whitened(red, block, y);
    for (std::size_t i = 0; i < block.coordinates.size(); ++i) part[i] = momentum.data()[block.coordinates[i]];
    block.cholesky.solve_lower(part);
  }
}

void whiten(Reduction& red, const GrowVector& momentum, GrowVector& y) {
  whiten_blocks(red, momentum, y);
  for (int c = 0; c < red.coupled_sets; ++c) {
    Reduction::Coupled& set = red.coupled[c];
    set.null_space.project(set.x.data(), y.data() + set.offset);
  }
}

void add_velocity(Reduction& red, const Eigen::Ref<const Eigen::VectorXd>& y, GrowVector& v) {
  for (int c = 0; c < red.coupled_sets; ++c) {
    Reduction::Coupled& set = red.coupled[c];
    set.null_space.expand(y.data() + set.offset, set.x.data());
  }
  for (const Reduction::Block& block : red.blocks) {
    const double* from = block.coupled < 0 ? y.data() : red.coupled[block.coupled].x.data();
    add_block_velocity(red, block, from + block.offset, v);
  }
}

int couple_blocks(const ProblemView& p, Reduction& red) {
  collect_coordinates(p, red);
  distribute_bilateral(p, red);
  place_coupled_blocks(red);
  for (Reduction::Block& block : red.blocks) factor_block(p, block);
  return place_columns(p, red);
}

}  // namespace stiction
