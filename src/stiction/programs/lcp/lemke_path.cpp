#include "stiction/programs/lcp/lemke_path.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/dot.hpp"

namespace stiction {

namespace {

/// d_i of covering vector k: ones, then spread over [1/8, 8] by an additive sequence that no problem is aligned with.
double covering_entry(int k, int i) {
  if (k == 0) return 1.0;
  constexpr double kGolden = 0.6180339887498949;
  const double phase = kGolden * (i + 1) * k;
  return std::exp2(6.0 * (phase - std::floor(phase)) - 3.0);
}

}  // namespace

void LemkePath::reserve(int n) {
  inverse_.reserve((n + 1) * (n + 1));
  for (auto* list : {&rows_, &columns_, &row_place_, &column_place_, &ties_}) list->reserve(2 * n + 1);
  for (auto* vector : {&covering_, &q_, &x_, &w_, &dx_, &dw_, &u_, &v_}) vector->reserve(n + 1);
}

void LemkePath::reset(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q,
                      const Equilibration& equilibration, const LemkePathOptions& options) {
  n_ = static_cast<int>(q.size());
  stride_ = n_ + 1;
  M_ = M.data();
  outer_ = M.outerStride();
  equilibration_ = &equilibration;
  options_ = options;
  inverse_.resize(stride_ * stride_);
  rows_.clear();
  columns_.clear();
  row_place_.assign(n_, -1);
  column_place_.assign(n_ + 1, -1);
  for (auto* vector : {&x_, &dx_, &u_, &v_}) vector->resize(n_ + 1);
  dw_.resize(n_);
  covering_.resize(n_);
  for (int i = 0; i < n_; ++i) covering_[i] = covering_entry(options.covering, i);
  q_ = q.cwiseProduct(equilibration.scale);
  size_q_ = q_.lpNorm<Eigen::Infinity>();
  q_ /= size_q_;
  w_ = q_;
}

/// Entry of [M' d].
double LemkePath::entry(int i, int column) const {
  if (column == n_) return covering_[i];
  const GrowVector& scale = equilibration_->scale;
  return scale[i] * M_[outer_ * column + i] * scale[column];
}

/// z0 rises until every w is non-negative: the row of least q / d, the last of equals (lexicographically, unit rows).
int LemkePath::first_row() const {
  int r = 0;
  for (int i = 1; i < n_; ++i) {
    if (q_[i] * covering_[r] <= q_[r] * covering_[i]) r = i;
  }
  return r;
}

/// dx_C and dw for a unit of the entering variable.
void LemkePath::find_direction(int entering) {
  const int m = size();
  if (entering < n_) {
    const int r = row_place_[entering];
    for (int c = 0; c < m; ++c) dx_[c] = inverse_row(c)[r];
  } else {
    for (int r = 0; r < m; ++r) v_[r] = entry(rows_[r], entering - n_);
    const Eigen::Map<const Eigen::VectorXd> column(v_.data(), m);
    for (int c = 0; c < m; ++c) dx_[c] = -Eigen::Map<const Eigen::VectorXd>(inverse_row(c), m).dot(column);
  }
  accumulate_columns(entering);
  refine_direction(entering);
}

/// The rows of R keep w = 0 (1 for an entering w): what is off is the error of P, and P times it corrects the direction.
void LemkePath::refine_direction(int entering) {
  constexpr double kAccurate = 1e-13;
  const int m = size();
  double defect = 0.0;
  for (int r = 0; r < m; ++r) {
    v_[r] = dw_[rows_[r]] - (rows_[r] == entering ? 1.0 : 0.0);
    defect = std::max(defect, std::abs(v_[r]));
  }
  if (m == 0 || defect <= kAccurate * dx_.head(m).lpNorm<Eigen::Infinity>()) return;
  const Eigen::Map<const Eigen::VectorXd> error(v_.data(), m);
  for (int c = 0; c < m; ++c) dx_[c] -= Eigen::Map<const Eigen::VectorXd>(inverse_row(c), m).dot(error);
  accumulate_columns(entering);
}

/// w_R has drifted from zero by what x_C is off: P w_R brings it back.
void LemkePath::refine_point() {
  constexpr double kAccurate = 1e-12;
  const int m = size();
  double defect = 0.0;
  for (int r = 0; r < m; ++r) {
    v_[r] = w_[rows_[r]];
    defect = std::max(defect, std::abs(v_[r]));
  }
  if (m == 0 || defect <= kAccurate) return;
  const Eigen::Map<const Eigen::VectorXd> error(v_.data(), m);
  for (int c = 0; c < m; ++c) dx_[c] = -Eigen::Map<const Eigen::VectorXd>(inverse_row(c), m).dot(error);
  for (int c = 0; c < m; ++c) x_[c] += dx_[c];
  accumulate_columns(-1);
  w_ += dw_;
}

/// dw = [M' d]_C dx_C + the entering column.
void LemkePath::accumulate_columns(int entering) {
  const GrowVector& scale = equilibration_->scale;
  double along_covering = entering == 2 * n_ ? 1.0 : 0.0;
  dw_.setZero();
  for (int c = 0; c < size(); ++c) {
    const int column = columns_[c];
    if (column == n_) {
      along_covering += dx_[c];
    } else if (dx_[c] != 0.0) {
      add_scaled(M_ + outer_ * column, dx_[c] * scale[column], dw_.data(), n_);
    }
  }
  if (entering >= n_ && entering < 2 * n_) add_scaled(M_ + outer_ * (entering - n_), scale[entering - n_], dw_.data(), n_);
  dw_ = dw_.cwiseProduct(scale) + along_covering * covering_;
}

/// Basic variables that reach zero first, to within the slack; empty when none decreases.
void LemkePath::collect_ties() {
  ties_.clear();
  double largest = dx_.head(size()).cwiseAbs().sum() > 0.0 ? dx_.head(size()).lpNorm<Eigen::Infinity>() : 0.0;
  for (int i = 0; i < n_; ++i) {
    if (row_place_[i] < 0) largest = std::max(largest, std::abs(dw_[i]));
  }
  const double smallest = options_.pivot_tolerance * largest;
  double bound = kInfinity;
  const auto visit = [&](int var) {
    const double speed = decrease(var);
    if (!(speed > smallest)) return;
    const double x = value(var);
    if (x > bound * speed) return;
    ties_.push_back(var);
    bound = std::min(bound, (std::max(x, 0.0) + options_.tie_tolerance) / speed);
  };
  for (int i = 0; i < n_; ++i) {
    if (row_place_[i] < 0) visit(i);
  }
  for (const int column : columns_) visit(n_ + column);
  std::erase_if(ties_, [&](int var) { return value(var) > bound * decrease(var); });
}

int LemkePath::leaving_variable() {
  collect_ties();
  if (ties_.empty()) return -1;
  if (ties_.back() == 2 * n_ || std::find(ties_.begin(), ties_.end(), 2 * n_) != ties_.end()) return 2 * n_;
  if (options_.rule == TieRule::lexicographic) {
    keep_lexicographic_least();
    return ties_.front();
  }
  return *std::max_element(ties_.begin(), ties_.end(), [&](int a, int b) { return decrease(a) < decrease(b); });
}

/// The order in which q + (δ, δ², ...) would break the tie: least row of B⁻¹ over its pivot, column by column.
void LemkePath::keep_lexicographic_least() {
  for (int j = 0; j < n_ && ties_.size() > 1; ++j) {
    const int r = row_place_[j];
    if (r >= 0) {
      keep_least_of_row(r);
    } else {
      std::erase(ties_, j);  // column j of B⁻¹ is zero but for the row of w_j itself, where it is one
    }
  }
}

void LemkePath::keep_least_of_row(int r) {
  constexpr double kRelative = 1e-11, kAbsolute = 1e-14;
  double least = kInfinity;
  int k = 0;
  for (const int var : ties_) {
    u_[k] = lexicographic_entry(var, r) / decrease(var);
    least = std::min(least, u_[k++]);
  }
  std::size_t kept = 0;
  for (int i = 0; i < k; ++i) {
    if (u_[i] - least <= kRelative * (std::abs(u_[i]) + std::abs(least)) + kAbsolute) ties_[kept++] = ties_[i];
  }
  ties_.resize(kept);
}

/// Entry of B⁻¹ in the row of a basic variable and the column of row r of R: -P for z, -[M' d] P for w.
double LemkePath::lexicographic_entry(int var, int r) const {
  if (var >= n_) return -inverse_row(column_place_[var - n_])[r];
  double sum = 0.0;
  for (int c = 0; c < size(); ++c) sum -= entry(var, columns_[c]) * inverse_row(c)[r];
  return sum;
}

LemkePath::End LemkePath::run(int& pivots) {
  int leaving = first_row();
  entering_ = 2 * n_;
  for (int count = 0;; ++count) {
    find_direction(entering_);
    if (count > 0) leaving = leaving_variable();
    if (leaving < 0) return End::ray;
    exchange(entering_, leaving);
    refine_point();
    ++pivots;
    if (leaving == 2 * n_) return End::basis;
    if (count + 1 >= options_.max_pivots) return End::pivot_limit;
    entering_ = complement(leaving);
  }
}

/// Moves to the point where `leaving` is zero and swaps it with `entering` in the basis.
void LemkePath::exchange(int entering, int leaving) {
  const double step = rows_.empty() ? -value(leaving) / covering_[leaving] : std::max(value(leaving), 0.0) / decrease(leaving);
  for (int c = 0; c < size(); ++c) x_[c] += step * dx_[c];
  w_ += step * dw_;
  if (entering >= n_ && leaving < n_) {
    append(leaving, entering - n_);
    x_[size() - 1] = step;
  } else if (entering >= n_) {
    const int place = column_place_[leaving - n_];
    replace_column(place, entering - n_);
    x_[place] = step;
  } else {
    const int place = row_place_[entering];
    if (leaving < n_) {
      replace_row(place, leaving);
    } else {
      remove(place, column_place_[leaving - n_]);
    }
    w_[entering] = step;
  }
}

/// u = [M' d]_{row, C} P.
void LemkePath::left_row(int row) {
  u_.setZero();
  for (int c = 0; c < size(); ++c) add_scaled(inverse_row(c), entry(row, columns_[c]), u_.data(), size());
}

/// S grows by a row and a column; v = P S_column = -dx, and the Schur complement is dw of the row.
void LemkePath::append(int row, int column) {
  const int m = size();
  const double schur = dw_[row];
  left_row(row);
  for (int c = 0; c < m; ++c) {
    const double factor = -dx_[c] / schur;
    add_scaled(u_.data(), factor, inverse_row(c), m);
    inverse_row(c)[m] = -factor;
  }
  double* last = inverse_row(m);
  for (int r = 0; r < m; ++r) last[r] = -u_[r] / schur;
  last[m] = 1.0 / schur;
  row_place_[row] = m;
  column_place_[column] = m;
  rows_.push_back(row);
  columns_.push_back(column);
}

void LemkePath::replace_column(int place, int column) {
  const int m = size();
  double* pivot_row = inverse_row(place);
  for (int r = 0; r < m; ++r) pivot_row[r] /= -dx_[place];
  for (int c = 0; c < m; ++c) {
    if (c != place) add_scaled(pivot_row, dx_[c], inverse_row(c), m);
  }
  column_place_[columns_[place]] = -1;
  column_place_[column] = place;
  columns_[place] = column;
}

void LemkePath::replace_row(int place, int row) {
  const int m = size();
  left_row(row);
  const double pivot = u_[place];
  u_[place] = 0.0;
  for (int c = 0; c < m; ++c) {
    double* line = inverse_row(c);
    line[place] /= pivot;
    add_scaled(u_.data(), -line[place], line, m);
  }
  row_place_[rows_[place]] = -1;
  row_place_[row] = place;
  rows_[place] = row;
}

/// Deletes a row and a column of S; the last ones take their places.
void LemkePath::remove(int row_place, int column_place) {
  const int last = size() - 1;
  std::copy_n(inverse_row(column_place), size(), u_.data());
  for (int r = 0; r <= last; ++r) u_[r] /= inverse_row(column_place)[row_place];
  for (int c = 0; c <= last; ++c) {
    if (c != column_place) add_scaled(u_.data(), -inverse_row(c)[row_place], inverse_row(c), last + 1);
  }
  std::copy_n(inverse_row(last), size(), inverse_row(column_place));
  for (int c = 0; c < last; ++c) inverse_row(c)[row_place] = inverse_row(c)[last];
  x_[column_place] = x_[last];
  row_place_[rows_[last]] = row_place;
  row_place_[rows_[row_place]] = -1;
  rows_[row_place] = rows_[last];
  rows_.pop_back();
  column_place_[columns_[last]] = column_place;
  column_place_[columns_[column_place]] = -1;
  columns_[column_place] = columns_[last];
  columns_.pop_back();
}

void LemkePath::support(std::vector<int>& indices) const {
  indices.clear();
  for (int j = 0; j < n_; ++j) {
    if (column_place_[j] >= 0) indices.push_back(j);
  }
}

void LemkePath::solution(Eigen::Ref<Eigen::VectorXd> z) const {
  z.setZero();
  for (int c = 0; c < size(); ++c) z[columns_[c]] = size_q_ * equilibration_->scale[columns_[c]] * x_[c];
}

void LemkePath::correct(const Eigen::Ref<const Eigen::VectorXd>& w, Eigen::Ref<Eigen::VectorXd> z) {
  const int m = size();
  for (int r = 0; r < m; ++r) v_[r] = equilibration_->scale[rows_[r]] * w[rows_[r]];
  const Eigen::Map<const Eigen::VectorXd> defect(v_.data(), m);
  for (int c = 0; c < m; ++c) {
    const int column = columns_[c];
    z[column] -= equilibration_->scale[column] * Eigen::Map<const Eigen::VectorXd>(inverse_row(c), m).dot(defect);
  }
}

void LemkePath::ray(Eigen::Ref<Eigen::VectorXd> u) const {
  u.setZero();
  for (int c = 0; c < size(); ++c) {
    if (columns_[c] < n_) u[columns_[c]] = equilibration_->scale[columns_[c]] * std::max(dx_[c], 0.0);
  }
  if (entering_ >= n_ && entering_ < 2 * n_) u[entering_ - n_] = equilibration_->scale[entering_ - n_];
  const double largest = u.maxCoeff();
  if (largest > 0.0) u /= largest;
}

}  // namespace stiction
