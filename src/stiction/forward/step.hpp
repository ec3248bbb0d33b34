// Time stepping at velocity level with any contact law and any scheme (scheme.hpp), by default semi-implicit Euler:
//
//   update -> detect -> assemble -> solve -> project -> integrate
//   M v⁺ = M v + h (tau - bias) + contact, joint limit and friction impulses     law at the end-of-step velocity [ZD15, Eq. 31]
//   q⁺ = q ⊕ h (v⁺ + δ)                                                           quaternions stay unit, origins move straight
// The scheme says where M, bias, contact rows and gaps φ are evaluated and how positions follow.
// An open gap φ may close within the step (N v⁺ >= -φ/h), so bodies meet without overlap. What overlap curvature and late
// contacts leave is undone by δ (position_correction.hpp), which never enters v. A compliant contact needs its penetration, so δ leaves it
// alone; its tangential spring lives on while the contact's id does. A contact that no coordinate can open or close is none.
// The certificate of a step aims at `contact.tolerance`. A step that misses it is solved again from a cold start, and goes on with the
// better point when that meets `acceptable`; otherwise it is taken in halves, quarters and so on to 256ths. What still misses, or ends
// out of reach (kFarthest), leaves the state as it was; `problem` is then the one that failed, and the report says so.
// `sub_steps` n: a step is n steps of dt/n under the same torques and drives, for what is stiffer than the control is fast. Compliant
// contacts are implicit and stable at any step, but a part multiplies an oscillation at ω by (1 + (ω h/n)²)^(-1/2): n brings that near 1.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "stiction/assemble/assemble.hpp"
#include "stiction/forward/bounces.hpp"
#include "stiction/forward/contact_springs.hpp"
#include "stiction/forward/energy_momentum.hpp"
#include "stiction/forward/event_driven.hpp"
#include "stiction/forward/joint_energy.hpp"
#include "stiction/forward/loop_drift.hpp"
#include "stiction/forward/position_correction.hpp"
#include "stiction/forward/position_shift.hpp"
#include "stiction/forward/scheme.hpp"
#include "stiction/forward/servo_sides.hpp"
#include "stiction/forward/step_impulses.hpp"
#include "stiction/laws/solve_memory.hpp"

namespace stiction {

struct State {
  Eigen::VectorXd q;  ///< nq
  Eigen::VectorXd v;  ///< nv
  double time = 0.0;  ///< s
};

/// At the world's initial configuration, at rest.
State initial_state(const World& world);

struct StepOptions {
  AssembleOptions assemble;  ///< dt, joint rows, what pairs have of their own; its law is that of `contact`
  SolveOptions contact;      ///< law, solver, and the tolerance aimed at
  Scheme scheme = Scheme::semi_implicit_euler;
  double acceptable = 1e-6;           ///< largest scaled residual that a step may go on with; no effect where it is below contact.tolerance
  bool strict = false;                ///< only steps that meet contact.tolerance are taken
  EventOptions events;                ///< of the scheme event_driven
  int sub_steps = 1;                  ///< parts of dt/n, each with contacts and a solve of its own, that a step is always taken in
  double recovery = 0.2;              ///< γ: share of a penetration undone per step, in [0, 1]
  double allowed_penetration = 1e-6;  ///< m, left alone
  bool timed = true;                  ///< StepReport::seconds is filled, at 0.15 µs a step for reading the clock
};

enum class Stage { update, detect, assemble, solve, project, integrate };
inline constexpr int kStages = 6;
std::string_view to_string(Stage stage);

/// What a step was refused for.
enum class Refusal {
  none,
  certificate,   ///< a solve missed contact.tolerance and acceptable
  joint_energy,  ///< energy that the scheme gives to joints could not be taken back (joint_energy.hpp)
  loop_energy,   ///< loops would have given a scheme that keeps energy some (loop_drift.hpp)
  fixed_point,   ///< that of energy_momentum was not found
  reach,         ///< it would have ended where positions have no digits for a step, or with velocities that are not finite
};
std::string_view to_string(Refusal refusal);

struct StepReport {
  bool accepted = false;                    ///< the state was advanced
  Status status = Status::numerical_error;  ///< solved: every solve met contact.tolerance; else that of the one that missed it
  Refusal refused = Refusal::none;          ///< where the step was halved until it was given up, what the last part was refused for
  double residual = 0.0;                    ///< worst scaled residual of the solves that the step was taken with, or of the one that failed
  int attempts = 0;                         ///< solves tried
  int cold = 0;                             ///< of the attempts, those again from a cold start
  int iterations = 0;                       ///< of all of them
  int met = 0;        ///< of the attempts, those again with contacts or limits that the one before would have passed, servos cut at theirs,
                      ///< joints that return from beyond theirs against what presses them outward, or bounces that would give energy
  int sub_steps = 0;  ///< parts that the step was taken in; 0: refused
  bool halved = false;                    ///< in more parts than StepOptions::sub_steps: halved, or cut at events
  double without_events = 0.0;            ///< event_driven: s at its end that were taken at velocity level (event_driven.hpp)
  double braked = 0.0;                    ///< J, taken back from joints that the scheme would have driven on (joint_energy.hpp)
  double deepest_penetration = 0.0;       ///< m, before the step; where the scheme takes gaps at the midpoint, there
  CorrectionReport correction;            ///< of positions; of a step taken in parts, the worst of each
  std::array<double, kStages> seconds{};  ///< wall time per stage

