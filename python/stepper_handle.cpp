#include "stepper_handle.hpp"

#include <algorithm>

#include "effort_limits.hpp"

namespace stiction::python {

StepperHandle::StepperHandle(const Scene& scene, const StepOptions& options, bool limit)
    : start(scene.start), simulation_(scene.make_stepper(options), scene.start), effort_(effort_limits(scene.world)) {
  if (!limit) effort_.setConstant(kInfinity);
}

StepperHandle::StepperHandle(const StepperHandle& other)
    : start(other.start),
      has_contacts(other.has_contacts),
      simulation_(other.simulation_),
      effort_(other.effort_),
      wrenches_(other.wrenches_),
      tau_(other.tau_),
      q_before_(other.q_before_) {}

void StepperHandle::set_state(const State& next) {
  simulation_.restart(next);
  wrenches_.clear();
  has_contacts = false;
}

void StepperHandle::add_wrenches() {
  const WorldData& data = stepper().data();
  for (const AppliedWrench& w : wrenches_) {
    const Eigen::Vector3d p_W = data.X_WB[static_cast<std::size_t>(w.body)] * w.p_B;
    add_wrench(stepper().world(), data, w.body, p_W, w.force, w.moment, tau_);
  }
}

Eigen::VectorXd StepperHandle::servo_torques() const {
  const StepOptions& options = stepper().options();
  Eigen::VectorXd out;
  stiction::servo_torques(stepper().world(), options.assemble.drives, q_before_, state().v, options.assemble.dt,
                          options.assemble.spring_ahead, out);
  return out;
}

StepOutcome StepperHandle::step(const Eigen::Ref<const Eigen::VectorXd>& tau) {
  tau_ = tau;
  StepOutcome out;
  out.saturated = limit_efforts(effort_, tau_);
  if (!wrenches_.empty()) {
    simulation_.prepare(tau_);
    add_wrenches();
  }
  q_before_ = state().q;
  static_cast<StepReport&>(out) = simulation_.step(tau_);
  has_contacts = out.accepted;
  out.contacts = stepper().problem().contacts();
  // Half a step of slack: the sum of steps is not the exact time.
  const double now = state().time + 0.5 * stepper().options().assemble.dt;
  std::erase_if(wrenches_, [now](const AppliedWrench& w) { return w.until < now; });
  return out;
}

}  // namespace stiction::python
