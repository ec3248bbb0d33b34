#include "stiction/forward/step.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/base/ranges.hpp"
#include "stiction/forward/free_motion.hpp"
#include "stiction/forward/stage_clock.hpp"
#include "stiction/forward/step_options.hpp"
#include "stiction/forward/waiting_contacts.hpp"

namespace stiction {

namespace {

constexpr int kHalvings = 8;  // to 256ths: of ten links that whip in steps of 10 ms every second run ends where 64ths are the last
constexpr int kMeetings = 3;  // solves with contacts and limits that the one before would have passed: bodies thrown at the next in a row
constexpr double kGivenByLoops = 0.02;  // of the kinetic energy: what loops may give a step of a scheme that keeps it

void note_worst(const Certificate& certificate, StepReport& report) {
  for (std::size_t k = 0; k < kResiduals.size(); ++k)
    report.certificate[k] = std::max(report.certificate[k], (certificate.*kResiduals[k].member).scaled);
}

/// What was measured of an attempt does not count for what is taken in its place; what was spent on it does.
void forget_measures(const StepReport& before, StepReport& report) {
  report.status = before.status;
  report.residual = before.residual;
  report.certificate = before.certificate;
}

/// Joints that are to return from beyond their limits (assemble.hpp), but do not as their limits bear what presses them outward: what
/// limit and return hold together is added to the most that the return may give. False: there are none. A limit's row is before its
/// return's.
bool strengthen_returns(const Solution& s, ContactProblem& p) {
  constexpr double kBears = 1e-6;  // of what the return gives: less is rounding
  bool any = false;
  for (int row = 1; row < p.bounded_rows(); ++row) {
    const double held = s.bounded_impulses[row - 1], given = s.bounded_impulses[row];
    if (!is_return(p, row) || !(held > kBears * p.hi[row])) continue;
    p.hi[row] += held + given;
    any = true;
  }
  return any;
}

std::vector<double> body_reach(const World& world, const CollisionScene& scene) {
  if (scene.bodies() > static_cast<int>(world.bodies().size()))
    throw InvalidArgument("scene", "geometries of the world's bodies, " + std::to_string(world.bodies().size()),
                          "of " + std::to_string(scene.bodies()) + " bodies");
  std::vector<double> reach(world.bodies().size(), 0.0);
  for (int i = 0; i < static_cast<int>(scene.geometries().size()); ++i) {
    const SceneGeometry& g = scene.geometries()[i];
    if (g.body < 0) continue;
    const bool stands = world.bodies()[g.body].block < 0;
    if (g.fixed != stands)
      throw InvalidArgument("scene.geometries[" + std::to_string(i) + "].fixed",
                            stands ? "true, as body '" + world.bodies()[g.body].name + "' of the world never moves"
                                   : "false, as body '" + world.bodies()[g.body].name + "' of the world moves",
                            g.fixed ? "true" : "false");
    double& r = reach[g.body];
    r = std::max(r, g.placement.translation().norm() + scene.reach(i));
  }
  return reach;
}

}  // namespace

std::string_view to_string(Stage stage) {
  constexpr std::array<std::string_view, kStages> names{"update", "detect", "assemble", "solve", "project", "integrate"};
  return names[static_cast<std::size_t>(stage)];
}

std::string_view to_string(Refusal refusal) {
  constexpr std::array<std::string_view, 6> names{"", "certificate", "joint_energy", "loop_energy", "fixed_point", "reach"};
  return names[static_cast<std::size_t>(refusal)];
}

State initial_state(const World& world) { return {world.initial_configuration(), Eigen::VectorXd::Zero(world.nv()), 0.0}; }

Stepper untimed(Stepper stepper) {
  StepOptions options = stepper.options();
  options.timed = false;
  stepper.set_options(options);
  return stepper;
}

Stepper::Stepper(World world, CollisionScene scene, const StepOptions& options)
    : world_(std::move(world)),
      scene_(std::move(scene)),
      data_(world_),
      reach_(body_reach(world_, scene_)),
      shift_(world_),
      end_(world_),
      energy_(world_) {
  set_options(options);
}

void Stepper::set_options(const StepOptions& options) {
  validate(world_, options);
  prepared_ = false;
  options_ = options;
  options_.assemble.law = options.contact.law;
  options_.assemble.spring_ahead = row_of(options.scheme).spring_ahead;
  options_.assemble.damping_share = row_of(options.scheme).damping_share;
  if (options.scheme != Scheme::energy_momentum) implicit_.reset();
  if (options.scheme == Scheme::energy_momentum && !implicit_) implicit_.emplace(world_);
  if (options.scheme != Scheme::event_driven) events_.reset();
  if (options.scheme == Scheme::event_driven && !events_) events_.emplace(world_);
  assemble_ = options_.assemble;
  assemble_.dt = part();
  sides_.clear();
}

void Stepper::set_drives(const Drives& drives) {
  validate(world_, options_.scheme, drives);
  options_.assemble.drives = drives;
  assemble_.drives = drives;
  sides_.clear();
}

void Stepper::set_friction(const std::optional<double>& mu) {
  if (mu) require_friction("friction", *mu);
  options_.assemble.friction = assemble_.friction = mu;
  prepared_ = false;
}

// The rows of new velocity drives start at what moved their joints in the last step, less what is asked for beside them.
void Stepper::take_over(const Torques& tau) {
  if (cold_) return;
  for (const VelocityDrive& d : options_.assemble.drives.velocity) {
    const double impulse = part() * std::clamp(motors_[d.v] - tau[d.v], d.least, d.most);
    workspace_.start.rows.add(drive_row_id(d.v), &impulse);
  }
}

void Stepper::set_wrenches(std::span<const AppliedWrench> wrenches) {
  const int bodies = static_cast<int>(world_.bodies().size());
  for (const AppliedWrench& w : wrenches) {
    if (w.body < 0 || w.body >= bodies)
      throw InvalidArgument("wrenches.body", fmt::format("a body in [0, {})", bodies), fmt::format("{}", w.body));
  }
  wrenches_.assign(wrenches.begin(), wrenches.end());
}

void Stepper::reset() {
  times_ = {};
  springs_.clear();
  last_ids_.clear();
  correction_.reset();
  energy_.reset();
  cold_ = true;
}

void Stepper::update_at(const State& state) {
  from_.q = state.q;
  from_.v = state.v;
  if (implicit_) {
    implicit_->start(world_, assemble_.dt, assemble_.loop_recovery, from_, at_);
  } else {
    row_of(options_.scheme).begin(world_, assemble_.dt, from_, data_, velocity_, at_);
  }
  update(world_, at_.q, at_.v, data_);
  ahead_ = at_.q;
  sides_.clear();
  energy_.start();
  drift_.start();
  bounces_.start();
  const SchemeRow& scheme = row_of(options_.scheme);
  if (has_compliance(options_.assemble.drives) && scheme.damping_share == 1.0 && !events_)
    sides_.start(world_, options_.assemble.drives, ahead_, at_.v, assemble_.dt, assemble_.spring_ahead, assemble_.drives);
}

JointEnergy::Progress Stepper::balance_energy() {
  const double h = assemble_.dt, share = h / part();
  if (implicit_ || !energy_.is_due(world_, h, share, at_.v, solution_.v, contacts_, solution_.impulses, options_.assemble.drives, tau_))
    return JointEnergy::Progress::settled;
  velocity_ = solution_.v;
  drift_.add(velocity_);
  row_of(options_.scheme).finish(world_, h, data_.M, at_, solution_.v, velocity_, next_);
  return energy_.advance(world_, share, from_, at_, data_, problem_, solution_, V_end_, contacts_, tau_, next_);
}

void Stepper::prepare(const State& state, const Eigen::Ref<const Eigen::VectorXd>& tau) {
  prepared_ = false;
  require_within_reach("q", state.q);
  assemble_.dt = part();
  update_at(state);
  detect();
  assemble_rows(tau, false);
  if (leave_to_next_step(problem_, assemble_, world_.gravity().norm(), contacts_, watched_)) assemble_rows(tau, false);
  prepared_ = true;
}

void Stepper::assemble_rows(const Torques& asked, bool prepared) {
  require_size("tau", asked.size(), world_.nv());
  tau_ = asked;
  add_wrenches(world_, data_, wrenches_, tau_);
  sides_.add_torques(options_.assemble.drives, tau_);
  const Torques tau = tau_;
  if (!prepared) {
    assemble(world_, data_, ahead_, at_.v, tau, contacts_, assemble_, problem_);
    if (implicit_) implicit_->pose(problem_);
    if (row_of(options_.scheme).midpoint) start_gaps_of_midpoint_laws();
    let_slide_past(detection_allowance(), options_.contact.law, problem_);
  } else {
    require_finite("tau", tau);
    assemble_impulse(world_, data_, at_.q, at_.v, tau, assemble_, problem_);
  }
  drift_.apply(problem_);
  add_convective(world_, tau, data_.bias, problem_);
  energy_.add_impulse(problem_.impulse);
  springs_.load(contacts_, problem_);
  bounces_.apply(problem_);
}

Law Stepper::law_of(int i) const { return problem_.laws.empty() ? options_.contact.law : problem_.laws[i]; }

// Laws that go half a step ahead themselves (lowering.hpp).
void Stepper::start_gaps_of_midpoint_laws() {
  for (int i = 0; i < problem_.contacts(); ++i) {
    if (row_of(law_of(i)).gaps != Gaps::midpoint) continue;
    Eigen::Vector3d u = Eigen::Vector3d::Zero();
    problem_.J.add_group_product(i, problem_.v, u);
    problem_.gap[i] -= 0.5 * problem_.dt * u[0];
  }
}

// The last step's impulses in the order of this step's contacts, zero for new ones: what Choice::closest_to_last stays close to.
void Stepper::follow_contacts() {
  last_impulses_.setZero(3 * static_cast<Eigen::Index>(contacts_.size()));
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const auto found = std::ranges::find(last_ids_, contacts_[i].id);
    if (found == last_ids_.end()) continue;
    const Eigen::Index j = found - last_ids_.begin();
    if (3 * j + 3 > solution_.impulses.size()) continue;
    last_impulses_.segment<3>(3 * static_cast<Eigen::Index>(i)) = solution_.impulses.segment<3>(3 * j);
  }
  workspace_.choice.last = last_impulses_;
  last_ids_.clear();
  for (const ContactPoint& c : contacts_) last_ids_.push_back(c.id);
}

