// Weight of a contact, w = trace(J_i M⁻¹ J_iᵀ)/3 (1/kg): from the inertia alone, so that forward and inverse dynamics of one state see the
// same one.
#pragma once

#include <vector>

#include "stiction/base/envelope_cholesky.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

/// Memory kept between calls; grows on first use.
struct ContactWeightsScratch {
  std::vector<EnvelopeCholesky> factors;  ///< of the blocks of M
  GrowVector row;
};

/// n weights of a valid problem. Cost: Σ_k b_k³/3 + 3 n b².
void contact_weights(const ProblemView& problem, ContactWeightsScratch& scratch, GrowVector& weights);

}  // namespace stiction
