// What is put into a world: robots, bodies, their velocities at the start.
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "shape_handle.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/base/ranges.hpp"
#include "world_handle.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;
using Path = std::filesystem::path;
using MaybeArray = std::optional<ArrayLike>;
using JointValues = std::map<std::string, double>;

/// What `add_robot` takes; stiction/copying.py makes a text of a model of Pinocchio.
class RobotFile : public nb::object {
  NB_OBJECT(RobotFile, nb::object,
            "str | os.PathLike | PinocchioModel | tuple[PinocchioModel, "
            "PinocchioGeometry]",
            is_anything)
};

void add_robot(WorldHandle& world, const RobotFile& file, const std::string& name, std::optional<bool> floating, const MaybeArray& position,
               const MaybeArray& orientation, const JointValues& joints, const std::optional<std::vector<std::string>>& actuated,
               const std::vector<Path>& package_dirs, const std::optional<Path>& srdf, bool self_collision, bool filter_overlaps,
               const std::string& keyframe, bool allow_impossible_inertia, const std::map<std::string, JointValues>& joint_settings,
               const std::string& coordinates, const std::vector<std::string>& cut, bool convex_meshes) {
  RobotOptions options;
  options.name = name;
  if (floating) options.base = *floating ? BaseKind::floating : BaseKind::fixed;
  options.pose = read_pose(position, orientation);
  options.actuated = actuated;
  for (const Path& folder : package_dirs) options.package_dirs.push_back(folder.string());
  if (srdf) options.srdf = srdf->string();
  options.self_collision = self_collision;
  options.filter_overlaps = filter_overlaps;
  options.keyframe = keyframe;
  options.allow_impossible_inertia = allow_impossible_inertia;
  options.coordinates = coordinates_from_string(coordinates);
  options.cut = cut;
  options.convex_meshes = convex_meshes;
  for (const auto& [joint, angle] : joints) options.joints[joint].position = angle;
  for (const auto& [joint, settings] : joint_settings) {
    const std::string argument = fmt::format("joint_settings['{}']", joint);
    for (const auto& [setting, value] : settings) setting_named(options.joints[joint], setting, argument) = value;
  }
  Path path;
  if (!nb::try_cast(file, path)) {
    const std::string got = nb::repr(file).c_str();
    throw nb::type_error(("file: expected a path, the text of a URDF or MJCF, or a pinocchio.Model, got " + got).c_str());
  }
  world.add_robot(path.string(), options);
}

void check_material(const std::optional<double>& friction, double restitution) {
  require_share("restitution", restitution);
  if (friction) require_friction("friction", *friction);
}

Eigen::Matrix3d read_matrix3(const ArrayLike& value, const char* argument) {
  const Numbers numbers(value, argument, 2);
  if (numbers.matrix().rows() != 3 || numbers.matrix().cols() != 3) throw InvalidArgument(argument, "a 3 x 3 matrix", "another shape");
  return numbers.matrix();
}

Eigen::Vector3d vector_or_zero(const MaybeArray& value, const char* argument) {
  return value ? read_vector3(*value, argument) : Eigen::Vector3d::Zero();
}

void add_body(WorldHandle& world, const std::string& name, const ShapesObject& shape, std::optional<double> mass,
              const MaybeArray& position, const MaybeArray& orientation, std::optional<double> friction, double restitution,
              const MaybeArray& inertia, std::optional<double> density, const MaybeArray& com, const MaybeArray& velocity,
              const MaybeArray& angular_velocity) {
  check_material(friction, restitution);
  const Eigen::Isometry3d pose = read_pose(position, orientation);
  const std::vector<BodyShape> shapes = read_shapes(shape, "shape", friction);
  if (mass && density) throw InvalidArgument("density", "mass or density, not both", fmt::format("{}", *density));
  if (!mass && !density) {
    for (const auto& [argument, given] :
         {std::pair("inertia", &inertia), {"com", &com}, {"velocity", &velocity}, {"angular_velocity", &angular_velocity}}) {
      if (*given) throw InvalidArgument(argument, "a mass or density of what moves", "neither");
    }
    return world.add_static({name, pose, shapes}, restitution);
  }
  FreeBody body;
  body.name = name;
  body.pose = pose;
  body.shapes = shapes;
  set_inertia(body, mass, density, com ? std::optional(read_vector3(*com, "com")) : std::nullopt,
              inertia ? std::optional(read_matrix3(*inertia, "inertia")) : std::nullopt);
  world.add_body(body, restitution, {vector_or_zero(velocity, "velocity"), vector_or_zero(angular_velocity, "angular_velocity")});
}

void set_velocity(WorldHandle& world, const std::string& name, const ArrayLike& velocity, const MaybeArray& angular_velocity) {
  double speed = 0.0;
  if (!angular_velocity && nb::try_cast(velocity, speed)) {
    if (!std::isfinite(speed)) throw InvalidArgument("velocity", "a finite number", fmt::format("{}", speed));
    return world.set_speed(name, speed);
  }
  world.set_velocity(name, {read_vector3(velocity, "velocity"), vector_or_zero(angular_velocity, "angular_velocity")});
}

