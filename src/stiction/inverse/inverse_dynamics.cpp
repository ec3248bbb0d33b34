#include "stiction/inverse/inverse_dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Ref = Eigen::Ref<const Eigen::VectorXd>;

constexpr double kNone = 1e-12;         // of velocities
constexpr double kNoMore = 1.0 + 1e-9;  // of the way to standing still
constexpr double kMissed = 1e-8;        // shortfall relative to the speeds from which on a request counts as missed
constexpr double kLever = 1e3;          // beside the speeds of the problem: the inverse of what is well apart (nearest_no_slip.hpp)
constexpr double kHelps = 0.5;          // a further projection takes away half of the slip at least: 1e-3 where tangents are well apart

bool is_limited(std::span<const double> tau_max, std::size_t i) { return !tau_max.empty() && std::isfinite(tau_max[i]); }

/// The coordinate that a row is on and its factor; -1 where it is on several, or none.
std::pair<int, double> only_coordinate(const BlockRows& rows, int row) {
  std::pair<int, double> found(-1, 0.0);
  for (int e = rows.entry_begin(row); e < rows.entry_end(row); ++e) {
    const auto entry = rows.entry(e);
    for (Index k = 0; k < entry.cols(); ++k) {
      if (entry(0, k) == 0.0) continue;
      if (found.first >= 0) return {-1, 0.0};
      found = {rows.col_offset(rows.entry_block(e)) + static_cast<int>(k), entry(0, k)};
    }
  }
  return found;
}

// What returns a joint from beyond its limit (assemble.hpp) never fights what holds the joint: as fast as it is to move is fast enough. A
// controller would else be told M/h, to stand still a micrometre beyond.
void let_returns_yield(const ProblemView& p, std::span<const int> joints, const Ref& v_desired, ProblemRows& rows) {
  for (int j = 0; j < p.bounded_rows(); ++j) {
    if (row_kind(p, j) != RowKind::limit || !std::isfinite(p.hi[j])) continue;  // limits themselves have no bound
    const auto [coordinate, factor] = only_coordinate(p.J_b, j);
    const auto at = std::ranges::find(joints, coordinate);
    if (at != joints.end()) rows.b[j] = std::min(rows.b[j], factor * v_desired[at - joints.begin()]);
  }
}

/// The problem with the rows of the driven joints: coordinates that are prescribed, and bounded rows where the torque is limited.
ProblemView with_request(const ProblemView& p, std::span<const int> joints, const Ref& v_desired, std::span<const double> tau_max,
                         ProblemRows& rows) {
  rows.prescribed.clear();
  rows.J_b = p.J_b;
  rows.b = p.b;
  let_returns_yield(p, joints, v_desired, rows);
  rows.lo = p.lo;
  rows.hi = p.hi;
  rows.row_compliance.resize(p.bounded_rows());
  for (int j = 0; j < p.bounded_rows(); ++j) rows.row_compliance[j] = compliance(p, j);
  rows.row_ids = p.row_ids;
  rows.row_kinds.clear();
  for (int j = 0; j < p.bounded_rows(); ++j) rows.row_kinds.push_back(row_kind(p, j));
  rows.v_prescribed.resize(v_desired.size());
  Index prescribed = 0;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const double v = v_desired[static_cast<Index>(i)];
    if (is_limited(tau_max, i)) {
      add_joint_row(p, joints[i], v, tau_max[i] * p.dt, rows);
    } else {
      rows.prescribed.push_back(joints[i]);
      rows.v_prescribed[prescribed++] = v;
    }
  }
  rows.v_prescribed.resize(prescribed);
  return p.with_rows(rows);
}

// tau from the prescribed multipliers, then from the limited rows, in the order of `joints`.
void read_torques(const ProblemView& p, std::size_t joints, std::span<const double> tau_max, InverseSolution& s) {
  s.tau.resize(static_cast<Index>(joints));
  Index prescribed = 0, row = p.bounded_rows();
  for (std::size_t i = 0; i < joints; ++i) {
    s.tau[static_cast<Index>(i)] = (is_limited(tau_max, i) ? s.bounded_impulses[row++] : s.prescribed_impulses[prescribed++]) / p.dt;
  }
  if (!s.tau.allFinite()) s.status = Status::numerical_error;  // an impulse below 1e308 N s may be a torque above it
}

