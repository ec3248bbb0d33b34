// Drives of joints: what holds a joint at a velocity or a position, as part of the step's contact problem, so that motors, contacts and
// limits are settled at once.
//
//   velocity drive   v⁺ - v_d = w,  λ in [h τ_least, h τ_most]: λ inside where w = 0, at the upper bound where w < 0, at the lower where
//                    w > 0. One row of J_b; with infinite bounds a bilateral row: inverse dynamics as a constraint [ZD-EF, Eqs. 2-4].
//   servo            τ = k_p (q_d - q - s h v⁺) + k_d (v_d - v⁺), taken at the end of the step as springs and dampers of joints are
//                    (assemble.hpp), so that no gain is too stiff for the step: M += h D, p += h (k_p (q_d - q) + k_d v_d - D v), D =
//                    k_d + s h k_p. It has no torque limit.
// q_d and v_d are those of the end of the step. Gears are a joint's own: armature n² I_r, damping and dry friction (JointSettings).
#pragma once

#include <cstdint>
#include <vector>

#include "stiction/model/world.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

struct VelocityDrive {
  int v = 0;                                    ///< coordinate of a joint with one
  double velocity = 0.0;                        ///< rad/s or m/s
  double least = -kInfinity, most = kInfinity;  ///< N m or N, least <= 0 <= most
};

struct Servo {
  int v = 0;                              ///< as above
  double position = 0.0, velocity = 0.0;  ///< rad and rad/s, or m and m/s
  double kp = 0.0, kd = 0.0;              ///< N m/rad and N m s/rad, or N/m and N s/m; >= 0
};

/// A joint has at most one velocity drive.
struct Drives {
  std::vector<VelocityDrive> velocity;
  std::vector<Servo> servos;
};

/// Throws InvalidArgument on coordinates that are not of a joint with one, two velocity drives of one joint, numbers out of range.
void validate(const World& world, const Drives& drives);

/// The joint whose first coordinate in v is this one; null where there is none.
const Joint* joint_at(const World& world, int v);

/// The servos' D into the M of a problem whose rows and sizes are the world's; `ahead` is s.
void add_servo_inertia(const World& world, const Drives& drives, double ahead, ContactProblem& problem);
/// Their part of the known impulse.
void add_servo_impulse(const World& world, const Drives& drives, const Eigen::Ref<const Eigen::VectorXd>& q,
                       const Eigen::Ref<const Eigen::VectorXd>& v, double ahead, ContactProblem& problem);

/// Name of the row of the velocity drive of a coordinate.
std::uint64_t drive_row_id(int v);

/// Torques of the velocity drives (N m or N), mean over a step; problem and bounded impulses (m) are those of its solution.
void velocity_drive_torques(const Drives& drives, const ContactProblem& problem, const Eigen::Ref<const Eigen::VectorXd>& bounded_impulses,
                            Eigen::VectorXd& out);
/// Torques of the servos at the end of a step that started at q and led to v_plus.
void servo_torques(const World& world, const Drives& drives, const Eigen::Ref<const Eigen::VectorXd>& q,
                   const Eigen::Ref<const Eigen::VectorXd>& v_plus, double h, double ahead, Eigen::VectorXd& out);

}  // namespace stiction