void bind_robots(nb::class_<WorldHandle>& world) {
  world.def("add_robot", &add_robot, "file"_a, "name"_a = "", "floating"_a = nb::none(), "position"_a = nb::none(),
            "orientation"_a = nb::none(), "joints"_a = JointValues{}, "actuated"_a = nb::none(), "package_dirs"_a = std::vector<Path>{},
            "srdf"_a = nb::none(), "self_collision"_a = true, "filter_overlaps"_a = true, "keyframe"_a = "",
            "allow_impossible_inertia"_a = false, "joint_settings"_a = std::map<std::string, JointValues>{}, "coordinates"_a = "minimal",
            "cut"_a = std::vector<std::string>{}, "convex_meshes"_a = true,
            R"(Adds a robot from a URDF or MJCF: its file, its text (which begins with <), or a pinocchio.Model (stiction.from_pinocchio).

floating: whether its base moves freely; None: fixed for a URDF, what the file says for an MJCF.
position (3,) (m), orientation [x y z w]: where the file's frame is put, at the start when floating. Of a URDF that is the root link; what an
    MJCF says of its bodies' `pos` and `quat` comes on top (pos="0 0 0.1" at position (0, 0, 0.1) starts at z = 0.2).
joints: start positions by name (rad or m). actuated: names of the driven joints; None: what the file says.
package_dirs: where package://NAME/ is looked up.
srdf: file whose disabled pairs of links do not collide; None: the one that lies beside a URDF, if any; "": none.
self_collision: whether links of the robot collide with each other.
filter_overlaps: leave out, for good, the contacts of links that overlap by more than 1 mm at the start, or touch in nearly every
configuration; `warnings` names them.
keyframe: start configuration by name: a <key> of an MJCF, a <group_state> of a URDF's SRDF ("half_sitting").
allow_impossible_inertia: inertias that no rigid body has are warnings, not errors, as long as the mass matrix is positive definite.
joint_settings: {joint: {setting: value}} in place of what the file says, settings effort_limit, velocity_limit, dry_friction, damping,
armature, stiffness, spring_reference in the units of `Joint`.
coordinates: "minimal", those of the joints; "extended", the robot cut at joints named by `cut` (none: those of its root, the limbs) into
parts that move freely; "maximal", cut at all of them. Cut joints are bilateral rows; `to_uncut` and `from_uncut` lead to the joints' state
and back, `uncut_forces` takes their torques. Joints with damping, armature or stiffness cannot be cut.
convex_meshes: meshes collide as their convex hulls; False: as their triangles (docs/scenes.md), through which a bowl holds what lies in it.
Raises FileError or ValueError.)");
}

}  // namespace

void bind_additions(nb::class_<WorldHandle>& world) {
  bind_robots(world);
  world
      .def("add_body", &add_body, "name"_a, "shape"_a, "mass"_a = nb::none(), "position"_a = nb::none(), "orientation"_a = nb::none(),
           "friction"_a = nb::none(), "restitution"_a = 0.0, "inertia"_a = nb::none(), "density"_a = nb::none(), "com"_a = nb::none(),
           "velocity"_a = nb::none(), "angular_velocity"_a = nb::none(),
           R"(Adds a rigid body that moves freely, or a static one when neither mass nor density is given.

shape: a Shape at the body's origin, or a list of shapes, each alone or as (shape, position) or (shape, position, orientation) in the
body frame; mass: kg, or density: kg/m^3 of all shapes; position (3,) (m) and orientation [x y z w] at the start; friction: None for the
world's; restitution: in [0, 1]; com (3,): centre of mass in the body frame (m), inertia: (3, 3) about it, body axes (kg m^2), None: of the
homogeneous solid. A mesh is the solid inside its triangles, a FileError where they are no closed surface; parts that overlap count twice.
velocity (3,) (m/s) of the origin and angular_velocity (3,) (rad/s) at the start: world axes.
A pair of shapes has the smaller of their frictions and the larger of their restitutions.)")
      .def("set_velocity", &set_velocity, "name"_a, "velocity"_a, "angular_velocity"_a = nb::none(),
           R"(Gives what is called name a velocity at the start, whatever it had.

A free body or a floating base, by the name of its body or of a link fixed to it: velocity (3,) (m/s) of the body's origin and
angular_velocity (3,) (rad/s), None for zero, world axes. A joint with one coordinate: velocity, a number (rad/s or m/s).)")
      .def(
          "add_ground",
          [](WorldHandle& self, std::optional<double> friction, double restitution, const std::string& name) {
            check_material(friction, restitution);
            self.add_static({name, Eigen::Isometry3d::Identity(), {{HalfSpace{}, Eigen::Isometry3d::Identity(), friction}}}, restitution);
          },
          "friction"_a = nb::none(), "restitution"_a = 0.0, "name"_a = "ground", "Adds the static half space z <= 0.");
}

}  // namespace stiction::python
