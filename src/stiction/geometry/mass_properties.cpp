#include "stiction/geometry/mass_properties.hpp"

#include <string>
#include <variant>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/mesh_surface.hpp"

namespace stiction {

Inertial mass_properties(const Shape& shape, double density, std::string_view argument) {
  require_positive("density", density);
  validate(shape, argument);
  if (std::holds_alternative<HalfSpace>(shape) || std::holds_alternative<HeightMap>(shape)) {
    throw InvalidArgument(argument, "a shape with a mass", std::string("a ").append(shape_name(shape)));
  }
  const auto surface = surface_of_mesh(shape, argument);
  if (!surface) return homogeneous_solid(shape, density);
  if (const std::string defect = surface_defect(*surface); !defect.empty()) {
    if (const auto* file = std::get_if<MeshFile>(&shape)) throw FileError(file->path, "", "no mass can be computed: " + defect);
    throw InvalidArgument(argument, "a mesh that encloses a solid", defect);
  }
  return solid_inside(*surface, density);
}

Inertial mass_properties(std::span<const BodyShape> shapes, double density) {
  Inertial sum;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    sum = sum + transformed(shapes[i].placement, mass_properties(shapes[i].shape, density, fmt::format("shapes[{}]", i)));
  }
  return sum;
}

}  // namespace stiction
