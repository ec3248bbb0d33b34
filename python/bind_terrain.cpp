// Ground drawn from a seed.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arguments.hpp"
#include "remember.hpp"
#include "shape_handle.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/base/ranges.hpp"
#include "stiction/geometry/terrain.hpp"
#include "world_handle.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using MaybeArray = std::optional<ArrayLike>;

/// A number that stands for both, or two.
std::array<double, 2> read_two(const ArrayLike& value, const char* argument) {
  double both = 0.0;
  if (nb::try_cast(value, both)) return {both, both};
  const Numbers numbers(value, argument, 1);
  if (numbers.size(0) != 2) throw InvalidArgument(argument, "a number or two", fmt::format("{} numbers", numbers.size(0)));
  return {numbers.vector()[0], numbers.vector()[1]};
}

void check_name(const TerrainOptions& options, const std::string& name) {
  std::string known;
  for (const TerrainField& field : terrain_fields()) {
    if (!field.is_read(options.kind)) continue;
    if (field.name == name) return;
    known += (known.empty() ? "" : ", ") + std::string(field.name);
  }
  throw InvalidArgument(name, fmt::format("for {}: {}", to_string(options.kind), known), "another name");
}

void make(nb::pointer_and_handle<BodyShape> self, const std::string& kind, std::uint64_t seed, const MaybeArray& size,
          const MaybeArray& friction, const nb::kwargs& numbers) {
  TerrainOptions options{.kind = terrain_kind_from_string(kind), .seed = seed};
  if (size) {
    const auto [x, y] = read_two(*size, "size");
    options.size_x = x;
    options.size_y = y;
  }
  if (friction) options.friction = read_two(*friction, "friction");
  for (const auto& [key, value] : numbers) {
    const std::string name = nb::cast<std::string>(key);
    check_name(options, name);
    for (const TerrainField& field : terrain_fields()) {
      if (field.name == name) options.*field.member = read_real(nb::borrow<Real>(value), name.c_str());
    }
  }
  new (self.p) BodyShape(make_terrain(options));
  nb::dict start;
  start["kind"] = kind;
  start["seed"] = seed;
  if (size) start["size"] = *size;
  if (friction) start["friction"] = *friction;
  start.update(numbers);
  remember_start(self.h, start);
}

}  // namespace

void bind_terrain(nb::module_& m) {
  nb::class_<BodyShape>(m, "Terrain", nb::dynamic_attr(),
                        R"(Ground drawn from a seed: its surface, and its friction patch by patch. Lengths in m.

kind and its numbers (defaults in brackets):
flat: z = 0. slope: rises along x at slope (0.2) rad. stairs: treads of run (0.25), each rise (0.1) above the last, along x.
hills: Gaussian hills [ZD15], scaled to height (0.03). rough: samples of a grid, uniform in [0, height].
facets: a triangle mesh on the corners of such a grid, moved along x and y, too.
hills, rough, facets: cell (0.02), between samples. All: patch (0.25), the sides of patches of friction. Both are rounded, along x and along
y, to the nearest length that divides the side.
seed: the same seed makes the same ground. size: a side or both, along x and y (3). The lowest point is at z = 0, the middle at x = y = 0.
friction: a number, or two: every patch is uniform between them; None for the world's.
Raises ValueError.)")
      .def("__init__", &make, "kind"_a = "hills", "seed"_a = 1, "size"_a = nb::none(), "friction"_a = nb::none(), "numbers"_a,
           nb::sig("def __init__(self, kind: str = 'hills', seed: int = 1, size: numpy.typing.ArrayLike | None = None, "
                   "friction: numpy.typing.ArrayLike | None = None, **numbers: float) -> None"))
      .def_prop_ro(
          "shape", [](const BodyShape& self) { return ShapeHandle{self.shape}; }, "Its surface.")
      .def_prop_ro(
          "patches",
          [](const BodyShape& self) -> std::optional<ConstMatrix> {
            if (self.patches.empty()) return std::nullopt;
            return copied_matrix(RowMatrix(self.patches.mu));
          },
          nb::rv_policy::move,  // it owns its numbers
          "Friction of the patches, rows along x, columns along y; None where it is one number or the world's.")
      .def(
          "height_at", [](const BodyShape& self, double x, double y) { return terrain_height(self.shape, x, y); }, "x"_a, "y"_a,
          "Height above its origin (m) at (x, y); None beside it.");
}

void bind_terrain_addition(nb::class_<WorldHandle>& world) {
  world.def(
      "add_terrain",
      [](WorldHandle& self, const BodyShape& terrain, const MaybeArray& position, const MaybeArray& orientation, double restitution,
         const std::string& name) {
        require_share("restitution", restitution);
        self.add_static({name, read_pose(position, orientation), {terrain}}, restitution);
      },
      "terrain"_a, "position"_a = nb::none(), "orientation"_a = nb::none(), "restitution"_a = 0.0, "name"_a = "terrain",
      R"(Adds ground drawn from a seed as a static body, its middle at position (3,) (m) and orientation [x y z w].

Compliant ground: `set_pair(name, law="linear_penalty", stiffness=...)`.)");
}

}  // namespace stiction::python
