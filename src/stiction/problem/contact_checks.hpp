// Checks of one contact and of one bounded row, shared by the certificates of the full and of the reduced problem. Internal.
#pragma once

#include "stiction/problem/certificate.hpp"
#include "stiction/problem/constitutive.hpp"

namespace stiction {

/// Sizes of the problem, never of the answer, that raw residuals are divided by; starting from a tiny scale keeps 0/0 at 0.
struct CertificateScales {
  double impulse = 1e-300, velocity = 1e-300;
};

/// |x|_inf, 0 for an empty vector.
double largest_entry(const Eigen::Ref<const Eigen::VectorXd>& x);

/// Raises a residual to at least `raw` and `raw / scale`.
void raise(Residual& residual, double raw, double scale);

/// Finite limits count in the impulse scale where the answer is at them: a motor that pushes with all it has. Those that are not reached
/// are often a file's placeholder, and would let anything pass.
void add_reached_limits(const Eigen::Ref<const Eigen::VectorXd>& lo, const Eigen::Ref<const Eigen::VectorXd>& hi,
                        const Eigen::Ref<const Eigen::VectorXd>& beta, CertificateScales& scales);

/// Writes the scales into the certificate, and the residual `rounding` of an answer whose largest impulse is this.
void take_scales(const CertificateScales& scales, double largest_impulse, Certificate& certificate);

/// Conditions on a contact that is open when the law's friction acts on closed contacts only (`friction_needs_contact`).
LawConditions open_contact(const LawConditions& law);

/// Velocity that the conditions of a contact speak of: u + c e_N, or u + R λ - û under a softened law.
Eigen::Vector3d law_velocity(const ContactSoftness* softness, double offset, const Eigen::Vector3d& u, const Eigen::Vector3d& lambda);

/// Conditions of one contact: u its `law_velocity`, lambda its impulse; `shape` the section with law.edges vertices.
void check_contact(const LawConditions& law, const SectionShape& shape, double mu, const Eigen::Vector3d& u, const Eigen::Vector3d& lambda,
                   const CertificateScales& scales, Certificate& certificate);

/// λ_T = -damping u_T, damping = h c (N s per m/s), slip = u_T.
void check_viscous(double damping, const Eigen::Vector2d& slip, const Eigen::Vector3d& lambda, const CertificateScales& scales,
                   Certificate& certificate);

/// A contact that the law leaves out: no impulse.
void check_absent(const Eigen::Vector3d& lambda, const CertificateScales& scales, Certificate& certificate);

/// Tangential part of x turned by -angle: as seen from tangents turned by `angle`.
Eigen::Vector3d turned_back(const Eigen::Vector3d& x, double angle);

/// Conditions of a closed contact under Newton's impact law, xi in place of u + c e_N; an open one bears nothing.
void check_impact(const LawConditions& law, const SectionShape& shape, bool closed, double mu, const Eigen::Vector3d& xi,
                  const Eigen::Vector3d& lambda, const CertificateScales& scales, Certificate& certificate);

/// |λ - f(u)| and the friction cone of a compliant contact.
void check_compliant(const CompliantContact& contact, const Eigen::Vector3d& u, const Eigen::Vector3d& lambda,
                     const CertificateScales& scales, Certificate& certificate);

/// Complementarity of a row with velocity error w and impulse beta in [lo, hi].
void check_bounded_row(const LawConditions& law, double w, double beta, double lo, double hi, const CertificateScales& scales,
                       Certificate& certificate);

}  // namespace stiction