// The rows of joints with limits are the request's, not the caller's: their impulses are among those of the driven joints.
void fit_to_problem(const ProblemView& p, InverseSolution& s) {
  s.bounded_impulses.resize(p.bounded_rows());  // keeps its entries: the request's rows are behind them
  if (s.multipliers.size() > 0) s.multipliers.resize(p.contacts() + p.bounded_rows());
  s.prescribed_impulses = p.dt * s.tau;
}

void measure_shortfall(std::span<const int> joints, const Ref& v_desired, InverseSolution& s) {
  s.shortfall = 0.0;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    s.shortfall = std::max(s.shortfall, std::abs(s.v[joints[i]] - v_desired[static_cast<Index>(i)]));
  }
}

// What is rounding beside the request and the motion before is none: it would be the scale of what is solved next.
void drop_rounding(const ProblemView& p, const Ref& v_desired, GrowVector& repaired) {
  const double rounding = kNone * std::max(largest_entry(v_desired), largest_entry(p.v));
  for (double& v : repaired) {
    if (std::abs(v) <= rounding) v = 0.0;
  }
}

SolveOptions contact_options(const InverseOptions& options) {
  SolveOptions contact = options.contact;
  if (options.choice == Choice::least_norm || options.choice == Choice::closest_to_last) contact.choice = options.choice;
  return contact;
}

bool tangents_refuse(RequestWorkspace& w) {
  return w.solve.form.family == Family::associated && tangents_contradict(w.solve.form.problem, w.solve.convex);
}

// No-slip contacts that refuse the desired velocities, by the rank of their rows or by a proof of the solver: a solve that only missed its
// tolerance keeps what was asked for.
bool contradicts_contacts(RequestWorkspace& w, const InverseSolution& s) { return s.status == Status::infeasible || tangents_refuse(w); }

// The tangents alone refuse the desired velocities: by a Farkas vector of theirs, or by their rank.
bool slip_is_refused(const Solution& s, RequestWorkspace& w) {
  if (s.status == Status::infeasible && s.ray.proof && s.ray.bounded_impulses.isZero(0.0)) {
    const auto normals = Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<3>>(s.ray.impulses.data(), s.ray.impulses.size() / 3);
    if (normals.isZero(0.0)) return true;
  }
  return tangents_refuse(w);
}

// Rigid half lines and half spaces, at least one of these, and nothing else: what principal pivoting solves.
bool has_half_spaces_only(const StandardForm& form) {
  const auto& mu = form.problem.mu;
  return form.family == Family::associated && form.compliance.size() == 0 && form.problem.bounded_rows() == 0 &&
         std::ranges::all_of(mu, [](double m) { return m == 0.0 || std::isinf(m); }) &&
         std::ranges::any_of(mu, [](double m) { return std::isinf(m); });
}

// Whether pivoting may be asked for: where `solve_changed` solves all anew, by the laws' own names for it, which at infinite friction not
// all of these have.
bool can_pivot(const ProblemView& request, const SolveOptions& contact, bool by_parts, const RequestWorkspace& w) {
  const bool anew = by_parts || request.bounded_rows() > 0;
  return has_half_spaces_only(w.solve.form) && (!anew || can_solve(mix(request.laws, contact), Solver::goldfarb_idnani));
}

// Largest slip of the half spaces in s, beside the speeds of the problem.
double slip_of_half_spaces(const StandardForm& form, const Solution& s) {
  double slip = 0.0;
  for (std::size_t k = 0; k < form.contacts.size(); ++k) {
    if (std::isinf(form.problem.mu[static_cast<Index>(k)]))
      slip = std::max(slip, s.u.segment<2>(3 * form.contacts[k] + 1).cwiseAbs().maxCoeff());
  }
  return slip / std::max(s.certificate.velocity_scale, 1e-300);
}

// A motion a thousand times as fast as what is asked: that of a base which nearly dependent tangents alone hold.
bool runs_away(const ProblemView& p, const Ref& v_desired, const InverseSolution& s) {
  return largest_entry(s.v) > kLever * std::max({s.certificate.velocity_scale, largest_entry(v_desired), largest_entry(p.v)});
}