// A point above the tolerance is tried again from a cold start; the better of the two stays.
bool Stepper::solve_certified(StepReport& report) {
  SolveOptions options = options_.contact;
  options.acceptable = options_.strict ? 0.0 : options_.acceptable;
  if (!problem_.impulse.allFinite() || !std::isfinite(problem_.v.squaredNorm())) {
    report.status = Status::numerical_error;
    report.refused = Refusal::certificate;
    report.residual = kInfinity;
    return false;
  }
  options.warm_start = options.warm_start && !cold_;
  if (options.choice == Choice::closest_to_last) follow_contacts();
  const auto attempt = [&] {
    ++report.attempts;
    solve(problem_, options, workspace_, solution_);
    report.iterations += solution_.iterations;
    return solution_.status == Status::solved;
  };
  const auto goes_on = [&] { return solution_.certificate.worst() <= options.acceptable; };
  if (!attempt() && !goes_on() && options.warm_start) {
    options.warm_start = false;
    std::swap(warm_, solution_);
    ++report.cold;
    if (!attempt() && warm_.certificate.worst() < solution_.certificate.worst()) std::swap(warm_, solution_);
  }
  report.residual = std::max(report.residual, solution_.certificate.worst());
  note_worst(solution_.certificate, report);
  if (solution_.status == Status::solved) return true;
  report.status = solution_.status;
  if (!goes_on()) report.refused = Refusal::certificate;
  return goes_on();
}

