// Stepper: a world one step at a time, with its state, contacts and forces.
#include <cmath>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include "remember.hpp"
#include "step_settings.hpp"
#include "stepper_handle.hpp"
#include "stiction/base/errors.hpp"
#include "torque_argument.hpp"
#include "world_frames.hpp"
#include "world_handle.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;
using MaybeArray = std::optional<ArrayLike>;

/// What a step with `tau` would do.
struct Forward {
  StepOutcome report;
  State state;
  Eigen::VectorXd acceleration;
  ContactArrays contacts;
};

/// The interpreter's lock is given back while a step runs; the stepper's own keeps other threads out.
template <class Function>
auto unlocked(StepperHandle& s, Function&& function) {
  const nb::gil_scoped_release released;
  const std::lock_guard lock(s.mutex);
  return function();
}

template <class Function>
auto locked(StepperHandle& s, Function&& function) {
  const std::lock_guard lock(s.mutex);
  return function();
}

StepOutcome step(StepperHandle& s, nb::handle tau) {
  const TorqueArgument torque(tau, s.stepper().world());
  return unlocked(s, [&] { return s.step(torque.vector()); });
}

Forward forward(StepperHandle& s, nb::handle tau) {
  const TorqueArgument torque(tau, s.stepper().world());
  return unlocked(s, [&] {
    StepperHandle probe(s);
    Forward out;
    out.report = probe.step(torque.vector());
    out.acceleration = (probe.state().v - s.state().v) / s.stepper().options().assemble.dt;
    if (out.report.accepted) out.contacts = contacts_of(probe.stepper());
    out.state = probe.state();
    return out;
  });
}

WorldProblem problem(StepperHandle& s, nb::handle tau) {
  const StepOptions& options = s.stepper().options();
  if (options.scheme == Scheme::event_driven)
    throw InvalidArgument("scheme", "one that solves one problem a step, of which 'event_driven' has one at every event", "'event_driven'");
  const TorqueArgument torque(tau, s.stepper().world());
  return unlocked(s, [&] {
    StepperHandle probe(s);
    probe.prepare(torque.vector());
    return prepared_problem(probe.stepper());
  });
}

ContactArrays contacts(StepperHandle& s) {
  return locked(s, [&] { return s.has_contacts ? contacts_of(s.stepper()) : ContactArrays{}; });
}

StepperHandle* copied(StepperHandle& s) {
  return locked(s, [&] { return new StepperHandle(s); });
}

void reset(StepperHandle& s, const MaybeArray& q, const MaybeArray& v, const Real& time) {
  State next;
  next.q = read_coordinates(q, "q", s.start.q);
  next.v = read_coordinates(v, "v", s.start.v);
  next.time = read_real(time, "time");
  locked(s, [&] { s.set_state(next); });
}

void apply_force(StepperHandle& s, const std::string& body, const MaybeArray& force, const MaybeArray& torque, const MaybeArray& point,
                 const Real& duration) {
  const World& world = s.stepper().world();
  const NamedFrame frame = frame_named(world, body, "body");
  if (world.bodies()[frame.body].block < 0) throw InvalidArgument("body", "one that moves", "'" + body + "', which stands still");
  const double seconds = read_real(duration, "duration");
  if (!(seconds >= 0.0)) throw InvalidArgument("duration", "a number >= 0 (s), infinity allowed", fmt::format("{}", seconds));
  if (!force && !torque) throw InvalidArgument("force", "a force, a torque or both", "neither");
  if (point && !force) throw InvalidArgument("point", "None without force, since a torque has none", "a point");
  TimedWrench wrench;
  wrench.body = frame.body;
  wrench.p_B = point ? frame.X_BF * read_point(*point) : world.bodies()[frame.body].com;
  if (force) wrench.force = read_vector3(*force, "force");
  if (torque) wrench.moment = read_vector3(*torque, "torque");
  locked(s, [&] {
    wrench.until = s.state().time + (seconds > 0.0 ? seconds : s.stepper().options().assemble.dt);
    s.apply(wrench);
  });
}