// Solves `request` with the joint velocities in w.v_desired instead of those that it had.
void solve_changed(const ProblemView& p, const ProblemView& request, std::span<const int> joints, std::span<const double> tau_max,
                   const SolveOptions& contact, bool by_parts, RequestWorkspace& w, InverseSolution& s) {
  w.solve.choice.last = w.last;                           // not what the refused attempt left there
  with_request(p, joints, w.v_desired, tau_max, w.rows);  // which `request` reads
  by_parts ? solve(request, contact, w.solve, s) : solve_again(request, contact, w.solve, s);
}

SolveOptions by_well_apart_tangents(SolveOptions contact) {
  if (!is_pivoting(contact.solver)) contact.solver = Solver::goldfarb_idnani;
  contact.well_apart = true;
  return contact;
}

// Projects w.v_desired on what leaves no slip where the coordinates that are not driven move as in `motion`.
void project(const ProblemView& p, std::span<const int> joints, const Ref& v_desired, OneSided one_sided, const GrowVector& motion,
             RequestWorkspace& w) {
  nearest_no_slip(p, w.solve.form, one_sided, motion, joints, w.v_desired, w.nearest_no_slip);
  drop_rounding(p, v_desired, w.v_desired);
}

// Solves with tangents well apart alone, and projects on what these and the normals leave of the slip of the others, until they hold all:
// the others would hold what is left by impulses that grow with the inverse of their distance. As they see of the base's motion that
// distance only, each projection leaves at most so much of the slip before it.
void project_until_held(const ProblemView& p, const ProblemView& request, std::span<const int> joints, const Ref& v_desired,
                        const SolveOptions& held, bool by_parts, RequestWorkspace& w, InverseSolution& s) {
  for (double before = kInfinity;;) {
    solve_changed(p, request, joints, {}, held, by_parts, w, s);
    const double worst = s.certificate.worst();
    const bool penetrates = s.certificate.penetration.scaled > held.tolerance;  // normals refuse: no motion to go on from
    if (s.status == Status::solved || penetrates || !(worst < kHelps * before)) return;
    before = worst;
    reduce_whole(request, held, s, w.solve);
    project(p, joints, v_desired, OneSided::touching, s.v, w);
  }
}

// A Farkas vector of the problem with prescribed joints is one of the request, whose joints have impulses without bound, where its demands
// are those of request_proof.hpp: rays of convex laws may have friction that these leave out.
void prove_by_ray(const ProblemView& p, std::span<const int> joints, const Ref& v_desired, RequestWorkspace& w, InverseSolution& s) {
  if (!w.asked.proof) return;
  s.proof.contacts = w.asked.impulses;
  s.proof.rows = w.asked.bounded_impulses;
  s.proof.joints = w.asked.prescribed_impulses;
  if (!certifies_infeasibility(p, joints, v_desired, {}, w.solve.terms, s.proof, w.proof)) s.proof.clear();
}

// Replaces a request that tangents refuse, by rank or because those that nearly depend on each other would have to hold it (runs_away, or
// slip is left where their impulses round off too much), by the nearest that well apart tangents and the normals hold.
void repair_slip(const ProblemView& p, const ProblemView& request, std::span<const int> joints, const Ref& v_desired,
                 const SolveOptions& contact, RequestWorkspace& w, InverseSolution& s) {
  const bool fast = runs_away(p, v_desired, s), by_parts = !w.solve.reduced_whole;
  if ((s.status == Status::solved && !fast) || !have_one_program(request.laws, contact)) return;
  reduce_whole(request, contact, s, w.solve);
  const bool refused = slip_is_refused(s, w), pivots = can_pivot(request, contact, by_parts, w);
  const bool slips = fast || slip_of_half_spaces(w.solve.form, s) > std::max(contact.tolerance, kNone);
  if (!refused && (!pivots || !slips || s.status == Status::infeasible)) return;
  const SolveOptions held = by_well_apart_tangents(contact);
  if (refused) {
    prove_by_ray(p, joints, v_desired, w, s);
  } else {
    w.v_desired = v_desired;
    solve_changed(p, request, joints, {}, held, by_parts, w, s);
    if (s.status == Status::solved) return;
    reduce_whole(request, held, s, w.solve);
  }
  w.v_desired = v_desired;
  w.at_rest.setZero(p.velocities());
  project(p, joints, v_desired, OneSided::left_out, w.at_rest, w);
  take_held_rows(p, w.nearest_no_slip, w.held);
  if (pivots) project_until_held(p, request, joints, v_desired, held, by_parts, w, s);
  s.repaired = true;
  if (!pivots || s.status != Status::solved) solve_changed(p, request, joints, {}, contact, by_parts, w, s);
}

