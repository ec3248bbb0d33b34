#include "stiction/sim/rollout.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/team.hpp"

namespace stiction {

namespace {

using Starts = Eigen::Ref<const RowMatrix>;

void validate(const World& world, const Starts& q, const Starts& v, int steps, const RolloutOptions& options) {
  const auto require_shape = [](const char* name, const Starts& x, Eigen::Index rows, Eigen::Index columns) {
    if (x.rows() != rows || x.cols() != columns)
      throw InvalidArgument(name, fmt::format("shape ({}, {})", rows, columns), fmt::format("({}, {})", x.rows(), x.cols()));
    if (!x.allFinite()) throw InvalidArgument(name, "finite numbers", "nan or infinity");
  };
  require_shape("q", q, q.rows(), world.nq());
  require_shape("v", v, q.rows(), world.nv());
  if (steps < 0) throw InvalidArgument("steps", "a number >= 0", fmt::format("{}", steps));
  if (options.threads < 1) throw InvalidArgument("threads", "a number >= 1", fmt::format("{}", options.threads));
}

void keep(int i, int k, const State& state, Rollout& out) {
  const std::ptrdiff_t row = i * (static_cast<std::ptrdiff_t>(out.steps) + 1) + k;
  std::ranges::copy(state.q, out.q.begin() + row * state.q.size());
  std::ranges::copy(state.v, out.v.begin() + row * state.v.size());
}

/// Run i, from the state that the simulation has been restarted at. Gives what a step threw.
std::exception_ptr take_run(int i, const RolloutControl& control, Team& team, Simulation& simulation, Rollout& out) {
  const std::size_t at = static_cast<std::size_t>(i);
  out.status[at] = Status::solved;
  keep(i, 0, simulation.state(), out);
  std::exception_ptr thrown;
  Eigen::VectorXd tau;
  bool accepted = true;
  for (int k = 0; k < out.steps && team.goes_on(); ++k) {
    if (accepted) {
      tau.setZero(simulation.world().nv());
      if (control) control(i, simulation, tau);
      StepReport report;
      try {
        report = simulation.step(tau);
      } catch (const std::exception& error) {  // of this run alone
        // GCC builds what the call returns in its place, so of one that throws something may be there.
        report = {};
        out.errors[at] = error.what();
        thrown = std::current_exception();
      }
      out.worst_residual[at] = std::max(out.worst_residual[at], report.residual);
      if (report.status != Status::solved) out.status[at] = report.status;
      accepted = report.accepted;
      out.taken[at] += accepted ? 1 : 0;
    }
    keep(i, k + 1, simulation.state(), out);
  }
  return thrown;
}

}  // namespace

Rollout rollout(const Stepper& stepper, const Starts& q, const Starts& v, int steps, const RolloutOptions& options) {
  const World& world = stepper.world();
  validate(world, q, v, steps, options);
  Rollout out;
  out.runs = static_cast<int>(q.rows());
  out.steps = steps;
  const std::size_t runs = static_cast<std::size_t>(out.runs), rows = runs * (static_cast<std::size_t>(steps) + 1);
  const auto make = [&](std::vector<double>& table, int columns) {
    const std::size_t count = rows * static_cast<std::size_t>(columns);
    try {
      table.resize(count);
    } catch (const std::bad_alloc&) {
      throw InvalidArgument("steps", "as many as memory holds the states of", fmt::format("{} of {} runs, {} numbers", steps, runs, count));
    }
  };
  make(out.q, world.nq());
  make(out.v, world.nv());
  out.taken.resize(runs);
  out.status.resize(runs);
  out.errors.resize(runs);
  out.worst_residual.resize(runs);
  const int others = std::max(std::min(options.threads, out.runs) - 1, 0);
  const Stepper prototype = untimed(stepper);
  std::vector<Simulation> simulations;
  for (int worker = 0; worker <= others; ++worker) simulations.emplace_back(prototype, initial_state(world));
  std::vector<std::exception_ptr> thrown(runs);
  Team team(others);
  const auto work = [&](int i, int worker) {
    Simulation& simulation = simulations[static_cast<std::size_t>(worker)];
    simulation.restart({q.row(i).transpose(), v.row(i).transpose(), 0.0});
    thrown[static_cast<std::size_t>(i)] = take_run(i, options.control, team, simulation, out);
  };
  team.run(out.runs, work, options.poll);
  rethrow_if_all(thrown);
  return out;
}

}  // namespace stiction
