#include "stiction/base/null_space.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction {

namespace {

using Eigen::Index;

}  // namespace

BlockRows& NullSpace::reset(std::span<const int> sizes) {
  rows_.reset(1, sizes);
  return rows_;
}

// Breadth first from the first block of each connected part; the last one found is the first to be eliminated.
void NullSpace::order_blocks() {
  const int blocks = rows_.blocks(), entries = rows_.entry_begin(rows_.groups());
  touching_begin_.assign(blocks + 1, 0);
  for (int e = 0; e < entries; ++e) ++touching_begin_[rows_.entry_block(e) + 1];
  for (int b = 0; b < blocks; ++b) touching_begin_[b + 1] += touching_begin_[b];
  touching_.resize(entries);
  for (int row = rows_.groups() - 1; row >= 0; --row) {
    for (int e = rows_.entry_begin(row); e < rows_.entry_end(row); ++e) touching_[--touching_begin_[rows_.entry_block(e) + 1]] = row;
  }
  touching_begin_.erase(touching_begin_.begin());
  touching_begin_.push_back(entries);
  place_of_block_.assign(blocks, -1);
  queue_.clear();
  const auto visit = [&](int b) {
    if (place_of_block_[b] >= 0) return;
    place_of_block_[b] = blocks - 1 - static_cast<int>(queue_.size());
    queue_.push_back(b);
  };
  for (int first = 0, next = 0; first < blocks; ++first) {
    visit(first);
    for (; next < static_cast<int>(queue_.size()); ++next) {
      const int b = queue_[next];
      for (int t = touching_begin_[b]; t < touching_begin_[b + 1]; ++t) {
        const int row = touching_[t];
        for (int e = rows_.entry_begin(row); e < rows_.entry_end(row); ++e) visit(rows_.entry_block(e));
      }
    }
  }
}

// A row is eliminated in the front of its first block, a block's coordinates come in with the first of its rows.
void NullSpace::plan_fronts() {
  const int blocks = rows_.blocks(), m = rows_.groups();
  if (std::ssize(fronts_) < blocks) fronts_.resize(blocks);
  for (int f = 0; f < blocks; ++f) {
    for (std::vector<int>* list : {&fronts_[f].pivots, &fronts_[f].others, &fronts_[f].fronts, &fronts_[f].blocks}) list->clear();
  }
  front_of_row_.resize(m);
  for (int row = 0; row < m; ++row) {
    int first = blocks;
    for (int e = rows_.entry_begin(row); e < rows_.entry_end(row); ++e) first = std::min(first, place_of_block_[rows_.entry_block(e)]);
    front_of_row_[row] = first;
    if (first < blocks) fronts_[first].pivots.push_back(row);
  }
  for (int b = 0; b < blocks; ++b) {
    int first = place_of_block_[b];
    for (int t = touching_begin_[b]; t < touching_begin_[b + 1]; ++t) first = std::min(first, front_of_row_[touching_[t]]);
    fronts_[first].blocks.push_back(b);
  }
  column_of_row_.assign(m, -1);  // here: the last front that met the row
  for (int f = 0; f < blocks; ++f) {
    Front& front = fronts_[f];
    int parent = blocks;
    const auto meet = [&](int row) {
      if (front_of_row_[row] <= f || column_of_row_[row] == f) return;
      column_of_row_[row] = f;
      front.others.push_back(row);
      parent = std::min(parent, front_of_row_[row]);
    };
    for (const int b : front.blocks) {
      for (int t = touching_begin_[b]; t < touching_begin_[b + 1]; ++t) meet(touching_[t]);
    }
    for (const int from : front.fronts) {
      for (const int row : fronts_[from].others) meet(row);
    }
    if (parent < blocks) fronts_[parent].fronts.push_back(f);
  }
}

