#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <Eigen/SparseCholesky>

#include "stiction/base/disjoint_sets.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/problem/reduce_sparse.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Ref = Eigen::Ref<const VectorXd>;

constexpr double kMostEntries = 2.5e8;  // of R_t

void check(const SparseMatrix& M, const SparseMatrix& H, const Ref& f, const Ref& w, const Ref& mu) {
  if (M.rows() != M.cols()) throw InvalidArgument("M", "a square matrix", fmt::format("{} x {}", M.rows(), M.cols()));
  require_size("H.rows", H.rows(), M.rows());
  require_size("H.cols", H.cols(), 3 * mu.size());
  require_size("f", f.size(), M.rows());
  require_size("w", w.size(), H.cols());
  require_finite_entries("M", M);
  require_finite_entries("H", H);
  require_finite("f", f);
  require_finite("w", w);
  require_nonnegative("mu", mu, true);
  const SparseMatrix difference = M - SparseMatrix(M.transpose());
  if (!(difference.norm() <= 1e-9 * M.norm())) throw InvalidArgument("M", "a symmetric matrix", "an asymmetric one");
}

struct Bodies {
  std::vector<std::vector<int>> coordinates;  // of each body
  std::vector<int> body_of, place;            // of a coordinate: its body, and its position there
  std::vector<int> block_of, widths;          // of a body: its block of columns, -1 without contacts; of a block: its width
};

// See the header for what a body is.
Bodies find_bodies(const SparseMatrix& M, int per_body) {
  DisjointSets sets(static_cast<int>(M.rows()));
  bool runs = M.rows() % per_body == 0;
  for (Index j = 0; j < M.outerSize(); ++j) {
    for (SparseMatrix::InnerIterator entry(M, j); entry; ++entry) {
      if (entry.value() == 0.0) continue;
      sets.join(static_cast<int>(entry.row()), static_cast<int>(j));
      runs = runs && entry.row() / per_body == j / per_body;
    }
  }
  for (int j = 0; runs && j < static_cast<int>(M.rows()); ++j) sets.join(j, j - j % per_body);
  Bodies out;
  out.coordinates = sets.sets();
  out.body_of.resize(M.rows());
  out.place.resize(out.body_of.size());
  for (std::size_t k = 0; k < out.coordinates.size(); ++k) {
    for (std::size_t i = 0; i < out.coordinates[k].size(); ++i) {
      out.body_of[out.coordinates[k][i]] = static_cast<int>(k);
      out.place[out.coordinates[k][i]] = static_cast<int>(i);
    }
  }
  return out;
}

using Factor = Eigen::SimplicialLLT<SparseMatrix>;

// Cholesky factor of one body's part of M. `place` maps a coordinate to its position in its body.
void factor(const SparseMatrix& M, const std::vector<int>& body, const std::vector<int>& place, Factor& llt) {
  std::vector<Eigen::Triplet<double>> entries;
  for (const int j : body) {
    for (SparseMatrix::InnerIterator entry(M, j); entry; ++entry) {
      if (entry.value() == 0.0) continue;
      entries.emplace_back(place[entry.row()], place[j], entry.value());
    }
  }
  SparseMatrix part(static_cast<Index>(body.size()), static_cast<Index>(body.size()));
  part.setFromTriplets(entries.begin(), entries.end());
  llt.compute(part);
  if (llt.info() != Eigen::Success) {
    throw InvalidArgument(fmt::format("M of coordinates {} to {}", body.front(), body.back()), "a positive definite matrix",
                          "one with an eigenvalue <= 0");
  }
}

void whiten(const Factor& llt, VectorXd& x) {
  x = llt.permutationP() * x;
  llt.matrixL().solveInPlace(x);
}

// Bodies that a contact acts on, ascending.
std::vector<int> touched(const SparseMatrix& H, int contact, const std::vector<int>& body_of) {
  std::vector<int> bodies;
  for (int c = 0; c < 3; ++c) {
    for (SparseMatrix::InnerIterator entry(H, 3 * contact + c); entry; ++entry) {
      if (entry.value() != 0.0) bodies.push_back(body_of[entry.row()]);
    }
  }
  std::ranges::sort(bodies);
  bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
  return bodies;
}

