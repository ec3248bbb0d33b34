// From impulses to a solution: velocities, certificate, status, and the proof where there is none; or what stands for one where no program
// can be asked.
#include <algorithm>
#include <cmath>
#include <span>

#include "stiction/laws/solve.hpp"
#include "stiction/problem/reduced_certificate.hpp"

namespace stiction {

namespace {

// The solver's own ray first.
bool find_proof(const ProblemView& p, SolveWorkspace& w, InfeasibilityRay& ray) {
  if (w.impulses.ray.size() > 0 && complete_proof(p, w.reduction, w.terms, w.impulses.ray, w.infeasibility, ray)) return true;
  return find_infeasibility(p, w.reduction, w.terms, w.infeasibility, ray);
}
bool find_proof(const ReducedProblem& p, SolveWorkspace& w, InfeasibilityRay& ray) {
  if (w.impulses.ray.size() > 0 && complete_proof(p, w.terms, w.impulses.ray, w.infeasibility, ray)) return true;
  return find_infeasibility(p, w.terms, w.infeasibility, ray);
}

// A point that is no solution comes with a proof that there is none, where one is found, or with Lemke's ray.
template <class Problem>
void explain_failure(const Problem& problem, SolveWorkspace& w, Solution& solution) {
  InfeasibilityRay& ray = solution.ray;
  ray.clear();
  if (solution.status == Status::solved) return;
  if (find_proof(problem, w, ray)) {
    solution.status = Status::infeasible;
    return;
  }
  if (w.impulses.ray.size() > 0) ray.impulses = w.impulses.ray;
  if (solution.status == Status::infeasible) solution.status = Status::inaccurate;  // a solver's word that nobody can check
}

// `solved` when the certificate is within the tolerance, else what the solver said or `inaccurate`.
Status certified_status(Status solver, const Certificate& certificate, double tolerance) {
  if (certificate.worst() <= tolerance) return Status::solved;
  return solver == Status::solved ? Status::inaccurate : solver;
}

// The optimality conditions of the energy's program, which only it can check.
double energy_residual(const ReducedProblem& p, SolveWorkspace& w, const Certificate& certificate) {
  Impulses& cone = w.cone;
  collect_impulses(w.form, w.terms, w.impulses.lambda, cone.lambda);
  cone.beta = w.impulses.beta;
  const Eigen::Index k = static_cast<Eigen::Index>(w.form.contacts.size()), m = p.bounded_rows();
  cone.multipliers.setZero(k + m);
  if (w.impulses.multipliers.size() > 0) {
    for (Eigen::Index j = 0; j < k; ++j) cone.multipliers[j] = w.impulses.multipliers[w.form.contacts[j]];
    cone.multipliers.tail(m) = w.impulses.multipliers.tail(m);
  }
  return optimality_residual(w.form, cone, certificate.velocity_scale, certificate.impulse_scale, w.max_dissipation);
}

// What follows the certificate: the contact velocities it was computed with, the conditions that only the program can check, status.
void conclude(const ReducedProblem& p, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  if (solution.certificate.finite) {
    solution.u = w.certificate.u;
  } else {
    solution.u.setZero(3 * p.contacts());
  }
  if (w.terms.family == Family::energy) solution.certificate.dissipation.scaled = energy_residual(p, w, solution.certificate);
  solution.iterations = w.impulses.iterations;
  solution.fallbacks = w.impulses.fallbacks;
  solution.status = certified_status(w.impulses.status, solution.certificate, options.tolerance);
}

// ν of the contacts and of all rows of J_b, of which `rows` are those of Bt; nothing for programs without.
void set_multipliers(Family family, const GrowVector& from, int contacts, std::span<const int> rows, int all_rows, GrowVector& to) {
  to.resize(0);
  if (family != Family::energy) return;
  to.setZero(contacts + all_rows);
  if (from.size() == 0) return;  // nothing was left to solve
  to.head(contacts) = from.head(contacts);
  for (std::size_t j = 0; j < rows.size(); ++j) to[contacts + rows[j]] = from[contacts + static_cast<Eigen::Index>(j)];
}

// What every program asks of rows and velocities.
bool is_finite(const ReducedProblem& p) {
  return std::isfinite(p.Rt.square() + p.Bt.square()) && p.u_free.allFinite() && p.w_free.allFinite();
}

void set_no_solution(const SolveWorkspace& w, int contacts, int rows, Solution& solution) {
  solution.u.setZero(3 * contacts);
  solution.impulses.setZero(3 * contacts);
  solution.bounded_impulses.setZero(rows);
  set_multipliers(w.terms.family, {}, contacts, {}, rows, solution.multipliers);
  solution.status = Status::numerical_error;
  solution.certificate = {};
  solution.certificate.finite = false;
  solution.ray.clear();
  solution.iterations = solution.fallbacks = 0;
  solution.choice_met = false;
}

}  // namespace

bool gives_up(const ProblemView& problem, const SolveWorkspace& w, Solution& solution) {
  if (w.reduction.v_free.allFinite() && is_finite(w.form.problem)) return false;
  set_no_solution(w, problem.contacts(), problem.bounded_rows(), solution);
  solution.v = problem.v;
  solution.prescribed_impulses.setZero(static_cast<Eigen::Index>(problem.prescribed.size()));
  return true;
}

bool gives_up(const ReducedProblem& problem, const SolveWorkspace& w, Solution& solution) {
  if (is_finite(w.form.problem)) return false;
  set_no_solution(w, problem.contacts(), problem.bounded_rows(), solution);
  solution.v.resize(0);
  solution.prescribed_impulses.resize(0);
  return true;
}

void complete(const ProblemView& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  solution.impulses = w.impulses.lambda;
  if (w.impulses.motion.size() > 0) {
    recover_velocity(w.reduction, w.impulses.motion, solution.v);
  } else {
    recover_velocity(w.reduction, w.impulses.lambda, w.impulses.beta, solution.v);
  }
  expand_bounded(problem, w.reduction, w.impulses.beta, solution.bounded_impulses);
  set_multipliers(w.terms.family, w.impulses.multipliers, problem.contacts(), w.reduction.bounded, problem.bounded_rows(),
                  solution.multipliers);
  recover_bilateral(problem, w.reduction, solution.v, solution.impulses, solution.bounded_impulses, solution.prescribed_impulses);

  certify(problem, w.terms, solution.v, solution.impulses, solution.bounded_impulses, solution.prescribed_impulses, w.certificate,
          solution.certificate);
  conclude(w.reduction.reduced, options, w, solution);
  explain_failure(problem, w, solution);
}

void complete(const ReducedProblem& problem, const SolveOptions& options, SolveWorkspace& w, Solution& solution) {
  solution.v.resize(0);
  solution.impulses = w.impulses.lambda;
  solution.bounded_impulses = w.impulses.beta;
  solution.multipliers = w.impulses.multipliers;
  solution.prescribed_impulses.resize(0);
  certify(problem, w.terms, solution.impulses, solution.bounded_impulses, w.certificate, solution.certificate);
  conclude(problem, options, w, solution);
  explain_failure(problem, w, solution);
}

}  // namespace stiction
