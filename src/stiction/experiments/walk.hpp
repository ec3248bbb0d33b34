// The quadruped that walks over a map of hills [D14, section VII-B, Tables II and III]: how long the simulation takes, controls and
// collision included.
//
//   Table II    symplectic Euler, no slip: the law of [Drumwright and Shell] at μ = 100 (max_dissipation) against no_slip by the
//               modified PPM
//   Table III   event-driven, fourth-order Runge-Kutta between events, viscous friction of 0.1 N s/m and no other: Lemke against the
//               modified PPM
// Step 1 ms, 10 s. The robot, its gait and its controller are those of the experiment trot (its PID; the paper's are not published), the
// hills are those of [ZD15]. Times are ratios, of the same machine and minute; pivots are per solve. A robot that falls ends its run: its
// row says when.
#pragma once

#include "stiction/experiments/report.hpp"
#include "stiction/forward/step.hpp"
#include "stiction/record/metrics.hpp"

namespace stiction {

/// `quick`: a second of walking at most, a tenth under the event-driven scheme.
ExperimentReport run_walk(const ExperimentOptions& options);

struct WalkSetting {
  std::string name;
  Law law = Law::no_slip;
  Solver solver = Solver::automatic;
  Scheme scheme = Scheme::semi_implicit_euler;
  double mu = kInfinity;
};

/// What a run of a setting came to.
struct WalkRun {
  double walked = 0.0;         ///< s
  double seconds = 0.0;        ///< of the whole, per second walked
  double solve_seconds = 0.0;  ///< of that, in solves and what is between
  Mean contacts, pivots;       ///< per step; per solve
  long steps = 0, solves = 0, at_acceptable = 0;
  double distance = 0.0;        ///< m, of the base in the plane
  double without_events = 0.0;  ///< s, taken at velocity level
  std::string failure;          ///< why it ended early
};
WalkRun walk(const WalkSetting& setting, double duration);

}  // namespace stiction
