// A Delassus matrix given as numbers becomes R_t R_tᵀ.
//
// Per set of coupled contacts: S = (W + Wᵀ)/2 scaled to a unit diagonal, Cholesky with complete pivoting in panels (a matrix product
// per panel), down to pivots that the digits of W cannot have made. What that leaves is factored in the same way to the numerical rank
// or, when S is indefinite by its digits, by its eigenvalues, cut at zero. Cost n² r, and about 10 k³ for a cut rest of k rows.
#include "stiction/problem/reduce_sparse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include "stiction/base/disjoint_sets.hpp"
#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using ConstMatrix = Eigen::Ref<const MatrixXd>;

constexpr double kAsymmetry = 2e-2;   // of the largest entry: files of other projects have up to 1e-2
constexpr double kIndefinite = 1e-6;  // of the largest eigenvalue, or of a unit diagonal
constexpr double kReliable = 1e-4;    // pivot of a unit diagonal that few digits cannot have made
constexpr Index kSmallRank = 48;      // up to which R_t serves better than W
constexpr Index kLargestSet = 7800;   // rows of one dense factor

double rounding(Index size) { return 4.0 * static_cast<double>(size) * std::numeric_limits<double>::epsilon(); }

// Contacts in sets that W couples.
std::vector<std::vector<int>> coupled_sets(const SparseMatrix& W) {
  DisjointSets sets(static_cast<int>(W.rows() / 3));
  for (Index j = 0; j < W.outerSize(); ++j) {
    for (SparseMatrix::InnerIterator entry(W, j); entry; ++entry) {
      if (entry.value() != 0.0) sets.join(static_cast<int>(entry.row() / 3), static_cast<int>(j / 3));
    }
  }
  return sets.sets();
}

// Pivoted Cholesky of a matrix of which only the lower half is read, down to pivots of this size; L is n x rank, and S
// becomes the rest. True when that is of the size of the last pivots; if not, S is indefinite.
bool pivoted_cholesky(MatrixXd& S, double tolerance, MatrixXd& L) {
  constexpr Index kPanel = 48;
  const Index n = S.rows();
  std::vector<Index> used;
  VectorXd diagonal = S.diagonal(), column(n);
  L.setZero(n, n);
  Index rank = 0;
  for (bool more = true; more && rank < n;) {
    const Index start = rank;
    for (; rank < std::min(start + kPanel, n); ++rank) {
      Index pivot = 0;
      const double largest = diagonal.maxCoeff(&pivot);
      more = largest > tolerance;
      if (!more) break;
      column.head(pivot) = S.row(pivot).head(pivot);
      column.tail(n - pivot) = S.col(pivot).tail(n - pivot);
      column.noalias() -= L.middleCols(start, rank - start) * L.row(pivot).segment(start, rank - start).transpose();
      column /= std::sqrt(largest);
      for (const Index i : used) column[i] = 0.0;
      column[pivot] = std::sqrt(largest);
      diagonal -= column.cwiseAbs2();
      diagonal[pivot] = 0.0;
      used.push_back(pivot);
      for (const Index i : used) diagonal[i] = 0.0;
      L.col(rank) = column;
    }
    if (rank > start) S.selfadjointView<Eigen::Lower>().rankUpdate(L.middleCols(start, rank - start), -1.0);
  }
  L.conservativeResize(n, rank);
  for (const Index i : used) {
    S.row(i).head(i + 1).setZero();
    S.col(i).tail(n - i).setZero();
  }
  return n == 0 || S.triangularView<Eigen::Lower>().toDenseMatrix().cwiseAbs().maxCoeff() <= 10.0 * tolerance;
}

// S = L Lᵀ, of a unit diagonal, but for negative eigenvalues of the rest that reliable pivots leave, by the digits of S. False when they
// are larger than that.
bool factor_unit(MatrixXd S, MatrixXd& L) {
  const double tolerance = rounding(S.rows());
  pivoted_cholesky(S, kReliable, L);
  std::vector<Index> left;
  for (Index i = 0; i < S.rows(); ++i) {
    if (S(i, i) != 0.0) left.push_back(i);
  }
  if (left.empty()) return true;
  const MatrixXd rest = S(left, left);
  MatrixXd copy = rest, more;
  if (!pivoted_cholesky(copy, tolerance, more)) {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(rest);
    const VectorXd& values = eigen.eigenvalues();
    if (eigen.info() != Eigen::Success || !(values[0] >= -kIndefinite)) return false;
    const Index positive = (values.array() > tolerance).count();
    more = eigen.eigenvectors().rightCols(positive) * values.tail(positive).cwiseSqrt().asDiagonal();
  }
  const Index rank = L.cols();
  L.conservativeResize(Eigen::NoChange, rank + more.cols());
  L.rightCols(more.cols()).setZero();
  L(left, Eigen::seqN(rank, more.cols())) = more;
  return true;
}

