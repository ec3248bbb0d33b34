// Standing furniture with known forces: the table, the box, the pinch and the tripod.
#include "stiction/problem/indeterminacy.hpp"

#include <numbers>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "stiction/base/errors.hpp"
#include "stiction/problem/reduce_sparse.hpp"
#include "stiction/problem/test_terms.hpp"

namespace stiction::indeterminacy_test {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

struct Point {
  Vector3d position, normal;
};

// Contact impulses on one free body of unit mass and inertia, its centre at the origin: R_tᵀ maps them to its momentum. The body
// is at rest; `impulse` is what its contacts must balance (unused by the set but for u_free).
ReducedProblem body(const std::vector<Point>& points, double mu) {
  MatrixXd J(3 * static_cast<Eigen::Index>(points.size()), 6);
  for (std::size_t i = 0; i < points.size(); ++i) {
    Matrix3d frame;
    frame.col(0) = points[i].normal;
    frame.col(1) = (std::abs(points[i].normal.x()) < 0.9 ? Vector3d::UnitX() : Vector3d::UnitY()).eval();
    frame.col(1) = (frame.col(1) - frame.col(0) * frame.col(0).dot(frame.col(1))).normalized();
    frame.col(2) = frame.col(0).cross(frame.col(1));
    for (int c = 0; c < 3; ++c) {
      const Eigen::Index row = 3 * static_cast<Eigen::Index>(i) + c;
      J.row(row).head<3>() = frame.col(c).transpose();
      J.row(row).tail<3>() = points[i].position.cross(Vector3d(frame.col(c))).transpose();
    }
  }
  const int size = 6;
  ReducedProblem p;
  p.Rt = BlockRows::from_dense(3, J, std::span(&size, 1));
  p.u_free.setZero(J.rows());
  p.offset.setZero(static_cast<Eigen::Index>(points.size()));
  p.mu = VectorXd::Constant(static_cast<Eigen::Index>(points.size()), mu);
  p.closed.assign(points.size(), 1);
  p.Bt.reset(1, std::span(&size, 1));
  p.y_free.setZero(6);
  return p;
}

// Makes (lambda) the solution at rest: u = 0 everywhere.
void at_rest(ReducedProblem& p, const VectorXd& lambda) {
  const MatrixXd Rt = p.Rt.to_dense();
  p.u_free = -(Rt * (Rt.transpose() * lambda));
}

VectorXd normals(std::initializer_list<double> values) {
  VectorXd lambda = VectorXd::Zero(3 * static_cast<Eigen::Index>(values.size()));
  Eigen::Index i = 0;
  for (const double value : values) lambda[3 * i++] = value;
  return lambda;
}

std::vector<Point> feet(double height) {
  return {{{1, 1, -height}, {0, 0, 1}}, {{-1, 1, -height}, {0, 0, 1}}, {{-1, -1, -height}, {0, 0, 1}}, {{1, -1, -height}, {0, 0, 1}}};
}

IndeterminacyOptions with_intervals() {
  IndeterminacyOptions options;
  options.normal_intervals = true;
  return options;
}

LawTerms frictionless(const ReducedProblem& p) { return terms_of(p, {.friction = 0.0}); }
LawTerms pyramid_law(const ReducedProblem& p, int edges) { return terms_of(p, {.edges = edges}); }

const VectorXd kNoRows(0);

// Normal forces (1, -1, 1, -1) t do no work on a square table: with a weight of 4 on the middle, each is in [0, 2].
TEST(Indeterminacy, FourLeggedTable) {
  ReducedProblem p = body(feet(0.0), 0.5);
  at_rest(p, normals({1, 1, 1, 1}));
  const Indeterminacy result = indeterminacy(p, frictionless(p), normals({1, 1, 1, 1}), kNoRows, with_intervals());
  EXPECT_EQ(result.dimension, 1);
  EXPECT_TRUE(result.complete);
  EXPECT_THAT(result.face_dimension, testing::Each(1));
  EXPECT_LT((result.normal_min - VectorXd::Zero(4)).norm(), 1e-12);
  EXPECT_LT((result.normal_max - VectorXd::Constant(4, 2.0)).norm(), 1e-12);
  EXPECT_EQ(result.interval_error, 0.0);
}

// The weight off the middle, towards leg 0: forces (a, b, c, d) = (2.5, 1, 0.5, 1) + t (1, -1, 1, -1).
TEST(Indeterminacy, TableWithItsLoadOffTheMiddle) {
  ReducedProblem p = body(feet(0.0), 0.5);
  const VectorXd lambda = normals({2.5, 1, 0.5, 1});
  at_rest(p, lambda);
  const Indeterminacy result = indeterminacy(p, frictionless(p), lambda, kNoRows, with_intervals());
  EXPECT_EQ(result.dimension, 1);
  EXPECT_LT((result.normal_min - Eigen::Vector4d(2, 0, 0, 0)).norm(), 1e-12);
  EXPECT_LT((result.normal_max - Eigen::Vector4d(3.5, 1.5, 1.5, 1.5)).norm(), 1e-12);
}

// On the edge of tipping over legs 0 and 1, the other two carry nothing, whatever their share: F is a point.
TEST(Indeterminacy, TableOnTheEdgeOfTipping) {
  ReducedProblem p = body(feet(0.0), 0.5);
  const VectorXd lambda = normals({2, 2, 0, 0});
  at_rest(p, lambda);
  const Indeterminacy result = indeterminacy(p, frictionless(p), lambda, kNoRows, with_intervals());
  EXPECT_EQ(result.dimension, 0);
  EXPECT_THAT(result.face_dimension, testing::ElementsAre(1, 1, 0, 0));
  EXPECT_EQ(result.normal_min, result.normal_max);
  EXPECT_LT((result.interior - lambda).norm(), 1e-12);
}

TEST(Indeterminacy, TripodIsDeterminate) {
  ReducedProblem p = body({{{1, 0, 0}, {0, 0, 1}}, {{-1, 1, 0}, {0, 0, 1}}, {{-1, -1, 0}, {0, 0, 1}}}, 0.5);
  const VectorXd lambda = normals({2, 1, 1});
  at_rest(p, lambda);
  const Indeterminacy result = indeterminacy(p, frictionless(p), lambda, kNoRows, with_intervals());
  EXPECT_EQ(result.dimension, 0);
  EXPECT_EQ(result.normal_min, result.normal_max);
  EXPECT_LT((result.normal_min - Vector3d(2, 1, 1)).norm(), 1e-12);
}

// A box on its four corners: 12 impulses, 6 equations; friction leaves its normal forces those of the table.
TEST(Indeterminacy, BoxOnFourCornersWithFriction) {
  ReducedProblem p = body(feet(1.0), 0.5);
  const VectorXd lambda = normals({1, 1, 1, 1});
  at_rest(p, lambda);
  for (const int edges : {0, 4, 7, 8}) {
    SCOPED_TRACE(edges);
    const Indeterminacy result = indeterminacy(p, pyramid_law(p, edges), lambda, kNoRows, with_intervals());
    EXPECT_EQ(result.dimension, 6);
    EXPECT_THAT(result.face_dimension, testing::Each(3));
    EXPECT_LT(result.normal_min.cwiseAbs().maxCoeff(), 1e-7);
    EXPECT_LT((result.normal_max - VectorXd::Constant(4, 2.0)).cwiseAbs().maxCoeff(), 1e-7);
    // The interior point does what the given one does, strictly inside every cone.
    const MatrixXd Rt = p.Rt.to_dense();
    EXPECT_LT((Rt.transpose() * (result.interior - lambda)).norm(), 1e-10);
  }
}

// A weight of 2 on two of six feet. The program that moves it to the others gives one of two feet 2.5e-7 and the other nothing: at first
// sight a load, in the mean with further points none. Either may have 0.8, balanced by 0.8 at (0, 1) and 0.4 at (±1, 0).
TEST(Indeterminacy, FeetThatFirstGainAlmostNothing) {
  constexpr double kAside = 2.5e-7;
  std::vector<Point> points;
  for (const auto& [x, y] : {std::pair{1.0, 0.0}, {-1.0, kAside}, {0.5, -1.0}, {-0.5, -1.0}, {0.0, 1.0}, {0.0, -1.0}})
    points.push_back({{x, y, 0}, {0, 0, 1}});
  ReducedProblem p = body(points, 0.5);
  const VectorXd lambda = normals({0, 0, 0, 0, 1, 1});
  at_rest(p, lambda);
  const Indeterminacy result = indeterminacy(p, frictionless(p), lambda, kNoRows, with_intervals());
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.dimension, 6 - 3);
  EXPECT_THAT(result.face_dimension, testing::Each(1));
  Eigen::Matrix<double, 6, 1> most;
  most << 1.0, 1.0, 0.8, 0.8, 1.0, 1.0;
  EXPECT_LT(result.normal_min.cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((result.normal_max - most).cwiseAbs().maxCoeff(), 1e-6);
}

// Where impulses are a function of the motion they are determined, however many bear.
TEST(Indeterminacy, CompliantContactsAreDetermined) {
  ReducedProblem p = body(feet(1.0), 0.5);
  const VectorXd lambda = normals({1, 1.5, 1, 0});
  at_rest(p, lambda);
  for (const double speed : {0.0, 0.1, -0.1}) {  // what opens or closes bears all the same
    for (int i = 0; i < 4; ++i) p.u_free[3 * i] += speed;
    const Indeterminacy result = indeterminacy(p, terms_of(p, {.family = Family::constitutive}), lambda, kNoRows, with_intervals());
    EXPECT_TRUE(result.complete);
    EXPECT_EQ(result.dimension, 0);
    EXPECT_EQ(result.face_dimension, (std::vector<int>{1, 1, 1, 0}));
    EXPECT_EQ(result.interior, lambda);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(result.normal_min[i], lambda[3 * i]);
      EXPECT_EQ(result.normal_max[i], lambda[3 * i]);
    }
  }
}