// Once more where joints do not return for what presses them outward.
bool Stepper::solve_returning(StepReport& report) {
  const StepReport before = report;
  if (!solve_certified(report)) return false;
  if (!strengthen_returns(solution_, problem_)) return true;
  forget_measures(before, report);
  ++report.met;
  return solve_certified(report);
}

// False where the loops of a scheme that keeps energy give some (loop_drift.hpp).
bool Stepper::are_loops_passive(StepReport& report) {
  if (count_equality_rows(world_) == 0) return true;
  reduce_whole(problem_, options_.contact, solution_, workspace_);
  if (!drift_.is_magnified(problem_, solution_, workspace_.reduction, kGivenByLoops)) return true;
  report.status = Status::inaccurate;
  report.refused = Refusal::loop_energy;
  return false;
}

// Rates that loops and joints beyond their limits are not to have in velocities move positions alone (loop_drift.hpp). What
// `energy_momentum` asks of loops it cannot do without: a shorter step asks less.
bool Stepper::solve_step(const Torques& tau, StepReport& report) {
  const StepReport before = report;
  bool solved = solve_returning(report);
  if (count_equality_rows(world_) == 0) return solved;
  // `energy_momentum` closes loops in positions, to rounding.
  if (implicit_) return solved && (assemble_.loop_recovery == 0.0 || are_loops_passive(report));
  const auto solve_without = [&] {
    assemble_rows(tau, false);
    forget_measures(before, report);
    ++report.met;
    solved = solve_returning(report);
  };
  const auto withhold_returns = [&] { return drift_.withhold_returns(data_.M, problem_, solution_, workspace_.reduction); };
  if (report.status != Status::numerical_error) {
    reduce_whole(problem_, options_.contact, solution_, workspace_);
    if (drift_.leave_repeated(world_, problem_, workspace_.reduction, solution_.status == Status::solved)) solve_without();
  }
  while (solved || report.status != Status::numerical_error) {
    reduce_whole(problem_, options_.contact, solution_, workspace_);
    Reduction& reduction = workspace_.reduction;
    const bool again = (!solved && withhold_returns()) || drift_.withhold_thrown(world_, data_, problem_, reduction) ||
                       ((!solved || drift_.is_magnified(problem_, solution_, reduction)) && drift_.withhold(problem_, reduction));
    if (!again) break;
    solve_without();
  }
  if (solved && withhold_returns()) {
    solve_without();
    if (solved) drift_.take_returns(data_.M, solution_.v);
  }
  return solved;
}

