// simulate: a world run forward under a controller, with everything that happened as arrays.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "interrupts.hpp"
#include "step_settings.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/base/poll_clock.hpp"
#include "stiction/control/torque_limits.hpp"
#include "stiction/drive/effort_limits.hpp"
#include "stiction/io/problem_file.hpp"
#include "stiction/record/trajectory.hpp"
#include "stiction/sim/observers.hpp"
#include "stiction/sim/simulation.hpp"
#include "torque_argument.hpp"
#include "world_handle.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;
using MaybeArray = std::optional<ArrayLike>;
using Controller = nb::typed<nb::callable, ArrayLike(double, Vector, Vector)>;

/// One row per state, the start first.
struct SimulatedRun : Trajectory {
  World world;
  std::size_t nq, nv;
  long steps_at_acceptable = 0;

  SimulatedRun(const World& of, const State& start)
      : world(of), nq(static_cast<std::size_t>(of.nq())), nv(static_cast<std::size_t>(of.nv())) {
    add(start);
  }
};

/// Asks the controller for tau; takes the interpreter's lock.
void call(const Controller& controller, const World& world, const State& state, Eigen::VectorXd& tau) {
  const nb::gil_scoped_acquire locked;
  const nb::object answer = controller(state.time, own_vector(state.q), own_vector(state.v));
  if (answer.is_none()) throw InvalidArgument("tau returned by controller", "an array of numbers", "None");
  tau = TorqueArgument(answer, world, "tau returned by controller").vector();
}

struct Settings {
  std::optional<double> duration;
  std::optional<std::filesystem::path> dump;
  StepSettings step;
  bool effort_limits = true;
};

SimulatedRun run(const Scene& scene, const State& start, const std::optional<Controller>& controller, const Settings& settings) {
  const nb::gil_scoped_release released;
  Simulation simulation(scene.make_stepper(), start);
  const Eigen::VectorXd limits = effort_limits(scene.world);
  SimulatedRun out(scene.world, start);
  Eigen::VectorXd desired;
  int cut = 0;
  PollClock clock;
  const auto control = [&](const Simulation& s, Eigen::VectorXd& tau) {
    if (clock.due()) check_interrupt();
    if (controller) {
      call(*controller, s.world(), s.state(), tau);
    } else {
      scene.held_torques(s.state(), tau);
    }
    desired = tau;
    cut = clamp_torques(limits, tau);
  };
  const auto keep = [&](const StepTaken& step) { out.add(step.state, step.stepper, step.report, step.tau, desired, cut); };
  const RunSummary summary = simulation.run({.duration = scene.duration, .control = control, .observers = {keep}});
  record_end(out, simulation.stepper(), summary, "");  // nothing asks for an end
  out.steps_at_acceptable = summary.at_acceptable;
  if (settings.dump) save_problem(*settings.dump, simulation.stepper().problem());
  return out;
}

void apply(const Settings& settings, Scene& scene) {
  if (settings.duration) scene.duration = *settings.duration;
  scene.options = read_step_options(settings.step, scene.options);
  require_positive("tolerance", scene.options.contact.tolerance);
}

SimulatedRun simulate(Scene scene, const Settings& settings, const std::optional<Controller>& controller, const MaybeArray& q,
                      const MaybeArray& v) {
  apply(settings, scene);
  State start = scene.start;
  start.q = read_coordinates(q, "q", scene.start.q);
  start.v = read_coordinates(v, "v", scene.start.v);
  return run(scene, start, controller, settings);
}

template <auto member, class Array, std::size_t SimulatedRun::*columns>
Array table(nb::pointer_and_handle<SimulatedRun> self) {
  auto& x = self.p->*member;
  return view<Array>(x.data(), {self.p->states(), self.p->*columns}, self.h);
}

template <auto member, class Array, std::size_t columns>
Array rows_of(nb::pointer_and_handle<SimulatedRun> self) {
  auto& x = self.p->*member;
  return view<Array>(x.data(), {x.size() / columns, columns}, self.h);
}

