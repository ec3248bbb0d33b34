// Event-driven scheme: smooth motion from event to event by an integrator, impacts at events, contact on the acceleration level between.
//
//   settle     what is closed (gap zero) and comes in is met by impacts (impacts.hpp)
//   accelerate forces and modes of what stays closed (acceleration_level.hpp); where there are none, an impulse without collision
//   advance    to the first event within the step: a gap that closes, a slide that stops, a stick that gives way, a contact that is left
//   project    what drifted by the integrator's error is brought back, with the least kinetic energy: gaps, speeds, tangents, loops
// Time of contact: conservative advancement on the gaps φ that collision gives. With A above every closing acceleration (twice that of the
// bodies' points as the piece begins) φ stays open for t = (φ̇ + √(φ̇² + 2 A φ)) / A; the state is integrated from the piece's beginning to
// there and asked again. No gap is passed over, as by a root bracketed at the step's ends one may be that closes and opens within; and t
// is Newton's step on φ from the open side, so it converges quadratically where φ̇ < 0. Ends a hundredth of the tolerance before
// contact.
// Other events: the state at the end of the piece is not of the mode it began with; by halving, of a slip that stops by the secant.
// Zeno: an approach u whose rebound ε u is below the rest speed ends without. The rebounds left would take 2 ε u / (a (1 - ε)) at the
// closing acceleration a: the event `rest` has that time. The motion differs from that with all rebounds by the height of the next, (ε
// u)²/2a. Work: at most `most_events` pieces; a step's rest, and what has no certified accelerations, is taken by the caller at velocity
// level.
#pragma once

#include "stiction/forward/acceleration_level.hpp"
#include "stiction/forward/impacts.hpp"
#include "stiction/forward/runge_kutta.hpp"

namespace stiction {

class EventDriven {
 public:
  explicit EventDriven(const World& world);

  /// From x, at `time`, over h or less. Returns what is left of h: 0 unless the events were too many or a solve missed the tolerance.
  double advance(const EventSetting& setting, double time, double h, PhasePoint& x);
  const std::vector<Event>& events() const { return events_; }
  int pieces() const { return pieces_; }
  Status status() const { return level_.tally.status != Status::solved ? level_.tally.status : impacts_.tally.status; }
  double residual() const { return std::max(level_.tally.residual, impacts_.tally.residual); }
  const Certificate& certificate() const {
    return level_.tally.residual >= impacts_.tally.residual ? level_.tally.certificate : impacts_.tally.certificate;
  }
  int solves() const { return level_.tally.solves + impacts_.tally.solves; }
  int iterations() const { return level_.tally.iterations + impacts_.tally.iterations; }
  double deepest() const { return deepest_; }

  /// Adds those of a solved step at velocity level to the impulses of the step.
  void note(std::span<const ContactPoint> contacts, const ContactProblem& problem, const Solution& solution);
  /// Appends the contacts that bore in the step and are not listed, as they were then.
  void add_left(std::vector<ContactPoint>& contacts) const;
  /// Fills the impulses of the whole step into a solution of this problem, by the names of its contacts and rows.
  void impulses_of(std::span<const ContactPoint> contacts, const ContactProblem& problem, Solution& solution) const;

 private:
  static constexpr double kClosed = 1e-9;  // m, rad: a gap is none

  struct ContactImpulse {
    ContactPoint point;       ///< as it bore last
    Eigen::Vector3d impulse;  ///< N S T
  };
  struct RowImpulse {
    std::uint64_t id;
    double impulse;
  };
  enum class Settled { resting, struck, failed };
  Settled settle(const EventSetting& setting, double time, bool again, PhasePoint& x);
  void list_rows(const EventSetting& setting, const PhasePoint& x);
  double closing_acceleration(const EventSetting& setting, const ContactPoint& c) const;
  bool accelerate(const EventSetting& setting, double time, double left, PhasePoint& x, bool& struck);
  bool evaluate(const EventSetting& setting, const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Ref<const Eigen::VectorXd>& v,
                Accelerations& out);
  bool flow(const EventSetting& setting, double s);
  double fit_error(const EventSetting& setting, double s);
  double clear_time(const EventSetting& setting, double s);
  double safe_time(const EventSetting& setting, const PhasePoint& at, double left);
  double mode_time(const EventSetting& setting, double s);
  bool holds_nothing(const EventSetting& setting) const;
  bool changed(const EventSetting& setting, double s);
  bool cross(const EventSetting& setting, double s);
  void log_changes(double time);
  void least_change(const GrowVector& wanted);
  void project(const EventSetting& setting, PhasePoint& x);
  void note_contact(const ContactPoint& point, const Eigen::Vector3d& impulse);
  void note_row(std::uint64_t id, double impulse);
  void note_piece(const EventSetting& setting, double s);
  void note_impacts();

  AccelerationLevel level_;
  Impacts impacts_;
  WorldData data_;
  RungeKuttaWorkspace stages_;
  std::array<Accelerations, kMostStages> accelerations_;
  Accelerations end_;
  PhasePoint start_, at_;
  double error_ = 0.0;                ///< of the last flow, rk45
  double accelerations_piece_ = 0.0;  ///< s, with which those of the beginning were found
  double at_time_ = 0.0;              ///< of `at_`, since start_; negative where it is none
  std::vector<ContactPoint> found_;
  std::vector<std::uint64_t> stopped_;  ///< contacts whose slide has just stopped
  std::vector<double> closing_;         ///< per body, bound on the acceleration of its points (m/s²)
  double least_slip_ = 0.0;             ///< of the slides at `at_`, along their first direction (m/s); above 0 while they last
  bool only_slip_ = false;              ///< nothing else has changed
  std::vector<Event> events_;
  int pieces_ = 0;
  bool known_ = false;   ///< accelerations of this step
  bool failed_ = false;  ///< a solve of this step missed the tolerance
  double deepest_ = 0.0;
  std::vector<ContactImpulse> contact_impulses_;
  std::vector<RowImpulse> row_impulses_;
  GrowVector equality_impulses_, speeds_, gaps_, solution_, scratch_;
  GrowMatrix holding_;
  BlockDiagonal factors_;
  LeastSquares least_squares_;
};

}  // namespace stiction
