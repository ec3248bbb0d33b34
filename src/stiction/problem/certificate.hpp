// Residuals of a returned point, computed once, outside every solver [third idea of the design].
//
// Each residual is raw in its own unit and scaled by the problem's own velocity and impulse, so that 1e-9 means the same for a
// beetle and a bridge. The scales read the problem and never the answer: a huge answer cannot certify itself, and what its
// digits cannot show is a residual too (`rounding`). What each means depends on the law: `certify` says which conditions a law
// promises and leaves the others at zero. Definitions and scales are listed in docs/certificate.md.
#pragma once

#include <array>
#include <optional>

#include "stiction/problem/contact_problem.hpp"
#include "stiction/problem/sections.hpp"
#include "stiction/problem/softness.hpp"

namespace stiction {

/// Which conditions a law promises at a contact; filled in by the law (laws/law.hpp).
struct LawConditions {
  bool normal_complementarity = true;   ///< λ_N (u_N + c) = 0
  bool friction_cone = true;            ///< |λ_T| <= μ λ_N; pyramid when edges > 0
  bool dissipation = true;              ///< friction opposes slip: λ_T maximises -u_T·λ_T over the section of the cone
  bool no_slip = false;                 ///< u_T = 0
  bool frictionless = false;            ///< λ_T = 0
  bool relaxed = false;                 ///< convex relaxation: u + (c, 0, 0) lies in the dual of the friction cone
  bool non_penetration = true;          ///< u_N + c >= 0
  bool friction_needs_contact = false;  ///< friction conditions hold on closed contacts only (find_closed); open ones are frictionless
  bool viscous = false;                 ///< λ_T = -h c u_T, c the contact's viscosity
  bool slip_before = false;             ///< viscous: u_T is the slip before the step
  bool touching_only = false;           ///< contacts with gap > kTouchGap bear nothing and promise nothing; the others see no gap
  bool aligned = false;                 ///< each contact's polygon is turned by `edge_angles`
  bool newton_impact = false;    ///< the conditions hold on ξ of problem/newton_impact.hpp in place of u; open contacts bear nothing
  std::optional<Law> compliant;  ///< λ = f(u) of problem/constitutive.hpp, |λ_T| <= μ λ_N and nothing else of the above
  bool bound_complementarity =
      true;  ///< bounded rows: w = 0 inside the bounds; otherwise the bounds, and w >= 0 (<= 0) on rows without upper (lower) bound
  Softness softness = Softness::none;  ///< relaxed laws: u + R λ - û takes the place of u + c e_N (softness.hpp)
  int edges = 0;                       ///< 0: the disc |λ_T| <= μ λ_N; k >= 3: the polygon with k vertices at angles 2πj/k
};

struct Residual {
  double raw = 0.0;     ///< largest violation over contacts or rows, in the unit given below
  double scaled = 0.0;  ///< the same over the problem's scale of that unit (dimensionless)
};

/// Works over the step, impulse times mean velocity (v + v⁺)/2, in J. Of a reduced problem, against its free motion: `kinetic` is
/// |y|²/2 + y·y_free and the known and bilateral impulses have no share.
struct EnergyBalance {
  double kinetic = 0.0;    ///< kinetic energy after minus before
  double known = 0.0;      ///< work of p: gravity, applied torques, bias
  double bilateral = 0.0;  ///< of prescribed coordinates and bilateral rows
  double bounded = 0.0;    ///< of bounded rows
  double contacts = 0.0;   ///< of contact impulses
};

struct Certificate {
  Residual momentum;                ///< N s: |M(v⁺ - v) - p - E_Pᵀλ_P - J_Bᵀλ_B - Jᵀλ|_inf
  Residual bilateral;               ///< m/s or rad/s: prescribed and bilateral rows
  Residual bounds;                  ///< bounded rows: distance to complementarity, min-map over [lo, hi] (m/s)
  Residual penetration;             ///< m/s: (-(u_N + c))⁺
  Residual tension;                 ///< N s: (-λ_N)⁺
  Residual normal_complementarity;  ///< J: λ_N (u_N + c)
  Residual cone;                    ///< N s: distance of λ_T outside the section μ λ_N
  Residual dissipation;             ///< J: gap to maximal dissipation over the cone section, >= 0
  double dissipation_angle = 0.0;   ///< rad: largest angle between friction and -slip at sliding contacts; polygon: up to π/k by its shape
  Residual relaxation;              ///< m/s: distance of u + c e_N outside the dual cone, and J: λ·(u + c e_N)  (relaxed laws)
  Residual constitutive;            ///< N s: |λ - f(u)| of laws that give the impulse as a function of the motion (viscous, compliant)
  Residual natural_map;             ///< m/s: |λ - P_K(λ - ρ ũ)|_inf / ρ of the law's inclusion, and of the bounded rows
  Residual energy_balance;          ///< J: |kinetic change - sum of all works|, an identity of a point that keeps the momentum balance
  Residual rounding;                ///< N s: last digit of the largest impulse, which hides whatever is smaller
  EnergyBalance energy;             ///< J, its terms
  double energy_change = 0.0;       ///< J: work of the contacts, energy.contacts; <= 0 when the law dissipates
  bool finite = true;               ///< no NaN, no infinity anywhere in the point
  double velocity_scale = 0.0;      ///< m/s, of the problem: what residuals are scaled by
  double impulse_scale = 0.0;       ///< N s, of the problem