// The problem again, as often as the bounces of its answer give energy (bounces.hpp).
bool Stepper::solve_bounces(const Torques& tau, StepReport& report) {
  const StepReport before = report;
  bool solved = solve_step(tau, report);
  while (bounces_.weaken(problem_, options_.contact.law, solution_, solved)) {
    assemble_rows(tau, false);
    forget_measures(before, report);
    ++report.met;
    solved = solve_step(tau, report);
  }
  return solved;
}

// The problem again, as often as the forces that its answer calls for have moved.
bool Stepper::solve_implicit(const Torques& tau, StepReport& report) {
  StageClock clock(report, options_.timed);
  for (int solves = 1; solves < EnergyMomentum::kSolves; ++solves) {
    using Progress = EnergyMomentum::Progress;
    const Progress progress = implicit_->advance(world_, from_, tau_, problem_, solution_, options_.contact.tolerance,
                                                 solves + 1 == EnergyMomentum::kSolves, at_, data_);
    clock.end(Stage::update);
    if (progress == Progress::settled) return true;
    if (progress == Progress::diverged) {
      report.status = Status::iteration_limit;
      report.refused = Refusal::fixed_point;
      report.residual = kInfinity;
      return false;
    }
    assemble_rows(tau, false);
    implicit_->set_impulse(problem_);
    clock.end(Stage::assemble);
    const bool solved = solve_returning(report) && are_loops_passive(report);
    clock.end(Stage::solve);
    // Where no force depends on where it ends, the fixed point is the answer.
    if (!solved || (problem_.contacts() + problem_.bounded_rows() == 0 && wrenches_.empty())) return solved;
  }
  return true;
}

