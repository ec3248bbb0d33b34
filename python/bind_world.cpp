// World and the shapes and joints in it.
#include <cmath>
#include <map>
#include <memory>

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "contact_laws.hpp"
#include "stiction/base/errors.hpp"
#include "world_handle.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;
using MaybeArray = std::optional<ArrayLike>;

struct ShapeHandle {
  Shape shape;
};

ShapeHandle checked(Shape shape) {
  validate(shape, std::string(shape_name(shape)));
  return {std::move(shape)};
}

void bind_shapes(nb::module_& m) {
  nb::class_<ShapeHandle>(m, "Shape", "A collision shape, centred at its frame's origin. Lengths in m.")
      .def_static(
          "sphere", [](double radius) { return checked(Sphere{radius}); }, "radius"_a)
      .def_static(
          "box", [](const ArrayLike& size) { return checked(Box{0.5 * read_vector3(size, "size")}); }, "size"_a, "size: (3,) edge lengths.")
      .def_static(
          "capsule",
          [](double radius, double length) {
            return checked(Capsule{radius, 0.5 * length});
          },
          "radius"_a, "length"_a, "Axis z; length of the cylindrical part, the caps add a radius at both ends.")
      .def_static(
          "cylinder",
          [](double radius, double length) {
            return checked(Cylinder{radius, 0.5 * length});
          },
          "radius"_a, "length"_a, "Axis z.")
      .def_static(
          "plane", [] { return checked(HalfSpace{}); }, "Solid z <= 0; for static bodies.")
      .def_static(
          "mesh",
          [](const std::string& file, const MaybeArray& scale, bool convex) {
            const Eigen::Vector3d factors = scale ? read_vector3(*scale, "scale") : Eigen::Vector3d::Ones();
            return checked(MeshFile{file, factors, convex});
          },
          "file"_a, "scale"_a = nb::none(), "convex"_a = true, "An STL, OBJ or DAE file; its convex hull, or its triangles.")
      .def_static(
          "height_map",
          [](const ArrayLike& heights, double size_x, double size_y, double bottom) {
            return checked(HeightMap{Numbers(heights, "heights", 2).matrix(), size_x, size_y, bottom});
          },
          "heights"_a, "size_x"_a, "size_y"_a, "bottom"_a,
          "heights: (rows along x, columns along y) (m) over size_x by size_y; the solid ends at z = bottom.")
      .def("__repr__", [](const ShapeHandle& s) { return "Shape(" + std::string(shape_name(s.shape)) + ")"; });
}

void bind_joint(nb::module_& m) {
  nb::class_<Joint>(m, "Joint", "One joint of a robot, or the 6 degrees of freedom of a floating base or free body. SI units.")
      .def_ro("name", &Joint::name)
      .def_prop_ro(
          "kind", [](const Joint& j) { return std::string(to_string(j.kind)); }, "revolute, prismatic, spherical or free")
      .def_ro("q", &Joint::q, "First coordinate in q")
      .def_ro("v", &Joint::v, "First coordinate in v")
      .def_ro("nq", &Joint::nq)
      .def_ro("nv", &Joint::nv)
      .def_ro("lower", &Joint::lower)
      .def_ro("upper", &Joint::upper)
      .def_ro("velocity_limit", &Joint::velocity_limit)
      .def_ro("effort_limit", &Joint::effort_limit)
      .def_ro("dry_friction", &Joint::dry_friction)
      .def_ro("damping", &Joint::damping)
      .def_ro("armature", &Joint::armature)
      .def_ro("stiffness", &Joint::stiffness)
      .def_ro("spring_reference", &Joint::spring_reference)
      .def_ro("actuated", &Joint::actuated)
      .def("__repr__", [](const Joint& j) { return "Joint('" + j.name + "', " + std::string(to_string(j.kind)) + ")"; });
}

Eigen::Isometry3d read_pose(const MaybeArray& position, const MaybeArray& orientation) {
  Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
  if (position) X.translation() = read_vector3(*position, "position");
  if (!orientation) return X;
  const Numbers numbers(*orientation, "orientation", 1);
  require_size("orientation", numbers.vector().size(), 4);
  const Eigen::Quaterniond rotation(Eigen::Vector4d(numbers.vector()));
  if (!(std::abs(rotation.norm() - 1.0) < 1e-6)) {
    throw InvalidArgument("orientation", "a unit quaternion [x y z w]", "norm " + std::to_string(rotation.norm()));
  }
  X.linear() = rotation.normalized().toRotationMatrix();
  return X;
}

