// Closed triangle meshes and boxes face on face, aligned: what rounding must not decide. Reference: the corners of the rectangle in common;
// of a peg in a hole of its size, that nothing pushes it along the hole.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "stiction/geometry/pair_fixture.hpp"

namespace stiction::surface_flush_test {
namespace {

using Eigen::Isometry3d;
using Eigen::Vector3d;

constexpr double kMargin = 1e-3;

/// Box of twelve triangles; the diagonal of face k runs as bit k of `diagonals` says.
TriangleMesh block(const Vector3d& h, int diagonals) {
  TriangleMesh m;
  for (int i = 0; i < 8; ++i) m.vertices.emplace_back(i & 4 ? h.x() : -h.x(), i & 2 ? h.y() : -h.y(), i & 1 ? h.z() : -h.z());
  constexpr int kFaces[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
  for (int k = 0; k < 6; ++k) {
    const auto at = [&](int i) { return kFaces[k][(i + (diagonals >> k & 1)) % 4]; };
    m.triangles.emplace_back(at(0), at(1), at(2));
    m.triangles.emplace_back(at(0), at(2), at(3));
  }
  return m;
}

struct Blocks {
  bool upper_mesh, lower_mesh;
};

/// The upper body moved aside, and turned about z and about x, in the frame of the lower.
struct Placing {
  double aside_x, aside_y, turn, tilt, smaller;
};

std::string expect_corners(const Blocks& what, const Placing& by, double gap, Random& random) {
  const Vector3d h(random(0.025, 0.15), random(0.025, 0.15), random(0.025, 0.15)), k(by.smaller * h.x(), by.smaller * h.y(), h.z());
  const auto shape = [&](bool mesh, const Vector3d& half) { return mesh ? Shape(block(half, pick(random, 64))) : Shape(Box{half}); };
  ShapePair pair(shape(what.lower_mesh, h), shape(what.upper_mesh, k));
  const Isometry3d W = random.pose(1.0);
  const Isometry3d X = pose({by.aside_x * h.x(), by.aside_y * h.y(), 2.0 * h.z() + gap}, {by.tilt, 0, by.turn});
  const auto contacts = pair.contacts(W, W * X, kMargin);
  const Vector3d up = -W.linear().col(2);  // to the lower body
  // Turned by less than 1e-5 the rectangle is known to as much.
  const double near = 1e-9 + 2.0 * (by.turn + by.tilt) * h.norm(), deep = 1e-12 + 2.0 * by.tilt * h.norm();
  for (const auto& c : contacts) {
    if ((c.n - up).norm() > 3e-6 + 2.0 * by.tilt || std::abs(c.gap - gap) > deep)
      return "gap " + std::to_string(c.gap * 1e9) + "e-9 along " + std::to_string(c.n.dot(up));
  }
  for (int corner = 0; corner < 4; ++corner) {
    const double sx = corner & 1 ? 1.0 : -1.0, sy = corner & 2 ? 1.0 : -1.0;
    const auto end = [](double s, double half, double other, double aside) { return s * std::min(s * s * half, other + s * aside); };
    const Vector3d p(end(sx, h.x(), k.x(), by.aside_x * h.x()), end(sy, h.y(), k.y(), by.aside_y * h.y()), h.z() + 0.5 * gap);
    if (std::none_of(contacts.begin(), contacts.end(), [&](const auto& c) { return (c.p_WC - W * p).norm() < near + deep; }))
      return "no contact at corner " + std::to_string(corner) + ", " + std::to_string(contacts.size()) + " in all";
  }
  return "";
}

/// Whole, and in part, and off by less or little more than rounding.
std::vector<Placing> placings() {
  std::vector<Placing> all{{0, 0, 0, 0, 1}, {0.6, 0.4, 0, 0, 1}, {0.6, 0, 0, 0, 1}, {0, 0, 0, 0, 0.6}, {0.4, 0, 0, 0, 0.6}};
  for (const double off : {1e-15, 1e-12, 1e-10, 1e-9, 3e-9, 1e-8, 1e-7, 1e-6}) {
    all.push_back({off, off, 0, 0, 1});
    all.push_back({off, -off, 0, 0, 1});
    all.push_back({0.5, off, 0, 0, 1});
    all.push_back({0, off, 0, 0, 1});
    all.push_back({0, 0, off, 0, 1});
    all.push_back({off, 0, off, 0, 1});
    all.push_back({0, 0, 0, off, 1});
    all.push_back({off, 0, off, off, 1});
  }
  for (const double tilt : {2e-7, 9e-7, 1e-6, 2e-6, 1e-5, 1e-4}) {
    all.push_back({0.5, 0, 0, tilt, 1});
    all.push_back({0.5, 0.3, 1e-6, tilt, 1});
    all.push_back({1e-6, -1e-6, 0, tilt, 1});
  }
  return all;
}

constexpr double kGaps[] = {0.0, 1e-16, -1e-16, 1e-15, -1e-15, 1e-12, -1e-12, 1e-10, -1e-10, 1e-9, -1e-9, 1e-8, -1e-8, 1e-6, -1e-6};

void run(const Blocks& what) {
  for (const Placing& by : placings()) {
    int failed = 0, tried = 0;
    std::string first;
    for (const double gap : kGaps) {
      Random random(7);
      for (int trial = 0; trial < 12; ++trial, ++tried) {
        const std::string said = expect_corners(what, by, gap, random);
        if (said.empty()) continue;
        ++failed;
        if (first.empty()) first = "gap " + std::to_string(gap * 1e12) + "e-12, trial " + std::to_string(trial) + ": " + said;
      }
    }
    EXPECT_EQ(failed, 0) << "of " << tried << "; aside " << by.aside_x << ", " << by.aside_y << ", turned " << by.turn << ", tilted "
                         << by.tilt << ", smaller " << by.smaller << "; " << first;
  }
}

TEST(SurfaceFlush, MeshOnMesh) { run({true, true}); }
TEST(SurfaceFlush, BoxOnMesh) { run({false, true}); }
TEST(SurfaceFlush, MeshOnBox) { run({true, false}); }

/// Corners of a regular polygon at each height, the lowest first.
std::vector<Vector3d> polygons(int n, const std::vector<std::pair<double, double>>& radii_and_heights) {
  std::vector<Vector3d> v;
  for (const auto& [r, z] : radii_and_heights) {
    for (int k = 0; k < n; ++k) {
      const double a = 2.0 * std::numbers::pi * (k + 0.5) / n;
      v.emplace_back(r * std::cos(a), r * std::sin(a), z);
    }
  }
  return v;
}

/// The strip from one of these polygons to another, outside to the right of the way round.
void add_strip(TriangleMesh& m, int n, int from, int to) {
  for (int k = 0; k < n; ++k) {
    const int next = (k + 1) % n;
    m.triangles.emplace_back(from * n + k, from * n + next, to * n + next);
    m.triangles.emplace_back(from * n + k, to * n + next, to * n + k);
  }
}

TriangleMesh prism(int n, double r, double half) {
  TriangleMesh m;
  m.vertices = polygons(n, {{r, -half}, {r, half}});
  add_strip(m, n, 0, 1);
  for (int k = 1; k + 1 < n; ++k) {
    m.triangles.emplace_back(0, k + 1, k);
    m.triangles.emplace_back(n, n + k, n + k + 1);
  }
  return m;
}

/// Block 0.3 m high, its top at z = 0, with a hole through it.
TriangleMesh block_with_hole(int n, double r) {
  constexpr double kOuter = 0.3, kHeight = 0.3;
  TriangleMesh m;
  m.vertices = polygons(n, {{r, -kHeight}, {kOuter, -kHeight}, {kOuter, 0.0}, {r, 0.0}});
  for (int ring = 0; ring < 4; ++ring) add_strip(m, n, ring, (ring + 1) % 4);
  return m;
}

TEST(SurfaceFlush, NothingPushesAPegOutOfAHoleOfItsSize) {
  constexpr double kRadius = 0.05, kHalf = 0.1;
  Random random(3);
  for (const int n : {3, 4, 6, 12, 24}) {
    for (const double tight : {0.0, -1e-10, 1e-12, 1e-9, 1e-8, 1e-7, 2e-6, 1e-5, 1e-4}) {
      ShapePair pegs(prism(n, kRadius, kHalf), block_with_hole(n, kRadius - tight)),
          holes(block_with_hole(n, kRadius - tight), prism(n, kRadius, kHalf));
      for (int trial = 0; trial < 20; ++trial) {
        const Isometry3d W = trial == 0 ? Isometry3d::Identity() : random.pose(1.0);
        // To where walls that face each other hold it unequally, within what counts as flush.
        const double aside = trial < 4 || tight > 2e-6 ? 0.0 : std::max(0.0, tight);
        const Isometry3d X = W * pose({random(-0.5, 0.5) * aside, random(-0.5, 0.5) * aside, trial < 2 ? 0.05 : random(-0.15, 0.09)});
        for (const bool peg_first : {true, false}) {
          SCOPED_TRACE(::testing::Message() << n << " sides, " << tight << " too large, trial " << trial << ", " << peg_first);
          const auto& contacts = peg_first ? pegs.contacts(X, W, kMargin) : holes.contacts(W, X, kMargin);
          EXPECT_GE(contacts.size(), 3u);
          for (const auto& c : contacts) {
            EXPECT_LT(std::abs(c.n.dot(W.linear().col(2))), 1e-6) << c.gap;
            EXPECT_GT(c.gap, -1.75 * std::max(tight, 0.0) - 1e-9);  // aside by up to 0.71 of it
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace stiction::surface_flush_test
