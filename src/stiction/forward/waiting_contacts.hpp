// Impacts that follow from others within one step.
//
// A contact with restitution takes part in a step if the velocity u_N before it would close the contact, φ + h u_N <= 0, as Newton's law
// reverses that velocity (`normal_offset`); or if it rests: φ and h |u_N| are below what gravity covers in a step. Any other touches within
// this step only if an impact throws one body against the other. Held at the surface it would lose that velocity, so it waits for the next
// step, and bounces by the velocity that it has then: impulses one after the other, as in a row of balls [Smith, Kaufman, Vouga, Tamstorf,
// Grinspun, Reflections on Simultaneous Impact, 2012, sequential impulses]. Bodies overlap by h |u_N| at most until then. Where the next
// step would not find them on the sides that they come from (thrown, pushed or driven through what is thin), no step after this one can
// stop them: the contact then holds them in this step, u_N⁺ >= -φ/h, and bounces by that in the next.
#pragma once

#include <span>
#include <vector>

#include "stiction/assemble/assemble.hpp"
#include "stiction/geometry/contact_point.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

/// Whether Newton's law reverses the velocity of a contact: restitution above 0, of its pair if that has its own, under a rigid law.
/// Not so Moreau's, which has a rule of its own, and soft ones, which have no restitution.
bool is_reversed(const ContactPoint& c, const AssembleOptions& options);

/// Moves what waits of `contacts`, those of the problem in its order, to `waiting`; true where any does. gravity in m/s².
bool leave_to_next_step(const ContactProblem& problem, const AssembleOptions& options, double gravity, std::vector<ContactPoint>& contacts,
                        std::vector<ContactPoint>& waiting);

/// Whether two geometries have left the sides of each other that c is of: none of the contacts that were found later faces as c does.
bool is_through(const ContactPoint& c, std::span<const ContactPoint> later);

/// Convex laws that give way push open contacts apart that slide past with μ |u_T| > φ/h, and which of those are known depends on what
/// bodies move through, not on how they move to each other. So friction is taken from the ones that stay farther apart than `reach` (m)
/// at twice the velocity before the step: they act where the step closes them, and the same in every inertial frame.
void let_slide_past(double reach, Law law, ContactProblem& problem);

}  // namespace stiction
