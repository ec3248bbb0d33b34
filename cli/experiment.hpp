// The options of each experiment's own command (experiment_NAME.cpp), put on its subcommand `sub`, and what experiments of rows share.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cli/command.hpp"
#include "stiction/experiments/report.hpp"

namespace stiction::cli {

void add_alpha(CLI::App& sub, Session& session);
void add_drop(CLI::App& sub, Session& session);
void add_trot(CLI::App& sub, Session& session);

nlohmann::ordered_json to_json(const Figure& figure);

/// What an experiment found: to --json, and drawn to --plot.
void write_result(const Session& session, const nlohmann::ordered_json& result);

/// --quick; prints the rows as a table and writes them as JSON.
void add_report(CLI::App& sub, Session& session, ExperimentReport (*run)(const ExperimentOptions&));

}  // namespace stiction::cli
