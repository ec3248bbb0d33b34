// stiction compare PROBLEM_OR_SCENE: every law under every solver on one contact problem.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.hpp"
#include "cli/problem_options.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/compare/compare.hpp"
#include "stiction/sim/scene.hpp"
#include "stiction/sim/simulation.hpp"

namespace stiction::cli {
namespace {

struct CompareCommand {
  std::string file;
  std::vector<std::string> laws, solvers;
  CompareOptions options;
  std::optional<int> edges;
  std::optional<long> steps;
  bool symmetric_part = false;
};

constexpr long kSteps = 100;  // of a scene, unless --steps says how many

/// A TOML file, or a name that is no file: that of a scene that comes with stiction.
bool is_scene(const std::string& file) {
  const std::filesystem::path path(file);
  return path.extension() == ".toml" || (path.extension().empty() && !std::filesystem::exists(path));
}

/// The contact problem of the last of `steps` steps under the scene's own law, or of the step that failed.
ContactProblem problem_of_scene(const std::string& file, long steps, const Session& session) {
  const Scene scene = load_scene(file);
  Simulation simulation(scene);
  print_warnings(simulation.warnings(), session);
  simulation.run({.duration = static_cast<double>(steps) * scene.options.assemble.dt, .control = hold_joints(scene)});
  return simulation.stepper().problem();
}

template <class Name>
auto parse_all(const std::vector<std::string>& names, Name from_string) {
  std::vector<decltype(from_string(names.front()))> out;
  for (const std::string& name : names) out.push_back(from_string(name));
  return out;
}

nlohmann::ordered_json number_or_null(double x) { return std::isfinite(x) ? nlohmann::ordered_json(x) : nlohmann::ordered_json(); }

nlohmann::ordered_json row_json(const CompareRow& row) {
  nlohmann::ordered_json out;
  out["law"] = row.law;
  out["solver"] = row.solver;
  if (!row.not_applicable.empty()) {
    out["not_applicable"] = row.not_applicable;
    return out;
  }
  out["default"] = row.is_default;
  out["status"] = to_string(row.status);
  out["iterations"] = row.iterations;
  out["microseconds"] = row.microseconds;
  out["repetitions"] = row.repetitions;
  out["difference"] = number_or_null(row.difference);
  out["certificate"] = certificate_json(row.certificate);
  return out;
}

std::string comparison_to_json(const CompareCommand& command, const Comparison& comparison) {
  nlohmann::ordered_json out;
  out["file"] = command.file;
  if (is_scene(command.file)) out["steps"] = command.steps.value_or(kSteps);
  out["contacts"] = comparison.contacts;
  out["velocities"] = comparison.velocities;
  out["bounded_rows"] = comparison.bounded_rows;
  out["reference"] = {{"law", to_string(Law::coulomb_cone)}, {"status", to_string(comparison.reference)}};
  out["rows"] = nlohmann::ordered_json::array();
  for (const CompareRow& row : comparison.rows) out["rows"].push_back(row_json(row));
  return out.dump(2);
}

/// An option of scenes or of problems that would change nothing was meant for something else.
void refuse_idle_source(const CompareCommand& command) {
  const bool scene = is_scene(command.file);
  if (command.steps && !scene)
    throw InvalidArgument("--steps", "none unless a scene is compared", fmt::format("{} with {}", *command.steps, command.file));
  if (command.symmetric_part && scene)
    throw InvalidArgument("--symmetric-part", "none unless a problem with a W is compared", "it with " + command.file);
}

/// of_contacts: the laws that contacts of the problem name, which have a row of their own. An option that would change no row was meant for
/// something else.
void refuse_idle(const CompareCommand& command, const std::vector<Law>& of_contacts) {
  const std::vector<Law>& laws = command.options.laws;
  if (!command.edges || laws.empty() || std::ranges::any_of(laws, is_polygonal) || std::ranges::any_of(of_contacts, is_polygonal)) return;
  throw InvalidArgument("--edges", "none unless a law has a friction polygon",
                        fmt::format("{} with --laws {}", *command.edges, fmt::join(command.laws, ",")));
}

int run(CompareCommand command, const Session& session) {
  require_distinct({{"PROBLEM_OR_SCENE", command.file}, {"--json", session.json.value_or("")}});
  refuse_idle_source(command);
  command.options.laws = parse_all(command.laws, law_from_string);
  command.options.solvers = parse_all(command.solvers, solver_from_string);
  command.options.edges = command.edges.value_or(command.options.edges);
  const AnyProblem problem = is_scene(command.file) ? problem_of_scene(command.file, command.steps.value_or(kSteps), session)
                                                    : load_problem(command.file, {.symmetric_part = command.symmetric_part});
  refuse_idle(command, std::visit([](const auto& p) { return p.laws; }, problem));
  const Comparison comparison = std::visit([&](const auto& p) { return compare(p, command.options); }, problem);
  if (session.json) write_text(*session.json, comparison_to_json(command, comparison));
  if (session.prints_table()) {
    fmt::print("{}: {} contacts, {} velocities, {} bounded rows\n{}\n", command.file, comparison.contacts, comparison.velocities,
               comparison.bounded_rows, to_text(comparison));
  }
  return comparison.reference == Status::solved ? kOk : kNumericalFailure;
}

}  // namespace

void add_compare(CLI::App& app, Session& session) {
  CLI::App& sub = add_subcommand(app, "compare", "Every law under every solver on one contact problem", session);
  auto command = std::make_shared<CompareCommand>();
  sub.add_option("PROBLEM_OR_SCENE", command->file,
                 "Contact problem (.json, .npz, Siconos text or FCLIB), or a scene: a file (.toml), or a name that `stiction scenes` lists")
      ->required();
  sub.add_flag("--symmetric-part", command->symmetric_part, "Of a file with an asymmetric W: (W + W^T)/2 in its place");
  sub.add_option("--laws", command->laws, "Only these, separated by commas: " + law_names())->delimiter(',');
  sub.add_option("--solvers", command->solvers, "Only these, separated by commas: " + solver_names())->delimiter(',');
  sub.add_option("--tolerance", command->options.tolerance, "Largest scaled residual that counts as solved")
      ->check(positive_number())
      ->capture_default_str();
  sub.add_option("--edges", command->edges, "Edges of the friction pyramid, at least 4 (default: 4)");
  sub.add_option("--repetitions", command->options.repetitions, "Timed runs per row")->capture_default_str();
  sub.add_flag("--baselines", command->options.baselines, "Also the solvers of other projects that this build has");
  sub.add_option(
         "--steps", command->steps,
         fmt::format("Of a scene: steps to take under its own law (default: {}); the last one's contact problem is compared", kSteps))
      ->check(positive_number());
  sub.callback([command, &session] { session.run = [command, &session] { return run(*command, session); }; });
}

}  // namespace stiction::cli
