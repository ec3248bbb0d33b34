// Residuals of a point of a reduced problem, for problems known only by their contacts (u = W λ + q) and for solvers' own tests.
//
//   u = R_t (R_tᵀ λ + B_tᵀ β) + D λ + u_free          3n contact velocities, D the defect of W when it has one
//   w = B_t (R_tᵀ λ + B_tᵀ β) + w_free                m velocities of the bounded rows
// The checks per contact are those of the full problem (contact_checks.hpp). Momentum holds by construction; `energy_change` is
// measured from the free motion: λ·(u_free + u)/2 + β·(w_free + w)/2.
// Scales, of the problem alone: velocity = the largest of |u_free|, |w_free| and offsets that push; impulse = velocity / mean G_ii, of
// contacts or of rows, and limits that are reached.
#pragma once

#include "stiction/problem/certificate.hpp"
#include "stiction/problem/reduced.hpp"

namespace stiction {

/// Residuals of (lambda 3n, beta m) for what the law, lowered on this problem, asks; no allocation once the workspace has grown.
void certify(const ReducedProblem& problem, const LawTerms& law, const Eigen::Ref<const Eigen::VectorXd>& lambda,
             const Eigen::Ref<const Eigen::VectorXd>& beta, CertificateWorkspace& workspace, Certificate& certificate);

Certificate certify(const ReducedProblem& problem, const LawTerms& law, const Eigen::Ref<const Eigen::VectorXd>& lambda,
                    const Eigen::Ref<const Eigen::VectorXd>& beta);

}  // namespace stiction
