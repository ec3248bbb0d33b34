// World, its joints, what it says of itself.
#include <memory>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "contact_laws.hpp"
#include "remember.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/base/ranges.hpp"
#include "stiction/drive/joint_drives.hpp"
#include "stiction/record/coordinate_names.hpp"
#include "stiction/sim/model_path.hpp"
#include "world_handle.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;
using MaybeArray = std::optional<ArrayLike>;

void bind_joint(nb::module_& m) {
  nb::class_<Joint>(m, "Joint", "One joint of a robot, or the 6 degrees of freedom of a floating base or free body. SI units.")
      .def_ro("name", &Joint::name, "Name in the robot's file")
      .def_prop_ro(
          "kind", [](const Joint& j) { return std::string(to_string(j.kind)); }, "revolute, prismatic, spherical or free")
      .def_ro("q", &Joint::q, "First coordinate in q")
      .def_ro("v", &Joint::v, "First coordinate in v")
      .def_ro("nq", &Joint::nq, "Number of its coordinates in q")
      .def_ro("nv", &Joint::nv, "Number of its coordinates in v")
      .def_ro("lower", &Joint::lower, "Least position (rad or m); -inf: none")
      .def_ro("upper", &Joint::upper, "Largest position (rad or m); inf: none")
      .def_ro("velocity_limit", &Joint::velocity_limit, "Largest speed (rad/s or m/s)")
      .def_ro("effort_limit", &Joint::effort_limit, "Largest torque or force (N m or N)")
      .def_ro("dry_friction", &Joint::dry_friction, "N m or N")
      .def_ro("damping", &Joint::damping, "N m s/rad or N s/m")
      .def_ro("armature", &Joint::armature, "Reflected inertia of the rotor (kg m^2 or kg)")
      .def_ro("stiffness", &Joint::stiffness, "Of its spring (N m/rad or N/m)")
      .def_ro("spring_reference", &Joint::spring_reference, "Where the spring is at rest (rad or m)")
      .def_ro("actuated", &Joint::actuated, "Whether a motor drives it")
      .def("__repr__", [](const Joint& j) { return "Joint('" + j.name + "', " + std::string(to_string(j.kind)) + ")"; });
}

WorldProblem make_problem(WorldHandle& handle, const MaybeArray& q, const MaybeArray& v, const MaybeArray& tau, std::optional<double> dt,
                          std::optional<double> friction, const std::optional<std::string>& law) {
  Scene scene = handle.scene();
  if (law) scene.options.contact.law = law_from_string(*law);
  State state = scene.start;
  state.q = read_coordinates(q, "q", scene.start.q);
  state.v = read_coordinates(v, "v", scene.start.v);
  const Eigen::VectorXd forces = read_coordinates(tau, "tau", Eigen::VectorXd::Zero(scene.world.nv()));
  const double step = dt.value_or(scene.options.assemble.dt);
  require_positive("dt", step);
  if (friction) require_friction("friction", *friction);
  const nb::gil_scoped_release released;
  return handle.problem(scene, state, forces, step, friction);
}

/// One number of each driven coordinate, given its joint and its index in v.
template <class T, class Value>
auto of_actuated(const World& world, Value&& value) {
  auto out = std::make_unique<std::vector<T>>();
  for (const int v : world.actuated()) out->push_back(value(*joint_at(world, v), v));
  const nb::capsule owner(out.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  std::vector<T>& values = *out.release();
  return view<nb::ndarray<nb::numpy, const T, nb::ndim<1>>>(values.data(), {values.size()}, owner);
}

template <class Item, class Name>
std::vector<std::string> names_of(std::span<const Item> items, Name&& name) {
  std::vector<std::string> out;
  for (const Item& item : items) out.push_back(name(item));
  return out;
}

void bind_description(nb::class_<WorldHandle>& world) {
  world
      .def_prop_ro(
          "nq", [](WorldHandle& w) { return w.world().nq(); }, "Number of coordinates of q")
      .def_prop_ro(
          "nv", [](WorldHandle& w) { return w.world().nv(); }, "Number of coordinates of v")
      .def_prop_ro(
          "joints", [](WorldHandle& w) { return std::vector<Joint>(w.world().joints().begin(), w.world().joints().end()); },
          "Joints in the order of their coordinates, free bodies included")
      .def_prop_ro(
          "joint_names", [](WorldHandle& w) { return names_of(w.world().joints(), [](const Joint& j) { return j.name; }); },
          "Joints, floating bases and free bodies among them, in the order of `joints`")
      .def_prop_ro(
          "body_names", [](WorldHandle& w) { return body_names(w.world()); },
          R"(Bodies, the static ones too, in the order of their indices, each by a name that no other has and that `pose` takes.

"robot/name" where another robot, or a free or static body, has the name too.)")
      .def_prop_ro(
          "link_names", [](WorldHandle& w) { return names_of(w.world().links(), [](const Link& l) { return l.name; }); },
          "Frames of robot files, each fixed to a body")
      .def_prop_ro(
          "actuated", [](WorldHandle& w) { return of_actuated<std::int64_t>(w.world(), [](const Joint&, int v) { return v; }); },
          nb::rv_policy::automatic, "Indices into v of the driven joints, ascending")
      .def_prop_ro(
          "actuated_q",
          [](WorldHandle& w) { return of_actuated<std::int64_t>(w.world(), [](const Joint& j, int v) { return j.q + v - j.v; }); },
          nb::rv_policy::automatic, "Indices into q of the driven joints, in the order of `actuated`")
      .def_prop_ro(
          "effort_limits",
          [](WorldHandle& w) { return of_actuated<double>(w.world(), [](const Joint& j, int) { return motor_limit(j); }); },
          nb::rv_policy::automatic,
          "(len(actuated),) largest torque or force of each driven joint (N m or N), a read-only copy; inf where the file has none")
      .def_prop_ro(
          "initial_q", [](WorldHandle& w) { return copied_vector(w.scene().start.q); }, nb::rv_policy::automatic,
          "(nq,) start configuration, a read-only copy")
      .def_prop_ro(
          "initial_v", [](WorldHandle& w) { return copied_vector(w.scene().start.v); }, nb::rv_policy::automatic,
          "(nv,) start velocity, a read-only copy")
      .def_prop_ro(
          "warnings", [](WorldHandle& w) { return w.warnings(); },
          "What the robots' files say and this engine leaves out, ROBOT: FILE:LINE: what, and links left out of collision")
      .def("__repr__", [](WorldHandle& w) {
        return "World(bodies=" + std::to_string(w.world().bodies().size()) + ", nq=" + std::to_string(w.world().nq()) +
               ", nv=" + std::to_string(w.world().nv()) + ")";
      });
}

}  // namespace

