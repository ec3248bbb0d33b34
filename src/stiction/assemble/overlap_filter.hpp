// Links of a robot whose collision shapes overlap by design: a simulation that took them for contacts would throw the robot apart.
//
// A pair of links of one kinematic tree is left out when, among the pairs of their shapes that may collide,
//   start    one overlaps by more than 1 mm at the world's initial configuration, or
//   always   one touches in 95 or more of 100 configurations drawn from the joints' ranges (fixed seeds),
// the "default" and "always" pairs of MoveIt's set-up assistant [Coleman et al., Reducing the Barrier to Entry of Complex Robotic Software,
// 2014]; its "adjacent" pairs the world excludes already. Pairs that a file declares, robots with `filter_overlaps` off, and what does not
// belong to the robot (ground, other trees) are not looked at. What is left out is left out for good, however the links move later.
// Cost: eight detections of the whole scene, and 94 of the pairs that touched in one of them.
#pragma once

#include <vector>

#include "stiction/geometry/collision_scene.hpp"
#include "stiction/model/world.hpp"

namespace stiction {

/// Two links whose contact makes no sense.
struct OverlappingLinks {
  int a = 0, b = 0;     ///< indices into World::links
  double depth = 0.0;   ///< of the deepest pair of shapes at the start (m), >= 0
  bool always = false;  ///< touch in nearly every configuration
};

/// In the order of the links' indices. Leaves the scene at the world's initial configuration.
std::vector<OverlappingLinks> find_overlaps(const World& world, CollisionScene& scene);

/// Disables them in the scene of the world and says so in its warnings.
void filter_overlaps(const World& world, const std::vector<OverlappingLinks>& pairs, CollisionScene& scene);

}  // namespace stiction
