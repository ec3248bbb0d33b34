// Microseconds per forward contact problem: a brick wall of N/4 boxes, 4 points a box, every upper box on two lower ones, friction 0.3 to
// 0.9, random velocities, masses log-uniform over 10 : 1 and 1000 : 1. From the block-sparse reduced problem to certified impulses, cold.
// The scene is that of bench/compare's peers. Counters: median, p99 and maximum over all calls, problems left unsolved, worst residual.
#include <algorithm>
#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/benchmarks.hpp"
#include "bench/generated_problems.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/problem/reduced_certificate.hpp"

namespace stiction::bench {
namespace {

constexpr int kProblems = 20;

const std::vector<ReducedProblem>& walls(int contacts, int ratio) {
  static std::map<std::pair<int, int>, std::vector<ReducedProblem>> cache;
  std::vector<ReducedProblem>& problems = cache[{contacts, ratio}];
  std::mt19937_64 rng(static_cast<std::uint64_t>(contacts));
  Reduction reduction;
  while (problems.size() < kProblems) {
    reduce(brick_wall(contacts / 4, ratio, rng), reduction);
    problems.push_back(reduction.reduced);
  }
  return problems;
}

void run(benchmark::State& state, Law law) {
  const std::vector<ReducedProblem>& problems = walls(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  SolveOptions options;
  options.law = law;
  options.warm_start = false;
  SolveWorkspace workspace;
  Impulses impulses;
  std::vector<double> times;
  std::vector<int> iterations;
  std::size_t k = 0;
  int failed = 0;
  double worst = 0.0;
  for (auto _ : state) {
    const ReducedProblem& problem = problems[k++ % problems.size()];
    const auto start = std::chrono::steady_clock::now();
    solve_reduced(problem, options, workspace, impulses);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    state.SetIterationTime(seconds);
    times.push_back(1e6 * seconds);
    iterations.push_back(impulses.iterations);
    const double residual = certify(problem, lowered(problem, options), impulses.lambda, impulses.beta).worst();
    failed += !(residual <= options.tolerance);
    worst = std::max(worst, residual);
  }
  std::ranges::sort(times);
  std::ranges::sort(iterations);
  state.counters["median_us"] = times[times.size() / 2];
  state.counters["p99_us"] = times[times.size() * 99 / 100];
  state.counters["max_us"] = times.back();
  state.counters["iterations"] = iterations[iterations.size() / 2];
  state.counters["failed"] = failed;
  state.counters["residual"] = worst;
}

}  // namespace

void register_all() {
  for (const Law law : {Law::coulomb_cone, Law::coulomb_pyramid}) {
    for (const int contacts : {4, 12, 36, 64, 128, 256}) {
      for (const int ratio : {10, 1000}) {
        benchmark::RegisterBenchmark((std::string(to_string(law)) + "/wall").c_str(), [law](benchmark::State& state) { run(state, law); })
            ->ArgNames({"contacts", "mass_ratio"})
            ->Args({contacts, ratio})
            ->UseManualTime()
            ->Iterations(5 * kProblems)
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
}

}  // namespace stiction::bench
