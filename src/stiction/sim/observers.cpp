#include "stiction/sim/observers.hpp"

#include <algorithm>

namespace stiction {

Observer record_to(Trajectory& trajectory) {
  return [&trajectory](const StepTaken& step) { trajectory.add(step.state, step.stepper, step.report, step.tau); };
}

void record_end(Trajectory& trajectory, const Stepper& stepper, const RunSummary& summary, std::string_view asked) {
  trajectory.stepped_with(stepper.options());
  trajectory.status = summary.stop == Stop::asked ? asked : summary.status();
  trajectory.refused = summary.stop == Stop::refused ? to_string(summary.last.refused) : std::string_view();
}

Observer report_progress(std::function<void(double)> progress, long stride) {
  return [progress = std::move(progress), stride](const StepTaken& s) {
    if (s.step % stride == 0) progress(static_cast<double>(s.step) / static_cast<double>(s.steps));
  };
}

double mechanical_energy(const World& world, const State& state) { return EnergyWatch(world, state).start(); }

EnergyWatch::EnergyWatch(const World& world, const State& start)
    : world_(world), data_(world), start_(energy(start)), now_(start_), least_(start_) {}

void EnergyWatch::operator()(const StepTaken& step) {
  now_ = energy(step.state);
  rise_ = std::max(rise_, now_ - least_);
  least_ = std::min(least_, now_);
}

double EnergyWatch::energy(const State& state) {
  update(world_, state.q, state.v, data_);
  return kinetic_energy(world_, data_, state.v) + potential_energy(world_, data_);
}

}  // namespace stiction