  /// Of the same solves as `residual`, the worst scaled value of every entry of kResiduals.
  std::array<double, kResiduals.size()> certificate{};

  /// Taken, but above contact.tolerance.
  bool at_acceptable() const { return accepted && status != Status::solved; }
};

/// Times of steps one after the other: n h after the first, which a sum of n steps is not to the bit.
class StepTimes {
 public:
  /// The time of the end of a step of h seconds from `time`.
  double next(double time, double h) {
    if (time != last_ || h != h_) first_ = time, h_ = h, steps_ = 0.0;
    return last_ = first_ + ++steps_ * h;
  }
  template <class Archive>
  void carry(Archive& archive) {
    archive(first_, last_, h_, steps_);
  }

 private:
  double first_ = 0.0, last_ = kInfinity, h_ = 0.0, steps_ = 0.0;
};

/// A world with its collision scene and all buffers of stepping: one per simulation, not shared between threads. A copy goes on bit for
/// bit as the original would, and shares the world and the hulls with it.
class Stepper {
 public:
  /// Throws InvalidArgument on options out of range.
  Stepper(World world, CollisionScene scene, const StepOptions& options);

  const World& world() const { return world_; }
  CollisionScene& scene() { return scene_; }
  const CollisionScene& scene() const { return scene_; }
  /// The next step begins anew, as a state that does not follow from the last one needs: tangential springs at rest, no impulses to start
  /// from, so that it depends on its arguments alone.
  void reset();
  const StepOptions& options() const { return options_; }
  /// Options of later steps, until they are set again.
  void set_options(const StepOptions& options);
  /// Drives of later steps, until they are set again. A velocity drive that takes a joint over starts from the torque that moved it so far:
  /// where a law has several answers (jaws that are locked on what they hold, which may also fall out of them), the grip stays. Throws
  /// InvalidArgument.
  void set_drives(const Drives& drives);
  /// Friction coefficient of every contact in later steps, none: what its shapes say. All that the stepper remembers stays. Throws
  /// InvalidArgument below zero.
  void set_friction(const std::optional<double>& mu);
  /// What pushes bodies in later steps beside tau, until it is set again: as the bodies move within a step, where its scheme evaluates
  /// forces. Throws InvalidArgument on a body that the world does not have.
  void set_wrenches(std::span<const AppliedWrench> wrenches);

  /// Everything short of solving, where the scheme evaluates it: kinematics, contacts, and the contact problem for tau (nv). What a
  /// predictive controller needs before it chooses tau.
  void prepare(const State& state, const Eigen::Ref<const Eigen::VectorXd>& tau);
  /// Solves for tau (nv) and advances the state. `prepared`: `prepare` was just called at this state (any tau, the same options,
  /// drives and wrenches); throws InvalidArgument where it was not.
  StepReport step(const Eigen::Ref<const Eigen::VectorXd>& tau, State& state, bool prepared = false);

  /// Writes what the next step depends on beside options, drives, wrenches and state, or reads it into a stepper of the same world and
  /// options, which then goes on bit for bit (base/archive.hpp). Contacts, problem and solution of the last step are not in it.
  template <class Archive>
  void carry(Archive& archive) {
    archive(cold_, last_ids_, solution_.impulses, motors_);
    times_.carry(archive);
    springs_.carry(archive);
    correction_.carry(archive);
    energy_.carry(archive);
    stiction::carry(archive, workspace_);
  }

  const WorldData& data() const { return data_; }
  /// Per body, distance of the farthest point of its shapes from its origin (m).
  const std::vector<double>& reach() const { return reach_; }
  /// The contact problem that was solved last, its contacts and its answer, by the last `prepare` or `step`: of a step taken in parts, of
  /// the last part alone (`problem().dt` is its length), whose forces are not those of the step (`contact_forces`).
  /// Under event_driven these three are of the end of the step: contacts and rows there, with the impulses of the whole step.
  const std::vector<ContactPoint>& contacts() const { return contacts_; }
  const ContactProblem& problem() const { return problem_; }
  const Solution& solution() const { return solution_; }
  /// nq, from which the joint springs and servos of the last part were taken SchemeRow::spring_ahead v⁺ dt ahead, dt that of `problem`;
  /// under event_driven the end of the step.
  const Eigen::VectorXd& springs_from() const { return ahead_; }
  /// Contacts of the last step, which was accepted and no `prepare` came after: forces are means over all of it, whatever parts it was
  /// taken in. Memory of `out` is used again.
  void contact_forces(StepForces& out) const;
  /// How many contacts these are.
  int contact_count() const;
  /// Torques (nv; N m or N) of drives in the same step, taken under `drives`: of velocity drives and rows means over all of it, of servos,
  /// which are functions of the state, those at its end.
  void drive_torques(const Drives& drives, Eigen::VectorXd& tau) const;
  /// Of the last step, in their order; none but under event_driven.
  std::span<const Event> events() const { return events_ ? std::span<const Event>(events_->events()) : std::span<const Event>(); }

