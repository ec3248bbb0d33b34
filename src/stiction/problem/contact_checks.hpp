// Checks of one contact and of one bounded row, shared by the certificates of the full and of the reduced problem. Internal.
#pragma once

#include "stiction/problem/certificate.hpp"
#include "stiction/problem/contact_terms.hpp"
#include "stiction/problem/sections.hpp"

namespace stiction {

/// m/s, N s: no scale is smaller. The last digits of a work, a product of both, would be no normal numbers: such rests of a motion that has
/// ended measure nothing.
inline constexpr double kLeastScale = 1e-140;

/// Sizes of the problem, and not of the answer, that raw residuals are divided by.
struct CertificateScales {
  double impulse = kLeastScale, velocity = kLeastScale;
};

/// Raises a residual to at least `raw` and `raw / scale`.
void raise(Residual& residual, double raw, double scale);
/// Of a sum of works: the largest that the scales allow.
double energy_scale(const CertificateScales& scales, double terms);

/// Writes the residual `rounding` of an answer whose largest impulse is this, and the scales, to which limits are added that row impulses
/// `beta` reach: a motor that pushes with all it has. Limits that are not reached are often a file's placeholder, and would let anything
/// pass; and none counts in `rounding`, whatever motors that contradict each other may push with.
void take_scales(const Eigen::Ref<const Eigen::VectorXd>& lo, const Eigen::Ref<const Eigen::VectorXd>& hi,
                 const Eigen::Ref<const Eigen::VectorXd>& beta, double largest_impulse, CertificateScales& scales,
                 Certificate& certificate);

/// What the law pushes contact i out at beyond the problem's own offset (m/s): that of a spring or of a decaying penetration; 0 for the
/// others.
double push_of(const LawTerms& law, int i, double offset);
/// Takes the push into the scales, and the impulse that it asks of a contact with this mobility (velocity per impulse, 1/kg).
void add_push(const ContactTerms& terms, double push, double mobility, CertificateScales& scales);
/// The impulse of contact i at rest, of laws that give it as a function of the motion.
void add_rest_impulse(const LawTerms& law, int i, CertificateScales& scales);

/// Conditions of contact i at velocity u (m/s) and impulse lambda (N s); `shape` the section with law.edges vertices. The only code that
/// says what a contact's law means by "solved".
void check_contact(const LawTerms& law, const SectionShape& shape, int i, const Eigen::Vector3d& u, const Eigen::Vector3d& lambda,
                   const CertificateScales& scales, Certificate& certificate);

/// Complementarity of a row with velocity error w and impulse beta in [lo, hi].
void check_bounded_row(const LawTerms& law, double w, double beta, double lo, double hi, const CertificateScales& scales,
                       Certificate& certificate);

}  // namespace stiction
