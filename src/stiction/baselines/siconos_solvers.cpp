// Siconos' nonsmooth Gauss-Seidel (NSGS, its default local solver) and lexicographic Lemke, with their default settings but tolerance and
// iterations. Contact rows N S T, as Siconos has them.
#include <chrono>
#include <vector>

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#include <lcp_cst.h>

#include "stiction/baselines/peer_solvers.hpp"

namespace stiction::peers {

namespace {

using Eigen::Index;

// The 3 x 3 blocks of W that are not zero, by rows: Siconos' block-sparse storage over memory of ours.
class Blocks {
 public:
  explicit Blocks(const Eigen::MatrixXd& W) {
    const Index n = W.rows() / 3;
    row_begin_.push_back(0);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        const Eigen::Matrix3d block = W.block<3, 3>(3 * i, 3 * j);
        if (i != j && block.isZero(0.0)) continue;
        if (i == j) diagonal_.push_back(static_cast<unsigned>(columns_.size()));
        columns_.push_back(static_cast<std::size_t>(j));
        values_.insert(values_.end(), block.data(), block.data() + 9);
      }
      row_begin_.push_back(columns_.size());
      sizes_.push_back(static_cast<unsigned>(3 * (i + 1)));
    }
    for (std::size_t k = 0; k < columns_.size(); ++k) pointers_.push_back(values_.data() + 9 * k);
    matrix_.nbblocks = static_cast<unsigned>(columns_.size());
    matrix_.block = pointers_.data();
    matrix_.blocknumber0 = matrix_.blocknumber1 = static_cast<unsigned>(n);
    matrix_.blocksize0 = matrix_.blocksize1 = sizes_.data();
    matrix_.filled1 = row_begin_.size();
    matrix_.filled2 = columns_.size();
    matrix_.index1_data = row_begin_.data();
    matrix_.index2_data = columns_.data();
    matrix_.diagonal_blocks = diagonal_.data();
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  double density() const {
    const double n = static_cast<double>(sizes_.size());
    return static_cast<double>(columns_.size()) / (n * n);
  }
  SparseBlockStructuredMatrix* get() { return &matrix_; }

 private:
  std::vector<double> values_;
  std::vector<double*> pointers_;
  std::vector<std::size_t> row_begin_, columns_;
  std::vector<unsigned> sizes_, diagonal_;
  SparseBlockStructuredMatrix matrix_{};
};

template <class Solve>
void timed(Answer& answer, Solve solve) {
  numerics_set_verbose(0);
  const auto start = std::chrono::steady_clock::now();
  answer.converged = solve() == 0;
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What Siconos allocated, not what is ours.
void release(SolverOptions* options, NumericsMatrix& M) {
  solver_options_delete(options);
  M.matrix0 = nullptr;
  M.matrix1 = nullptr;
  NM_clear(&M);
}

}  // namespace

Answer siconos_nsgs(const DenseContacts& problem, double tolerance, int max_iterations) {
  Eigen::MatrixXd W = problem.W;
  Eigen::VectorXd q = problem.q, mu = problem.mu, velocity = Eigen::VectorXd::Zero(q.size());
  Blocks blocks(W);
  NumericsMatrix M;
  NM_null(&M);
  M.size0 = M.size1 = static_cast<int>(W.rows());
  M.storageType = blocks.density() <= 0.5 ? NM_SPARSE_BLOCK : NM_DENSE;
  M.matrix0 = W.data();
  if (M.storageType == NM_SPARSE_BLOCK) {
    M.matrix0 = nullptr;
    M.matrix1 = blocks.get();
  }
  FrictionContactProblem contacts{};
  contacts.dimension = 3;
  contacts.numberOfContacts = static_cast<int>(mu.size());
  contacts.M = &M;
  contacts.q = q.data();
  contacts.mu = mu.data();
  SolverOptions* options = solver_options_create(SICONOS_FRICTION_3D_NSGS);
  options->dparam[SICONOS_DPARAM_TOL] = tolerance;
  options->iparam[SICONOS_IPARAM_MAX_ITER] = max_iterations;
  Answer answer;
  answer.x = Eigen::VectorXd::Zero(q.size());
  timed(answer, [&] { return fc3d_driver(&contacts, answer.x.data(), velocity.data(), options); });
  answer.iterations = options->iparam[SICONOS_IPARAM_ITER_DONE];
  release(options, M);
  return answer;
}

Answer siconos_lexicolemke(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& vector, int max_iterations) {
  Eigen::MatrixXd values = matrix;
  Eigen::VectorXd q = vector, w = Eigen::VectorXd::Zero(q.size());
  NumericsMatrix M;
  NM_null(&M);
  M.size0 = M.size1 = static_cast<int>(q.size());
  M.storageType = NM_DENSE;
  M.matrix0 = values.data();
  LinearComplementarityProblem lcp{};
  lcp.size = static_cast<int>(q.size());
  lcp.M = &M;
  lcp.q = q.data();
  SolverOptions* options = solver_options_create(SICONOS_LCP_LEMKE);
  options->iparam[SICONOS_IPARAM_MAX_ITER] = max_iterations;
  Answer answer;
  answer.x = Eigen::VectorXd::Zero(q.size());
  timed(answer, [&] { return linearComplementarity_driver(&lcp, answer.x.data(), w.data(), options); });
  answer.iterations = options->iparam[SICONOS_IPARAM_ITER_DONE];
  release(options, M);
  return answer;
}

}  // namespace stiction::peers
