#include "contact_arrays.hpp"

#include <utility>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "stiction/record/coordinate_names.hpp"

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
  const std::vector<std::string> bodies = body_names(contacts.world);
  std::vector<std::pair<std::string, std::string>> out;
  for (std::size_t i = 0; i < contacts.size(); ++i) out.emplace_back(bodies[contacts.bodies[2 * i]], bodies[contacts.bodies[2 * i + 1]]);
  return out;
}

}  // namespace

ContactArrays contacts_of(const Stepper& stepper) {
  ContactArrays out;
  out.world = stepper.world();
  StepForces told;
  stepper.contact_forces(told);
  for (std::size_t i = 0; i < told.points.size(); ++i) {
    const ContactPoint& c = told.points[i];
    append(out.forces, told.force(i));
    append(out.points, c.p_WC);
    append(out.frames, Eigen::Matrix<double, 3, 3, Eigen::RowMajor>(c.R_WC()));
    out.bodies.insert(out.bodies.end(), {c.body_a, c.body_b});
    out.modes.push_back(static_cast<int>(told.modes[i]));
    out.ids.push_back(c.id);
    out.gaps.push_back(c.gap);
  }
  append(out.impulses, told.impulses);
  append(out.velocities, told.velocities);
  append(out.mu, told.mu);
  return out;
}

void bind_contact_arrays(nb::module_& m) {
  using Frames = nb::ndarray<nb::numpy, const double, nb::ndim<3>>;
  using Bodies = nb::ndarray<nb::numpy, const int, nb::ndim<2>>;
  using Ids = nb::ndarray<nb::numpy, const std::uint64_t, nb::ndim<1>>;
  nb::class_<ContactArrays>(m, "Contacts", R"(The n contact points of one step, as read-only arrays.

Body A is pushed along the normal, body B against it. Points, frames and gaps are those of the configuration before the step, velocities
those of its end. Of a step taken in parts (sub_steps, or halved) points, frames and gaps are those before the last part, and contacts that
bore in earlier parts alone come after these, as they were then; impulses are the sums over the parts, so that of a body they are its
change of momentum, less that by all else, over the whole step.)")
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
      .def_prop_ro("forces", &triples<&ContactArrays::forces>, "(n, 3) on body A, world axes, means over the step (N)")
      .def_prop_ro("velocities", &triples<&ContactArrays::velocities>,
                   "(n, 3) N, S, T of A relative to B after the step, in the contact frames (m/s)")
      .def_prop_ro("gaps", &column_of<&ContactArrays::gaps>, "(n,) signed distances (m), negative when penetrating")
      .def_prop_ro("mu", &column_of<&ContactArrays::mu>, "(n,) friction coefficients")
      .def_prop_ro(
          "modes",
          [](nb::pointer_and_handle<ContactArrays> self) {
            return view<Indices>(std::as_const(self.p->modes).data(), {self.p->size()}, self.h);
          },
          "(n,) 0 open, 1 stick, 2 slip, as Simulation.contact_modes; of a step taken in parts, of the last in which it bore")
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
      .def_prop_ro("body_names", &names, "Names of bodies A and B per contact, as World.body_names has them")
      .def("__len__", &ContactArrays::size)
      .def("__repr__", [](const ContactArrays& c) { return "Contacts(" + std::to_string(c.size()) + ")"; });
}

}  // namespace stiction::python
