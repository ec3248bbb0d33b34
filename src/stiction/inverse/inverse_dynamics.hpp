// Inverse dynamics with contact: torques *and* contact impulses that bring the driven joints to desired velocities, under any law.
//
//   the contact problem of the step, plus   v⁺[joints] = v_desired, λ_P free, tau = λ_P / h            [ZD15, Eq. 32, section 3.5]
//   with torque limits                      v⁺[joints] - v_desired = w, |λ_P| <= h tau_max             bounded rows
// It is one simulation step with more rows, so forward and inverse share laws, solvers and certificate. Limits that are not reached change
// nothing, to the bit: the request is solved without them first, and where its torques are within them they are the answer. Else the joints
// that pass theirs become rows, until none does (of law max_dissipation all at once: prescribed joints leave its kinetic energy). Joints
// that saturate miss their velocity in the direction of the limit, and the certificate still holds: the closest motion in the sense of the
// law. Forces that the law leaves open are settled by `Choice`: as the solver leaves them (warm-started from the last call [ZD15, section
// 3.6]), or those of least |tau|² with the same motion, of contacts and rows (stage II [ZD15, section 5.1.4], stage_two.hpp; stage I's stay
// where the certificate refuses them), or by a rule of laws/choice.hpp. Desired velocities that the contacts refuse (feet that shall splay
// without slip [ZD15, section 3.5], a hand driven through a wall) are replaced by the closest that they can follow. A request that is
// missed, for this reason or because the torques are too weak, comes with a proof that it is infeasible where there is one
// (request_proof.hpp).
// Under torque limits, what tangents alone refuse is replaced first; what normals and end stops refuse is pressed against, as hard as the
// limits let.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "stiction/inverse/nearest_consistent.hpp"
#include "stiction/inverse/nearest_no_slip.hpp"
#include "stiction/inverse/request_proof.hpp"
#include "stiction/inverse/stage_two.hpp"
#include "stiction/laws/solve.hpp"

namespace stiction {

struct InverseOptions {
  SolveOptions contact;
  Choice choice = Choice::warm_start;  ///< warm_start leaves it to contact.choice; least_torque is refused beside finite torque limits
  bool repair_inconsistent = true;     ///< replace desired velocities that the contacts cannot follow [ZD15, Eqs. 40-45]
  bool prove_infeasible = false;       ///< search for a proof when the request is missed, of laws of one program; allocates
};

/// Whether the law reads LawModel::edges: those of its polygon, or of the one in its disc that least_torque starts from.
bool reads_edges(Law law, Choice choice);

/// What options of a solver are called that were given, by a program or in Python; empty: not given.
struct GivenSolverOptions {
  std::string_view alpha{}, max_sweeps{}, max_pivots{};
};
/// Throws InvalidArgument on one that the solver never reads: it was meant for another. `automatic` runs pivoting ones, lemke as a
/// fall-back too, but neither jor, sor nor pgs; least_torque pivots under any.
void refuse_idle(const SolverOptions& options, Choice choice, const GivenSolverOptions& given);

/// Memory of one way to ask: with the joints prescribed, or by rows with limits.
struct RequestWorkspace {
  SolveWorkspace solve;
  StageTwoWorkspace stage_two;
  ProblemRows rows;  ///< of the request: those of the problem and of the driven joints
  NearestConsistentWorkspace nearest;
  NearestNoSlipWorkspace nearest_no_slip;
  HeldRows held;        ///< tangents of a request that they refuse
  LawTerms dual_cones;  ///< Coulomb's, without De Saxcé's term
  GrowVector v_desired, farther, at_rest;
  GrowVector last;                     ///< solve.choice.last as the call found it
  StageTwoImpulses stage_one, chosen;  ///< impulses before stage II and of it
  RequestProofWorkspace proof;
  InfeasibilityRay asked;  ///< of the request before it was replaced; empty where none was found
};

struct InverseWorkspace : RequestWorkspace {
  std::optional<RequestWorkspace> limited;  ///< with rows of joints whose torque limits are reached
  std::vector<double> limits;               ///< of the joints with rows; infinite: prescribed
  GrowVector limited_request;               ///< the request that they answer
  std::vector<std::uint64_t> row_names;     ///< of the problem's rows, and of those that all joints would have
  GrowVector row_impulses;                  ///< the last answer's
};

/// Of the caller's problem: m impulses of its rows, and in prescribed_impulses those of all driven joints, h tau, limited or not. Without
/// torque limits `ray` is of the request as it was asked, replaced or not.
struct InverseSolution : Solution {
  GrowVector tau;          ///< one per joint (N or N m), mean over the step
  bool repaired = false;   ///< v_desired was replaced: contacts refuse it, or Coulomb's law has no answer; `v` has what is reached
  double shortfall = 0.0;  ///< largest |v⁺ - v_desired| over the joints (m/s, rad/s)
  RequestProof proof;      ///< proof that no impulses within the limits reach v_desired; empty when it is reached or no proof was found
};

/// Bilateral (tau_max empty) or torque-limited rows for `joints` (indices into v; any subset). `problem` is valid, without prescribed
/// rows, its impulse holds everything but the torques sought; several threads may read it, each with its own workspace. tau_max: N m per
/// joint, infinity allowed; all infinite: as if empty.
/// Throws InvalidArgument on indices out of range or repeated, sizes, values that are not finite, or a choice that the limits do not leave.
void inverse_dynamics(const ProblemView& problem, std::span<const int> joints, const Eigen::Ref<const Eigen::VectorXd>& v_desired,
                      std::span<const double> tau_max, const InverseOptions& options, InverseWorkspace& workspace,
                      InverseSolution& solution);

/// The same with its own workspace, of a problem that it validates; searches for a proof when the request is missed.
InverseSolution inverse_dynamics(const ProblemView& problem, std::span<const int> joints,
                                 const Eigen::Ref<const Eigen::VectorXd>& v_desired, std::span<const double> tau_max = {},
                                 const InverseOptions& options = {});

}  // namespace stiction
