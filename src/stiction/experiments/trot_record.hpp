// A trot as a trajectory that can be looked at: beside the states, where the plan wants the feet and what the controller predicts of them.
#pragma once

#include <filesystem>

#include "stiction/experiments/trot_control.hpp"
#include "stiction/record/trajectory.hpp"
#include "stiction/sim/simulation.hpp"

namespace stiction {

class TrotRecord {
 public:
  /// The world must outlive it.
  TrotRecord(const World& world, const State& start);
  /// A step under `control`.
  void add(const StepTaken& step, const TrotControl& control);
  /// The whole run, under the stepper. Throws as save_trajectory does.
  void save(const std::filesystem::path& file, const Stepper& stepper, const RunSummary& summary);

 private:
  const World& world_;
  Trajectory trajectory_;
};

}  // namespace stiction
