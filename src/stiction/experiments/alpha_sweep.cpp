#include "stiction/experiments/alpha_sweep.hpp"

#include <algorithm>

#include "stiction/base/errors.hpp"
#include "stiction/experiments/published.hpp"
#include "stiction/model/cut_joints.hpp"
#include "stiction/sim/scene.hpp"
#include "stiction/sim/simulation.hpp"

namespace stiction {

namespace {

using Eigen::VectorXd;

/// The bilateral rows of a robot cut apart, eliminated or iterated on.
struct CutProblems {
  std::vector<ReducedProblem> direct, by_prox;
};

struct Problems {
  std::vector<ReducedProblem> minimal;
  CutProblems extended, maximal;
  int steps = 0;
  double contacts = 0.0;
};

ReducedProblem moreau_problem(const ContactProblem& p, bool keep_bilateral) {
  Reduction reduction;
  reduce(p, reduction, {.keep_bilateral = keep_bilateral, .rows_before = true});
  LawModel moreau;
  moreau.law = Law::moreau;
  StandardForm form;
  make_standard_form(reduction.reduced, lowered(reduction.reduced, moreau), form);
  return std::move(form.problem);
}

/// Moreau's law, nothing but loops among the rows of joints; duration and step as asked for.
Scene prepared(const std::string& name, std::optional<Coordinates> coordinates, const AlphaSweepOptions& options) {
  Scene scene = load_scene(name, coordinates);
  if (options.duration) scene.duration = *options.duration;
  if (options.dt) scene.options.assemble.dt = *options.dt;
  scene.options.contact = SolveOptions{};
  scene.options.contact.law = Law::moreau;
  scene.options.assemble.joint_limits = scene.options.assemble.dry_friction = false;
  return scene;
}

/// The robot cut apart, in which the whole one's steps are posed again.
class CutRobot {
 public:
  CutRobot(const std::string& scene, Coordinates coordinates, const AlphaSweepOptions& options)
      : stepper_(prepared(scene, coordinates, options).make_stepper()), state_(initial_state(stepper_.world())), data_(stepper_.world()) {}

  void add_problems(const WorldData& whole, const State& state, const VectorXd& tau, CutProblems& out) {
    const World& world = stepper_.world();
    from_uncut(world, whole, state.q, state.v, state_.q, state_.v);
    update(world, state_.q, state_.v, data_);
    VectorXd forces = VectorXd::Zero(world.nv());
    add_uncut_forces(world, data_, tau, forces);
    stepper_.prepare(state_, forces);
    out.direct.push_back(moreau_problem(stepper_.problem(), false));
    out.by_prox.push_back(moreau_problem(stepper_.problem(), true));
  }

 private:
  Stepper stepper_;
  State state_;
  WorldData data_;
};

// World force at the base's origin as generalised forces; the free joint's coordinates have body axes.
void add_push(const World& world, const State& state, double force, VectorXd& tau) {
  const Joint& base = world.joints()[0];
  const Eigen::Quaterniond R(Eigen::Vector4d(state.q.segment<4>(base.q + 3)));
  tau.segment<3>(base.v) += R.inverse() * Eigen::Vector3d(0.0, force, 0.0);
}

Problems collect(const std::string& name, const AlphaSweepOptions& options) {
  const Scene scene = prepared(name, Coordinates::minimal, options);
  CutRobot extended(name, Coordinates::extended, options), maximal(name, Coordinates::maximal, options);
  const long steps = std::lround(scene.duration / scene.options.assemble.dt);
  Problems out;
  const auto control = [&](Simulation& simulation, VectorXd& tau) {
    const long k = simulation.steps();
    scene.held_torques(simulation.state(), tau);
    if (5 * k >= 2 * steps && 5 * k < 3 * steps) add_push(simulation.world(), simulation.state(), options.push, tau);
    const Stepper& stepper = simulation.prepare(tau);
    if (k % options.stride != 0) return;
    ReducedProblem minimal = moreau_problem(stepper.problem(), false);
    if (minimal.contacts() == 0) return;
    out.contacts += minimal.contacts();
    out.minimal.push_back(std::move(minimal));
    extended.add_problems(stepper.data(), simulation.state(), tau, out.extended);
    maximal.add_problems(stepper.data(), simulation.state(), tau, out.maximal);
  };
  out.steps = static_cast<int>(Simulation(scene).run({.duration = scene.duration, .control = control}).steps);
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

AlphaSweep sweep_alpha(const std::string& scene, const AlphaSweepOptions& options) {
  check(options);
  const Problems problems = collect(scene, options);
  AlphaSweep out;
  out.steps = problems.steps;
  out.problems = static_cast<int>(problems.minimal.size());
  out.mean_contacts = out.problems > 0 ? problems.contacts / out.problems : 0.0;
  const auto add = [&](const char* name, Coordinates coordinates, Method method, const std::vector<ReducedProblem>& of) {
    const char* scheme = method == Method{jor} ? "jor" : "sor";
    out.curves.push_back(draw({name, std::string(to_string(coordinates)), scheme, {}, {}, {}, {}}, of, method, options));
  };
  add("HmJ", Coordinates::minimal, jor, problems.minimal);
  add("HmS", Coordinates::minimal, sor, problems.minimal);
  add("HEJD", Coordinates::extended, jor, problems.extended.direct);
  add("HEJP", Coordinates::extended, jor, problems.extended.by_prox);
  add("HESD", Coordinates::extended, sor, problems.extended.direct);
  add("HESP", Coordinates::extended, sor, problems.extended.by_prox);
  add("HMJD", Coordinates::maximal, jor, problems.maximal.direct);
  add("HMJP", Coordinates::maximal, jor, problems.maximal.by_prox);
  add("HMSD", Coordinates::maximal, sor, problems.maximal.direct);
  add("HMSP", Coordinates::maximal, sor, problems.maximal.by_prox);
  return out;
}

}  // namespace stiction