void bind_world(nb::module_& m) {
  m.def(
      "scenes",
      [] {
        std::map<std::string, std::string> out;
        for (const ShippedScene& scene : shipped_scenes()) out[scene.name] = scene.about;
        return out;
      },
      "Scenes that come with stiction: what each is about, by the name under which World.from_scene and simulate take it.");
  bind_joint(m);
  nb::class_<WorldHandle> world(m, "World", nb::dynamic_attr(), R"(Robots, free rigid bodies and static bodies in one state (q, v).

A floating base or free body has 7 positions [x y z qx qy qz qw] and 6 velocities, linear then angular, of its origin in its own axes,
as in Pinocchio: `velocity_in_world_axes` turns them. Forces, Jacobians and velocities of named bodies are in world axes. Functions of a
state take q and v, None for the start.)");
  world
      .def(
          "__init__",
          [](nb::pointer_and_handle<WorldHandle> self, const MaybeArray& gravity, double friction,
             const std::optional<nb::dict>& material) {
            std::optional<ContactMaterial> all;
            if (material) all = read_materials(*material, 1)[0];
            new (self.p) WorldHandle(gravity ? std::optional(read_vector3(*gravity, "gravity")) : std::nullopt, friction, all);
            nb::dict start;  // for copies and pickles
            if (gravity) start["gravity"] = *gravity;
            start["friction"] = friction;
            if (material) start["material"] = *material;
            remember_start(self.h, start);
          },
          "gravity"_a = nb::none(), "friction"_a = 0.5, "material"_a = nb::none(),
          R"(gravity: (3,) (m/s^2), None: what a robot's file says, else (0, 0, -9.81); friction: of shapes that have none of their own.

material: parameters of the laws that have any, of every contact, as a dictionary: stiffness, damping, ... as of ContactProblem.material.)")
      .def_static(
          "from_scene", [](const std::filesystem::path& path) { return new WorldHandle(path.string()); }, "path"_a,
          "The world, start and step options of a scene file (TOML), or of a scene that comes with stiction by name: `scenes`. Raises "
          "FileError.")
      .def("_become", &WorldHandle::become)
      .def("_last_read", &WorldHandle::last_read)
      .def("problem", &make_problem, "q"_a = nb::none(), "v"_a = nb::none(), "tau"_a = nb::none(), "dt"_a = nb::none(),
           "friction"_a = nb::none(), "law"_a = nb::none(),
           R"(The contact problem of the step from (q, v) under the generalised forces tau (nv,) (N, N m).

q, v: None for the start; tau: None for zero; dt: None for the scene's, else what a robot's MJCF says, else 1e-3 s. Velocities of free
bodies and floating bases in it, after the step too, are in their axes before it, in which their centres of mass (of a robot with its joints
locked) go straight: M, J and `impulse` belong to those. Its contacts are those that may close within the step at twice v, or by ten times
gravity.
friction: replaces the coefficient of every contact; law: where a pair names a law of its own, that of all other contacts, None for the
scene's (without such pairs the problem names none). Bounded rows hold joint limits and dry joint friction. Tangential springs of contacts
are at rest in it: `Stepper.problem` has those of a run.

v is that of a run: rows of loops and contacts ask for J(q) v+ = 0, as the step before did at the q before. Of a motion (q, v, a) with
J(q) v = 0, say a recorded one, take the step that ends at v: problem(q, v - h a, dt=h), asked for v, has its forces and torques to first
order in h. Those of problem(q, v) lack what J changes by, dJ/dt v, however short the step (docs/concepts.md).)");
  bind_additions(world);
  bind_terrain_addition(world);
  bind_pairs(world);
  bind_description(world);
  bind_dynamics(world);
  bind_cut_joints(world);
}

}  // namespace stiction::python
