#include "stiction/experiments/classics.hpp"

namespace stiction {
namespace {

constexpr const char* kClassicsLegend =
    "reference: the closed form. error: relative; absolute, with its unit, where the reference is 0. Rows with one error are one solve, a\n"
    "threshold found by halving, or a run at 1 ms. order: of the error in the step length, where it is above 1e-9, the tolerance of the "
    "solves,\n"
    "and falls evenly: impacts lie somewhere within a step, so that what follows them is off by a share of a step that jumps with its "
    "length.\n"
    "Laws that drop a part of Coulomb's (max_dissipation, anitescu, todorov, sap) or soften it are held to Coulomb's figures all the "
    "same:\n"
    "their rows show by how much they differ. A scheme is named where it is not semi_implicit_euler.";

}  // namespace

std::vector<LawChoice> rigid_laws() {
  return {{"coulomb_cone", {}},
          {"coulomb_pyramid, 4 edges", {.law = Law::coulomb_pyramid}},
          {"moreau", {.law = Law::moreau}},
          {"max_dissipation, 4 edges", {.law = Law::max_dissipation}},
          {"anitescu, disc", {.law = Law::anitescu, .edges = 0}}};
}

std::vector<LawChoice> soft_laws() {
  ContactMaterial material;
  material.stiffness = material.stiffness_tangential = 1e6;
  material.damping = material.damping_tangential = 1e3;  // near critical for 1 kg
  material.dissipation_time = 1e-2;
  material.regularization = 1e-3;
  material.time_constant = 1e-2;
  std::vector<LawChoice> laws;
  for (const Law law : {Law::todorov, Law::sap, Law::stick_slip_spring, Law::regularized_stiction}) {
    laws.push_back({std::string(to_string(law)), {.law = law, .material = material}});
  }
  return laws;
}

ExperimentReport run_classics(const ExperimentOptions& options) {
  ExperimentReport report;
  report.steps = {4e-3, 2e-3, 1e-3};
  report.legend = kClassicsLegend;
  add_classics_sliding(report);
  add_classics_rolling(report);
  add_classics_impacts(report);
  add_classics_statics(report);
  add_classics_free(report, options);
  add_classics_tops(report);
  add_classics_woodpecker(report);
  return report;
}

}  // namespace stiction
