#include "contact_arrays.hpp"

#include <utility>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "stiction/problem/contact_mode.hpp"

namespace stiction::python {

namespace {

template <class Numbers>
void append(std::vector<double>& out, const Numbers& numbers) {
  out.insert(out.end(), numbers.data(), numbers.data() + numbers.size());
}

template <auto member>
ConstMatrix triples(nb::pointer_and_handle<ContactArrays> self) {
  const auto& x = self.p->*member;
  return view<ConstMatrix>(x.data(), {self.p->size(), 3}, self.h);
}

template <auto member>
ConstVector column_of(nb::pointer_and_handle<ContactArrays> self) {
  const auto& x = self.p->*member;
  return view<ConstVector>(x.data(), {self.p->size()}, self.h);
}

std::vector<std::pair<std::string, std::string>> names(const ContactArrays& contacts) {
  std::vector<std::pair<std::string, std::string>> out;
  for (std::size_t i = 0; i < contacts.size(); ++i)
    out.push_back(body_names(contacts.world, contacts.bodies[2 * i], contacts.bodies[2 * i + 1]));
  return out;
}

}  // namespace

std::pair<std::string, std::string> body_names(const World& world, int a, int b) {
  return {world.bodies()[a].name, world.bodies()[b].name};
}

Eigen::Vector3d contact_force(const Stepper& stepper, std::size_t i) {
  const Eigen::Vector3d impulse = stepper.solution().impulses.segment<3>(3 * static_cast<Eigen::Index>(i));
  return stepper.contacts()[i].R_WC() * impulse / stepper.problem().dt;
}

ContactArrays contacts_of(const Stepper& stepper) {
  ContactArrays out;
  out.world = stepper.world();
  for (const ContactPoint& c : stepper.contacts()) {
    append(out.forces, contact_force(stepper, out.size()));
    append(out.points, c.p_WC);
    append(out.frames, Eigen::Matrix<double, 3, 3, Eigen::RowMajor>(c.R_WC()));
    out.bodies.insert(out.bodies.end(), {c.body_a, c.body_b});
    out.modes.push_back(static_cast<int>(contact_mode(stepper.solution(), static_cast<int>(out.size()))));
    out.ids.push_back(c.id);
    out.gaps.push_back(c.gap);
  }
  append(out.impulses, stepper.solution().impulses);
  append(out.velocities, stepper.solution().u);
  append(out.mu, stepper.problem().mu);
  return out;
}

void bind_contact_arrays(nb::module_& m) {
  using Frames = nb::ndarray<nb::numpy, const double, nb::ndim<3>>;
  using Bodies = nb::ndarray<nb::numpy, const int, nb::ndim<2>>;
  using Ids = nb::ndarray<nb::numpy, const std::uint64_t, nb::ndim<1>>;
  nb::class_<ContactArrays>(m, "Contacts", R"(The n contact points of one step, as read-only arrays.

Body A is pushed along the normal, body B against it. Points, frames and gaps are those of the configuration before the step; impulses and
velocities are those of its end.)")
      .def_prop_ro("points", &triples<&ContactArrays::points>,
                   "(n, 3) world (m): on the surface of a static body b, else midway between the two; all points of a face in one plane, "
                   "where its gap is least")
      .def_prop_ro(
          "frames",
          [](nb::pointer_and_handle<ContactArrays> self) {
            return view<Frames>(std::as_const(self.p->frames).data(), {self.p->size(), 3, 3}, self.h);
          },
          "(n, 3, 3) rotations of the contact frames: columns are the normal from B to A and two tangents, in world axes")
      .def_prop_ro("impulses", &triples<&ContactArrays::impulses>, "(n, 3) N, S, T on body A, in the contact frames (N s)")
      .def_prop_ro("forces", &triples<&ContactArrays::forces>,
                   "(n, 3) on body A, world axes, mean over the step or, where it was taken in parts (sub_steps), the last of them (N)")
      .def_prop_ro("velocities", &triples<&ContactArrays::velocities>,
                   "(n, 3) N, S, T of A relative to B after the step, in the contact frames (m/s)")
      .def_prop_ro("gaps", &column_of<&ContactArrays::gaps>, "(n,) signed distances (m), negative when penetrating")
      .def_prop_ro("mu", &column_of<&ContactArrays::mu>, "(n,) friction coefficients")
      .def_prop_ro(
          "modes",
          [](nb::pointer_and_handle<ContactArrays> self) {
            return view<Indices>(std::as_const(self.p->modes).data(), {self.p->size()}, self.h);
          },
          "(n,) 0 open, 1 stick, 2 slip, as Simulation.contact_modes")
      .def_prop_ro(
          "bodies",
          [](nb::pointer_and_handle<ContactArrays> self) {
            return view<Bodies>(std::as_const(self.p->bodies).data(), {self.p->size(), 2}, self.h);
          },
          "(n, 2) bodies A and B, indices into World.body_names")
      .def_prop_ro(
          "ids",
          [](nb::pointer_and_handle<ContactArrays> self) { return view<Ids>(std::as_const(self.p->ids).data(), {self.p->size()}, self.h); },
          "(n,) the same from step to step while the same features touch")
      .def_prop_ro("body_names", &names, "Names of bodies A and B per contact")
      .def("__len__", &ContactArrays::size)
      .def("__repr__", [](const ContactArrays& c) { return "Contacts(" + std::to_string(c.size()) + ")"; });
}

}  // namespace stiction::python