// Impulses that do not obey the law they are said to solve are outside of F, and that is said.
TEST(Indeterminacy, SaysWhenItsIntervalsLeaveOutTheSolution) {
  ReducedProblem p = body(feet(1.0), 0.5);
  const VectorXd lambda = normals({1, 1, 1, 1});
  at_rest(p, lambda);
  EXPECT_TRUE(indeterminacy(p, terms_of(p), lambda, kNoRows, with_intervals()).complete);
  for (int i = 0; i < 4; ++i) p.u_free[3 * i] += 0.1;  // opens, and bears
  EXPECT_FALSE(indeterminacy(p, terms_of(p), lambda, kNoRows, with_intervals()).complete);
}

// No-slip has a half space per contact: the normal forces can grow without end only if friction could pull; on a plane it cannot.
TEST(Indeterminacy, NoSlip) {
  ReducedProblem p = body(feet(1.0), kInfinity);
  const VectorXd lambda = normals({1, 1, 1, 1});
  at_rest(p, lambda);
  const Indeterminacy result = indeterminacy(p, terms_of(p), lambda, kNoRows, with_intervals());
  EXPECT_EQ(result.dimension, 6);
  EXPECT_LT((result.normal_max - VectorXd::Constant(4, 2.0)).norm(), 1e-12);
}

