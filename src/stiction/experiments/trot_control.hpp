// The trot's controller side: plan, feedback, stabiliser, and torques by PID or inverse dynamics [ZD15, section 6.2, Figs. 5-7].
//
//   feedback   τ_fb = joint PID + J_footᵀ (foot PID) + stabiliser         (2014: added to the torques of inverse dynamics)
//              a_ref = a_des + kp (q_des - q) + kd (v_des - v) + stabiliser         (otherwise)
//   inverse    v⁺[joints] = v + h a_ref over the look-ahead h, |τ| <= limit as rows of the program
// Where the feedback is torques, -h τ_fb enters the known impulse, so that the rows limit the sum. A solve that fails is tried again
// from a cold start; if it fails again, this period's torques are those of the PID, and it is counted.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "stiction/control/joint_control.hpp"
#include "stiction/control/operational_space.hpp"
#include "stiction/control/stabilizer.hpp"
#include "stiction/experiments/trot.hpp"
#include "stiction/forward/step.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"
#include "stiction/plan/trot_planner.hpp"

namespace stiction {

inline constexpr int kTrotLegs = 4, kTrotJoints = 12;
inline constexpr double kTrotFootRadius = 0.01, kTrotSettle = 0.2;  ///< m; s, before which all feet stand
inline constexpr std::array<const char*, kTrotLegs> kTrotFeet{"LF_foot", "RF_foot", "LH_foot", "RH_foot"};

inline Eigen::Quaterniond base_rotation(const State& state) { return {state.q[6], state.q[3], state.q[4], state.q[5]}; }

/// What the controller knows of the state.
struct TrotObservation {
  const WorldData& data;
  const State& state;
  std::span<const ContactPoint> contacts;  ///< that the simulator sees
};

struct TrotCounts {
  long failures = 0;   ///< periods in which no inverse solve was certified: PID
  long cold = 0;       ///< periods in which only the cold start was
  long saturated = 0;  ///< periods solved with the limits as rows: the free torques are beyond them, or were not certified
  long repaired = 0;   ///< periods whose desired velocities contradicted the contacts [ZD15, section 3.5]
};

/// The published plan: gait of [ZD15, section 6.6], after kTrotSettle.
TrotOptions links_trot();

/// Links' controllers over one world. The world must outlive it.
class TrotControl {
 public:
  TrotControl(const World& world, const TrotRun& run, const TrotOptions& plan = links_trot());

  /// Torques (12) at time t (s) for a commanded base velocity.
  const Eigen::VectorXd& update(double t, const PlanarTwist& command, const PlanarTwist& measured, const TrotObservation& seen);
  /// Generalised contact forces (nv; N, N m) of the step just simulated, for the controllers that sense them.
  void sense(const Eigen::Ref<const Eigen::VectorXd>& force);

  const TrotPlanner& planner() const { return planner_; }
  const Eigen::VectorXd& q() const { return q_; }  ///< measured joints at the last update
  const Eigen::VectorXd& v() const { return v_; }
  const Eigen::VectorXd& torques() const { return tau_; }
  bool solved() const { return solved_; }                           ///< the last torques are those of inverse dynamics
  bool predicted() const { return predicted_; }                     ///< the last torques come with predicted forces
  const Eigen::Vector4d& normal_forces() const { return forces_; }  ///< predicted, per foot (N)
  const InverseSolution& inverse() const { return inverse_; }       ///< of the last period
  double microseconds() const { return microseconds_; }             ///< of its solves
  const TrotCounts& counts() const { return counts_; }
  std::span<const int> joints() const { return joints_; }           ///< velocity coordinates
  const std::array<int, kTrotLegs>& feet() const { return feet_; }  ///< bodies

 private:
  void track_feet(const TrotObservation& seen);
  void stabilise(const TrotObservation& seen, Eigen::Index stance);
  void feed_back(const TrotObservation& seen);
  void find_contacts(const TrotObservation& seen);
  void make_problem(const TrotObservation& seen);
  void set_friction();
  bool solve(ContactProblem& problem, bool limited);
  bool solve_inverse();
  void read_forces();

  const World& world_;
  TrotController controller_;
  TrotSetup setup_;
  double mu_, softness_ = 0.0;
  Choice choice_;   ///< of what the law leaves open
  bool senses_mu_;  ///< friction is that of each contact
  std::vector<int> joints_;
  std::array<int, kTrotLegs> feet_{}, links_{};
  std::vector<double> limits_;
  TrotPlanner planner_;
  DesiredMotion desired_;
  // Feedback.
  JointControlOptions pid_options_, reference_options_;
  JointControlState pid_state_, reference_state_;
  JointReference reference_;
  PidGains foot_gains_;
  OperationalSpaceState foot_state_;
  VirtualForces virtual_forces_;
  Eigen::VectorXd foot_position_, foot_velocity_;
  Eigen::MatrixXd foot_jacobian_, stance_jacobian_;
  Eigen::Matrix3Xd stance_point_, stance_normal_;
  // Inverse dynamics.
  std::vector<ContactPoint> contacts_;
  ContactProblem problem_, soft_problem_;
  InverseOptions inverse_options_;
  InverseWorkspace workspace_;
  InverseSolution inverse_;
  std::optional<SensedForces> sensed_;
  Eigen::VectorXd q_, v_, tau_, limit_, pid_torque_, foot_torque_, acceleration_;
  Eigen::Vector4d forces_ = Eigen::Vector4d::Zero();
  bool predicted_ = false, solved_ = false;
  double microseconds_ = 0.0;
  TrotCounts counts_;
};

/// `soft` is the problem with one more coordinate for every contact row, of mass 1/compliance (kg): the kinetic energy that it takes up,
/// compliance |λ|²/2, is Tikhonov's term. It keeps contacts of infinite friction from pulling at each other over levers of rounding: feet
/// 1e-7 m out of one plane ask for tangential impulses of 1e4 N s.
void soften_contacts(const ContactProblem& problem, double compliance, ContactProblem& soft);

}  // namespace stiction
