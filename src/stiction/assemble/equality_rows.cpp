#include "stiction/assemble/equality_rows.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/model/equality_error.hpp"

namespace stiction {

namespace {

using Eigen::Ref;
using Eigen::Vector3d;
using Eigen::VectorXd;

const Body& body_of(const World& world, int body) { return world.bodies()[body]; }
const Joint& joint_of(const World& world, int joint) { return world.joints()[joint]; }

/// -e/h. What is more than the drift of a step, h times `curvature` >= |J̇ v|, was open before and closes at kClosing: no faster where
/// bodies turn fast, for the bound grows with the square of the velocities, and they with it.
Vector3d correction(const Vector3d& e, double curvature, double h) {
  const double wanted = e.norm() / h;
  return -e / h * (wanted > kClosing + h * curvature ? kClosing / wanted : 1.0);
}

Eigen::RowVectorXd::MapType entry(ContactProblem& p, int block) {
  RowMap row = p.J_b.add_entry(block);
  return {row.data(), row.cols()};
}

void bound(ContactProblem& p, double b, Eigen::Index& m) {
  p.b[m] = b;
  p.lo[m] = -kInfinity;
  p.hi[m] = kInfinity;
  p.row_kinds.push_back(RowKind::equality);
  ++m;
}

/// Calls row(linear, angular) for each row of an equality of two bodies, with its direction in one of them and zero in the other.
template <class Row>
void for_each_direction(EqualityKind kind, const EqualityError& e, const Row& row) {
  const Vector3d none = Vector3d::Zero();
  const bool across = kind == EqualityKind::slide, turns = kind == EqualityKind::hinge;
  for (int i = across ? 1 : 0; i < 3; ++i) row(across ? Vector3d(e.axes.col(i)) : Vector3d::Unit(i), none);
  if (kind == EqualityKind::connect) return;
  for (int i = turns ? 1 : 0; i < 3; ++i) row(none, turns ? Vector3d(e.axes.col(i)) : Vector3d::Unit(i));
}

/// One row: the relative motion along `direction` (linear, then angular) of both bodies at one point, between those that are to meet: at
/// two points action and reaction would turn what moves freely, as far as the loop is open.
void add_relative_row(const World& world, const WorldData& data, const Equality& equality, const EqualityError& e,
                      const Vector6d& direction, ContactProblem& p) {
  p.J_b.add_group();
  const int a = body_of(world, equality.body_a).block, b = body_of(world, equality.body_b).block;
  const Vector3d p_W = 0.5 * (e.p_A + e.p_B);
  if (a >= 0) {
    auto row = entry(p, a);
    add_wrench_row(world, data, equality.body_a, p_W, direction, row);
    if (a == b) add_wrench_row(world, data, equality.body_b, p_W, -direction, row);
  }
  if (b >= 0 && b != a) {
    auto row = entry(p, b);
    add_wrench_row(world, data, equality.body_b, p_W, -direction, row);
  }
}

void add_body_rows(const World& world, const WorldData& data, const Ref<const VectorXd>& v, const Equality& equality,
                   const EqualityError& e, double share, ContactProblem& p, Eigen::Index& m) {
  const MotionBound a = motion_bound(world, data, equality.body_a, e.p_A, v), b = motion_bound(world, data, equality.body_b, e.p_B, v);
  const double angular = a.angular + b.angular;
  const Vector3d shift = correction(e.position, (a.linear + b.linear) * angular, p.dt);
  const Vector3d turn = correction(e.rotation, angular * angular, p.dt);
  for_each_direction(equality.kind, e, [&](const Vector3d& linear, const Vector3d& angular_part) {
    Vector6d direction;
    direction << linear, angular_part;
    add_relative_row(world, data, equality, e, direction, p);
    bound(p, share * (linear.dot(shift) + angular_part.dot(turn)), m);
  });
}

void add_joint_row(const World& world, const Ref<const VectorXd>& v, const Equality& equality, const EqualityError& e, double share,
                   ContactProblem& p, Eigen::Index& m) {
  const Joint& a = joint_of(world, equality.joint_a);
  double curvature = 0.0;
  p.J_b.add_group();
  auto row = entry(p, a.block);
  row[a.v - p.M.offset(a.block)] = 1.0;
  if (equality.joint_b >= 0) {
    const Joint& b = joint_of(world, equality.joint_b);
    auto other = b.block == a.block ? row : entry(p, b.block);
    other[b.v - p.M.offset(b.block)] = -e.slope;
    curvature = std::abs(e.curvature) * v[b.v] * v[b.v];
  }
  bound(p, share * correction(e.position, curvature, p.dt).x(), m);
}

}  // namespace

int count_rows(EqualityKind kind) {
  switch (kind) {
    case EqualityKind::joint:
      return 1;
    case EqualityKind::connect:
      return 3;
    case EqualityKind::hinge:
    case EqualityKind::slide:
      return 5;
    case EqualityKind::weld:
      return 6;
  }
  return 0;
}

int count_shifts(EqualityKind kind) { return kind == EqualityKind::slide ? 2 : std::min(count_rows(kind), 3); }

int count_equality_rows(const World& world) {
  int rows = 0;
  for (const Equality& e : world.equalities()) {
    rows += count_rows(e.kind);
  }
  return rows;
}

void add_equality_rows(const World& world, const WorldData& data, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v, double share,
                       ContactProblem& p, Eigen::Index& m) {
  for (const Equality& equality : world.equalities()) {
    const EqualityError e = equality_error(world, data, equality, q);
    if (equality.kind == EqualityKind::joint) {
      add_joint_row(world, v, equality, e, share, p, m);
    } else {
      add_body_rows(world, data, v, equality, e, share, p, m);
    }
  }
}

void equality_row_errors(const World& world, const WorldData& data, const Ref<const VectorXd>& q, Ref<VectorXd> errors) {
  Eigen::Index m = 0;
  for (const Equality& equality : world.equalities()) {
    const EqualityError e = equality_error(world, data, equality, q);
    if (equality.kind == EqualityKind::joint) {
      errors[m++] = e.position.x();
      continue;
    }
    for_each_direction(equality.kind, e, [&](const Vector3d& linear, const Vector3d& angular) {
      errors[m++] = linear.dot(e.position) + angular.dot(e.rotation);
    });
  }
}

}  // namespace stiction