/// A value for all of no joints was meant for another world.
void require_driven(const MaybeArray& value, const char* argument, Eigen::Index joints) {
  if (value && joints == 0 && per_item(value, argument, 1, 0.0).size() > 0)
    throw InvalidArgument(argument, "None in a world without driven joints", "a value");
}

using JointNames = std::vector<std::string>;

/// Coordinates of the joints named, None: of all that are driven.
std::vector<int> read_joints(const std::optional<JointNames>& names, const World& world) {
  const std::span<const int> driven = world.actuated();
  if (!names) return {driven.begin(), driven.end()};
  std::vector<int> out;
  for (std::size_t i = 0; i < names->size(); ++i) {
    const std::string argument = fmt::format("joints[{}]", i), &name = (*names)[i];
    const int v = world.joints()[world.joint(name, argument)].v;
    if (std::ranges::find(driven, v) == driven.end())
      throw InvalidArgument(argument, "a driven joint (World.actuated)", fmt::format("'{}'", name));
    if (std::ranges::find(out, v) != out.end()) throw InvalidArgument(argument, "every joint once", fmt::format("'{}' again", name));
    out.push_back(v);
  }
  return out;
}

/// Of motors, which have two directions; None: those of the robot's file.
Eigen::VectorXd read_limits(const MaybeArray& limits, const World& world, const std::vector<int>& joints) {
  Eigen::VectorXd most = for_each_item(limits, "limits", static_cast<Eigen::Index>(joints.size()), kInfinity);
  for (std::size_t i = 0; !limits && i < joints.size(); ++i) most[static_cast<Eigen::Index>(i)] = motor_limit(*joint_at(world, joints[i]));
  if (!(most.array() >= 0.0).all()) throw InvalidArgument("limits", "numbers >= 0, infinity allowed", fmt::format("{}", most.minCoeff()));
  return most;
}

/// Adds what is in force on other joints than these, and the couplings; behind the new ones, whose places messages tell.
void add_others(const Drives& before, const std::vector<int>& joints, Drives& drives) {
  const auto is_other = [&](const auto& drive) { return std::ranges::find(joints, drive.v) == joints.end(); };
  std::ranges::copy_if(before.velocity, std::back_inserter(drives.velocity), is_other);
  std::ranges::copy_if(before.servos, std::back_inserter(drives.servos), is_other);
  drives.rows.insert(drives.rows.end(), before.rows.begin(), before.rows.end());
}

/// Rows of joints' velocities: factors by name, and what their sum is.
using CoupledJoints = std::vector<std::pair<std::map<std::string, double>, double>>;

/// What the engine says of its drives, by the arguments of `drive`.
std::string by_arguments(std::string message) {
  const std::pair<const char*, const char*> renamings[] = {{"finite and -least, beside a no-load speed", "a finite number beside no_load"},
                                                           {R"(^drives\.rows\[(\d+)\]\.[^:]*)", "coupled[$1]"},
                                                           {R"(^drives\.(velocity|servos)\[(\d+)\]\.(most|least|limit)\b)", "limits[$2]"},
                                                           {R"(^drives\.(velocity|servos)\[(\d+)\]\.(\w+))", "$3[$2]"},
                                                           {R"(^drives\.servos:)", "position:"}};
  for (const auto& [from, to] : renamings) message = std::regex_replace(message, std::regex(from), to);
  return message;
}

