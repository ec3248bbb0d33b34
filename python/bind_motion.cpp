// JointController and TrotPlanner: feedback on joints, and the walk that they are to follow.
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arguments.hpp"
#include "remember.hpp"
#include "stiction/base/archive.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/control/joint_control.hpp"
#include "stiction/plan/trot_planner.hpp"
#include "stiction/plan/world_legs.hpp"
#include "world_frames.hpp"
#include "world_handle.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;
using MaybeArray = std::optional<ArrayLike>;

struct ControllerHandle {
  JointControlOptions options;
  JointControlState state;
  JointReference reference;
  Eigen::VectorXd out;

  /// What the caller gave, in his names.
  void require(const DesiredMotion& motion, const Eigen::VectorXd& q, const Eigen::VectorXd& v) const {
    require_within_reach("q_desired", motion.q);
    require_within_reach("q", q);
    require_joints("q_desired", motion.q, "q", q, options.feedback.size());
    require_joints("v_desired", motion.v, "v", v, options.feedback.size());
  }
  DesiredMotion desired(const ArrayLike& q, const MaybeArray& v, const MaybeArray& a) const {
    DesiredMotion motion(options.feedback.size());
    motion.q = read_coordinates(q, "q_desired", motion.q);
    motion.v = read_coordinates(v, "v_desired", motion.v);
    motion.a = read_coordinates(a, "a_desired", motion.a);
    return motion;
  }
  Eigen::VectorXd measured(const ArrayLike& value, const char* argument) const {
    return read_coordinates(value, argument, Eigen::VectorXd::Zero(options.feedback.size()));
  }
};

void make_controller(ControllerHandle* self, const Integer& joints, const ArrayLike& kp, const MaybeArray& kd, const MaybeArray& ki,
                     const Real& dt, const std::optional<Real>& lookahead, double integral_limit) {
  const Eigen::Index n = read_integer(joints, "joints");
  if (n < 1) throw InvalidArgument("joints", "a number >= 1", fmt::format("{}", n));
  JointControlOptions options;
  options.feedback = {for_each_item(kp, "kp", n, 0.0), for_each_item(kd, "kd", n, 0.0), for_each_item(ki, "ki", n, 0.0), integral_limit};
  options.dt = read_real(dt, "dt");
  options.lookahead = lookahead ? read_real(*lookahead, "lookahead") : options.dt;
  validate(options);
  new (self) ControllerHandle{options, {}, {}, {}};
}

/// What a pickle of a controller has; the rest is made anew by every call.
nb::tuple kept_controller(const ControllerHandle& c) {
  const PidGains& gains = c.options.feedback;
  return nb::make_tuple(own_vector(gains.kp), own_vector(gains.kd), own_vector(gains.ki), gains.integral_limit, c.options.dt,
                        c.options.lookahead, own_vector(c.state.pid.integral));
}

void controller_of(ControllerHandle& self, const nb::tuple& kept) {
  const auto vector = [&](int i) -> Eigen::VectorXd { return Numbers(nb::borrow<ArrayLike>(kept[i]), "pickle", 1).vector(); };
  const auto number = [&](int i) { return nb::cast<double>(kept[i]); };
  JointControlOptions options;
  options.feedback = {vector(0), vector(1), vector(2), number(3)};
  options.dt = number(4);
  options.lookahead = number(5);
  validate(options);
  JointControlState state;
  state.pid.integral = vector(6);
  new (&self) ControllerHandle{options, state, {}, {}};
}

/// What feedback no double holds; refused before the controller remembers it.
void require_finite_answer(const char* what, const Eigen::VectorXd& values, const Eigen::VectorXd& integral) {
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && std::isfinite(integral[i])) continue;
    throw InvalidArgument("kp, kd, ki", fmt::format("gains that with these values give finite {}", what),
                          fmt::format("others of joint {}", i));
  }
}

Vector torques(ControllerHandle& c, const ArrayLike& q, const ArrayLike& v, const ArrayLike& q_desired, const MaybeArray& v_desired) {
  const DesiredMotion desired = c.desired(q_desired, v_desired, {});
  const Eigen::VectorXd q_is = c.measured(q, "q"), v_is = c.measured(v, "v");
  c.require(desired, q_is, v_is);
  JointControlState next = c.state;
  joint_pid(c.options, desired, q_is, v_is, Eigen::VectorXd(), next, c.out);
  require_finite_answer("torques", c.out, next.pid.integral);
  c.state = std::move(next);
  return own_vector(c.out);
}

std::pair<Vector, Vector> reference(ControllerHandle& c, const ArrayLike& q, const ArrayLike& v, const ArrayLike& q_desired,
                                    const MaybeArray& v_desired, const MaybeArray& a_desired) {
  const DesiredMotion desired = c.desired(q_desired, v_desired, a_desired);
  const Eigen::VectorXd q_is = c.measured(q, "q"), v_is = c.measured(v, "v");
  c.require(desired, q_is, v_is);
  JointControlState next = c.state;
  joint_reference(c.options, desired, q_is, v_is, Eigen::VectorXd(), next, c.reference);
  require_finite_answer("accelerations", c.reference.a, next.pid.integral);
  require_finite_answer("velocities", c.reference.v, next.pid.integral);
  c.state = std::move(next);
  return {own_vector(c.reference.a), own_vector(c.reference.v)};
}