// Sliding fixes the direction of friction: the table's freedom in the normal forces, coupled with friction, remains as far as
// the moments of friction about the vertical balance: forces t (1, -1, 1, -1) with friction along x at y = ±1 have moment 0.
TEST(Indeterminacy, SlidingBoxFixesTheFriction) {
  ReducedProblem p = body(feet(1.0), 0.5);
  VectorXd lambda(12);
  lambda << 1, -0.5, 0, 1, -0.5, 0, 1, -0.5, 0, 1, -0.5, 0;
  at_rest(p, lambda);
  for (int i = 0; i < 4; ++i) p.u_free[3 * i + 1] += 2.0;  // slides along the first tangent
  for (const int edges : {0, 4}) {
    const Indeterminacy result = indeterminacy(p, pyramid_law(p, edges), lambda, kNoRows, with_intervals());
    EXPECT_THAT(result.face_dimension, testing::Each(1));
    EXPECT_EQ(result.dimension, 1);
    EXPECT_LT((result.normal_max - VectorXd::Constant(4, 2.0)).norm(), 1e-9);
  }
  // Slip along a bisector of the square pyramid leaves two of its vertices: a plane of impulses per contact.
  lambda << 1, -0.25, -0.25, 1, -0.25, -0.25, 1, -0.25, -0.25, 1, -0.25, -0.25;
  const MatrixXd Rt = p.Rt.to_dense();
  const VectorXd slip = VectorXd::NullaryExpr(12, [](Eigen::Index k) { return k % 3 == 0 ? 0.0 : 2.0; });
  p.u_free = slip - Rt * (Rt.transpose() * lambda);
  const Indeterminacy tie = indeterminacy(p, pyramid_law(p, 4), lambda, kNoRows, with_intervals());
  EXPECT_THAT(tie.face_dimension, testing::Each(2));
  // 8 impulses under 6 equations, of which one follows from the others: the two frictions add up to -mu times the normal force.
  EXPECT_EQ(tie.dimension, 3);
}

