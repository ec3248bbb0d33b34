// Projection on a friction cone or one of its faces in the metric diag(r_N, r_T, r_T), with its derivative. Internal.
//
// Scaled by the roots s of the metric, x̂ = s x, the cone becomes the one of μ̂ = μ s_T / s_N and the projection Euclidean:
//   smooth part of the disc   P' = a aᵀ + (|P_T|/|x̂_T|) b bᵀ,   a along the ray, b along the circle
//   facet, ray                P' = I - n nᵀ,  g gᵀ/|g|²
#pragma once

#include "stiction/programs/soft_cone/soft_cone.hpp"

namespace stiction {

/// Roots of the metric of one contact.
struct Metric {
  double normal = 1.0, tangential = 1.0;
};

/// P of S x, divided by S: the impulse of the contact is P(-S⁻²(u - û)) for x = -(u - û) with S² = R. Here `scaled` = S γ = -S⁻¹(u - û).
/// Returns λ = S⁻¹ P̂(scaled). `derivative` (3 x 3, may be null): -dλ/du = S⁻¹ P̂' S⁻¹.
Eigen::Vector3d project_face(const SectionShape& section, const SoftContact& contact, const Metric& metric, const Eigen::Vector3d& scaled,
                             Eigen::Matrix3d* derivative);

}  // namespace stiction
