// A robot let go: unactuated, all collision shapes on, above a plane. Whether what happens makes sense is measured at every step.
//
//   jump     |Δx| - h max(speed before, speed after) - correction, over bodies: x the origin, speed that of the body's fastest point, the
//            correction of positions bounded by the penetration it undoes. Curved paths leave O(h² ω² r) of it.
//   energy   E(t) - min_{s <= t} E(s), E = kinetic + potential: nothing drives the robot, so it falls but for O(h) of the integration and
//            for what the correction lifts; over m g (height of the highest point), the energy there was to gain.
// A URDF floats unless told otherwise; an MJCF has the base, and where it has none of its own the plane, of its file.
#pragma once

#include <string>
#include <vector>

#include "stiction/sim/run_summary.hpp"

namespace stiction {

struct DropOptions {
  double clearance = 1e-3;  ///< m, lowest point above the plane at the start; no say for an MJCF without a free base
  double duration = 1.0;    ///< s
  double friction = 0.5;    ///< where the file names none
  bool floating = true;     ///< of URDF files
  StepOptions step;         ///< dt 1e-3 s, law coulomb_cone
};

struct DropResult {
  std::string robot, file;
  int nv = 0, bodies = 0, geometries = 0;
  double mass = 0.0;       ///< kg, moving
  double clearance = 0.0;  ///< m, as it was at the start
  RunSummary run;
  double time = 0.0;                                   ///< s, reached
  double height_start = 0.0, height_end = 0.0;         ///< m, of the first moving body's origin
  double fastest = 0.0;                                ///< m/s, of any body's farthest point
  double jump = 0.0;                                   ///< m, largest; negative where every body kept within its speed
  double jump_share = 0.0;                             ///< jump over h times the speed, where that is above 1e-6 m
  double energy_rise = 0.0, energy_scale = 0.0;        ///< J
  std::vector<std::pair<std::string, double>> joints;  ///< start positions of the joints with one coordinate
  std::vector<std::string> warnings;
};

/// Loads the file (URDF or MJCF) and lets it go. A run that ends early says so in `run.stop`; `failed` is then its last contact problem.
/// Throws FileError or InvalidArgument on files that cannot be loaded.
DropResult drop(const std::string& file, const DropOptions& options, ContactProblem* failed = nullptr);

}  // namespace stiction