// A box that sticks with all the friction it has: though every cone is open to it, no impulse can leave its boundary ray.
TEST(Indeterminacy, StickingAtTheLimitOfFriction) {
  ReducedProblem p = body(feet(1.0), 0.5);
  VectorXd lambda(12);
  lambda << 1, 0.5, 0, 1, 0.5, 0, 1, 0.5, 0, 1, 0.5, 0;
  at_rest(p, lambda);
  for (const int edges : {0, 4}) {
    const Indeterminacy result = indeterminacy(p, pyramid_law(p, edges), lambda, kNoRows, with_intervals());
    EXPECT_THAT(result.face_dimension, testing::Each(1));
    EXPECT_EQ(result.dimension, 1);
    EXPECT_LT((result.normal_max - VectorXd::Constant(4, 2.0)).cwiseAbs().maxCoeff(), 1e-6);
  }
  // A little below the limit, all of the box's freedom is there.
  for (int i = 0; i < 4; ++i) lambda[3 * i + 1] = 0.49;
  at_rest(p, lambda);
  EXPECT_EQ(indeterminacy(p, terms_of(p), lambda, kNoRows).dimension, 6);
}

// Impulses are as exact as their solver: rays along friction that all has one direction differ by that, and are dependent all the same.
TEST(Indeterminacy, StickingAtTheLimitOfFrictionToEightDigits) {
  ReducedProblem p = body(feet(1.0), 0.5);
  VectorXd lambda(12);
  lambda << 1, 0.5, 3e-8, 1, 0.5, -2e-8, 1, 0.5, -1e-8, 1, 0.5, 1e-8;
  at_rest(p, lambda);
  const Indeterminacy result = indeterminacy(p, terms_of(p), lambda, kNoRows, with_intervals());
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.dimension, 1);
  EXPECT_LT(result.normal_min.cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((result.normal_max - VectorXd::Constant(4, 2.0)).cwiseAbs().maxCoeff(), 1e-6);
}

// The same when only one of the feet happens to be on its boundary: the others show that it can leave it.
TEST(Indeterminacy, OneFootOnTheBoundaryOfItsCone) {
  ReducedProblem p = body(feet(1.0), 0.5);
  VectorXd lambda(12);
  lambda << 1, 0.5, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0;
  at_rest(p, lambda);
  for (const int edges : {0, 4, 5}) {
    const Indeterminacy result = indeterminacy(p, pyramid_law(p, edges), lambda, kNoRows);
    EXPECT_EQ(result.dimension, 6);
    EXPECT_THAT(result.face_dimension, testing::Each(3));
    EXPECT_LT((p.Rt.to_dense().transpose() * (result.interior - lambda)).norm(), 1e-10);
  }
}

// Two fingers press an object of weight w from both sides: λ_T = w/2 each, so N >= w / (2 mu), and no upper bound.
TEST(Indeterminacy, TwoFingerPinch) {
  const double mu = 0.4, weight = 3.0, squeeze = 10.0;
  ReducedProblem p = body({{{-1, 0, 0}, {1, 0, 0}}, {{1, 0, 0}, {-1, 0, 0}}}, mu);
  // Friction up, along z: frames have tangents y and ±z.
  VectorXd lambda(6);
  lambda << squeeze, 0, 0.5 * weight, squeeze, 0, -0.5 * weight;
  const VectorXd momentum = p.Rt.to_dense().transpose() * lambda;
  ASSERT_NEAR(momentum[2], weight, 1e-12);
  ASSERT_NEAR(momentum.norm(), weight, 1e-12);
  at_rest(p, lambda);
  for (const int edges : {0, 4, 8, 16}) {
    SCOPED_TRACE(edges);
    const Indeterminacy result = indeterminacy(p, pyramid_law(p, edges), lambda, kNoRows, with_intervals());
    // Rank 5: the moment about the axis between the fingers is out of reach. The sixth freedom is the squeeze.
    EXPECT_EQ(result.dimension, 1);
    EXPECT_NEAR(result.normal_min[0], weight / (2.0 * mu), 1e-7);
    EXPECT_NEAR(result.normal_min[1], weight / (2.0 * mu), 1e-7);
    EXPECT_EQ(result.normal_max[0], kInfinity);
    EXPECT_EQ(result.normal_max[1], kInfinity);
  }
}

