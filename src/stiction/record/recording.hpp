// A run as a file that can be looked at without the scene, robot or mesh files that it came from.
//
// A numpy archive (.npz) of, for k states, b bodies, s shapes and c contacts in all:
//   format, version      "stiction recording", 1
//   time q v             (k,) s, (k, nq), (k, nv)
//   body_names           (b,)
//   body_mass            (b,) kg, 0 of static bodies
//   body_poses           (k, b, 7): position and quaternion x y z w in the world
//   contact_offsets      (k + 1,): the contacts of state i are [offsets[i], offsets[i + 1]); those of a step belong to the state that
//                        it led to, so the first state has none
//   contact_points contact_forces       (c, 3) m and N in world axes, the force on the first body of the pair
//   contact_bodies contact_gaps         (c, 2) indices of bodies, (c,) m, before the step
//   shape_names shape_kinds shape_bodies shape_placements shape_sizes    (s,), (s,), (s,), (s, 7), (s, 3): as in DrawnShape
//   mesh_vertex_offsets mesh_vertices mesh_face_offsets mesh_faces       (s + 1,), (., 3), (s + 1,), (., 3): of shapes of kind "mesh"
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "stiction/forward/step.hpp"

namespace stiction {

struct Recording {
  std::vector<double> time, q, v;  ///< one row per state, one after the other
  std::vector<std::int64_t> contact_offsets{0};
  std::vector<double> contact_points, contact_forces, contact_gaps;
  std::vector<int> contact_bodies;

  /// A state that no step led to.
  void add(const State& state);
  /// The state after the stepper's last step, with that step's contacts and their mean forces over it.
  void add(const State& state, const Stepper& stepper);
};

/// Throws FileError when the file cannot be written.
void save_recording(const std::filesystem::path& path, const World& world, const Recording& recording);

}  // namespace stiction
