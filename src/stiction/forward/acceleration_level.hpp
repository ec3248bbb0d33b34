// Contact on the acceleration level: v̇ and the forces f of what is closed at (q, v) and stays so, by any rigid law.
//
//   M v̇ = tau - bias + Jᵀ f + J_bᵀ f_b,   a_i = J_i v̇ + J̇_i v                         the law of the contact, at a in place of a velocity
//   slides, |u_T| > 0:  f_T opposes u_T:  the law at a + B t̂ - a_⊥,  t̂ = u_T/|u_T|, B far above all accelerations, a_⊥ that across t̂:
//                       at its fixed point the law sees a slip along t̂ alone, and gains a factor μ |a|/B per pass
//                       slower than a piece of length s may make it, |u_T| < s |a|: its friction turns as fast as |a|/|u_T|, too stiff for
//                       an explicit method; then it opposes u_T + s a_⊥, that after the piece: the law at |u_T|/s t̂ + a - a_∥
//   sticks, u_T = 0:    the law at a: stays (a_T = 0), or begins to slip against a_T
// J̇ v is the derivative of J v along q ⊕ t v, v held, by the central difference of fourth order over poses at which collision gives the
// points again: curvature of all shapes included. A point that is not found there again by its id, or whose normal jumps between them, is
// carried on: fixed to body A, its normal to body B (a corner on a face). Frictionless contacts and viscous ones, whose friction -η u_T is
// known [D14], have their normals alone. Joint limits that are reached, dry friction and velocity drives are bounded rows in the same way.
// Where no forces exist (Painlevé's rod) the law's answer to the slip B is to stop it: told as a jam.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "stiction/assemble/assemble.hpp"
#include "stiction/forward/events.hpp"
#include "stiction/laws/solve.hpp"

namespace stiction {

/// What a step reads: all of it outlives the step.
struct EventSetting {
  const World& world;
  CollisionScene& scene;
  const std::vector<double>& reach;  ///< per body, farthest point of its shapes from its origin (m)
  const AssembleOptions& assemble;
  double recovery;  ///< share of a penetration undone per step
  const SolveOptions& contact;
  const EventOptions& events;
  Eigen::Ref<const Eigen::VectorXd> tau;
  std::span<const AppliedWrench> wrenches;
};

/// What the law asks of a closed contact at rest, over a second: R_T is that of friction per slip (kg/s).
ContactTerms terms_of(Law law, double mu, const ContactMaterial& material);
/// True of rigid laws of Coulomb's kind, and of those whose cones are half lines and half spaces alone.
bool fits_events(Law law);
/// What is left for the solves: friction that the motion fixes is known, and a law that reads the velocity before is Coulomb's between
/// impacts.
Law acceleration_law(Law law);
Law impact_law(Law law);
/// The options under this law, by its default solver where theirs does not solve it.
SolveOptions under(SolveOptions options, Law law);

/// What the solves of a step came to.
struct SolveTally {
  Status status = Status::solved;  ///< of the last that missed the tolerance
  double residual = 0.0;           ///< worst, scaled
  Certificate certificate;         ///< of the solve with that residual
  int solves = 0, iterations = 0;

  void count(const Solution& solution);
  /// The residual of a solve whose answer is taken.
  void note(const Solution& solution);
};

/// Velocity N S T (m/s) of A against B at a contact point, at velocities v (nv) and the poses of `data`.
Eigen::Vector3d contact_velocity(const World& world, const WorldData& data, const ContactPoint& c,
                                 const Eigen::Ref<const Eigen::VectorXd>& v);

enum class Mode : char { free, sticks, slides, starts, leaves };

struct ClosedContact {
  ContactPoint point;                               ///< as the piece begins
  Eigen::Vector3d p_A, p_B, n_B;                    ///< the point in both bodies' frames, its normal in B's
  Mode mode = Mode::free;                           ///< starts: no slip yet, an acceleration; free: no friction at all
  double slip = 0.0;                                ///< m/s, |u_T| as the piece begins
  double mu = 0.0;                                  ///< as the law has it
  Eigen::Vector2d along = Eigen::Vector2d::Zero();  ///< t̂ then (slides)
  Eigen::Vector2d known = Eigen::Vector2d::Zero();  ///< a_⊥ last found; of a stiff slide a_∥
};

struct ClosedRow {
  RowKind kind = RowKind::limit;
  std::uint64_t id = 0;  ///< as assemble names it
  int v = 0, q = 0, block = 0;
  double sign = 1.0;                 ///< of its speed: sign v̇ >= 0 at a limit
  double target = 0.0, place = 0.0;  ///< speed of a drive; position of a limit
  double lo = 0.0, hi = 0.0;         ///< N or N m
  Mode mode = Mode::sticks;          ///< slides: faster or slower than its target, with all that it can; leaves: a limit
  double side = 0.0;                 ///< sign of the slip (slides)
};

/// What holds at one point of the motion.
struct Accelerations {
  Eigen::VectorXd v_dot;       ///< nv
  GrowVector forces;           ///< 3n of the closed contacts, world axes (N)
  GrowVector row_forces;       ///< of the rows
  GrowVector equality_forces;  ///< of closed loops
};

class AccelerationLevel {
 public:
  explicit AccelerationLevel(const World& world);

