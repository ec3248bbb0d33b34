// Projections on cones and faces in a metric: variational inequality and finite differences.
#include "stiction/programs/soft_cone/face_projection.hpp"

#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

namespace stiction::face_projection_test {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Face = SoftContact::Face;

constexpr int kEdges = 5;

struct Kind {
  SoftContact contact;
  int edges = 0;  // of its section
  SectionShape section() const {
    SectionShape shape;
    shape.reset(edges);
    return shape;
  }
};

Vector3d vertex(double mu, int j) {
  const double angle = 2.0 * std::numbers::pi * j / kEdges;
  return {1.0, mu * std::cos(angle), mu * std::sin(angle)};
}

std::vector<Kind> kinds() {
  std::vector<Kind> all(8);
  all[0].contact.mu = 0.7;
  all[1].contact.mu = 0.7, all[1].edges = kEdges;
  all[2].contact.mu = kInfinity;
  all[3].contact.face = Face::ray, all[3].contact.ray = {1.0, 0.3, -0.2};
  all[4].contact.face = Face::sector, all[4].contact.ray = vertex(0.7, 0), all[4].contact.other_ray = vertex(0.7, 1);
  all[5].contact.face = Face::apex;
  all[6].contact.mu = 2.5;
  all[7].contact.face = Face::tangents;
  return all;
}

// Points of the face that span it: enough for the variational inequality.
std::vector<Vector3d> rays(const SoftContact& c, int edges) {
  if (c.face == Face::apex) return {};
  if (c.face == Face::ray) return {c.ray};
  if (c.face == Face::sector) return {c.ray, c.other_ray};
  if (c.face == Face::tangents) return {Vector3d::UnitY(), -Vector3d::UnitY(), Vector3d::UnitZ(), -Vector3d::UnitZ()};
  if (std::isinf(c.mu)) return {Vector3d::UnitX(), Vector3d::UnitY(), -Vector3d::UnitY(), Vector3d::UnitZ(), -Vector3d::UnitZ()};
  std::vector<Vector3d> out;
  const int count = edges > 0 ? edges : 720;
  for (int j = 0; j < count; ++j) {
    const double angle = 2.0 * std::numbers::pi * j / count;
    out.emplace_back(1.0, c.mu * std::cos(angle), c.mu * std::sin(angle));
  }
  return out;
}

TEST(FaceProjection, IsTheNearestPointInTheMetric) {
  std::mt19937 rng(1);
  std::normal_distribution<double> normal;
  for (const Kind& kind : kinds()) {
    const SoftContact& c = kind.contact;
    const SectionShape shape = kind.section();
    for (int trial = 0; trial < 200; ++trial) {
      const Metric m{std::exp(normal(rng)), std::exp(normal(rng))};
      const Vector3d root(m.normal, m.tangential, m.tangential), metric = root.cwiseAbs2();
      const Vector3d x(normal(rng), normal(rng), normal(rng));
      const Vector3d p = project_face(shape, c, m, root.cwiseProduct(x), nullptr);
      const Vector3d residual = metric.cwiseProduct(x - p);
      EXPECT_NEAR(residual.dot(p), 0.0, 1e-12 * (1.0 + residual.norm() * p.norm()));
      for (const Vector3d& g : rays(c, kind.edges)) EXPECT_LE(residual.dot(g), 1e-12 * (1.0 + residual.norm() * g.norm()));
    }
  }
}

TEST(FaceProjection, DerivativeAgreesWithFiniteDifferences) {
  std::mt19937 rng(2);
  std::normal_distribution<double> normal;
  int checked = 0;
  for (const Kind& kind : kinds()) {
    const SoftContact& c = kind.contact;
    const SectionShape shape = kind.section();
    for (int trial = 0; trial < 200; ++trial) {
      const Metric m{std::exp(0.5 * normal(rng)), std::exp(0.5 * normal(rng))};
      const Vector3d inverse(1.0 / m.normal, 1.0 / m.tangential, 1.0 / m.tangential), u(normal(rng), normal(rng), normal(rng));
      const auto impulse = [&](const Vector3d& v, Matrix3d* D) { return project_face(shape, c, m, -inverse.cwiseProduct(v), D); };
      Matrix3d D, difference;
      impulse(u, &D);
      constexpr double kStep = 1e-6;
      bool smooth = true;
      for (int k = 0; k < 3; ++k) {
        Matrix3d ahead, behind;
        difference.col(k) =
            (impulse(u - kStep * Vector3d::Unit(k), &ahead) - impulse(u + kStep * Vector3d::Unit(k), &behind)) / (2 * kStep);
        smooth = smooth && (ahead - behind).norm() < 1e-3 * (1.0 + D.norm());
      }
      if (!smooth) continue;  // a kink between the two points
      ++checked;
      EXPECT_NEAR((D - difference).norm(), 0.0, 1e-7 * (1.0 + D.norm()));
      EXPECT_NEAR((D - D.transpose()).norm(), 0.0, 1e-13 * (1.0 + D.norm()));
    }
  }
  EXPECT_GT(checked, 1300);
}

}  // namespace
}  // namespace stiction::face_projection_test
