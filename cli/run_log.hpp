// The log of a simulation: one row per state from t = 0 on, columns named after the joints.
#pragma once

#include <optional>
#include <string>

#include "stiction/record/csv_log.hpp"
#include "stiction/sim/simulation.hpp"

namespace stiction::cli {

class RunLog {
 public:
  /// Writes the header and the start; nothing when `file` is empty.
  RunLog(const std::string& file, const World& world, const State& start);
  /// The state that a step led to, with its contacts and its residual.
  void operator()(const StepTaken& step);

 private:
  void add(const State& state, int contacts, double residual);

  std::optional<CsvLog> log_;
};

}  // namespace stiction::cli
