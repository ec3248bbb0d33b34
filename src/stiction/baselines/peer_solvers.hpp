// What each peer is asked: plain data in its own order of contact rows, so that no header of a peer reaches the rest of the engine.
// Internal.
#pragma once

#include <Eigen/Core>

namespace stiction::peers {

struct Answer {
  Eigen::VectorXd x;  ///< impulses, or z of an LCP
  bool converged = false;
  int iterations = 0;
  double seconds = 0.0;
};

/// u = W λ + q with rows T S N (Pinocchio: tangents first) or N S T (Siconos).
struct DenseContacts {
  Eigen::MatrixXd W;
  Eigen::VectorXd q, mu;
};

Answer pinocchio_admm(const DenseContacts& problem, double tolerance, int max_iterations);
Answer pinocchio_pgs(const DenseContacts& problem, double tolerance, int max_iterations);
Answer siconos_nsgs(const DenseContacts& problem, double tolerance, int max_iterations);
/// 0 <= z ⊥ M z + q >= 0.
Answer siconos_lexicolemke(const Eigen::MatrixXd& M, const Eigen::VectorXd& q, int max_iterations);
/// The multipliers x of min |y|²/2 subject to A y + c >= 0:  0 <= x ⊥ A Aᵀx + c >= 0. Its clock runs over set-up and solve.
Answer proxqp(const Eigen::MatrixXd& A, const Eigen::VectorXd& c, double tolerance, int max_iterations);

}  // namespace stiction::peers
