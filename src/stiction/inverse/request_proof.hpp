// Proof that no impulses bring the driven joints to their desired velocities: a vector of Farkas, and its check.
//
// Every law asks of the step, with Λ_j = λ_b or λ_P the impulses of rows and joints:
//   v⁺ = v₀ + M⁻¹(Jᵀλ + J_bᵀλ_b + Eᵀλ_P),  v₀ = v + M⁻¹p      λ_i in the law's cone K_i,  lo <= λ_b <= hi,  |λ_P| <= h τ_max
//   N v⁺ + c >= 0,   [S; T] v⁺ = 0 (no_slip, closed contacts),   J_b v⁺ = b (bilateral), >= b or <= b (one-sided),   v⁺[joints] = v_des
// Multiply the demands by z (z >= 0 on inequalities, of any sign on equations) and add them up: with ξ = Jᵀz_c + J_bᵀz_b + Eᵀz_j and
// a = M⁻¹ξ the motion satisfies ξᵀv⁺ >= D = -z_Nᵀc + z_bᵀb + z_jᵀv_des, but whatever the impulses
//   ξᵀv⁺ <= ξᵀv₀ + Σ_i max over K_i of (J_i a)ᵀλ_i + Σ_j max over [lo, hi] of (J_b a)_j λ_j + Σ_j h τ_j |a_j|
// z proves the request infeasible when the right side is below D. Complementarity and maximal dissipation are left out: a request may
// be possible by these demands and still not under the law; then no z exists. laws/infeasibility.hpp proves the narrower case that no
// motion at all meets the demands on velocities, whatever the torques. Under moreau the demands are those of its closed contacts, with
// c = ε_N u_N⁻. Laws whose contacts give way along the normal (sap, todorov with regularization, the compliant laws) demand nothing and are
// not covered.
#pragma once

#include <cstdint>
#include <span>

#include "stiction/laws/generators.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/contact_problem.hpp"
#include "stiction/problem/sections.hpp"
#include "stiction/problem/standard_form.hpp"
#include "stiction/programs/qp/kinetic_qp.hpp"

namespace stiction {

/// Throws InvalidArgument on indices out of range or repeated, sizes, or values that are not finite; tau_max may be infinite, or empty.
void validate_request(const ProblemView& problem, std::span<const int> joints, const Eigen::Ref<const Eigen::VectorXd>& v_desired,
                      std::span<const double> tau_max);

/// Name of the row that drives a joint: those of assembled rows count up from zero.
inline std::uint64_t joint_row_name(int joint) { return ~static_cast<std::uint64_t>(joint); }
/// Appends the row that drives a joint to v_desired by impulses up to `bound`. Compliances, kinds and names are appended where the rows
/// have them.
void add_joint_row(const ProblemView& problem, int joint, double v_desired, double bound, ProblemRows& rows);

struct RequestProof {
  GrowVector contacts;  ///< 3n, z of N, S, T
  GrowVector rows;      ///< m, z of J_b
  GrowVector joints;    ///< one per driven joint

  bool empty() const { return contacts.size() + rows.size() + joints.size() == 0; }
  void clear();
};

struct RequestProofWorkspace {
  /// A demand on velocities, of a contact's axis or of a row, or its opposite.
  struct Demand {
    int contact, axis, row;  ///< contact of the standard form and its axis, or -1 and the row
    double sign;
  };
  ProblemRows rows;        ///< with one per driven joint, none that gives way
  std::vector<int> place;  ///< of a row: that of Bt, -1 where it moves nothing
  Reduction reduction;
  StandardForm form;
  Generators generators;
  std::vector<Demand> demands;
  RowMatrix constraints;
  GrowVector d, y;
  KineticQpWorkspace qp;
  KineticQpSolution solution;
  GrowVector xi, before, slope, u, row_slopes;  ///< of the check: ξ, v₀, a, J a, J_b a
  GrowMatrix inertia;                           ///< a block of M, then its factor
  SectionShape section;
};

/// True when z proves the request infeasible under the demands and cones of `law`, which must be one without compliance along the normal
/// (false for others), beyond rounding: what is left of impulses without bound would have to be ten thousand times larger than those of
/// the step. Computed from the problem alone; false on sizes of z that do not fit. tau_max empty: unlimited. Throws InvalidArgument on the
/// request.
bool certifies_infeasibility(const ProblemView& problem, std::span<const int> joints, const Eigen::Ref<const Eigen::VectorXd>& v_desired,
                             std::span<const double> tau_max, const LawModel& law, const RequestProof& z);
/// The same with the terms that the law has on this problem. No allocation once the sizes have been seen.
bool certifies_infeasibility(const ProblemView& problem, std::span<const int> joints, const Eigen::Ref<const Eigen::VectorXd>& v_desired,
                             std::span<const double> tau_max, const LawTerms& law, const RequestProof& z, RequestProofWorkspace& workspace);

/// Searches for z by the least kinetic energy over all impulses that meet the demands (programs/qp/kinetic_qp.hpp). True when the z found
/// passes `certifies_infeasibility`; otherwise z is empty. The disc is widened to a polygon around it. O(nv³) and more: for requests that
/// have failed.
bool find_request_proof(const ProblemView& problem, std::span<const int> joints, const Eigen::Ref<const Eigen::VectorXd>& v_desired,
                        std::span<const double> tau_max, const LawModel& law, RequestProofWorkspace& workspace, RequestProof& z);

}  // namespace stiction
