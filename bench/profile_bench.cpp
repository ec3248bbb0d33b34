// Performance profile of the exact law: which share of a set of problems each solver solves within a factor of the fastest [Dolan, More
// 2002]. Ours against the peers that this build has (-DSTICTION_BASELINES=ON), in one run, on the same problems:
//
//   walls      brick walls, 4 to 256 contacts, mass ratios 1:10 and 1:1000
//   flat feet  inverse dynamics of a robot on four flat feet, 4 to 64 contacts (rank 6)
//   files      every friction problem in FOLDER (Siconos text, FCLIB, ours)
// All are judged by one certificate: natural map, scaled, <= JUDGE (1e-8). Our time runs from M and J, or for problems known by W from W
// (its factorisation included), to the certificate. A peer's runs from W, ready made, to its impulses; it is asked for JUDGE and, where it
// says it is done and the certificate disagrees, again for a tenth of it, four times at most; the time is of the last request alone. Times
// are medians of three runs, or one run where that is longer than a second.
//
// profile_bench [--fc3d FOLDER] [--only FOLDER] [--judge JUDGE] [--json FILE] [--quick]        --only: no generated problems
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/generated_problems.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/baselines/baselines.hpp"
#include "stiction/io/problem_file.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/problem/reduced_certificate.hpp"

namespace stiction::bench {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string folder, json;
  double judge = 1e-8;
  bool quick = false, generated = true;
};

struct Case {
  std::string family, name;
  AnyProblem problem;
};

/// One solver on one problem.
struct Result {
  double microseconds = 0.0, natural_map = 0.0;
  bool solved = false;
};

struct Entry {
  std::string family, name;
  int contacts = 0;
  std::map<std::string, Result> results;
};

const ReducedProblem& reduced_of(const AnyProblem& problem, Reduction& reduction) {
  if (const auto* reduced = std::get_if<ReducedProblem>(&problem)) return *reduced;
  reduce(std::get<ContactProblem>(problem), reduction);
  return reduction.reduced;
}

double natural_map(const ReducedProblem& problem, const Eigen::VectorXd& lambda) {
  SolveOptions exact;
  exact.law = Law::coulomb_cone;
  const Certificate c = certify(problem, lowered(problem, exact), lambda, Eigen::VectorXd::Zero(problem.bounded_rows()));
  return c.finite ? c.natural_map.scaled : kInfinity;
}