template <auto member, class Array = Vector>
Array column(nb::pointer_and_handle<SimulatedRun> self) {
  auto& x = self.p->*member;
  return view<Array>(x.data(), {x.size()}, self.h);
}

using Offsets = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;

Offsets offsets_of(nb::pointer_and_handle<SimulatedRun> self) {
  auto& x = self.p->contact_offsets;
  return view<Offsets>(x.data(), {x.size()}, self.h);
}

void bind_simulation(nb::module_& m) {
  using Counts = nb::ndarray<nb::numpy, int, nb::ndim<1>>;
  nb::class_<SimulatedRun>(m, "Simulation", R"(What a simulation did: k rows, the first the start and one more per step.

Arrays are views. Quantities of a step stand in the row of the state that it led to, and are zero in the first.)")
      .def_prop_ro("time", &column<&SimulatedRun::time>, "(k,) s")
      .def_prop_ro("q", &table<&SimulatedRun::q, Matrix, &SimulatedRun::nq>, "(k, nq) configurations")
      .def_prop_ro("v", &table<&SimulatedRun::v, Matrix, &SimulatedRun::nv>, "(k, nv) velocities")
      .def_prop_ro("tau", &table<&SimulatedRun::tau, Matrix, &SimulatedRun::nv>,
                   "(k, nv) applied generalised forces (N, N m), those of drives apart")
      .def_prop_ro("drive_tau", &table<&SimulatedRun::drive_tau, Matrix, &SimulatedRun::nv>,
                   "(k, nv) generalised forces of the drives (N, N m): means over the step, of servos at its end")
      .def_prop_ro("saturated", &column<&SimulatedRun::saturated, Counts>, "(k,) torques that were cut to their joint's effort limit")
      .def_prop_ro("tau_desired", &table<&SimulatedRun::tau_desired, Matrix, &SimulatedRun::nv>,
                   "(k, nv) generalised forces that were asked for (N, N m), before they were cut to limits")
      .def_prop_ro(
          "contacts",
          [](nb::pointer_and_handle<SimulatedRun> self) {
            return nb::cast<Offsets>(nb::module_::import_("numpy").attr("diff")(offsets_of(self)));
          },
          "(k,) number of contacts")
      .def_prop_ro(
          "contact_offsets", &offsets_of,
          "(k + 1,) the c contacts of all steps, one after the other: those of row i are [contact_offsets[i], contact_offsets[i + 1])")
      .def_prop_ro("contact_points", &rows_of<&SimulatedRun::contact_points, Matrix, 3>, "(c, 3) before the step, world (m)")
      .def_prop_ro("contact_forces", &rows_of<&SimulatedRun::contact_forces, Matrix, 3>,
                   "(c, 3) on the first of contact_bodies, mean over the step, world axes (N)")
      .def_prop_ro("contact_impulses", &rows_of<&SimulatedRun::contact_impulses, Matrix, 3>,
                   "(c, 3) on the first of contact_bodies, contact frame (N s), of the whole step")
      .def_prop_ro(
          "contact_frames",
          [](nb::pointer_and_handle<SimulatedRun> self) {
            auto& x = self.p->contact_frames;
            return view<nb::ndarray<nb::numpy, double, nb::ndim<3>>>(x.data(), {x.size() / 9, 3, 3}, self.h);
          },
          "(c, 3, 3) R_WC: columns are the normal and two tangents in world axes")
      .def_prop_ro("contact_modes", &column<&SimulatedRun::contact_modes, Counts>, "(c,) 0 open, 1 stick, 2 slip")
      .def_prop_ro("contact_bodies", &rows_of<&SimulatedRun::contact_bodies, nb::ndarray<nb::numpy, int, nb::ndim<2>>, 2>,
                   "(c, 2) indices into World.body_names")
      .def_prop_ro("contact_gaps", &column<&SimulatedRun::contact_gaps>, "(c,) signed distances before the step (m)")
      .def_prop_ro("iterations", &column<&SimulatedRun::iterations, Counts>, "(k,) iterations of the solver, all its attempts together")
      .def_prop_ro("residual", &column<&SimulatedRun::residual>, "(k,) worst scaled residual of the certificate")
      .def_prop_ro("at_acceptable", &column<&SimulatedRun::at_acceptable, Counts>,
                   "(k,) 1 where the step missed the tolerance and went on because it met acceptable, else 0")
      .def_prop_ro("sub_steps", &column<&SimulatedRun::sub_steps, Counts>, "(k,) parts that the step was taken in")
      .def_ro("steps_at_acceptable", &SimulatedRun::steps_at_acceptable, "number of steps that missed the tolerance and met acceptable")
      .def_prop_ro("penetration", &column<&SimulatedRun::penetration>, "(k,) deepest penetration before the step (m)")
      .def_prop_ro("seconds", &rows_of<&SimulatedRun::seconds, Matrix, kStages>,
                   "(k, 6) wall time of the stages update, detect, assemble, solve, project, integrate (s)")
      .def_ro(
          "status", &SimulatedRun::status,
          "'solved': every step met the tolerance; 'acceptable': some met acceptable alone; otherwise that of the step that ended the run")
      .def_ro("refused", &SimulatedRun::refused, "what the step that ended the run was refused for, as StepReport.refused; '': none was")
      .def(
          "save", [](const SimulatedRun& s, const std::filesystem::path& path) { save_trajectory(path, s.world, s); }, "path"_a,
          nb::call_guard<nb::gil_scoped_release>(),
          "Writes the run with its shapes and contact forces (.npz), for stiction view. Raises FileError or ValueError.")
      .def("__repr__", [](const SimulatedRun& s) {
        return "Simulation(status='" + s.status + "', steps=" + std::to_string(s.states() - 1) +
               ", time=" + nb::str(nb::float_(s.time.back())).c_str() + " s)";
      });
}

}  // namespace

