#include "cli/contact_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "stiction/problem/contact_mode.hpp"

namespace stiction::cli {

std::vector<std::string_view> contact_modes(const Solution& solution) {
  std::vector<std::string_view> out;
  for (int i = 0; 3 * i < solution.impulses.size(); ++i) out.push_back(to_string(contact_mode(solution, i)));
  return out;
}

std::string contact_table(const Solution& solution, const Indeterminacy& indeterminacy, Eigen::Index most) {
  const std::vector<std::string_view> modes = contact_modes(solution);
  const Eigen::Index n = solution.impulses.size() / 3;
  const bool intervals = indeterminacy.normal_min.size() == n && n > 0;
  std::string out =
      fmt::format("{:>7}  {:<7} {:>13} {:>13} {:>13} {:>13} {:>13}", "contact", "", "normal", "tangent 1", "tangent 2", "opening", "slip");
  out += intervals ? fmt::format(" {:>13} {:>13}", "least normal", "most normal") : "";
  out += fmt::format("\n{:>16} {:>13} {:>13} {:>13} {:>13} {:>13}", "", "N s", "N s", "N s", "m/s", "m/s");
  out += intervals ? fmt::format(" {:>13} {:>13}\n", "N s", "N s") : "\n";
  for (Eigen::Index i = 0; i < std::min(n, most); ++i) {
    const auto lambda = solution.impulses.segment<3>(3 * i);
    const auto u = solution.u.segment<3>(3 * i);
    out += fmt::format("{:>7}  {:<7} {:>13.6g} {:>13.6g} {:>13.6g} {:>13.4g} {:>13.4g}", i, modes[i], lambda[0], lambda[1], lambda[2], u[0],
                       u.tail<2>().norm());
    if (intervals) out += fmt::format(" {:>13.6g} {:>13.6g}", indeterminacy.normal_min[i], indeterminacy.normal_max[i]);
    out += '\n';
  }
  if (n > most) out += fmt::format("{:>7}  {} more: --json has them all\n", "...", n - most);
  return out;
}

}  // namespace stiction::cli
