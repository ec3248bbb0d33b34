// Drives of joints: what holds a joint at a velocity or a position, as part of the step's contact problem, so that motors, contacts and
// limits are settled at once.
//
//   velocity drive   v⁺ - v_d = w,  λ in [h τ_least, h τ_most]: λ inside where w = 0, at the upper bound where w < 0, at the lower where
//                    w > 0. One row of J_b; with infinite bounds a bilateral row: inverse dynamics as a constraint [ZD-EF, Eqs. 2-4].
//   with a no-load   |τ + τ_most v⁺/v_0| <= τ_most: the torque-speed line of a motor at bounded voltage, at the end of the step. Its
//   speed v_0        slope is a damper, M += h τ_most/v_0, p -= h v τ_most/v_0; the row's bounds stay ±h τ_most.
//   servo            τ = k_p (q_d - q - s h v⁺) + k_d (v_d - v⁺), taken at the end of the step as springs and dampers of joints are
//                    (assemble.hpp), so that no gain is too stiff for the step: with D = k_d + s h k_p
//                    M += h D, p += h (k_p (q_d - q) + k_d v_d - D v). Schemes that take damping at v + θ (v⁺ - v) have θ k_d in M.
//   with a limit     τ = clamp(that, -τ_most, τ_most), exact at v⁺ too: a row v⁺ + λ/(h D) - (k_p (q_d - q) + k_d v_d)/D = w with λ in
//                    ±h τ_most. A Stepper first looks for the sides at which servos are cut, with those within their limits as above
//                    and the others as torques: the same answer without rows.
//   velocity row     Σ c_i v_i⁺ - v_d = w, λ in [h least, h most]: belts, gears, differentials, motions that are asked for, without an
//                    error in position to undo. Joint i feels c_i λ.
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
  double no_load = kInfinity;                   ///< v_0 > 0, rad/s or m/s; where it is finite -least = most is
};

struct Servo {
  int v = 0;                              ///< as above
  double position = 0.0, velocity = 0.0;  ///< rad and rad/s, or m and m/s
  double kp = 0.0, kd = 0.0;              ///< N m/rad and N m s/rad, or N/m and N s/m; >= 0
  double limit = kInfinity;               ///< N m or N, > 0
};

struct VelocityRow {
  struct Term {
    int v = 0;  ///< as above
    double factor = 1.0;
  };
  std::vector<Term> terms;                      ///< one or more, of different coordinates
  double velocity = 0.0;                        ///< v_d
  double least = -kInfinity, most = kInfinity;  ///< least <= 0 <= most, in the unit of a force that has λ's power
};

/// A joint has at most one velocity drive, and at most one servo with a limit.
struct Drives {
  std::vector<VelocityDrive> velocity;
  std::vector<Servo> servos;
  std::vector<VelocityRow> rows = {};
};

/// Whether any of what velocity drives without no-load speeds cannot express is asked for.
bool has_more_than_velocities(const Drives& drives);

/// Throws InvalidArgument on coordinates that are not of a joint with one, two velocity drives of one joint, numbers out of range.
void validate(const World& world, const Drives& drives);

/// The joint whose first coordinate in v is this one; null where there is none.
const Joint* joint_at(const World& world, int v);

/// The D of servos without limits, and the slopes of torque-speed lines, into the M of a problem whose rows and sizes are the world's;
/// `ahead` is s, `share` θ.
void add_drive_inertia(const World& world, const Drives& drives, double ahead, double share, ContactProblem& problem);
/// Their part of the known impulse.
void add_drive_impulse(const World& world, const Drives& drives, const Eigen::Ref<const Eigen::VectorXd>& q,
                       const Eigen::Ref<const Eigen::VectorXd>& v, double ahead, ContactProblem& problem);

/// Most rows of J_b that the drives have.
Eigen::Index most_drive_rows(const Drives& drives);
/// Appends them from index m on to J_b, b, lo, hi and, where there is any, row_compliance, which have room for them, row_ids and row_kinds.
void add_drive_rows(const World& world, const Drives& drives, const Eigen::Ref<const Eigen::VectorXd>& q, double ahead,
                    ContactProblem& problem, Eigen::Index& m);
/// Whether any of them has a compliance.
bool has_compliance(const Drives& drives);

/// Name of the row of the velocity drive of a coordinate, and of the k-th velocity row.
std::uint64_t drive_row_id(int v);
std::uint64_t velocity_row_id(std::size_t k);

/// The largest torque (N m or N) of a joint's motor by its file; infinite where that says 0 or nothing.
double motor_limit(const Joint& joint);

/// Torque (N m or N) of a servo at the end of a step that started at q and led to v_plus, without its limit.
double free_torque(const World& world, const Servo& servo, const Eigen::Ref<const Eigen::VectorXd>& q,
                   const Eigen::Ref<const Eigen::VectorXd>& v_plus, double h, double ahead);
/// Torques (nv; N m or N) of the drives on the joints in a step that started at q and led to v_plus: means over it, of servos those at its
/// end; of velocity rows c_i λ / h. Problem and bounded impulses (m) are those of its solution.
void drive_torques(const World& world, const Drives& drives, const Eigen::Ref<const Eigen::VectorXd>& q,
                   const Eigen::Ref<const Eigen::VectorXd>& v_plus, double ahead, const ContactProblem& problem,
                   const Eigen::Ref<const Eigen::VectorXd>& bounded_impulses, Eigen::VectorXd& tau);

}  // namespace stiction
