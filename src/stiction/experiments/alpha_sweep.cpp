#include "stiction/experiments/alpha_sweep.hpp"

#include <algorithm>

#include "stiction/base/errors.hpp"
#include "stiction/experiments/cut_robot.hpp"
#include "stiction/experiments/published.hpp"
#include "stiction/sim/simulation.hpp"

namespace stiction {

namespace {

using Eigen::VectorXd;

struct Problems {
  std::vector<ReducedProblem> minimal, extended, maximal;
  int steps = 0;
  double contacts = 0.0;
};

ReducedProblem moreau_problem(const ContactProblem& p, bool keep_bilateral) {
  Reduction reduction;
  reduce(p, reduction, {.keep_bilateral = keep_bilateral});
  LawModel moreau;
  moreau.law = Law::moreau;
  StandardForm form;
  make_standard_form(reduction.reduced, lowered(reduction.reduced, moreau), form);
  return std::move(form.problem);
}

void take_problem(const Stepper& stepper, const VectorXd& tau, Problems& out) {
  const ContactProblem& p = stepper.problem();
  ReducedProblem minimal = moreau_problem(p, false);
  if (minimal.contacts() == 0) return;
  out.contacts += minimal.contacts();
  out.minimal.push_back(std::move(minimal));
  const auto cut = [&](Cut where) {
    return moreau_problem(cut_robot(stepper.world(), stepper.data(), tau, stepper.contacts(), p, where), true);
  };
  out.extended.push_back(cut(Cut::extended));
  out.maximal.push_back(cut(Cut::maximal));
}

// World force at the base's origin as generalised forces; the free joint's coordinates have body axes.
void add_push(const World& world, const State& state, double force, VectorXd& tau) {
  const Joint& base = world.joints()[0];
  const Eigen::Quaterniond R(Eigen::Vector4d(state.q.segment<4>(base.q + 3)));
  tau.segment<3>(base.v) += R.inverse() * Eigen::Vector3d(0.0, force, 0.0);
}

Problems collect(const Scene& scene, const AlphaSweepOptions& options) {
  Scene copy = scene;
  copy.options.contact = SolveOptions{};
  copy.options.contact.law = Law::moreau;
  copy.options.assemble.joint_limits = copy.options.assemble.dry_friction = false;
  const long steps = std::lround(scene.duration / copy.options.assemble.dt);
  Problems out;
  const auto control = [&](Simulation& simulation, VectorXd& tau) {
    const long k = simulation.steps();
    scene.held_torques(simulation.state(), tau);
    if (5 * k >= 2 * steps && 5 * k < 3 * steps) add_push(simulation.world(), simulation.state(), options.push, tau);
    const Stepper& prepared = simulation.prepare(tau);
    if (k % options.stride == 0) take_problem(prepared, tau, out);
  };
  out.steps = static_cast<int>(Simulation(copy).run({.duration = scene.duration, .control = control}).steps);
  return out;
}

using Method = void (*)(const ReducedProblem&, const ProxOptions&, ProxWorkspace&, ProxSolution&);

AlphaPoint run(const std::vector<ReducedProblem>& problems, Method method, double alpha, const AlphaSweepOptions& options) {
  ProxOptions prox;
  prox.alpha = alpha;
  prox.max_iterations = options.max_iterations;
  prox.relative_tolerance = prox.absolute_tolerance = options.tolerance;
  prox.warm_start = options.warm_start;
  ProxWorkspace workspace;
  ProxSolution solution;
  AlphaPoint point;
  point.alpha = alpha;
  long sum = 0;
  for (const ReducedProblem& p : problems) {
    method(p, prox, workspace, solution);
    if (solution.status != Status::solved) {
      ++point.failures;
      continue;
    }
    sum += solution.iterations;
    point.most_iterations = std::max(point.most_iterations, solution.iterations);
  }
  const int converged = static_cast<int>(problems.size()) - point.failures;
  point.mean_iterations = converged > 0 ? static_cast<double>(sum) / converged : 0.0;
  return point;
}

AlphaCurve draw(AlphaCurve curve, const std::vector<ReducedProblem>& problems, Method method, const AlphaSweepOptions& options) {
  curve.published_alpha = published_prox_alpha(curve.name);
  double fewest = kInfinity;
  bool all = true;
  for (const double alpha : options.alphas) {
    curve.points.push_back(run(problems, method, alpha, options));
    const AlphaPoint& point = curve.points.back();
    all = all && point.failures == 0;
    if (all) curve.largest = alpha;
    if (point.failures == 0 && point.mean_iterations < fewest) {
      fewest = point.mean_iterations;
      curve.fastest = alpha;
    }
  }
  return curve;
}

void check(const AlphaSweepOptions& options) {
  if (options.alphas.empty() || !std::ranges::is_sorted(options.alphas) || !(options.alphas.front() > 0.0) ||
      !(options.alphas.back() < 2.0))
    throw InvalidArgument("alphas", "ascending numbers in (0, 2)", "others");
  require_positive("tolerance", options.tolerance);
  if (options.stride < 1) throw InvalidArgument("stride", "an integer >= 1", std::to_string(options.stride));
  if (options.max_iterations < 1) throw InvalidArgument("max_iterations", "an integer >= 1", std::to_string(options.max_iterations));
}

}  // namespace

AlphaSweep sweep_alpha(const Scene& scene, const AlphaSweepOptions& options) {
  check(options);
  const Problems problems = collect(scene, options);
  AlphaSweep out;
  out.steps = problems.steps;
  out.problems = static_cast<int>(problems.minimal.size());
  out.mean_contacts = out.problems > 0 ? problems.contacts / out.problems : 0.0;
  out.curves.push_back(draw({"HmJ", "minimal", "jor", {}, {}, {}, {}}, problems.minimal, jor, options));
  out.curves.push_back(draw({"HmS", "minimal", "sor", {}, {}, {}, {}}, problems.minimal, sor, options));
  out.curves.push_back(draw({"HEJP", "extended", "jor", {}, {}, {}, {}}, problems.extended, jor, options));
  out.curves.push_back(draw({"HESP", "extended", "sor", {}, {}, {}, {}}, problems.extended, sor, options));
  out.curves.push_back(draw({"HMJP", "maximal", "jor", {}, {}, {}, {}}, problems.maximal, jor, options));
  out.curves.push_back(draw({"HMSP", "maximal", "sor", {}, {}, {}, {}}, problems.maximal, sor, options));
  return out;
}

}  // namespace stiction
