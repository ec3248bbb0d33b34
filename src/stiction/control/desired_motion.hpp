// What a planner hands to a controller: where the actuated joints should be, how fast, and with which acceleration.
#pragma once

#include <Eigen/Core>

namespace stiction {

/// Desired motion of the nj actuated joints, in the order in which the robot's model lists them.
struct DesiredMotion {
  Eigen::VectorXd q;  ///< nj, positions (rad or m)
  Eigen::VectorXd v;  ///< nj, velocities
  Eigen::VectorXd a;  ///< nj, accelerations

  DesiredMotion() = default;
  explicit DesiredMotion(Eigen::Index joints)
      : q(Eigen::VectorXd::Zero(joints)), v(Eigen::VectorXd::Zero(joints)), a(Eigen::VectorXd::Zero(joints)) {}
  Eigen::Index joints() const { return q.size(); }
};

}  // namespace stiction