void add_robot(WorldHandle& world, const std::string& file, const std::string& name, std::optional<bool> floating,
               const MaybeArray& position, const MaybeArray& orientation, const std::map<std::string, double>& joints,
               const std::optional<std::vector<std::string>>& actuated, const std::vector<std::string>& package_dirs,
               const std::optional<std::string>& srdf, bool self_collision, bool filter_overlaps, const std::string& keyframe,
               bool allow_impossible_inertia) {
  RobotOptions options;
  options.name = name;
  if (floating) options.base = *floating ? BaseKind::floating : BaseKind::fixed;
  options.pose = read_pose(position, orientation);
  options.actuated = actuated;
  options.package_dirs = package_dirs;
  options.srdf = srdf;
  options.self_collision = self_collision;
  options.filter_overlaps = filter_overlaps;
  options.keyframe = keyframe;
  options.allow_impossible_inertia = allow_impossible_inertia;
  for (const auto& [joint, angle] : joints) options.joints[joint].position = angle;
  world.add_robot(file, options);
}

void add_body(WorldHandle& world, const std::string& name, const ShapeHandle& shape, std::optional<double> mass, const MaybeArray& position,
              const MaybeArray& orientation, std::optional<double> friction, double restitution, const MaybeArray& inertia) {
  if (!(restitution >= 0.0 && restitution <= 1.0)) {
    throw InvalidArgument("restitution", "a number in [0, 1]", std::to_string(restitution));
  }
  if (friction && !(*friction >= 0.0)) throw InvalidArgument("friction", "a number >= 0 or infinity", std::to_string(*friction));
  const Eigen::Isometry3d pose = read_pose(position, orientation);
  const BodyShape body_shape{shape.shape, Eigen::Isometry3d::Identity(), friction};
  if (!mass) return world.add_static({name, pose, {body_shape}}, restitution);
  FreeBody body;
  body.name = name;
  body.mass = *mass;
  if (inertia) {
    const Numbers numbers(*inertia, "inertia", 2);
    if (numbers.matrix().rows() != 3 || numbers.matrix().cols() != 3) throw InvalidArgument("inertia", "a 3 x 3 matrix", "another shape");
    body.inertia = numbers.matrix();
  } else {
    body.inertia = solid_inertia(shape.shape, *mass);
  }
  body.pose = pose;
  body.shapes = {body_shape};
  world.add_body(body, restitution);
}

WorldProblem make_problem(WorldHandle& handle, const MaybeArray& q, const MaybeArray& v, const MaybeArray& tau, std::optional<double> dt,
                          std::optional<double> friction) {
  const Scene scene = handle.scene();
  State state = scene.start;
  state.q = read_coordinates(q, "q", scene.start.q);
  state.v = read_coordinates(v, "v", scene.start.v);
  const Eigen::VectorXd forces = read_coordinates(tau, "tau", Eigen::VectorXd::Zero(scene.world.nv()));
  const double step = dt.value_or(scene.options.assemble.dt);
  require_positive("dt", step);
  if (friction && !(*friction >= 0.0)) throw InvalidArgument("friction", "a number >= 0 or infinity", std::to_string(*friction));
  const nb::gil_scoped_release released;
  return handle.problem(scene, state, forces, step, friction);
}

template <class Item, class Name>
std::vector<std::string> names_of(std::span<const Item> items, Name&& name) {
  std::vector<std::string> out;
  for (const Item& item : items) out.push_back(name(item));
  return out;
}