// At the limit of friction the pinch still has its squeeze, but its smallest one is where it stands.
TEST(Indeterminacy, PinchAtTheLimitOfFriction) {
  ReducedProblem p = body({{{-1, 0, 0}, {1, 0, 0}}, {{1, 0, 0}, {-1, 0, 0}}}, 0.5);
  VectorXd lambda(6);
  lambda << 3, 0, 1.5, 3, 0, -1.5;
  at_rest(p, lambda);
  const Indeterminacy result = indeterminacy(p, terms_of(p), lambda, kNoRows, with_intervals());
  EXPECT_EQ(result.dimension, 1);
  EXPECT_THAT(result.face_dimension, testing::Each(3));
  EXPECT_NEAR(result.normal_min[0], 3.0, 1e-7);
}

// Open contacts take no part, nor do those of a relaxed law inside the dual cone.
TEST(Indeterminacy, OpenContacts) {
  ReducedProblem p = body(feet(0.0), 0.5);
  const VectorXd lambda = normals({2, 0, 2, 0});
  at_rest(p, lambda);
  p.u_free[3] += 0.1;
  p.u_free[9] += 0.1;
  const Indeterminacy result = indeterminacy(p, frictionless(p), lambda, kNoRows, with_intervals());
  EXPECT_EQ(result.dimension, 0);
  EXPECT_THAT(result.face_dimension, testing::ElementsAre(1, 0, 1, 0));
  p.u_free[4] += 0.5;  // u_N = 0.1 < mu |u_T| would be a violation; 0.3 on the boundary slides
  p.u_free[3] += 0.15;
  const Indeterminacy boundary = indeterminacy(p, terms_of(p, {.family = Family::associated}), lambda, kNoRows);
  EXPECT_EQ(boundary.face_dimension[1], 0);  // may slide, but cannot carry a load
}

// The disc between pyramids inscribed and circumscribed: their intervals, exact linear programs, enclose its own.
TEST(Indeterminacy, DiscLiesBetweenPyramids) {
  std::mt19937 random(8);
  std::normal_distribution<double> normal;
  int compared = 0;
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<Point> points;
    for (int i = 0; i < 5; ++i) {
      points.push_back(
          {{normal(random), normal(random), normal(random)}, Vector3d(normal(random), normal(random), 2.0 + normal(random)).normalized()});
    }
    const double mu = 0.6;
    ReducedProblem p = body(points, mu);
    VectorXd lambda(15);
    for (int i = 0; i < 5; ++i) lambda.segment<3>(3 * i) = Vector3d(1.0, 0.3 * normal(random) * mu, 0.3 * normal(random) * mu);
    for (int i = 0; i < 5; ++i) {
      const double t = lambda.segment<2>(3 * i + 1).norm();
      if (t > 0.9 * mu) lambda.segment<2>(3 * i + 1) *= 0.9 * mu / t;
    }
    at_rest(p, lambda);
    constexpr int kEdges = 64;
    const Indeterminacy disc = indeterminacy(p, terms_of(p), lambda, kNoRows, with_intervals());
    const Indeterminacy inside = indeterminacy(p, pyramid_law(p, kEdges), lambda, kNoRows, with_intervals());
    p.mu /= std::cos(std::numbers::pi / kEdges);
    const Indeterminacy outside = indeterminacy(p, pyramid_law(p, kEdges), lambda, kNoRows, with_intervals());
    EXPECT_EQ(disc.dimension, 9);
    EXPECT_TRUE(disc.complete);
    EXPECT_LT(disc.interval_error, 1e-5);
    for (int i = 0; i < 5; ++i) {
      EXPECT_LE(outside.normal_min[i], disc.normal_min[i] + 1e-9);
      EXPECT_GE(inside.normal_min[i], disc.normal_min[i] - disc.interval_error - 1e-9);
      if (std::isinf(disc.normal_max[i]) || std::isinf(outside.normal_max[i])) continue;
      EXPECT_GE(outside.normal_max[i], disc.normal_max[i] - 1e-9);
      EXPECT_LE(inside.normal_max[i], disc.normal_max[i] + disc.interval_error + 1e-9);
      ++compared;
    }
    RecordProperty("pivots", disc.pivots);
  }
  EXPECT_GT(compared, 40);
}

