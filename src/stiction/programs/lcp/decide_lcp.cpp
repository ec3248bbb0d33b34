#include "stiction/programs/lcp/decide_lcp.hpp"

#include <algorithm>

namespace stiction {

void decide_lcp(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q, const DecideLcpOptions& options,
                DecideLcpWorkspace& w, LcpSolution& solution) {
  lemke(M, q, options.lemke, w.lemke, solution);
  if (solution.status == Status::solved) return;
  if (solution.infeasible) {
    solution.status = Status::infeasible;
    return;
  }
  if (q.size() > options.enumerate.max_size) return;
  enumerate(M, q, options.enumerate, w.enumerate, w.all);
  if (w.all.count == 0) {
    if (w.all.complete) solution.status = Status::infeasible;
    return;
  }
  int least = 0;
  for (int k = 1; k < w.all.count; ++k) {
    if (w.all.z(k).norm() < w.all.z(least).norm()) least = k;
  }
  solution.z = w.all.z(least);
  solution.w.resize(q.size());
  solution.w.noalias() = M * solution.z;
  solution.w += q;
  solution.active.clear();
  for (Eigen::Index i = 0; i < q.size(); ++i) {
    if (solution.z[i] > 0.0) solution.active.push_back(static_cast<int>(i));
  }
  equilibrate(M, w.lemke.equilibration);
  solution.residual = lcp_residual(w.lemke.equilibration, q, solution.z, solution.w);
  for (Eigen::Index i = 0; i < q.size(); ++i) solution.w[i] = solution.z[i] > 0.0 ? 0.0 : std::max(solution.w[i], 0.0);
  solution.ray.resize(0);
  solution.status = solution.residual <= options.enumerate.tolerance ? Status::solved : Status::inaccurate;
}

}  // namespace stiction
