// The problem that [ZD-EF] leaves open: large steps of a walking robot under inverse dynamics as a constraint, with torque limits and with
// contact forces that are right: feet slip as far as in a run of short steps, and bear what they bear there.
//
// Velocities asked of the joints over [t, t + h]: (q_d(t + h) - q_d(t))/h + k (q_d(t) - q). k = 1/h would undo an error within any step, by
// a controller that is the stiffer the shorter its steps: runs of different steps would be runs of different robots. A step in parts: q is
// measured at its start, but q_d is followed, and contacts are solved, from part to part.
//
// What makes feet slip is the plan. The published one holds centres of spherical feet still over the ground while they turn, and starts at
// full speed: v²/(2 μ g) = 2.5 mm. Where feet roll and the command grows as a patrol's does, they slip as others land alone: two feet bear
// the robot, which tips by 0.2 mm, so that a third meets the ground early, at 0.16 m/s, and those that stand slide for 5 ms.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <numbers>

#include <fmt/format.h>

#include "stiction/experiments/feedback.hpp"
#include "stiction/experiments/small_world.hpp"
#include "stiction/experiments/trot_control.hpp"
#include "stiction/forward/step.hpp"
#include "stiction/plan/patrol.hpp"

namespace stiction {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kTrotFriction = 0.8, kTorqueLimit = 4.0;             // N m, published
constexpr double kSwing = 0.08, kSwingRate = 2.0 * std::numbers::pi;  // rad, rad/s
constexpr double kSpeed = 0.2;                                        // m/s, published
constexpr double kPublishedPeriod = 0.3, kSlowPeriod = 1.2;           // s: the longer has swings of three of the longest steps
constexpr double kHeight = 0.14;                                      // m
constexpr double kTick = 1e-4;                                        // s, of the plan: the shortest step of a run
constexpr double kCorrection = 1.0 / kLongestControlStep;             // k, 1/s

enum class Motion { sway, trot, rolling_trot, slow_rolling_trot };
enum class LegDrive { pd, id_control, id_constraint, servo };

/// Joint positions at multiples of the tick: what is asked of a run does not depend on its step.
class JointPlan {
 public:
  JointPlan(Motion motion, double duration) : walks_(motion != Motion::sway) {
    TrotOptions options = links_trot();
    const bool rolls = motion == Motion::rolling_trot || motion == Motion::slow_rolling_trot;
    if (rolls) options.foot_radius = kTrotFootRadius;
    if (motion == Motion::slow_rolling_trot) options.gait.period = kSlowPeriod;
    gait_ = options.gait;
    const double speed = kSpeed * kPublishedPeriod / gait_.period, growth = rolls ? PatrolParameters{}.acceleration.x() : kInfinity;
    TrotPlanner planner(links_legs(), options, links_standing_posture());
    standing_ = planner.standing_posture();
    const long last = std::lround((duration + kLongestControlStep) / kTick) + 1;
    for (long k = 0; k <= last; ++k) {
      const double t = static_cast<double>(k) * kTick;
      const double command = t > kTrotSettle ? std::min(speed, growth * (t - kTrotSettle)) : 0.0;
      if (walks_) q_.push_back(planner.update(t, {command, 0.0, 0.0}).joints.q);
      if (!walks_) q_.emplace_back(standing_.array() + kSwing * standing_.array().sign() * (1.0 - std::cos(kSwingRate * t)));
    }
  }
  bool walks() const { return walks_; }
  const VectorXd& standing() const { return standing_; }
  /// Whether a foot is to be off the ground at any time of a step.
  bool swings(int foot, double t, double h) const {
    const double clock = t - kTrotSettle;
    return walks_ && clock + h > 0.0 &&
           (!in_stance(gait_, foot, std::max(clock, 0.0)) || time_to_liftoff(gait_, foot, std::max(clock, 0.0)) < h);
  }
  VectorXd at(double t) const {
    const double place = t / kTick;
    const std::size_t k = std::min(static_cast<std::size_t>(place + 1e-6), q_.size() - 2);
    return q_[k] + (place - static_cast<double>(k)) * (q_[k + 1] - q_[k]);
  }