void Stepper::project(StepReport& report) {
  velocity_ = solution_.v;
  drift_.add(velocity_);
  undone_.setZero(world_.nv());
  if (problem_.contacts() == 0) return;
  report.deepest_penetration = std::max(report.deepest_penetration, -problem_.gap.minCoeff());
  rigid_.clear();
  for (int i = 0; i < problem_.contacts(); ++i) rigid_.push_back(row_of(law_of(i)).contact == ContactKind::rigid ? 1 : 0);
  const CorrectionOptions options{options_.recovery, options_.allowed_penetration, options_.contact.tolerance, options_.acceptable};
  if (-problem_.gap.minCoeff() > options.allowed) reduce_whole(problem_, options_.contact, solution_, workspace_);  // else it is not read
  const CorrectionReport made =
      correction_.add(problem_, {world_, data_, at_.q, reach_, workspace_.reduction}, solution_, rigid_, options, undone_);
  CorrectionReport& worst = report.correction;
  worst.asked = worst.asked || made.asked;
  worst.refused = worst.refused || made.refused;
  worst.residual = std::max(worst.residual, made.residual);
  worst.deepest = std::max(worst.deepest, made.deepest);
  worst.farthest += made.farthest;
  worst.lifted += made.lifted;
}

// What moves without joints is shifted along with its path. Returns CorrectionReport::turned.
double Stepper::finish() {
  const double h = assemble_.dt;
  const bool turns = shift_.turns_joints(undone_);
  if (!turns) velocity_ += undone_;
  row_of(options_.scheme).finish(world_, h, data_.M, at_, solution_.v, velocity_, next_);
  energy_.close_flights(next_);
  if (!turns) return 0.0;
  update(world_, next_.q, next_.v, end_);
  return shift_.apply(world_, h, end_, at_.q, undone_, next_, {&problem_, &solution_});
}

// One step of length assemble_.dt; false, with the state as it was, when it cannot be certified or would end out of reach (kFarthest).
bool Stepper::take(const Torques& tau, bool prepared, State& state, StepReport& report) {
  StageClock clock(report, options_.timed);
  if (!prepared) {
    update_at(state);
    clock.end(Stage::update);
    detect();
    clock.end(Stage::detect);
  }
  assemble_rows(tau, prepared);
  if (!prepared && leave_to_next_step(problem_, assemble_, world_.gravity().norm(), contacts_, watched_)) assemble_rows(tau, false);
  clock.end(Stage::assemble);
  const StepReport before = report;
  bool solved = solve_bounces(tau, report);
  for (int meetings = 0; solved;) {
    body_velocities(world_, data_, solution_.v, V_end_);
    const bool met = meetings < kMeetings && meet_missed();
    const bool changed =
        sides_.change(world_, options_.assemble.drives, ahead_, solution_.v, assemble_.dt, assemble_.spring_ahead, assemble_.drives);
    // The energy is that of the answer to one problem: where that has changed by other things, there is nothing to compare with.
    const JointEnergy::Progress balance = met || changed ? energy_.change_of_problem() : balance_energy();
    if (balance == JointEnergy::Progress::diverged) {
      report.status = Status::iteration_limit;
      report.refused = Refusal::joint_energy;
      return false;
    }
    if (balance == JointEnergy::Progress::settled) break;
    meetings += met ? 1 : 0;
    if (met) bounces_.start();
    assemble_rows(tau, false);
    forget_measures(before, report);
    ++report.met;
    solved = solve_bounces(tau, report);
  }
  clock.end(Stage::solve);
  if (solved && implicit_) {
    solved = solve_implicit(tau, report);
    clock.restart();
  }
  if (!solved) return false;
  springs_.update(contacts_, problem_, options_.contact.law, solution_.v);
  project(report);
  clock.end(Stage::project);
  cold_ = false;
  const double turned = implicit_ ? implicit_->finish(world_, assemble_.dt, from_, at_, {&problem_, &solution_}, undone_, next_) : finish();
  report.correction.turned = std::max(report.correction.turned, turned);
  const bool kept = within_reach(next_.q) && next_.v.allFinite();
  if (kept) {
    state.q = next_.q;
    state.v = next_.v;
    report.braked += energy_.keep();
    note_part();
    ++report.sub_steps;
  } else {
    report.status = Status::numerical_error;
    report.refused = Refusal::reach;
  }
  clock.end(Stage::integrate);
  return kept;
}

