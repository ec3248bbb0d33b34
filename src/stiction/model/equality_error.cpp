#include "stiction/model/equality_error.hpp"

namespace stiction {

namespace {

const Joint& joint_of(const World& world, int joint) { return world.joints()[joint]; }

Eigen::Isometry3d frame(const WorldData& data, int body, const Eigen::Isometry3d& X_BF) { return data.X_WB[body] * X_BF; }

Eigen::Matrix3d axes_along(const Eigen::Vector3d& axis) {
  Eigen::Matrix3d axes;
  axes.col(0) = axis;
  axes.col(1) = axis.unitOrthogonal();
  axes.col(2) = axis.cross(Eigen::Vector3d(axes.col(1)));
  return axes;
}

EqualityError coupling_error(const World& world, const Equality& equality, const Eigen::Ref<const Eigen::VectorXd>& q) {
  const double x = equality.joint_b < 0 ? 0.0 : q[joint_of(world, equality.joint_b).q] - equality.reference_b;
  double value = 0.0, slope = 0.0, half_curvature = 0.0;
  for (std::size_t k = equality.polynomial.size(); k-- > 0;) {  // Horner's rule, and its derivatives
    half_curvature = half_curvature * x + slope;
    slope = slope * x + value;
    value = value * x + equality.polynomial[k];
  }
  EqualityError e;
  e.position.x() = q[joint_of(world, equality.joint_a).q] - equality.reference_a - value;
  e.slope = slope;
  e.curvature = 2.0 * half_curvature;
  return e;
}

}  // namespace

EqualityError equality_error(const World& world, const WorldData& data, const Equality& equality,
                             const Eigen::Ref<const Eigen::VectorXd>& q) {
  if (equality.kind == EqualityKind::joint) return coupling_error(world, equality, q);
  const Eigen::Isometry3d A = frame(data, equality.body_a, equality.X_AF), B = frame(data, equality.body_b, equality.X_BF);
  EqualityError e;
  e.p_A = A.translation();
  e.p_B = B.translation();
  e.position = e.p_A - e.p_B;
  if (equality.kind == EqualityKind::hinge || equality.kind == EqualityKind::slide) e.axes = B.linear() * axes_along(equality.axis);
  const Eigen::Vector3d axis = e.axes.col(0);
  if (equality.kind == EqualityKind::hinge) e.rotation = axis.cross(Eigen::Vector3d(A.linear() * equality.axis));
  if (equality.kind == EqualityKind::slide) {
    e.position -= axis.dot(e.position) * axis;
    e.p_B = e.p_A;
  }
  if (equality.kind == EqualityKind::weld || equality.kind == EqualityKind::slide) {
    const Eigen::AngleAxisd turn(Eigen::Matrix3d(A.linear() * B.linear().transpose()));
    e.rotation = turn.angle() * turn.axis();
  }
  return e;
}

}  // namespace stiction
