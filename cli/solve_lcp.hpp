// Linear complementarity problems as `stiction solve` prints them.
#pragma once

#include "cli/command.hpp"
#include "cli/problem_options.hpp"

namespace stiction::cli {

/// Lemke, and enumeration where it leaves a small problem open. Options that speak of contacts must have their defaults.
int solve_lcp(const ProblemOptions& options, const Session& session);

}  // namespace stiction::cli