  std::vector<ClosedContact> contacts;
  std::vector<ClosedRow> rows;
  /// Starts a piece: points fixed to their bodies at the poses of `data`.
  void hold(const EventSetting& setting, const WorldData& data);

  enum class Answer { found, none, failed };
  /// none: there are no forces (a jam). failed: the solver missed the tolerance; `tally` says by how much.
  Answer evaluate(const EventSetting& setting, const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Ref<const Eigen::VectorXd>& v,
                  Accelerations& out);

  /// Of the last evaluation, per contact: point, slip and acceleration u, a (3n); a row's slip and acceleration.
  const std::vector<ContactPoint>& points() const { return points_; }
  Eigen::Vector3d u(std::size_t i) const { return u_.segment<3>(3 * static_cast<Eigen::Index>(i)); }
  Eigen::Vector3d a(std::size_t i) const { return a_.segment<3>(3 * static_cast<Eigen::Index>(i)); }
  double row_slip(std::size_t j) const { return row_slip_[static_cast<Eigen::Index>(j)]; }
  double row_a(std::size_t j) const { return row_a_[static_cast<Eigen::Index>(j)]; }
  double scale() const { return scale_; }  ///< m/s², of the free motion: what accelerations are small beside
  const WorldData& data() const { return data_; }
  /// Of the last evaluation: accelerations below this are none (m/s²).
  double small() const { return kSmall * scale_; }
  /// A contact slips whose law allows no slip: an impulse is needed to stop it.
  bool holds_slip() const { return holds_slip_; }
  const GrowVector& free() const { return reduction_.v_free; }  ///< nv, v̇ without contacts and bounded rows
  /// A x for the change x of velocities, and of configurations, that brings back what the last evaluation holds: contacts that bear to gap
  /// and speed zero, tangents that stick, joints at limits, loops. Of what is deeper than kTouchGap only the share `recovery`. `transposed`
  /// is Aᵀ (nv x m), the others m. first: of every row itself, or of a loop the first of its shifts or turns. driven: which of `rows` are
  /// drives that hold.
  void holding_rows(const EventSetting& setting, const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Ref<const Eigen::VectorXd>& v,
                    double recovery, GrowMatrix& transposed, GrowVector& speeds, GrowVector& gaps, std::vector<int>& first,
                    std::vector<std::size_t>& driven);
  /// The impulses on contacts, rows and loops that those of the rows just listed by `holding_rows` are (N s or N m s).
  void impulses_of_held(const EventSetting& setting, const GrowVector& of_rows, Accelerations& out) const;
  const BlockDiagonal& inertia() const { return problem_.M; }

  double piece = 0.0;  ///< s, of the piece under way: slides slower than what it may change are stiff
  bool stiff() const { return stiff_; }

  SolveTally tally;
  bool cold = true;  ///< the next solve begins anew

 private:
  static constexpr double kSmall = 1e-6;  // a thousand times the tolerance of the solves

  void find_points(const EventSetting& setting, const WorldData& data, double margin);
  void list_loops(const World& world, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& q,
                  const Eigen::Ref<const Eigen::VectorXd>& v);
  void differentiate(const EventSetting& setting, const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Ref<const Eigen::VectorXd>& v);
  void assemble_rows(const EventSetting& setting, const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Ref<const Eigen::VectorXd>& v);
  void add_rows(const Eigen::Ref<const Eigen::VectorXd>& v);
  Eigen::Vector2d slip_seen(std::size_t k, int pass, double slide) const;
  Answer solve_law(const EventSetting& setting);
  template <class OnContact, class OnRow>
  void for_each_held(const EventSetting& setting, const OnContact& on_contact, const OnRow& on_row) const;

  WorldData data_, ahead_;
  AssembleOptions smooth_;
  ContactProblem problem_, loops_;
  Reduction reduction_;
  SolveWorkspace workspace_;
  Solution solution_;
  std::vector<ContactPoint> points_, found_, bearing_points_;
  std::vector<std::array<Eigen::Vector3d, 4>> normals_;  ///< of the contacts at the poses of the difference
  std::vector<std::size_t> bearing_;                     ///< contacts of the problem
  std::vector<int> row_of_;                              ///< per row: its row of J_b, -1 where it is none
  GrowVector u_, a_, convective_, carried_, u_free_, lambda_, lambda_b_, lambda_p_, row_slip_, row_a_, v_dot_, loop_rate_, scratch_, tau_,
      edge_angle_;
  std::vector<Eigen::Vector2d> along_;
  std::vector<double> viscosity_, speed_;
  bool holds_slip_ = false, stiff_ = false;
  Eigen::VectorXd q_ahead_;
  int equalities_ = 0;
  double scale_ = 0.0;
};

}  // namespace stiction
