#include "stiction/programs/cone/rspace.hpp"

#include <algorithm>
#include <array>

#include "stiction/base/dot.hpp"
#include "stiction/programs/cone/panels.hpp"
#include "stiction/programs/cone/row_pattern.hpp"
#include "stiction/programs/cone/six.hpp"

namespace stiction {

namespace {

constexpr int kPanel = 32;
constexpr double kSmallBlocks = 4.0;  // time of an operation on blocks of 3 over that of one in the panels of a large block

// True when all that a group of rows touches is six wide, as free bodies are: then its entries lie one after the other in blocks of Height
// x 6.
STICTION_INLINE bool of_sixes(const BlockRows& rows, int begin, int past) {
  for (int e = begin; e < past; ++e) {
    if (rows.block_size(rows.entry_block(e)) != 6) return false;
  }
  return begin < past;
}

// y_g = A_g x over all groups, for rows in groups of Height.
template <int Height>
STICTION_INLINE void multiply(const BlockRows& rows, const double* x, double* y) {
  for (int g = 0; g < rows.groups(); ++g, y += Height) {
    const int begin = rows.entry_begin(g), past = rows.entry_end(g);
    if (of_sixes(rows, begin, past)) {
      const double* a = rows.entry(begin).data();
      six::Vector sums[Height] = {};
      for (int e = begin; e < past; ++e, a += 6 * Height) {
        six::Vector part;
        six::load(x + rows.col_offset(rows.entry_block(e)), part);
#pragma GCC unroll 3
        for (int i = 0; i < Height; ++i) six::add_products(a + 6 * i, part, sums[i]);
      }
#pragma GCC unroll 3
      for (int i = 0; i < Height; ++i) y[i] = six::total(sums[i]);
      continue;
    }
    double sum[Height] = {};
    for (int e = begin; e < past; ++e) {
      const int block = rows.entry_block(e), n = rows.block_size(block);
      const double* a = rows.entry(e).data();
      const double* from = x + rows.col_offset(block);
      for (int i = 0; i < Height; ++i) sum[i] += dot(a + i * n, from, n);
    }
    std::copy_n(sum, Height, y);
  }
}

template <int Height>
void multiply_narrow(const BlockRows& rows, const double* x, double* y) {
  multiply<Height>(rows, x, y);
}
template <int Height>
STICTION_WIDE void multiply_wide(const BlockRows& rows, const double* x, double* y) {
  multiply<Height>(rows, x, y);
}

// x += Aᵀ y.
template <int Height>
STICTION_INLINE void add_transposed(const BlockRows& rows, const double* y, double* x) {
  for (int g = 0; g < rows.groups(); ++g, y += Height) {
    const int begin = rows.entry_begin(g), past = rows.entry_end(g);
    if (of_sixes(rows, begin, past)) {
      const double* a = rows.entry(begin).data();
      for (int e = begin; e < past; ++e, a += 6 * Height) {
        double* to = x + rows.col_offset(rows.entry_block(e));
        six::Vector sum, row;
        six::load(to, sum);
#pragma GCC unroll 3
        for (int i = 0; i < Height; ++i) {
          six::load(a + 6 * i, row);
          six::add(row, y[i], sum);
        }
        six::store(sum, to);
      }
      continue;
    }
    for (int e = begin; e < past; ++e) {
      const int block = rows.entry_block(e), n = rows.block_size(block);
      const double* a = rows.entry(e).data();
      Eigen::Map<Eigen::VectorXd> part(x + rows.col_offset(block), n);
      for (int i = 0; i < Height; ++i) part += y[i] * Eigen::Map<const Eigen::VectorXd>(a + i * n, n);
    }
  }
}

template <int Height>
void add_transposed_narrow(const BlockRows& rows, const double* y, double* x) {
  add_transposed<Height>(rows, y, x);
}
template <int Height>
STICTION_WIDE void add_transposed_wide(const BlockRows& rows, const double* y, double* x) {
  add_transposed<Height>(rows, y, x);
}

}  // namespace

// Every pair of coupled contacts is a clique. False when R_t is cheaper.
bool RSpace::bind_matrix() {
  const BlockRows& W = problem_->delassus;
  if (W.groups() == 0 || problem_->Bt.groups() > 0) return false;
  clique_begin_.assign(1, 0);
  clique_blocks_.clear();
  for (int i = 0; i < W.groups(); ++i) {
    for (int e = W.entry_begin(i); e < W.entry_end(i); ++e) {
      clique_blocks_.insert(clique_blocks_.end(), {i, W.entry_block(e)});
      clique_begin_.push_back(static_cast<int>(clique_blocks_.size()));
    }
  }
  lu_.analyze(W.block_sizes(), clique_begin_, clique_blocks_);
  double dense = 0.0;
  for (const int r : problem_->Rt.block_sizes()) dense += static_cast<double>(r) * r * r;
  if (kSmallBlocks * lu_.work() > dense) return false;
  if (places_version_ == lu_.pattern_version()) return true;
  places_version_ = lu_.pattern_version();
  places_.clear();
  for (int i = 0; i < W.groups(); ++i) {
    for (int e = W.entry_begin(i); e < W.entry_end(i); ++e) places_.push_back(lu_.block_offset(i, W.entry_block(e)));
  }
  return true;
}

// One robot on few contacts and rows: their W is smaller than its own matrix. False when it is not.
bool RSpace::bind_few() {
  const int size = problem_->Rt.rows() + problem_->Bt.rows();
  if (size == 0 || size >= problem_->rank_bound() || problem_->defect.size() > 0 || !has_one_block(*problem_)) return false;
  clique_begin_.assign(1, 0);
  lu_.analyze(std::span(&size, 1), clique_begin_, {});
  dense_delassus(*problem_, few_);
  return true;
}

void RSpace::bind(const ReducedProblem& problem, bool by_matrix) {
  problem_ = &problem;
  factored_ = false;
  unknowns_ = Unknowns::bodies;
  if (by_matrix && bind_matrix()) {
    unknowns_ = Unknowns::sparse_matrix;
  } else if (by_matrix && bind_few()) {
    unknowns_ = Unknowns::few_contacts;
  }
  if (on_matrix()) return;
  clique_begin_.assign(1, 0);
  clique_blocks_.clear();
  if (problem.Rt.blocks() > 1) {
    append_cliques(problem.Rt, clique_begin_, clique_blocks_);
    append_cliques(problem.Bt, clique_begin_, clique_blocks_);
  }
  lu_.analyze(problem.Rt.block_sizes(), clique_begin_, clique_blocks_);
  find_used();
  if (problem.Rt.blocks() == 1) {
    places_version_ = 0;
    return;
  }
  if (places_version_ == lu_.pattern_version()) return;
  places_version_ = lu_.pattern_version();
  places_.clear();
  append_places(problem.Rt, lu_, places_);
  append_places(problem.Bt, lu_, places_);
}

// Rows of a Cholesky factor end in zeros, and those of a robot begin with the zeros of other limbs.
void RSpace::find_used() {
  const BlockRows& rows = problem_->Rt;
  largest_ = 0;
  for (int s : rows.block_sizes()) largest_ = std::max(largest_, s);
  used_.clear();
  for (int g = 0; g < rows.groups(); ++g) {
    for (int e = rows.entry_begin(g); e < rows.entry_end(g); ++e) {
      const auto entry = rows.entry(e);
      const int cols = static_cast<int>(entry.cols());
      Used used{0, cols};
      if (cols > 6) {
        while (used.past > 0 && entry.col(used.past - 1).isZero(0.0)) --used.past;
        while (used.begin < used.past && entry.col(used.begin).isZero(0.0)) ++used.begin;
      }
      used_.push_back(used);
    }
  }
}

void RSpace::velocities(const GrowVector& y, GrowVector& u, GrowVector& w) const {
  if (unknowns_ == Unknowns::few_contacts) {
    const auto product = [&](Eigen::Index row) { return dot(few_.data() + row * few_.rows(), y.data(), y.size()); };
    for (Eigen::Index i = 0; i < u.size(); ++i) u[i] = product(i);
    for (Eigen::Index j = 0; j < w.size(); ++j) w[j] = product(u.size() + j);
    return;
  }
  const bool wide = wide_vectors();
  const BlockRows& rows = on_matrix() ? problem_->delassus : problem_->Rt;
  (wide ? multiply_wide<3> : multiply_narrow<3>)(rows, y.data(), u.data());
  if (!on_matrix()) (wide ? multiply_wide<1> : multiply_narrow<1>)(problem_->Bt, y.data(), w.data());
}

void RSpace::gather(const GrowVector& lambda, const GrowVector& beta, GrowVector& y) const {
  if (on_matrix()) {
    y.resize(lambda.size() + beta.size());
    std::copy_n(lambda.data(), lambda.size(), y.data());
    std::copy_n(beta.data(), beta.size(), y.data() + lambda.size());
    return;
  }
  y.setZero();
  const bool wide = wide_vectors();
  (wide ? add_transposed_wide<3> : add_transposed_narrow<3>)(problem_->Rt, lambda.data(), y.data());
  (wide ? add_transposed_wide<1> : add_transposed_narrow<1>)(problem_->Bt, beta.data(), y.data());
}

// Of one contact of bodies, Rᵀ D R to the blocks at these places, entries a x b row by row.
STICTION_INLINE void add_sixes(const double* d, bool normal_alone, const double* rows, int entries, const std::ptrdiff_t* place,
                               double* values) {
  for (int b = 0; b < entries; ++b) {
    const double* right = rows + 18 * b;
    double t[18];
    if (!normal_alone) six::product(d, right, t);
    for (int a = 0; a < entries; ++a) {
      double* target = values + place[a * entries + b];
      normal_alone ? six::add_normal_product(rows + 18 * a, d[0], right, target) : six::add_transposed_product(rows + 18 * a, t, target);
    }
  }
}

// To the columns [first, last) of every block; contacts of bodies are added with the first.
STICTION_INLINE void RSpace::add_contacts(const GrowVector& D, int first, int last) {
  const BlockRows& rows = problem_->Rt;
  const bool single = rows.blocks() == 1;
  constexpr std::ptrdiff_t kStart = 0;
  const std::ptrdiff_t* place = single ? &kStart : places_.data();
  double* values = lu_.values();
  const double* d = D.data();
  for (int g = 0; g < rows.groups(); ++g, d += 9) {
    const int begin = rows.entry_begin(g), past = rows.entry_end(g), pairs = (past - begin) * (past - begin);
    const std::ptrdiff_t* at = place;
    if (!single) place += pairs;
    // Of compliant contacts without friction, as those are where overlap is undone, most are open.
    const bool normal_alone = std::all_of(d + 1, d + 9, [](double x) { return x == 0.0; });
    if (normal_alone && d[0] == 0.0) continue;
    if (of_sixes(rows, begin, past)) {
      if (first == 0) add_sixes(d, normal_alone, rows.entry(begin).data(), past - begin, at, values);
      continue;
    }
    for (int a = begin; a < past; ++a) {
      const double* left = rows.entry(a).data();
      const std::ptrdiff_t m = rows.block_size(rows.entry_block(a));
      const Used rows_used = used_[a];
      for (int b = begin; b < past; ++b) {
        const double* right = rows.entry(b).data();
        const std::ptrdiff_t n = rows.block_size(rows.entry_block(b));
        double* target = values + *at++;
        const Used used = used_[b];
        const int end = std::min(used.past, last), height = rows_used.past - rows_used.begin;
        const auto times = [&](int row, int j) {
          return d[3 * row] * right[j] + d[3 * row + 1] * right[n + j] + d[3 * row + 2] * right[2 * n + j];
        };
        int j = std::max(first, used.begin);
        target += rows_used.begin;
        for (; j + 2 <= end; j += 2) {
          panels::add_columns<3, 2>(left + rows_used.begin, m,
                                    {times(0, j), times(1, j), times(2, j), times(0, j + 1), times(1, j + 1), times(2, j + 1)}, height,
                                    target + j * m);
        }
        if (j < end) panels::add_columns<3, 1>(left + rows_used.begin, m, {times(0, j), times(1, j), times(2, j)}, height, target + j * m);
      }
    }
  }
}

void RSpace::add_contacts_narrow(const GrowVector& D, int first, int last) { add_contacts(D, first, last); }
STICTION_WIDE void RSpace::add_contacts_wide(const GrowVector& D, int first, int last) { add_contacts(D, first, last); }

void RSpace::add_rows(const GrowVector& d) {
  const BlockRows& rows = problem_->Bt;
  const bool single = rows.blocks() == 1;
  const BlockRows& contacts = problem_->Rt;
  const std::ptrdiff_t* place = places_.data();
  if (!single) {
    for (int g = 0; g < contacts.groups(); ++g) {
      const int entries = contacts.entry_end(g) - contacts.entry_begin(g);
      place += entries * entries;
    }
  }
  for (int g = 0; g < rows.groups(); ++g) {
    for (int a = rows.entry_begin(g); a < rows.entry_end(g); ++a) {
      const auto left = rows.entry(a).row(0);
      for (int b = rows.entry_begin(g); b < rows.entry_end(g); ++b) {
        const auto right = rows.entry(b).row(0);
        double* target = lu_.values() + (single ? 0 : *place++);
        for (Eigen::Index j = 0; j < right.size(); ++j) {  // an Eigen product of these expressions would allocate
          for (Eigen::Index i = 0; i < left.size(); ++i) target[j * left.size() + i] += d[g] * left[i] * right[j];
        }
      }
    }
  }
}

void RSpace::add_matrix(const GrowVector& D) {
  const BlockRows& W = problem_->delassus;
  for (int i = 0; i < W.groups(); ++i) {
    const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> d(D.data() + 9 * i);
    for (int e = W.entry_begin(i); e < W.entry_end(i); ++e) {
      const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> block(W.entry(e).data());
      Eigen::Map<Eigen::Matrix3d>(lu_.values() + places_[e]) += d.lazyProduct(block);
    }
  }
}

void RSpace::add_few(const GrowVector& D, const GrowVector& d) {
  const Eigen::Index n = few_.rows(), contacts = n - d.size();
  for (Eigen::Index j = 0; j < n; ++j) {
    const double* from = few_.data() + j * n;
    double* to = lu_.values() + j * n;
    const double* rows = D.data();
    for (Eigen::Index i = 0; i < contacts; i += 3) {
      for (int k = 0; k < 3; ++k, rows += 3) to[i + k] += rows[0] * from[i] + rows[1] * from[i + 1] + rows[2] * from[i + 2];
    }
    for (Eigen::Index i = contacts; i < n; ++i) to[i] += d[i - contacts] * from[i];
  }
}

bool RSpace::factor(const GrowVector& D, const GrowVector& d) {
  if (factored_ && D == last_D_ && d == last_d_) return true;
  last_D_ = D;
  last_d_ = d;
  lu_.set_identity();
  switch (unknowns_) {
    case Unknowns::sparse_matrix:
      add_matrix(D);
      break;
    case Unknowns::few_contacts:
      add_few(D, d);
      break;
    case Unknowns::bodies:
      // A panel of columns of the large blocks stays in the cache while all contacts add to it.
      for (int first = 0; first < largest_; first += kPanel) {
        wide_vectors() ? add_contacts_wide(D, first, first + kPanel) : add_contacts_narrow(D, first, first + kPanel);
      }
      if (problem_->Bt.groups() > 0) add_rows(d);
      break;
  }
  factored_ = lu_.factor();
  return factored_;
}

}  // namespace stiction
