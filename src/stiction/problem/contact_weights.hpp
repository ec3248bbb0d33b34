// Weight of a contact, w = trace(J_i M⁻¹ J_iᵀ)/3 (1/kg): from the inertia alone, so that forward and inverse dynamics of one state see the
// same one.
#pragma once

#include "stiction/problem/contact_problem.hpp"

namespace stiction {

/// n weights of a valid problem; `factor` is scratch. Cost: Σ_k b_k³/3 + 3 n b².
void contact_weights(const ProblemView& problem, GrowVector& factor, GrowVector& weights);

}  // namespace stiction
