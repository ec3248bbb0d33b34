// Gaps along straight motions over triangle meshes and height maps: a signed distance changes by no more than the motion, so neither does
// the least gap, at any feature that is passed.
#include <gtest/gtest.h>

#include <cstdlib>

#include "stiction/geometry/random_surfaces.hpp"

namespace stiction::surface_motion_test {
namespace {

using Eigen::Isometry3d;
using Eigen::Vector3d;

constexpr double kMargin = 0.05, kDepth = 0.005;  // deeper than kDepth another way out may be the shortest
constexpr double kSlack = 1e-9;                   // rounding (m)

std::vector<Shape> movers(Random& random) {
  ConvexMesh hull;
  for (int i = 0; i < 14; ++i) hull.vertices.push_back(random.vector(1.0).normalized().cwiseProduct(Vector3d(0.15, 0.1, 0.2)));
  return {Sphere{0.12}, Capsule{0.06, 0.15}, Box{{0.15, 0.1, 0.05}}, Cylinder{0.1, 0.12}, hull};
}

void expect_continuous(const char* what, int kind) {
  constexpr int kSteps = 300;
  const char* wanted = std::getenv("STICTION_GEOMETRY_PAIRS");
  const int motions = wanted == nullptr ? 8 : std::max(8, std::atoi(wanted) / 50);
  Random random(17 + static_cast<unsigned>(kind));
  int steps = 0, jumps = 0;
  double worst = 0.0;
  for (int m = 0; m < motions; ++m) {
    const Shape ground = random_surface(random, kind);
    for (const Shape& shape : movers(random)) {
      ShapePair pair(shape, ground);
      // From outside past a point near the surface; no farther than it is shallow.
      Isometry3d start = random.pose(0.0);
      start.translation() = random.vector(1.0).normalized() * 1.2;
      const Vector3d way = 1.6 * (random.vector(0.5) - start.translation());
      double before = 0.0;
      for (int i = 0; i <= kSteps; ++i) {
        Isometry3d X = start;
        X.translation() += static_cast<double>(i) / kSteps * way;
        const auto& contacts = pair.contacts(X, Isometry3d::Identity(), kMargin);
        const double gap = contacts.empty() ? kMargin : deepest(contacts).gap;
        if (i > 0 && before < -kDepth) break;
        if (i > 0 && std::min(gap, before) < kMargin) {
          ++steps;
          const double excess = std::abs(gap - before) - way.norm() / kSteps;
          if (excess > kSlack) {
            ++jumps, worst = std::max(worst, excess);
            ADD_FAILURE() << shape_name(shape) << " over a " << what << ", motion " << m << ", step " << i << ": from " << before << " to "
                          << gap << ", moved " << way.norm() / kSteps;
          }
        }
        before = gap;
      }
    }
  }
  std::printf("%s: %d steps, %d jumps, the largest of %g m\n", what, steps, jumps, worst);
  EXPECT_GT(steps, 4 * motions);
}

TEST(SurfaceMotion, ClosedMesh) { expect_continuous("closed mesh", 0); }
TEST(SurfaceMotion, PlateMesh) { expect_continuous("plate mesh", 2); }
TEST(SurfaceMotion, HeightMap) { expect_continuous("height map", 3); }

}  // namespace
}  // namespace stiction::surface_motion_test