// Blocks of columns for the bodies with contacts; returns those of each contact.
std::vector<std::vector<int>> assign_blocks(const SparseMatrix& H, int contacts, Bodies& bodies) {
  std::vector<std::vector<int>> touching;
  bodies.block_of.assign(bodies.coordinates.size(), -1);
  double entries = 0.0;
  for (int i = 0; i < contacts; ++i) {
    touching.push_back(touched(H, i, bodies.body_of));
    for (const int body : touching.back()) {
      bodies.block_of[body] = 0;
      entries += 3.0 * static_cast<double>(bodies.coordinates[body].size());
    }
  }
  if (entries > kMostEntries) {
    throw InvalidArgument("M, H", fmt::format("at most {:.2g} entries of M^(-1/2) H", kMostEntries), fmt::format("{:.2g}", entries));
  }
  for (std::size_t k = 0; k < bodies.coordinates.size(); ++k) {
    if (bodies.block_of[k] < 0) continue;
    bodies.block_of[k] = static_cast<int>(bodies.widths.size());
    bodies.widths.push_back(static_cast<int>(bodies.coordinates[k].size()));
  }
  return touching;
}

// Factors every body's part of M, and whitens its momentum: y = L⁻¹ f.
void factor_bodies(const SparseMatrix& M, const Ref& f, const Bodies& bodies, std::vector<Factor>& factors, GrowVector& y) {
  Index at = 0;
  VectorXd momentum;
  for (std::size_t k = 0; k < bodies.coordinates.size(); ++k) {
    if (bodies.block_of[k] < 0) continue;
    Factor& llt = factors[bodies.block_of[k]];
    factor(M, bodies.coordinates[k], bodies.place, llt);
    momentum = f(bodies.coordinates[k]);
    whiten(llt, momentum);
    y.segment(at, momentum.size()) = momentum;
    at += momentum.size();
  }
}

// Row group of one contact: for every body that it touches, (L⁻¹ H_contact)ᵀ.
void add_contact(const SparseMatrix& H, int contact, const std::vector<int>& touching, const Bodies& bodies,
                 const std::vector<Factor>& factors, BlockRows& Rt) {
  Rt.add_group();
  VectorXd column;
  for (const int body : touching) {
    const int block = bodies.block_of[body];
    RowMap out = Rt.add_entry(block);
    for (int c = 0; c < 3; ++c) {
      column.setZero(Rt.block_size(block));
      for (SparseMatrix::InnerIterator entry(H, 3 * contact + c); entry; ++entry) {
        const std::size_t row = static_cast<std::size_t>(entry.row());
        if (bodies.body_of[row] == body) column[bodies.place[row]] += entry.value();
      }
      whiten(factors[block], column);
      out.row(c) = column.transpose();
    }
  }
  if (Rt.blocks() == 1 && touching.empty()) Rt.add_entry(0);  // keeps the single block contiguous
}

}  // namespace

ReducedProblem reduce_global(const SparseMatrix& M, const SparseMatrix& H, const Ref& f, const Ref& w, const Ref& mu,
                             int coordinates_per_body) {
  check(M, H, f, w, mu);
  const int n = static_cast<int>(mu.size());
  Bodies bodies = find_bodies(M, coordinates_per_body);
  const auto touching = assign_blocks(H, n, bodies);
  ReducedProblem out;
  out.Rt.reset(3, bodies.widths);
  out.y_free.resize(out.Rt.cols());
  std::vector<Factor> factors(bodies.widths.size());
  factor_bodies(M, f, bodies, factors, out.y_free);
  for (int i = 0; i < n; ++i) add_contact(H, i, touching[i], bodies, factors, out.Rt);
  out.u_free.resize(3 * n);
  out.Rt.multiply(out.y_free, out.u_free);
  out.u_free += w;
  out.offset.setZero(n);
  out.closed.assign(n, 1);
  out.mu = mu;
  out.Bt.reset(1, bodies.widths);
  return out;
}

}  // namespace stiction
