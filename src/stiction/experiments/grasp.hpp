// Boxes held in a row between two grippers that press it from both ends [D14, section VII-A and Table I], and a stack of boxes.
//
//   n cubes of 0.1 m and 1 kg along x, a gripper of the same size and mass at each end, on a prismatic joint along x, pressed inwards with
//   100 n N; step 0.01 s; friction 100 at the grippers, infinite between the boxes (under laws that need a number: 100, as Table I has it).
// Its simulator puts a corner where two equal boxes meet in three times, once for each normal that its degenerate geometry allows: 12
// contacts per pair of bodies. `corner_normals` does the same; otherwise the four corners of the common face are the contacts.
// The step is semi-implicit Euler, as in the stepper, but a solve that fails ends the run: no second try, no halves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stiction/experiments/report.hpp"
#include "stiction/forward/step.hpp"

namespace stiction {

/// `quick`: fewer steps and trials.
ExperimentReport run_grasp(const ExperimentOptions& options);

inline constexpr double kGraspBox = 0.1, kGraspMass = 1.0, kGraspForce = 100.0;  ///< m, kg, N per box

struct GraspSetting {
  std::string name = {};
  Law law = Law::no_slip;
  Solver solver = Solver::automatic;
  bool corner_normals = false;
  bool warm_start = false;
  double mu = kInfinity;                            ///< between boxes
  std::optional<double> gripper_mu = std::nullopt;  ///< between a gripper and a box; absent: mu
};

/// A row of boxes under way.
class HeldRow {
 public:
  /// `jitter`: boxes start up to so far (m) from their places along y and z, by the seed.
  HeldRow(const GraspSetting& setting, int boxes, double h, double jitter = 0.0, std::uint64_t seed = 1);

  /// False, and the state stays as it was, where the solve leaves a certificate above the stepper's `acceptable`.
  bool step();

  const ContactProblem& problem() const { return problem_; }
  const Solution& solution() const { return solution_; }
  const std::vector<ContactPoint>& contacts() const { return contacts_; }
  /// Largest vertical distance of a box from where it started (m).
  double sag() const;
  /// Mean over the grippers of Σ ξᵀMξ/2 over the boxes, ξ the velocity relative to the gripper (J) [the measure of its figure].
  double relative_energy() const;
  /// On the gripper at the end of greater x (0) or less (1), by the boxes: along x and z (N).
  Eigen::Vector2d gripper_force(int gripper) const;

 private:
  int boxes_;
  double h_;
  GraspSetting setting_;
  World world_;
  CollisionScene scene_;
  WorldData data_;
  State state_, start_;
  AssembleOptions assemble_;
  SolveOptions options_;
  SolveWorkspace workspace_;
  std::vector<ContactPoint> contacts_;
  ContactProblem problem_;
  Solution solution_;
  Eigen::VectorXd tau_;
};

/// Adds to the corners of faces that meet, of equal boxes in line, what other normals their geometry allows: two more contacts each.
void add_corner_normals(std::vector<ContactPoint>& contacts);

}  // namespace stiction
