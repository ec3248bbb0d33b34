// After one solve of the largest problem, no solve allocates: neither of the same nor of smaller problems, cold or warm.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/programs/cone/test_scenes.hpp"

namespace stiction::allocation_test {
namespace {

using test_scenes::Random;

TEST(ConeAllocation, NoneAfterWarmUp) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  Random random(1);
  std::vector<ReducedProblem> problems{test_scenes::brick_wall(16, random), test_scenes::brick_wall(9, random),
                                       test_scenes::flat_feet(40, random),  test_scenes::flat_feet(40, random),
                                       test_scenes::flat_feet(8, random),   test_scenes::random_problem(8, 12, random)};
  for (int edges : {0, 4, 8}) {
    for (bool relaxed : {false, true}) {
      ConeWorkspace workspace;
      ConeOptions options;
      options.edges = edges;
      options.relaxed = relaxed;
      ConeSolution solution;
      const auto solve = [&](const ReducedProblem& problem) { solve_cone(problem, options, workspace, solution); };
      for (const ReducedProblem& problem : problems) solve(problem);
      const std::size_t before = allocation_count();
      for (int repeat = 0; repeat < 2; ++repeat) {
        options.warm_start = repeat == 1;
        for (const ReducedProblem& problem : problems) solve(problem);
      }
      EXPECT_EQ(allocation_count() - before, 0u) << "edges " << edges << " relaxed " << relaxed;
    }
  }
}

TEST(ConeAllocation, NoneOnAPathThatTurnsBack) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  Random random(256);
  std::vector<ReducedProblem> problems;
  for (int k = 0; k < 8; ++k) problems.push_back(test_scenes::brick_wall(64, random, 1000.0));
  for (int edges : {0, 4}) {
    ConeWorkspace workspace;
    ConeOptions options;
    options.edges = edges;
    ConeSolution solution;
    const auto run = [&](const ReducedProblem& problem) { solve_cone(problem, options, workspace, solution); };
    run(problems.front());
    const std::size_t before = allocation_count();
    for (const ReducedProblem& problem : problems) run(problem);
    EXPECT_EQ(allocation_count() - before, 0u) << "edges " << edges;
    std::vector<ConeRecord> log;
    options.log = &log;
    for (const ReducedProblem& problem : problems) run(problem);
    EXPECT_TRUE(std::ranges::any_of(log, [](const ConeRecord& r) { return r.phase == ConePhase::path && r.step > 0.0; }))
        << "no path turns back";
  }
}

}  // namespace
}  // namespace stiction::allocation_test
