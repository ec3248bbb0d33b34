#include "stiction/laws/lowering.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <Eigen/Geometry>

#include "stiction/base/errors.hpp"
#include "stiction/problem/contact_weights.hpp"

namespace stiction {

namespace {

bool joins_coulomb(Law law) { return row_of(law).joins == Joins::coulomb; }

// Names of the laws that are so.
template <class Is>
std::string names_where(Is is) {
  std::vector<std::string_view> names;
  for (const Law law : kLaws) {
    if (is(law)) names.push_back(to_string(law));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

[[noreturn]] void refuse(std::span<const Law> laws) {
  const auto other = std::ranges::find_if(laws, [&](Law law) { return law != laws[0]; });
  throw InvalidArgument(
      "laws",
      fmt::format("laws of one kind: Coulomb's over one section (with {}), convex ({}), or compliant",
                  names_where([](Law law) { return joins_coulomb(law) && row_of(law).family != Family::coulomb; }),
                  names_where([](Law law) { return row_of(law).family == Family::associated; })),
      fmt::format("a mixture of {} (contact 0) and {} (contact {})", to_string(laws[0]), to_string(*other), other - laws.begin()));
}

int edges_of(Section section, const LawModel& model) { return section == Section::polygon || section == Section::either ? model.edges : 0; }

// Nothing where no program takes them all.
std::optional<Family> family_of(std::span<const Law> laws) {
  const auto all = [&](Family family) { return std::ranges::all_of(laws, [&](Law law) { return row_of(law).family == family; }); };
  for (const Family family : {Family::associated, Family::coulomb, Family::energy, Family::constitutive}) {
    if (all(family)) return family;
  }
  if (!std::ranges::all_of(laws, joins_coulomb)) return std::nullopt;
  return Family::coulomb;
}

bool touches_at_midpoint(double gap, double dt, double approach) { return gap + 0.5 * dt * approach <= kTouchGap; }

/// What a scheme reads of a contact: its normal offset and restitution, and the angle of its polygon.
struct Scheme {
  double offset, restitution, angle;
};

// What the scheme fills in, then the law.
void lower_contact(Law law, const LawModel& model, ContactState& c, const Scheme& scheme, ContactTerms& t) {
  t = ContactTerms{};
  c.offset = {scheme.offset, 0.0, 0.0};
  c.viscous_slip = model.viscous_slip;
  if (row_of(law).gaps == Gaps::midpoint) {
    const double tangential = c.material->restitution_tangential;
    t.bears = touches_at_midpoint(c.gap, c.dt, c.u_before[0]);
    c.offset = {scheme.restitution * c.u_before[0], tangential * c.u_before[1], tangential * c.u_before[2]};
  } else if (model.variant == PyramidVariant::anitescu_potra && row_of(law).family != Family::constitutive) {
    t.bears = c.gap <= kTouchGap;
    c.offset[0] = std::min(scheme.offset, 0.0);
  }
  t.offset = c.offset;
  row_of(law).lower(c, t);
  if (scheme.angle == 0.0) return;
  t.turned = true;
  t.axes = (Eigen::Rotation2Dd(scheme.angle).toRotationMatrix() * t.axes).eval();
}

}  // namespace

namespace {

std::optional<LawMix> try_mix(std::span<const Law> laws, const LawModel& model) {
  const LawRow& own = row_of(model.law);
  if (laws.empty()) return LawMix{own.family, edges_of(own.section, model), own.solvers};
  const std::optional<Family> family = family_of(laws);
  if (!family) return std::nullopt;
  LawMix out{*family, 0, ~0U};
  bool disc = false, polygon = false, all_either = true;
  for (const Law law : laws) {
    const LawRow& row = row_of(law);
    // Springs and dampers beside Coulomb's law are its own contacts.
    if (row.family == out.family || row.family == Family::associated) out.solvers &= row.solvers;
    if (row.section == Section::none) continue;
    const bool own_section = row.family == out.family;
    disc = disc || (own_section && row.section == Section::disc);
    polygon = polygon || (own_section && row.section == Section::polygon);
    all_either = all_either && row.section == Section::either;
  }
  if (disc && polygon) return std::nullopt;
  const bool frictionless = std::ranges::all_of(laws, [](Law law) { return row_of(law).section == Section::none; });
  const bool one_law = std::ranges::all_of(laws, [&](Law law) { return law == laws[0]; });
  if (polygon || (all_either && one_law && !frictionless)) out.edges = model.edges;
  return out;
}

}  // namespace

bool have_one_program(std::span<const Law> laws, const LawModel& model) { return try_mix(laws, model).has_value(); }

LawMix mix(std::span<const Law> laws, const LawModel& model) {
  const std::optional<LawMix> found = try_mix(laws, model);
  if (!found) refuse(laws);
  return *found;
}

bool can_solve(const LawMix& mix, Solver solver) { return (mix.solvers & (1U << static_cast<unsigned>(solver))) != 0; }

namespace {

// The one loop over contacts. `read` fills what a state has beyond law and index, and returns {offset, restitution, angle} of the scheme.
template <class Problem, class Read>
void lower_contacts(const Problem& p, const LawModel& model, const LawMix& law, Read read, LawTerms& terms) {
  terms.family = law.family;
  terms.edges = law.edges;
  terms.contacts.resize(p.contacts());
  for (int i = 0; i < p.contacts(); ++i) {
    const std::size_t k = static_cast<std::size_t>(i);
    const Law own = p.laws.empty() ? model.law : p.laws[k];
    ContactState c{.index = i, .mu = p.mu[i], .dt = p.dt, .material = &material_of(p.material, i), .family = law.family};
    const Scheme scheme = read(own, c);
    lower_contact(own, model, c, scheme, terms.contacts[k]);
  }
}

}  // namespace

LawTerms lowered(const ProblemView& p, const LawModel& model) {
  const LawMix law = mix(p.laws, model);
  GrowVector offset, angle, weights;
  ContactWeightsScratch scratch;
  std::vector<char> closed;
  normal_offset(p, offset);
  find_closed(p, closed);
  const bool turned = model.align_edges && law.edges > 0;
  if (turned) edge_angles(p, angle);
  if (reads(p, model, Reads::weight)) contact_weights(p, scratch, weights);
  LawTerms terms;
  const auto read = [&](Law own, ContactState& c) -> Scheme {
    c.gap = p.gap[c.index];
    c.closed = closed[c.index] != 0;
    if (row_of(own).reads == Reads::velocity_before) p.J.add_group_product(c.index, p.v, c.u_before);
    if (row_of(own).reads == Reads::weight) c.weight = weights[c.index];
    return {offset[c.index], p.restitution[c.index], turned ? angle[c.index] : 0.0};
  };
  lower_contacts(p, model, law, read, terms);
  return terms;
}

void lower(const ReducedProblem& p, const LawModel& model, LawTerms& terms) {
  const LawMix law = mix(p.laws, model);
  const bool turned = law.edges > 0 && p.edge_angle.size() > 0;
  const auto read = [&](Law own, ContactState& c) -> Scheme {
    const int i = c.index;
    if (p.gap.size() > 0) c.gap = p.gap[i];
    c.closed = p.closed[i] != 0;
    if (p.u_before.size() > 0) c.u_before = p.u_before.segment<3>(3 * i);
    if (row_of(own).reads == Reads::weight) c.weight = p.weight.size() > 0 ? p.weight[i] : p.Rt.group_square(i) / 3.0;
    return {p.offset[i], p.restitution.size() > 0 ? p.restitution[i] : 0.0, turned ? p.edge_angle[i] : 0.0};
  };
  lower_contacts(p, model, law, read, terms);
}

LawTerms lowered(const ReducedProblem& p, const LawModel& model) {
  LawTerms terms;
  lower(p, model, terms);
  return terms;
}

}  // namespace stiction
