// Operations on configurations, joint by joint: exponential and logarithm of rotations and rigid motions.
//   SE(3): exp(v, ω) has rotation exp(ω) and translation V(ω) v,  V = I + (1 - cos θ)/θ² [ω] + (θ - sin θ)/θ³ [ω]²
#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/base/errors.hpp"
#include "stiction/base/random.hpp"
#include "stiction/model/dynamics.hpp"

namespace stiction {

namespace {

using ConstMap3 = Eigen::Map<const Eigen::Vector3d>;
using ConstQuaternionMap = Eigen::Map<const Eigen::Quaterniond>;
using QuaternionMap = Eigen::Map<Eigen::Quaterniond>;

/// Quaternion of the rotation vector w. Series below 1e-3 rad, where its error (θ⁴) is under rounding.
Eigen::Quaterniond exp3(const Eigen::Vector3d& w) {
  const double theta = w.norm();
  const double scale = theta < 1e-3 ? 0.5 - theta * theta / 48.0 : std::sin(theta / 2.0) / theta;
  Eigen::Quaterniond r;
  r.w() = std::cos(theta / 2.0);
  r.vec() = scale * w;
  return r;
}

/// Rotation vector of a unit quaternion, at most pi long.
Eigen::Vector3d log3(const Eigen::Quaterniond& r) {
  const double sign = r.w() < 0.0 ? -1.0 : 1.0;
  const double s = r.vec().norm(), c = sign * r.w();
  const double scale = s < 1e-4 ? 2.0 / c * (1.0 - s * s / (3.0 * c * c)) : 2.0 * std::atan2(s, c) / s;
  return sign * scale * r.vec();
}

struct Coefficients {
  double a;  ///< (1 - cos θ)/θ²
  double b;  ///< (θ - sin θ)/θ³
};

Coefficients exp_coefficients(double theta) {
  const double t2 = theta * theta;
  if (theta < 1e-2) return {0.5 - t2 / 24.0 * (1.0 - t2 / 30.0), 1.0 / 6.0 - t2 / 120.0 * (1.0 - t2 / 42.0)};
  return {(1.0 - std::cos(theta)) / t2, (theta - std::sin(theta)) / (t2 * theta)};
}

/// V(w) v.
Eigen::Vector3d translation_of(const Eigen::Vector3d& v, const Eigen::Vector3d& w) {
  const auto [a, b] = exp_coefficients(w.norm());
  const Eigen::Vector3d wv = w.cross(v);
  return v + a * wv + b * w.cross(wv);
}

/// V(w)⁻¹ p = p - w × p / 2 + (1/θ² - (1 + cos θ)/(2 θ sin θ)) w × (w × p).
Eigen::Vector3d velocity_of(const Eigen::Vector3d& p, const Eigen::Vector3d& w) {
  const double theta = w.norm(), t2 = theta * theta;
  const double half = theta / 2.0;
  const double c = theta < 1e-2 ? 1.0 / 12.0 + t2 / 720.0 : (1.0 - half * std::cos(half) / std::sin(half)) / t2;
  const Eigen::Vector3d wp = w.cross(p);
  return p - 0.5 * wp + c * w.cross(wp);
}

void integrate_joint(const Joint& joint, const double* q, const double* v, double dt, double* out) {
  if (joint.nv == 1) {
    *out = *q + *v * dt;
    return;
  }
  const int rotation = joint.nq - 4;
  const Eigen::Vector3d w = dt * ConstMap3(v + joint.nv - 3);
  const Eigen::Quaterniond r = ConstQuaternionMap(q + rotation);
  if (joint.kind == JointKind::free) {
    const Eigen::Vector3d p = ConstMap3(q) + r * translation_of(dt * ConstMap3(v), w);
    Eigen::Map<Eigen::Vector3d>{out} = p;
  }
  QuaternionMap(out + rotation) = (r * exp3(w)).normalized();
}

void difference_joint(const Joint& joint, const double* q0, const double* q1, double* w) {
  if (joint.nv == 1) {
    *w = *q1 - *q0;
    return;
  }
  const int rotation = joint.nq - 4;
  const ConstQuaternionMap r0(q0 + rotation), r1(q1 + rotation);
  const Eigen::Vector3d angular = log3(r0.conjugate() * r1);
  if (joint.kind == JointKind::free) {
    const Eigen::Vector3d p = r0.conjugate() * (ConstMap3(q1) - ConstMap3(q0));
    Eigen::Map<Eigen::Vector3d>{w} = velocity_of(p, angular);
  }
  Eigen::Map<Eigen::Vector3d>{w + joint.nv - 3} = angular;
}

/// Shoemake's uniform rotation.
Eigen::Quaterniond random_rotation(Uniform& uniform) {
  constexpr double turn = 2.0 * std::numbers::pi;
  const double u = uniform(), a = turn * uniform(), b = turn * uniform();
  const double x = std::sqrt(1.0 - u), y = std::sqrt(u);
  return {y * std::cos(b), x * std::sin(a), x * std::cos(a), y * std::sin(b)};
}

/// Files write "no limit" as a large number, too.
constexpr double kNoLimit = 1e6;

double random_position(const Joint& joint, Uniform& uniform) {
  const double reach = joint.kind == JointKind::revolute ? std::numbers::pi : 1.0;
  const bool has_lower = joint.lower > -kNoLimit, has_upper = joint.upper < kNoLimit;
  const double lower = has_lower ? joint.lower : has_upper ? joint.upper - 2.0 * reach : -reach;
  const double upper = has_upper ? joint.upper : has_lower ? joint.lower + 2.0 * reach : reach;
  return uniform(lower, upper);
}

}  // namespace

void integrate(const World& world, const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Ref<const Eigen::VectorXd>& v, double dt,
               Eigen::Ref<Eigen::VectorXd> q_out) {
  require_size("q", q.size(), world.nq());
  require_size("v", v.size(), world.nv());
  require_size("q_out", q_out.size(), world.nq());
  for (const Joint& joint : world.joints()) {
    integrate_joint(joint, q.data() + joint.q, v.data() + joint.v, dt, q_out.data() + joint.q);
  }
}

void difference(const World& world, const Eigen::Ref<const Eigen::VectorXd>& q0, const Eigen::Ref<const Eigen::VectorXd>& q1,
                Eigen::Ref<Eigen::VectorXd> w) {
  require_size("q0", q0.size(), world.nq());
  require_size("q1", q1.size(), world.nq());
  require_size("w", w.size(), world.nv());
  for (const Joint& joint : world.joints()) {
    difference_joint(joint, q0.data() + joint.q, q1.data() + joint.q, w.data() + joint.v);
  }
}

Eigen::VectorXd neutral(const World& world) {
  Eigen::VectorXd q = Eigen::VectorXd::Zero(world.nq());
  for (const Joint& joint : world.joints()) {
    if (joint.nv == 1) {
      q[joint.q] = std::clamp(0.0, joint.lower, joint.upper);
    } else {
      q[joint.q + joint.nq - 1] = 1.0;
    }
  }
  return q;
}

Eigen::VectorXd random_configuration(const World& world, std::uint64_t seed) {
  Uniform uniform(seed);
  Eigen::VectorXd q(world.nq());
  for (const Joint& joint : world.joints()) {
    if (joint.nv == 1) {
      q[joint.q] = random_position(joint, uniform);
      continue;
    }
    if (joint.kind == JointKind::free) {
      for (int i = 0; i < 3; ++i) q[joint.q + i] = uniform(-1.0, 1.0);
    }
    q.segment<4>(joint.q + joint.nq - 4) = random_rotation(uniform).normalized().coeffs();
  }
  return q;
}

}  // namespace stiction
