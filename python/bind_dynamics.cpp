// What a world's state implies: poses, velocities, Jacobians, inertia, forces, energies.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include "arrays.hpp"
#include "stiction/base/errors.hpp"
#include "world_frames.hpp"
#include "world_handle.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;
using Eigen::Vector3d;
using Eigen::VectorXd;
using MaybeArray = std::optional<ArrayLike>;

/// A world brought to a state.
struct At {
  const Scene& scene;
  const World& world;
  WorldData& data;
  VectorXd q, v;
};

constexpr double kFastest = 1e100;  // m/s or rad/s, forces too: squares, times lengths and masses, stay finite

void require_up_to_fastest(const char* argument, const Eigen::Ref<const VectorXd>& values) {
  const double fastest = largest_entry(values);
  if (fastest > kFastest) throw InvalidArgument(argument, fmt::format("numbers up to {:g}", kFastest), fmt::format("{:g}", fastest));
}

VectorXd read_positions(const MaybeArray& q, const char* argument, const VectorXd& fallback) {
  VectorXd out = read_coordinates(q, argument, fallback);
  require_within_reach(argument, out);
  return out;
}

VectorXd read_velocities(const MaybeArray& v, const char* argument, const VectorXd& fallback) {
  VectorXd out = read_coordinates(v, argument, fallback);
  require_up_to_fastest(argument, out);
  return out;
}

At configuration(WorldHandle& handle, const MaybeArray& q, const char* argument = "q") {
  const Scene& scene = handle.scene();
  At at{scene, scene.world, handle.data(), read_positions(q, argument, scene.start.q), {}};
  update_kinematics(at.world, at.q, at.data);
  return at;
}

At motion(WorldHandle& handle, const MaybeArray& q, const MaybeArray& v) {
  const Scene& scene = handle.scene();
  At at{scene, scene.world, handle.data(), read_positions(q, "q", scene.start.q), read_velocities(v, "v", scene.start.v)};
  update(at.world, at.q, at.v, at.data);
  return at;
}

/// A force or a torque (N, N m), whose moment about whatever is within reach is finite.
Vector3d read_force(const MaybeArray& force, const char* argument) {
  if (!force) return Vector3d::Zero();
  const Vector3d f = read_vector3(*force, argument);
  require_up_to_fastest(argument, f);
  return f;
}

/// Of a body or link by name, or of the body of an index.
NamedFrame frame_of(const World& world, const std::variant<int, std::string>& which) {
  if (const auto* name = std::get_if<std::string>(&which)) return frame_named(world, *name, "name");
  const int body = std::get<int>(which), count = static_cast<int>(world.bodies().size());
  if (body < 0 || body >= count) throw InvalidArgument("name", fmt::format("a body in [0, {})", count), std::to_string(body));
  return {body, Eigen::Isometry3d::Identity()};
}

Matrix pose(WorldHandle& handle, const std::variant<int, std::string>& which, const MaybeArray& q) {
  const At at = configuration(handle, q);
  const NamedFrame frame = frame_of(at.world, which);
  return own_matrix((at.data.X_WB[frame.body] * frame.X_BF).matrix());
}

RowMatrix dense_jacobian(const At& at, const std::string& name, const MaybeArray& point) {
  const NamedFrame frame = frame_named(at.world, name, "name");
  RowMatrix J = RowMatrix::Zero(6, at.world.nv());
  const int block = at.world.bodies()[frame.body].block;
  if (block < 0) return J;
  const Block& columns = at.world.blocks()[block];
  Matrix6Xd part(6, columns.nv);
  frame_jacobian(at.world, at.data, frame.body, frame.world_point(at.data, point ? read_point(*point) : Vector3d::Zero()), part);
  J.middleCols(columns.v, columns.nv) = part;
  return J;
}

Matrix jacobian(WorldHandle& handle, const std::string& name, const MaybeArray& q, const MaybeArray& point) {
  return own_matrix(dense_jacobian(configuration(handle, q), name, point));
}

Vector velocity(WorldHandle& handle, const std::string& name, const MaybeArray& q, const MaybeArray& v, const MaybeArray& point) {
  const At at = configuration(handle, q);
  return own_vector(dense_jacobian(at, name, point) * read_velocities(v, "v", at.scene.start.v));
}

Vector generalized_force(WorldHandle& handle, const std::string& name, const MaybeArray& force, const MaybeArray& torque,
                         const MaybeArray& point, const MaybeArray& q) {
  const At at = configuration(handle, q);
  const NamedFrame frame = frame_named(at.world, name, "name");
  const Vector3d com = at.world.bodies()[frame.body].com;
  const Vector3d p_B = point ? frame.X_BF * read_point(*point) : com;
  const Vector3d f = read_force(force, "force"), m = read_force(torque, "torque");
  VectorXd tau = VectorXd::Zero(at.world.nv());
  add_wrench(at.world, at.data, frame.body, at.data.X_WB[frame.body] * p_B, f, m, tau);
  return own_vector(tau);
}

Vector centre_of_mass(WorldHandle& handle, const MaybeArray& q, const std::optional<std::string>& robot) {
  const At at = configuration(handle, q);
  return own_vector(robot ? center_of_mass(at.world, at.data, at.world.robot(*robot)) : center_of_mass(at.world, at.data));
}

/// Linear and angular velocity of every free joint turned by its rotation, or back.
Vector turned(WorldHandle& handle, const ArrayLike& v, const MaybeArray& q, const char* argument, bool to_world) {
  const At at = configuration(handle, q);
  VectorXd out = read_velocities(v, argument, at.scene.start.v);
  for (const Joint& joint : at.world.joints()) {
    if (joint.kind != JointKind::free) continue;
    const Eigen::Quaterniond unit(Eigen::Vector4d(at.q.segment<4>(joint.q + 3)));
    const Eigen::Quaterniond R = to_world ? unit : unit.inverse();
    for (const int part : {0, 3}) out.segment<3>(joint.v + part) = R * Vector3d(out.segment<3>(joint.v + part));
  }
  return own_vector(out);
}

