// Tangential rows of chosen contacts as bilateral rows: u_T = 0 with λ_T free, for contacts whose cone is the half space of no slip. The
// interior point takes bilateral rows by proximal steps, redundant ones too; near a cone as wide as a half space its steps are short.
#pragma once

#include <span>

#include "stiction/problem/reduced.hpp"

namespace stiction {

/// Appends the rows S and T of each of these contacts to the problem's bounded rows, without bounds.
void append_tangents(std::span<const int> contacts, ReducedProblem& problem);

/// Moves the impulses of those rows, the last of beta, into lambda (3n).
void take_tangents(std::span<const int> contacts, GrowVector& lambda, GrowVector& beta);

/// The opposite: appends to beta what lambda has along the tangents of the contacts, and sets it to zero there.
void give_tangents(std::span<const int> contacts, GrowVector& lambda, GrowVector& beta);

}  // namespace stiction
