#include "stiction/programs/cone/rspace.hpp"

#include <algorithm>

namespace stiction {

namespace {

using Matrix3Row = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
template <int N>
using Entry = Eigen::Map<const Eigen::Matrix<double, 3, N, Eigen::RowMajor>>;

// y_g = A_g x over all groups, for rows in groups of Height and blocks of N columns.
template <int Height, int N>
void multiply(const BlockRows& rows, const double* x, double* y) {
  for (int g = 0; g < rows.groups(); ++g, y += Height) {
    Eigen::Map<Eigen::Matrix<double, Height, 1>> target(y);
    target.setZero();
    for (int e = rows.entry_begin(g); e < rows.entry_end(g); ++e) {
      const int k = rows.entry_block(e);
      const Eigen::Map<const Eigen::Matrix<double, Height, N, Eigen::RowMajor>> a(rows.entry(e).data(), Height, rows.block_size(k));
      const Eigen::Map<const Eigen::Matrix<double, N, 1>> part(x + rows.col_offset(k), rows.block_size(k));
      for (int i = 0; i < Height; ++i) target[i] += a.row(i).dot(part);
    }
  }
}

// x += Aᵀ y.
template <int Height, int N>
void add_transposed(const BlockRows& rows, const double* y, double* x) {
  for (int g = 0; g < rows.groups(); ++g, y += Height) {
    for (int e = rows.entry_begin(g); e < rows.entry_end(g); ++e) {
      const int k = rows.entry_block(e);
      const Eigen::Map<const Eigen::Matrix<double, Height, N, Eigen::RowMajor>> a(rows.entry(e).data(), Height, rows.block_size(k));
      Eigen::Map<Eigen::Matrix<double, N, 1>> part(x + rows.col_offset(k), rows.block_size(k));
      for (int i = 0; i < Height; ++i) part += a.row(i).transpose() * y[i];
    }
  }
}

void append_cliques(const BlockRows& rows, std::vector<int>& begin, std::vector<int>& blocks) {
  for (int g = 0; g < rows.groups(); ++g) {
    for (int e = rows.entry_begin(g); e < rows.entry_end(g); ++e) blocks.push_back(rows.entry_block(e));
    begin.push_back(static_cast<int>(blocks.size()));
  }
}

void append_places(const BlockRows& rows, const BlockLu& lu, std::vector<std::ptrdiff_t>& places) {
  for (int g = 0; g < rows.groups(); ++g) {
    for (int a = rows.entry_begin(g); a < rows.entry_end(g); ++a) {
      for (int b = rows.entry_begin(g); b < rows.entry_end(g); ++b)
        places.push_back(lu.block_offset(rows.entry_block(a), rows.entry_block(b)));
    }
  }
}

}  // namespace

void RSpace::bind(const ReducedProblem& problem) {
  problem_ = &problem;
  clique_begin_.assign(1, 0);
  clique_blocks_.clear();
  if (problem.Rt.blocks() > 1) {
    append_cliques(problem.Rt, clique_begin_, clique_blocks_);
    append_cliques(problem.Bt, clique_begin_, clique_blocks_);
  }
  lu_.analyze(problem.Rt.block_sizes(), clique_begin_, clique_blocks_);
  six_ = std::ranges::all_of(problem.Rt.block_sizes(), [](int s) { return s == 6; });
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

void RSpace::velocities(const GrowVector& y, GrowVector& u, GrowVector& w) const {
  if (six_) {
    multiply<3, 6>(problem_->Rt, y.data(), u.data());
    multiply<1, 6>(problem_->Bt, y.data(), w.data());
  } else {
    multiply<3, Eigen::Dynamic>(problem_->Rt, y.data(), u.data());
    multiply<1, Eigen::Dynamic>(problem_->Bt, y.data(), w.data());
  }
}

void RSpace::gather(const GrowVector& lambda, const GrowVector& beta, GrowVector& y) const {
  y.setZero();
  if (six_) {
    add_transposed<3, 6>(problem_->Rt, lambda.data(), y.data());
    add_transposed<1, 6>(problem_->Bt, beta.data(), y.data());
  } else {
    add_transposed<3, Eigen::Dynamic>(problem_->Rt, lambda.data(), y.data());
    add_transposed<1, Eigen::Dynamic>(problem_->Bt, beta.data(), y.data());
  }
}

template <int N>
void RSpace::add_contacts(const GrowVector& D) {
  const BlockRows& rows = problem_->Rt;
  const bool single = rows.blocks() == 1;
  const std::ptrdiff_t* place = places_.data();
  for (int g = 0; g < rows.groups(); ++g) {
    const Eigen::Map<const Matrix3Row> d(D.data() + 9 * g);
    for (int a = rows.entry_begin(g); a < rows.entry_end(g); ++a) {
      const Entry<N> left(rows.entry(a).data(), 3, rows.block_size(rows.entry_block(a)));
      for (int b = rows.entry_begin(g); b < rows.entry_end(g); ++b) {
        const Entry<N> right(rows.entry(b).data(), 3, rows.block_size(rows.entry_block(b)));
        double* target = lu_.values() + (single ? 0 : *place++);
        const int m = static_cast<int>(left.cols()), n = static_cast<int>(right.cols());
        for (int j = 0; j < n; ++j) {
          const Eigen::Vector3d t = d * right.col(j);
          Eigen::Map<Eigen::Matrix<double, N, 1>>(target + j * m, m) +=
              left.row(0).transpose() * t[0] + left.row(1).transpose() * t[1] + left.row(2).transpose() * t[2];
        }
      }
    }
  }
}

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

bool RSpace::factor(const GrowVector& D, const GrowVector& d) {
  lu_.set_identity();
  if (six_) {
    add_contacts<6>(D);
  } else {
    add_contacts<Eigen::Dynamic>(D);
  }
  if (problem_->Bt.groups() > 0) add_rows(d);
  return lu_.factor();
}

}  // namespace stiction