// `complete` from these impulses. Rows have them as they are given: it knows the least of bilateral rows and of those that nothing moves.
void complete_with(const ProblemView& p, const SolveOptions& options, const StageTwoImpulses& chosen, SolveWorkspace& w, Solution& s) {
  w.impulses.lambda = chosen.contacts;
  for (std::size_t j = 0; j < w.reduction.bounded.size(); ++j) w.impulses.beta[static_cast<Index>(j)] = chosen.rows[w.reduction.bounded[j]];
  complete(p, options, w, s);
  if (p.bounded_rows() == 0 || s.status != Status::solved) return;
  const Residual dissipation = s.certificate.dissipation;  // of the energy's program, which the impulses of these rows are not in
  s.bounded_impulses = chosen.rows;
  s.prescribed_impulses = chosen.joints;
  certify(p, w.terms, s.v, s.impulses, s.bounded_impulses, s.prescribed_impulses, w.certificate, s.certificate);
  if (w.terms.family == Family::energy) s.certificate.dissipation = dissipation;
  if (!(s.certificate.worst() <= options.tolerance)) s.status = Status::inaccurate;
}

void apply_stage_two(const ProblemView& p, const InverseOptions& options, RequestWorkspace& w, InverseSolution& s) {
  const auto read = [&](StageTwoImpulses& to) {
    to.contacts = s.impulses;
    to.rows = s.bounded_impulses;
    to.joints = s.prescribed_impulses;
  };
  read(w.stage_one);
  read(w.chosen);
  const Status status = stage_two(p, w.solve.reduction, w.solve.terms, options.contact, s.v, w.stage_two, w.chosen);
  s.choice_met = status == Status::solved;
  if (!s.choice_met && !(w.chosen.joints.squaredNorm() < w.stage_one.joints.squaredNorm())) return;
  complete_with(p, options.contact, w.chosen, w.solve, s);
  if (s.status == Status::solved) return;
  // What the certificate refuses does not replace what it passed.
  s.choice_met = false;
  complete_with(p, options.contact, w.stage_one, w.solve, s);
}

// Impulses of the choice, where the laws leave one, and torques. The workspace has the whole request.
void settle_torques(const ProblemView& p, const ProblemView& request, std::size_t joints, std::span<const double> tau_max,
                    const InverseOptions& options, RequestWorkspace& w, InverseSolution& s) {
  if (options.choice == Choice::least_torque) {
    const bool one_program = have_one_program(request.laws, options.contact);
    s.choice_met = one_program && w.solve.terms.family == Family::constitutive;
    if (one_program && !s.choice_met && s.status == Status::solved) apply_stage_two(request, options, w, s);
  }
  read_torques(p, joints, tau_max, s);
}

// What the programs found, exact to rounding: the rows that it touches are met. Over polygons and discs faces hold, not rows.
void polish_nearest(const ProblemView& p, std::span<const int> joints, RequestWorkspace& w) {
  const StandardForm& program = w.nearest.solve.form;
  if (!program.has_linear_cones()) return;
  const StandardForm& form = w.held.targets.size() > 0 ? w.solve.form : program;
  nearest_no_slip(p, form, OneSided::touching, w.nearest.reached, joints, w.v_desired, w.nearest_no_slip);
}

// Residuals over the scales of the request that was asked for: one that runs away does not certify itself.
void measure_by(double velocity_scale, double impulse_scale, double tolerance, InverseSolution& s) {
  Certificate& c = s.certificate;
  const double velocity = std::max(1.0, c.velocity_scale / velocity_scale), impulse = std::max(1.0, c.impulse_scale / impulse_scale);
  for (const NamedResidual& r : kResiduals) {
    const std::string_view unit = r.unit;
    (c.*r.member).scaled *= unit == "m/s" ? velocity : unit == "N s" ? impulse : velocity * impulse;
  }
  c.velocity_scale /= velocity;
  c.impulse_scale /= impulse;
  if (s.status == Status::solved && !(c.worst() <= tolerance)) s.status = Status::inaccurate;
}

bool is_farther_than_rest(std::span<const int> joints, const Ref& v_desired, const InverseSolution& s) {
  double square = 0.0;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const double way = s.v[joints[i]] - v_desired[static_cast<Index>(i)];
    square += way * way;
  }
  return std::sqrt(square) > kNoMore * v_desired.norm();
}