// Coordinates of a front, and its rows over them, as columns.
void NullSpace::gather(Front& front) {
  front.coordinates.clear();
  for (const int b : front.blocks) {
    for (int j = 0; j < rows_.block_size(b); ++j) front.coordinates.push_back(rows_.col_offset(b) + j);
  }
  for (const int from : front.fronts) {
    const Front& child = fronts_[from];
    const auto first = child.coordinates.begin() + child.range.rank();
    front.coordinates.insert(front.coordinates.end(), first, first + child.rest.rank());
  }
  const Index n = std::ssize(front.coordinates), pivots = std::ssize(front.pivots);
  GrowMatrix& range = front.range.reset(n, pivots);
  range.setZero();
  front.coupling.setZero(n, std::ssize(front.others));
  for (Index j = 0; j < pivots; ++j) column_of_row_[front.pivots[j]] = static_cast<int>(j);
  for (Index j = 0; j < front.coupling.cols(); ++j) column_of_row_[front.others[j]] = static_cast<int>(pivots + j);
  const auto entry = [&](Index i, int row) -> double& {
    const Index j = column_of_row_[row];
    return j < pivots ? range(i, j) : front.coupling(i, j - pivots);
  };
  Index i = 0;
  for (const int b : front.blocks) {
    for (int t = touching_begin_[b]; t < touching_begin_[b + 1]; ++t) {
      const int row = touching_[t];
      for (int e = rows_.entry_begin(row); e < rows_.entry_end(row); ++e) {
        if (rows_.entry_block(e) != b) continue;
        for (Index j = 0; j < rows_.block_size(b); ++j) entry(i + j, row) = rows_.entry(e)(0, j);
      }
    }
    i += rows_.block_size(b);
  }
  for (const int from : front.fronts) {
    const Front& child = fronts_[from];
    for (Index r = 0; r < child.rest.rank(); ++r, ++i) {
      for (Index j = r; j < child.rest.cols(); ++j) entry(i, child.others[child.rest.column(j)]) = child.rest.r(r, j);
    }
  }
}

void NullSpace::eliminate(Front& front, double threshold, double largest) {
  front.range.factor(threshold, largest);
  const Index n = front.range.rows(), rank = front.range.rank(), others = front.coupling.cols();
  GrowMatrix& rest = front.rest.reset(n - rank, others);
  for (Index j = 0; j < others; ++j) {
    front.range.apply_transposed(front.coupling.col(j));
    rest.col(j) = front.coupling.col(j).tail(n - rank);
  }
  // What rounding leaves of combinations that no other row sees.
  front.rest.factor(static_cast<double>(n) * std::numeric_limits<double>::epsilon(), largest);
  for (Index j = rank; j < front.range.cols(); ++j) dependent_.push_back(front.pivots[front.range.column(j)]);
  for (Index j = 0; j < rank; ++j) left_[front.pivots[front.range.column(j)]] = std::abs(front.range.r(j, j));
  rank_ += static_cast<int>(rank);
  work_ += 2.0 * static_cast<double>(n * rank * (front.range.cols() + others) + (n - rank) * front.rest.rank() * others);
}

void NullSpace::factor(double threshold) {
  order_blocks();
  plan_fronts();
  double largest = 0.0;
  for (int row = 0; row < rows_.groups(); ++row) largest = std::max(largest, rows_.group_square(row));
  dependent_.clear();
  left_.setZero(rows_.groups());
  rank_ = 0;
  work_ = 0.0;
  for (int f = 0; f < rows_.blocks(); ++f) {
    gather(fronts_[f]);
    eliminate(fronts_[f], threshold, std::sqrt(largest));
  }
  find_relations();
}

void NullSpace::reflect_all(double* x) {
  for (int f = 0; f < rows_.blocks(); ++f) {
    Front& front = fronts_[f];
    const Index n = front.range.rows(), rank = front.range.rank();
    gathered_.resize(n);
    bool zero = true;
    for (Index i = 0; i < n; ++i) {
      gathered_[i] = x[front.coordinates[i]];
      zero = zero && gathered_[i] == 0.0;
    }
    if (zero) continue;
    front.range.apply_transposed(gathered_);
    front.rest.apply_transposed(gathered_.tail(n - rank));
    for (Index i = 0; i < n; ++i) x[front.coordinates[i]] = gathered_[i];
  }
}

