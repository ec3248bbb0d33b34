// What looks at the steps of a run.
#pragma once

#include <functional>

#include "stiction/record/trajectory.hpp"
#include "stiction/sim/simulation.hpp"

namespace stiction {

/// Appends every state with the contacts of the step that led to it. The trajectory outlives the observer.
Observer record_to(Trajectory& trajectory);

/// Writes into a trajectory what the steps of a run were taken with and how it ended. asked: what to call the end that
/// RunOptions::until asked for.
void record_end(Trajectory& trajectory, const Stepper& stepper, const RunSummary& summary, std::string_view asked);

/// Says the share of the run done, in [0, 1), at the first and then at every `stride`-th step.
Observer report_progress(std::function<void(double share)> progress, long stride);

/// Kinetic and potential energy of the moving bodies, springs of joints included (J).
double mechanical_energy(const World& world, const State& state);

/// Energy E over a run. An observer by reference: `std::ref(watch)`.
class EnergyWatch {
 public:
  EnergyWatch(const World& world, const State& start);
  void operator()(const StepTaken& step);

  double start() const { return start_; }
  double now() const { return now_; }
  /// Largest rise of E above its least value before: 0, to rounding, where everything only dissipates.
  double rise() const { return rise_; }

 private:
  double energy(const State& state);

  World world_;
  WorldData data_;
  double start_, now_, least_, rise_ = 0.0;
};

}  // namespace stiction