// The nearest request that some motion inside of Coulomb's dual cones, u + c e_N in K*, follows: there its impulses exist [Acary, Cadoux,
// Lemaréchal, Malick 2011], which motions without penetration need not have. False where the one asked for is such a request.
bool find_in_dual_cones(const ProblemView& p, std::span<const int> joints, const Ref& v_desired, const InverseOptions& options,
                        RequestWorkspace& w) {
  if (w.solve.terms.family != Family::coulomb) return false;
  w.dual_cones = w.solve.terms;
  w.dual_cones.family = Family::associated;
  w.held.targets.resize(0);
  if (!nearest_consistent(p, w.dual_cones, w.held, joints, v_desired, options.contact, w.nearest, w.v_desired)) return false;
  drop_rounding(p, v_desired, w.v_desired);
  return w.v_desired != v_desired;
}

// By the nearest request that the programs of the laws find, where contacts refuse the one asked for or what its slip was projected on; by
// the nearest in Coulomb's dual cones, where Coulomb's law has no answer; by standing still, where that is nearer than the answer, or held
// where the tangents' answer is not.
void replace_refused(const ProblemView& p, const ProblemView& request, std::span<const int> joints, const Ref& v_desired,
                     std::span<const double> tau_max, const InverseOptions& options, const SolveOptions& contact, RequestWorkspace& w,
                     InverseSolution& s) {
  if (s.status == Status::solved && !s.repaired) return;
  const bool limited = request.bounded_rows() > p.bounded_rows();
  SolveOptions afresh = contact;
  afresh.warm_start = false;  // nor the refused attempt's impulses, which may be those of a ray
  const auto solve_afresh = [&] {
    if (s.status != Status::solved) solve_changed(p, request, joints, tau_max, afresh, true, w, s);
    s.repaired = true;
    reduce_whole(request, contact, s, w.solve);
    settle_torques(p, request, joints.size(), tau_max, options, w, s);
  };
  const bool one_program = have_one_program(p.laws, contact);  // whose terms the workspace has
  const bool refused = s.status != Status::solved && one_program && (s.repaired || contradicts_contacts(w, s));
  if (refused && nearest_consistent(p, w.solve.terms, w.held, joints, v_desired, options.contact, w.nearest, w.v_desired)) {
    if (!limited) polish_nearest(p, joints, w);
    drop_rounding(p, v_desired, w.v_desired);
    if (w.held.targets.size() > 0 && can_pivot(request, contact, true, w))
      project_until_held(p, request, joints, v_desired, by_well_apart_tangents(afresh), true, w, s);
    if (joints.empty() || w.v_desired != v_desired) solve_afresh();
  }
  if (s.status != Status::solved && one_program && !limited && find_in_dual_cones(p, joints, v_desired, options, w)) solve_afresh();
  const bool slips = w.held.targets.size() > 0 && s.status != Status::solved;
  if (s.repaired && !limited && (slips || is_farther_than_rest(joints, v_desired, s))) {
    w.farther = w.v_desired;
    w.v_desired.setZero(v_desired.size());
    s.status = Status::inaccurate;
    solve_afresh();
    if (s.status != Status::solved) {
      w.v_desired = w.farther;
      solve_afresh();
    }
  }
}

// What is infeasible is what was asked, and the ray is of that: one of the request that took its place would tell nothing of it.
void restore_ray(const InfeasibilityRay& asked, InverseSolution& s) {
  if (!s.repaired || s.status != Status::infeasible) return;
  s.ray = asked;
  if (!s.ray.proof) s.status = Status::inaccurate;
}

// What is done about a request that contacts refuse: what tangents alone refuse no torque brings about, but against normals and end stops a
// joint may be meant to press as hard as its limit lets it.
enum class Repair { none, of_slip, all };

