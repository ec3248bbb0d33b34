#include "stiction/problem/newton_impact.hpp"

namespace stiction {

namespace {

Eigen::Vector3d velocity_before(const ReducedProblem& p, int i) {
  return p.u_before.size() == 0 ? Eigen::Vector3d::Zero() : Eigen::Vector3d(p.u_before.segment<3>(3 * i));
}

}  // namespace

Eigen::Vector3d impact_shift(double restitution, const ContactMaterial& material, const Eigen::Vector3d& u_before) {
  const double tangential = material.restitution_tangential;
  return {restitution * u_before[0], tangential * u_before[1], tangential * u_before[2]};
}

bool closed_at_midpoint(double gap, double dt, double normal_velocity_before) {
  return gap + 0.5 * dt * normal_velocity_before <= kTouchGap;
}

Eigen::Vector3d impact_shift(const ReducedProblem& p, int i) {
  return impact_shift(p.restitution.size() == 0 ? 0.0 : p.restitution[i], material_of(p.material, i), velocity_before(p, i));
}

bool closed_at_midpoint(const ReducedProblem& p, int i) {
  return closed_at_midpoint(p.gap.size() == 0 ? 0.0 : p.gap[i], p.dt, velocity_before(p, i)[0]);
}

void find_closed_at_midpoint(const ContactProblem& p, std::vector<char>& closed, GrowVector& shift) {
  closed.resize(static_cast<std::size_t>(p.contacts()));
  shift.setZero(p.contacts());
  for (int i = 0; i < p.contacts(); ++i) {
    Eigen::Vector3d u = Eigen::Vector3d::Zero();
    p.J.add_group_product(i, p.v, u);
    const bool touches = closed_at_midpoint(p.gap[i], p.dt, u[0]);
    closed[static_cast<std::size_t>(i)] = touches ? 1 : 0;
    if (touches) shift[i] = p.restitution[i] * u[0];
  }
}

}  // namespace stiction
