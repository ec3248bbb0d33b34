#include "cli/contact_table.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stiction::cli {

namespace {

constexpr double kNothing = 1e-6;  // relative; solved problems are a thousand times closer to zero where they should be zero

double largest(const Eigen::Ref<const Eigen::VectorXd>& x) { return x.size() == 0 ? 0.0 : x.lpNorm<Eigen::Infinity>(); }

}  // namespace

ContactScales scales_of(const Solution& solution, const Eigen::Ref<const Eigen::VectorXd>& u_free) {
  return {largest(solution.impulses), std::max(largest(solution.u), largest(u_free))};
}

std::vector<std::string_view> contact_states(const Solution& solution, const ContactScales& scales) {
  std::vector<std::string_view> out;
  for (Eigen::Index i = 0; i < solution.impulses.size(); i += 3) {
    const bool open = solution.impulses.segment<3>(i).norm() <= kNothing * scales.impulse;
    const bool still = solution.u.segment<2>(i + 1).norm() <= kNothing * scales.velocity;
    out.push_back(open ? "open" : still ? "sticks" : "slides");
  }
  return out;
}

std::string contact_table(const Solution& solution, const ContactScales& scales, const Indeterminacy& indeterminacy, Eigen::Index most) {
  const std::vector<std::string_view> states = contact_states(solution, scales);
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
    out += fmt::format("{:>7}  {:<7} {:>13.6g} {:>13.6g} {:>13.6g} {:>13.4g} {:>13.4g}", i, states[static_cast<std::size_t>(i)], lambda[0],
                       lambda[1], lambda[2], u[0], u.tail<2>().norm());
    if (intervals) out += fmt::format(" {:>13.6g} {:>13.6g}", indeterminacy.normal_min[i], indeterminacy.normal_max[i]);
    out += '\n';
  }
  if (n > most) out += fmt::format("{:>7}  {} more: --json has them all\n", "...", n - most);
  return out;
}

}  // namespace stiction::cli
