// A stepper with its state, as Python holds it.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contact_arrays.hpp"
#include "stiction/sim/scene.hpp"
#include "stiction/sim/simulation.hpp"

namespace stiction::python {

/// One that ends.
struct TimedWrench : AppliedWrench {
  double until = 0.0;  ///< time of its end (s): the step within which that lies has the part before it
};

/// What a step did. Of the last step that was taken: contacts and impulses in `stepper`.
struct StepOutcome : StepReport {
  int contacts = 0;
  int saturated = 0;  ///< torques cut to their joint's effort limit
};

/// Members are guarded by `mutex`, which is never held while the interpreter's lock is waited for.
class StepperHandle {
 public:
  StepperHandle(const Scene& scene, const StepOptions& options, bool effort_limits);
  StepperHandle(const StepperHandle& other);

  StepOutcome step(const Eigen::Ref<const Eigen::VectorXd>& tau);
  /// What `step(tau)` would solve first: in `stepper().problem()`.
  void prepare(const Eigen::Ref<const Eigen::VectorXd>& tau);
  void set_state(const State& state);
  void set_drives(const Drives& drives);
  void set_friction(const std::optional<double>& mu) { simulation_.set_friction(mu); }
  /// All that later steps depend on beside world and options, as bytes, and back into a stepper of the same. Contacts and torques of drives
  /// are none until it has stepped. Throws InvalidArgument on other bytes.
  std::string memory();
  void remember(std::string_view bytes);
  void apply(const TimedWrench& wrench) { wrenches_.push_back(wrench); }

  /// Those of the last step, whatever was set since.
  const Drives& stepped_drives() const { return stepped_drives_ ? *stepped_drives_ : stepper().options().assemble.drives; }

  const Stepper& stepper() const { return simulation_.stepper(); }
  const State& state() const { return simulation_.state(); }

  State start;
  bool has_contacts = false;  ///< the last step was taken
  std::mutex mutex;

 private:
  template <class Archive>
  void carry(Archive& archive);
  double steps_left(const TimedWrench& wrench) const;
  int take_torques(const Eigen::Ref<const Eigen::VectorXd>& tau);

  Simulation simulation_;
  Eigen::VectorXd effort_;  ///< nv, limits (N m or N)
  std::vector<TimedWrench> wrenches_;
  std::vector<AppliedWrench> pushes_;     ///< of the next step
  std::optional<Drives> stepped_drives_;  ///< none: those of the stepper
  Eigen::VectorXd tau_;
};

}  // namespace stiction::python