void drive(StepperHandle& s, const MaybeArray& velocity, const MaybeArray& position, const MaybeArray& kp, const MaybeArray& kd,
           const MaybeArray& limits, const MaybeArray& no_load, const CoupledJoints& coupled, const std::optional<JointNames>& names) {
  const World& world = s.stepper().world();
  const std::vector<int> driven = read_joints(names, world);
  const auto joints = static_cast<Eigen::Index>(driven.size());
  if (names && !coupled.empty())
    throw InvalidArgument("coupled", "no couplings beside joints, which leaves those in force as they are", "some");
  require_driven(velocity, "velocity", joints);
  require_driven(position, "position", joints);
  const Eigen::VectorXd most = read_limits(limits, world, driven);
  Drives drives;
  if (position) {
    if (no_load) throw InvalidArgument("no_load", "None with position", "an array");
    if (!kp && !kd) throw InvalidArgument("kp", "gains kp, kd or both beside position", "neither");
    const Eigen::VectorXd q = for_each_item(position, "position", joints, 0.0), v = for_each_item(velocity, "velocity", joints, 0.0);
    const Eigen::VectorXd p = for_each_item(kp, "kp", joints, 0.0), d = for_each_item(kd, "kd", joints, 0.0);
    if (p.isZero(0.0) && d.isZero(0.0)) throw InvalidArgument(kp ? "kp" : "kd", "a gain above zero beside position", "0");
    for (Eigen::Index i = 0; i < joints; ++i) drives.servos.push_back({driven[i], q[i], v[i], p[i], d[i], most[i]});
  } else if (velocity) {
    if (kp || kd) throw InvalidArgument(kp ? "kp" : "kd", "None without position", "an array");
    const Eigen::VectorXd v = for_each_item(velocity, "velocity", joints, 0.0),
                          free_speed = for_each_item(no_load, "no_load", joints, kInfinity);
    for (Eigen::Index i = 0; i < joints; ++i) drives.velocity.push_back({driven[i], v[i], -most[i], most[i], free_speed[i]});
  } else if (kp || kd || limits || no_load) {
    throw InvalidArgument("velocity", "one, or a position, beside kp, kd, limits or no_load", "None");
  }
  for (const auto& [factors, speed] : coupled) {
    VelocityRow row;
    const std::string argument = fmt::format("coupled[{}]", drives.rows.size());
    for (const auto& [name, factor] : factors) row.terms.push_back({world.joints()[world.joint(name, argument)].v, factor});
    row.velocity = speed;
    drives.rows.push_back(row);
  }
  try {
    locked(s, [&] {
      if (names) add_others(s.stepper().options().assemble.drives, driven, drives);
      s.set_drives(drives);
    });
  } catch (const InvalidArgument& error) {
    throw std::invalid_argument(by_arguments(error.what()));
  }
}

std::vector<int> driven(StepperHandle& s) {
  const Drives drives = locked(s, [&] { return s.stepper().options().assemble.drives; });
  std::set<int> coordinates;
  for (const VelocityDrive& drive : drives.velocity) coordinates.insert(drive.v);
  for (const Servo& servo : drives.servos) coordinates.insert(servo.v);
  for (const VelocityRow& row : drives.rows) {
    for (const VelocityRow::Term& term : row.terms) coordinates.insert(term.v);
  }
  return {coordinates.begin(), coordinates.end()};
}

ConstVector drive_torques(StepperHandle& s) {
  return locked(s, [&] {
    const std::span<const int> driven = s.stepper().world().actuated();
    Eigen::VectorXd all = Eigen::VectorXd::Zero(s.stepper().world().nv()), out(static_cast<Eigen::Index>(driven.size()));
    if (s.has_contacts) s.stepper().drive_torques(s.stepped_drives(), all);  // else no step was taken
    for (std::size_t i = 0; i < driven.size(); ++i) out[static_cast<Eigen::Index>(i)] = all[driven[i]];
    return copied_vector(out);
  });
}

nb::dict certificate_parts(const StepOutcome& report) {
  nb::dict out;
  for (std::size_t k = 0; k < kResiduals.size(); ++k) out[kResiduals[k].name] = report.certificate[k];
  return out;
}

nb::dict stage_seconds(const StepOutcome& report) {
  nb::dict out;
  for (int i = 0; i < kStages; ++i) out[std::string(to_string(static_cast<Stage>(i))).c_str()] = report.seconds[i];
  return out;
}

