// Microseconds per inverse-dynamics call against the number of contact points, per method, cold and warm: from known M and J to torques
// and contact impulses with their certificate. Counters: median, p99 and maximum over 10,000 calls, which go through the same requests, 2
// ms apart, over and over. `slowest_us` is the largest of the requests' own medians: what the algorithm decides, where the maximum shows
// what else the machine was doing (`taskset` and `chrt -f 50` keep other programs off the core); `slowest_ratio` and `max_ratio` are both
// over the median, `beyond_5` the calls above five times it. `refused`: desired velocities with noise of 0.05 rad/s, which planted feet
// cannot follow. `limited`: torque limits, that of the joint with the largest torque nine tenths of it. Every law as in a control loop, 40
// contacts: --benchmark_filter=warm/contacts:40/
#include <algorithm>
#include <chrono>
#include <map>
#include <span>

#include <benchmark/benchmark.h>

#include "bench/benchmarks.hpp"
#include "bench/biped.hpp"
#include "stiction/base/allocation_counter.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"

namespace stiction::bench {
namespace {

struct Method {
  const char* name;
  Law law;
  Choice choice;
  Solver solver = Solver::automatic;
  double noise = 0.0;  // rad/s
  int edges = LawModel{}.edges;
  double limit = 0.0;  // of the largest torque of the first request without limits; 0: none
};

constexpr Method kMethods[] = {
    {"no_slip", Law::no_slip, Choice::warm_start},
    {"no_slip_ppm", Law::no_slip, Choice::warm_start, Solver::ppm},
    {"no_slip_refused", Law::no_slip, Choice::warm_start, Solver::automatic, 0.05},
    {"no_slip_limited", Law::no_slip, Choice::warm_start, Solver::automatic, 0.0, 4, 0.9},
    {"no_slip_limited_least_norm", Law::no_slip, Choice::least_norm, Solver::automatic, 0.0, 4, 0.9},
    {"qp_one_stage", Law::anitescu, Choice::warm_start},
    {"qp_limited", Law::anitescu, Choice::warm_start, Solver::automatic, 0.0, 4, 0.9},
    {"qp_two_stage", Law::anitescu, Choice::least_torque},
    {"kinetic_one_stage", Law::max_dissipation, Choice::warm_start},
    {"kinetic_two_stage", Law::max_dissipation, Choice::least_torque},
    {"coulomb_pyramid", Law::coulomb_pyramid, Choice::warm_start},
    {"coulomb_cone", Law::coulomb_cone, Choice::warm_start},
    {"coulomb_cone_limited", Law::coulomb_cone, Choice::warm_start, Solver::automatic, 0.0, 4, 0.9},
    {"frictionless", Law::frictionless, Choice::warm_start},
    {"viscous", Law::viscous, Choice::warm_start},
    {"qp_disc", Law::anitescu, Choice::warm_start, Solver::automatic, 0.0, 0},
    {"coulomb_ellipse", Law::coulomb_ellipse, Choice::warm_start},
    {"moreau", Law::moreau, Choice::warm_start},
    {"todorov", Law::todorov, Choice::warm_start},
    {"sap", Law::sap, Choice::warm_start},
    {"linear_penalty", Law::linear_penalty, Choice::warm_start},
    {"stick_slip_spring", Law::stick_slip_spring, Choice::warm_start},
    {"regularized_stiction", Law::regularized_stiction, Choice::warm_start},
    {"hunt_crossley", Law::hunt_crossley, Choice::warm_start},
};

// A control loop's budget: some three times what any of these calls takes.
constexpr int kFactorizations = 60, kPivots = 200;

constexpr int kStates = 64;

constexpr int kCalls = 10000;

double median(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// times[k] belongs to state k modulo kStates.
double slowest_state(const std::vector<double>& times) {
  double slowest = 0.0;
  std::vector<double> own;
  for (std::size_t state = 0; state < kStates; ++state) {
    own.clear();
    for (std::size_t k = state; k < times.size(); k += kStates) own.push_back(times[k]);
    if (!own.empty()) slowest = std::max(slowest, median(own));
  }
  return slowest;
}

// What soft contacts carry the biped with: penetrations of 0.1 mm, a load of 600 N in all. Rigid laws do not look at any of it but at
// viscosity and the axes of friction.
void soften(int contacts, BipedProblem& p) {
  constexpr double kPenetration = 1e-4, kLoad = 600.0;
  ContactMaterial m;
  m.stiffness = kLoad / (contacts * kPenetration);
  m.stiffness_tangential = m.stiffness;
  m.damping = m.damping_tangential = 1e-3 * m.stiffness;
  m.dissipation = 1.0;
  m.dissipation_time = 1e-2;
  m.regularization = 1e-3;
  m.time_constant = 1e-2;
  m.viscosity = 1e3;
  m.friction_ratio = 0.5;
  m.friction_angle = 0.4;
  p.problem.material.assign(contacts, m);
  p.problem.gap.setConstant(-kPenetration);
}

Biped& biped_with(int contacts) {
  static std::map<int, Biped> cache;
  auto found = cache.find(contacts);
  if (found != cache.end()) return found->second;
  found = cache.emplace(contacts, make_biped(contacts, 0.6, kStates)).first;
  for (BipedProblem& p : found->second.problems) soften(contacts, p);
  return found->second;
}

std::vector<Eigen::VectorXd> with_noise(const Biped& biped, double size) {
  std::mt19937 rng(2);
  std::normal_distribution<double> normal(0.0, 1.0);
  std::vector<Eigen::VectorXd> desired;
  for (const BipedProblem& p : biped.problems) {
    desired.push_back(p.v_desired);
    for (double& v : desired.back()) v += size * normal(rng);
  }
  return desired;
}

// Limits that only the joint with the largest torque reaches.
std::vector<double> with_limit(const Biped& biped, const Eigen::VectorXd& desired, const InverseOptions& options, double share) {
  if (share == 0.0) return {};
  const InverseSolution s = inverse_dynamics(biped.problems[0].problem, biped.joints, desired, {}, options);
  Eigen::Index joint = 0;
  const double most = s.tau.cwiseAbs().maxCoeff(&joint);
  std::vector<double> limits(biped.joints.size(), 10.0 * most);
  limits[static_cast<std::size_t>(joint)] = share * most;
  return limits;
}

void run(benchmark::State& state, const Method& method, bool warm) {
  const int contacts = static_cast<int>(state.range(0));
  Biped& biped = biped_with(contacts);
  InverseOptions options;
  options.contact.law = method.law;
  options.contact.solver = method.solver;
  options.contact.edges = method.edges;
  options.contact.warm_start = warm;
  options.contact.max_factorizations = kFactorizations;
  options.contact.max_pivots = kPivots;
  options.choice = method.choice;
  InverseWorkspace workspace;
  InverseSolution solution;
  std::vector<double> times;
  times.reserve(state.max_iterations);
  std::size_t k = 0;
  long failures = 0, repaired = 0, pivots = 0;
  std::size_t allocations = 0;
  double worst = 0.0;
  const std::vector<Eigen::VectorXd> desired = with_noise(biped, method.noise);
  const std::vector<double> limits = with_limit(biped, desired[0], options, method.limit);
  for (std::size_t i = 0; i < desired.size(); ++i) {  // grow the workspace
    inverse_dynamics(biped.problems[i].problem, biped.joints, desired[i], limits, options, workspace, solution);
  }
  for (auto _ : state) {
    const std::size_t i = k++ % desired.size();
    const std::size_t held = allocation_count();
    const auto start = std::chrono::steady_clock::now();
    inverse_dynamics(biped.problems[i].problem, biped.joints, desired[i], limits, options, workspace, solution);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    allocations += allocation_count() - held;
    state.SetIterationTime(seconds);
    times.push_back(1e6 * seconds);
    failures += solution.status != Status::solved;
    repaired += solution.repaired;
    pivots += solution.iterations;
    worst = std::max(worst, solution.certificate.worst());
  }
  state.counters["allocations"] = static_cast<double>(allocations);
  const double slowest = slowest_state(times);
  std::ranges::sort(times);
  const double median = times[times.size() / 2];
  state.counters["slowest_us"] = slowest;
  state.counters["slowest_ratio"] = slowest / median;
  state.counters["max_ratio"] = times.back() / median;
  state.counters["beyond_5"] = static_cast<double>(times.end() - std::ranges::upper_bound(times, 5.0 * median));
  state.counters["median_us"] = median;
  state.counters["p99_us"] = times[times.size() * 99 / 100];
  state.counters["max_us"] = times.back();
  state.counters["failed"] = static_cast<double>(failures);
  state.counters["repaired"] = static_cast<double>(repaired);
  state.counters["iterations"] = static_cast<double>(pivots) / static_cast<double>(times.size());
  state.counters["residual"] = worst;
}

}  // namespace

void register_all() {
  for (const Method& method : kMethods) {
    for (const bool warm : {false, true}) {
      const std::string name = std::string(method.name) + (warm ? "/warm" : "/cold");
      for (const int contacts : {1, 2, 4, 8, 16, 24, 32, 40, 100, 1000}) {
        benchmark::RegisterBenchmark(name.c_str(), [&method, warm](benchmark::State& state) { run(state, method, warm); })
            ->ArgName("contacts")
            ->Arg(contacts)
            ->UseManualTime()
            ->Iterations(kCalls)
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
}

}  // namespace stiction::bench
