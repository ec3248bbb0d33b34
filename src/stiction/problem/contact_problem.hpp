// The contact problem of one step: find v⁺, contact impulses λ and bilateral impulses λ_B with
//
//   M v⁺ = M v + p + E_Pᵀ λ_P + J_Bᵀ λ_B + Jᵀ λ                           momentum over the step [ZD15, Eq. 31]
//   v⁺[prescribed] = v_prescribed,  λ_P free                              inverse-dynamics rows [ZD15, Eq. 32]
//   J_B v⁺ + R λ_B - b = w,  λ_B ∈ [lo, hi]:  w = 0 inside, w >= 0 at lo, w <= 0 at hi
//   law(λ_i ; J_i v⁺, μ_i, ε_i, φ_i)                                       per contact point i
//
// Forward and inverse dynamics, joint limits, dry joint friction, motors and torque limits differ only in the rows put in.
// Contact rows come in threes, N S T, in the contact frame C: x the normal from body B to body A, y and z the tangents; λ_i
// acts on A. Units: SI; generalised impulses in N s (N m s on rotations).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "stiction/base/blocks.hpp"
#include "stiction/base/grow.hpp"
#include "stiction/problem/contact_law.hpp"

namespace stiction {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What a row of J_b stands for. Solvers read its bounds alone; who has other uses for a row asks what it is.
enum class RowKind : char {
  equality,  ///< closed loop, coupled joints
  limit,     ///< end of a joint's range; with a bounded impulse, what brings a joint back that is past it
  friction,  ///< dry friction of a joint
  motor,     ///< drive or torque-limited joint
};
inline constexpr std::array kRowKinds{RowKind::equality, RowKind::limit, RowKind::friction, RowKind::motor};
std::string_view to_string(RowKind kind);
std::optional<RowKind> find_row_kind(std::string_view name);
/// Throws InvalidArgument that lists the names known.
RowKind row_kind_from_string(std::string_view name);

struct ProblemView;

/// Data of one step with n contacts, nv velocities and m bilateral or bounded rows.
struct ContactProblem {
  double dt = 0.0;                        ///< step length h (s), > 0
  BlockDiagonal M;                        ///< nv x nv inertia, symmetric positive definite blocks (kg, kg m, kg m²)
  GrowVector v;                           ///< nv, velocity before the step (m/s, rad/s)
  GrowVector impulse;                     ///< nv, known generalised impulse p of the step (N s): gravity, bias, applied torques
  BlockRows J;                            ///< 3n x nv contact Jacobian, rows N S T per contact; column blocks as M's
  GrowVector mu;                          ///< n, friction coefficients, >= 0, infinity allowed
  GrowVector restitution;                 ///< n, Newton restitution, in [0, 1]
  GrowVector gap;                         ///< n, signed distance φ (m), negative when penetrating
  std::vector<Law> laws;                  ///< n, each contact's own law; empty: all follow the law of SolveOptions
  std::vector<ContactMaterial> material;  ///< n, parameters of the laws that have any; empty: all default
  std::vector<int> prescribed;            ///< velocity coordinates that must reach v_prescribed (inverse dynamics)
  GrowVector v_prescribed;                ///< one per entry of prescribed (m/s, rad/s)
  BlockRows J_b;                          ///< m x nv further bilateral and bounded rows; column blocks as M's
  GrowVector b;                           ///< m, target velocities (m/s, rad/s)
  GrowVector lo, hi;                      ///< m, bounds of the rows' impulses (N s); (-inf, inf) is bilateral
  GrowVector row_compliance;              ///< m, R >= 0 ((m/s)/(N s)), 0 where a bound is infinite; empty: all zero
  std::vector<RowKind> row_kinds;         ///< m; empty: as the bounds suggest, see row_kind
  std::vector<std::uint64_t> ids;         ///< n, name of each contact, the same from step to step; empty: known by position
  std::vector<std::uint64_t> row_ids;     ///< m, the same of the rows of J_b, names of their own

  int contacts() const { return J.groups(); }
  int velocities() const { return M.size(); }
  int bounded_rows() const { return J_b.groups(); }
  operator ProblemView() const;  // NOLINT(google-explicit-constructor): what reads a problem takes either
};

/// Prescribed coordinates and rows of a problem, as ContactProblem has them.
struct ProblemRows {
  std::vector<int> prescribed;
  GrowVector v_prescribed;
  BlockRows J_b;
  GrowVector b, lo, hi, row_compliance;
  std::vector<RowKind> row_kinds;
  std::vector<std::uint64_t> row_ids;
};

/// A contact problem to be read, member by member as above, each of which may come from elsewhere: rows appended (inverse dynamics),
/// another velocity. Refers to what it was made of, which has to outlive it.
struct ProblemView {
  double dt;
  const BlockDiagonal& M;
  const GrowVector &v, &impulse;
  const BlockRows& J;
  const GrowVector &mu, &restitution, &gap;
  const std::vector<Law>& laws;
  const std::vector<ContactMaterial>& material;
  const std::vector<int>& prescribed;
  const GrowVector& v_prescribed;
  const BlockRows& J_b;
  const GrowVector &b, &lo, &hi, &row_compliance;
  const std::vector<RowKind>& row_kinds;
  const std::vector<std::uint64_t>&ids, &row_ids;

