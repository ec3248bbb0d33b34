#include "stiction/programs/cone/rspace.hpp"

#include <algorithm>
#include <array>

#include "stiction/programs/cone/panels.hpp"
#include "stiction/programs/cone/row_pattern.hpp"
#include "stiction/programs/cone/six.hpp"

namespace stiction {

namespace {

constexpr int kPanel = 32;
constexpr double kSmallBlocks = 4.0;  // time of an operation on blocks of 3 over that of one in the panels of a large block

// y_g = A_g x over all groups, for rows in groups of Height.
template <int Height>
void multiply(const BlockRows& rows, const double* x, double* y) {
  for (int g = 0; g < rows.groups(); ++g, y += Height) {
    Eigen::Map<Eigen::Matrix<double, Height, 1>> target(y);
    target.setZero();
    for (int e = rows.entry_begin(g); e < rows.entry_end(g); ++e) {
      const int k = rows.entry_block(e);
      const auto a = rows.entry(e);
      const Eigen::Map<const Eigen::VectorXd> part(x + rows.col_offset(k), rows.block_size(k));
      for (int i = 0; i < Height; ++i) target[i] += a.row(i).dot(part);
    }
  }
}

template <int Height>
STICTION_INLINE void multiply_sixes(const BlockRows& rows, const double* x, double* y) {
  for (int g = 0; g < rows.groups(); ++g, y += Height) {
    double sum[Height] = {};
    for (int e = rows.entry_begin(g); e < rows.entry_end(g); ++e) {
      const double* a = rows.entry(e).data();
      six::Vector part;
      six::load(x + rows.col_offset(rows.entry_block(e)), part);
      for (int i = 0; i < Height; ++i) sum[i] += six::dot(a + 6 * i, part);
    }
    std::copy_n(sum, Height, y);
  }
}

template <int Height>
void multiply_sixes_narrow(const BlockRows& rows, const double* x, double* y) {
  multiply_sixes<Height>(rows, x, y);
}
template <int Height>
STICTION_WIDE void multiply_sixes_wide(const BlockRows& rows, const double* x, double* y) {
  multiply_sixes<Height>(rows, x, y);
}

// x += Aᵀ y.
template <int Height>
void add_transposed(const BlockRows& rows, const double* y, double* x) {
  for (int g = 0; g < rows.groups(); ++g, y += Height) {
    for (int e = rows.entry_begin(g); e < rows.entry_end(g); ++e) {
      const int k = rows.entry_block(e);
      const auto a = rows.entry(e);
      Eigen::Map<Eigen::VectorXd> part(x + rows.col_offset(k), rows.block_size(k));
      for (int i = 0; i < Height; ++i) part += a.row(i).transpose() * y[i];
    }
  }
}

template <int Height>
STICTION_INLINE void add_transposed_sixes(const BlockRows& rows, const double* y, double* x) {
  for (int g = 0; g < rows.groups(); ++g, y += Height) {
    for (int e = rows.entry_begin(g); e < rows.entry_end(g); ++e) {
      const double* a = rows.entry(e).data();
      double* part = x + rows.col_offset(rows.entry_block(e));
      six::Vector sum, row;
      six::load(part, sum);
      for (int i = 0; i < Height; ++i) {
        six::load(a + 6 * i, row);
        six::add(row, y[i], sum);
      }
      six::store(sum, part);
    }
  }
}

template <int Height>
void add_transposed_sixes_narrow(const BlockRows& rows, const double* y, double* x) {
  add_transposed_sixes<Height>(rows, y, x);
}
template <int Height>
STICTION_WIDE void add_transposed_sixes_wide(const BlockRows& rows, const double* y, double* x) {
  add_transposed_sixes<Height>(rows, y, x);
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

void RSpace::bind(const ReducedProblem& problem, bool by_matrix) {
  problem_ = &problem;
  on_matrix_ = by_matrix && bind_matrix();
  if (on_matrix_) return;
  clique_begin_.assign(1, 0);
  clique_blocks_.clear();
  if (problem.Rt.blocks() > 1) {
    append_cliques(problem.Rt, clique_begin_, clique_blocks_);
    append_cliques(problem.Bt, clique_begin_, clique_blocks_);
  }
  lu_.analyze(problem.Rt.block_sizes(), clique_begin_, clique_blocks_);
  six_ = std::ranges::all_of(problem.Rt.block_sizes(), [](int s) { return s == 6; });
  if (!six_) count_used();
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

// Rows from a Cholesky factor end in zeros.
void RSpace::count_used() {
  const BlockRows& rows = problem_->Rt;
  largest_ = 0;
  for (int s : rows.block_sizes()) largest_ = std::max(largest_, s);
  used_.clear();
  for (int g = 0; g < rows.groups(); ++g) {
    for (int e = rows.entry_begin(g); e < rows.entry_end(g); ++e) {
      const auto entry = rows.entry(e);
      Eigen::Index used = entry.cols();
      while (used > 0 && entry.col(used - 1).isZero(0.0)) --used;
      used_.push_back(static_cast<int>(used));
    }
  }
}

void RSpace::velocities(const GrowVector& y, GrowVector& u, GrowVector& w) const {
  if (on_matrix_) return multiply<3>(problem_->delassus, y.data(), u.data());
  const bool wide = six::wide_vectors();
  (six_ ? (wide ? multiply_sixes_wide<3> : multiply_sixes_narrow<3>) : multiply<3>)(problem_->Rt, y.data(), u.data());
  (six_ ? (wide ? multiply_sixes_wide<1> : multiply_sixes_narrow<1>) : multiply<1>)(problem_->Bt, y.data(), w.data());
}

void RSpace::gather(const GrowVector& lambda, const GrowVector& beta, GrowVector& y) const {
  if (on_matrix_) {
    y = lambda;
    return;
  }
  y.setZero();
  const bool wide = six::wide_vectors();
  (six_ ? (wide ? add_transposed_sixes_wide<3> : add_transposed_sixes_narrow<3>) : add_transposed<3>)(problem_->Rt, lambda.data(),
                                                                                                      y.data());
  (six_ ? (wide ? add_transposed_sixes_wide<1> : add_transposed_sixes_narrow<1>) : add_transposed<1>)(problem_->Bt, beta.data(), y.data());
}

// A panel of columns of the large blocks stays in the cache while all contacts add to it.
void RSpace::add_contacts(const GrowVector& D) {
  for (int first = 0; first < largest_; first += kPanel) add_contacts(D, first, first + kPanel);
}

void RSpace::add_contacts(const GrowVector& D, int first, int last) {
  const BlockRows& rows = problem_->Rt;
  const bool single = rows.blocks() == 1;
  const std::ptrdiff_t* place = places_.data();
  for (int g = 0; g < rows.groups(); ++g) {
    const double* d = D.data() + 9 * g;
    for (int a = rows.entry_begin(g); a < rows.entry_end(g); ++a) {
      const double* left = rows.entry(a).data();
      const std::ptrdiff_t m = rows.block_size(rows.entry_block(a));
      const int used = used_[static_cast<std::size_t>(a)];
      for (int b = rows.entry_begin(g); b < rows.entry_end(g); ++b) {
        const double* right = rows.entry(b).data();
        const std::ptrdiff_t n = rows.block_size(rows.entry_block(b));
        double* target = lu_.values() + (single ? 0 : *place++);
        const int end = std::min(used_[static_cast<std::size_t>(b)], last);
        const auto times = [&](int row, int j) {
          return d[3 * row] * right[j] + d[3 * row + 1] * right[n + j] + d[3 * row + 2] * right[2 * n + j];
        };
        int j = first;
        for (; j + 2 <= end; j += 2) {
          panels::add<3, 2>(left, m, {times(0, j), times(1, j), times(2, j), times(0, j + 1), times(1, j + 1), times(2, j + 1)}, used,
                            target + j * m);
        }
        if (j < end) panels::add<3, 1>(left, m, {times(0, j), times(1, j), times(2, j)}, used, target + j * m);
      }
    }
  }
}

STICTION_INLINE void RSpace::add_sixes(const double* d) {
  const BlockRows& rows = problem_->Rt;
  const bool single = rows.blocks() == 1;
  const std::ptrdiff_t* place = places_.data();
  double* values = lu_.values();
  for (int g = 0; g < rows.groups(); ++g, d += 9) {
    const int begin = rows.entry_begin(g), end = rows.entry_end(g);
    // A compliant contact that is open, as most are where overlap is undone.
    if (std::all_of(d, d + 9, [](double x) { return x == 0.0; })) {
      place += single ? 0 : (end - begin) * (end - begin);
      continue;
    }
    for (int a = begin; a < end; ++a) {
      const double* left = rows.entry(a).data();
      for (int b = begin; b < end; ++b) six::add_triple_product(left, d, rows.entry(b).data(), values + (single ? 0 : *place++));
    }
  }
}

void RSpace::add_sixes_narrow(const double* d) { add_sixes(d); }
STICTION_WIDE void RSpace::add_sixes_wide(const double* d) { add_sixes(d); }

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
      Eigen::Map<Eigen::Matrix3d>(lu_.values() + places_[static_cast<std::size_t>(e)]) += d.lazyProduct(block);
    }
  }
}

bool RSpace::factor(const GrowVector& D, const GrowVector& d) {
  lu_.set_identity();
  if (on_matrix_) {
    add_matrix(D);
    return lu_.factor();
  }
  if (!six_) {
    add_contacts(D);
  } else if (six::wide_vectors()) {
    add_sixes_wide(D.data());
  } else {
    add_sixes_narrow(D.data());
  }
  if (problem_->Bt.groups() > 0) add_rows(d);
  return lu_.factor();
}

}  // namespace stiction