 private:
  bool walks_;
  GaitParameters gait_;
  VectorXd standing_;
  std::vector<VectorXd> q_;
};

struct Walk {
  TrackingRun run;
  double slip = 0.0;          ///< m, path of a foot over the ground that it touches, mean of the feet
  double dragged = 0.0;       ///< m, of it in steps in which the foot should swing
  double distance = 0.0;      ///< m, of the base in the plane
  std::vector<double> force;  ///< N, sum of normal forces, mean of each step
  long at_tolerance = 0, steps = 0;
};

class LegRun {
 public:
  /// Control steps of h, each in parts no longer than `part` (s), which are for the constraint alone.
  LegRun(const JointPlan& plan, LegDrive drive, double h, double part = kInfinity)
      : plan_(plan),
        drive_(drive),
        parts_(std::max(1L, std::lround(std::ceil(h / part - 1e-9)))),
        h_(h),
        part_(h / static_cast<double>(parts_)),
        stepper_(make_stepper(part_)) {
    const World& world = stepper_.world();
    joints_.assign(world.actuated().begin(), world.actuated().end());
    limits_.assign(joints_.size(), kTorqueLimit);
    state_ = initial_state(world);
    tau_.setZero(world.nv());
    for (std::size_t f = 0; f < feet_.size(); ++f) feet_[f] = world.links()[world.link(kTrotFeet[f])].body;
  }

  /// Nothing where it is not stable.
  std::optional<Walk> run(double duration) {
    Walk out;
    out.steps = std::lround(std::ceil(duration / h_ - 1e-9));
    const Eigen::Vector2d start = state_.q.head<2>();
    const auto begin = std::chrono::steady_clock::now();
    for (long k = 0; k < out.steps; ++k) {
      const double t = static_cast<double>(k) * h_;
      const VectorXd correction = kCorrection * (plan_.at(t) - state_.q.tail(kTrotJoints));
      bool solved = true;
      out.force.push_back(0.0);
      for (long i = 0; i < parts_; ++i) {
        if (!take_part(t + static_cast<double>(i) * part_, correction, out, solved)) return std::nullopt;
      }
      out.at_tolerance += solved ? 1 : 0;
    }
    out.run.error /= static_cast<double>(out.steps * parts_);
    out.run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    out.distance = (state_.q.head<2>() - start).norm();
    return out;
  }

 private:
  Stepper make_stepper(double h) const {
    const World world = links_on_ground(plan_.standing(), kTrotFriction);
    StepOptions options;
    options.assemble.dt = h;
    return {world, make_scene(world, kTrotFriction), options};
  }

  bool take_part(double t, const VectorXd& correction, Walk& out, bool& solved) {
    const VectorXd before = state_.q.tail(kTrotJoints);
    const StepReport report = step(t, correction);
    if (!report.accepted || has_fallen()) return false;
    solved = solved && report.status == Status::solved;
    const std::optional<double> error =
        error_on_path(before, state_.q.tail(kTrotJoints), t, part_, [this](double time) { return plan_.at(time); });
    if (!error) return false;
    out.run.error += *error;
    measure(out, t);
    return true;
  }

  StepReport step(double t, const VectorXd& correction) {
    const VectorXd q = state_.q.tail(kTrotJoints), now = plan_.at(t), next = plan_.at(t + part_);
    const VectorXd rate = (next - now) / part_;
    tau_.setZero();
    bool prepared = false;
    if (drive_ == LegDrive::pd) {
      const VectorXd at_start = (plan_.at(t + kTick) - now) / kTick;
      for (Index j = 0; j < kTrotJoints; ++j) {
        const int v = joints_[j];
        tau_[v] =
            std::clamp(gains_.joint_kp * (now[j] - q[j]) + gains_.joint_kv * (at_start[j] - state_.v[v]), -kTorqueLimit, kTorqueLimit);
      }
    } else if (drive_ == LegDrive::id_control) {
      stepper_.prepare(state_, tau_);
      prepared = true;
      inverse_dynamics(stepper_.problem(), joints_, rate + correction, limits_, {}, workspace_, inverse_);
      for (std::size_t j = 0; j < joints_.size(); ++j) tau_[joints_[j]] = inverse_.tau[static_cast<Index>(j)];
    } else {
      set_drives(next, rate, rate + correction);
    }
    return stepper_.step(tau_, state_, prepared);
  }

  void set_drives(const VectorXd& next, const VectorXd& rate, const VectorXd& corrected) {
    Drives drives;
    for (Index j = 0; j < kTrotJoints; ++j) {
      const int v = joints_[j];
      if (drive_ == LegDrive::servo) drives.servos.push_back({v, next[j], rate[j], gains_.joint_kp, gains_.joint_kv});
      if (drive_ == LegDrive::id_constraint) drives.velocity.push_back({v, corrected[j], -kTorqueLimit, kTorqueLimit});
    }
    stepper_.set_drives(drives);
  }

  bool has_fallen() const {
    const Eigen::Quaterniond rotation(state_.q[6], state_.q[3], state_.q[4], state_.q[5]);
    return !(state_.q[2] > 0.5 * kHeight && (rotation * Eigen::Vector3d::UnitZ()).z() > 0.5);
  }

