#include "stiction/geometry/terrain.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/names.hpp"
#include "stiction/base/random.hpp"

namespace stiction {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr double kDepth = 0.5;                                   // m: what moves by less in a step does not fall through
constexpr double kHillsPerArea = 1000.0 / 9.0;                   // 1/m² [ZD15]
constexpr double kHillVariance = 0.005, kVarianceSpread = 0.25;  // m² and share of it [ZD15]
constexpr double kMostTreads = 1e5;
constexpr double kMostSamples = 4e6;                              // some hundred bytes of triangles and boxes each
constexpr std::uint64_t kFrictionStream = 0x9E3779B97F4A7C15ULL;  // apart from the seeds of the ground, 1, 2, ...

constexpr std::array<std::string_view, kTerrainKinds.size()> kNames{"flat", "slope", "stairs", "hills", "rough", "facets"};

bool is_sampled(TerrainKind kind) { return kind == TerrainKind::hills || kind == TerrainKind::rough || kind == TerrainKind::facets; }
bool is_slope(TerrainKind kind) { return kind == TerrainKind::slope; }
bool is_stairs(TerrainKind kind) { return kind == TerrainKind::stairs; }
bool is_any(TerrainKind) { return true; }

constexpr std::array kFields{
    TerrainField{"height", "m", &TerrainOptions::height, is_sampled}, TerrainField{"cell", "m", &TerrainOptions::cell, is_sampled},
    TerrainField{"slope", "rad", &TerrainOptions::slope, is_slope},   TerrainField{"rise", "m", &TerrainOptions::rise, is_stairs},
    TerrainField{"run", "m", &TerrainOptions::run, is_stairs},        TerrainField{"patch", "m", &TerrainOptions::patch, is_any}};

void validate(const TerrainOptions& o) {
  for (const auto& [name, value] : {std::pair{"size_x", o.size_x}, std::pair{"size_y", o.size_y}, std::pair{"cell", o.cell},
                                    std::pair{"run", o.run}, std::pair{"patch", o.patch}}) {
    require_positive(name, value);
  }
  if (!(o.height >= 0.0) || std::isinf(o.height)) throw InvalidArgument("height", "a finite number >= 0", fmt::format("{}", o.height));
  if (!std::isfinite(o.rise)) throw InvalidArgument("rise", "a finite number", fmt::format("{}", o.rise));
  if (!(std::abs(o.slope) < 1.5)) throw InvalidArgument("slope", "a number in (-1.5, 1.5)", fmt::format("{}", o.slope));
  if (o.friction && !((*o.friction)[0] >= 0.0 && (*o.friction)[1] >= (*o.friction)[0] && std::isfinite((*o.friction)[1]))) {
    const auto [least, most] = *o.friction;
    const std::string got = least == most ? fmt::format("{}", least) : fmt::format("{} {}", least, most);
    throw InvalidArgument("friction", "two numbers, 0 <= least <= most", got);
  }
  for (const auto& [name, length] : {std::pair{"cell", o.cell}, std::pair{"patch", o.patch}}) {
    const double samples = (o.size_x / length + 1.0) * (o.size_y / length + 1.0);
    if (!(samples <= kMostSamples)) {
      throw InvalidArgument(name, fmt::format("at most {:.0f} samples", kMostSamples),
                            fmt::format("{:g} m on {:g} x {:g} m: {:.10g}", length, o.size_x, o.size_y, samples));
    }
  }
  const double treads = o.size_x / o.run;
  if (!(treads <= kMostTreads)) throw InvalidArgument("run", "at most 1e5 of them", fmt::format("{:.3g} m: {:.3g}", o.run, treads));
}

/// Of the length that divides a side.
Index pieces(double size, double length) { return std::max<Index>(1, std::lround(size / length)); }

/// Grid points along a side.
double place(Index i, Index cells, double size) { return size * (static_cast<double>(i) / static_cast<double>(cells) - 0.5); }

MatrixXd uniform_heights(const TerrainOptions& o, Uniform& random) {
  MatrixXd heights(pieces(o.size_x, o.cell) + 1, pieces(o.size_y, o.cell) + 1);
  for (Index i = 0; i < heights.rows(); ++i) {
    for (Index j = 0; j < heights.cols(); ++j) heights(i, j) = random(0.0, o.height);
  }
  return heights;
}

MatrixXd hill_heights(const TerrainOptions& o, Uniform& random) {
  constexpr double kReach = 6.0;  // standard deviations, beyond which a hill is 1e-8 of its height
  const Index nx = pieces(o.size_x, o.cell), ny = pieces(o.size_y, o.cell);
  MatrixXd heights = MatrixXd::Zero(nx + 1, ny + 1);
  const long hills = std::max(1L, std::lround(kHillsPerArea * o.size_x * o.size_y));
  for (long k = 0; k < hills; ++k) {
    const double cx = random(-0.5, 0.5) * o.size_x, cy = random(-0.5, 0.5) * o.size_y;
    const double variance = kHillVariance * random(1.0 - kVarianceSpread, 1.0 + kVarianceSpread), reach = kReach * std::sqrt(variance);
    const auto first = [&](double c, double size, Index n) {
      return static_cast<Index>(std::max(0.0, std::ceil(((c - reach) / size + 0.5) * static_cast<double>(n))));
    };
    const auto last = [&](double c, double size, Index n) {
      return std::min(n, static_cast<Index>(std::floor(((c + reach) / size + 0.5) * static_cast<double>(n))));
    };
    for (Index i = first(cx, o.size_x, nx); i <= last(cx, o.size_x, nx); ++i) {
      for (Index j = first(cy, o.size_y, ny); j <= last(cy, o.size_y, ny); ++j) {
        const double dx = place(i, nx, o.size_x) - cx, dy = place(j, ny, o.size_y) - cy;
        heights(i, j) += std::exp(-0.5 * (dx * dx + dy * dy) / variance);
      }
    }
  }
  const double low = heights.minCoeff(), span = heights.maxCoeff() - low;
  return span > 0.0 ? MatrixXd((heights.array() - low) * (o.height / span)) : MatrixXd::Zero(nx + 1, ny + 1);
}

HeightMap map_of(const TerrainOptions& o, const MatrixXd& heights) {
  const MatrixXd from_zero = heights.array() - heights.minCoeff();
  return {from_zero, o.size_x, o.size_y, -kDepth};
}

MatrixXd slope_heights(const TerrainOptions& o) {
  const double rise = std::tan(o.slope) * o.size_x;
  MatrixXd heights(2, 2);
  heights << 0.0, 0.0, rise, rise;
  return heights;
}

/// Two triangles per cell of a grid of nx x ny cells whose corners are numbered row by row, as a height map has them.
void add_cells(Index nx, Index ny, std::vector<Eigen::Vector3i>& triangles) {
  const auto at = [&](Index i, Index j) { return static_cast<int>(i * (ny + 1) + j); };
  for (Index i = 0; i < nx; ++i) {
    for (Index j = 0; j < ny; ++j) {
      triangles.emplace_back(at(i, j), at(i + 1, j), at(i + 1, j + 1));
      triangles.emplace_back(at(i, j), at(i + 1, j + 1), at(i, j + 1));
    }
  }
}

/// Corners of the border stay on it.
TriangleMesh facets(const TerrainOptions& o, Uniform& random) {
  constexpr double kShift = 0.2;  // of a cell: from a quarter on a triangle may turn over
  const MatrixXd drawn = uniform_heights(o, random);
  const MatrixXd heights = drawn.array() - drawn.minCoeff();
  const Index nx = heights.rows() - 1, ny = heights.cols() - 1;
  TriangleMesh mesh;
  for (Index i = 0; i <= nx; ++i) {
    for (Index j = 0; j <= ny; ++j) {
      const double sx = kShift * random(-1.0, 1.0), sy = kShift * random(-1.0, 1.0);
      const double x = place(i, nx, o.size_x) + (i > 0 && i < nx ? sx * o.size_x / static_cast<double>(nx) : 0.0);
      const double y = place(j, ny, o.size_y) + (j > 0 && j < ny ? sy * o.size_y / static_cast<double>(ny) : 0.0);
      mesh.vertices.emplace_back(x, y, heights(i, j));
    }
  }
  add_cells(nx, ny, mesh.triangles);
  return mesh;
}

/// The last tread reaches to the end.
TriangleMesh stairs(const TerrainOptions& o) {
  std::vector<Vector2d> profile{{-0.5 * o.size_x, 0.0}};
  for (int k = 1; static_cast<double>(k) * o.run < o.size_x && o.rise != 0.0; ++k) {
    const double x = -0.5 * o.size_x + k * o.run;
    profile.emplace_back(x, (k - 1) * o.rise);
    profile.emplace_back(x, k * o.rise);
  }
  profile.emplace_back(0.5 * o.size_x, profile.back().y());
  const double lowest = std::min(0.0, profile.back().y());
  TriangleMesh mesh;
  for (const Vector2d& p : profile) {
    for (const double side : {-0.5, 0.5}) mesh.vertices.emplace_back(p.x(), side * o.size_y, p.y() - lowest);
  }
  add_cells(static_cast<Index>(profile.size()) - 1, 1, mesh.triangles);
  return mesh;
}

Shape surface_of(const TerrainOptions& o) {
  Uniform random(o.seed);
  switch (o.kind) {
    case TerrainKind::flat:
      return map_of(o, MatrixXd::Zero(2, 2));
    case TerrainKind::slope:
      return map_of(o, slope_heights(o));
    case TerrainKind::stairs:
      return stairs(o);
    case TerrainKind::hills:
      return map_of(o, hill_heights(o, random));
    case TerrainKind::rough:
      return map_of(o, uniform_heights(o, random));
    case TerrainKind::facets:
      return facets(o, random);
  }
  throw InvalidArgument("kind", terrain_kind_names(), "none of them");
}

FrictionPatches patches_of(const TerrainOptions& o) {
  if (!o.friction || (*o.friction)[0] == (*o.friction)[1]) return {};
  Uniform random(o.seed ^ kFrictionStream);
  FrictionPatches out{MatrixXd(pieces(o.size_x, o.patch), pieces(o.size_y, o.patch)), o.size_x, o.size_y};
  for (Index i = 0; i < out.mu.rows(); ++i) {
    for (Index j = 0; j < out.mu.cols(); ++j) out.mu(i, j) = random((*o.friction)[0], (*o.friction)[1]);
  }
  return out;
}

/// Height of the triangle a b c at (x, y), where that is above it.
std::optional<double> height_on(const Vector3d& a, const Vector3d& b, const Vector3d& c, double x, double y) {
  const Vector2d e = (b - a).head<2>(), f = (c - a).head<2>(), p = Vector2d(x, y) - a.head<2>();
  const double area = e.x() * f.y() - e.y() * f.x();
  if (!(area > 0.0)) return {};  // a wall
  const double s = (p.x() * f.y() - p.y() * f.x()) / area, t = (e.x() * p.y() - e.y() * p.x()) / area;
  constexpr double kEdge = -1e-12;  // on an edge, to rounding
  if (s < kEdge || t < kEdge || s + t > 1.0 - kEdge) return {};
  return a.z() + s * (b.z() - a.z()) + t * (c.z() - a.z());
}

std::optional<double> height_of(const HeightMap& map, double x, double y) {
  const Index nx = map.heights.rows() - 1, ny = map.heights.cols() - 1;
  const double u = (x / map.size_x + 0.5) * static_cast<double>(nx), v = (y / map.size_y + 0.5) * static_cast<double>(ny);
  if (!(u >= 0.0 && u <= static_cast<double>(nx) && v >= 0.0 && v <= static_cast<double>(ny))) return {};
  const Index i = std::min(nx - 1, static_cast<Index>(u)), j = std::min(ny - 1, static_cast<Index>(v));
  const double s = u - static_cast<double>(i), t = v - static_cast<double>(j);
  const double a = map.heights(i, j), c = map.heights(i + 1, j + 1);
  // The diagonal from (i, j) to (i + 1, j + 1) divides a cell.
  return s >= t ? a + s * (map.heights(i + 1, j) - a) + t * (c - map.heights(i + 1, j))
                : a + t * (map.heights(i, j + 1) - a) + s * (c - map.heights(i, j + 1));
}

}  // namespace