Vector integrated(WorldHandle& handle, const ArrayLike& q, const ArrayLike& v, double dt) {
  const At at = configuration(handle, q);
  const VectorXd velocity = read_coordinates(v, "v", at.scene.start.v);  // what v dt may be is the limit
  if (!std::isfinite(dt)) throw InvalidArgument("dt", "a finite number", std::to_string(dt));
  require_within_reach("v dt", dt * velocity);
  VectorXd out(at.world.nq());
  integrate(at.world, at.q, velocity, dt, out);
  return own_vector(out);
}

Vector differed(WorldHandle& handle, const ArrayLike& q0, const ArrayLike& q1) {
  const VectorXd from = configuration(handle, q0, "q0").q;
  const At to = configuration(handle, q1, "q1");
  VectorXd out(to.world.nv());
  difference(to.world, from, to.q, out);
  return own_vector(out);
}

void bind_kinematics(nb::class_<WorldHandle>& world) {
  world
      .def("pose", &pose, "name"_a, "q"_a = nb::none(),
           R"((4, 4) pose of a body or link in the world at q (None: initial_q).

name: as its file names it, or an index into `body_names`: the frame of that body in `DrawnShape` and `Trajectory`, whose origin is on its
joint where an MJCF has put its own elsewhere.)")
      .def("jacobian", &jacobian, "name"_a, "q"_a = nb::none(), "point"_a = nb::none(),
           R"((6, nv) Jacobian of a body or link: jacobian @ v is `velocity`, world axes.

Rows: linear velocity of the point, then angular velocity. point (3,) (m) in the frame of that body or link; None: its origin.)")
      .def(
          "velocity", &velocity, "name"_a, "q"_a = nb::none(), "v"_a = nb::none(), "point"_a = nb::none(),
          "(6,) linear velocity of a point of a body or link (m/s), then its angular velocity (rad/s), world axes; point as of `jacobian`.")
      .def(
          "velocity_in_world_axes", [](WorldHandle& w, const ArrayLike& v, const MaybeArray& q) { return turned(w, v, q, "v", true); },
          "v"_a, "q"_a = nb::none(),
          "(nv,) v with the linear and angular velocities of floating bases and free bodies turned from body axes into world axes.")
      .def(
          "velocity_in_body_axes",
          [](WorldHandle& w, const ArrayLike& v, const MaybeArray& q) { return turned(w, v, q, "v_world", false); }, "v_world"_a,
          "q"_a = nb::none(), "(nv,) The inverse of `velocity_in_world_axes`: what a state takes, of velocities in world axes.")
      .def("integrate", &integrated, "q"_a, "v"_a, "dt"_a = 1.0,
           "(nq,) q moved by v for dt seconds, quaternions kept unit. No entry of v dt is beyond 1e9.")
      .def("difference", &differed, "q0"_a, "q1"_a, "(nv,) the v with integrate(q0, v) = q1, along the shortest rotations.");
}

void bind_forces(nb::class_<WorldHandle>& world) {
  world
      .def(
          "mass_matrix",
          [](WorldHandle& w, const MaybeArray& q) {
            const At at = motion(w, q, {});
            return own_matrix(at.data.M.to_dense());
          },
          "q"_a = nb::none(), "(nv, nv) M(q), armature included: M a + bias = tau + contact forces.")
      .def(
          "bias",
          [](WorldHandle& w, const MaybeArray& q, const MaybeArray& v) {
            const At at = motion(w, q, v);
            return own_vector(at.data.bias);
          },
          "q"_a = nb::none(), "v"_a = nb::none(),
          "(nv,) Coriolis, centrifugal, gravity and joint spring forces (N, N m); joint damping and dry friction are not in it.")
      .def("generalized_force", &generalized_force, "name"_a, "force"_a = nb::none(), nb::kw_only(), "torque"_a = nb::none(),
           "point"_a = nb::none(), "q"_a = nb::none(),
           R"((nv,) generalised force of a force (3,) (N) and a torque (3,) (N m), world axes, on a body or link.

point (3,) (m): where the force acts, in the frame of that body or link; None: the centre of mass of the body.)");
}

void bind_energies(nb::class_<WorldHandle>& world) {
  world
      .def(
          "energy",
          [](WorldHandle& w, const MaybeArray& q, const MaybeArray& v) {
            const At at = motion(w, q, v);
            return kinetic_energy(at.world, at.data, at.v) + potential_energy(at.world, at.data);
          },
          "q"_a = nb::none(), "v"_a = nb::none(), "Kinetic and potential energy (J), zero height at the origin.")
      .def(
          "kinetic_energy",
          [](WorldHandle& w, const MaybeArray& q, const MaybeArray& v) {
            const At at = motion(w, q, v);
            return kinetic_energy(at.world, at.data, at.v);
          },
          "q"_a = nb::none(), "v"_a = nb::none(), "J")
      .def(
          "potential_energy",
          [](WorldHandle& w, const MaybeArray& q) {
            const At at = configuration(w, q);
            return potential_energy(at.world, at.data);
          },
          "q"_a = nb::none(), "J, zero height at the origin.")
      .def("center_of_mass", &centre_of_mass, "q"_a = nb::none(), "robot"_a = nb::none(),
           "(3,) of all moving bodies, or of one robot's, world (m).");
}

}  // namespace

void bind_dynamics(nb::class_<WorldHandle>& world) {
  bind_kinematics(world);
  bind_forces(world);
  bind_energies(world);
}

}  // namespace stiction::python
