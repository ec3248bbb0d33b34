#include "cli/run_log.hpp"

#include "stiction/record/coordinate_names.hpp"

namespace stiction::cli {

RunLog::RunLog(const std::string& file, const World& world, const State& start) {
  if (file.empty()) return;
  std::vector<std::string> columns{"time"};
  for (const std::string& name : position_names(world)) columns.push_back("q " + name);
  for (const std::string& name : velocity_names(world)) columns.push_back("v " + name);
  columns.insert(columns.end(), {"contacts", "residual"});
  log_.emplace(file, columns);
  add(start, 0, 0.0);
}

void RunLog::operator()(const StepTaken& step) { add(step.state, step.stepper.problem().contacts(), step.report.residual); }

void RunLog::add(const State& state, int contacts, double residual) {
  log_->add(state.time);
  log_->add(state.q);
  log_->add(state.v);
  log_->add(contacts);
  log_->add(residual);
  log_->end_row();
}

}  // namespace stiction::cli
