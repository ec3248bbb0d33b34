// For tests: random triangle meshes, closed and open, and height maps.
#pragma once

#include <array>
#include <map>
#include <utility>
#include <variant>

#include "stiction/geometry/pair_fixture.hpp"
#include "stiction/geometry/surface.hpp"

namespace stiction {

/// An octahedron divided `times` times, its vertices at distances between `least` and 1 times `radius`.
inline TriangleMesh star_mesh(Random& random, int times, double radius, double least) {
  TriangleMesh m;
  for (int i = 0; i < 6; ++i) m.vertices.emplace_back((i < 3 ? 1.0 : -1.0) * Eigen::Vector3d::Unit(i % 3));
  for (int x : {0, 3}) {
    for (int y : {1, 4}) {
      for (int z : {2, 5}) {
        const bool turned = (x + y + z) % 2 == 0;
        m.triangles.emplace_back(x, turned ? z : y, turned ? y : z);
      }
    }
  }
  for (; times > 0; --times) {
    std::map<std::pair<int, int>, int> middles;
    const auto middle = [&](int a, int b) {
      const auto [it, fresh] = middles.emplace(std::pair(std::min(a, b), std::max(a, b)), static_cast<int>(m.vertices.size()));
      const Eigen::Vector3d sum = m.vertices[a] + m.vertices[b];
      if (fresh) m.vertices.push_back(sum.normalized());
      return it->second;
    };
    std::vector<Eigen::Vector3i> finer;
    for (const auto& t : m.triangles) {
      const int ab = middle(t[0], t[1]), bc = middle(t[1], t[2]), ca = middle(t[2], t[0]);
      finer.insert(finer.end(), {{t[0], ab, ca}, {ab, t[1], bc}, {ca, bc, t[2]}, {ab, bc, ca}});
    }
    m.triangles = finer;
  }
  for (auto& v : m.vertices) v *= radius * random(least, 1.0);
  return m;
}

/// A height map of n x n samples: rough, in terraces, or a wave.
inline HeightMap random_map(Random& random, int n, double height) {
  HeightMap m;
  m.heights = Eigen::MatrixXd::Zero(n, n);
  m.size_x = m.size_y = 1.0;
  m.bottom = -0.5;
  const int kind = pick(random, 3);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const double rough = random(-height, height);
      m.heights(i, j) = kind == 0 ? rough : (kind == 1 ? height * std::round(rough / height) : height * std::sin(1.3 * i + 0.4 * j));
    }
  }
  return m;
}

inline Surface surface_of(const Shape& shape) {
  const auto* map = std::get_if<HeightMap>(&shape);
  return map != nullptr ? make_surface(*map, "map") : make_surface(std::get<TriangleMesh>(shape), "mesh");
}

/// Top of the map alone, turned and placed anyhow.
inline TriangleMesh open_mesh(Random& random, const HeightMap& map) {
  HeightMap top = map;
  top.bottom = map.heights.minCoeff();
  const Surface s = make_surface(top, "map");
  const Eigen::Isometry3d X = random.pose(0.1);
  TriangleMesh m;
  for (const auto& v : s.vertices) m.vertices.push_back(X * v);
  for (const auto& t : s.triangles) m.triangles.emplace_back(t.v[0], t.v[1], t.v[2]);
  return m;
}

/// A plate of 3 x 3 squares, of which some are missing, turned and placed anyhow: whole, with a hole, a bay, a step or as an L.
inline TriangleMesh plate_mesh(Random& random) {
  constexpr std::array<int, 5> kMissing{0, 1 << 4, (1 << 4) + (1 << 5), (1 << 2) + (1 << 5) + (1 << 8),
                                        (1 << 4) + (1 << 5) + (1 << 7) + (1 << 8)};
  const int missing = kMissing[pick(random, 5)];
  const Eigen::Vector3d cell(random(0.1, 0.3), random(0.1, 0.3), random(0.1, 0.3));
  const Eigen::Isometry3d X = random.pose(0.1);
  const auto solid = [&](int i, int j) { return i >= 0 && i < 3 && j >= 0 && j < 3 && (missing >> (3 * i + j) & 1) == 0; };
  TriangleMesh m;
  const auto quad = [&](const Eigen::Vector3d& corner, const Eigen::Vector3d& u, const Eigen::Vector3d& v) {
    const int base = static_cast<int>(m.vertices.size());
    for (const Eigen::Vector3d& p : {corner, Eigen::Vector3d(corner + u), Eigen::Vector3d(corner + u + v), Eigen::Vector3d(corner + v)}) {
      m.vertices.push_back(X * p.cwiseProduct(cell));
    }
    m.triangles.emplace_back(base, base + 1, base + 2);
    m.triangles.emplace_back(base, base + 2, base + 3);
  };
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(), z = Eigen::Vector3d::UnitZ();
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (!solid(i, j)) continue;
      const Eigen::Vector3d corner(i - 1.5, j - 1.5, -0.5);
      quad(corner, y, x);
      quad(corner + z, x, y);
      if (!solid(i - 1, j)) quad(corner, z, y);
      if (!solid(i + 1, j)) quad(corner + x, y, z);
      if (!solid(i, j - 1)) quad(corner, x, z);
      if (!solid(i, j + 1)) quad(corner + y, z, x);
    }
  }
  return m;
}

/// 0: closed and uneven, 1: open, 2: a plate, 3: a height map.
inline Shape random_surface(Random& random, int kind) {
  if (kind == 0) return star_mesh(random, 1 + pick(random, 3), 0.4, random(0.6, 1.0));
  if (kind == 1) return open_mesh(random, random_map(random, 2 + pick(random, 7), 0.1));
  if (kind == 2) return plate_mesh(random);
  return random_map(random, 3 + pick(random, 7), random(0.02, 0.15));
}

}  // namespace stiction
