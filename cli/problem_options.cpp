#include "cli/problem_options.hpp"

#include <fmt/format.h>

namespace stiction::cli {

SolveOptions ProblemOptions::to_solve_options() const {
  SolveOptions options;
  options.law = law_from_string(law);
  options.solver = solver_from_string(solver);
  options.tolerance = tolerance;
  options.edges = edges;
  options.variant = pyramid_variant_from_string(variant);
  options.viscous_slip = viscous_slip_from_string(viscous_slip);
  options.align_edges = align_edges;
  options.alpha = alpha;
  options.max_sweeps = max_sweeps;
  options.bilateral_by_prox = bilateral_by_prox;
  return options;
}

void add_problem_options(CLI::App& sub, ProblemOptions& options) {
  sub.add_option("FILE", options.file, "Contact problem: .json, .npz, Siconos text or FCLIB")->required();
  sub.add_option("--law", options.law, "Contact law: " + law_names())->capture_default_str();
  sub.add_option("--solver", options.solver, "Solver: " + solver_names())->capture_default_str();
  sub.add_option("--tolerance", options.tolerance, "Largest scaled residual that counts as solved")->capture_default_str();
  sub.add_option("--edges", options.edges, "Edges of the friction pyramid, at least 4; law anitescu: 0 is the disc")->capture_default_str();
  sub.add_option("--variant", options.variant,
                 "Law coulomb_pyramid: stewart_trinkle (with gaps) or anitescu_potra (touching contacts only)")
      ->capture_default_str();
  sub.add_flag("--align-edges", options.align_edges, "Turn each contact's polygon so that a vertex opposes its slip before the step");
  sub.add_option("--viscous-slip", options.viscous_slip, "Law viscous: friction opposes the slip after or before the step")
      ->capture_default_str();
  sub.add_option("--alpha", options.alpha, "Relaxation of jor and sor, in (0, 2)")->capture_default_str();
  sub.add_option("--max-sweeps", options.max_sweeps, "Iterations of jor and sor at most")->capture_default_str();
  sub.add_flag("--bilateral-by-prox", options.bilateral_by_prox, "jor and sor: iterate on bilateral rows instead of eliminating them");
}

nlohmann::ordered_json certificate_json(const Certificate& c) {
  nlohmann::ordered_json out;
  for (const NamedResidual& r : kResiduals) out[r.name] = {{"raw", (c.*r.member).raw}, {"scaled", (c.*r.member).scaled}, {"unit", r.unit}};
  out["dissipation_angle"] = c.dissipation_angle;
  out["energy_change"] = c.energy_change;
  out["finite"] = c.finite;
  out["worst"] = c.finite ? nlohmann::ordered_json(c.worst()) : nlohmann::ordered_json("inf");
  return out;
}

std::string certificate_text(const Certificate& c) {
  std::string out = fmt::format("{:<24} {:>12} {:>12}\n", "residual", "raw", "scaled");
  for (const NamedResidual& r : kResiduals)
    out += fmt::format("{:<24} {:>12.3e} {:>12.3e}  {}\n", r.name, (c.*r.member).raw, (c.*r.member).scaled, r.unit);
  return out + fmt::format("energy change {:.6e} J, dissipation angle {:.3e} rad", c.energy_change, c.dissipation_angle);
}

}  // namespace stiction::cli