MatrixXd cut_eigenvalues(const MatrixXd& S) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(S);
  const VectorXd& values = eigen.eigenvalues();
  const double largest = values[values.size() - 1];
  if (eigen.info() != Eigen::Success || !(values[0] >= -kIndefinite * largest)) {
    throw InvalidArgument("W", "a positive semidefinite matrix", fmt::format("eigenvalues from {:.3g} to {:.3g}", values[0], largest));
  }
  const Index rank = (values.array() > rounding(values.size()) * largest).count();
  return eigen.eigenvectors().rightCols(rank) * values.tail(rank).cwiseSqrt().asDiagonal();
}

struct PartialFactor {
  MatrixXd L, rest;  // S = L Lᵀ + rest
};

// Over the rows of S that are not zero; L has as many rows as S.
PartialFactor factor(const MatrixXd& S) {
  std::vector<Index> rows;
  for (Index i = 0; i < S.rows(); ++i) {
    if (!S.row(i).isZero(0.0)) rows.push_back(i);
  }
  const MatrixXd dense = S(rows, rows);
  MatrixXd part;
  bool definite = rows.empty() || dense.diagonal().minCoeff() > 0.0;
  if (definite && !rows.empty()) {
    const VectorXd scale = dense.diagonal().cwiseSqrt();
    const MatrixXd unit = scale.cwiseInverse().asDiagonal() * dense * scale.cwiseInverse().asDiagonal();
    definite = unit.allFinite() && factor_unit(unit, part);
    if (definite) part = scale.asDiagonal() * part;
  }
  if (!definite) part = cut_eigenvalues(dense);
  PartialFactor out{MatrixXd::Zero(S.rows(), part.cols()), MatrixXd::Zero(S.rows(), S.rows())};
  for (std::size_t i = 0; i < rows.size(); ++i) out.L.row(rows[i]) = part.row(static_cast<Index>(i));
  MatrixXd rest = dense;
  rest.selfadjointView<Eigen::Lower>().rankUpdate(part, -1.0);
  rest.triangularView<Eigen::StrictlyUpper>() = rest.transpose();
  out.rest(rows, rows) = rest;
  return out;
}

// Rows and columns of W that belong to the contacts of a set; `place` maps a contact to its position in its set.
MatrixXd extract(const SparseMatrix& W, const std::vector<int>& set, const std::vector<int>& place) {
  const Index size = 3 * static_cast<Index>(set.size());
  if (size > kLargestSet) {
    throw InvalidArgument("W", fmt::format("at most {} contacts coupled with each other", kLargestSet / 3), fmt::format("{}", set.size()));
  }
  MatrixXd part = MatrixXd::Zero(size, size);
  for (std::size_t k = 0; k < set.size(); ++k) {
    for (int c = 0; c < 3; ++c) {
      for (SparseMatrix::InnerIterator entry(W, 3 * set[k] + c); entry; ++entry) {
        if (entry.value() == 0.0) continue;
        part(3 * place[entry.row() / 3] + entry.row() % 3, 3 * static_cast<Index>(k) + c) = entry.value();
      }
    }
  }
  return part;
}

void check(const SparseMatrix& W, const Eigen::Ref<const VectorXd>& q, const Eigen::Ref<const VectorXd>& mu) {
  if (W.cols() != W.rows()) throw InvalidArgument("W", "a square matrix", fmt::format("{} x {}", W.rows(), W.cols()));
  require_size("W.rows", W.rows(), 3 * mu.size());
  require_size("q", q.size(), W.rows());
  require_finite("q", q);
  require_nonnegative("mu", mu, true);
}

void check_symmetry(const MatrixXd& part, double scale) {
  const double asymmetry = (part - part.transpose()).cwiseAbs().maxCoeff();
  if (!(asymmetry <= kAsymmetry * scale)) {
    throw InvalidArgument("W", "a symmetric matrix", fmt::format("asymmetry {:.3g}, largest entry {:.3g}", asymmetry, scale));
  }
}

// Where W - R_t R_tᵀ is above rounding, it is added to the problem's dense defect.
void keep_defect(const MatrixXd& left, double scale, const std::vector<int>& set, Index rows, GrowMatrix& defect) {
  if (left.cwiseAbs().maxCoeff() <= std::max(1e-12, 10.0 * rounding(left.rows())) * scale) return;
  if (rows > kLargestSet) {
    throw InvalidArgument("W", fmt::format("a symmetric semidefinite matrix, with more than {} contacts", kLargestSet / 3),
                          fmt::format("one that misses it by {:.3g}", left.cwiseAbs().maxCoeff()));
  }
  if (defect.size() == 0) defect.setZero(rows, rows);
  for (std::size_t a = 0; a < set.size(); ++a) {
    for (std::size_t b = 0; b < set.size(); ++b) {
      defect.block<3, 3>(3 * set[a], 3 * set[b]) = left.block<3, 3>(3 * static_cast<Index>(a), 3 * static_cast<Index>(b));
    }
  }
}