void bind_controller(nb::module_& m) {
  nb::class_<ControllerHandle>(m, "JointController", R"(Proportional, integral and derivative feedback on n joints, with its memory.

As torques: kp (q_desired - q) + kd (v_desired - v) + ki times the integral, gains in N m/rad, N m s/rad, N m/(rad s), or with N and m.
As a reference for `inverse`: a = a_desired + the same, gains in 1/s^2, 1/s, 1/s^3, and v + lookahead a.)")
      .def("__init__", &make_controller, "joints"_a, "kp"_a, "kd"_a = nb::none(), "ki"_a = nb::none(), "dt"_a = 1e-3,
           "lookahead"_a = nb::none(), "integral_limit"_a = kInfinity,
           "joints: n. kp, kd, ki: one number for all or (n,), >= 0. dt: control period (s). lookahead: of the reference (s), None: dt. "
           "integral_limit: largest part of the integral in the unit of the answer.")
      .def("torques", &torques, "q"_a, "v"_a, "q_desired"_a, "v_desired"_a = nb::none(),
           "(n,) torques (N m or N) for measured q, v (n,) and desired ones; without limits. Integrates by one period.")
      .def("reference", &reference, "q"_a, "v"_a, "q_desired"_a, "v_desired"_a = nb::none(), "a_desired"_a = nb::none(),
           "Accelerations (n,) and velocities (n,) that the joints are to have; the second is what `inverse` takes. Integrates by one "
           "period.")
      .def(
          "reset", [](ControllerHandle& c) { c.state = {}; }, "Forgets the integral.")
      .def(
          "copy", [](const ControllerHandle& c) { return ControllerHandle(c); }, "Another one that goes on with the same integral.")
      .def("__getstate__", &kept_controller)
      .def("__setstate__", &controller_of);
}

std::vector<WorldFoot> feet_named(const World& world, const std::vector<std::string>& names) {
  std::vector<WorldFoot> feet;
  for (const std::string& name : names) {
    const NamedFrame frame = frame_named(world, name, "feet");
    feet.push_back({name, frame.body, frame.X_BF});
  }
  return feet;
}

TrotPlanner make_planner(const World& world, const std::vector<WorldFoot>& feet, const MaybeArray& nominal, GaitParameters gait,
                         double start_time, double feedback, double foot_radius) {
  WorldLegs found = world_legs(world, feet);
  TrotOptions options;
  options.gait = std::move(gait);
  options.start_time = start_time;
  options.feedback = feedback;
  options.foot_radius = foot_radius;
  options.nominal_feet = found.feet;
  if (nominal) {
    const Numbers given(*nominal, "nominal_feet", 2);
    const ConstRowMap rows = given.matrix();
    if (rows.rows() != static_cast<Eigen::Index>(feet.size()) || rows.cols() != 3)
      throw InvalidArgument("nominal_feet", fmt::format("shape ({}, 3)", feet.size()), fmt::format("({}, {})", rows.rows(), rows.cols()));
    options.nominal_feet = rows.transpose();
  }
  return {std::move(found.legs), options, found.posture};
}

PlanarTwist read_twist(const MaybeArray& value, const char* argument) {
  if (!value) return {};
  const Eigen::Vector3d v = read_vector3(*value, argument);
  return {v.x(), v.y(), v.z()};
}

ConstMatrix feet_of(const Eigen::Matrix3Xd& columns) { return copied_matrix(RowMatrix(columns.transpose())); }

void bind_plan(nb::module_& m) {
  nb::class_<TrotPlan>(m, "TrotPlan", "Where feet and joints are to be at one instant. Feet in the base's frame, joints as World.actuated.")
      .def_prop_ro(
          "q", [](const TrotPlan& p) { return copied_vector(p.joints.q); }, nb::rv_policy::automatic, "(n,) joint positions (rad or m)")
      .def_prop_ro(
          "v", [](const TrotPlan& p) { return copied_vector(p.joints.v); }, nb::rv_policy::automatic, "(n,) joint velocities")
      .def_prop_ro(
          "a", [](const TrotPlan& p) { return copied_vector(p.joints.a); }, nb::rv_policy::automatic, "(n,) joint accelerations")
      .def_prop_ro(
          "feet", [](const TrotPlan& p) { return feet_of(p.foot_position); }, nb::rv_policy::automatic, "(legs, 3) feet (m)")
      .def_prop_ro(
          "foot_velocities", [](const TrotPlan& p) { return feet_of(p.foot_velocity); }, nb::rv_policy::automatic, "(legs, 3) m/s")
      .def_prop_ro(
          "stance", [](const TrotPlan& p) { return std::vector<bool>(p.stance.begin(), p.stance.end()); }, "legs flags: the foot stands")
      .def_ro("distance", &TrotPlan::distance, "Largest distance from a foot's place that its joints' limits left (m)");
}