void bind_report(nb::module_& m) {
  nb::class_<StepOutcome>(m, "StepReport", "What one step did. It is false when the step was refused and the state stayed.")
      .def_prop_ro(
          "status", [](const StepOutcome& r) { return std::string(to_string(r.status)); },
          "'solved' when every certificate met the tolerance, else as Solution.status")
      .def_prop_ro(
          "refused", [](const StepOutcome& r) { return std::string(to_string(r.refused)); },
          "What the step was refused for, '' when it was taken: 'certificate', of a solve; 'joint_energy', which the scheme gave to "
          "joints and could not be taken back; 'loop_energy', which loops would have given under energy_momentum; 'fixed_point', which "
          "that scheme did not find; 'reach', of what would have ended too far away. The residual speaks of the first alone")
      .def_ro("accepted", &StepOutcome::accepted, "The state was advanced")
      .def_ro("iterations", &StepOutcome::iterations, "Pivots or iterations of the solver, all its attempts together")
      .def_prop_ro("at_acceptable", &StepOutcome::at_acceptable, "The step missed the tolerance and was taken because it met acceptable")
      .def_ro("sub_steps", &StepOutcome::sub_steps, "Parts that the step was taken in, 0 when refused")
      .def_ro("without_events", &StepOutcome::without_events,
              "Seconds at the end of the step that event_driven left to the velocity level: too many events, too stiff, or no certificate")
      .def_ro("residual", &StepOutcome::residual, "Worst scaled residual of the certificate")
      .def_prop_ro("certificate", &certificate_parts,
                   "The worst scaled value of every residual of the certificate over the solves of the step, by the names of Certificate")
      .def_ro("contacts", &StepOutcome::contacts, "Number of contact points")
      .def_ro("attempts", &StepOutcome::attempts, "Solves tried")
      .def_ro("penetration", &StepOutcome::deepest_penetration, "Deepest penetration before the step (m)")
      .def_prop_ro(
          "lifted", [](const StepOutcome& r) { return r.correction.lifted; },
          "Potential energy that undoing penetration added (J); to free bodies without forces of their own nothing else in a step adds any")
      .def_prop_ro(
          "turned", [](const StepOutcome& r) { return r.correction.turned; },
          "The most that the velocity of a joint differs by from what solve of Stepper.problem finds (rad/s, m/s): undoing penetration "
          "turned joints that no drive holds, and bodies keep their velocities. Under event_driven of what it leaves to the velocity level "
          "alone")
      .def_ro(
          "braked", &StepOutcome::braked,
          "Energy that the joints were braked by since the scheme would have given it to them (J). Where it is not zero the joints have "
          "other velocities than solve of World.problem finds, and than inverse predicts")
      .def_ro("saturated", &StepOutcome::saturated, "Torques that were cut to their joint's effort limit")
      .def_prop_ro("seconds", &stage_seconds, "Wall time per stage (s)")
      .def("__bool__", [](const StepOutcome& r) { return r.accepted; })
      .def("__repr__", [](const StepOutcome& r) {
        const std::string refused = r.accepted ? "" : fmt::format(" refused='{}',", to_string(r.refused));
        return fmt::format("StepReport(status='{}',{} contacts={}, iterations={}, residual={:.2g})", to_string(r.status), refused,
                           r.contacts, r.iterations, r.residual);
      });
}

void bind_state(nb::module_& m) {
  const auto array = [](auto member) {
    return [member](nb::pointer_and_handle<State> self) {
      Eigen::VectorXd& x = self.p->*member;
      return view<Vector>(x.data(), {static_cast<std::size_t>(x.size())}, self.h);
    };
  };
  const auto set = [](auto member, const char* name) {
    return [member, name](State& s, const ArrayLike& value) { s.*member = read_coordinates(value, name, s.*member); };
  };
  nb::class_<State>(m, "State", "Configuration q, velocity v and time (s) of a world. A value of its own: arrays are views of it.")
      .def(
          "__init__",
          [](State* self, const ArrayLike& q, const ArrayLike& v, const Real& time) {
            State state{Numbers(q, "q", 1).vector(), Numbers(v, "v", 1).vector(), read_real(time, "time")};
            require_finite("q", state.q);
            require_finite("v", state.v);
            if (!std::isfinite(state.time)) throw InvalidArgument("time", "a finite number", fmt::format("{}", state.time));
            new (self) State(std::move(state));
          },
          "q"_a, "v"_a, "time"_a = 0.0)
      .def_prop_rw("q", array(&State::q), set(&State::q, "q"), "(nq,) configuration")
      .def_prop_rw("v", array(&State::v), set(&State::v, "v"), "(nv,) velocity")
      .def_rw("time", &State::time, nb::for_setter(nb::name("time")), "s")
      .def(
          "copy", [](const State& s) { return State(s); }, "Another one with the same numbers.")
      .def("__getstate__", [](const State& s) { return nb::make_tuple(own_vector(s.q), own_vector(s.v), s.time); })
      .def("__setstate__",
           [](State& self, const nb::tuple& t) {
             new (&self) State{Numbers(nb::borrow<ArrayLike>(t[0]), "q", 1).vector(), Numbers(nb::borrow<ArrayLike>(t[1]), "v", 1).vector(),
                               nb::cast<double>(t[2])};
           })
      .def("__repr__", [](const State& s) { return fmt::format("State(time={:.6g}, nq={}, nv={})", s.time, s.q.size(), s.v.size()); });
}

