#include "stiction/programs/cone/block_lu.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "stiction/programs/cone/dense_lu.hpp"
#include "stiction/programs/cone/six.hpp"

namespace stiction {

namespace {

// C -= A B for column-major blocks, A m x k, B k x n.
void subtract_product(const double* a, const double* b, double* c, int m, int k, int n) {
  for (int j = 0; j < n; ++j) {
    for (int l = 0; l < k; ++l) {
      const double factor = b[j * k + l];
      for (int i = 0; i < m; ++i) c[j * m + i] -= a[l * m + i] * factor;
    }
  }
}

}  // namespace

void BlockLu::analyze(std::span<const int> sizes, std::span<const int> clique_begin, std::span<const int> clique_blocks) {
  if (version_ > 0 && std::ranges::equal(sizes, sizes_) && std::ranges::equal(clique_begin, clique_begin_) &&
      std::ranges::equal(clique_blocks, clique_blocks_)) {
    return;
  }
  ++version_;
  sizes_.assign(sizes.begin(), sizes.end());
  clique_begin_.assign(clique_begin.begin(), clique_begin.end());
  clique_blocks_.assign(clique_blocks.begin(), clique_blocks.end());
  offsets_.assign(1, 0);
  for (int s : sizes_) offsets_.push_back(offsets_.back() + s);
  uniform6_ = std::ranges::all_of(sizes_, [](int s) { return s == 6; });
  order(clique_begin, clique_blocks);
  allocate_values();
  find_destinations();
}

void BlockLu::order(std::span<const int> clique_begin, std::span<const int> clique_blocks) {
  const int count = blocks();
  const std::size_t words = (count + 63) / 64;
  adjacency_.assign(count * words, 0);
  const auto set = [&](int i, int j) { adjacency_[i * words + j / 64] |= std::uint64_t{1} << (j % 64); };
  for (std::size_t g = 0; g + 1 < clique_begin.size(); ++g) {
    for (int a = clique_begin[g]; a < clique_begin[g + 1]; ++a) {
      for (int b = clique_begin[g]; b < clique_begin[g + 1]; ++b) {
        if (clique_blocks[a] != clique_blocks[b]) set(clique_blocks[a], clique_blocks[b]);
      }
    }
  }
  const auto row = [&](int i) { return std::span(adjacency_).subspan(i * words, words); };
  const auto recount = [&](int i) {
    int degree = 0;
    for (std::uint64_t word : row(i)) degree += std::popcount(word);
    degree_[i] = degree;
  };
  degree_.resize(count);
  for (int i = 0; i < count; ++i) recount(i);
  eliminated_.assign(count, 0);
  sequence_.resize(count);
  position_.resize(count);
  upper_begin_.assign(1, 0);
  upper_.clear();
  for (int step = 0; step < count; ++step) {
    int best = -1;
    for (int i = 0; i < count; ++i) {
      if (!eliminated_[i] && (best < 0 || degree_[i] < degree_[best])) best = i;
    }
    eliminated_[best] = 1;
    sequence_[step] = best;
    position_[best] = step;
    const auto pivot_row = row(best);
    const std::size_t first = upper_.size();
    for (std::size_t w = 0; w < words; ++w) {
      for (std::uint64_t bits = pivot_row[w]; bits != 0; bits &= bits - 1) {
        upper_.push_back({static_cast<int>(w * 64) + std::countr_zero(bits), 0, 0});  // block for now, position later
      }
    }
    for (std::size_t e = first; e < upper_.size(); ++e) {
      const int q = upper_[e].q;
      const auto target = row(q);
      for (std::size_t w = 0; w < words; ++w) target[w] |= pivot_row[w];
      target[q / 64] &= ~(std::uint64_t{1} << (q % 64));
      target[best / 64] &= ~(std::uint64_t{1} << (best % 64));
      recount(q);
    }
    upper_begin_.push_back(static_cast<int>(upper_.size()));
  }
}

void BlockLu::allocate_values() {
  std::ptrdiff_t end = 0;
  diagonal_.resize(blocks());
  pivot_begin_.assign(1, 0);
  for (int p = 0; p < blocks(); ++p) {
    const int size_p = size_at(p);
    diagonal_[p] = end;
    end += std::ptrdiff_t{size_p} * size_p;
    pivot_begin_.push_back(pivot_begin_.back() + size_p);
  }
  for (int p = 0; p < blocks(); ++p) {
    const auto list = std::span(upper_).subspan(upper_begin_[p], upper_begin_[p + 1] - upper_begin_[p]);
    for (Upper& u : list) u.q = position_[u.q];
    std::ranges::sort(list, {}, &Upper::q);
    for (Upper& u : list) {
      u.upper = end;
      u.lower = end + std::ptrdiff_t{size_at(p)} * size_at(u.q);
      end = u.lower + std::ptrdiff_t{size_at(p)} * size_at(u.q);
    }
  }
  values_.resize(end);
  pivots_.resize(offsets_.back());
  scratch_.resize(offsets_.back());
}

void BlockLu::find_destinations() {
  destinations_.clear();
  for (int p = 0; p < blocks(); ++p) {
    const int begin = upper_begin_[p], end = upper_begin_[p + 1];
    for (int a = begin; a < end; ++a) {
      const int qa = upper_[a].q;
      destinations_.push_back(diagonal_[qa]);
      int place = upper_begin_[qa];
      for (int b = a + 1; b < end; ++b) {
        while (upper_[place].q != upper_[b].q) ++place;
        destinations_.push_back(upper_[place].upper);
        destinations_.push_back(upper_[place].lower);
      }
    }
  }
}

double BlockLu::work() const {
  double sum = 0.0;
  for (int p = 0; p < blocks(); ++p) {
    double reached = size_at(p);
    for (int e = upper_begin_[p]; e < upper_begin_[p + 1]; ++e) reached += size_at(upper_[e].q);
    sum += size_at(p) * reached * reached;
  }
  return sum;
}

std::ptrdiff_t BlockLu::block_offset(int row, int column) const {
  const int p = position_[row], q = position_[column];
  if (p == q) return diagonal_[p];
  const int first = std::min(p, q), second = std::max(p, q);
  const auto begin = upper_.begin() + upper_begin_[first], end = upper_.begin() + upper_begin_[first + 1];
  const auto found = std::lower_bound(begin, end, second, [](const Upper& u, int value) { return u.q < value; });
  assert(found != end && found->q == second);
  return p < q ? found->upper : found->lower;
}

void BlockLu::set_identity() {
  std::memset(values_.data(), 0, values_.size() * sizeof(double));  // in the widest stores there are: a fill would be one number at a time
  for (int p = 0; p < blocks(); ++p) {
    const int n = size_at(p);
    for (int i = 0; i < n; ++i) values_[diagonal_[p] + std::ptrdiff_t{i} * n + i] = 1.0;
  }
}

bool BlockLu::factor_blocks() {
  double* v = values_.data();
  const std::ptrdiff_t* destination = destinations_.data();
  for (int p = 0; p < blocks(); ++p) {
    const int n = size_at(p);
    double* diagonal = v + diagonal_[p];
    int* pivot = pivots_.data() + pivot_begin_[p];
    if (!dense_lu::factor(diagonal, n, pivot)) return false;
    const Upper* begin = upper_.data() + upper_begin_[p];
    const Upper* end = upper_.data() + upper_begin_[p + 1];
    for (const Upper* u = begin; u != end; ++u) {
      dense_lu::solve_lower(diagonal, n, pivot, v + u->upper, size_at(u->q));
      dense_lu::solve_upper_right(diagonal, n, v + u->lower, size_at(u->q));
    }
    for (const Upper* a = begin; a != end; ++a) {
      const int na = size_at(a->q);
      subtract_product(v + a->lower, v + a->upper, v + *destination++, na, n, na);
      for (const Upper* b = a + 1; b != end; ++b) {
        const int nb = size_at(b->q);
        subtract_product(v + a->lower, v + b->upper, v + *destination++, na, n, nb);
        subtract_product(v + b->lower, v + a->upper, v + *destination++, nb, n, na);
      }
    }
  }
  return true;
}

// An upper block becomes row-major when its row is eliminated.
STICTION_INLINE bool BlockLu::factor_sixes() {
  double* v = values_.data();
  const std::ptrdiff_t* destination = destinations_.data();
  for (int p = 0; p < blocks(); ++p) {
    double* diagonal = v + diagonal_[p];
    int* pivot = pivots_.data() + 6 * p;
    if (!six::factor(diagonal, pivot)) return false;
    const Upper* begin = upper_.data() + upper_begin_[p];
    const Upper* end = upper_.data() + upper_begin_[p + 1];
    for (const Upper* u = begin; u != end; ++u) {
      six::transpose(v + u->upper);
      six::solve_lower_rows(diagonal, pivot, v + u->upper);
      six::solve_upper_right(diagonal, v + u->lower);
    }
    for (const Upper* a = begin; a != end; ++a) {
      six::subtract_product(v + a->lower, v + a->upper, v + *destination++);
      for (const Upper* b = a + 1; b != end; ++b) {
        six::subtract_product(v + a->lower, v + b->upper, v + *destination++);
        six::subtract_product(v + b->lower, v + a->upper, v + *destination++);
      }
    }
  }
  return true;
}

bool BlockLu::factor_sixes_narrow() { return factor_sixes(); }
STICTION_WIDE bool BlockLu::factor_sixes_wide() { return factor_sixes(); }

STICTION_INLINE void BlockLu::solve_sixes(double* x) const {
  const double* v = values_.data();
  for (int p = 0; p < blocks(); ++p) {
    double* xp = x + 6 * p;
    dense_lu::solve_lower(v + diagonal_[p], 6, pivots_.data() + 6 * p, xp, 1);
    for (int e = upper_begin_[p]; e < upper_begin_[p + 1]; ++e) {
      six::subtract_columns(v + upper_[e].lower, xp, x + 6 * upper_[e].q);
    }
  }
  for (int p = blocks() - 1; p >= 0; --p) {
    double* xp = x + 6 * p;
    for (int e = upper_begin_[p]; e < upper_begin_[p + 1]; ++e) {
      six::subtract_rows(v + upper_[e].upper, x + 6 * upper_[e].q, xp);
    }
    dense_lu::solve_upper(v + diagonal_[p], 6, xp);
  }
}

void BlockLu::solve_sixes_narrow(double* x) const { solve_sixes(x); }
STICTION_WIDE void BlockLu::solve_sixes_wide(double* x) const { solve_sixes(x); }

bool BlockLu::positive_determinant() const {
  bool positive = true;
  for (int p = 0; p < blocks(); ++p) {
    const int n = size_at(p);
    for (int k = 0; k < n; ++k) {
      if (pivots_[pivot_begin_[p] + k] != k) positive = !positive;
      if (values_[diagonal_[p] + std::ptrdiff_t{k} * n + k] < 0.0) positive = !positive;
    }
  }
  return positive;
}

bool BlockLu::factor() {
  if (!uniform6_) return factor_blocks();
  return wide_vectors() ? factor_sixes_wide() : factor_sixes_narrow();
}

void BlockLu::solve_blocks(double* x) const {
  const double* v = values_.data();
  for (int p = 0; p < blocks(); ++p) {
    const int n = size_at(p);
    double* xp = x + pivot_begin_[p];
    dense_lu::solve_lower(v + diagonal_[p], n, pivots_.data() + pivot_begin_[p], xp, 1);
    for (int e = upper_begin_[p]; e < upper_begin_[p + 1]; ++e) {
      const Upper& u = upper_[e];
      const int nq = size_at(u.q);
      Eigen::Map<Eigen::VectorXd>(x + pivot_begin_[u.q], nq).noalias() -=
          Eigen::Map<const Eigen::MatrixXd>(v + u.lower, nq, n).lazyProduct(Eigen::Map<const Eigen::VectorXd>(xp, n));
    }
  }
  for (int p = blocks() - 1; p >= 0; --p) {
    const int n = size_at(p);
    double* xp = x + pivot_begin_[p];
    for (int e = upper_begin_[p]; e < upper_begin_[p + 1]; ++e) {
      const Upper& u = upper_[e];
      const int nq = size_at(u.q);
      Eigen::Map<Eigen::VectorXd>(xp, n).noalias() -=
          Eigen::Map<const Eigen::MatrixXd>(v + u.upper, n, nq).lazyProduct(Eigen::Map<const Eigen::VectorXd>(x + pivot_begin_[u.q], nq));
    }
    dense_lu::solve_upper(v + diagonal_[p], n, xp);
  }
}

void BlockLu::solve(Eigen::Ref<Eigen::VectorXd> x) const {
  double* work = scratch_.data();
  for (int p = 0; p < blocks(); ++p) {
    const int n = size_at(p), from = offsets_[sequence_[p]];
    std::copy_n(x.data() + from, n, work + pivot_begin_[p]);
  }
  if (!uniform6_) {
    solve_blocks(work);
  } else if (wide_vectors()) {
    solve_sixes_wide(work);
  } else {
    solve_sixes_narrow(work);
  }
  for (int p = 0; p < blocks(); ++p) {
    const int n = size_at(p), to = offsets_[sequence_[p]];
    std::copy_n(work + pivot_begin_[p], n, x.data() + to);
  }
}

}  // namespace stiction
