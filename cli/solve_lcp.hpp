// Linear complementarity problems as `stiction solve` prints them.
#pragma once

#include "cli/command.hpp"
#include "cli/problem_options.hpp"

namespace stiction::cli {

/// Lemke, and enumeration where it leaves a small problem open. --edges and --viscous-slip, which speak of contacts, are refused.
int solve_lcp(const ProblemOptions& options, const Session& session);

}  // namespace stiction::cli
