// Bilateral rows of what a file demands beyond its tree (closed loops, welds, coupled joints): J_B v⁺ = b, impulses without bounds.
//
//   connect  J = J_A(p) - J_B(p), p = (p_A + p_B)/2, e = p_A - p_B                3 rows, world axes; ė = J v + (ω_A + ω_B)/2 x e
//   weld     the same and ω_A - ω_B, e_R = log(R_A R_Bᵀ)                          6 rows
//   hinge    those of connect and what of ω_A - ω_B is across the axis             5 rows, the joint that a robot is cut at [G14]
//   slide    those of weld but the motion along the axis                           5 rows
//   joint    J = ∂e/∂q, e = q_a - r_a - P(q_b - r_b)                              1 row
// Drift: b = -γ e/h. With γ = 1 the error as the step begins is gone, to first order, as it ends: one Newton step of SHAKE, second order in
// energy. Less is Baumgarte's stabilisation, which keeps an error of h² v²/(γ r) alive; none is [G14, Eq. 7], whose loops drift. What was
// open before a step closes at 1 m/s, not at once.
#pragma once

#include "stiction/model/dynamics.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

/// Speed at which loops that start open are closed, and joints that start beyond their limits return (m/s or rad/s).
inline constexpr double kClosing = 1.0;

/// Number of rows of one equality, and of all that `add_equality_rows` appends.
int count_rows(EqualityKind kind);
/// Of these the first, which hold a point, or one on an axis; the others hold turns.
int count_shifts(EqualityKind kind);
int count_equality_rows(const World& world);

/// Appends the rows from index m on to J_b, b, lo, hi, which have room for them. `data` is updated at (q, v). share: γ in [0, 1].
void add_equality_rows(const World& world, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& q,
                       const Eigen::Ref<const Eigen::VectorXd>& v, double share, ContactProblem& problem, Eigen::Index& m);
/// e of every row, whose rate is J v where it is small; `data` has the placements at q.
void equality_row_errors(const World& world, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& q,
                         Eigen::Ref<Eigen::VectorXd> errors);

}  // namespace stiction
