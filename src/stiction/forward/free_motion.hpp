// Straight flight of floating bases and free bodies.
//
// The coordinates of a free joint are body-frame velocities, whose equation carries the convective term ω x v. Taken explicitly it
// makes a tumbling body drift at first order. Instead the step is taken in the frame of its beginning: the convective part
// is left out of the bias (`add_convective`), the origin moves along a straight line, and the velocity is turned into the new axes
// afterwards (`move`), so that momentum is constant in free flight whatever the step.
#pragma once

#include "stiction/model/world.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

/// p.impulse += h M c, c = ω x v on the linear coordinates of free joints: afterwards the impulse belongs to velocities in the old axes.
void add_convective(const World& world, ContactProblem& problem);

/// q ⊕ h v_path on the manifold with straight origins, then the linear velocities in v turned into the new axes. q, v in place; v_path
/// is scratch.
void move(const World& world, double h, Eigen::Ref<Eigen::VectorXd> v_path, Eigen::Ref<Eigen::VectorXd> q, Eigen::Ref<Eigen::VectorXd> v);

}  // namespace stiction
