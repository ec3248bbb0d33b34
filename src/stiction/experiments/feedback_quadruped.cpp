// The problem that [ZD-EF] leaves open: large steps of a walking robot under inverse dynamics as a constraint, with torque limits and with
// contact forces that are right: feet slip as far as in a run of short steps, and bear what they bear there.
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

enum class Motion { sway, trot, slow_trot };
enum class LegDrive { pd, id_control, id_constraint, servo };

/// Joint positions at multiples of the tick: what is asked of a run does not depend on its step.
class JointPlan {
 public:
  JointPlan(Motion motion, double duration) : walks_(motion != Motion::sway) {
    TrotOptions options;
    options.nominal_feet = links_nominal_feet();
    options.start_time = kTrotSettle;
    if (motion == Motion::slow_trot) options.gait.period = kSlowPeriod;
    gait_ = options.gait;
    TrotPlanner planner(links_legs(), options, links_standing_posture());
    standing_ = planner.standing_posture();
    const long last = std::lround((duration + kLongestControlStep) / kTick) + 1;
    for (long k = 0; k <= last; ++k) {
      const double t = static_cast<double>(k) * kTick;
      if (walks_) q_.push_back(planner.update(t, {kSpeed * kPublishedPeriod / gait_.period, 0.0, 0.0}).joints.q);
      if (!walks_) q_.emplace_back(standing_.array() + kSwing * standing_.array().sign() * (1.0 - std::cos(kSwingRate * t)));
    }
  }
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
  std::vector<double> force;  ///< N, sum of normal forces of each step
  long at_tolerance = 0, steps = 0;
};

class LegRun {
 public:
  LegRun(const JointPlan& plan, LegDrive drive, double h) : plan_(plan), drive_(drive), stepper_(make_stepper(h)), h_(h) {
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
      const VectorXd before = state_.q.tail(kTrotJoints);
      const StepReport report = step(t);
      if (!report.accepted || has_fallen()) return std::nullopt;
      out.at_tolerance += report.status == Status::solved ? 1 : 0;
      const std::optional<double> error =
          error_on_path(before, state_.q.tail(kTrotJoints), t, h_, [this](double time) { return plan_.at(time); });
      if (!error) return std::nullopt;
      out.run.error += *error / static_cast<double>(out.steps);
      measure(out, t);
    }
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

  StepReport step(double t) {
    const VectorXd q = state_.q.tail(kTrotJoints), next = plan_.at(t + h_);
    tau_.setZero();
    bool prepared = false;
    if (drive_ == LegDrive::pd) {
      const VectorXd now = plan_.at(t), rate = (plan_.at(t + kTick) - now) / kTick;
      for (Index j = 0; j < kTrotJoints; ++j) {
        const int v = joints_[j];
        tau_[v] = std::clamp(gains_.joint_kp * (now[j] - q[j]) + gains_.joint_kv * (rate[j] - state_.v[v]), -kTorqueLimit, kTorqueLimit);
      }
    } else if (drive_ == LegDrive::id_control) {
      stepper_.prepare(state_, tau_);
      prepared = true;
      inverse_dynamics(stepper_.problem(), joints_, (next - q) / h_, limits_, {}, workspace_, inverse_);
      for (std::size_t j = 0; j < joints_.size(); ++j) tau_[joints_[j]] = inverse_.tau[static_cast<Index>(j)];
    } else {
      set_drives(q, next, (next - plan_.at(t)) / h_);
    }
    return stepper_.step(tau_, state_, prepared);
  }

  void set_drives(const VectorXd& q, const VectorXd& next, const VectorXd& rate) {
    Drives drives;
    for (Index j = 0; j < kTrotJoints; ++j) {
      const int v = joints_[j];
      if (drive_ == LegDrive::servo) drives.servos.push_back({v, next[j], rate[j], gains_.joint_kp, gains_.joint_kv});
      if (drive_ == LegDrive::id_constraint) drives.velocity.push_back({v, (next[j] - q[j]) / h_, -kTorqueLimit, kTorqueLimit});
    }
    stepper_.set_drives(drives);
  }

  bool has_fallen() const {
    const Eigen::Quaterniond rotation(state_.q[6], state_.q[3], state_.q[4], state_.q[5]);
    return !(state_.q[2] > 0.5 * kHeight && (rotation * Eigen::Vector3d::UnitZ()).z() > 0.5);
  }

  /// A foot slips while it is on the ground, from the step after that in which it landed.
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
      const double path = h_ * solution.u.segment<2>(3 * i + 1).norm() / kTrotLegs;
      out.slip += path;
      for (int f = 0; f < kTrotLegs; ++f) {
        if ((contact.body_a == feet_[f] || contact.body_b == feet_[f]) && plan_.swings(f, t, h_)) out.dragged += path;
      }
    }
    touching_ = touching;
    out.force.push_back(force);
  }

  const JointPlan& plan_;
  LegDrive drive_;
  Stepper stepper_;
  double h_;
  State state_;
  TrotPid gains_;
  std::vector<int> joints_;
  std::vector<double> limits_;
  VectorXd tau_;
  std::vector<std::uint64_t> touching_;  ///< contacts that the last step ended in
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

