// Straight flight of floating bases and free bodies.
//
// The coordinates of a free joint are body-frame velocities, whose equation carries the convective term ω x v. Taken explicitly it
// makes a tumbling body drift at first order. Instead the step is taken in the frame of its beginning: the convective part
// is left out of the bias (`add_convective`), the origin moves along a straight line, and the velocity of a point is turned into the new
// axes afterwards (`move`): of the centre of mass of a free body, or of a robot with its joints locked, so that momentum and energy are
// constant in free flight whatever the step as long as no joint turns. An origin beside the centre of mass goes straight within the step
// all the same, for a ball's centre stays over the ground then: the centre of mass wobbles by h ω c / 2. The rotation about that centre
// follows the implicit midpoint rule, which keeps ωᵀIω and |Iω| whatever the step [Hairer, Lubich, Wanner, Geometric Numerical
// Integration, IV.2]; ω × Iω taken explicitly adds h²|ω × Iω|²/2 (in I⁻¹) to the kinetic energy of every step:
//   I (ω' - ω) = -h m × I m,  m = (ω + ω')/2
// The same of one body that a ball joint holds in the world, about its centre: a gyroscope rose by itself, 27 degrees within a second.
#pragma once

#include "stiction/model/world.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

/// Centre of mass of a tree in the axes of its free root, from M = [m I, -m [c]; m [c], .].
template <class Matrix>
Eigen::Vector3d center_of(const Matrix& M) {
  return Eigen::Vector3d(M(5, 1), M(3, 2), M(4, 0)) / M(0, 0);
}

/// In the axes of a free joint's body, the point whose velocity is constant in flight; M: inertia at the configuration in question.
Eigen::Vector3d steady_point(const World& world, const BlockDiagonal& M, const Joint& base);

/// p.impulse += h M c, c = ω x v of that point on the linear coordinates of free joints: afterwards the impulse belongs to velocities in
/// the old axes.
/// For free bodies, bases of robots and one body that a ball joint holds in the world, h ω × Iω in it becomes I (ω - ω').
/// tau, bias (nv): torques of motors, and what `assemble` took from them, read at ball joints.
void add_convective(const World& world, const Eigen::Ref<const Eigen::VectorXd>& tau, const Eigen::Ref<const Eigen::VectorXd>& bias,
                    ContactProblem& problem);

/// I (ω' - ω) + h ω × Iω of the base of a robot, in its axes; M: inertia at the start, whose locked part is I. omega: of the base.
Eigen::Vector3d gyroscopic_impulse(const BlockDiagonal& M, const Joint& base, const Eigen::Vector3d& omega, double h);

/// The same of a ball joint that holds one body in the world, beyond h force: tau less bias there, of which -ω × Iω is a part. What else
/// acts turns with the midpoint, which is that of I (ω' - ω) = h (force + ω × Iω) - h m × I m: else a wheel on its axle would rise by h ω /
/// 2 of its precession.
Eigen::Vector3d gyroscopic_impulse(const BlockDiagonal& M, const Joint& ball, const Eigen::Vector3d& omega, const Eigen::Vector3d& force,
                                   double h);

/// q ⊕ h v_path on the manifold with straight origins, then the velocities of those points in v turned into the new axes, with M at q; of
/// the origins without M. q, v in place; v_path is scratch.
void move(const World& world, const BlockDiagonal* M, double h, Eigen::Ref<Eigen::VectorXd> v_path, Eigen::Ref<Eigen::VectorXd> q,
          Eigen::Ref<Eigen::VectorXd> v);

}  // namespace stiction