double median(std::vector<double> values) {
  if (values.empty()) return NAN;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Median of three cold runs, or one where a run is long.
Result ours(const AnyProblem& problem, const ReducedProblem& reduced, double judge) {
  using Clock = std::chrono::steady_clock;
  SolveOptions options;
  options.law = Law::coulomb_cone;
  options.warm_start = false;
  SolveWorkspace workspace;
  Solution solution;
  Eigen::MatrixXd W;
  if (std::holds_alternative<ReducedProblem>(problem)) {
    const Eigen::MatrixXd Rt = reduced.Rt.to_dense();
    W.noalias() = Rt * Rt.transpose();
    if (reduced.defect.size() > 0) W += reduced.defect;
  }
  std::vector<double> times;
  for (int k = 0; k < 4 && (k == 0 || times.back() < 1.0); ++k) {
    const auto start = Clock::now();
    if (const auto* contact = std::get_if<ContactProblem>(&problem)) {
      solve(*contact, options, workspace, solution);
    } else {
      ReducedProblem factored = reduce_dense(W, reduced.u_free, reduced.mu);
      factored.offset = reduced.offset;
      solve(factored, options, workspace, solution);
    }
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  if (times.size() > 1) times.erase(times.begin());  // it grew the memory
  Result out;
  out.microseconds = 1e6 * median(times);
  out.natural_map = natural_map(reduced, solution.impulses);
  out.solved = out.natural_map <= judge;
  return out;
}

Result peer(Baseline baseline, const ReducedProblem& reduced, double judge) {
  Result out;
  BaselineOptions options;
  for (const double share : {1.0, 0.1, 1e-2, 1e-3, 1e-4}) {
    options.tolerance = share * judge;
    const BaselineSolution answer = solve_by_baseline(baseline, reduced, options);
    std::vector<double> times{answer.seconds};
    out.natural_map = natural_map(reduced, answer.lambda);
    out.solved = out.natural_map <= judge;
    while (out.solved && times.size() < 3 && answer.seconds < 1.0) times.push_back(solve_by_baseline(baseline, reduced, options).seconds);
    out.microseconds = 1e6 * median(times);
    if (out.solved || !answer.converged) return out;
  }
  return out;
}

std::vector<Case> generated(bool quick) {
  std::vector<Case> cases;
  for (const int contacts : {4, 12, 36, 64, 128, 256}) {
    for (const int ratio : {10, 1000}) {
      std::mt19937_64 rng(static_cast<std::uint64_t>(contacts) + (ratio > 10 ? 5000 : 0));
      const int count = contacts < 128 ? (quick ? 2 : 5) : 1;
      for (int k = 0; k < count; ++k) {
        cases.push_back({fmt::format("walls 1:{}", ratio), fmt::format("wall_{}_{}", contacts, k), brick_wall(contacts / 4, ratio, rng)});
      }
    }
  }
  for (const int contacts : {4, 8, 16, 32, 64}) {
    std::mt19937_64 rng(static_cast<std::uint64_t>(contacts) + 9000);
    for (int k = 0; k < (quick ? 2 : 6); ++k)
      cases.push_back({"flat feet", fmt::format("feet_{}_{}", contacts, k), standing_robot(contacts, true, rng)});
  }
  return cases;
}

void add_files(const std::string& folder, std::vector<Case>& cases) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    try {
      cases.push_back({"files", file.filename().string(), load_problem(file)});
    } catch (const FileError& error) {
      fmt::print(stderr, "left out: {}\n", error.what());
    }
  }
}

std::vector<std::string> solver_names_of(const std::vector<Baseline>& peers) {
  std::vector<std::string> names{"stiction"};
  for (const Baseline baseline : peers) names.emplace_back(to_string(baseline));
  return names;
}

Entry run(const Case& each, const std::vector<Baseline>& peers, double judge) {
  Reduction reduction;
  const ReducedProblem& reduced = reduced_of(each.problem, reduction);
  Entry entry{each.family, each.name, reduced.contacts(), {}};
  entry.results["stiction"] = ours(each.problem, reduced, judge);
  for (const Baseline baseline : peers) {
    Result& result = entry.results[std::string(to_string(baseline))];
    try {
      result = peer(baseline, reduced, judge);
    } catch (const InvalidArgument&) {
      result.natural_map = kInfinity;  // infinite friction or bounded rows: not its kind of problem
    }
  }
  return entry;
}

double fastest(const Entry& entry) {
  double best = kInfinity;
  for (const auto& [name, result] : entry.results) {
    if (result.solved) best = std::min(best, result.microseconds);
  }
  return best;
}

// Share of the problems that `name` solves within tau times the fastest.
double share_within(const std::vector<Entry>& entries, const std::string& name, double tau) {
  const auto within = std::ranges::count_if(entries, [&](const Entry& e) {
    const Result& r = e.results.at(name);
    return r.solved && r.microseconds <= tau * fastest(e);
  });
  return static_cast<double>(within) / static_cast<double>(std::max<std::size_t>(entries.size(), 1));
}

constexpr double kTaus[] = {1, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000, kInfinity};

void print_profile(const std::vector<Entry>& entries, const std::vector<std::string>& names) {
  fmt::print("\nshare solved within a factor of the fastest, {} problems\n{:<20}", entries.size(), "");
  for (const double tau : kTaus) fmt::print(" {:>6}", std::isinf(tau) ? "any" : fmt::format("{}", tau));
  for (const std::string& name : names) {
    fmt::print("\n{:<20}", name);
    for (const double tau : kTaus) fmt::print(" {:>6.2f}", share_within(entries, name, tau));
    fmt::print("  |{:<40}|", std::string(static_cast<std::size_t>(std::lround(40 * share_within(entries, name, 10.0))), '#'));
  }
  fmt::print("\n(bar: within a factor of 10)\n");
}