std::string_view to_string(TerrainKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

TerrainKind terrain_kind_from_string(std::string_view name) { return value_named<TerrainKind>("kind", kNames, name); }

std::string terrain_kind_names() { return joined_names(kNames); }

std::span<const TerrainField> terrain_fields() { return kFields; }

BodyShape make_terrain(const TerrainOptions& options) {
  validate(options);
  BodyShape out;
  out.shape = surface_of(options);
  out.patches = patches_of(options);
  if (options.friction && out.patches.empty()) out.friction = (*options.friction)[0];
  return out;
}

std::optional<double> terrain_height(const Shape& shape, double x, double y) {
  if (const auto* map = std::get_if<HeightMap>(&shape)) return height_of(*map, x, y);
  const auto* mesh = std::get_if<TriangleMesh>(&shape);
  if (mesh == nullptr) throw InvalidArgument("shape", "a height map or a triangle mesh", std::string(shape_name(shape)));
  std::optional<double> highest;
  for (const Eigen::Vector3i& t : mesh->triangles) {
    const auto vertex = [&](int k) { return mesh->vertices[t[k]]; };
    const std::optional<double> height = height_on(vertex(0), vertex(1), vertex(2), x, y);
    if (height) highest = std::max(highest.value_or(*height), *height);
  }
  return highest;
}

}  // namespace stiction
