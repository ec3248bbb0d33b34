#include "stiction/control/stabilizer.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

constexpr double kIdentifyingRegularisation = 1e-8;  // enough to find the pressing set, which is then polished without
constexpr int kMaxIterations = 60;

// A_i = (r × n)_xy of every foot.
void moment_arms(const Eigen::Ref<const Eigen::Matrix3Xd>& point, const Eigen::Ref<const Eigen::Matrix3Xd>& normal,
                 const Eigen::Ref<const Eigen::Vector3d>& center, GrowMatrix& arm) {
  arm.resize(2, point.cols());
  for (Eigen::Index i = 0; i < point.cols(); ++i) {
    const Eigen::Vector3d r = point.col(i) - center;
    arm.col(i) = r.cross(normal.col(i)).head<2>();
  }
}

// A_i with its height known to the compiler, so that products need no heap.
auto arm_of(const GrowMatrix& arm, Eigen::Index i) { return Eigen::Vector2d::Map(arm.data() + 2 * i); }

bool pressing(const GrowMatrix& arm, Eigen::Index i, const Eigen::Vector2d& y) { return arm_of(arm, i).dot(y) > 0.0; }

bool same_set(const GrowMatrix& arm, const Eigen::Vector2d& y, const Eigen::Vector2d& z) {
  for (Eigen::Index i = 0; i < arm.cols(); ++i) {
    if (pressing(arm, i, y) != pressing(arm, i, z)) return false;
  }
  return true;
}

// Gradient A (Aᵀy)⁺ + δ y - m of the convex dual function.
Eigen::Vector2d dual_gradient(const GrowMatrix& arm, double delta, const Eigen::Vector2d& moment, const Eigen::Vector2d& y) {
  Eigen::Vector2d gradient = delta * y - moment;
  for (Eigen::Index i = 0; i < arm.cols(); ++i) gradient += arm_of(arm, i) * std::max(0.0, arm_of(arm, i).dot(y));
  return gradient;
}

// Σ A_i A_iᵀ over the feet that press at y.
Eigen::Matrix2d pressing_gram(const GrowMatrix& arm, const Eigen::Vector2d& y) {
  Eigen::Matrix2d gram = Eigen::Matrix2d::Zero();
  for (Eigen::Index i = 0; i < arm.cols(); ++i) {
    if (pressing(arm, i, y)) gram += arm_of(arm, i) * arm_of(arm, i).transpose();
  }
  return gram;
}

