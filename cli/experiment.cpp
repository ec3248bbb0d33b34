// stiction experiment NAME: a published experiment or closed forms, with the published or exact figures beside ours. The table below is all
// that knows of them: a new one is a file and a row.
#include "cli/experiment.hpp"

#include <algorithm>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stiction/base/errors.hpp"
#include "stiction/experiments/classics.hpp"
#include "stiction/experiments/endurance.hpp"
#include "stiction/experiments/feedback.hpp"
#include "stiction/experiments/grasp.hpp"
#include "stiction/experiments/starleth.hpp"
#include "stiction/experiments/textbook.hpp"
#include "stiction/experiments/walk.hpp"

namespace stiction::cli {
namespace {

struct Entry {
  const char *name, *paper, *about;
  void (*add)(CLI::App& sub, Session& session);
  bool draws = true;  ///< has a figure
};

template <ExperimentReport (*run)(const ExperimentOptions&)>
void add_rows(CLI::App& sub, Session& session) {
  add_report(sub, session, run);
}

constexpr Entry kExperiments[] = {
    {"trot", "[ZD15]", "The trotting quadruped on rigid, compliant and hilly ground, Tables 3-5 and Figs. 11-13", add_trot},
    {"grasp", "[D14]", "Boxes held in a row between two grippers, Table I and the figure of their kinetic energy, and a stack",
     add_rows<run_grasp>},
    {"walk", "[D14]", "The quadruped over hills: time and pivots, no slip and viscous friction, Tables II and III", add_rows<run_walk>,
     false},
    {"alpha", "[G14]", "Iterations of JOR and SOR against their relaxation, Fig. 6", add_alpha},
    {"starleth", "[G14]", "Moreau's scheme on a quadruped in three sets of coordinates, Table 1, Figs. 5 and 7", add_rows<run_starleth>},
    {"textbook", "[T-UA]", "Every worked example beside its closed form", add_rows<run_textbook>},
    {"classics", "-", "Scenes known in closed form: errors, orders of convergence, law by law and scheme by scheme",
     add_rows<run_classics>},
    {"feedback", "[ZD-EF]", "Drives and the largest step that they are stable at, Tables I and II", add_rows<run_feedback>},
    {"endurance", "-", "What must never end a run: push-overs, drops, mass ratios of a million, faces of 16 points, ten minutes in one go",
     add_rows<run_endurance>, false},
    {"drop", "-", "Robots let go above the ground, unactuated: does every step make sense? (needs --robot)", add_drop, false},
};

int list(const CLI::App& experiment) {
  std::size_t names = 0, papers = 0;
  for (const Entry& e : kExperiments) {
    names = std::max(names, std::string_view(e.name).size());
    papers = std::max(papers, std::string_view(e.paper).size());
  }
  for (const Entry& e : kExperiments) fmt::print("{:<{}}  {:<{}}  {}\n", e.name, names, e.paper, papers, e.about);
  fmt::print("\n{} NAME --help lists the options of one.\n", "stiction " + experiment.get_name());
  return kOk;
}

}  // namespace

std::string unknown_experiment(const CLI::App& experiment) {
  const std::vector<std::string> rest = experiment.remaining();
  if (!experiment.get_subcommands().empty() || rest.empty()) return "";
  std::vector<std::string_view> names;
  for (const Entry& e : kExperiments) names.emplace_back(e.name);
  return fmt::format("expected one of {}, got '{}'", fmt::join(names, ", "), rest.front());
}

void add_experiment(CLI::App& app, Session& session) {
  CLI::App& experiment = *app.add_subcommand("experiment", "A published experiment, with the published figures beside ours");
  experiment.require_subcommand(0, 1);
  auto lists = std::make_shared<bool>(false);
  experiment.add_flag("--list", *lists, "Name, paper and content of every experiment");
  for (const Entry& e : kExperiments) {
    CLI::App& sub = add_subcommand(experiment, e.name, e.paper[0] == '[' ? fmt::format("{}, {}", e.about, e.paper) : e.about, session);
    if (e.draws) {
      CLI::Option* plot = sub.add_option("--plot", session.plot, "Figure of it (.svg, .png or .pdf; needs matplotlib)")
                              ->type_name("FILE")
                              ->check(writable_file({".svg", ".png", ".pdf"}));
      sub.add_flag("--narrow", session.narrow, "Every plot in a file of its own, FILE's name and the plot's, legible on a phone")
          ->needs(plot);
    }
    e.add(sub, session);
  }
  experiment.allow_extras();  // a name that is none: the callback says so; after the subcommands, which would inherit it
  experiment.callback([&experiment, &session, lists] {
    if (!experiment.get_subcommands().empty()) return;
    if (const std::string no = unknown_experiment(experiment); !no.empty()) throw CLI::ValidationError("experiment", no);
    if (!*lists) throw CLI::RequiredError("An experiment (stiction experiment --list)");
    session.run = [&experiment] { return list(experiment); };
  });
}

}  // namespace stiction::cli
