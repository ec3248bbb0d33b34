// Event-driven scheme: smooth motion from event to event by an integrator, impacts at events, contact on the acceleration level between.
//
//   settle     what is closed (gap zero) and comes in is met by impacts (impacts.hpp)
//   accelerate forces and modes of what stays closed (acceleration_level.hpp); where there are none, an impulse without collision
//   advance    to the first event within the step: a gap that closes, a slide that stops, a stick that gives way, a contact that is left
//   project    what drifted by the integrator's error is brought back, with the least kinetic energy: gaps, speeds, tangents, loops; joints
//              that drives hold keep their places
// Time of contact: the motion to the end of the piece gives gaps and their speeds at both ends; between them each gap is a cubic, whose
// first root is the next end tried, from either side, until one arrives within a hundredth of the tolerance. A gap that closes and opens
// within is seen by the cubic's least value; a piece turns by half a radian at most. Exact for parabolas, cubic convergence otherwise.
// A contact that has changed its name looks like one that closes, and the search narrows to where it is new: after a few such ends the
// piece ends there, and the next knows it.
// Other events: the state at the end of the piece is not of the mode it began with. The slip along its first direction, the force that is
// left to hold or the acceleration that it would take, and gaps of what is left, change sign there: by the Illinois method.
// What has just stopped, given way or been left is taken so as the next piece begins.
// Zeno: an approach u whose rebound ε u is below the rest speed ends without. The rebounds left would take 2 ε u / (a (1 - ε)) at the
// closing acceleration a: the event `rest` has that time. The motion differs from that with all rebounds by the height of the next, (ε
// u)²/2a. Work: at most `most_events` pieces; a step's rest, what has no certified accelerations and what is too stiff for the integrator's
// shortest piece is taken by the caller at velocity level.
// Told of a contact is the impulse of the whole step: ∫ R_WC f dt over the pieces, by the weights of the integrator, its stages each in
// their own frame, and the impulses of impacts, of what `project` changes velocities by and of the velocity level, summed in world axes by
// the contact's id and read in the frame in which it is listed. So those of a body add up to its change of momentum less that of all other
// forces. Their moment is that about the point listed only as far as the point stayed in its place. The sum of a contact whose normal
// turned within the step need not be in the friction cone of the frame listed.
#pragma once

#include "stiction/forward/acceleration_level.hpp"
#include "stiction/forward/impacts.hpp"
#include "stiction/forward/position_shift.hpp"
#include "stiction/forward/runge_kutta.hpp"
#include "stiction/forward/step_impulses.hpp"

namespace stiction {

class EventDriven {
 public:
  explicit EventDriven(const World& world);

  /// From x, at `time`, over h or less. Returns what is left of h: 0 unless the events were too many, the motion too stiff or a solve
  /// missed the tolerance.
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
  /// J, potential energy that bringing positions back to gap zero added, joints' springs included.
  double lifted() const { return lifted_; }

  /// Of the whole step; what is solved of it at velocity level is added by the caller.
  StepImpulses& impulses() { return told_; }
  const StepImpulses& impulses() const { return told_; }

 private:
  static constexpr double kClosed = 1e-9;  // m, rad: a smaller gap is closed

  struct Gap {
    std::uint64_t id;                 ///< of a contact or a limit
    double gap, speed, acceleration;  ///< m, m/s, m/s² or rad; the gap counts from `ground`, kClosed more up to the speed of rest
    double ground;                    ///< <= 0, the depth at which the piece began
    Eigen::Vector3d normal;           ///< of the contact, world axes; zero of a limit, and of what lay deeper as the piece began

    /// False once a body has passed to the other's far side, where round shapes have the same ids.
    bool goes_on_as(const Gap& later) const { return id == later.id && normal.dot(later.normal) >= 0.0; }
  };
  struct Margin {
    double value;
    bool slip;  ///< m/s, else an acceleration (m/s²) or a gap (m)
    bool passed() const { return slip ? value <= 0.0 : value < 0.0; }
  };
  enum class Settled { resting, struck, failed };
  Settled settle(const EventSetting& setting, double time, bool again, PhasePoint& x);
  void list_rows(const EventSetting& setting, const PhasePoint& x);
  double closing_acceleration(const EventSetting& setting, const ContactPoint& c) const;
  bool accelerate(const EventSetting& setting, double time, double left, PhasePoint& x, bool& struck);
  bool evaluate(const EventSetting& setting, const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Ref<const Eigen::VectorXd>& v,
                Accelerations& out);
  bool flow(const EventSetting& setting, double s);
  double drift(const EventSetting& setting, double s);
  double excess(const EventSetting& setting, double s);
  double fit_error(const EventSetting& setting, double s);
  void list_gaps(const EventSetting& setting, const PhasePoint& x, double left, const Eigen::VectorXd& v_dot, std::vector<Gap>& out);
  double first_closing(double low, double high) const;
  double clear_time(const EventSetting& setting, double s);
  double mode_time(const EventSetting& setting, double s);
  double piece_time(const EventSetting& setting, double left);
  bool holds_nothing(const EventSetting& setting) const;
  void margins(const PhasePoint& x, const Accelerations& forces, std::vector<Margin>& out) const;
  bool changed(const EventSetting& setting, double s);
  bool cross(const EventSetting& setting, double s);
  void log_changes(double time);
  void measure_rows(const GrowMatrix& rows);
  void hold_driven();
  void least_change(const GrowVector& wanted);
  void project(const EventSetting& setting, double recovery, PhasePoint& x);
  void note_change(const EventSetting& setting);
  void note_forces(const Accelerations& forces, double share);
  void note_piece(const EventSetting& setting, double s);
  void note_impacts();

  AccelerationLevel level_;
  Impacts impacts_;
  WorldData data_;
  PositionShift shift_;
  RungeKuttaWorkspace stages_;
  std::array<Accelerations, kMostStages> accelerations_;
  Accelerations end_;
  PhasePoint start_, at_;
  Eigen::VectorXd last_v_, end_v_;    ///< nv, of rk4's last stage and of the end, linear velocities of free joints in the axes of the world
  double error_ = 0.0;                ///< of the last flow, rk45
  bool forceless_ = false;            ///< the last flow came to where there are no forces
  double accelerations_piece_ = 0.0;  ///< s, with which those of the beginning were found
  double at_time_ = 0.0;              ///< of `at_`, since start_; negative where it is none
  double end_time_ = -1.0;            ///< of `end_`, the accelerations there and of the level's state; negative where they are others
  std::vector<ContactPoint> found_;
  std::vector<std::uint64_t> stopped_;   ///< contacts and rows whose slide has just stopped
  std::vector<std::uint64_t> released_;  ///< contacts that have just been left
  std::vector<std::uint64_t> started_;   ///< contacts whose stick has just given way
  std::vector<Gap> start_gaps_, low_gaps_, high_gaps_, middle_gaps_;
  std::vector<Margin> margins_, low_margins_, high_margins_;
  std::vector<Event> events_;
  int pieces_ = 0;
  bool known_ = false;   ///< accelerations of this step
  bool failed_ = false;  ///< a solve of this step missed the tolerance, or its shortest piece is not resolved
  double deepest_ = 0.0, lifted_ = 0.0;
  StepImpulses told_;
  GrowVector speeds_, gaps_, scaled_, solution_, length_;
  GrowMatrix holding_;
  std::vector<int> first_;           ///< per row of these: itself, or the first of its loop's point or turn
  std::vector<std::size_t> driven_;  ///< rows of drives among these
  BlockDiagonal factors_;
  LeastSquares least_squares_;
};

}  // namespace stiction