void bind_simulate(nb::module_& m) {
  bind_simulation(m);
  constexpr const char* doc = R"(Runs a world, or a scene file, forward.

duration: s; None: the scene's, for a world built here 1 s. dt, law, solver and so on to material: as of `Stepper`, None: the scene's.
controller: (t, q, v) -> tau (nv,), or one
torque per driven joint (World.actuated), in N and N m, called before every step instead of the scene's held joints; torques of driven
joints are cut to their effort limits unless effort_limits is False (Simulation.saturated counts them). q, v: start, None for the scene's.
A step that meets neither tolerance nor acceptable is tried again in halves, quarters, ... down to 256ths; if that does not help, the run
ends with its status. dump: file (.json or .npz) for the last contact problem, of a run that ended early the one that
could not be solved (load_problem reads it).)";
  const auto add = [&m, doc]<class Source>(const char* name, Scene (*scene_of)(Source)) {
    const auto call = with_settings(
        Types<Source, std::optional<double>>{},
        Types<const std::optional<Controller>&, const MaybeArray&, const MaybeArray&, std::optional<std::filesystem::path>, const Flag&>{},
        [scene_of](Source source, std::optional<double> duration, const StepSettings& step, const std::optional<Controller>& controller,
                   const MaybeArray& q, const MaybeArray& v, const std::optional<std::filesystem::path>& dump, const Flag& effort_limits) {
          return simulate(scene_of(source), {duration, dump, step, read_flag(effort_limits, "effort_limits")}, controller, q, v);
        });
    with_setting_names([&](const auto&... settings) {
      m.def("simulate", call, nb::arg(name), "duration"_a = nb::none(), settings..., "controller"_a = nb::none(), "q"_a = nb::none(),
            "v"_a = nb::none(), "dump"_a = nb::none(), "effort_limits"_a = true, doc);
    });
  };
  add.operator()<WorldHandle&>("world", [](WorldHandle& world) { return world.scene(); });
  add.operator()<const std::filesystem::path&>("scene", [](const std::filesystem::path& path) { return load_scene(path.string()); });
}

}  // namespace stiction::python