// W as blocks of pairs of contacts, those of zeros left out.
void keep_blocks(const SparseMatrix& W, BlockRows& out) {
  const std::size_t n = static_cast<std::size_t>(W.rows() / 3);
  const SparseMatrix transposed = W.transpose();  // its columns are the rows of W
  out.reset(3, std::vector<int>(n, 3));
  for (Index i = 0; i < W.rows(); i += 3) {
    std::map<int, Eigen::Matrix3d> blocks;
    for (Index k = 0; k < 3; ++k) {
      for (SparseMatrix::InnerIterator entry(transposed, i + k); entry; ++entry) {
        if (entry.value() == 0.0) continue;
        const auto block = blocks.try_emplace(static_cast<int>(entry.row() / 3), Eigen::Matrix3d::Zero()).first;
        block->second(k, entry.row() % 3) = entry.value();
      }
    }
    out.add_group();
    for (const auto& [j, block] : blocks) out.add_entry(j) = block;
  }
}

// The y of least |L y - q|: what the bodies bring along, as far as W tells.
VectorXd whitened(const MatrixXd& L, const Eigen::Ref<const VectorXd>& q, const std::vector<int>& set) {
  VectorXd part(L.rows());
  for (std::size_t k = 0; k < set.size(); ++k) part.segment<3>(3 * static_cast<Index>(k)) = q.segment<3>(3 * set[k]);
  return L.householderQr().solve(part);
}

}  // namespace

double require_finite_entries(std::string_view argument, const SparseMatrix& matrix) {
  double largest = 0.0;
  for (Index j = 0; j < matrix.outerSize(); ++j) {
    for (SparseMatrix::InnerIterator entry(matrix, j); entry; ++entry) {
      if (!std::isfinite(entry.value())) {
        throw InvalidArgument(fmt::format("{}[{}, {}]", argument, entry.row(), j), "a finite number", fmt::format("{}", entry.value()));
      }
      largest = std::max(largest, std::abs(entry.value()));
    }
  }
  return largest;
}

ReducedProblem reduce_sparse(const SparseMatrix& W, const Eigen::Ref<const VectorXd>& q, const Eigen::Ref<const VectorXd>& mu,
                             bool symmetric_part) {
  if (symmetric_part) {
    if (W.cols() != W.rows()) throw InvalidArgument("W", "a square matrix", fmt::format("{} x {}", W.rows(), W.cols()));
    return reduce_sparse(0.5 * (W + SparseMatrix(W.transpose())), q, mu);
  }
  check(W, q, mu);
  const double scale = require_finite_entries("W", W);
  const std::size_t n = static_cast<std::size_t>(mu.size());
  ReducedProblem out;
  std::vector<MatrixXd> factors;
  std::vector<double> y_free;
  std::vector<int> widths, block_of(n, -1), place(n, 0);
  for (const std::vector<int>& set : coupled_sets(W)) {
    for (std::size_t k = 0; k < set.size(); ++k) place[set[k]] = static_cast<int>(k);
    const MatrixXd part = extract(W, set, place);
    check_symmetry(part, scale);
    const MatrixXd S = 0.5 * part + 0.5 * part.transpose();
    auto [L, rest] = factor(S);
    keep_defect(part - S + rest, scale, set, W.rows(), out.defect);
    if (L.cols() == 0) continue;
    for (const int i : set) block_of[i] = static_cast<int>(factors.size());
    widths.push_back(static_cast<int>(L.cols()));
    const VectorXd y = whitened(L, q, set);
    y_free.insert(y_free.end(), y.begin(), y.end());
    factors.push_back(std::move(L));
  }

  out.Rt.reset(3, widths);
  for (std::size_t i = 0; i < n; ++i) {
    out.Rt.add_group();
    if (block_of[i] >= 0) {
      out.Rt.add_entry(block_of[i]) = factors[block_of[i]].middleRows(3 * place[i], 3);
    } else if (widths.size() == 1) {
      out.Rt.add_entry(0).setZero();  // keeps the single block contiguous
    }
  }
  if (std::ranges::any_of(widths, [](int r) { return r > kSmallRank; })) keep_blocks(W, out.delassus);
  out.u_free = q;
  out.offset.setZero(mu.size());
  out.closed.assign(n, 1);
  out.mu = mu;
  out.Bt.reset(1, widths);
  out.y_free = VectorXd::Map(y_free.data(), static_cast<Index>(y_free.size()));
  return out;
}

ReducedProblem reduce_dense(const ConstMatrix& W, const Eigen::Ref<const VectorXd>& q, const Eigen::Ref<const VectorXd>& mu,
                            bool symmetric_part) {
  return reduce_sparse(W.sparseView(), q, mu, symmetric_part);
}

}  // namespace stiction
