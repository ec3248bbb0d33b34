// Mass properties of homogeneous solids of any shape, mesh files included.
#pragma once

#include <span>
#include <string_view>

#include "stiction/model/inertia.hpp"
#include "stiction/model/world.hpp"

namespace stiction {

/// In the shape's frame; density in kg/m³. A mesh is the solid inside its triangles, whether or not it collides as its hull. Throws
/// InvalidArgument naming `argument` for half-spaces, height maps and meshes that enclose no solid, FileError for files of such meshes and
/// files that cannot be read.
Inertial mass_properties(const Shape& shape, double density, std::string_view argument);
/// Of all shapes together in the body's frame; what two of them share counts twice.
Inertial mass_properties(std::span<const BodyShape> shapes, double density);

}  // namespace stiction