  /// A foot slips while it is on the ground, from the part after that in which it landed.
  void measure(Walk& out, double t) {
    const Solution& solution = stepper_.solution();
    const ContactProblem& problem = stepper_.problem();
    double force = 0.0;
    std::vector<std::uint64_t> touching;
    for (int i = 0; i < problem.contacts(); ++i) {
      const ContactPoint& contact = stepper_.contacts()[i];
      force += solution.impulses[3 * i] / problem.dt * std::abs(contact.n.z());
      if (problem.gap[i] + problem.dt * solution.u[3 * i] > kTouchGap) continue;
      touching.push_back(contact.id);
      if (std::ranges::find(touching_, contact.id) == touching_.end()) continue;
      const double path = part_ * solution.u.segment<2>(3 * i + 1).norm() / kTrotLegs;
      out.slip += path;
      for (int f = 0; f < kTrotLegs; ++f) {
        if ((contact.body_a == feet_[f] || contact.body_b == feet_[f]) && plan_.swings(f, t, part_)) out.dragged += path;
      }
    }
    touching_ = touching;
    out.force.back() += force / static_cast<double>(parts_);
  }

  const JointPlan& plan_;
  LegDrive drive_;
  long parts_;
  double h_, part_;
  Stepper stepper_;
  State state_;
  TrotPid gains_;
  std::vector<int> joints_;
  std::vector<double> limits_;
  VectorXd tau_;
  std::vector<std::uint64_t> touching_;  ///< contacts that the last part ended in
  std::array<int, kTrotLegs> feet_{};    ///< their bodies
  InverseWorkspace workspace_;
  InverseSolution inverse_;
};

/// Mean over time of |sum of normal forces - its mean in the reference over the same step|.
double force_error(const Walk& walk, double h, const Walk& reference, double h_reference) {
  const auto ratio = static_cast<std::size_t>(std::lround(h / h_reference));
  double sum = 0.0;
  const std::size_t steps = std::min(walk.force.size(), reference.force.size() / ratio);
  for (std::size_t k = 0; k < steps; ++k) {
    double mean = 0.0;
    for (std::size_t i = k * ratio; i < (k + 1) * ratio; ++i) mean += reference.force[i] / static_cast<double>(ratio);
    sum += std::abs(walk.force[k] - mean) / static_cast<double>(steps);
  }
  return sum;
}

double mean(const std::vector<double>& x) {
  double sum = 0.0;
  for (const double value : x) sum += value;
  return sum / static_cast<double>(x.size());
}

void add_accuracy_rows(ExperimentReport& report, const std::string& setting, const JointPlan& plan, double duration, double part,
                       double h_reference, const Walk& reference, const std::string& note) {
  const std::string against = fmt::format("reference: steps of {:g} ms", 1e3 * h_reference);
  const double weight = links_on_ground(plan.standing(), kTrotFriction).robots()[0].mass * kGravity;
  std::vector<ExperimentRow> rows{
      {"quadruped", setting, "slip per foot", "m", reference.slip, Reference::own, {}, note},
      {"quadruped", setting, "of it where it should swing", "m", reference.dragged, Reference::own, {}, ""},
      {"quadruped", setting, "way of the base", "m", reference.distance, Reference::own, {}, against},
      {"quadruped", setting, "mean vertical force", "N", weight, Reference::closed_form, {}, "reference: the weight"},
      {"quadruped", setting, "force, mean |difference|", "N", 0.0, Reference::own, {}, against + ", mean over each step"},
      {"quadruped", setting, "mean joint error", "rad", 0.0, Reference::closed_form, {}, "along the path, within steps too"},
      {"quadruped", setting, "steps not at 1e-9", "", 0.0, Reference::closed_form, {}, ""}};
  const std::string share = fmt::format("the run of {:g} ms: {:.2g}", 1e3 * h_reference, reference.slip / reference.distance);
  if (plan.walks()) rows.push_back({"quadruped", setting, "slip over way", "", 0.0, Reference::closed_form, {}, share});
  std::string fell;
  for (const double h : report.steps) {
    const std::optional<Walk> walk = LegRun(plan, LegDrive::id_constraint, h, part).run(duration);
    if (!walk) {
      fell += fmt::format(" {:g} ms", 1e3 * h);
      continue;
    }
    const std::array figures{walk->slip,
                             walk->dragged,
                             walk->distance,
                             mean(walk->force),
                             force_error(*walk, h, reference, h_reference),
                             walk->run.error,
                             static_cast<double>(walk->steps - walk->at_tolerance),
                             walk->slip / walk->distance};
    for (std::size_t k = 0; k < rows.size(); ++k) rows[k].ours.push_back(figures[k]);
  }
  if (plan.walks()) std::rotate(rows.begin() + 1, rows.end() - 1, rows.end());  // below the slip
  for (ExperimentRow& row : rows) {
    if (!fell.empty()) {
      row.ours.clear();
      row.note = "not stable at" + fell;
    }
    report.rows.push_back(row);
  }
}

/// Slip and forces of the constraint at every step of the report, beside those of short steps, whole or in parts no longer than these (s).
void add_accuracy(ExperimentReport& report, const std::string& name, const JointPlan& plan, double duration, double h_reference,
                  const std::vector<std::pair<double, std::string>>& parts_and_notes) {
  const std::optional<Walk> reference = LegRun(plan, LegDrive::id_constraint, h_reference).run(duration);
  for (const auto& [part, note] : parts_and_notes) {
    const std::string setting =
        fmt::format("ID as constraint, {}{}", name, part < kInfinity ? fmt::format(", parts of {:g} ms", 1e3 * part) : "");
    if (!reference) {
      report.rows.push_back({"quadruped", setting, "all", "", 0.0, Reference::none, {}, "the run of short steps fell"});
      return;
    }
    add_accuracy_rows(report, setting, plan, duration, part, h_reference, *reference, note);
  }
}

struct LegRow {
  LegDrive drive;
  const char *name, *note;
  std::optional<PublishedTracking> published;
  double part = kInfinity;  ///< s
};

const PublishedTracking kPublishedLegs{0.001, 3.80e-2, 24.84}, kPublishedConstraint{0.10, 5.10e-2, 2.54};
const LegRow kLegRows[] = {
    {LegDrive::pd, "PD", "torques within 4 N m; published: without limits", kPublishedLegs},
    {LegDrive::id_control, "ID as control", "torques within 4 N m", PublishedTracking{0.004, 9.05e-3, 4.97}},
    {LegDrive::id_constraint, "ID as constraint", "torques within 4 N m; published: without limits, and skating", kPublishedConstraint},
    {LegDrive::id_constraint, "ID as constraint, parts of 10 ms", "contacts 10 times in a step of 0.1 s", kPublishedConstraint, 0.01},
    {LegDrive::id_constraint, "ID as constraint, parts of 1 ms", "contacts 100 times in a step of 0.1 s", kPublishedConstraint, 0.001},
    {LegDrive::servo, "servo", "the gains of PD at the end of the step; not published", std::nullopt},
};

}  // namespace