// Step length where the dual's slope along d changes sign: the full step, or less when it goes past the minimum.
double line_search(const GrowMatrix& arm, double delta, const Eigen::Vector2d& moment, const Eigen::Vector2d& y, const Eigen::Vector2d& d) {
  if (dual_gradient(arm, delta, moment, y + d).dot(d) <= 0.0) return 1.0;
  double low = 0.0, high = 1.0;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (low + high);
    (dual_gradient(arm, delta, moment, y + middle * d).dot(d) <= 0.0 ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

// Newton's method on the dual; true when the set that presses no longer changes, which makes y exact.
bool minimise_dual(const GrowMatrix& arm, double delta, const Eigen::Vector2d& moment, Eigen::Vector2d& y, int& iterations) {
  const Eigen::Matrix2d ridge = delta * Eigen::Matrix2d::Identity();
  y = (Eigen::Matrix2d(arm.lazyProduct(arm.transpose())) + ridge).llt().solve(moment);
  for (iterations = 1; iterations <= kMaxIterations; ++iterations) {
    const Eigen::Vector2d next = (pressing_gram(arm, y) + ridge).llt().solve(moment);
    if (same_set(arm, y, next)) {
      y = next;
      return true;
    }
    const Eigen::Vector2d d = next - y;
    y += line_search(arm, delta, moment, y, d) * d;
  }
  return false;
}

// Least-norm least-squares forces on the set that presses at y; false when one of them would pull.
bool polish(const Eigen::Vector2d& moment, const Eigen::Vector2d& y, VirtualForces& forces) {
  Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> eigen;
  eigen.computeDirect(pressing_gram(forces.arm, y));
  Eigen::Vector2d z = Eigen::Vector2d::Zero();
  for (int i = 0; i < 2; ++i) {
    if (eigen.eigenvalues()[i] <= 1e-12 * eigen.eigenvalues()[1]) continue;
    z += eigen.eigenvectors().col(i) * (eigen.eigenvectors().col(i).dot(moment) / eigen.eigenvalues()[i]);
  }
  const double tolerance = 1e-9 * forces.arm.colwise().norm().maxCoeff() * z.norm();
  for (Eigen::Index i = 0; i < forces.arm.cols(); ++i) {
    if (pressing(forces.arm, i, y) && arm_of(forces.arm, i).dot(z) < -tolerance) return false;
  }
  for (Eigen::Index i = 0; i < forces.arm.cols(); ++i) {
    forces.force[i] = pressing(forces.arm, i, y) ? std::max(0.0, arm_of(forces.arm, i).dot(z)) : 0.0;
  }
  return true;
}

void finish(const Eigen::Vector2d& moment, Status status, VirtualForces& forces) {
  forces.moment.setZero();
  for (Eigen::Index i = 0; i < forces.arm.cols(); ++i) forces.moment += arm_of(forces.arm, i) * forces.force[i];
  forces.residual = (forces.moment - moment).norm();
  forces.status = status;
}

void require_feet(const VirtualForces& forces, const Eigen::Ref<const Eigen::Matrix3Xd>& normal,
                  const Eigen::Ref<const Eigen::MatrixXd>& jacobian, Eigen::Index joints) {
  require_size("normal columns", normal.cols(), forces.force.size());
  require_size("jacobian rows", jacobian.rows(), 3 * normal.cols());
  require_size("jacobian columns", jacobian.cols(), joints);
}

}  // namespace

StabilizerGains published_stabilizer(const Eigen::Matrix2d& inertia) {
  require_spd("inertia", inertia);
  StabilizerGains gains;
  gains.kd.setConstant(50.0);
  gains.inertia = inertia;
  gains.regularisation = 1e-2;
  return gains;
}

BaseTilt base_tilt(const Eigen::Ref<const Eigen::Matrix3d>& R_WB, const Eigen::Ref<const Eigen::Vector3d>& w_WB_B) {
  require_finite("R_WB", R_WB);
  require_finite("w_WB_B", w_WB_B);
  BaseTilt tilt;
  tilt.roll = std::atan2(R_WB(2, 1), R_WB(2, 2));
  tilt.pitch = std::atan2(-R_WB(2, 0), std::hypot(R_WB(2, 1), R_WB(2, 2)));
  const double sr = std::sin(tilt.roll), cr = std::cos(tilt.roll), sp = std::sin(tilt.pitch), cp = std::cos(tilt.pitch);
  tilt.roll_rate = cp * w_WB_B.x() + sp * (sr * w_WB_B.y() + cr * w_WB_B.z());
  tilt.pitch_rate = cr * w_WB_B.y() - sr * w_WB_B.z();
  return tilt;
}

Eigen::Vector2d stabilizing_moment(const StabilizerGains& gains, const BaseTilt& tilt) {
  const Eigen::Vector2d angle(tilt.roll, tilt.pitch), rate(tilt.roll_rate, tilt.pitch_rate);
  return -gains.inertia * (gains.kp.cwiseProduct(angle) + gains.kd.cwiseProduct(rate));
}

void compressive_forces(const Eigen::Ref<const Eigen::Matrix3Xd>& point, const Eigen::Ref<const Eigen::Matrix3Xd>& normal,
                        const Eigen::Ref<const Eigen::Vector3d>& center, const Eigen::Vector2d& moment, double regularisation,
                        VirtualForces& forces) {
  require_size("normal columns", normal.cols(), point.cols());
  require_finite("point", point);
  require_finite("normal", normal);
  require_finite("center", center);
  require_finite("moment", moment);
  if (!(regularisation >= 0.0)) throw InvalidArgument("regularisation", "a number >= 0", std::to_string(regularisation));
  forces.force.setZero(point.cols());
  moment_arms(point, normal, center, forces.arm);
  forces.iterations = 0;
  const double scale = point.cols() == 0 ? 0.0 : forces.arm.colwise().squaredNorm().maxCoeff();
  if (scale == 0.0 || moment.isZero(0.0)) return finish(moment, Status::solved, forces);

  const double delta = (regularisation > 0.0 ? regularisation : kIdentifyingRegularisation) * scale;
  Eigen::Vector2d y;
  const bool converged = minimise_dual(forces.arm, delta, moment, y, forces.iterations);
  if (regularisation > 0.0 || !polish(moment, y, forces)) {
    for (Eigen::Index i = 0; i < point.cols(); ++i) forces.force[i] = std::max(0.0, arm_of(forces.arm, i).dot(y));
  }
  finish(moment, converged ? Status::solved : Status::inaccurate, forces);
}

void add_virtual_force_torques(const VirtualForces& forces, const Eigen::Ref<const Eigen::Matrix3Xd>& normal,
                               const Eigen::Ref<const Eigen::MatrixXd>& jacobian, Eigen::Ref<Eigen::VectorXd> tau) {
  require_feet(forces, normal, jacobian, tau.size());
  for (Eigen::Index i = 0; i < normal.cols(); ++i) {
    tau -= jacobian.middleRows<3>(3 * i).transpose().lazyProduct(normal.col(i) * forces.force[i]);
  }
}

void add_virtual_force_accelerations(const VirtualForces& forces, const Eigen::Ref<const Eigen::Matrix3Xd>& normal,
                                     const Eigen::Ref<const Eigen::MatrixXd>& jacobian, double virtual_mass,
                                     Eigen::Ref<Eigen::VectorXd> a) {
  require_feet(forces, normal, jacobian, a.size());
  require_positive("virtual_mass", virtual_mass);
  for (Eigen::Index i = 0; i < normal.cols(); ++i) {
    if (forces.force[i] == 0.0) continue;
    const auto J = jacobian.middleRows<3>(3 * i);
    Eigen::Matrix3d JJt = J.lazyProduct(J.transpose());
    JJt.diagonal().array() += 1e-6 * JJt.trace() + 1e-300;
    const Eigen::Vector3d w = JJt.llt().solve(normal.col(i) * (-forces.force[i] / virtual_mass));
    a += J.transpose().lazyProduct(w);
  }
}

}  // namespace stiction
