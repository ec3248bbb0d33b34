// Ground drawn from a seed: its surface, and its friction patch by patch.
//
//   flat     z = 0
//   slope    rises along x at `slope` rad
//   stairs   treads of `run`, each `rise` above the last, along x
//   hills    a sum of Gaussian hills, 1000 per 9 m² of variance 0.005 m² +-25 %, scaled to `height` [ZD15, section 6: 151 x 151 samples on
//            3 m x 3 m, up to 3 cm]
//   rough    every sample of a grid uniform in [0, height]
//   facets   a triangle mesh: the corners of such a grid, moved along x and y, too, by up to a fifth of a cell
// The lowest point is at z = 0, the middle at x = y = 0. Each patch of friction is uniform in [least, most]. The same options give the same
// bits on every platform where `exp` is the same; friction has a stream of its own, so that it does not move the ground.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stiction/model/world.hpp"

namespace stiction {

enum class TerrainKind { flat, slope, stairs, hills, rough, facets };
inline constexpr std::array kTerrainKinds{TerrainKind::flat,  TerrainKind::slope, TerrainKind::stairs,
                                          TerrainKind::hills, TerrainKind::rough, TerrainKind::facets};
std::string_view to_string(TerrainKind kind);
/// Throws InvalidArgument that lists the names known.
TerrainKind terrain_kind_from_string(std::string_view name);
/// Names separated by commas.
std::string terrain_kind_names();

struct TerrainOptions {
  TerrainKind kind = TerrainKind::hills;
  std::uint64_t seed = 1;
  double size_x = 3.0, size_y = 3.0;                             ///< m
  double height = 0.03;                                          ///< m, of the highest point (hills), at most (rough, facets)
  double cell = 0.02;                                            ///< m, between samples; the nearest length that divides the sides
  double slope = 0.2;                                            ///< rad, in (-1.5, 1.5)
  double rise = 0.1, run = 0.25;                                 ///< m
  double patch = 0.25;                                           ///< m, side of the patches of friction, likewise
  std::optional<std::array<double, 2>> friction = std::nullopt;  ///< least and most of a patch; absent: as the world has it
};

/// The options that are numbers, by name, and the kinds of ground that read them.
struct TerrainField {
  std::string_view name, unit;
  double TerrainOptions::*member;
  bool (*is_read)(TerrainKind kind);
};
std::span<const TerrainField> terrain_fields();

/// The shape of the ground in its own frame: a height map, which is solid down to 0.5 m below its lowest point, or an open triangle mesh
/// (stairs, facets). Throws InvalidArgument naming the option, also where there are more than 4e6 samples.
BodyShape make_terrain(const TerrainOptions& options);

/// Height (m) of such a shape above its frame's origin at (x, y); absent beside it. Linear in the triangles; constant for a height map.
std::optional<double> terrain_height(const Shape& shape, double x, double y);

}  // namespace stiction
