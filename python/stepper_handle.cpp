#include "stepper_handle.hpp"

#include <algorithm>
#include <utility>

#include "stiction/base/archive.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/control/torque_limits.hpp"
#include "stiction/drive/effort_limits.hpp"

namespace stiction::python {

namespace {
constexpr double kTimeSlack = 1e-6;  // of a step: a sum of steps is not the exact time
}

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
      stepped_drives_(other.stepped_drives_),
      tau_(other.tau_) {}

void StepperHandle::set_state(const State& next) {
  simulation_.restart(next);
  wrenches_.clear();
  has_contacts = false;
}

void StepperHandle::set_drives(const Drives& drives) {
  Drives stepped = stepped_drives();
  simulation_.set_drives(drives);
  stepped_drives_ = std::move(stepped);
}

template <class Archive>
void StepperHandle::carry(Archive& archive) {
  Drives drives = stepper().options().assemble.drives;
  archive(drives.velocity, drives.servos);
  drives.rows.resize(archive.count(drives.rows.size(), sizeof(double)));
  for (VelocityRow& row : drives.rows) archive(row.terms, row.velocity, row.least, row.most);
  bool is_uniform = stepper().options().assemble.friction.has_value();
  double mu = stepper().options().assemble.friction.value_or(0.0);
  archive(is_uniform, mu);
  if constexpr (Archive::kReads) {
    simulation_.set_drives(drives);
    simulation_.set_friction(is_uniform ? std::optional(mu) : std::nullopt);
  }
  simulation_.carry(archive);
  wrenches_.resize(archive.count(wrenches_.size(), sizeof(double)));
  for (TimedWrench& w : wrenches_) {
    archive(w.body, w.until);
    for (Eigen::Vector3d* x : {&w.p_B, &w.force, &w.moment}) archive(x->x(), x->y(), x->z());
  }
}

std::string StepperHandle::memory() {
  ByteWriter out;
  carry(out);
  return out.written;
}

void StepperHandle::remember(std::string_view bytes) {
  ByteReader in(bytes);
  carry(in);
  const World& world = stepper().world();
  if (!in.at_end() || state().q.size() != world.nq() || state().v.size() != world.nv())
    throw InvalidArgument("bytes", "those of a stepper of this world", "others");
  has_contacts = false;
}

double StepperHandle::steps_left(const TimedWrench& w) const { return (w.until - state().time) / stepper().options().assemble.dt; }

// All that acts in the next step; gives how many torques were cut to their limit.
int StepperHandle::take_torques(const Eigen::Ref<const Eigen::VectorXd>& tau) {
  tau_ = tau;
  pushes_.clear();
  for (const TimedWrench& w : wrenches_) {
    const double left = steps_left(w), share = left > 1.0 - kTimeSlack ? 1.0 : left;
    pushes_.push_back({w.body, w.p_B, share * w.force, share * w.moment});
  }
  simulation_.set_wrenches(pushes_);
  return clamp_torques(effort_, tau_);
}

void StepperHandle::prepare(const Eigen::Ref<const Eigen::VectorXd>& tau) {
  take_torques(tau);
  simulation_.prepare(tau_);
}

StepOutcome StepperHandle::step(const Eigen::Ref<const Eigen::VectorXd>& tau) {
  StepOutcome out;
  out.saturated = take_torques(tau);
  static_cast<StepReport&>(out) = simulation_.step(tau_);
  has_contacts = out.accepted;
  stepped_drives_.reset();
  out.contacts = stepper().contact_count();
  std::erase_if(wrenches_, [this](const TimedWrench& w) { return steps_left(w) < kTimeSlack; });
  return out;
}

}  // namespace stiction::python
