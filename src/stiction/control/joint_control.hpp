// Error feedback in joint space [ZD15, section 6.2, Figs. 5-7], as torques or as the velocity that inverse dynamics must reach:
//
//   tau   = kp (q_des - q) + kd (v_des - v) + ki ∫(q_des - q) dt + tau_extra                 nj, the PID baseline
//   a_ref = a_des + kp (q_des - q) + kd (v_des - v) + ki ∫(q_des - q) dt + a_extra           nj
//   v_ref = v + h a_ref                                         what inverse dynamics must reach over its look-ahead h
// The extra parts are the foot PID's and the stabiliser's. The inverse dynamics itself is the caller's: predictive (ID(t_i): contact
// problem with prescribed joints) or from sensed contact forces (ID(t_{i-1}), ID(t_{i-2})): `SensedForces` keeps the delayed samples.
// No allocation after the first step.
#pragma once

#include <string_view>
#include <vector>

#include "stiction/control/desired_motion.hpp"
#include "stiction/control/pid.hpp"

namespace stiction {

struct JointControlOptions {
  PidGains feedback;         ///< nj; for inverse dynamics in 1/s², 1/s, 1/s³; for joint PID in N m/rad, ...
  double dt = 0.001;         ///< control period (s): integration of the feedback
  double lookahead = 0.001;  ///< h of v_ref (s)
};
/// Throws InvalidArgument.
void validate(const JointControlOptions& options);

/// Memory of a joint controller, reused between periods.
struct JointControlState {
  PidState pid;
  Eigen::VectorXd error, error_rate;    ///< nj, desired - actual
  std::vector<signed char> saturation;  ///< nj or empty, from `clamp_torques` of the last torques: these joints stop integrating
};

/// What the feedback asks of inverse dynamics.
struct JointReference {
  Eigen::VectorXd a;  ///< nj, a_ref
  Eigen::VectorXd v;  ///< nj, v_ref
};

/// Throws InvalidArgument naming the joint and the argument: sizes, and positions or velocities that are not finite or so far from the
/// measured ones that their difference is not.
void require_joints(std::string_view desired_name, const Eigen::Ref<const Eigen::VectorXd>& desired, std::string_view measured_name,
                    const Eigen::Ref<const Eigen::VectorXd>& measured, Eigen::Index size);

/// a_ref and v_ref of the file comment. `a_extra` is empty or nj. q, v: measured joints (nj). Throws InvalidArgument on sizes.
void joint_reference(const JointControlOptions& options, const DesiredMotion& desired, const Eigen::Ref<const Eigen::VectorXd>& q,
                     const Eigen::Ref<const Eigen::VectorXd>& v, const Eigen::Ref<const Eigen::VectorXd>& a_extra, JointControlState& state,
                     JointReference& reference);

/// tau (nj) of the file comment, without limits; `tau_extra` is empty or nj.
void joint_pid(const JointControlOptions& options, const DesiredMotion& desired, const Eigen::Ref<const Eigen::VectorXd>& q,
               const Eigen::Ref<const Eigen::VectorXd>& v, const Eigen::Ref<const Eigen::VectorXd>& tau_extra, JointControlState& state,
               Eigen::VectorXd& tau);

/// Sensed generalised contact forces, delivered `delay` samples late: delay 1 is ID(t_{i-1}), 2 is ID(t_{i-2}).
class SensedForces {
 public:
  /// nv zeros until `delay` samples have come; delay >= 1. Throws InvalidArgument.
  SensedForces(Eigen::Index size, int delay);
  /// Takes the generalised contact force Jᵀf (nv) that acted over the step just simulated.
  void push(const Eigen::Ref<const Eigen::VectorXd>& force);
  /// The force pushed `delay` pushes ago, counting the newest as 1.
  const Eigen::VectorXd& delayed() const { return samples_[next_]; }

 private:
  std::vector<Eigen::VectorXd> samples_;
  int next_ = 0;
};

}  // namespace stiction
