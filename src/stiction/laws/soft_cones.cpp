#include "stiction/laws/soft_cones.hpp"

namespace stiction {

void solve_by_newton(const StandardForm& form, const SolverOptions& options, SoftConesWorkspace& w, Impulses& out) {
  w.contacts.assign(form.contacts.size(), {});
  for (std::size_t k = 0; k < w.contacts.size(); ++k) {
    SoftContact& c = w.contacts[k];
    const Eigen::Index i = static_cast<Eigen::Index>(k);
    c.mu = form.problem.mu[i];
    c.reference = {-form.problem.offset[i], 0.0, 0.0};
    if (form.compliance.size() == 0) continue;
    c.normal = form.compliance[2 * i];
    c.tangential = form.compliance[2 * i + 1];
  }
  SoftConeOptions program;
  program.edges = form.edges;
  program.max_iterations = std::min(program.max_iterations, options.max_factorizations);
  program.warm_start = is_start(form.problem, options, out);
  if (program.warm_start) {
    w.solution.lambda = out.lambda;
    w.solution.beta = out.beta;
  }
  soft_cone(form.problem, w.contacts, program, w.program, w.solution);
  out.lambda = w.solution.lambda;
  out.beta = w.solution.beta;
  out.status = w.solution.status;
  out.iterations = w.solution.iterations;
}

}  // namespace stiction