void NullSpace::unreflect_all(double* x) {
  for (int f = rows_.blocks() - 1; f >= 0; --f) {
    Front& front = fronts_[f];
    const Index n = front.range.rows(), rank = front.range.rank();
    gathered_.resize(n);
    for (Index i = 0; i < n; ++i) gathered_[i] = x[front.coordinates[i]];
    front.rest.apply(gathered_.tail(n - rank));
    front.range.apply(gathered_);
    for (Index i = 0; i < n; ++i) x[front.coordinates[i]] = gathered_[i];
  }
}

void NullSpace::project(double* x, double* y) {
  reflect_all(x);
  for (int f = 0; f < rows_.blocks(); ++f) {
    const Front& front = fronts_[f];
    for (std::size_t i = static_cast<std::size_t>(front.range.rank() + front.rest.rank()); i < front.coordinates.size(); ++i)
      *y++ = x[front.coordinates[i]];
  }
}

void NullSpace::expand(const double* y, double* x) {
  std::fill_n(x, cols(), 0.0);
  for (int f = 0; f < rows_.blocks(); ++f) {
    const Front& front = fronts_[f];
    for (std::size_t i = static_cast<std::size_t>(front.range.rank() + front.rest.rank()); i < front.coordinates.size(); ++i)
      x[front.coordinates[i]] = *y++;
  }
  unreflect_all(x);
}

// R λ = g from the last front to the first; λ of dependent rows is given. g: as `reflect_all` leaves it, none: zero.
void NullSpace::substitute(const double* g, GrowVector& lambda) {
  for (int f = rows_.blocks() - 1; f >= 0; --f) {
    const Front& front = fronts_[f];
    for (Index i = front.range.rank() - 1; i >= 0; --i) {
      double sum = g == nullptr ? 0.0 : g[front.coordinates[i]];
      for (Index j = i + 1; j < front.range.cols(); ++j) sum -= front.range.r(i, j) * lambda[front.pivots[front.range.column(j)]];
      for (Index j = 0; j < front.coupling.cols(); ++j) sum -= front.coupling(i, j) * lambda[front.others[j]];
      lambda[front.pivots[front.range.column(i)]] = sum / front.range.r(i, i);
    }
  }
}

// One relation Aᵀ x = 0 per dependent row, whose own entry is 1.
void NullSpace::find_relations() {
  if (dependent_.empty()) return;
  GrowMatrix& relations = relations_.reset(rows_.groups(), std::ssize(dependent_));
  for (Index k = 0; k < relations.cols(); ++k) {
    relation_.setZero(rows_.groups());
    relation_[dependent_[k]] = 1.0;
    substitute(nullptr, relation_);
    relations.col(k) = relation_;
  }
  relations_.factor(0.0);  // of full rank: each has an entry of its own
}

// x less its part in the span of the relations.
void NullSpace::remove_relations(GrowVector& x) {
  if (dependent_.empty()) return;
  relations_.apply_transposed(x);
  x.head(relations_.rank()).setZero();
  relations_.apply(x);
}

void NullSpace::particular(GrowVector& b, double* x) {
  remove_relations(b);
  std::fill_n(x, cols(), 0.0);
  for (int f = 0; f < rows_.blocks(); ++f) {
    const Front& front = fronts_[f];
    for (Index i = 0; i < front.range.rank(); ++i) {
      double sum = b[front.pivots[front.range.column(i)]];
      for (Index j = 0; j < i; ++j) sum -= front.range.r(j, i) * x[front.coordinates[j]];
      sum /= front.range.r(i, i);
      x[front.coordinates[i]] = sum;
      for (Index j = 0; j < front.coupling.cols(); ++j) b[front.others[j]] -= front.coupling(i, j) * sum;
    }
  }
  unreflect_all(x);
}

void NullSpace::multipliers(double* g, GrowVector& lambda) {
  lambda.setZero(rows_.groups());
  reflect_all(g);
  substitute(g, lambda);
  remove_relations(lambda);
}

}  // namespace stiction
