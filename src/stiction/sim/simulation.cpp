#include "stiction/sim/simulation.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/dynamics.hpp"
#include "stiction/sim/scene.hpp"

namespace stiction {

namespace {

void require_fit(const State& state, const World& world) {
  require_size("state.q", state.q.size(), world.nq());
  require_size("state.v", state.v.size(), world.nv());
}

/// What no step could start from.
void require_state(const State& state, const World& world) {
  require_fit(state, world);
  require_within_reach("state.q", state.q);
  require_finite("state.v", state.v);
  if (!std::isfinite(state.time)) throw InvalidArgument("state.time", "a finite number", fmt::format("{}", state.time));
  WorldData data(world);
  update_kinematics(world, state.q, data);  // throws on quaternions that are none
}

}  // namespace

long steps_in(double duration, double dt) {
  constexpr double kMostSteps = 1e9;  // days of computing: a typing error
  require_positive("duration", duration);
  if (duration > kMostSteps * dt) throw InvalidArgument("duration", "at most 1e9 steps of dt", fmt::format("{:.3g}", duration / dt));
  const long steps = std::lround(duration / dt);
  if (steps == 0) throw InvalidArgument("duration", fmt::format("half a step of {:g} s or more", dt), fmt::format("{:g}", duration));
  return steps;
}

Control hold_joints(const Scene& scene) {
  return [&scene](const Simulation& simulation, Eigen::VectorXd& tau) { scene.held_torques(simulation.state(), tau); };
}

Simulation::Simulation(Stepper stepper, State start) : stepper_(std::move(stepper)), state_(std::move(start)) {
  require_fit(state_, world());
}

Simulation::Simulation(const Scene& scene) : Simulation(scene.make_stepper(), scene.start) {}

std::vector<std::string> Simulation::warnings() const {
  std::vector<std::string> out = world().warnings();
  const std::vector<std::string>& left_out = stepper_.scene().warnings;
  out.insert(out.end(), left_out.begin(), left_out.end());
  return out;
}

void Simulation::restart(const State& state) {
  require_state(state, world());  // a restart that is refused changes nothing
  state_ = state;
  steps_ = 0;
  prepared_ = false;
  stepper_.reset();
}

const Stepper& Simulation::prepare(const Eigen::Ref<const Eigen::VectorXd>& tau) {
  stepper_.prepare(state_, tau);
  prepared_ = true;
  return stepper_;
}

void Simulation::set_drives(const Drives& drives) {
  stepper_.set_drives(drives);
  prepared_ = false;
}

void Simulation::set_friction(const std::optional<double>& mu) {
  stepper_.set_friction(mu);
  prepared_ = false;
}

void Simulation::set_wrenches(std::span<const AppliedWrench> wrenches) {
  stepper_.set_wrenches(wrenches);
  prepared_ = false;
}

StepReport Simulation::step(const Eigen::Ref<const Eigen::VectorXd>& tau) {
  const StepReport report = stepper_.step(tau, state_, std::exchange(prepared_, false));
  steps_ += report.accepted ? 1 : 0;
  return report;
}

RunSummary Simulation::run(const RunOptions& options) {
  RunSummary out;
  for (std::size_t i = 0; i < options.observers.size(); ++i)
    if (!options.observers[i]) throw InvalidArgument(fmt::format("observers[{}]", i), "a function", "an empty one");
  const long steps = steps_in(options.duration, stepper_.options().assemble.dt);
  for (long k = 0; k < steps; ++k) {
    tau_.setZero(world().nv());
    if (options.control) options.control(*this, tau_);
    before_ = state_;
    out.last = step(tau_);
    if (!out.last.accepted) {
      out.stop = Stop::refused;
      break;
    }
    out.add(out.last, stepper_.contact_count());
    for (const Observer& observe : options.observers) observe({k, steps, before_, state_, tau_, out.last, stepper_});
    if (options.until && options.until(*this)) {
      out.stop = Stop::asked;
      break;
    }
  }
  return out;
}

}  // namespace stiction
