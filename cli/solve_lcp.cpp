#include "cli/solve_lcp.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stiction/base/errors.hpp"
#include "stiction/io/problem_file.hpp"
#include "stiction/programs/lcp/decide_lcp.hpp"

namespace stiction::cli {
namespace {

std::string to_json(const LcpSolution& s) {
  nlohmann::ordered_json out;
  out["status"] = to_string(s.status);
  out["size"] = s.z.size();
  out["z"] = list(s.z);
  out["w"] = list(s.w);
  out["residual"] = s.residual;
  out["pivots"] = s.pivots;
  if (s.ray.size() > 0) out["ray"] = list(s.ray);
  return out.dump(2);
}

void print(const std::string& file, const LcpSolution& s) {
  fmt::print("{}: linear complementarity problem w = M z + q of size {}: {} after {} pivots, residual {:.1e}\n", file, s.z.size(),
             to_string(s.status), s.pivots, s.residual);
  if (s.status == Status::infeasible) {
    fmt::print("proved to have no solution {}\n", s.infeasible ? "(a Farkas vector: --json)" : "(every basis was tried)");
    return;
  }
  constexpr Eigen::Index kMost = 40;  // a screen
  fmt::print("{:>7} {:>16} {:>16}\n", "", "z", "w");
  for (Eigen::Index i = 0; i < std::min(s.z.size(), kMost); ++i) fmt::print("{:>7} {:>16.9g} {:>16.9g}\n", i, s.z[i], s.w[i]);
  if (s.z.size() > kMost) fmt::print("{:>7}  {} more: --json has them all\n", "...", s.z.size() - kMost);
}

}  // namespace

int solve_lcp(const ProblemOptions& options, const Session& session) {
  if (options.solver != "auto" && options.solver != "lemke") {
    throw InvalidArgument("--solver", "auto or lemke for a linear complementarity problem", fmt::format("'{}'", options.solver));
  }
  for (const CLI::Option* option : options.app->get_options()) {  // an LCP has no law, no contacts and no iteration but pivots
    constexpr std::array<std::string_view, 8> kRead{"FILE",   "--solver", "--tolerance", "--max-pivots",
                                                    "--json", "--quiet",  "--seed",      "--help"};
    const std::string name = option->get_name();
    if (option->count() == 0 || std::ranges::find(kRead, name) != kRead.end()) continue;
    throw InvalidArgument(name, "none for a linear complementarity problem", fmt::format("{}", fmt::join(option->results(), " ")));
  }
  if (options.max_pivots < 0) throw InvalidArgument("--max-pivots", "an integer >= 0", std::to_string(options.max_pivots));
  const Lcp lcp = load_lcp(options.file);
  DecideLcpOptions how;
  how.lemke.max_pivots = options.max_pivots;
  how.lemke.tolerance = std::min(how.lemke.tolerance, options.tolerance);
  DecideLcpWorkspace workspace;
  LcpSolution solution;
  if (options.solver == "lemke") {
    lemke(lcp.M, lcp.q, how.lemke, workspace.lemke, solution);
  } else {
    decide_lcp(lcp.M, lcp.q, how, workspace, solution);
  }
  if (session.json) write_text(*session.json, to_json(solution));
  if (session.prints_table()) print(options.file, solution);
  return solution.status == Status::solved ? kOk : kNumericalFailure;
}

}  // namespace stiction::cli