void bind_planner(nb::module_& m) {
  nb::class_<TrotPlanner>(m, "TrotPlanner", nb::dynamic_attr(),
                          R"(The trot of [ZD15, section 6.1]: a commanded planar velocity of the base in, feet and joints out.

Stance feet move against the command, swing feet on splines to Raibert's footholds; inverse kinematics by damped least squares within limits.)")
      .def(
          "__init__",
          [](nb::pointer_and_handle<TrotPlanner> self, nb::pointer_and_handle<WorldHandle> world, const std::vector<std::string>& feet,
             const MaybeArray& nominal_feet, double period, double duty, const std::optional<std::vector<double>>& touchdown,
             double step_height, double start_time, double feedback, double foot_radius) {
            if (!(duty > 0.0 && duty <= 1.0)) throw InvalidArgument("duty", "a number in (0, 1]", fmt::format("{}", duty));
            const std::vector<WorldFoot> found = feet_named(world.p->world(), feet);
            GaitParameters gait;
            gait.period = period;
            gait.duty_factor.assign(feet.size(), duty);
            gait.touchdown = touchdown.value_or(published_trot().touchdown);
            gait.step_height = step_height;
            if (gait.touchdown.size() != feet.size())
              throw InvalidArgument("touchdown", fmt::format("{} phases, one per foot", feet.size()),
                                    touchdown ? fmt::format("{}", touchdown->size()) : "None, the published ones of four feet");
            new (self.p) TrotPlanner(make_planner(world.p->world(), found, nominal_feet, gait, start_time, feedback, foot_radius));
            nb::dict start;  // for pickles
            start["feet"] = feet;
            if (nominal_feet) start["nominal_feet"] = *nominal_feet;
            start["period"] = period;
            start["duty"] = duty;
            start["touchdown"] = gait.touchdown;
            start["step_height"] = step_height;
            start["start_time"] = start_time;
            start["feedback"] = feedback;
            start["foot_radius"] = foot_radius;
            remember_world(self.h, world.h, kept(start));
          },
          "world"_a, "feet"_a, "nominal_feet"_a = nb::none(), "period"_a = 0.3, "duty"_a = 0.75, "touchdown"_a = nb::none(),
          "step_height"_a = 0.015, "start_time"_a = 0.0, "feedback"_a = 0.0, "foot_radius"_a = 0.0,
          R"(feet: names of links. nominal_feet: (legs, 3) their places at mid-stance in the base's frame (m), None: those of the start.
period (s, >= 1e-3), duty (share of it in stance), touchdown (phases in [0, 1), None: the published trot of LF, RF, LH, RH), step_height
(m, no more than a foot gets straight above its nominal place). start_time: before it all feet stand (s). feedback: of the measured
velocity on footholds (s, >= 0), which moves none out of the leg's reach. foot_radius: of spherical feet about the links' origins, which
roll while they stand (m, no more than a foot gets from its nominal place); 0: the links' origins stand still. Feet are points: how the
sole of a leg of more than three joints is turned is not planned, and its posture drifts.)")
      .def(
          "update",
          [](TrotPlanner& p, double t, const ArrayLike& command, const MaybeArray& measured) {
            if (!measured && p.options().feedback != 0.0)
              throw InvalidArgument("measured", "the velocity (3,) that this planner's feedback is of", "None");
            return TrotPlan(p.update(t, read_twist(command, "command"), read_twist(measured, "measured")));
          },
          "t"_a, "command"_a, "measured"_a = nb::none(),
          "The plan at time t (s, not before the last one, at most 1000 periods after it) for a command (3,): v_x, v_y (m/s), yaw rate "
          "(rad/s), body axes, at which the feet can keep to the ground for a stance. measured: the same of the base as it moves, which "
          "feedback needs and which may be any: its part of a foothold is cut to where the leg gets, with a step's height to spare. A "
          "clock that begins elsewhere than at 0 "
          "needs reset(t) first.")
      .def("_memory",
           [](TrotPlanner& p) {
             ByteWriter out;
             p.carry(out);
             return nb::bytes(out.written.data(), out.written.size());
           })
      .def("_remember",
           [](TrotPlanner& p, const nb::bytes& bytes) {
             ByteReader in({bytes.c_str(), bytes.size()});
             p.carry(in);
             if (!in.at_end()) throw InvalidArgument("bytes", "those of a planner of these feet", "more");
           })
      .def(
          "copy", [](const TrotPlanner& p) { return TrotPlanner(p); }, "A planner that goes on from here bit for bit as this one does.")
      .def("reset", &TrotPlanner::reset, "t"_a = 0.0, "All feet at their nominal places, the clock at t (s).")
      .def_prop_ro(
          "standing_posture", [](const TrotPlanner& p) { return copied_vector(p.standing_posture()); }, nb::rv_policy::automatic,
          "(n,) joint positions with all feet at their nominal places (rad or m)");
}

}  // namespace

void bind_motion(nb::module_& m) {
  bind_controller(m);
  bind_plan(m);
  bind_planner(m);
}

}  // namespace stiction::python
