// What `solve` and `inverse` share: options of a solve, and how its outcome is printed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "stiction/laws/law.hpp"
#include "stiction/problem/certificate.hpp"
#include "stiction/problem/reduced.hpp"

namespace stiction::cli {

struct ProblemOptions {
  const CLI::App* app = nullptr;  ///< that was given them
  std::string file, law = "coulomb_cone", solver = "auto";
  double tolerance = 1e-9;
  std::optional<int> edges;
  std::string variant = "stewart_trinkle";
  std::optional<std::string> viscous_slip;
  bool align_edges = false, bilateral_by_prox = false;
  double alpha = SolveOptions{}.alpha;
  int max_sweeps = SolveOptions{}.max_sweeps, max_factorizations = SolveOptions{}.max_factorizations,
      max_pivots = SolveOptions{}.max_pivots;

  bool given(const char* name) const { return app->count(name) > 0; }
  /// Names of the laws that contacts follow.
  std::string obeyed(const std::vector<Law>& of_contacts) const;
  /// of_contacts: the laws that contacts of the problem name. Throws InvalidArgument on an option that no law or solver reads.
  SolveOptions to_solve_options(const std::vector<Law>& of_contacts, Choice choice = Choice::warm_start) const;
};

void add_problem_options(CLI::App& sub, ProblemOptions& options);

/// What a certificate has to say of a problem under a law; rows about anything else stay out of tables.
struct Promises {
  LawTerms law;
  bool inertia = true, bilateral = true, bounded = true;
};
Promises promises_of(const ContactProblem& problem, const LawTerms& law);
Promises promises_of(const ReducedProblem& problem, const LawTerms& law);

nlohmann::ordered_json certificate_json(const Certificate& certificate);
/// Rows that are promised, and rows that are not zero.
std::string certificate_text(const Certificate& certificate, const Promises& promises = {});

/// A vector as JSON takes it.
inline std::vector<double> list(const Eigen::Ref<const Eigen::VectorXd>& x) { return {x.data(), x.data() + x.size()}; }

}  // namespace stiction::cli