void solve_request(const ProblemView& p, std::span<const int> joints, const Ref& v_desired, std::span<const double> tau_max, Repair repair,
                   const InverseOptions& options, RequestWorkspace& w, InverseSolution& s) {
  const SolveOptions contact = contact_options(options);
  const ProblemView request = with_request(p, joints, v_desired, tau_max, w.rows);
  const bool limited = request.bounded_rows() > p.bounded_rows();  // what misses a request then need not be a contradiction
  s.repaired = false;
  w.held.targets.resize(0);
  w.solve.choice.last = w.last;
  solve(request, contact, w.solve, s);
  const double velocity_scale = s.certificate.velocity_scale, impulse_scale = s.certificate.impulse_scale;
  w.asked.clear();
  if (s.status == Status::infeasible) w.asked = s.ray;
  if (repair != Repair::none && !limited) repair_slip(p, request, joints, v_desired, contact, w, s);
  reduce_whole(request, contact, s, w.solve);
  if (!limited && options.prove_infeasible && s.proof.empty() && have_one_program(p.laws, contact))
    prove_by_ray(p, joints, v_desired, w, s);
  settle_torques(p, request, joints.size(), tau_max, options, w, s);
  if (repair == Repair::all || (repair == Repair::of_slip && s.repaired))
    replace_refused(p, request, joints, v_desired, tau_max, options, contact, w, s);
  restore_ray(w.asked, s);
  if (s.repaired && velocity_scale > 0.0 && s.certificate.finite) measure_by(velocity_scale, impulse_scale, contact.tolerance, s);
}

bool is_within(std::span<const double> tau_max, const InverseSolution& s) {
  for (std::size_t i = 0; i < tau_max.size(); ++i) {
    if (!(std::abs(s.tau[static_cast<Index>(i)]) <= tau_max[i])) return false;
  }
  return s.status == Status::solved;
}

// Adds the joints whose torques in s pass their limits to those that are limited. False when there are none.
bool limit_more(std::span<const double> tau_max, const InverseSolution& s, std::vector<double>& limits) {
  bool more = false;
  for (std::size_t i = 0; i < tau_max.size(); ++i) {
    if (!std::isinf(limits[i]) || std::abs(s.tau[static_cast<Index>(i)]) <= tau_max[i]) continue;
    limits[i] = tau_max[i];
    more = true;
  }
  return more;
}

// Prescribed joints leave the kinetic energy that law max_dissipation makes least: with fewer of them it is another program.
bool counts_joints(const ProblemView& p, const SolveOptions& options) {
  const auto counts = [](Law law) { return row_of(law).family == Family::energy; };
  return p.laws.empty() ? counts(options.law) : std::ranges::any_of(p.laws, counts);
}

// Limits anew for the joints that had one in the last call. False when none had.
bool recall_limited(std::span<const double> tau_max, std::vector<double>& limits) {
  bool any = false;
  limits.resize(tau_max.size(), kInfinity);
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (std::isinf(limits[i])) continue;
    limits[i] = tau_max[i];
    any = any || is_limited(tau_max, i);
  }
  return any;
}

// Joints whose torque is at its limit.
void take_saturated(std::span<const double> tau_max, const InverseSolution& s, std::vector<double>& limits) {
  constexpr double kAtLimit = 1.0 - 1e-9;
  for (std::size_t i = 0; i < tau_max.size(); ++i) {
    limits[i] = std::abs(s.tau[static_cast<Index>(i)]) >= kAtLimit * tau_max[i] ? tau_max[i] : kInfinity;
  }
}

// From the answer without limits, by rows of the joints that pass theirs; the others stay prescribed, which is what their rows ask for
// while their torques are within. So the programs are as large as the limits that are reached are many. Where there is no such answer
// (a hand driven into a wall) those that were reached in the last call are a guess, and rows of all joints tell. What contacts refuse for
// their slip stays replaced.
void solve_limited(const ProblemView& p, std::span<const int> joints, const Ref& v_desired, std::span<const double> tau_max, Repair repair,
                   const InverseOptions& options, InverseWorkspace& w, InverseSolution& s) {
  RequestWorkspace& limited = *w.limited;
  limited.last = w.last;
  const bool solved = s.status == Status::solved, repaired = solved && s.repaired;
  const bool one_by_one = !counts_joints(p, options.contact);
  w.limited_request = v_desired;
  if (repaired) w.limited_request = w.v_desired;
  if (solved || !options.contact.warm_start) w.limits.assign(tau_max.size(), kInfinity);
  bool more = solved ? limit_more(tau_max, s, w.limits) : recall_limited(tau_max, w.limits);
  while (more && one_by_one) {
    solve_request(p, joints, w.limited_request, w.limits, Repair::none, options, limited, s);
    more = s.status == Status::solved && limit_more(tau_max, s, w.limits);
  }
  if (s.status != Status::solved || !one_by_one) solve_request(p, joints, w.limited_request, tau_max, repair, options, limited, s);
  take_saturated(tau_max, s, w.limits);
  s.repaired = s.repaired || repaired;
  w.solve.choice.last = limited.solve.choice.last;
  fit_to_problem(p, s);
}

