// The planner of [ZD15, section 6.1] (Fig. 4): commanded planar base velocity in, desired motion of feet and joints out.
//
// Per leg and update:
//   stance  the foot stays on the ground: ẋ = -(v + ω × x), integrated exactly over the time since the last update; the
//           centre of a foot that rolls moves over the ground by ω_foot × r ẑ besides (foot_radius)
//   swing   a velocity-clamped cubic spline from lift-off to the foothold (swing.hpp), replanned when the foothold moves
//   joints  inverse kinematics of the foot, then J q̇ = ẋ, J q̈ = ẍ - J̇ q̇ (inverse_kinematics.hpp)
// Foothold, after Raibert: the foot lands half of the coming stance ahead of its nominal place, so that it passes the nominal
// place at mid-stance:
//   x_td = flow(x_nom, command, -T_stance/2) + k_r (v_measured - v_command)
// Feet are planned in the base frame ("local frame of the robot"), with z along the base's own z axis. The legs stand still
// until `start_time`. Works for any number of legs; nothing allocates after construction.
#pragma once

#include <vector>

#include "stiction/control/desired_motion.hpp"
#include "stiction/plan/gait.hpp"
#include "stiction/plan/inverse_kinematics.hpp"
#include "stiction/plan/planar.hpp"
#include "stiction/plan/swing.hpp"

namespace stiction {

struct TrotOptions {
  GaitParameters gait = published_trot();
  Eigen::Matrix3Xd nominal_feet;  ///< 3 x legs, foot places in the base frame at mid-stance (m)
  double start_time = 0.0;        ///< s; before it all feet stand
  /// r (m) of spherical feet that roll while they stand; nominal feet and the legs' kinematics are of their centres. 0 moves the centres
  /// as if they were fixed to the ground, as [ZD15] does, so that the surface slides by r times the angle that the leg turns by. r is no
  /// more than a foot may get from its nominal place in any direction, the step's height no more than it gets straight above it.
  double foot_radius = 0.0;
  double feedback = 0.0;  ///< k_r >= 0 (s), Raibert's velocity feedback within reach; 0 plans from the command alone
  InverseKinematicsOptions kinematics;
};

/// Nominal feet of the links quadruped: (±0.12, ±0.10, -0.14) for LF, RF, LH, RH, 3 x 4.
Eigen::Matrix3Xd links_nominal_feet();

/// Where a foot should land for a command and a coming stance of `stance` seconds (base frame).
Eigen::Vector3d foothold(const Eigen::Vector3d& nominal, const PlanarTwist& command, double stance);

/// The plan at one instant.
struct TrotPlan {
  DesiredMotion joints;                     ///< nj actuated joints
  Eigen::Matrix3Xd foot_position;           ///< 3 x legs, base frame (m)
  Eigen::Matrix3Xd foot_velocity;           ///< m/s
  Eigen::Matrix3Xd foot_acceleration;       ///< m/s²
  std::vector<char> stance;                 ///< legs, 1 in stance
  Status status = Status::numerical_error;  ///< worst inverse kinematics: solved when every foot reaches its place
  double distance = 0.0;                    ///< largest distance that inverse kinematics left (m)
};

class TrotPlanner {
 public:
  /// Legs in the order of gait and nominal feet; `joints` is the number nj of actuated joints, `q_start` (nj) starts the
  /// inverse kinematics and picks its branch. Throws InvalidArgument, also when a nominal foot place is out of reach.
  TrotPlanner(std::vector<Leg> legs, TrotOptions options, const Eigen::Ref<const Eigen::VectorXd>& q_start);

  /// Plan at time t (s, not before the last one, at most 1000 periods after it or the start) for a command, which moves the ground under no
  /// foot by more than its reach to both sides within a stance: no foothold is good for that. A foot of duty 1 stands for good. `measured`
  /// feeds Raibert's correction (ignored when options.feedback is 0), which is cut, for a controller does not stop, to where the leg gets
  /// at touchdown and at lift-off with a step's height to spare, and left out where the command alone asks for more. The returned reference
  /// stays valid until the next call.
  const TrotPlan& update(double t, const PlanarTwist& command, const PlanarTwist& measured = {});
  /// All feet at their nominal places, clock at t.
  void reset(double t = 0.0);
  /// Joint positions (nj) with all feet at their nominal places: put the robot here to start.
  const Eigen::VectorXd& standing_posture() const { return standing_; }
  const TrotPlan& plan() const { return plan_; }
  const std::vector<Leg>& legs() const { return legs_; }
  /// Per leg, how far its foot gets from its nominal place over the ground, in the best of sixteen directions (m).
  const std::vector<double>& reach() const { return reach_; }
  const TrotOptions& options() const { return options_; }

  /// What `update` goes on from: a planner made alike, after it has read the bytes (base/archive.hpp), plans on as the one that wrote them.
  template <class Archive>
  void carry(Archive& archive) {
    archive(time_);
    for (LegPlan& leg : state_) {
      const Eigen::Index joints = leg.q.size();
      archive(leg.swinging, leg.time, leg.swing_start, leg.q);
      if (leg.q.size() != joints) throw InvalidArgument("bytes", "those of legs with as many joints", "others");
      stiction::carry(archive, leg.foot);
      leg.swing.carry(archive);
    }
  }

 private:
  struct LegPlan {
    bool swinging = false;
    double time = 0.0;         ///< of `foot`
    double swing_start = 0.0;  ///< lift-off of `swing` before any replanning
    FootState foot;
    SwingCurve swing;
    LegVector q;
  };
  void require_footholds(const PlanarTwist& command) const;
  void update_foot(std::size_t leg, const PlanarTwist& command, const PlanarTwist& measured);
  bool start_swing(std::size_t leg, const PlanarTwist& command, const PlanarTwist& measured);
  void replan_swing(std::size_t leg, const PlanarTwist& command, const PlanarTwist& measured);
  bool stands(std::size_t leg, const Eigen::Vector3d& place, const PlanarTwist& command) const;
  Eigen::Vector2d correction(std::size_t leg, const Eigen::Vector3d& place, const PlanarTwist& command, const PlanarTwist& measured) const;
  FootState touchdown_state(std::size_t leg, const PlanarTwist& command, const PlanarTwist& measured) const;
  FootState standing(std::size_t leg, const Eigen::Vector3d& centre, const LegVector& q, const PlanarTwist& command) const;
  void stand_until(std::size_t leg, double time, const PlanarTwist& command);
  void solve_joints(std::size_t leg);
  LegVector reached(const InverseKinematicsSolution& solution);

  std::vector<Leg> legs_;
  TrotOptions options_;
  std::vector<double> reach_;
  std::vector<LegPlan> state_;
  TrotPlan plan_;
  Eigen::VectorXd standing_;
  double time_ = 0.0;
};

}  // namespace stiction