 private:
  using Torques = Eigen::Ref<const Eigen::VectorXd>;

  void update_at(const State& state);
  double detection_allowance() const;
  void detect();
  void look_ahead(double margin, std::vector<ContactPoint>& later);
  bool meet_missed();
  JointEnergy::Progress balance_energy();
  bool meet_limits();
  void assemble_rows(const Torques& tau, bool prepared);
  void follow_contacts();
  void take_over(const Torques& tau);
  bool solve_certified(StepReport& report);
  bool solve_returning(StepReport& report);
  bool are_loops_passive(StepReport& report);
  bool solve_step(const Torques& tau, StepReport& report);
  bool solve_bounces(const Torques& tau, StepReport& report);
  bool solve_implicit(const Torques& tau, StepReport& report);
  void project(StepReport& report);
  double finish();
  bool take(const Torques& tau, bool prepared, State& state, StepReport& report);
  bool take_halved(const Torques& tau, double h, int halvings, bool prepared, State& state, StepReport& report);
  bool take_parts(const Torques& tau, bool prepared, State& state, StepReport& report);
  double part() const { return options_.assemble.dt / options_.sub_steps; }
  bool take_events(const Torques& tau, State& state, StepReport& report);
  void note_part();
  bool in_parts() const { return problem_.dt != step_dt_; }
  void torques_of_part(const Drives& drives, Eigen::VectorXd& tau) const;
  void show_end(const Torques& tau, const State& state, const StepReport& report);
  Law law_of(int contact) const;
  void start_gaps_of_midpoint_laws();

  World world_;
  CollisionScene scene_;
  StepOptions options_;
  AssembleOptions assemble_;  ///< options_.assemble with the length of the part that is being stepped
  WorldData data_;
  std::vector<double> reach_;  ///< per body, farthest point of its shapes from its origin (m)
  std::vector<ContactPoint> contacts_;
  std::vector<ContactPoint> watched_, found_;  ///< near, but too far to take part at the velocities before the step, or waiting; scratch
  std::vector<Vector6d> V_end_;                ///< per body, by the velocities after it
  ServoSides sides_;                           ///< of the servos with limits, where the scheme takes damping at v⁺
  std::vector<AppliedWrench> wrenches_;
  Eigen::VectorXd tau_;         ///< nv, that of the step, of what pushes and of the servos that are cut
  Eigen::VectorXd motors_;      ///< nv, torques of the last step that was taken, drives among them
  std::vector<double> margin_;  ///< per body, its part (m) of the margin of its pairs
  ContactProblem problem_;
  SolveWorkspace workspace_;
  Solution solution_, warm_;
  State start_;
  StepTimes times_;
  PhasePoint from_, at_, next_;  ///< of the part that is being stepped: its start, where its data are evaluated, its end
  Eigen::VectorXd ahead_;        ///< nq, where its joint rows and gaps are evaluated: `at_` before the implicit scheme moves that
  PositionCorrection correction_;
  PositionShift shift_;
  WorldData end_;  ///< where a shift that turns joints begins
  LoopDrift drift_;
  JointEnergy energy_;
  std::vector<char> rigid_;  ///< per contact, for the correction
  GrowVector velocity_, last_impulses_;
  GrowVector undone_;                    ///< nv, δ of the correction
  std::vector<std::uint64_t> last_ids_;  ///< of the contacts of the last step, in its order
  ContactSprings springs_, start_springs_;
  Bounces bounces_;
  double step_dt_ = 0.0;                        ///< s, of the last step, whole
  StepImpulses parts_;                          ///< of contacts, of the last step where it was taken in parts
  Eigen::VectorXd part_torques_, row_torques_;  ///< nv, of velocity drives and rows: of a part; means over the step, in the same case
  std::optional<EnergyMomentum> implicit_;      ///< of that scheme alone
  std::optional<EventDriven> events_;           ///< the same
  bool prepared_ = false;                       ///< `from_` is the state of a `prepare` that no step has used
  bool cold_ = true;                            ///< nothing of an earlier step may enter the next one
};

/// A copy that reads no clock, for loops that hand out no reports.
Stepper untimed(Stepper stepper);

}  // namespace stiction
