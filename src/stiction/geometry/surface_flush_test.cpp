// Closed triangle meshes and boxes face on face, aligned: what rounding must not decide. Reference: the corners of the rectangle in common.
#include <cmath>

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

}  // namespace
}  // namespace stiction::surface_flush_test
