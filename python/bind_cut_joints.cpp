// Robots cut at their joints: between a state of theirs and that of the uncut robot, which controllers speak of.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "stiction/model/cut_joints.hpp"
#include "world_handle.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;
using Eigen::VectorXd;
using MaybeArray = std::optional<ArrayLike>;

std::pair<Vector, Vector> uncut_state(WorldHandle& handle, const MaybeArray& q, const MaybeArray& v) {
  const Scene& scene = handle.scene();
  const VectorXd own_q = read_coordinates(q, "q", scene.start.q), own_v = read_coordinates(v, "v", scene.start.v);
  update(scene.world, own_q, own_v, handle.data());
  const World uncut = scene.world.uncut();
  VectorXd q_uncut(uncut.nq()), v_uncut(uncut.nv());
  to_uncut(scene.world, handle.data(), own_q, own_v, q_uncut, v_uncut);
  return {own_vector(q_uncut), own_vector(v_uncut)};
}

std::pair<Vector, Vector> cut_state(WorldHandle& handle, const MaybeArray& q_uncut, const MaybeArray& v_uncut) {
  const Scene& scene = handle.scene();
  const World uncut = scene.world.uncut();
  const VectorXd q = read_coordinates(q_uncut, "q_uncut", uncut.initial_configuration());
  const VectorXd v = read_coordinates(v_uncut, "v_uncut", VectorXd::Zero(uncut.nv()));
  WorldData data(uncut);
  update(uncut, q, v, data);
  VectorXd own_q(scene.world.nq()), own_v(scene.world.nv());
  from_uncut(scene.world, data, q, v, own_q, own_v);
  return {own_vector(own_q), own_vector(own_v)};
}

Vector uncut_forces(WorldHandle& handle, const ArrayLike& tau_uncut, const MaybeArray& q) {
  const Scene& scene = handle.scene();
  const VectorXd own_q = read_coordinates(q, "q", scene.start.q);
  const VectorXd forces = read_coordinates(tau_uncut, "tau_uncut", VectorXd::Zero(scene.world.uncut().nv()));
  update_kinematics(scene.world, own_q, handle.data());
  VectorXd tau = VectorXd::Zero(scene.world.nv());
  add_uncut_forces(scene.world, handle.data(), forces, tau);
  return own_vector(tau);
}

}  // namespace

void bind_cut_joints(nb::class_<WorldHandle>& world) {
  world
      .def_prop_ro(
          "cut_joints",
          [](WorldHandle& w) {
            std::vector<Joint> joints;
            for (const CutJoint& cut : w.world().cuts()) joints.push_back(cut.joint);
            return joints;
          },
          "Joints that robots are cut at; q and v are indices into the state of the uncut robots")
      .def("to_uncut", &uncut_state, "q"_a = nb::none(), "v"_a = nb::none(), nb::rv_policy::automatic,
           "(q, v) of the same world with no joint cut, the one that coordinates=\"minimal\" gives (None: the start).")
      .def("from_uncut", &cut_state, "q_uncut"_a = nb::none(), "v_uncut"_a = nb::none(), nb::rv_policy::automatic,
           "(q, v) from those of the same world with no joint cut, every joint closed (None: the start, at rest).")
      .def("uncut_forces", &uncut_forces, "tau_uncut"_a, "q"_a = nb::none(),
           "(nv,) generalised forces that have the work of forces on the coordinates of the same world with no joint cut (N, N m).");
}

}  // namespace stiction::python
