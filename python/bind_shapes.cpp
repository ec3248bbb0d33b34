// Collision shapes, and shapes placed on a body.
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "shape_handle.hpp"
#include "stiction/base/errors.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;
using MaybeArray = std::optional<ArrayLike>;

ShapeHandle checked(Shape shape) {
  validate(shape, std::string(shape_name(shape)));
  return {std::move(shape)};
}

BodyShape read_item(nb::handle item, const std::string& name) {
  if (nb::isinstance<ShapeHandle>(item)) return {nb::cast<const ShapeHandle&>(item).shape};
  const bool is_tuple = nb::isinstance<nb::tuple>(item);
  const std::size_t size = is_tuple ? nb::len(item) : 0;
  if (size < 2 || size > 3 || !nb::isinstance<ShapeHandle>(item[0])) {
    throw InvalidArgument(name, "a Shape, (Shape, position) or (Shape, position, orientation)", nb::repr(item).c_str());
  }
  const MaybeArray position = nb::borrow<ArrayLike>(item[1]);
  const MaybeArray orientation = size == 3 ? MaybeArray(nb::borrow<ArrayLike>(item[2])) : MaybeArray();
  return {nb::cast<const ShapeHandle&>(item[0]).shape, read_pose(position, orientation, name + ".")};
}

}  // namespace

Eigen::Isometry3d read_pose(const MaybeArray& position, const MaybeArray& orientation, const std::string& argument) {
  Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
  if (position) X.translation() = read_vector3(*position, (argument + "position").c_str());
  if (!orientation) return X;
  const std::string name = argument + "orientation";
  const Numbers numbers(*orientation, name.c_str(), 1);
  require_size(name, numbers.vector().size(), 4);
  const Eigen::Quaterniond rotation(Eigen::Vector4d(numbers.vector()));
  if (!(std::abs(rotation.norm() - 1.0) < 1e-6)) {
    throw InvalidArgument(name, "a unit quaternion [x y z w]", "norm " + std::to_string(rotation.norm()));
  }
  X.linear() = rotation.normalized().toRotationMatrix();
  return X;
}

std::vector<BodyShape> read_shapes(const ShapesObject& value, const char* argument, std::optional<double> friction) {
  std::vector<BodyShape> out;
  if (nb::isinstance<ShapeHandle>(value)) {
    out.push_back(read_item(value, argument));
  } else if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    for (nb::handle item : value) out.push_back(read_item(item, fmt::format("{}[{}]", argument, out.size())));
  } else {
    throw InvalidArgument(argument, "a Shape or a list of shapes", nb::repr(value).c_str());
  }
  if (out.empty()) throw InvalidArgument(argument, "at least one Shape", "none");
  for (BodyShape& shape : out) shape.friction = friction;
  return out;
}

void bind_shapes(nb::module_& m) {
  nb::class_<ShapeHandle>(m, "Shape", nb::dynamic_attr(), "A collision shape, centred at its frame's origin. Lengths in m.")
      .def_static(
          "sphere", [](double radius) { return checked(Sphere{radius}); }, "radius"_a, "radius: m.")
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
          [](const std::filesystem::path& file, const MaybeArray& scale, bool convex) {
            const Eigen::Vector3d factors = scale ? read_vector3(*scale, "scale") : Eigen::Vector3d::Ones();
            return checked(MeshFile{std::filesystem::absolute(file).string(), factors, convex});  // it is read later
          },
          "file"_a, "scale"_a = nb::none(), "convex"_a = true,
          "An STL, OBJ or DAE file. It collides as its convex hull, or as its triangles; a mass is that of the solid inside its triangles.")
      .def_static(
          "height_map",
          [](const ArrayLike& heights, double size_x, double size_y, double bottom) {
            return checked(HeightMap{Numbers(heights, "heights", 2).matrix(), size_x, size_y, bottom});
          },
          "heights"_a, "size_x"_a, "size_y"_a, "bottom"_a,
          "heights: (rows along x, columns along y) (m) over size_x by size_y; the solid ends at z = bottom.")
      .def("__repr__", [](const ShapeHandle& s) { return "Shape(" + std::string(shape_name(s.shape)) + ")"; });
}

}  // namespace stiction::python
