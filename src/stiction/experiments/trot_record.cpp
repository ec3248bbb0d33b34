#include "stiction/experiments/trot_record.hpp"

#include <fmt/format.h>

#include "stiction/sim/observers.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Vector3d;

void append(std::vector<double>& out, const Vector3d& x) { out.insert(out.end(), x.begin(), x.end()); }

// Normal force that a foot bears in the step (N).
double normal_force(const Stepper& stepper, int foot) {
  double impulse = 0.0;
  for (std::size_t i = 0; i < stepper.contacts().size(); ++i) {
    const ContactPoint& c = stepper.contacts()[i];
    if (c.body_a == foot || c.body_b == foot) impulse += stepper.solution().impulses[3 * static_cast<Index>(i)];
  }
  return impulse / stepper.problem().dt;
}

}  // namespace

TrotRecord::TrotRecord(const World& world, const State& start) : world_(world) {
  for (const char* kind : {"force predicted", "force simulated"}) {
    for (const char* foot : kTrotFeet) trajectory_.signal_names.push_back(fmt::format("{} {} (N)", kind, foot));
  }
  trajectory_.signal_names.emplace_back("controller (us)");
  trajectory_.target_names.assign(kTrotFeet.begin(), kTrotFeet.end());
  trajectory_.add(start);
}

void TrotRecord::add(const StepTaken& step, const TrotControl& control) {
  trajectory_.add(step.state, step.stepper, step.report, step.tau);
  for (const double force : control.normal_forces()) trajectory_.signals.push_back(force);
  for (const int foot : control.feet()) trajectory_.signals.push_back(normal_force(step.stepper, foot));
  trajectory_.signals.push_back(control.microseconds());
  const Eigen::VectorXd& q = step.before.q;
  const Eigen::Isometry3d X_WB = Eigen::Translation3d(q.head<3>()) * Eigen::Quaterniond(q[6], q[3], q[4], q[5]);
  const TrotPlanner& planner = control.planner();
  for (std::size_t f = 0; f < kTrotLegs; ++f) {
    const Leg& leg = planner.legs()[f];
    LegVector joints(static_cast<Index>(leg.joints.size()));
    for (std::size_t k = 0; k < leg.joints.size(); ++k) joints[static_cast<Index>(k)] = control.q()[leg.joints[k]];
    Vector3d foot;
    LegJacobian jacobian;
    leg.kinematics(joints, foot, jacobian);
    append(trajectory_.targets, X_WB * Vector3d(planner.plan().foot_position.col(static_cast<Index>(f))));
    append(trajectory_.reached, X_WB * foot);
  }
}

void TrotRecord::save(const std::filesystem::path& file, const Stepper& stepper, const RunSummary& summary) {
  record_end(trajectory_, stepper, summary, "fell");
  save_trajectory(file, world_, trajectory_);
}

}  // namespace stiction
