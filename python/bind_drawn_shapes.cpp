// World.shapes: what collides, as a viewer draws it.
#include <memory>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "stiction/geometry/drawn_shape.hpp"
#include "world_handle.hpp"

namespace stiction::python {

namespace {

using Faces = nb::ndarray<nb::numpy, const int, nb::ndim<2>>;

ConstMatrix vertices_of(nb::pointer_and_handle<DrawnShape> self) {
  const auto& points = self.p->mesh.vertices;
  return view<ConstMatrix>(points.empty() ? nullptr : points.front().data(), {points.size(), 3}, self.h);
}

Faces faces_of(nb::pointer_and_handle<DrawnShape> self) {
  const auto& triangles = self.p->mesh.triangles;
  return view<Faces>(triangles.empty() ? static_cast<const int*>(nullptr) : triangles.front().data(), {triangles.size(), 3}, self.h);
}

}  // namespace

void bind_drawn_shapes(nb::module_& m) {
  nb::class_<DrawnShape>(m, "DrawnShape", "A collision shape of a world. Lengths in m.")
      .def_ro("name", &DrawnShape::name, "Name of the shape")
      .def_ro("body", &DrawnShape::body, "Index into World.body_names")
      .def_ro("kind", &DrawnShape::kind, "sphere, box, capsule, cylinder, plane or mesh")
      .def_prop_ro(
          "placement", [](const DrawnShape& s) { return copied_matrix(s.placement.matrix()); }, nb::rv_policy::automatic,
          "(4, 4) shape frame in the body's, a copy: World.pose(body, q) @ placement is where it is")
      .def_prop_ro(
          "size", [](const DrawnShape& s) { return copied_vector(s.size); }, nb::rv_policy::automatic,
          "(3,) sphere: radius, 0, 0; box: edge lengths; capsule, cylinder (axis z): radius, length of the cylindrical part, 0; else 0")
      .def_prop_ro("vertices", &vertices_of, "(n, 3) of a mesh")
      .def_prop_ro("faces", &faces_of, "(m, 3) triangles of a mesh, indices into vertices, counter-clockwise from outside")
      .def("__repr__", [](const DrawnShape& s) { return "DrawnShape('" + s.name + "', " + std::string(s.kind) + ")"; });
  auto world = nb::borrow<nb::class_<WorldHandle>>(m.attr("World"));
  world.def_prop_ro(
      "shapes", [](WorldHandle& w) { return drawn_shapes(w.world()); },
      "What collides, one entry per collision geometry; of a mesh the hull where the hull collides. Loads the mesh files: keep the list. "
      "Raises FileError and ValueError.");
}

}  // namespace stiction::python
