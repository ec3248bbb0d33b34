// The loop of every simulation. For each step: controls -> step -> observers.
//
// A `Simulation` is a stepper and the state that it is at. All that the next step depends on is in it (the tangential springs and impulses
// of the last contacts are in the stepper), so a copy goes on bit for bit as the original does: save it, step it, go back to it.
// Controls and observers belong to one `run` and are not copied.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "stiction/forward/step.hpp"
#include "stiction/sim/run_summary.hpp"

namespace stiction {

struct Scene;
class Simulation;

/// Fills tau (nv; N and N m, zero when it is called) for the step that starts at `simulation.state()`. May call `simulation.prepare` to see
/// kinematics and contacts there; the step then starts from what was prepared.
using Control = std::function<void(Simulation& simulation, Eigen::VectorXd& tau)>;

/// A step that was taken, for observers. The references hold while the observer runs.
struct StepTaken {
  long step = 0, steps = 0;  ///< which one of this run, from 0, and how many it is to take
  const State &before, &state;
  const Eigen::VectorXd& tau;  ///< nv
  const StepReport& report;
  const Stepper& stepper;  ///< its contacts, problem and solution are those of the step
};
using Observer = std::function<void(const StepTaken&)>;

/// Steps of dt (s) in a duration (s), to the nearest one. Throws InvalidArgument where that is none or more than 1e9.
long steps_in(double duration, double dt);

struct RunOptions {
  double duration = 1.0;                              ///< s, > 0; to the nearest step
  Control control = {};                               ///< none: no forces
  std::vector<Observer> observers = {};               ///< called in this order after every step that was taken
  std::function<bool(const Simulation&)> until = {};  ///< asked after the observers: true ends the run
};

/// The torques of the scene's held joints. The scene outlives the control.
Control hold_joints(const Scene& scene);

class Simulation {
 public:
  /// Throws InvalidArgument when the sizes of q or v are not the world's.
  Simulation(Stepper stepper, State start);
  /// At the scene's start, under its options.
  explicit Simulation(const Scene& scene);

  const World& world() const { return stepper_.world(); }
  const Stepper& stepper() const { return stepper_; }
  const State& state() const { return state_; }
  /// For people: what the robots' files say and this engine leaves out, and links left out of collision.
  std::vector<std::string> warnings() const;
  /// Steps taken since the start or the last `restart`.
  long steps() const { return steps_; }

  /// Starts anew from another state: nothing of the past enters the next step. Throws InvalidArgument, and changes nothing, when sizes are
  /// not the world's, a number is not finite or out of reach, or a quaternion is not of unit length.
  void restart(const State& state);

  /// Everything at the state short of solving (see Stepper::prepare). The next step starts from it.
  const Stepper& prepare(const Eigen::Ref<const Eigen::VectorXd>& tau);
  /// Drives of later steps, until they are set again. Throws InvalidArgument.
  void set_drives(const Drives& drives);
  /// Friction of every contact in later steps (Stepper::set_friction). Throws InvalidArgument.
  void set_friction(const std::optional<double>& mu);
  /// What pushes bodies in later steps, until it is set again (Stepper::set_wrenches). Throws InvalidArgument.
  void set_wrenches(std::span<const AppliedWrench> wrenches);
  /// Writes state and stepper, or reads them into a simulation of the same world and options, which then goes on bit for bit.
  template <class Archive>
  void carry(Archive& archive) {
    archive(state_.q, state_.v, state_.time, steps_);
    stepper_.carry(archive);
    if constexpr (Archive::kReads) prepared_ = false;
  }
  /// One step under tau (nv). One that is refused leaves the state as it was.
  StepReport step(const Eigen::Ref<const Eigen::VectorXd>& tau);
  /// Steps until the duration is over, a step is refused, or `until` says so. Throws InvalidArgument on a duration of no or more than 1e9
  /// steps' length, and what controls and observers throw.
  RunSummary run(const RunOptions& options);

 private:
  Stepper stepper_;
  State state_, before_;
  Eigen::VectorXd tau_;
  long steps_ = 0;
  bool prepared_ = false;
};

}  // namespace stiction
