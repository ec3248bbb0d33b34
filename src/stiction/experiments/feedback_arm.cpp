#include <chrono>
#include <cmath>
#include <numbers>

#include "stiction/experiments/feedback.hpp"
#include "stiction/forward/step.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"
#include "stiction/sim/model_path.hpp"

namespace stiction {
namespace {

using Eigen::VectorXd;

constexpr int kJoints = 6;
constexpr double kAmplitude = 0.5, kRate = std::numbers::pi;  // rad, rad/s

enum class ArmDrive { pd, pd_geared, servo, id_control, id_constraint };

// Gains of the arm: those that hold it in place well and are stable at 1 ms; with gears, critically damped for the rotors alone.
const VectorXd kKp = (VectorXd(kJoints) << 3000, 3000, 1500, 200, 200, 20).finished();
const VectorXd kKd = (VectorXd(kJoints) << 300, 300, 150, 5, 5, 0.5).finished();
constexpr double kRotor = 2.0;                 // kg m², of a rotor of 2e-4 kg m² behind a gear of 100:1
constexpr double kGearedRate = 20.0;           // rad/s: kp = rotor rate², kd = 2 rotor rate
constexpr double kIdKp = 100.0, kIdKd = 20.0;  // 1/s², 1/s

VectorXd posture() { return (VectorXd(kJoints) << 0.0, -1.2, 1.4, -1.0, 0.5, 0.3).finished(); }

struct Wanted {
  VectorXd q, v, a;
};

Wanted wanted(double t) {
  const double s = std::sin(kRate * t), c = std::cos(kRate * t);
  return {posture().array() + kAmplitude * s, VectorXd::Constant(kJoints, kAmplitude * kRate * c),
          VectorXd::Constant(kJoints, -kAmplitude * kRate * kRate * s)};
}

World arm(ArmDrive drive) {
  WorldBuilder builder;
  RobotOptions options;
  if (drive == ArmDrive::pd_geared) {
    for (const char* joint :
         {"shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"})
      options.joints[joint].armature = kRotor;
  }
  builder.add_robot(model_path("ur10.urdf"), options);
  return builder.build();
}

class ArmRun {
 public:
  ArmRun(ArmDrive drive, double h) : drive_(drive), stepper_(make_stepper(drive, h)), h_(h) {
    for (int j = 0; j < kJoints; ++j) joints_.push_back(j);
    const Wanted start = wanted(0.0);
    state_ = {start.q, start.v, 0.0};
  }

  std::optional<TrackingRun> run(double duration) {
    const long steps = std::lround(std::ceil(duration / h_ - 1e-9));
    const auto begin = std::chrono::steady_clock::now();
    double sum = 0.0;
    for (long k = 0; k < steps; ++k) {
      const State before = state_;
      if (!step(static_cast<double>(k) * h_)) return std::nullopt;
      const std::optional<double> error =
          error_on_path(before.q, state_.q, static_cast<double>(k) * h_, h_, [](double t) { return wanted(t).q; });
      if (!error) return std::nullopt;
      sum += *error;
    }
    return TrackingRun{sum / static_cast<double>(steps), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  }

 private:
  static Stepper make_stepper(ArmDrive drive, double h) {
    const World world = arm(drive);
    StepOptions options;
    options.assemble.dt = h;
    options.assemble.joint_limits = false;
    return {world, make_scene(world, 0.5), options};
  }

  bool step(double t) {
    const Wanted now = wanted(t), next = wanted(t + h_);
    VectorXd tau = VectorXd::Zero(kJoints);
    bool prepared = false;
    if (drive_ == ArmDrive::pd) tau = kKp.cwiseProduct(now.q - state_.q) + kKd.cwiseProduct(now.v - state_.v);
    if (drive_ == ArmDrive::pd_geared)
      tau = kRotor * (kGearedRate * kGearedRate * (now.q - state_.q) + 2.0 * kGearedRate * (now.v - state_.v));
    if (drive_ == ArmDrive::servo || drive_ == ArmDrive::id_constraint) set_drives(next);
    if (drive_ == ArmDrive::id_control) {
      stepper_.prepare(state_, tau);
      prepared = true;
      const VectorXd a = now.a + kIdKp * (now.q - state_.q) + kIdKd * (now.v - state_.v);
      inverse_dynamics(stepper_.problem(), joints_, state_.v + h_ * a, {}, {}, workspace_, inverse_);
      tau = inverse_.tau;
    }
    return stepper_.step(tau, state_, prepared).accepted;
  }

  void set_drives(const Wanted& next) {
    Drives drives;
    for (int j = 0; j < kJoints; ++j) {
      if (drive_ == ArmDrive::servo) {
        drives.servos.push_back({j, next.q[j], next.v[j], kKp[j], kKd[j]});
      } else {
        drives.velocity.push_back({j, (next.q[j] - state_.q[j]) / h_});
      }
    }
    stepper_.set_drives(drives);
  }

  ArmDrive drive_;
  Stepper stepper_;
  double h_;
  State state_;
  std::vector<int> joints_;
  InverseWorkspace workspace_;
  InverseSolution inverse_;
};

struct ArmRow {
  ArmDrive drive;
  const char *name, *note;
  std::optional<PublishedTracking> published;
};

const PublishedTracking kPublishedArm{0.001, 1.01e-2, 357.0};
const ArmRow kArmRows[] = {
    {ArmDrive::pd, "PD", "no gravity compensation", kPublishedArm},
    {ArmDrive::pd_geared, "PD, geared", "rotors of 2e-4 kg m² behind 100:1, gains for them", PublishedTracking{0.05, 1.74e-1, 24.6}},
    {ArmDrive::id_control, "ID as control", "feedback 100 1/s², 20 1/s", PublishedTracking{0.05, 2.85e-2, 6.51}},
    {ArmDrive::id_constraint, "ID as constraint", "target of the step's end, as of servo; of its start: 0.098 rad",
     PublishedTracking{0.10, 1.15e-1, 2.85}},
    {ArmDrive::servo, "servo", "the gains of PD at the end of the step; not published", std::nullopt},
};

}  // namespace

void add_feedback_arm(ExperimentReport& report, const ExperimentOptions& options) {
  const double duration = options.quick ? 2.0 : 5.0;
  double base = 0.0;
  for (const ArmRow& row : kArmRows) {
    const TryStep attempt = [&](double h) { return ArmRun(row.drive, h).run(duration); };
    const LargestStep found = largest_stable_step(attempt, options.quick ? 3 : 7);
    if (row.drive == ArmDrive::pd) base = found.run.seconds;
    add_tracking_rows(report, "UR10", row.name, found, row.published, kPublishedArm, base, row.note);
  }
}

}  // namespace stiction