// A box flush against a wall that it need not touch: discs go from the apex by the mantle to their interior. Pyramids enclose again.
TEST(Indeterminacy, BoxFlushAgainstAWall) {
  std::vector<Point> points = feet(0.5);
  for (const double y : {-1.0, 1.0}) {
    for (const double z : {-0.5, 0.5}) points.push_back({{-1, y, z}, {1, 0, 0}});
  }
  constexpr double kMu = 0.7;
  constexpr int kEdges = 32;
  for (const double share : {0.0, 0.3, 0.78}) {  // of the floor's friction
    SCOPED_TRACE(share);
    ReducedProblem p = body(points, kMu);
    VectorXd lambda = normals({1.2, 0.9, 1, 0.8, 0, 0, 0, 0});
    for (int i = 0; i < 4; ++i) lambda[3 * i + 2] = share * kMu * lambda[3 * i];
    at_rest(p, lambda);
    const Indeterminacy disc = indeterminacy(p, terms_of(p), lambda, kNoRows, with_intervals());
    const Indeterminacy inside = indeterminacy(p, pyramid_law(p, kEdges), lambda, kNoRows, with_intervals());
    p.mu /= std::cos(std::numbers::pi / kEdges);
    const Indeterminacy outside = indeterminacy(p, pyramid_law(p, kEdges), lambda, kNoRows, with_intervals());
    EXPECT_EQ(disc.dimension, 18);
    EXPECT_EQ(inside.dimension, 18);
    EXPECT_THAT(disc.face_dimension, testing::Each(3));
    EXPECT_TRUE(disc.complete);
    for (int i = 0; i < 8; ++i) {
      EXPECT_LT(disc.interior.segment<2>(3 * i + 1).norm(), kMu * disc.interior[3 * i]);
      EXPECT_LE(disc.normal_min[i], inside.normal_min[i] + 1e-6);
      EXPECT_GE(disc.normal_max[i], inside.normal_max[i] - 1e-6);
      EXPECT_LE(outside.normal_min[i], disc.normal_min[i] + 1e-6);
      EXPECT_GE(outside.normal_max[i], disc.normal_max[i] - 1e-6);
    }
    EXPECT_LT((p.Rt.to_dense().transpose() * (disc.interior - lambda)).norm(), 1e-10);
  }
}

// A plate on 200 feet.
TEST(Indeterminacy, ManyContacts) {
  std::mt19937 random(9);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<Point> points;
  for (int i = 0; i < 200; ++i) points.push_back({{uniform(random), uniform(random), -0.2}, {0, 0, 1}});
  ReducedProblem p = body(points, 0.7);
  VectorXd lambda = VectorXd::Zero(600);
  for (int i = 0; i < 200; ++i) lambda[3 * i] = 0.01;
  at_rest(p, lambda);
  const Indeterminacy plain = indeterminacy(p, terms_of(p), lambda, kNoRows);
  EXPECT_EQ(plain.dimension, 600 - 6);
  const Indeterminacy result = indeterminacy(p, frictionless(p), lambda, kNoRows, with_intervals());
  EXPECT_EQ(result.dimension, 200 - 3);
  EXPECT_GE(result.normal_min.minCoeff(), 0.0);
  EXPECT_LE(result.normal_max.maxCoeff(), 2.0 + 1e-12);  // the whole weight
  EXPECT_GT(result.normal_max.minCoeff(), 0.5);
}

