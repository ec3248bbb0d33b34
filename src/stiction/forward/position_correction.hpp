// What positions need beyond h v⁺: the overlap that curvature, late contacts and the start leave is undone by a shift h δ that never
// enters v. δ is the answer of one more contact problem on the same R, law `todorov` without friction:
//
//   min ½ δᵀMδ + Σ ½ λ_i² R_i    0 <= λ_i ⊥ N_i δ + R_i λ_i + c_i >= 0,   c_i = u_N - γ d_i/h  (d_i > 0),  u_N + φ/h  (apart)
// d_i = -φ_i is the penetration to undo, u_N >= 0 what v⁺ undoes already, γ the share undone in a step. Overlap below `allowed` is left.
// Above it all is undone, not only the excess: else every later step would solve for the last 1e-12 m. Joint limits take part.
// - R_i = σ trace(G_ii)/3: demands that contradict each other (a body wedged between two others) share what is possible, and a contact
//   that its robot can hardly move (|N_i| small beside the other rows of the same contact) moves it by no more than 1/(2 sqrt σ) times a
//   usual one.
// - A joint whose drive holds (is_held) is not turned, whatever the drive's limit. Drives at their limits and dry friction hold nothing.
// - A contact is only asked to open where that moves no point ten times as far as it opens (a short lever is no way out).
// - Solved, certified and refused as any other problem: above `acceptable` nothing is moved.
// - No point of a body moves farther than the deepest penetration: h δ is scaled down to that. With γ = 0.2 a lever of five is free of it.
// - No joint moves past a limit that was too far to have a row in the step: h δ is scaled down to its way there after h v⁺, of cut joints
//   from where they are.
// What is not undone stays for the next step.
// The velocities there are those of position_shift.hpp.
#pragma once

#include "stiction/forward/position_shift.hpp"
#include "stiction/laws/solve_memory.hpp"
#include "stiction/model/dynamics.hpp"

namespace stiction {

struct CorrectionOptions {
  double recovery = 0.2;     ///< γ, in [0, 1]
  double allowed = 1e-6;     ///< m, penetration left alone
  double tolerance = 1e-9;   ///< of the certificate
  double acceptable = 1e-6;  ///< scaled residual above which nothing is moved
};

struct CorrectionReport {
  bool asked = false;     ///< some contact was deeper than allowed
  bool refused = false;   ///< nothing was moved although asked: the certificate was above `acceptable`
  double residual = 0.0;  ///< worst scaled residual
  double deepest = 0.0;   ///< m, of the contacts that take part
  double farthest = 0.0;  ///< m, bound on how far any point of a body was moved, <= deepest
  double lifted = 0.0;    ///< J, potential energy of gravity that moving the bodies added, to first order in the shift; under
                          ///< event_driven all of it, and that of joints' springs
  double turned = 0.0;    ///< rad/s or m/s, the most that the velocity of a joint differs by from the solution's (position_shift.hpp)
};

/// What moves: a world at the state of its data, q (nq) that of the problem, the reduction of the step's problem, and per body the distance
/// of the farthest point of its shapes from its origin (m).
struct CorrectionMotion {
  const World& world;
  const WorldData& data;
  const Eigen::VectorXd& q;
  const std::vector<double>& reach;
  Reduction& reduction;
};

/// Bound on the speed (m/s) of any point of a body with the velocity V of its origin and this reach.
inline double fastest_point(const Vector6d& V, double reach) { return V.head<3>().norm() + V.tail<3>().norm() * reach; }
/// Of all bodies, with the velocities V of body_velocities.
double fastest_point(const std::vector<Vector6d>& V, const std::vector<double>& reach);

class PositionCorrection {
 public:
  /// Adds δ (nv, m/s) to `velocity`. `solved`: of the problem; `takes_part` (n) leaves out contacts that carry their load by penetration.
  CorrectionReport add(const ProblemView& problem, const CorrectionMotion& motion, const Solution& solved,
                       const std::vector<char>& takes_part, const CorrectionOptions& options, Eigen::Ref<Eigen::VectorXd> velocity);
  /// The next call starts cold.
  void reset() { cold_ = true; }
  /// Writes or reads what the next call depends on (base/archive.hpp).
  template <class Archive>
  void carry(Archive& archive) {
    archive(cold_);
    stiction::carry(archive, workspace_);
  }

 private:
  Reduction& reduce_held(const ProblemView& problem, Reduction& of_step, const Solution& solved);
  void pose(const ProblemView& problem, const CorrectionMotion& motion, const Solution& solved, const std::vector<char>& takes_part,
            const CorrectionOptions& options, double deepest);
  bool can_open(const CorrectionMotion& motion, int contact);
  double share_within_limits(const CorrectionMotion& motion, double h, const Eigen::Ref<const Eigen::VectorXd>& v_plus) const;

  ReducedProblem problem_;
  Reduction held_;      ///< of the problem with the drives that hold as bilateral rows
  GrowVector lo_, hi_;  ///< m, its bounds
  SolveWorkspace workspace_;
  Solution solution_;
  GrowVector shift_, u_, y_;
  std::vector<Vector6d> V_;  ///< of all bodies in the shift
  bool cold_ = true;
};

}  // namespace stiction