// Per family: solved, and the median of their time over ours on the problems that both solved.
void print_families(const std::vector<Entry>& entries, const std::vector<std::string>& names) {
  std::map<std::string, std::vector<const Entry*>> families;
  for (const Entry& e : entries) families[e.family].push_back(&e);
  fmt::print("{:<14} {:>8}", "family", "problems");
  for (const std::string& name : names) fmt::print(" {:>28}", name);
  fmt::print("\n");
  for (const auto& [family, members] : families) {
    fmt::print("{:<14} {:>8}", family, members.size());
    for (const std::string& name : names) {
      std::vector<double> ratios;
      int solved = 0;
      for (const Entry* e : members) {
        const Result &theirs = e->results.at(name), &own = e->results.at("stiction");
        solved += theirs.solved;
        if (theirs.solved && own.solved) ratios.push_back(theirs.microseconds / own.microseconds);
      }
      fmt::print(" {:>28}", fmt::format("{} solved, time x {:.1f}", solved, median(ratios)));
    }
    fmt::print("\n");
  }
  for (const Entry& e : entries) {
    if (!e.results.at("stiction").solved)
      fmt::print("unsolved by stiction: {} ({} contacts), natural map {:.1e}\n", e.name, e.contacts, e.results.at("stiction").natural_map);
  }
}

void write_json(const std::string& file, const std::vector<Entry>& entries) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Entry& e : entries) {
    nlohmann::ordered_json row{{"family", e.family}, {"name", e.name}, {"contacts", e.contacts}};
    for (const auto& [name, r] : e.results) {
      row["results"][name] = {
          {"microseconds", r.microseconds},
          {"natural_map", std::isfinite(r.natural_map) ? nlohmann::ordered_json(r.natural_map) : nlohmann::ordered_json()},
          {"solved", r.solved}};
    }
    out.push_back(row);
  }
  std::ofstream(file) << out.dump(1) << '\n';
}

bool read(int argc, char** argv, Arguments& out) {
  for (int a = 1; a < argc; ++a) {
    const std::string argument = argv[a];
    const bool has_value = a + 1 < argc;
    if (argument == "--quick") {
      out.quick = true;
    } else if ((argument == "--fc3d" || argument == "--only") && has_value) {
      out.folder = argv[++a];
      out.generated = argument == "--fc3d";
    } else if (argument == "--judge" && has_value) {
      out.judge = std::atof(argv[++a]);
    } else if (argument == "--json" && has_value) {
      out.json = argv[++a];
    } else {
      return false;
    }
  }
  return out.judge > 0.0;
}

void profile(const Arguments& arguments) {
  std::vector<Baseline> peers;
  for (const Baseline baseline : kBaselines) {
    if (is_built(baseline) && law_of(baseline) == Law::coulomb_cone) peers.push_back(baseline);
  }
  std::vector<Case> cases;
  if (arguments.generated) cases = generated(arguments.quick);
  if (!arguments.folder.empty()) add_files(arguments.folder, cases);
  std::vector<Entry> entries;
  for (const Case& each : cases) {
    entries.push_back(run(each, peers, arguments.judge));
    fmt::print(stderr, "\r{}/{} {:<40}", entries.size(), cases.size(), each.name);
  }
  fmt::print(stderr, "\r{:<60}\r", "");
  const std::vector<std::string> names = solver_names_of(peers);
  print_families(entries, names);
  print_profile(entries, names);
  if (!arguments.json.empty()) write_json(arguments.json, entries);
}

}  // namespace
}  // namespace stiction::bench

int main(int argc, char** argv) {
  stiction::bench::Arguments arguments;
  if (!stiction::bench::read(argc, argv, arguments)) {
    fmt::print(stderr, "usage: profile_bench [--fc3d FOLDER] [--only FOLDER] [--judge JUDGE] [--json FILE] [--quick]\n");
    return 2;
  }
  stiction::bench::profile(arguments);
  return 0;
}