// The next request with limits starts from this answer, also at joints that are prescribed here.
void keep_start(const ProblemView& p, std::span<const int> joints, const InverseSolution& s, InverseWorkspace& w) {
  if (s.status != Status::solved || std::ssize(p.row_ids) != p.bounded_rows()) return;
  w.row_names = p.row_ids;
  for (const int joint : joints) w.row_names.push_back(joint_row_name(joint));
  const Index m = p.bounded_rows(), n = static_cast<Index>(joints.size());
  w.row_impulses.resize(m + n);
  w.row_impulses.head(m) = s.bounded_impulses;
  w.row_impulses.tail(n) = s.prescribed_impulses;
  w.limited->solve.start.contacts.keep(p.ids, s.impulses);
  w.limited->solve.start.rows.keep(w.row_names, w.row_impulses);
}

}  // namespace

bool reads_edges(Law law, Choice choice) {
  return is_polygonal(law) || (choice == Choice::least_torque && row_of(law).section == Section::disc);
}

void refuse_idle(const SolverOptions& options, Choice choice, const GivenSolverOptions& given) {
  const auto refuse_unless = [&](std::initializer_list<Solver> readers, std::string_view name, std::string_view expected) {
    if (name.empty() || std::ranges::find(readers, options.solver) != readers.end()) return;
    throw InvalidArgument(name, fmt::format("none unless the solver is {}", expected), fmt::format("solver {}", to_string(options.solver)));
  };
  using enum Solver;
  refuse_unless({jor, sor}, given.alpha, "jor or sor");
  refuse_unless({jor, sor, pgs}, given.max_sweeps, "jor, sor or pgs");
  if (choice == Choice::least_torque) return;
  refuse_unless({automatic, goldfarb_idnani, ppm, lemke, active_set, dantzig}, given.max_pivots,
                "auto, goldfarb_idnani, ppm, lemke, active_set or dantzig");
}

void inverse_dynamics(const ProblemView& p, std::span<const int> joints, const Ref& v_desired, std::span<const double> tau_max,
                      const InverseOptions& options, InverseWorkspace& w, InverseSolution& s) {
  validate_request(p, joints, v_desired, tau_max);
  if (std::ranges::all_of(tau_max, [](double most) { return std::isinf(most); })) tau_max = {};
  if (options.choice == Choice::least_torque && !tau_max.empty())
    throw InvalidArgument("choice", "another than least_torque beside torque limits that are finite", "least_torque");
  s.proof.clear();
  w.last = w.solve.choice.last;
  const Repair all = options.repair_inconsistent ? Repair::all : Repair::none;
  solve_request(p, joints, v_desired, {}, tau_max.empty() ? all : std::min(all, Repair::of_slip), options, w, s);
  if (!tau_max.empty()) {
    if (!w.limited) w.limited.emplace();
    const bool within = is_within(tau_max, s);
    if (!within) solve_limited(p, joints, v_desired, tau_max, all, options, w, s);
    keep_start(p, joints, s, w);
    if (within) tau_max = {};
  }
  measure_shortfall(joints, v_desired, s);
  const double speed = std::max(largest_entry(s.v), largest_entry(v_desired));
  if (s.proof.empty() && options.prove_infeasible && have_one_program(p.laws, options.contact) &&
      (s.status != Status::solved || s.shortfall > kMissed * speed)) {
    find_request_proof(p, joints, v_desired, tau_max, options.contact, w.proof, s.proof);
  }
}

InverseSolution inverse_dynamics(const ProblemView& problem, std::span<const int> joints, const Ref& v_desired,
                                 std::span<const double> tau_max, const InverseOptions& options) {
  validate(problem);
  InverseWorkspace workspace;
  InverseSolution solution;
  InverseOptions proving = options;
  proving.prove_infeasible = true;
  inverse_dynamics(problem, joints, v_desired, tau_max, proving, workspace, solution);
  return solution;
}

}  // namespace stiction