bool Stepper::take_halved(const Torques& tau, double h, int halvings, bool prepared, State& state, StepReport& report) {
  assemble_.dt = h;
  const StepReport before = report;
  if (take(tau, prepared, state, report)) return true;
  if (halvings == 0) return false;
  forget_measures(before, report);
  return take_halved(tau, 0.5 * h, halvings - 1, false, state, report) && take_halved(tau, 0.5 * h, halvings - 1, false, state, report);
}

bool Stepper::take_parts(const Torques& tau, bool prepared, State& state, StepReport& report) {
  for (int k = 0; k < options_.sub_steps; ++k) {
    if (!take_halved(tau, part(), kHalvings, prepared && k == 0, state, report)) return false;
  }
  return true;
}

// From event to event; what is left where these were too many, or a solve missed the tolerance, at velocity level.
bool Stepper::take_events(const Torques& tau, State& state, StepReport& report) {
  StageClock clock(report, options_.timed);
  const double h = options_.assemble.dt;
  SolveOptions contact = options_.contact;
  contact.acceptable = options_.strict ? 0.0 : options_.acceptable;
  next_.q = state.q;
  next_.v = state.v;
  const EventSetting setting{world_, scene_, reach_, options_.assemble, options_.recovery, contact, options_.events, tau, wrenches_};
  const double left = events_->advance(setting, state.time, h, next_);
  state.q = next_.q;
  state.v = next_.v;
  report.status = events_->status();
  report.residual = events_->residual();
  note_worst(events_->certificate(), report);
  report.attempts = events_->solves();
  report.iterations = events_->iterations();
  report.sub_steps = events_->pieces();
  report.deepest_penetration = events_->deepest();
  report.correction.lifted = events_->lifted();
  report.without_events = left;
  clock.end(Stage::solve);
  if (left > 0.0) {
    report.status = Status::solved;
    cold_ = true;
    if (!take_halved(tau, left, kHalvings, false, state, report)) return false;
    clock.restart();
  }
  show_end(tau, state, report);
  clock.end(Stage::assemble);
  return true;
}

// Contacts and rows at the end, with the impulses of the whole step.
void Stepper::show_end(const Torques& tau, const State& state, const StepReport& report) {
  assemble_.dt = options_.assemble.dt;
  update_at(state);
  detect();
  events_->impulses().add_left(contacts_);
  assemble_rows(tau, false);
  const ContactProblem& p = problem_;
  events_->impulses().impulses_of(contacts_, p, solution_);
  solution_.v = p.v;
  solution_.u.resize(p.J.rows());
  p.J.multiply(p.v, solution_.u);
  solution_.prescribed_impulses.resize(0);
  solution_.multipliers.resize(0);
  solution_.ray.clear();
  solution_.status = report.status;
  solution_.iterations = report.iterations;
  solution_.fallbacks = 0;
  solution_.certificate = events_->certificate();
  solution_.certificate.velocity_scale = std::max({largest_entry(p.v), largest_entry(solution_.u), p.dt * world_.gravity().norm()});
  solution_.certificate.impulse_scale = std::max(largest_entry(p.impulse), largest_entry(solution_.impulses));
}