void add_feedback_quadruped(ExperimentReport& report, const ExperimentOptions& options) {
  const double duration = options.quick ? 2.0 : 5.0, h_reference = options.quick ? 5e-4 : kTick;
  const JointPlan sway(Motion::sway, duration), trot(Motion::trot, duration), rolling(Motion::rolling_trot, duration),
      slow(Motion::slow_rolling_trot, duration);
  double base = 0.0;
  for (const LegRow& row : kLegRows) {
    const TryStep attempt = [&](double h) -> std::optional<TrackingRun> {
      const std::optional<Walk> walk = LegRun(trot, row.drive, h, row.part).run(duration);
      return walk ? std::optional(walk->run) : std::nullopt;
    };
    const LargestStep found = largest_stable_step(attempt, options.quick ? 3 : 7);
    if (row.drive == LegDrive::pd) base = found.run.seconds;
    add_tracking_rows(report, "quadruped, trot", row.name, found, row.published, kPublishedLegs, base, row.note);
  }
  add_accuracy(report, "every joint a sinusoid", sway, duration, h_reference,
               {{kInfinity, "feet are asked to slide; one that bears nothing does not count"}, {0.001, ""}});
  add_accuracy(report, "trot", trot, duration, h_reference,
               {{kInfinity, "feet turn on fixed centres; steps of 50 ms and more miss swings of 75 ms, others cut corners"}, {0.001, ""}});
  add_accuracy(report, "trot, feet roll", rolling, duration, h_reference,
               {{kInfinity, "steps of 50 ms and more miss swings of 75 ms, others cut corners"},
                {0.01, "parts cut corners of swings, by 0.6 mrad"},
                {0.001, "feet slip for 5 ms as others land"},
                {0.0005, "the same, and 0.2 mm less: how a landing falls into parts"}});
  add_accuracy(report, "slow trot, feet roll", slow, duration, h_reference,
               {{kInfinity, "swings of three steps of 0.1 s: the robot tips about two feet for as long"}, {0.001, ""}});
}

}  // namespace stiction
