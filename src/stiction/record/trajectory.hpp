// A run with all that happened in it, as a file that can be looked at without the scene, robot or mesh files that it came from.
//
// A numpy archive (.npz) of, for k states, b bodies, s shapes and c contacts in all; what belongs to a step stands in the row of the state
// that it led to, and is zero in the first row:
//   format, version      "stiction trajectory", 6
//   status refused       (1,) (1,) how the run ended: "solved" and "acceptable" went on to the end of their duration, others did not; what
//                        the step that ended it was refused for (Refusal), "" where none was (since version 6, as the next two lines)
//   law scheme dt tolerance             (1,) (1,) () s () what its steps were taken with: contacts may have laws of their own
//   gravity              (3,) m/s^2
//   time q v             (k,) s, (k, nq), (k, nv)
//   q_names v_names      (nq,) (nv,): of the coordinates
//   tau tau_desired      (k, nv) N and N m: applied, and what the control had asked for before limits
//   drive_tau            (k, nv) N and N m: of the drives, beside tau (since version 5)
//   residual penetration (k,) worst scaled residual; deepest before the step (m)
//   certificate_names certificate   (p,), (k, p): its parts, the worst scaled value of each over the solves of the step (since version 4)
//   iterations sub_steps (k,) integers: of the solver; parts that the step was taken in
//   at_acceptable saturated             (k,) integers: 1 where the step missed the tolerance; how many torques were cut to limits
//   seconds              (k, 6) wall time of the stages update, detect, assemble, solve, project, integrate
//   body_names body_mass (b,) as coordinate_names.hpp has them, (b,) kg, 0 of static bodies
//   center_of_mass       (k, 3) of all that moves (m), zero where nothing does
//   body_poses           (k, b, 7): position and quaternion x y z w in the world
//   contact_offsets      (k + 1,): the contacts of state i are [offsets[i], offsets[i + 1])
//   contact_points contact_frames       (c, 3) m, (c, 9) rows of R_WC, whose columns are the normal and two tangents
//   contact_impulses contact_forces     (c, 3) N s in the contact frame; (c, 3) N in world axes, on the first body of the pair
//   contact_modes        (c,) 0 open, 1 stick, 2 slip
//   contact_bodies contact_gaps         (c, 2) indices of bodies, (c,) m, before the step
//   contact_mu           (c,) friction, infinity allowed
//   signal_names signals (s,), (k, s): what the program that drove the run says of each step, in the unit that the name ends with
//   target_names targets reached        (t,), (k, t, 3), (k, t, 3): where points were meant to be, and were, as the step began (m, world)
//   shape_names shape_kinds shape_bodies shape_placements shape_sizes    (s,), (s,), (s,), (s, 7), (s, 3): as in DrawnShape
//   mesh_vertex_offsets mesh_vertices mesh_face_offsets mesh_faces       (s + 1,), (., 3), (s + 1,), (., 3): of shapes of kind "mesh"
// Of a step taken in parts, impulses are sums and forces means over all of it (StepForces, forward/step_impulses.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "stiction/forward/step.hpp"

namespace stiction {

struct Trajectory {
  std::vector<double> time, q, v, tau, tau_desired, drive_tau;  ///< one row per state, one after the other
  std::vector<double> residual, certificate, penetration, seconds;
  std::vector<int> iterations, sub_steps, at_acceptable, saturated;
  std::vector<std::int64_t> contact_offsets{0};
  std::vector<double> contact_points, contact_frames, contact_impulses, contact_forces, contact_gaps, contact_mu;
  std::vector<int> contact_modes, contact_bodies;
  std::vector<std::string> signal_names, target_names;  ///< set before the first state; whoever sets them appends a row for every step
  std::vector<double> signals, targets, reached;
  std::string status, refused;               ///< how the run ended, said by whoever knows; status "": nobody did
  std::string law, scheme;                   ///< "" and NaN until `stepped_with`
  double dt = std::nan(""), tolerance = dt;  ///< s; scaled residual that steps aimed at

  /// Tells what the steps are taken with.
  void stepped_with(const StepOptions& options);
  /// A state that no step led to.
  void add(const State& state);
  /// The state after the stepper's last step under tau (nv).
  void add(const State& state, const Stepper& stepper, const StepReport& report, const Eigen::Ref<const Eigen::VectorXd>& applied);
  /// The same where `desired` (nv) was cut to limits, in `cut` of its entries.
  void add(const State& state, const Stepper& stepper, const StepReport& report, const Eigen::Ref<const Eigen::VectorXd>& applied,
           const Eigen::Ref<const Eigen::VectorXd>& desired, int cut);

  std::size_t states() const { return time.size(); }

 private:
  void add_step(const State& state, const StepReport& report, const Eigen::Ref<const Eigen::VectorXd>& applied,
                const Eigen::Ref<const Eigen::VectorXd>& desired, int cut);
};

/// Throws InvalidArgument for a name that does not end in .npz, FileError when the file cannot be written.
void save_trajectory(const std::filesystem::path& path, const World& world, const Trajectory& trajectory);

}  // namespace stiction
