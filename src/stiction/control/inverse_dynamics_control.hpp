// Inverse-dynamics control with error feedback in acceleration [ZD15, section 6.2, Figs. 5-7]:
//
//   a_ref = a_des + kp (q_des - q) + kv (v_des - v) + ki ∫(q_des - q) dt + a_extra       nj
//   v_ref = v + h a_ref                                         what inverse dynamics must reach over its look-ahead h
//   tau   = clamp(ID(v_ref))
// a_extra is the stabiliser's part. The inverse dynamics itself is a callback: predictive (ID(t_i): contact problem with
// prescribed joints) or from sensed contact forces (ID(t_{i-1}), ID(t_{i-2})): `SensedForces` keeps the delayed samples.
// Saturated joints stop integrating. No allocation after the first step.
#pragma once

#include <functional>
#include <vector>

#include "stiction/control/desired_motion.hpp"
#include "stiction/control/pid.hpp"
#include "stiction/problem/solution.hpp"

namespace stiction {

struct JointControlOptions {
  PidGains feedback;             ///< nj; for inverse dynamics in 1/s², 1/s, 1/s³; for joint PID in N m/rad, ...
  double dt = 0.001;             ///< control period (s): integration of the feedback
  double lookahead = 0.001;      ///< h of v_ref (s); 0.005 in the published runs
  Eigen::VectorXd torque_limit;  ///< nj (N m), infinity allowed; empty: unlimited
};
/// Throws InvalidArgument.
void validate(const JointControlOptions& options);

/// Memory of a joint controller, reused between periods.
struct JointControlState {
  PidState pid;
  Eigen::VectorXd error, error_rate;    ///< nj, desired - actual
  std::vector<signed char> saturation;  ///< nj, of the last torques
};

struct JointCommand {
  Eigen::VectorXd a_ref;                    ///< nj, desired acceleration with feedback (zero for joint PID)
  Eigen::VectorXd v_ref;                    ///< nj, velocity that inverse dynamics must reach
  Eigen::VectorXd tau;                      ///< nj, within limits (N m)
  int saturated = 0;                        ///< joints whose torque was cut
  Status status = Status::numerical_error;  ///< of the inverse dynamics; joint PID: solved
};

/// a_ref and v_ref of the file comment. `a_extra` is empty or nj. q, v: measured joints (nj).
void reference_acceleration(const JointControlOptions& options, const DesiredMotion& desired, const Eigen::Ref<const Eigen::VectorXd>& q,
                            const Eigen::Ref<const Eigen::VectorXd>& v, const Eigen::Ref<const Eigen::VectorXd>& a_extra,
                            JointControlState& state, JointCommand& command);

/// Torques (nj) that reach v_ref (nj) over the look-ahead; the status of the solve comes back.
using InverseDynamics = std::function<Status(const Eigen::Ref<const Eigen::VectorXd>& v_ref, Eigen::Ref<Eigen::VectorXd> tau)>;

/// One period of inverse-dynamics control. A callback that returns a torque that is not finite gives Status::numerical_error
/// and zero torques.
void inverse_dynamics_control(const JointControlOptions& options, const DesiredMotion& desired, const Eigen::Ref<const Eigen::VectorXd>& q,
                              const Eigen::Ref<const Eigen::VectorXd>& v, const Eigen::Ref<const Eigen::VectorXd>& a_extra,
                              const InverseDynamics& inverse, JointControlState& state, JointCommand& command);

/// One period of joint PID: tau = clamp(pid + tau_extra); `tau_extra` (empty or nj) takes the foot PID's and the
/// stabiliser's torques. The "PID" controller of [ZD15] is this with both.
void joint_pid_control(const JointControlOptions& options, const DesiredMotion& desired, const Eigen::Ref<const Eigen::VectorXd>& q,
                       const Eigen::Ref<const Eigen::VectorXd>& v, const Eigen::Ref<const Eigen::VectorXd>& tau_extra,
                       JointControlState& state, JointCommand& command);

/// Sensed generalised contact forces, delivered `delay` samples late: delay 1 is ID(t_{i-1}), 2 is ID(t_{i-2}).
class SensedForces {
 public:
  /// nv zeros until `delay` samples have come; delay >= 1. Throws InvalidArgument.
  SensedForces(Eigen::Index size, int delay);
  /// Takes the generalised contact force Jᵀf (nv) that acted over the step just simulated.
  void push(const Eigen::Ref<const Eigen::VectorXd>& force);
  /// The force pushed `delay` pushes ago, counting the newest as 1.
  const Eigen::VectorXd& delayed() const { return samples_[static_cast<std::size_t>(next_)]; }

 private:
  std::vector<Eigen::VectorXd> samples_;
  int next_ = 0;
};

}  // namespace stiction
