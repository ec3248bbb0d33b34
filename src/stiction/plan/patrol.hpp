// Way-point patrol: the commanded base velocity that walks a closed list of points [ZD15, section 6.6].
//
//   bearing β = angle to the way-point in the base frame, distance d
//   yaw rate = clamp(k_θ β, ±turn),  vx = clamp(k_d d cos β, 0, forward) when |β| < 45°, vy = clamp(k_d d sin β, ±strafe)
// The next way-point is taken when d <= tolerance; after the last the first follows. The command follows its target at no
// more than `acceleration`, so that the robot starts and stops without a jump.
#pragma once

#include <vector>

#include "stiction/plan/planar.hpp"

namespace stiction {

struct PatrolParameters {
  std::vector<Eigen::Vector2d> waypoints;           ///< world frame (m), at least one
  double tolerance = 0.1;                           ///< m
  double forward = 0.2, strafe = 0.05, turn = 0.5;  ///< largest commanded m/s, m/s, rad/s
  Eigen::Vector3d acceleration{1.0, 0.5, 4.0};      ///< largest change of vx, vy (m/s²) and yaw rate (rad/s²), infinity allowed
};
/// (0,0) (0.25,0) (0,0.25) (0,-0.25) (-0.25,0), tolerance 0.1 m, 0.2 m/s forward, 0.05 m/s strafe, 0.5 rad/s [ZD15].
PatrolParameters published_patrol();
/// Throws InvalidArgument.
void validate(const PatrolParameters& parameters);

class Patrol {
 public:
  /// Throws InvalidArgument.
  explicit Patrol(PatrolParameters parameters);

  /// Command at time t (s, not before the last call) for the measured pose. Switches way-points.
  PlanarTwist update(double t, const PlanarPose& pose);
  int reached() const { return reached_; }  ///< way-points reached so far
  /// Back to the first way-point, at rest.
  void reset();

 private:
  PatrolParameters parameters_;
  int target_ = 0, reached_ = 0;
  bool started_ = false;
  double time_ = 0.0;
  PlanarTwist command_;
};

}  // namespace stiction
