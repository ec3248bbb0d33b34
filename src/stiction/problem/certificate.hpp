// Residuals of a returned point, computed once, outside every solver.
//
// Each residual is raw in its own unit and scaled by the problem's own velocity and impulse, so that 1e-9 means the same for a
// beetle and a bridge. The scales are sizes of the problem, a limit that the answer reaches included, and never of the answer: a huge one
// cannot certify itself, and what its digits cannot show is a residual too (`rounding`). What each means depends on the terms of the law
// (contact_terms.hpp); residuals of conditions that it does not promise stay at zero. Definitions and scales are listed in
// docs/certificate.md.
#pragma once

#include <array>

#include "stiction/problem/contact_problem.hpp"
#include "stiction/problem/contact_terms.hpp"
#include "stiction/problem/sections.hpp"

namespace stiction {

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
  Residual relaxation;          ///< m/s: distance of ũ = u + c e_N outside the dual cone; |λ·ũ| over the impulse scale  (relaxed laws)
  Residual constitutive;        ///< N s: |λ - f(u)| of laws that give the impulse as a function of the motion (viscous, compliant)
  Residual natural_map;         ///< m/s: |λ - P_K(λ - ρ ũ)|_inf / ρ of the law's inclusion, and of the bounded rows
  Residual energy_balance;      ///< J: |kinetic change - sum of all works|, an identity of a point that keeps the momentum balance
  Residual rounding;            ///< N s: last digit of the largest impulse, which hides whatever is smaller
  EnergyBalance energy;         ///< J, its terms
  double energy_change = 0.0;   ///< J: work of the contacts, energy.contacts; <= 0 when the law dissipates
  bool finite = true;           ///< no NaN, no infinity anywhere in the point
  double velocity_scale = 0.0;  ///< m/s, of the problem: what residuals are scaled by
  double impulse_scale = 0.0;   ///< N s, of the problem

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
  GrowVector offset, difference, momentum, u;
  SectionShape shape;
};

/// As below, without allocations once the workspace has grown.
void certify(const ProblemView& problem, const LawTerms& law, const Eigen::Ref<const Eigen::VectorXd>& v_plus,
             const Eigen::Ref<const Eigen::VectorXd>& lambda, const Eigen::Ref<const Eigen::VectorXd>& lambda_b,
             const Eigen::Ref<const Eigen::VectorXd>& lambda_prescribed, CertificateWorkspace& workspace, Certificate& certificate);

/// Residuals of the point (v_plus nv, lambda 3n, lambda_b m, lambda_prescribed) for what the law, lowered on this problem, asks.
Certificate certify(const ProblemView& problem, const LawTerms& law, const Eigen::Ref<const Eigen::VectorXd>& v_plus,
                    const Eigen::Ref<const Eigen::VectorXd>& lambda, const Eigen::Ref<const Eigen::VectorXd>& lambda_b,
                    const Eigen::Ref<const Eigen::VectorXd>& lambda_prescribed);

}  // namespace stiction
