// What `solve` and `inverse` share: options of a solve, and how its outcome is printed.
#pragma once

#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "stiction/laws/law.hpp"
#include "stiction/problem/certificate.hpp"

namespace stiction::cli {

struct ProblemOptions {
  std::string file, law = "coulomb_cone", solver = "auto";
  double tolerance = 1e-9;
  int edges = 4;
  std::string variant = "stewart_trinkle", viscous_slip = "after";
  bool align_edges = false, bilateral_by_prox = false;
  double alpha = SolveOptions{}.alpha;
  int max_sweeps = SolveOptions{}.max_sweeps;

  SolveOptions to_solve_options() const;
};

void add_problem_options(CLI::App& sub, ProblemOptions& options);
nlohmann::ordered_json certificate_json(const Certificate& certificate);
std::string certificate_text(const Certificate& certificate);

}  // namespace stiction::cli
