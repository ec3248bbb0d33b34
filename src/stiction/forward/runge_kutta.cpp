#include "stiction/forward/runge_kutta.hpp"

#include <cmath>

namespace stiction {

namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// First of the four entries of a joint's quaternion, -1 where it has none.
int quaternion_of(const Joint& joint) {
  return joint.kind == JointKind::free ? joint.q + 3 : joint.kind == JointKind::spherical ? joint.q : -1;
}

constexpr Tableau kEuler{1, {}, {1.0}, {}};
constexpr Tableau kClassical{4, {{{}, {0.5}, {0.0, 0.5}, {0.0, 0.0, 1.0}}}, {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0}, {}};
constexpr Tableau kDormandPrince{7,
                                 {{{},
                                   {1.0 / 5.0},
                                   {3.0 / 40.0, 9.0 / 40.0},
                                   {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
                                   {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
                                   {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
                                   {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0}}},
                                 {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0, 0.0},
                                 {71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0}};

}  // namespace

const Tableau& tableau_of(Integrator integrator) {
  return integrator == Integrator::rk4 ? kClassical : integrator == Integrator::rk45 ? kDormandPrince : kEuler;
}

void configuration_rate(const World& world, const Eigen::Ref<const VectorXd>& q, const Eigen::Ref<const VectorXd>& v,
                        Eigen::Ref<VectorXd> rate) {
  for (const Joint& joint : world.joints()) {
    const int at = quaternion_of(joint);
    if (at < 0) {
      rate.segment(joint.q, joint.nq) = v.segment(joint.v, joint.nv);
      continue;
    }
    const Quaterniond R(Eigen::Vector4d(q.segment<4>(at)));
    const Vector3d half = 0.5 * v.segment<3>(joint.v + joint.nv - 3);
    rate.segment<4>(at) = (R * Quaterniond(0.0, half.x(), half.y(), half.z())).coeffs();
    if (joint.kind == JointKind::free) rate.segment<3>(joint.q) = R * Vector3d(v.segment<3>(joint.v));
  }
}

void normalize(const World& world, Eigen::Ref<VectorXd> q) {
  for (const Joint& joint : world.joints()) {
    const int at = quaternion_of(joint);
    if (at >= 0) q.segment<4>(at) /= q.segment<4>(at).norm();
  }
}

void turn_to_world(const World& world, const Eigen::Ref<const VectorXd>& q, Eigen::Ref<VectorXd> v) {
  for (const Joint& joint : world.joints()) {
    if (joint.kind != JointKind::free) continue;
    const Quaterniond R(Eigen::Vector4d(q.segment<4>(joint.q + 3)));
    v.segment<3>(joint.v) = R * Vector3d(v.segment<3>(joint.v));
  }
}

void turn_to_body(const World& world, const Eigen::Ref<const VectorXd>& q, Eigen::Ref<VectorXd> v) {
  for (const Joint& joint : world.joints()) {
    if (joint.kind != JointKind::free) continue;
    const Quaterniond R(Eigen::Vector4d(q.segment<4>(joint.q + 3)));
    v.segment<3>(joint.v) = R.inverse() * Vector3d(v.segment<3>(joint.v));
  }
}

void add_turning(const World& world, const Eigen::Ref<const VectorXd>& v, Eigen::Ref<VectorXd> v_rate) {
  for (const Joint& joint : world.joints()) {
    if (joint.kind != JointKind::free) continue;
    const Vector3d linear = v.segment<3>(joint.v), omega = v.segment<3>(joint.v + 3);
    v_rate.segment<3>(joint.v) += omega.cross(linear);
  }
}

}  // namespace stiction
