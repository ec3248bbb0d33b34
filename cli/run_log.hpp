// The log of a simulation: one row per state from t = 0 on, columns named after the joints.
#pragma once

#include <optional>
#include <string>

#include "stiction/forward/step.hpp"
#include "stiction/record/csv_log.hpp"

namespace stiction::cli {

class RunLog {
 public:
  /// Writes the header and the start; nothing ever when `file` is empty.
  RunLog(const std::string& file, const World& world, const State& start);
  /// A state, with the contacts and the residual of the step that led to it.
  void add(const State& state, int contacts, double residual);

 private:
  std::optional<CsvLog> log_;
};

}  // namespace stiction::cli