  /// Largest scaled residual; infinity when not finite.
  double worst() const;
};

/// The residuals by name, for tables, JSON and Python.
struct NamedResidual {
  const char *name, *unit, *meaning;
  Residual Certificate::*member;
};
inline constexpr std::array kResiduals{
    NamedResidual{"momentum", "N s", "imbalance of momentum", &Certificate::momentum},
    NamedResidual{"bilateral", "m/s", "prescribed and bilateral rows", &Certificate::bilateral},
    NamedResidual{"bounds", "m/s", "complementarity of the bounded rows", &Certificate::bounds},
    NamedResidual{"penetration", "m/s", "approach velocity beyond what the gap allows", &Certificate::penetration},
    NamedResidual{"tension", "N s", "negative normal impulse", &Certificate::tension},
    NamedResidual{"normal_complementarity", "J", "normal impulse at an opening contact", &Certificate::normal_complementarity},
    NamedResidual{"cone", "N s", "friction outside its cone", &Certificate::cone},
    NamedResidual{"dissipation", "J", "gap to maximal dissipation", &Certificate::dissipation},
    NamedResidual{"relaxation", "m/s", "conditions of the relaxed laws", &Certificate::relaxation},
    NamedResidual{"constitutive", "N s", "distance to the impulse that the law gives for the motion", &Certificate::constitutive},
    NamedResidual{"natural_map", "m/s", "natural map of the law's inclusion, and of the bounded rows", &Certificate::natural_map},
    NamedResidual{"energy_balance", "J", "kinetic energy gained, minus all works", &Certificate::energy_balance},
    NamedResidual{"rounding", "N s", "last digit of the largest impulse", &Certificate::rounding},
};

struct CertificateWorkspace {
  GrowVector offset, difference, momentum, u, angle, weights, factor;
  std::vector<char> closed;
  SectionShape shape;
};

/// As below, without allocations once the workspace has grown.
void certify(const ContactProblem& problem, const LawConditions& law, const Eigen::Ref<const Eigen::VectorXd>& v_plus,
             const Eigen::Ref<const Eigen::VectorXd>& lambda, const Eigen::Ref<const Eigen::VectorXd>& lambda_b,
             const Eigen::Ref<const Eigen::VectorXd>& lambda_prescribed, CertificateWorkspace& workspace, Certificate& certificate);

/// Residuals of the point (v_plus nv, lambda 3n, lambda_b m, lambda_prescribed) for the conditions that the law promises.
Certificate certify(const ContactProblem& problem, const LawConditions& law, const Eigen::Ref<const Eigen::VectorXd>& v_plus,
                    const Eigen::Ref<const Eigen::VectorXd>& lambda, const Eigen::Ref<const Eigen::VectorXd>& lambda_b,
                    const Eigen::Ref<const Eigen::VectorXd>& lambda_prescribed);

}  // namespace stiction
