// ContactProblem, the problem of a world's state, ReducedProblem (u = W λ + q), and their files.
#include <filesystem>
#include <limits>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "arguments.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "contact_laws.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/io/problem_file.hpp"
#include "stiction/problem/connected_blocks.hpp"

namespace stiction::python {

namespace {

/// Copies that go through no arrays.
template <class Problem, class Class>
void bind_copies(Class& problem) {
  problem
      .def(
          "copy", [](const Problem& p) { return Problem(p); }, "Another one with the same numbers.")
      .def("__copy__", [](const Problem& p) { return Problem(p); })
      .def("__deepcopy__", [](const Problem& p, nb::handle) { return Problem(p); });
}

using MaybeArray = std::optional<ArrayLike>;
using MaybeObject = std::optional<nb::object>;
using Path = std::filesystem::path;
using Eigen::Index;

void read_bounded_rows(const MaybeArray& J_b, const MaybeArray& b, const MaybeArray& lo, const MaybeArray& hi, ContactProblem& p) {
  p.J_b.reset(1, p.M.sizes());
  if (!J_b) {
    if (b || lo || hi) throw InvalidArgument("J_b", "the rows that b, lo and hi belong to", "None");
    return;
  }
  const Numbers rows(*J_b, "J_b", 2);
  require_size("J_b.shape[1]", rows.matrix().cols(), p.velocities());
  p.J_b = BlockRows::from_dense(1, rows.matrix(), p.M.sizes());
  const Index m = rows.matrix().rows();
  p.b = per_item(b, "b", m, 0.0);
  p.lo = per_item(lo, "lo", m, -kInfinity);
  p.hi = per_item(hi, "hi", m, kInfinity);
}

void read_prescribed(const MaybeArray& prescribed, const MaybeArray& v_prescribed, ContactProblem& p) {
  if (!prescribed) {
    if (v_prescribed) throw InvalidArgument("prescribed", "the coordinates that v_prescribed belongs to", "None");
    return;
  }
  p.prescribed = read_indices(*prescribed, "prescribed");
  p.v_prescribed = per_item(v_prescribed, "v_prescribed", static_cast<Index>(p.prescribed.size()), 0.0);
}

ContactProblem make_problem(const ArrayLike& M, const ArrayLike& v, const ArrayLike& J, const ArrayLike& mu, double dt,
                            const MaybeArray& impulse, const MaybeArray& gap, const MaybeArray& restitution, const MaybeArray& J_b,
                            const MaybeArray& b, const MaybeArray& lo, const MaybeArray& hi, const MaybeObject& laws,
                            const MaybeObject& material, const MaybeArray& prescribed, const MaybeArray& v_prescribed) {
  const Numbers inertia(M, "M", 2), velocity(v, "v", 1), jacobian(J, "J", 2);
  require_spd("M", inertia.matrix());
  ContactProblem p;
  p.dt = dt;
  p.M = BlockDiagonal::dense(inertia.matrix());
  p.v = velocity.vector();
  require_size("J.shape[1]", jacobian.matrix().cols(), p.velocities());
  const Index rows = jacobian.matrix().rows(), n = rows / 3;
  if (rows % 3 != 0) throw InvalidArgument("J", "three rows per contact (N, S, T)", std::to_string(rows) + " rows");
  p.J = BlockRows::from_dense(3, jacobian.matrix(), p.M.sizes());
  p.mu = per_item(mu, "mu", n, 0.0);
  p.impulse = per_item(impulse, "impulse", p.velocities(), 0.0);
  p.gap = per_item(gap, "gap", n, 0.0);
  p.restitution = per_item(restitution, "restitution", n, 0.0);
  read_bounded_rows(J_b, b, lo, hi, p);
  read_prescribed(prescribed, v_prescribed, p);
  if (laws) p.laws = read_laws(*laws, n);
  if (material) p.material = read_materials(*material, n);
  validate(p);
  find_blocks(p);
  return p;
}

/// A writable view of a member, whose size never changes from Python.
template <auto member>
Vector member_view(nb::pointer_and_handle<ContactProblem> self) {
  auto& x = self.p->*member;
  return view<Vector>(x.data(), {static_cast<std::size_t>(x.size())}, self.h);
}

template <auto member>
nb::ndarray<nb::numpy, const std::uint64_t, nb::ndim<1>> names_view(nb::pointer_and_handle<ContactProblem> self) {
  const auto& ids = self.p->*member;
  return view<nb::ndarray<nb::numpy, const std::uint64_t, nb::ndim<1>>>(ids.data(), {ids.size()}, self.h);
}

template <auto member>
void set_names(ContactProblem& p, const nb::object& value) {
  const bool rows = &(p.*member) == &p.row_ids;
  const char* argument = rows ? "row_ids" : "ids";
  std::vector<std::uint64_t> ids;
  if (!nb::try_cast(value, ids)) throw_type_error(argument, "whole numbers in [0, 2^64)", value);
  validate_ids(argument, ids, rows ? p.bounded_rows() : p.contacts());
  p.*member = ids;
}

std::vector<std::string> kinds_of_rows(const ContactProblem& p) {
  std::vector<std::string> out;
  for (int j = 0; j < p.bounded_rows(); ++j) out.emplace_back(to_string(row_kind(p, j)));
  return out;
}

void set_kinds_of_rows(ContactProblem& p, const std::vector<std::string>& names) {
  require_size("row_kinds", static_cast<Index>(names.size()), p.bounded_rows());
  std::vector<RowKind> kinds;
  for (const std::string& name : names) kinds.push_back(row_kind_from_string(name));
  p.row_kinds = std::move(kinds);
}

void bind_contact_problem(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<ContactProblem> problem(m, "ContactProblem",
                                     R"(The contact problem of one step with n contacts, nv velocities and m bilateral or bounded rows:

    M v+ = M v + impulse + J_b^T lambda_b + J^T lambda        and a contact law between lambda and J v+

SI units. Vector properties are views: writing into them changes the problem, which is checked again by every solve.)");
  bind_copies<ContactProblem>(problem);
  problem
      .def(
          "__init__",
          [](ContactProblem* self, const ArrayLike& M, const ArrayLike& v, const ArrayLike& J, const ArrayLike& mu, double dt,
             const MaybeArray& impulse, const MaybeArray& gap, const MaybeArray& restitution, const MaybeArray& J_b, const MaybeArray& b,
             const MaybeArray& lo, const MaybeArray& hi, const MaybeObject& laws, const MaybeObject& material, const MaybeArray& prescribed,
             const MaybeArray& v_prescribed) {
            new (self) ContactProblem(
                make_problem(M, v, J, mu, dt, impulse, gap, restitution, J_b, b, lo, hi, laws, material, prescribed, v_prescribed));
          },
          "M"_a, "v"_a, "J"_a, "mu"_a, "dt"_a = 1e-3, "impulse"_a = nb::none(), "gap"_a = nb::none(), "restitution"_a = nb::none(),
          "J_b"_a = nb::none(), "b"_a = nb::none(), "lo"_a = nb::none(), "hi"_a = nb::none(), "laws"_a = nb::none(),
          "material"_a = nb::none(), "prescribed"_a = nb::none(), "v_prescribed"_a = nb::none(),
          R"(M: (nv, nv) inertia, symmetric positive definite. Its zeros, and those of J and J_b, say which parts of the problem have nothing to do
    with each other; found are parts of coordinates that follow each other, and what lies between those of another part as well.
v: (nv,) velocity before the step.
J: (3 n, nv) contact Jacobian, rows N, S, T per contact (normal from body B to body A, two tangents); impulses act on A.
mu: (n,) friction coefficients, infinity allowed; or one number for all, as for the other vectors.
dt: length of the step (s).
impulse: (nv,) known generalised impulse of the step, dt times gravity, bias and applied torques (N s). None: zero.
gap: (n,) signed distances (m). None: zero.
restitution: (n,) in [0, 1]. None: zero.
J_b, b, lo, hi: (m, nv), (m,), (m,), (m,) further rows, their target velocities and the bounds of their impulses (N s).
    An impulse inside its bounds holds J_b v+ = b. None: no rows; b = 0, lo = -inf, hi = inf.
laws: one of LAWS for all contacts, or n of them. None: the contacts follow the law that solve is given.
material: parameters of the laws that have any: a dictionary {parameter: one number or (n,)}, "spring" (n, 2), or n dictionaries
    {parameter: number}. Parameters left out have their default. None: all default.
prescribed, v_prescribed: indices into v and the velocities that these coordinates must have after the step (rad/s or m/s), whatever it
    takes. `inverse` does the same for its joints. None: no coordinates; v_prescribed = 0.

Raises ValueError naming the argument.)")
      .def_rw("dt", &ContactProblem::dt, nb::for_setter(nb::name("dt")), "Length of the step (s)")
      .def_prop_ro("contacts", &ContactProblem::contacts, "n, number of contacts")
      .def_prop_ro("velocities", &ContactProblem::velocities, "nv, number of velocities")
      .def_prop_ro(
          "M", [](const ContactProblem& p) { return copied_matrix(p.M.to_dense()); }, nb::rv_policy::automatic,
          "(nv, nv) inertia, a read-only copy")
      .def_prop_ro(
          "J", [](const ContactProblem& p) { return copied_matrix(p.J.to_dense()); }, nb::rv_policy::automatic,
          "(3 n, nv) contact Jacobian, a read-only copy")
      .def_prop_ro(
          "J_b", [](const ContactProblem& p) { return copied_matrix(p.J_b.to_dense()); }, nb::rv_policy::automatic,
          "(m, nv) bounded rows, a read-only copy")
      .def_prop_ro("v", &member_view<&ContactProblem::v>, "(nv,) velocity before the step")
      .def_prop_ro("impulse", &member_view<&ContactProblem::impulse>, "(nv,) known generalised impulse (N s)")
      .def_prop_ro("mu", &member_view<&ContactProblem::mu>, "(n,) friction coefficients")
      .def_prop_ro("restitution", &member_view<&ContactProblem::restitution>, "(n,) Newton's restitution")
      .def_prop_ro("gap", &member_view<&ContactProblem::gap>, "(n,) signed distances (m)")
      .def_prop_ro("b", &member_view<&ContactProblem::b>, "(m,) target velocities of the bounded rows")
      .def_prop_ro("lo", &member_view<&ContactProblem::lo>, "(m,) least impulses of the bounded rows (N s)")
      .def_prop_ro("hi", &member_view<&ContactProblem::hi>, "(m,) largest impulses of the bounded rows (N s)")
      .def_prop_ro("row_compliance", &member_view<&ContactProblem::row_compliance>,
                   "(m,) velocity that an impulse of its own adds to a bounded row ((m/s)/(N s)); empty: none")
      .def_prop_rw(
          "laws", [](const ContactProblem& p) { return write_laws(p.laws); },
          [](ContactProblem& p, const nb::object& value) { p.laws = read_laws(value, p.contacts()); },
          "n names, each contact's own law; empty: all follow the law that solve is given")
      .def_prop_rw(
          "material", [](const ContactProblem& p) { return write_materials(p.material); },
          [](ContactProblem& p, const nb::object& value) { p.material = read_materials(value, p.contacts()); },
          "n dictionaries of parameters, a copy; set as in the constructor; empty: all default")
      .def_prop_rw(
          "ids", &names_view<&ContactProblem::ids>, &set_names<&ContactProblem::ids>, nb::for_setter(nb::arg().none()),
          "(n,) whole numbers that name the contacts, the same from step to step while the same features touch; empty: known by position")
      .def_prop_rw("row_ids", &names_view<&ContactProblem::row_ids>, &set_names<&ContactProblem::row_ids>, nb::for_setter(nb::arg().none()),
                   "(m,) the same of the rows of J_b")
      .def_prop_rw("row_kinds", &kinds_of_rows, &set_kinds_of_rows, nb::for_setter(nb::name("row_kinds")),
                   "m words, what each row of J_b is: equality, limit, friction or motor; positions are held by equalities and limits.\n"
                   "Unless set: equality where both bounds are infinite, limit where one is, motor where none is")
      .def_prop_rw("_row_compliance", &member_view<&ContactProblem::row_compliance>,
                   [](ContactProblem& p, const ArrayLike& value) {
                     p.row_compliance = Numbers(value, "row_compliance", 1).vector();
                     require_size("row_compliance", p.row_compliance.size(), p.bounded_rows());
                   })
      .def_prop_rw(
          "_blocks", [](const ContactProblem& p) { return std::vector<int>(p.M.sizes().begin(), p.M.sizes().end()); },
          [](ContactProblem& p, const std::vector<int>& sizes) { set_blocks(p, sizes); })
      .def_ro("prescribed", &ContactProblem::prescribed, "Velocity coordinates that must reach v_prescribed")
      .def_prop_ro("v_prescribed", &member_view<&ContactProblem::v_prescribed>, "Their velocities")
      .def(
          "save", [](const ContactProblem& p, const Path& path) { save_problem(path, p); }, "path"_a,
          "Writes the problem as .json or .npz. Raises FileError or ValueError.")
      .def("__repr__", [](const ContactProblem& p) {
        return "ContactProblem(contacts=" + std::to_string(p.contacts()) + ", velocities=" + std::to_string(p.velocities()) +
               ", bounded rows=" + std::to_string(p.bounded_rows()) + ")";
      });
}

template <auto member>
ConstMatrix point_view(nb::pointer_and_handle<WorldProblem> self) {
  const auto& points = self.p->points;
  const double* data = points.empty() ? nullptr : (points.front().*member).data();
  return view<ConstMatrix>(data, {points.size(), 3}, self.h, {sizeof(ContactPoint) / sizeof(double), 1});
}

/// What a pickle kept of one.
WorldProblem world_problem_of(const ContactProblem& numbers, const ArrayLike& positions, const ArrayLike& normals,
                              const ArrayLike& tangents1, const ArrayLike& tangents2,
                              const std::vector<std::pair<std::string, std::string>>& bodies) {
  WorldProblem out{numbers, std::vector<ContactPoint>(numbers.contacts()), bodies};
  for (const auto& [member, name, given] :
       {std::tuple(&ContactPoint::p_WC, "positions", &positions), std::tuple(&ContactPoint::n, "normals", &normals),
        std::tuple(&ContactPoint::t1, "tangents1", &tangents1), std::tuple(&ContactPoint::t2, "tangents2", &tangents2)}) {
    const Numbers rows(*given, name, 2);
    require_size(name, rows.matrix().size(), 3 * numbers.contacts());
    for (std::size_t i = 0; i < out.points.size(); ++i) out.points[i].*member = rows.matrix().row(static_cast<Index>(i));
  }
  return out;
}

void bind_world_problem(nb::module_& m) {
  static_assert(sizeof(ContactPoint) % sizeof(double) == 0);
  nb::class_<WorldProblem, ContactProblem> problem(m, "WorldProblem",
                                                   "The contact problem of a world's state, with where its contacts are.");
  bind_copies<WorldProblem>(problem);
  problem.def_prop_ro("positions", &point_view<&ContactPoint::p_WC>, "(n, 3) contact points, world (m)")
      .def_prop_ro("normals", &point_view<&ContactPoint::n>, "(n, 3) unit normals from body B to body A, world")
      .def_prop_ro("tangents1", &point_view<&ContactPoint::t1>, "(n, 3) first tangents, world")
      .def_prop_ro("tangents2", &point_view<&ContactPoint::t2>, "(n, 3) second tangents, world")
      .def_ro("bodies", &WorldProblem::bodies, nb::rv_policy::copy, "Names of the bodies A and B of every contact")
      .def_static("_of", &world_problem_of);
}

Eigen::MatrixXd delassus(const ReducedProblem& p) {
  const Eigen::MatrixXd Rt = p.Rt.to_dense();
  Eigen::MatrixXd W = Rt * Rt.transpose();
  if (p.defect.size() > 0) W += p.defect;
  return W;
}

void bind_reduced_problem(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<ReducedProblem> problem(m, "ReducedProblem",
                                     "A problem known by its contacts alone: u = W lambda + q, u the contact velocities.");
  bind_copies<ReducedProblem>(problem);
  problem
      .def(
          "__init__",
          [](ReducedProblem* self, const ArrayLike& W, const ArrayLike& q, const ArrayLike& mu, bool symmetric_part) {
            const Numbers matrix(W, "W", 2), velocity(q, "q", 1);
            const Index n = velocity.vector().size() / 3;
            new (self) ReducedProblem(reduce_dense(matrix.matrix(), velocity.vector(), per_item(mu, "mu", n, 0.0), symmetric_part));
          },
          "W"_a, "q"_a, "mu"_a, "symmetric_part"_a = false,
          "W: (3 n, 3 n) positive semidefinite, rows N, S, T per contact, symmetric to 2 % of its largest entry and taken as it is; "
          "q: (3 n,) (m/s); mu: (n,) or one number. symmetric_part: (W + W^T)/2 in place of W.")
      .def_prop_ro("contacts", &ReducedProblem::contacts, "n, number of contacts")
      .def_prop_ro(
          "W", [](const ReducedProblem& p) { return copied_matrix(delassus(p)); }, nb::rv_policy::automatic,
          "(3 n, 3 n) Delassus matrix, a read-only copy (1/kg)")
      .def_prop_ro(
          "q",
          [](nb::pointer_and_handle<ReducedProblem> self) {
            const GrowVector& q = self.p->u_free;
            return view<ConstVector>(q.data(), {static_cast<std::size_t>(q.size())}, self.h);
          },
          "(3 n,) contact velocities without impulses (m/s)")
      .def_prop_ro(
          "mu",
          [](nb::pointer_and_handle<ReducedProblem> self) {
            const GrowVector& mu = self.p->mu;
            return view<ConstVector>(mu.data(), {static_cast<std::size_t>(mu.size())}, self.h);
          },
          "(n,) friction coefficients")
      .def(
          "save", [](const ReducedProblem& p, const Path& path) { save_problem(path, p); }, "path"_a,
          "Writes the problem as .json or .npz. Raises FileError or ValueError.")
      .def("__repr__", [](const ReducedProblem& p) { return "ReducedProblem(contacts=" + std::to_string(p.contacts()) + ")"; });
}

}  // namespace

void bind_problem(nb::module_& m) {
  using namespace nb::literals;
  bind_contact_problem(m);
  bind_world_problem(m);
  bind_reduced_problem(m);
  m.def(
      "load_problem",
      [](const Path& path, bool symmetric_part) {
        const nb::gil_scoped_release released;
        return load_problem(path, {.symmetric_part = symmetric_part});
      },
      "path"_a, "symmetric_part"_a = false,
      R"(Reads a contact problem: our .json and .npz, an .npz of numpy.savez with the arguments of ContactProblem or with W, q, mu,
Siconos' text files (local and global), FCLIB's .hdf5. symmetric_part: (W + W^T)/2 in place of the file's W, without which it is refused. Returns a ContactProblem, or a ReducedProblem when the file has no inertia. Raises FileError.)");
}

}  // namespace stiction::python