void bind_additions(nb::class_<WorldHandle>& world) {
  world
      .def("add_robot", &add_robot, "file"_a, "name"_a = "", "floating"_a = nb::none(), "position"_a = nb::none(),
           "orientation"_a = nb::none(), "joints"_a = std::map<std::string, double>{}, "actuated"_a = nb::none(),
           "package_dirs"_a = std::vector<std::string>{}, "srdf"_a = nb::none(), "self_collision"_a = true, "filter_overlaps"_a = true,
           "keyframe"_a = "", "allow_impossible_inertia"_a = false,
           R"(Adds a robot from a URDF or MJCF file.

floating: whether its base moves freely; None: fixed for a URDF, what the file says for an MJCF.
position (3,) (m), orientation [x y z w]: of the root link, at the start when floating.
joints: start positions by name (rad or m). actuated: names of the driven joints; None: what the file says.
package_dirs: where package://NAME/ is looked up.
srdf: file whose disabled pairs of links do not collide; None: the one that lies beside a URDF, if any; "": none.
self_collision: whether links of the robot collide with each other.
filter_overlaps: leave out the contacts of links that overlap by more than 1 mm at the start, or touch in nearly every configuration;
`warnings` names them.
keyframe: the <key> of an MJCF whose qpos is the start configuration.
allow_impossible_inertia: inertias that no rigid body has are warnings, not errors, as long as the mass matrix is positive definite.
Raises FileError or ValueError.)")
      .def("add_body", &add_body, "name"_a, "shape"_a, "mass"_a = nb::none(), "position"_a = nb::none(), "orientation"_a = nb::none(),
           "friction"_a = nb::none(), "restitution"_a = 0.0, "inertia"_a = nb::none(),
           R"(Adds a rigid body that moves freely, or a static one when mass is None.

mass: kg; position (3,) (m) and orientation [x y z w] at the start; friction: None for the world's; restitution: in [0, 1];
inertia: (3, 3) about the centre of mass (kg m^2), None: of the homogeneous solid.
A pair of shapes has the smaller of their frictions and the larger of their restitutions.)")
      .def(
          "add_ground",
          [](WorldHandle& self, std::optional<double> friction, double restitution, const std::string& name) {
            add_body(self, name, {HalfSpace{}}, {}, {}, {}, friction, restitution, {});
          },
          "friction"_a = nb::none(), "restitution"_a = 0.0, "name"_a = "ground", "Adds the static half space z <= 0.");
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
      .def_prop_ro("joint_names", [](WorldHandle& w) { return names_of(w.world().joints(), [](const Joint& j) { return j.name; }); })
      .def_prop_ro(
          "body_names", [](WorldHandle& w) { return names_of(w.world().bodies(), [](const Body& b) { return b.name; }); },
          "Bodies, the static ones too, in the order of their indices")
      .def_prop_ro(
          "link_names", [](WorldHandle& w) { return names_of(w.world().links(), [](const Link& l) { return l.name; }); },
          "Frames of robot files, each fixed to a body")
      .def_prop_ro(
          "actuated",
          [](WorldHandle& w) {
            auto out = std::make_unique<std::vector<std::int64_t>>(w.world().actuated().begin(), w.world().actuated().end());
            const nb::capsule owner(out.get(), [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
            std::vector<std::int64_t>& indices = *out.release();
            return view<nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>>(indices.data(), {indices.size()}, owner);
          },
          nb::rv_policy::automatic, "Indices into v of the driven joints, ascending")
      .def_prop_ro(
          "initial_q", [](WorldHandle& w) { return own_vector(w.scene().start.q); }, nb::rv_policy::automatic,
          "(nq,) start configuration, a copy")
      .def_prop_ro(
          "initial_v", [](WorldHandle& w) { return own_vector(w.scene().start.v); }, nb::rv_policy::automatic,
          "(nv,) start velocity, a copy")
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
  bind_shapes(m);
  bind_joint(m);
  nb::class_<WorldHandle> world(m, "World", R"(Robots, free rigid bodies and static bodies in one state (q, v).

A floating base or free body has 7 positions [x y z qx qy qz qw] and 6 velocities, linear then angular, of its origin in its own axes,
as in Pinocchio: `velocity_in_world_axes` turns them. Forces, Jacobians and velocities of named bodies are in world axes. Functions of a
state take q and v, None for the start.)");
  world
      .def(
          "__init__",
          [](WorldHandle* self, const MaybeArray& gravity, double friction, const std::optional<nb::dict>& material) {
            std::optional<ContactMaterial> all;
            if (material) all = read_materials(*material, 1)[0];
            new (self) WorldHandle(gravity ? std::optional(read_vector3(*gravity, "gravity")) : std::nullopt, friction, all);
          },
          "gravity"_a = nb::none(), "friction"_a = 0.5, "material"_a = nb::none(),
          R"(gravity: (3,) (m/s^2), None: what a robot's file says, else (0, 0, -9.81); friction: of shapes that have none of their own.

material: parameters of the laws that have any, of every contact, as a dictionary: stiffness, damping, ... as of ContactProblem.material.)")
      .def_static(
          "from_scene", [](const std::string& path) { return new WorldHandle(load_scene(path)); }, "path"_a,
          "The world, start and step options of a scene file (TOML). Raises FileError.")
      .def("problem", &make_problem, "q"_a = nb::none(), "v"_a = nb::none(), "tau"_a = nb::none(), "dt"_a = nb::none(),
           "friction"_a = nb::none(),
           R"(The contact problem of the step from (q, v) under the generalised forces tau (nv,) (N, N m).

q, v: None for the start; tau: None for zero; dt: None for the scene's, 1e-3 s without one;
friction: replaces the coefficient of every contact. Bounded rows hold joint limits and dry joint friction.)");
  bind_additions(world);
  bind_pairs(world);
  bind_description(world);
  bind_dynamics(world);
}

}  // namespace stiction::python
