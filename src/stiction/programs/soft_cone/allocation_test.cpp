// After one solve of the largest problem, no solve allocates.
#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/programs/cone/test_scenes.hpp"
#include "stiction/programs/soft_cone/soft_cone.hpp"

namespace stiction::allocation_test {
namespace {

TEST(SoftConeAllocation, NoneAfterWarmUp) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  test_scenes::Random random(1);
  const std::vector<ReducedProblem> problems{test_scenes::brick_wall(16, random), test_scenes::flat_feet(40, random),
                                             test_scenes::flat_feet(8, random), test_scenes::random_problem(8, 12, random)};
  std::vector<std::vector<SoftContact>> contacts;
  for (const ReducedProblem& p : problems) {
    contacts.emplace_back(static_cast<std::size_t>(p.contacts()));
    for (std::size_t i = 0; i < contacts.back().size(); ++i) {
      SoftContact& c = contacts.back()[i];
      c.mu = p.mu[static_cast<Eigen::Index>(i)];
      c.normal = c.tangential = i % 2 == 0 ? 0.0 : 0.01;
    }
  }
  SoftConeWorkspace workspace;
  SoftConeSolution solution;
  SoftConeOptions options;
  const auto solve_all = [&] {
    for (options.edges = 0; options.edges <= 4; options.edges += 4) {
      for (std::size_t k = 0; k < problems.size(); ++k) soft_cone(problems[k], contacts[k], options, workspace, solution);
    }
  };
  solve_all();
  const std::size_t before = allocation_count();
  for (const bool warm : {false, true}) {
    options.warm_start = warm;
    solve_all();
  }
  EXPECT_EQ(allocation_count() - before, 0u);
}

}  // namespace
}  // namespace stiction::allocation_test
