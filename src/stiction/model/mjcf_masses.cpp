// Settings of <compiler> that change the mass properties of every body.
#include <algorithm>

#include <Eigen/Eigenvalues>

#include "stiction/model/mjcf_context.hpp"

namespace stiction {

namespace {

/// Principal moments w -> at least `least`, and their mean where w0 + w1 < w2 and `balance`; axes stay.
void bound_inertia(double least, bool balance, Eigen::Matrix3d& inertia) {
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> principal(inertia);
  Eigen::Vector3d w = principal.eigenvalues().cwiseMax(least);
  if (balance && w[0] + w[1] < w[2]) w.setConstant(w.mean());
  inertia = principal.eigenvectors() * w.asDiagonal() * principal.eigenvectors().transpose();
}

}  // namespace

void apply_mass_settings(const MjcfContext& context, const std::vector<int>& bodies, RobotDescription& robot) {
  double total = 0.0;
  for (const int i : bodies) {
    Inertial& body = robot.links[i].inertial;
    body.mass = std::max(body.mass, context.bound_mass);
    if (context.bound_inertia > 0.0 || context.balance_inertia) bound_inertia(context.bound_inertia, context.balance_inertia, body.inertia);
    total += body.mass;
  }
  if (!(context.total_mass > 0.0) || total == 0.0) return;
  const double scale = context.total_mass / total;
  for (const int i : bodies) {
    Inertial& body = robot.links[i].inertial;
    body.mass *= scale;
    body.inertia *= scale;
  }
}

}  // namespace stiction