// Two contacts at one point leave together and may not slip before they are gone: their friction is shared in two free ways, and they press
// with nothing.
TEST(Indeterminacy, NoSlipHoldsClosedContactsThatOpen) {
  ReducedProblem p = body({{{0, 0, -1}, {0, 0, 1}}, {{0, 0, -1}, {0, 0, 1}}, {{1, 0, -1}, {0, 0, 1}}}, 0.5);
  p.closed[2] = 0;
  VectorXd lambda = VectorXd::Zero(9);
  lambda << 0.0, 0.3, -0.2, 0.0, 0.1, 0.4, 0.0, 0.0, 0.0;
  at_rest(p, lambda);
  for (int i = 0; i < 3; ++i) p.u_free[3 * i] += 1.0;
  const Indeterminacy result = indeterminacy(p, terms_of(p, {.family = Family::associated, .friction = kInfinity, .needs_contact = true}),
                                             lambda, kNoRows, with_intervals());
  EXPECT_EQ(result.dimension, 2);
  EXPECT_EQ(result.face_dimension, (std::vector<int>{2, 2, 0}));
  EXPECT_EQ(result.normal_min.lpNorm<Eigen::Infinity>(), 0.0);
  EXPECT_EQ(result.normal_max.lpNorm<Eigen::Infinity>(), 0.0);
  const MatrixXd Rt = p.Rt.to_dense();
  EXPECT_LT((Rt.transpose() * (result.interior - lambda)).norm(), 1e-12);  // the same motion
  // Without the second contact everything is determined, the friction of the first as it is.
  ReducedProblem alone = body({{{0, 0, -1}, {0, 0, 1}}}, 0.5);
  at_rest(alone, lambda.head(3));
  alone.u_free[0] += 1.0;
  const Indeterminacy one = indeterminacy(alone, terms_of(alone, {.family = Family::associated, .friction = kInfinity}), lambda.head(3),
                                          kNoRows, with_intervals());
  EXPECT_EQ(one.dimension, 0);
  EXPECT_LT((one.interior - lambda.head(3)).norm(), 1e-12);
}

// Two contacts at one point whose infinite friction lets go: how they share it, against the slip, is all that is free.
TEST(Indeterminacy, InfiniteFrictionThatSlips) {
  ReducedProblem p = body({{{0, 0, -1}, {0, 0, 1}}, {{0, 0, -1}, {0, 0, 1}}}, kInfinity);
  VectorXd lambda(6);
  lambda << 0.0, -0.3, 0.0, 0.0, -0.1, 0.0;
  at_rest(p, lambda);
  EXPECT_EQ(indeterminacy(p, terms_of(p), lambda, kNoRows).dimension, 2);  // at rest, in any direction
  for (int i = 0; i < 2; ++i) p.u_free[3 * i + 1] += 2.0;
  for (const int edges : {0, 4}) {
    const Indeterminacy result = indeterminacy(p, terms_of(p, {.edges = edges}), lambda, kNoRows, with_intervals());
    EXPECT_EQ(result.dimension, 1) << edges;
    EXPECT_EQ(result.face_dimension, (std::vector<int>{1, 1})) << edges;
  }
  for (int i = 0; i < 2; ++i) p.u_free[3 * i + 2] += 2.0;  // halfway between two vertices: any friction between them
  EXPECT_EQ(indeterminacy(p, terms_of(p, {.edges = 4}), lambda, kNoRows).dimension, 1);  // that at hand is along one of them
  lambda << 0.0, -0.3, -0.2, 0.0, -0.1, -0.2;
  at_rest(p, lambda);
  for (int i = 0; i < 2; ++i) p.u_free.segment<2>(3 * i + 1).array() += 2.0;
  EXPECT_EQ(indeterminacy(p, terms_of(p, {.edges = 4}), lambda, kNoRows).dimension, 2);
}

TEST(Indeterminacy, NothingToDetermine) {
  const ReducedProblem none = reduce_dense(MatrixXd(0, 0), VectorXd(0), VectorXd(0));
  EXPECT_EQ(indeterminacy(none, terms_of(none), VectorXd(0), kNoRows, with_intervals()).dimension, 0);
  ReducedProblem p = body(feet(0.0), 0.5);
  EXPECT_EQ(indeterminacy(p, terms_of(p), VectorXd::Zero(12), kNoRows, with_intervals()).dimension, 0);
  // A contact between two fixed bodies: any impulse does.
  const ReducedProblem fixed = reduce_dense(MatrixXd::Zero(3, 3), VectorXd::Zero(3), Eigen::Matrix<double, 1, 1>(0.5));
  const Indeterminacy free = indeterminacy(fixed, terms_of(fixed), Vector3d(1, 0, 0), kNoRows, with_intervals());
  EXPECT_EQ(free.dimension, 3);
  EXPECT_EQ(free.normal_max[0], kInfinity);
  EXPECT_THROW(indeterminacy(p, terms_of(p), VectorXd::Zero(3), kNoRows), InvalidArgument);
  EXPECT_THROW(indeterminacy(p, terms_of(p), VectorXd::Constant(12, NAN), kNoRows), InvalidArgument);
}

}  // namespace
}  // namespace stiction::indeterminacy_test
