// What must never end a run: robots pushed over and dropped, bodies a million times heavier than what they stand on, faces of sixteen
// points that rest on each other, and ten minutes in one go.
//
//   push-overs    the quadruped of [ZD15], every link collides, joints held by servos; once it stands its base is given a random velocity
//   drops         the same robot with loose joints, let go 2 m up, turned at random: nothing drives it, so no energy comes in
//   mass ratios   two cubes on each other, at rest: forces by Newton's third law
//   faces         prisms over a regular polygon of 16 corners on a slope that they stick to
//   soak          the standing quadruped pushed every two seconds, on and on
#pragma once

#include "stiction/experiments/report.hpp"

namespace stiction {

/// `quick`: fewer pushes and drops, a shorter soak.
ExperimentReport run_endurance(const ExperimentOptions& options);

}  // namespace stiction
