#include "stiction/model/shape.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

template <class Indices>
void require_mesh(const std::vector<Eigen::Vector3d>& vertices, const Indices& triangles, std::size_t fewest, std::string_view argument) {
  if (vertices.size() < fewest) {
    throw InvalidArgument(fmt::format("{}.vertices", argument), fmt::format("at least {} vertices", fewest),
                          fmt::format("{}", vertices.size()));
  }
  for (std::size_t i = 0; i < vertices.size(); ++i) require_finite(fmt::format("{}.vertices[{}]", argument, i), vertices[i]);
  const int count = static_cast<int>(vertices.size());
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    if (triangles[i].minCoeff() < 0 || triangles[i].maxCoeff() >= count) {
      throw InvalidArgument(fmt::format("{}.triangles[{}]", argument, i), fmt::format("vertex indices in [0, {})", count),
                            fmt::format("{} {} {}", triangles[i][0], triangles[i][1], triangles[i][2]));
    }
  }
}

struct Validator {
  std::string_view argument;

  std::string member(std::string_view name) const { return fmt::format("{}.{}", argument, name); }
  void positive(std::string_view name, double value) const { require_positive(member(name), value); }

  void operator()(const Sphere& s) const { positive("radius", s.radius); }
  void operator()(const Box& s) const {
    for (int i = 0; i < 3; ++i) positive(fmt::format("half_extents[{}]", i), s.half_extents[i]);
  }
  void operator()(const Capsule& s) const {
    positive("radius", s.radius);
    positive("half_length", s.half_length);
  }
  void operator()(const Cylinder& s) const {
    positive("radius", s.radius);
    positive("half_length", s.half_length);
  }
  void operator()(const HalfSpace&) const {}
  void operator()(const ConvexMesh& s) const { require_mesh(s.vertices, s.faces, 4, argument); }
  void operator()(const TriangleMesh& s) const {
    require_mesh(s.vertices, s.triangles, 3, argument);
    if (s.triangles.empty()) throw InvalidArgument(member("triangles"), "at least one triangle", "none");
  }
  void operator()(const HeightMap& s) const {
    if (s.heights.rows() < 2 || s.heights.cols() < 2) {
      throw InvalidArgument(member("heights"), "2 x 2 samples or more", fmt::format("{} x {}", s.heights.rows(), s.heights.cols()));
    }
    require_finite(member("heights"), s.heights);
    positive("size_x", s.size_x);
    positive("size_y", s.size_y);
    if (!(s.bottom <= s.heights.minCoeff()) || std::isinf(s.bottom)) {
      throw InvalidArgument(member("bottom"), fmt::format("a finite number <= the lowest sample, {}", s.heights.minCoeff()),
                            fmt::format("{}", s.bottom));
    }
  }
  void operator()(const MeshFile& s) const {
    if (s.path.empty()) throw InvalidArgument(member("path"), "a file name", "an empty string");
    require_finite(member("scale"), s.scale);
    if ((s.scale.array() == 0.0).any()) {
      throw InvalidArgument(member("scale"), "three numbers that are not zero",
                            fmt::format("{} {} {}", s.scale[0], s.scale[1], s.scale[2]));
    }
  }
};

}  // namespace

std::string_view shape_name(const Shape& shape) {
  constexpr std::string_view names[] = {"sphere",      "box",           "capsule",    "cylinder", "half-space",
                                        "convex mesh", "triangle mesh", "height map", "mesh file"};
  return names[shape.index()];
}

void validate(const Shape& shape, std::string_view argument) { std::visit(Validator{argument}, shape); }

double FrictionPatches::at(const Eigen::Vector3d& p) const {
  const auto patch = [](double x, double size, Eigen::Index count) {
    const double cell = std::floor((x / size + 0.5) * static_cast<double>(count));
    return static_cast<Eigen::Index>(std::clamp(cell, 0.0, static_cast<double>(count - 1)));
  };
  return mu(patch(p.x(), size_x, mu.rows()), patch(p.y(), size_y, mu.cols()));
}

void validate(const FrictionPatches& patches, std::string_view argument) {
  if (patches.empty()) return;
  require_positive(fmt::format("{}.size_x", argument), patches.size_x);
  require_positive(fmt::format("{}.size_y", argument), patches.size_y);
  if (!(patches.mu.array() >= 0.0).all()) throw InvalidArgument(fmt::format("{}.mu", argument), "numbers >= 0", "one that is not");
}

}  // namespace stiction