// What a part adds to what is told of the step; that of a whole step is told as it is.
void Stepper::note_part() {
  if (events_) {
    events_->impulses().add_contacts(contacts_, problem_, solution_);
    events_->impulses().add_rows(problem_, solution_);
  } else if (in_parts()) {
    parts_.add_contacts(contacts_, problem_, solution_);
    const Drives& drives = options_.assemble.drives;
    if (drives.velocity.empty() && drives.rows.empty()) return;
    torques_of_part({drives.velocity, {}, drives.rows}, part_torques_);
    row_torques_ += problem_.dt / step_dt_ * part_torques_;
  }
}

void Stepper::contact_forces(StepForces& out) const {
  out.points.assign(contacts_.begin(), contacts_.end());
  out.impulses = solution_.impulses;
  out.velocities = solution_.u;
  out.mu.assign(problem_.mu.begin(), problem_.mu.end());
  out.modes.clear();
  for (int i = 0; i < problem_.contacts(); ++i) out.modes.push_back(contact_mode(solution_, i));
  out.dt = step_dt_;
  if (!in_parts()) return;
  parts_.complete(out);
  for (std::size_t i = contacts_.size(); i < out.points.size(); ++i)
    out.velocities.segment<3>(3 * static_cast<Eigen::Index>(i)) = contact_velocity(world_, data_, out.points[i], solution_.v);
}

int Stepper::contact_count() const { return problem_.contacts() + (in_parts() ? parts_.count_left() : 0); }

void Stepper::torques_of_part(const Drives& drives, Eigen::VectorXd& tau) const {
  const double ahead = events_ ? 0.0 : options_.assemble.spring_ahead;
  stiction::drive_torques(world_, drives, ahead_, solution_.v, ahead, problem_, solution_.bounded_impulses, tau);
}

void Stepper::drive_torques(const Drives& drives, Eigen::VectorXd& tau) const {
  torques_of_part(in_parts() ? Drives{{}, drives.servos} : drives, tau);
  if (in_parts()) tau += row_torques_;
}

StepReport Stepper::step(const Torques& tau, State& state, bool prepared) {
  require_within_reach("q", state.q);
  if (!std::isfinite(state.time)) throw InvalidArgument("state.time", "a finite number", std::to_string(state.time));
  const auto is = [](const Eigen::VectorXd& a, const Eigen::VectorXd& b) { return a.size() == b.size() && a == b; };
  if (prepared && !(prepared_ && is(state.q, from_.q) && is(state.v, from_.v)))
    throw InvalidArgument("prepared", "true only after prepare at this state",
                          prepared_ ? "another state" : "no prepare since the last step");
  prepared_ = false;
  StepReport report;
  report.status = Status::solved;
  take_over(tau);
  start_ = state;
  start_springs_ = springs_;
  step_dt_ = options_.assemble.dt;
  parts_.start(0);
  row_torques_.setZero(world_.nv());
  const auto go_back = [&] {
    state = start_;
    springs_ = start_springs_;
    energy_.reset();
    cold_ = true;  // a point that was refused is no start for the next step
  };
  try {
    report.accepted = events_ ? take_events(tau, state, report) : take_parts(tau, prepared, state, report);
  } catch (...) {
    go_back();
    throw;
  }
  report.halved = report.sub_steps > options_.sub_steps;
  if (report.accepted) {
    report.refused = Refusal::none;  // of a part that was halved
    torques_of_part(options_.assemble.drives, motors_);
    motors_ += tau;
    state.time = times_.next(state.time, options_.assemble.dt);
  } else {
    report.sub_steps = 0;
    report.braked = 0.0;
    go_back();
  }
  return report;
}

}  // namespace stiction
