// Small worlds for closed forms, and runs of them through the stepper: what several experiments build alike.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stiction/experiments/report.hpp"
#include "stiction/forward/step.hpp"

namespace stiction {

inline constexpr double kGravity = 9.81;  ///< m/s², the default of worlds
inline constexpr double kStill = 1e-9;    ///< m/s and rad/s, the tolerance of the solves: slower is at rest

/// Law, friction of every contact and step of a run.
struct RunSetting {
  Law law = Law::coulomb_cone;
  double h = 1e-3;                 ///< s
  std::optional<double> mu = 0.5;  ///< of every contact; absent: as the shapes say
  double restitution = 0.0;        ///< of every contact
  Solver solver = Solver::automatic;
  int edges = 4;
  bool align_edges = false;
  std::optional<ContactMaterial> material = {};
  Scheme scheme = Scheme::semi_implicit_euler;
  EventOptions events = {};
};

/// A world under way. Throws RunFailed, naming time and status, where a step is refused.
class Run {
 public:
  Run(const World& world, const RunSetting& setting);
  /// With step options that a RunSetting has no name for; friction is that of the shapes unless the options have one.
  Run(const World& world, const StepOptions& options, double restitution);

  void step() { step(Eigen::VectorXd::Zero(world().nv())); }
  void step(const Eigen::Ref<const Eigen::VectorXd>& tau);
  /// To the nearest step.
  void until(double time);

  const World& world() const { return stepper_.world(); }
  double h() const { return stepper_.options().assemble.dt; }
  /// Of the last step: its contact problem and impulses.
  const ContactProblem& problem() const { return stepper_.problem(); }
  const Solution& solution() const { return stepper_.solution(); }
  const Stepper& stepper() const { return stepper_; }
  /// Sum over contacts of the last step's normal force (N).
  double normal_force() const;
  /// Bodies of a world of free bodies, by their order of addition: velocity of the origin and angular velocity, world axes.
  Eigen::Vector3d position(int body) const { return state.q.segment<3>(7 * body); }
  Eigen::Matrix3d rotation(int body) const;
  Eigen::Vector3d velocity(int body) const { return rotation(body) * state.v.segment<3>(6 * body); }
  Eigen::Vector3d spin(int body) const { return rotation(body) * state.v.segment<3>(6 * body + 3); }
  void set_velocity(int body, const Eigen::Vector3d& linear, const Eigen::Vector3d& angular);
  /// Kinetic and potential (J).
  double energy() const;

  State state;

 private:
  Stepper stepper_;
};

StepOptions step_options(const RunSetting& setting);
Eigen::VectorXd vector(std::initializer_list<double> values);

/// A plane through `point` with this unit normal, and a friction of its own where one is given.
StaticBody plane(const std::string& name, const Eigen::Vector3d& normal, const Eigen::Vector3d& point = Eigen::Vector3d::Zero(),
                 std::optional<double> friction = {});
/// The quadruped models/links.urdf with its joints at `posture` (12, rad) and its feet, where that is their nominal stand, on a plane of
/// this friction.
World links_on_ground(const Eigen::Ref<const Eigen::VectorXd>& posture, double friction, Coordinates coordinates = Coordinates::minimal,
                      bool self_collision = true);
/// The middle of the last interval of repeated halving in which `holds` turns from false (at `low`) to true (at `high`), or the other way:
/// `low` is on the side that it has at `holds(low)`.
double threshold(double low, double high, const std::function<bool(double)>& holds);

/// A homogeneous solid.
FreeBody solid(const std::string& name, const Shape& shape, double mass, const Eigen::Vector3d& position,
               const Eigen::Matrix3d& rotation = Eigen::Matrix3d::Identity());
/// A plane z = 0 below one solid that may move freely.
World on_ground(const FreeBody& body);
/// Adds what stands between <mujoco> and </mujoco>.
void add_mjcf(WorldBuilder& builder, const std::string& content);

}  // namespace stiction
