#include "stiction/inverse/stage_one.hpp"

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void check(const ContactProblem& p) {
  if (p.M.blocks() != 1) throw InvalidArgument("M", "one block (one robot)", fmt::format("{} blocks", p.M.blocks()));
  if (p.bounded_rows() != 0) throw InvalidArgument("J_b", "no further rows", fmt::format("{}", p.bounded_rows()));
  const int left = p.velocities() - static_cast<int>(p.prescribed.size());
  if (left < 1)
    throw InvalidArgument("prescribed", "at least one velocity left free", fmt::format("{} of {}", p.prescribed.size(), p.velocities()));
}

/// A factor F (nv x r) of the projected inverse inertia F Fᵀ, and the velocity without contact.
struct Setup {
  MatrixXd F;
  VectorXd v_free;
};

Setup setup_plain(const ContactProblem& p) {
  const Index m = p.velocities(), nq = static_cast<Index>(p.prescribed.size()), r = m - nq;
  const MatrixXd M = p.M.block(0);
  MatrixXd X = MatrixXd::Zero(m + nq, m + nq);
  X.topLeftCorner(m, m) = M;
  for (Index i = 0; i < nq; ++i)
    X(p.prescribed[static_cast<std::size_t>(i)], m + i) = X(m + i, p.prescribed[static_cast<std::size_t>(i)]) = 1.0;
  VectorXd rhs(m + nq);
  rhs << M * p.v + p.impulse, p.v_prescribed;
  const Eigen::PartialPivLU<MatrixXd> lu(X);
  const MatrixXd V = lu.inverse().topLeftCorner(m, m);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(0.5 * (V + V.transpose()));
  Setup out;
  out.F = eigen.eigenvectors().rightCols(r) * eigen.eigenvalues().tail(r).cwiseSqrt().asDiagonal();
  out.v_free = lu.solve(rhs).head(m);
  return out;
}

Setup setup_reduced(const ContactProblem& p) {
  const Index m = p.velocities(), nq = static_cast<Index>(p.prescribed.size()), nb = m - nq;
  std::vector<char> driven(static_cast<std::size_t>(m), 0);
  for (int j : p.prescribed) driven[static_cast<std::size_t>(j)] = 1;
  std::vector<int> base;
  for (int j = 0; j < m; ++j) {
    if (driven[static_cast<std::size_t>(j)] == 0) base.push_back(j);
  }
  const MatrixXd inverse = MatrixXd(p.M.block(0)).llt().solve(MatrixXd::Identity(m, m));
  const MatrixXd D = inverse(base, base), E = inverse(base, p.prescribed), G = inverse(p.prescribed, p.prescribed);
  const Eigen::LLT<MatrixXd> G_factor(G);
  const MatrixXd S = D - E * G_factor.solve(E.transpose());
  // Velocity without contacts and joint forces, then the joint forces that bring the joints to their velocities.
  const VectorXd coasting = p.v + inverse * p.impulse;
  Setup out;
  out.F = MatrixXd::Zero(m, nb);
  const MatrixXd L = S.llt().matrixL();
  for (Index i = 0; i < nb; ++i) out.F.row(base[static_cast<std::size_t>(i)]) = L.row(i);
  out.v_free.resize(m);
  const VectorXd correction = E * G_factor.solve(VectorXd(p.v_prescribed) - VectorXd(coasting(p.prescribed)));
  for (Index i = 0; i < nb; ++i)
    out.v_free[base[static_cast<std::size_t>(i)]] = coasting[base[static_cast<std::size_t>(i)]] + correction[i];
  for (Index i = 0; i < nq; ++i) out.v_free[p.prescribed[static_cast<std::size_t>(i)]] = p.v_prescribed[i];
  return out;
}

}  // namespace

StageOneFlops stage_one_flops(int velocities, int joints, int contacts, int edges) {
  const double m = velocities, q = joints, n = contacts, k = edges, b = m - q, z = n * (n * k + 1.0);
  StageOneFlops flops;
  flops.plain = m * m * m / 3 + m * m * q + m * m + m * q * q + 2 * m * q - 7 * m / 3 + q * q * q / 3 + q * q - 7 * q / 3 + 1  // LDLᵀ(X)
                + m + 2 * m * m * n + q + 4 * m * n * q + 2 * n * q * q                                                        // X⁻¹Nᵀ
                + m + 2 * k * m * m * n + q + 4 * k * m * n * q + 2 * k * n * q * q                                            // X⁻¹Fᵀ
                + 2 * m * n * n - m * n                                                // N X⁻¹Nᵀ
                + 2 * m * n * n * k - m * n                                            // F X⁻¹Nᵀ
                + 2 * m * n * n * k * k - m * n * k                                    // F X⁻¹Fᵀ
                + 2 * m * m - m + 2 * (m + q) * (m + q)                                // κ, X⁻¹κ
                + m * n - m + m * n * k - m + 2 * (m + q) * (m + q);                   // N X⁻¹κ, F X⁻¹κ, τ
  flops.reduced = 2 * m * m * m / 3 + m * m / 2 + 5 * m / 6                            // (LLᵀ(M))⁻¹
                  + q * q * q / 3 + q * q / 2 + q / 6                                  // LLᵀ(G)
                  + b * m + q * z * (2 * m - 1) + b * m * (2 * q - 1) + 2 * q * q * m  // Z
                  + 2 * b * q + 2 * q * q + 3 * q + 2 * b + 2 * m + 2 * m * q          // p
                  + 2 * b * b * z - b * z + 2 * b * z * z - z * z                      // ZᵀAZ
                  + (z + b) * (2 * b - 1) + (z + q) * (2 * q - 1)                      // ZᵀAp, ZᵀBv*
                  + n * z * (2 * b - 1) + n * (2 * m - 1);                             // NᵀZ, Nᵀ[p; v*]
  return flops;
}

ReducedProblem stage_one_setup(const ContactProblem& p, StageOneForm form) {
  check(p);
  const Setup setup = form == StageOneForm::plain ? setup_plain(p) : setup_reduced(p);
  const int r = static_cast<int>(setup.F.cols());
  const MatrixXd J = p.J.to_dense();
  ReducedProblem out;
  out.Rt = BlockRows::from_dense(3, J * setup.F, std::span(&r, 1));
  out.u_free = J * setup.v_free;
  out.y_free = setup.F.transpose() * (MatrixXd(p.M.block(0)) * setup.v_free);
  normal_offset(p, out.offset);
  find_closed(p, out.closed);
  out.mu = p.mu;
  out.Bt.reset(1, std::span(&r, 1));
  return out;
}

}  // namespace stiction
