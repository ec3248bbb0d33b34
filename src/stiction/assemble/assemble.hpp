// From a world and the contact points of its scene to the contact problem of one step.
//
//   M = M(q) + h (θ D + s h K),  p = h (tau - bias(q, v) - (D + s h K) v)  damping D at v + θ (v⁺ - v), springs K s h v⁺ from q: by
//                                                                      default at the end of the step, stable at any h
//   J rows R_WCᵀ (J_A - J_B) per contact point                 add_contact_rows of model/dynamics.hpp
//   bilateral rows of loops, welds and coupled joints        equality_rows.hpp
//   bounded rows per joint, cut ones too: position limits within reach (λ >= 0, b = -distance/h), dry friction (|λ| <= h τ_f, b = 0),
//                            drives (joint_drives.hpp; of them servos without limits go into M and p),
//                            return from beyond a limit at 1 rad/s or m/s (0 <= λ <= M_jj 1 rad/s and what drives press outward;
//                            a Stepper adds what the limit would have to hold instead)
// Reads only `update`d data. No allocation once the sizes have been seen.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stiction/drive/joint_drives.hpp"
#include "stiction/geometry/collision_scene.hpp"
#include "stiction/model/dynamics.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

inline constexpr int kAnyBody = -2;

/// What two bodies (-1: the world) say of their contacts, in either order, in place of what their shapes and the options say. body_b
/// kAnyBody: of body_a with whatever it touches.
struct PairMaterial {
  int body_a = -1, body_b = -1;
  std::optional<double> mu;           ///< >= 0, infinity allowed
  std::optional<double> restitution;  ///< in [0, 1]
  std::optional<Law> law;
  std::optional<ContactMaterial> material;

  /// Whether contacts of bodies a and b are of the pair.
  bool fits(int a, int b) const {
    const auto in_order = [&](int x, int y) { return body_a == x && (body_b == y || body_b == kAnyBody); };
    return in_order(a, b) || in_order(b, a);
  }
};

struct AssembleOptions {
  double dt = 1e-3;                         ///< s
  bool joint_limits = true;                 ///< position limits as unilateral rows, and returns from beyond them
  bool dry_friction = true;                 ///< dry friction of the file as boxed rows
  std::optional<double> friction;           ///< of every contact (>= 0, infinity allowed), whatever its shapes and pair say
  std::optional<ContactMaterial> material;  ///< of every contact; absent: the problem has none
  std::vector<PairMaterial> pairs;          ///< exceptions by pair of bodies; of each member the last that fits counts
  Law law = Law::coulomb_cone;              ///< where a pair names a law: that of all other contacts; in a Stepper contact.law
  double limit_reach = 0.05;                ///< limits nearer than this plus 2 h |v| (rad or m) get a row
  Drives drives;                            ///< of joints; in a Stepper those of set_drives
  double spring_ahead = 1.0;                ///< s: joint springs are taken this many h v⁺ from q; in a Stepper its scheme's
  double damping_share = 1.0;               ///< θ: joint damping is taken at v + θ (v⁺ - v); in a Stepper its scheme's
  double loop_recovery = 1.0;               ///< γ in [0, 1]: share of a loop's error undone per step (equality_rows.hpp)
};

/// Throws InvalidArgument on numbers out of range and on bodies that the world does not have. Drives: validate of joint_drives.hpp.
void validate(const World& world, const AssembleOptions& options);

/// Every geometry of the world's bodies. `friction` is used where the file names none; `restitution` has one value per body, or is
/// empty for zero. Who may collide is as the world says, less the links that overlap by design (overlap_filter.hpp), which are named in
/// the scene's `warnings`.
CollisionScene make_scene(const World& world, double friction, std::span<const double> restitution = {});

/// The options are valid. Fills `problem` at (q, v) for the generalised forces `tau` (nv; N, N m) applied over the step. `data` is updated
/// at (q, v); contacts carry world positions. prescribed rows are left empty.
void assemble(const World& world, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& q,
              const Eigen::Ref<const Eigen::VectorXd>& v, const Eigen::Ref<const Eigen::VectorXd>& tau,
              std::span<const ContactPoint> contacts, const AssembleOptions& options, ContactProblem& problem);

/// Only the known impulse p for other forces tau (nv) at the same state: what changes once a controller has chosen its torques.
void assemble_impulse(const World& world, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& q,
                      const Eigen::Ref<const Eigen::VectorXd>& v, const Eigen::Ref<const Eigen::VectorXd>& tau,
                      const AssembleOptions& options, ContactProblem& problem);

/// Names of the rows of a joint: the end of its range on the side where `sign` q grows from, and its dry friction.
std::uint64_t limit_row_id(std::size_t joint, double sign);
std::uint64_t friction_row_id(std::size_t joint);

}  // namespace stiction