  int contacts() const { return J.groups(); }
  int velocities() const { return M.size(); }
  int bounded_rows() const { return J_b.groups(); }
  /// The same step from another velocity and under another impulse; of another inertia, too.
  ProblemView with_momentum(const GrowVector& other_v, const GrowVector& other_impulse) const {
    return with_momentum(M, other_v, other_impulse);
  }
  ProblemView with_momentum(const BlockDiagonal& other_M, const GrowVector& other_v, const GrowVector& other_impulse) const {
    return {dt, other_M, other_v, other_impulse,  J,         mu,  restitution, gap, laws, material, prescribed, v_prescribed, J_b,
            b,  lo,      hi,      row_compliance, row_kinds, ids, row_ids};
  }
  /// The same step with these rows in place of its own.
  ProblemView with_rows(const ProblemRows& r) const {
    return {dt,  M,    v,    impulse,          J,           mu,  restitution, gap, laws, material, r.prescribed, r.v_prescribed, r.J_b,
            r.b, r.lo, r.hi, r.row_compliance, r.row_kinds, ids, r.row_ids};
  }
};

inline ContactProblem::operator ProblemView() const {
  return {dt, M,  v,  impulse,        J,         mu,  restitution, gap, laws, material, prescribed, v_prescribed, J_b,
          b,  lo, hi, row_compliance, row_kinds, ids, row_ids};
}

/// R of row j.
inline double compliance(const ProblemView& problem, int j) { return problem.row_compliance.size() > 0 ? problem.row_compliance[j] : 0.0; }

/// Both bounds of row j are infinite.
bool is_bilateral(const ProblemView& problem, int j);
/// Both bounds are finite: such a row limits forces and forbids no motion.
bool is_two_sided(const ProblemView& problem, int j);

/// Kind of row j. Without row_kinds: equality when both bounds are infinite, limit when one is, motor when none is.
RowKind row_kind(const ProblemView& problem, int j);

/// A problem from dense data: M nv x nv, v nv, J 3n x nv, mu n, dt (s); restitution, gap and impulse zero, no further rows. Validates;
/// throws InvalidArgument.
ContactProblem make_contact_problem(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& v,
                                    const Eigen::Ref<const Eigen::MatrixXd>& J, const Eigen::Ref<const Eigen::VectorXd>& mu, double dt);

/// Sizes, finiteness, M positive definite, mu >= 0, restitution in [0, 1], materials, lo <= hi, names without repetition. Throws
/// InvalidArgument naming the member.
void validate(const ProblemView& problem);

/// `size` names or none, all different. Throws InvalidArgument naming `argument` and the entry.
void validate_ids(std::string_view argument, std::span<const std::uint64_t> ids, Eigen::Index size);

/// Bounds and names of this many rows. Throws InvalidArgument naming the member.
void validate_row_bounds(const GrowVector& lo, const GrowVector& hi, std::span<const std::uint64_t> row_ids, Eigen::Index size);

/// Normal velocity offset c (m/s) of every contact: the law demands 0 <= λ_N ⊥ N v⁺ + c >= 0.
///   c = φ/h     φ > rest_gap(h): an open gap may close within the step, no further
///   c = ε N v   when ε > 0 and the gap would close within the step at the approach velocity N v < 0 (impact)
/// All others get c = 0. Penetration is corrected by the stepper, so no energy enters here. Gaps below rest_gap count as zero, so that a
/// face at rest bears on all its points and not on those that rounding picks. c depends on v, φ, ε and h alone, so forward and inverse
/// dynamics of one state see the same one.
void normal_offset(const ProblemView& problem, GrowVector& offset);

/// The largest speed (m/s) that offsets push contacts apart with; 0 where none does. A gap that is open asks for no motion, and counts in
/// no scale of velocities: 1 km beside a resting box would let it fall.
double largest_push(const Eigen::Ref<const Eigen::VectorXd>& offset);

/// Gap (m) that no step of length dt (s) closes: 0.1 µm, and in short steps a hundredth of what gravity would, so that closing it makes no
/// pulse of force.
double rest_gap(double dt);

/// Gap (m) below which a contact counts as touching.
inline constexpr double kTouchGap = 1e-6;

/// Whether a gap (m) closes within the step at the normal velocity (m/s) before it: φ + h min(N v, 0) <= kTouchGap.
inline bool closes(double gap, double dt, double velocity) { return gap + dt * std::min(velocity, 0.0) <= kTouchGap; }

/// n flags: the contact closes within the step, or it touched one step ago, φ - h N v <= kTouchGap, and rises no faster than a fall takes
/// back within the step: a foot over which a leg vaults opens by r ω² h²/2 in every step and is pressed back by the next. Laws without
/// complementarity between friction and gap (no-slip, the convex relaxations, the kinetic-energy QP) put friction on closed contacts only,
/// so a foot above the ground moves freely. Depends on v, φ and h alone, as normal_offset does, so that forward and inverse dynamics agree.
void find_closed(const ProblemView& problem, std::vector<char>& closed);

/// n angles (rad) by which laws with aligned edges turn each contact's polygon from its first tangent: a vertex, the direction of friction,
/// opposes the slip before the step. 0 where that is slower than kSlipSpeed. Depends on v alone, so forward and inverse agree.
void edge_angles(const ProblemView& problem, GrowVector& angles);
inline constexpr double kSlipSpeed = 1e-9;  ///< m/s

}  // namespace stiction