/// Slip and forces of the constraint at every step of the report beside those of a short step.
void add_accuracy(ExperimentReport& report, const char* name, const JointPlan& plan, double duration, double h_reference,
                  const std::string& note) {
  const std::string setting = fmt::format("ID as constraint, {}", name);
  const std::optional<Walk> reference = LegRun(plan, LegDrive::id_constraint, h_reference).run(duration);
  if (!reference) {
    report.rows.push_back({"quadruped", setting, "all", "", 0.0, Reference::none, {}, "the run of short steps fell"});
    return;
  }
  const std::string against = fmt::format("reference: steps of {:g} ms", 1e3 * h_reference);
  const double weight = links_on_ground(plan.standing(), kTrotFriction).robots()[0].mass * 9.81;
  std::array<ExperimentRow, 7> rows{
      ExperimentRow{"quadruped", setting, "slip per foot", "m", reference->slip, Reference::own, {}, note},
      ExperimentRow{"quadruped", setting, "of it where it should swing", "m", reference->dragged, Reference::own, {}, ""},
      ExperimentRow{"quadruped", setting, "way of the base", "m", reference->distance, Reference::own, {}, against},
      ExperimentRow{"quadruped", setting, "mean vertical force", "N", weight, Reference::closed_form, {}, "reference: the weight"},
      ExperimentRow{"quadruped", setting, "force, mean |difference|", "N", 0.0, Reference::own, {}, against + ", mean over each step"},
      ExperimentRow{"quadruped", setting, "mean joint error", "rad", 0.0, Reference::closed_form, {}, "along the path, within steps too"},
      ExperimentRow{"quadruped", setting, "steps not at 1e-9", "", 0.0, Reference::closed_form, {}, ""}};
  std::string fell;
  for (const double h : report.steps) {
    const std::optional<Walk> walk = LegRun(plan, LegDrive::id_constraint, h).run(duration);
    if (!walk) {
      fell += fmt::format(" {:g} ms", 1e3 * h);
      continue;
    }
    const std::array figures{walk->slip,
                             walk->dragged,
                             walk->distance,
                             mean(walk->force),
                             force_error(*walk, h, *reference, h_reference),
                             walk->run.error,
                             static_cast<double>(walk->steps - walk->at_tolerance)};
    for (std::size_t k = 0; k < rows.size(); ++k) rows[k].ours.push_back(figures[k]);
  }
  for (ExperimentRow& row : rows) {
    if (!fell.empty()) {
      row.ours.clear();
      row.note = "not stable at" + fell;
    }
    report.rows.push_back(row);
  }
}

struct LegRow {
  LegDrive drive;
  const char *name, *note;
  std::optional<PublishedTracking> published;
};

const PublishedTracking kPublishedLegs{0.001, 3.80e-2, 24.84};
const LegRow kLegRows[] = {
    {LegDrive::pd, "PD", "", kPublishedLegs},
    {LegDrive::id_control, "ID as control", "torques within 4 N m", PublishedTracking{0.004, 9.05e-3, 4.97}},
    {LegDrive::id_constraint, "ID as constraint", "torques within 4 N m; published: without limits, and skating",
     PublishedTracking{0.10, 5.10e-2, 2.54}},
    {LegDrive::servo, "servo", "the gains of PD at the end of the step; not published", std::nullopt},
};

}  // namespace

void add_feedback_quadruped(ExperimentReport& report, const ExperimentOptions& options) {
  const double duration = options.quick ? 2.0 : 5.0, h_reference = options.quick ? 5e-4 : kTick;
  const JointPlan sway(Motion::sway, duration), trot(Motion::trot, duration);
  double base = 0.0;
  for (const LegRow& row : kLegRows) {
    const TryStep attempt = [&](double h) -> std::optional<TrackingRun> {
      const std::optional<Walk> walk = LegRun(trot, row.drive, h).run(duration);
      return walk ? std::optional(walk->run) : std::nullopt;
    };
    const LargestStep found = largest_stable_step(attempt, options.quick ? 3 : 7);
    if (row.drive == LegDrive::pd) base = found.run.seconds;
    add_tracking_rows(report, "quadruped, trot", row.name, found, row.published, kPublishedLegs, base, row.note);
  }
  add_accuracy(report, "every joint a sinusoid", sway, duration, h_reference,
               "feet are asked to slide; one that bears nothing does not count");
  add_accuracy(report, "trot", trot, duration, h_reference, "a foot swings for 75 ms, which steps of 50 ms and more do not see");
}

}  // namespace stiction
