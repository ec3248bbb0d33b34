#include "stiction/laws/mixture.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/problem/constitutive.hpp"

namespace stiction {

namespace {

// In the order of preference for the law that the mixture is solved under; the first found names it.
constexpr std::array kPyramid{Law::coulomb_pyramid, Law::no_slip, Law::frictionless};
constexpr std::array kCone{Law::coulomb_cone, Law::no_slip, Law::frictionless};
constexpr std::array kSoft{Law::sap, Law::todorov, Law::anitescu, Law::frictionless};

template <std::size_t N>
bool all_of(const std::vector<Law>& laws, const std::array<Law, N>& family) {
  return std::ranges::all_of(laws, [&](Law law) { return std::ranges::find(family, law) != family.end(); });
}

bool has(const std::vector<Law>& laws, Law law) { return std::ranges::find(laws, law) != laws.end(); }

[[noreturn]] void refuse(const std::vector<Law>& laws) {
  const std::size_t other = static_cast<std::size_t>(std::ranges::find_if(laws, [&](Law law) { return law != laws[0]; }) - laws.begin());
  throw InvalidArgument("laws",
                        "laws of one kind: Coulomb's (frictionless, no_slip and coulomb_pyramid or coulomb_cone), convex (frictionless, "
                        "anitescu, todorov, sap) or compliant",
                        fmt::format("a mixture of {} (contact 0) and {} (contact {})", to_string(laws[0]), to_string(laws[other]), other));
}

bool is_closed(const ReducedProblem& p, const std::vector<char>& /*closed*/, std::size_t i) { return p.closed[i] != 0; }
bool is_closed(const ContactProblem& /*p*/, const std::vector<char>& closed, std::size_t i) { return closed[i] != 0; }
void find_closed(const ReducedProblem& /*p*/, std::vector<char>& /*closed*/) {}

void set_coulomb(const std::vector<Law>& laws, GrowVector& mu) {
  for (std::size_t i = 0; i < laws.size(); ++i) {
    if (laws[i] == Law::frictionless) mu[static_cast<Eigen::Index>(i)] = 0.0;
    if (laws[i] == Law::no_slip) mu[static_cast<Eigen::Index>(i)] = kInfinity;
  }
}

// anitescu puts friction on closed contacts only; the softened program on whatever its cone lets push.
template <class Problem>
void set_soft(const Problem& problem, GrowVector& mu) {
  std::vector<char> closed;
  find_closed(problem, closed);
  for (std::size_t i = 0; i < problem.laws.size(); ++i) {
    const bool slides = problem.laws[i] == Law::frictionless || (problem.laws[i] == Law::anitescu && !is_closed(problem, closed, i));
    if (slides) mu[static_cast<Eigen::Index>(i)] = 0.0;
  }
}

}  // namespace

template <class Problem>
bool unify(const Problem& problem, const SolveOptions& options, Problem& unified, SolveOptions& one) {
  const std::vector<Law>& laws = problem.laws;
  one = options;
  one.law = laws[0];
  if (std::ranges::all_of(laws, [&](Law law) { return law == laws[0]; }) || std::ranges::all_of(laws, is_compliant)) return false;
  if (all_of(laws, kPyramid) || all_of(laws, kCone)) {
    const bool pyramid = has(laws, Law::coulomb_pyramid) || (!has(laws, Law::coulomb_cone) && options.law == Law::coulomb_pyramid);
    one.law = pyramid ? Law::coulomb_pyramid : Law::coulomb_cone;
    unified = problem;
    unified.laws.clear();
    set_coulomb(laws, unified.mu);
    return true;
  }
  if (!all_of(laws, kSoft)) refuse(laws);
  one.law = has(laws, Law::sap) ? Law::sap : Law::todorov;
  unified = problem;
  set_soft(problem, unified.mu);
  return true;
}

template bool unify(const ContactProblem&, const SolveOptions&, ContactProblem&, SolveOptions&);
template bool unify(const ReducedProblem&, const SolveOptions&, ReducedProblem&, SolveOptions&);

}  // namespace stiction