void bind_forward(nb::module_& m) {
  nb::class_<Forward>(m, "Forward", "What a step would do.")
      .def_ro("report", &Forward::report, nb::rv_policy::reference_internal, "StepReport")
      .def_ro("state", &Forward::state, nb::rv_policy::reference_internal, "State after the step")
      .def_prop_ro(
          "acceleration", &vector_view<Forward, &Forward::acceleration>,
          R"((nv,) change of v over dt, contact impulses included. From a v that moving contacts or loops allow at this very q, as `reset`
may be given, that of the motion under energy_momentum and event_driven; semi_implicit_euler lacks what their Jacobians change by,
dJ/dt v, and moreau_midpoint half of it, in the first two steps of a run.)")
      .def_ro("contacts", &Forward::contacts, nb::rv_policy::reference_internal, "Contacts of the step");
}

void bind_stepping(nb::class_<StepperHandle>& stepper) {
  stepper
      .def("step", &step, "tau"_a = nb::none(), nb::sig("def step(self, tau: numpy.typing.ArrayLike | None = None) -> StepReport"),
           R"(Advances by one step of dt under tau.

tau: (nv,) generalised forces in the axes of v, or (len(World.actuated),) torques of the driven joints (N, N m); None: zero.
A step that is not solved leaves the state as it was and says so: look at the report.)")
      .def("forward", &forward, "tau"_a = nb::none(), nb::sig("def forward(self, tau: numpy.typing.ArrayLike | None = None) -> Forward"),
           "What `step(tau)` would do now, bit for bit, without doing it: next state, acceleration and contacts.")
      .def(
          "problem", &problem, "tau"_a = nb::none(),
          nb::sig("def problem(self, tau: numpy.typing.ArrayLike | None = None) -> WorldProblem"),
          R"(The contact problem that `step(tau)` would solve first, of its first part where it has several: as World.problem at this state,
with all that the stepper has and a state has not, elongations of tangential springs (law stick_slip_spring), drives, pushes and options.
`inverse` of it, with tau None, gives the torques under which `step` ends at what it predicts: to rounding under semi_implicit_euler and
moreau_midpoint, but where joints are braked (StepReport.braked) or turned to undo overlap (StepReport.turned), the step has parts, or it
meets more contacts than the problem has, or bounces that would give energy (StepReport.attempts above 1); under energy_momentum, which
solves the problem again where its answer leads, near it (quadrupeds asked for 0.2 rad/s: 1e-3 rad/s off in a step of 1 ms, 1e-2 in one of
5 ms). Forces that a law leaves open beside that motion, as under flat soles, agree with choice "least_norm" on both sides. The state is
that of a run: of another v see World.problem. Not of the scheme event_driven.)")
      .def("apply_force", &apply_force, "body"_a, "force"_a = nb::none(), nb::kw_only(), "torque"_a = nb::none(), "point"_a = nb::none(),
           "duration"_a = 0.0,
           R"(Pushes a body in the next step, or for `duration` seconds: its last step has what is left of force times duration.

body: name of a body or link that moves. force (3,) (N) and torque (3,) (N m): world axes. point (3,) (m): where the force acts, in the
frame of that body or link, with which it moves within a step too, where the scheme evaluates forces; None: the centre of mass of the
body. Pushes add up; setting the state ends them.)")
      .def("drive", &drive, "velocity"_a = nb::none(), "position"_a = nb::none(), "kp"_a = nb::none(), "kd"_a = nb::none(),
           "limits"_a = nb::none(), "no_load"_a = nb::none(), "coupled"_a = CoupledJoints{}, "joints"_a = nb::none(),
           R"(Drives of the driven joints (World.actuated) in later steps, until they are set again; without arguments: none.

joints: names of those that are meant, others keep their drives and couplings stay: servos on a car's steering, velocities of its wheels.
Each argument is one number for all or one for each of joints (None: (len(World.actuated),)). velocity alone (rad/s or m/s): joints are
brought to it within the step, by torques within limits (N m or N; None: the effort limits of the robot's file, inf: none), settled with
contacts in one problem, from what moved the joint in the last step on: jaws that are locked keep their grip, and overlap is undone without
turning a joint whose drive is inside its limits. no_load (rad/s or m/s): speed at which the torque in its direction has fallen to zero, on
a line from `limits` at rest; against the motion it grows on along that line. position (rad or m) with kp, kd: proportional-derivative
feedback taken at the end of the step, stable at any gain, cut to the same limits; velocity: its rate. The scheme energy_momentum takes no
servos, event_driven none with limits (limits=inf lifts those of the file); neither takes no_load or coupled.
coupled: pairs ({joint: factor, ...}, speed), each of which keeps the sum of factors times joint velocities at speed (belts, differentials),
without regard to positions; not beside joints. Torques of `step` add to those of drives.)")
      .def("reset", &reset, "q"_a = nb::none(), "v"_a = nb::none(), "time"_a = 0.0,
           R"(Starts from (q, v, time), None for the world's start.

Forces of the first two steps from a v that moving contacts or loops allow at this very q are those of the motion under energy_momentum
and event_driven alone (Forward.acceleration); the path is of first order under all.
What follows depends on these alone: springs of contacts are at rest, no impulse is kept to start from, so that jaws which drives lock let
go of what friction alone holds in them, no push goes on.)")
      .def("_memory",
           [](StepperHandle& s) {
             const std::string bytes = locked(s, [&] { return s.memory(); });
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("_remember", [](StepperHandle& s, const nb::bytes& bytes) { locked(s, [&] {
                                                                         s.remember({bytes.c_str(), bytes.size()});
                                                                       }); })
      .def("copy", &copied, "A stepper that goes on from here bit for bit as this one does; the world and its hulls are shared.");
}

void bind_values(nb::class_<StepperHandle>& stepper) {
  stepper
      .def_prop_rw(
          "state", [](StepperHandle& s) { return locked(s, [&] { return State(s.state()); }); },
          [](StepperHandle& s, const State& state) {
            const State next = state;  // a copy: it may be changed while the mutex is waited for
            locked(s, [&] { s.set_state(next); });
          },
          nb::for_setter(nb::name("state")), "State, a copy. Setting it is `reset` to its q, v and time.")
      .def_prop_ro(
          "q", [](StepperHandle& s) { return locked(s, [&] { return copied_vector(s.state().q); }); }, nb::rv_policy::automatic,
          "(nq,) configuration, a read-only copy; `reset` sets it")
      .def_prop_ro(
          "v", [](StepperHandle& s) { return locked(s, [&] { return copied_vector(s.state().v); }); }, nb::rv_policy::automatic,
          "(nv,) velocity, a read-only copy; `reset` sets it")
      .def_prop_ro(
          "time", [](StepperHandle& s) { return locked(s, [&] { return s.state().time; }); }, "s")
      .def_prop_ro(
          "dt", [](const StepperHandle& s) { return s.stepper().options().assemble.dt; }, "s")
      .def_prop_ro(
          "law", [](const StepperHandle& s) { return std::string(to_string(s.stepper().options().contact.law)); },
          "Name of the contact law, one of LAWS")
      .def_prop_ro(
          "scheme", [](const StepperHandle& s) { return std::string(to_string(s.stepper().options().scheme)); },
          "Name of the time integration, one of SCHEMES")
      .def_prop_rw(
          "friction", [](StepperHandle& s) { return locked(s, [&] { return s.stepper().options().assemble.friction; }); },
          [](StepperHandle& s, const std::optional<Real>& friction) {
            const std::optional<double> mu = friction ? std::optional(read_real(*friction, "friction")) : std::nullopt;
            locked(s, [&] { s.set_friction(mu); });
          },
          nb::for_setter(nb::arg("friction").none()),
          "Friction coefficient of every contact from the next step on; None: what the shapes say. What the stepper remembers stays")
      .def_prop_ro(
          "driven", &driven,
          "Indices into v of the joints that a drive or a coupling acts on in the next step: those of the scene, or of the last `drive`")
      .def_prop_ro(
          "drive_torques", &drive_torques, nb::rv_policy::automatic,
          "(len(World.actuated),) torques of the drives in the last step (N m or N), whichever are set since: means over it, of servos "
          "those at its end")
      .def_prop_ro("contacts", &contacts, "Contacts of the last step, a copy; none before the first and after one that was refused.")
      .def("__repr__", [](StepperHandle& s) {
        return fmt::format("Stepper(law='{}', dt={:g}, time={:.6g})", to_string(s.stepper().options().contact.law),
                           s.stepper().options().assemble.dt, s.state().time);
      });
}

}  // namespace

void bind_stepper(nb::module_& m) {
  bind_contact_arrays(m);
  bind_report(m);
  bind_state(m);
  bind_forward(m);
  nb::class_<StepperHandle> stepper(m, "Stepper", nb::dynamic_attr(), R"(A world one step at a time.

dt: s. law, solver, tolerance, edges, choice: as of `solve`. acceptable: largest scaled residual that a step above the tolerance may go
on with; strict: none. recovery: share of a penetration that a step undoes, loop_recovery: of the error of loops and cut joints, in [0, 1].
scheme: time integration, one of SCHEMES (docs/schemes.md). Of event_driven: integrator between events ('symplectic_euler', 'rk4',
'rk45'), impact_model ('newton', 'poisson') and impact_order ('simultaneous', 'sequential'); time_tolerance to which events are found (s),
rest_speed below which a rebound is none (m/s), most_events that a step may be cut at, and of rk45 integration_tolerance.
sub_steps: parts of dt/n that a step is always taken in, each with contacts and a solve of its own, under the same torques; None: 1.
friction: of every contact, whatever its shapes say. material: of every contact, as of `World`. None: what the world or its scene file says;
for a world built here dt that of a robot's MJCF or 1e-3, law coulomb_cone, solver auto, tolerance 1e-9, acceptable 1e-6, edges 4, choice
warm_start, recovery 0.2, loop_recovery 1, scheme semi_implicit_euler, rk4, newton, simultaneous, 1e-9 s, 1e-6 m/s, 200, 1e-9.
effort_limits: cut the torques that `step` is given to the effort limits of the driven joints (StepReport.saturated counts them); drives
have limits of their own.
The world's bodies, hulls and start are shared; what is added to the world later is not in it. One step at a time: a second thread waits.)");
  const auto make = with_settings(Types<nb::pointer_and_handle<StepperHandle>, nb::pointer_and_handle<WorldHandle>>{}, Types<const Flag&>{},
                                  [](nb::pointer_and_handle<StepperHandle> self, nb::pointer_and_handle<WorldHandle> world,
                                     const StepSettings& settings, const Flag& effort_limits) {
                                    const Scene& scene = world.p->scene();
                                    const StepOptions options = read_step_options(settings, scene.options);
                                    new (self.p) StepperHandle(scene, options, read_flag(effort_limits, "effort_limits"));
                                    nb::dict start = given(settings);  // for pickles
                                    start["effort_limits"] = effort_limits;
                                    remember_world(self.h, world.h, start);
                                  });
  with_setting_names([&](const auto&... settings) { stepper.def("__init__", make, "world"_a, settings..., "effort_limits"_a = true); });
  bind_stepping(stepper);
  bind_values(stepper);
}

}  // namespace stiction::python
