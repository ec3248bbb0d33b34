// Under every scheme the bits of a run depend on its input alone.
#include <gtest/gtest.h>

#include "stiction/forward/step.hpp"
#include "stiction/forward/test_worlds.hpp"

namespace stiction::determinism_test {
namespace {

using Eigen::VectorXd;

class EveryScheme : public testing::TestWithParam<Scheme> {};
INSTANTIATE_TEST_SUITE_P(Schemes, EveryScheme, testing::ValuesIn(kSchemes),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

State advanced(Stepper& stepper, State state, int steps) {
  const VectorXd tau = VectorXd::Zero(stepper.world().nv());
  for (int k = 0; k < steps; ++k) EXPECT_TRUE(stepper.step(tau, state).accepted) << k;
  return state;
}

/// In a heap of eight the impacts and slides of every millisecond are a hundred, which event_driven follows one by one.
int heap_of(Scheme scheme) { return scheme == Scheme::event_driven ? 3 : 8; }

TEST_P(EveryScheme, TheBitsDependOnNothingButTheInput) {
  const World world = falling_boxes(heap_of(GetParam()));
  const auto fall = [&](int threads) {
    StepOptions options;
    options.assemble.dt = 2e-3;
    options.scheme = GetParam();
    options.contact.threads = threads;
    Stepper stepper(world, make_scene(world, 0.5), options);
    return advanced(stepper, initial_state(world), 250);
  };
  const State one = fall(1);
  for (const State& other : {fall(1), fall(2)}) {
    EXPECT_EQ(one.q, other.q);
    EXPECT_EQ(one.v, other.v);
  }
}

TEST_P(EveryScheme, ACopyGoesOnBitForBitAndSoDoesAChangeOfSchemeAndBack) {
  const World world = falling_boxes(heap_of(GetParam()));
  StepOptions options;
  options.assemble.dt = 2e-3;
  options.scheme = GetParam();
  Stepper stepper(world, make_scene(world, 0.5), options);
  const State middle = advanced(stepper, initial_state(world), 100);
  Stepper copy = stepper;
  StepOptions other = copy.options();
  other.scheme = GetParam() == Scheme::moreau_midpoint ? Scheme::energy_momentum : Scheme::moreau_midpoint;
  copy.set_options(other);
  copy.set_options(stepper.options());
  const State a = advanced(stepper, middle, 100), b = advanced(copy, middle, 100);
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.v, b.v);
}

}  // namespace
}  // namespace stiction::determinism_test
