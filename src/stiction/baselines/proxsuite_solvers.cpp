// ProxQP of ProxSuite, dense, with its default settings but tolerance, iterations and a duality gap that counts.
#include <algorithm>
#include <chrono>
#include <limits>

#include <proxsuite/proxqp/dense/dense.hpp>

#include "stiction/baselines/peer_solvers.hpp"

namespace stiction::peers {

Answer proxqp(const Eigen::MatrixXd& A, const Eigen::VectorXd& c, double tolerance, int max_iterations) {
  namespace prox = proxsuite::proxqp;
  const Eigen::Index m = A.rows(), r = A.cols();
  const Eigen::MatrixXd H = Eigen::MatrixXd::Identity(r, r), no_rows(0, r);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(r), none(0), lower = -c,
                        upper = Eigen::VectorXd::Constant(m, std::numeric_limits<double>::infinity());
  const auto start = std::chrono::steady_clock::now();
  prox::dense::QP<double> qp(r, 0, m);
  qp.settings.eps_abs = tolerance;
  qp.settings.eps_rel = 0.0;
  qp.settings.check_duality_gap = true;  // without, impulses of contacts that part are left over
  qp.settings.eps_duality_gap_abs = tolerance;
  qp.settings.eps_duality_gap_rel = 0.0;
  qp.settings.max_iter = max_iterations;
  qp.init(H, zero, no_rows, none, A, lower, upper);
  qp.solve();
  Answer answer;
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  answer.converged = qp.results.info.status == prox::QPSolverOutput::PROXQP_SOLVED;
  answer.iterations = static_cast<int>(qp.results.info.iter);
  answer.x = (-qp.results.z).cwiseMax(0.0);  // its multipliers of lower bounds are negative
  return answer;
}

}  // namespace stiction::peers
