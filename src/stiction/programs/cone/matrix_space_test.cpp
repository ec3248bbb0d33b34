// Problems that bring a sparse W: the linear system on W against that in the r-space, and the solutions of both.
#include <gtest/gtest.h>

#include "stiction/programs/cone/cone_testing.hpp"
#include "stiction/programs/cone/rspace.hpp"

namespace stiction::matrix_space_test {
namespace {

using test_scenes::Random;

// The same wall twice: by its bodies, and by its W alone.
struct TwoWays {
  ReducedProblem bodies, matrix;
};

TwoWays wall(int boxes, Random& random) {
  TwoWays out{test_scenes::brick_wall(boxes, random), {}};
  const Eigen::MatrixXd R = out.bodies.Rt.to_dense();
  out.matrix = reduce_dense(R * R.transpose(), out.bodies.u_free, out.bodies.mu);
  out.matrix.offset = out.bodies.offset;
  return out;
}

TEST(MatrixSpace, IsUsedWhereItCostsLess) {
  Random random(31);
  const TwoWays many = wall(40, random), few = wall(3, random);
  RSpace space;
  space.bind(many.matrix, true);
  EXPECT_TRUE(space.on_matrix());
  space.bind(many.matrix);
  EXPECT_FALSE(space.on_matrix());
  EXPECT_EQ(few.matrix.delassus.groups(), 0);
  const ReducedProblem dense = reduce_dense(Eigen::MatrixXd::Identity(90, 90) + Eigen::MatrixXd::Ones(90, 90), Eigen::VectorXd::Ones(90),
                                            Eigen::VectorXd::Constant(30, 0.5));
  EXPECT_EQ(dense.delassus.groups(), 30);
  space.bind(dense, true);
  EXPECT_FALSE(space.on_matrix());
}

// du = W (I + D W)⁻¹ dλ = R (I + Rᵀ D R)⁻¹ Rᵀ dλ, and the determinants are equal, also where D is not monotone.
TEST(MatrixSpace, AnswersAsTheSpaceOfTheBodies) {
  Random random(32);
  for (int trial = 0; trial < 20; ++trial) {
    const TwoWays problem = wall(24, random);
    const int n = problem.bodies.contacts();
    GrowVector D(9 * n), none(0);
    for (int i = 0; i < n; ++i) {
      const double size = std::pow(10.0, test_scenes::uniform(random, -4.0, 4.0)), twist = trial % 2 == 0 ? 0.3 : 3.0;
      for (int k = 0; k < 9; ++k) D[9 * i + k] = size * (k % 4 == 0 ? 1.0 : twist * test_scenes::uniform(random, -0.5, 0.5));
    }
    GrowVector lambda(3 * n), du[2];
    for (int k = 0; k < 3 * n; ++k) lambda[k] = test_scenes::normal(random);
    bool positive[2];
    const ReducedProblem* const sides[] = {&problem.bodies, &problem.matrix};
    for (int side = 0; side < 2; ++side) {
      RSpace space;
      space.bind(*sides[side], true);
      ASSERT_EQ(space.on_matrix(), side == 1);
      ASSERT_TRUE(space.factor(D, none));
      positive[side] = space.positive_determinant();
      GrowVector y(space.size()), w(0);
      space.gather(lambda, none, y);
      space.solve(y);
      du[side].resize(3 * n);
      space.velocities(y, du[side], w);
    }
    EXPECT_EQ(positive[0], positive[1]) << trial;
    EXPECT_LT((du[0] - du[1]).norm(), 1e-6 * du[0].norm()) << trial;
  }
}

ReducedProblem robot(int contacts, int rows, int freedom, Random& random) {
  const auto draw = [&](int count) {
    return Eigen::MatrixXd::NullaryExpr(count, freedom, [&] { return test_scenes::normal(random); }).eval();
  };
  ReducedProblem out;
  out.Rt = BlockRows::from_dense(3, draw(3 * contacts), std::span(&freedom, 1));
  out.Bt = BlockRows::from_dense(1, draw(rows), std::span(&freedom, 1));
  return out;
}

// A (I + Aᵀ D A)⁻¹ Aᵀ x by Eigen's LU, A = (R, B), D of contacts then of rows.
Eigen::VectorXd reference_answer(const ReducedProblem& p, const GrowVector& D, const GrowVector& d, const Eigen::VectorXd& x) {
  Eigen::MatrixXd A(x.size(), p.Rt.cols());
  A << p.Rt.to_dense(), p.Bt.to_dense();
  Eigen::MatrixXd middle = Eigen::MatrixXd::Zero(x.size(), x.size());
  for (int i = 0; i < p.contacts(); ++i)
    middle.block<3, 3>(3 * i, 3 * i) = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(D.data() + 9 * i);
  middle.diagonal().tail(d.size()) = d;
  const Eigen::MatrixXd left = Eigen::MatrixXd::Identity(A.cols(), A.cols()) + A.transpose() * middle * A;
  return A * left.partialPivLu().solve(A.transpose() * x);
}

void expect_reference(RSpace& space, const ReducedProblem& p, const GrowVector& D, const GrowVector& d, const Eigen::VectorXd& x) {
  const GrowVector lambda = x.head(3 * p.contacts()), beta = x.tail(d.size());
  ASSERT_TRUE(space.factor(D, d));
  GrowVector y(space.size()), du(lambda.size()), dw(beta.size());
  space.gather(lambda, beta, y);
  space.solve(y);
  space.velocities(y, du, dw);
  Eigen::VectorXd out(x.size());
  out << du, dw;
  EXPECT_LT((out - reference_answer(p, D, d, x)).norm(), 1e-12 * out.norm());
}

TEST(MatrixSpace, OfOneRobotOnFewContactsAndRows) {
  struct Case {
    int contacts, rows;
  };
  Random random(35);
  RSpace space;
  for (const Case c : {Case{4, 0}, {6, 0}, {9, 0}, {4, 0}, {4, 0}, {4, 5}, {4, 6}, {0, 3}, {1, 1}}) {  // 18 rows: as many as freedoms
    SCOPED_TRACE(testing::Message() << c.contacts << " contacts, " << c.rows << " rows");
    const ReducedProblem p = robot(c.contacts, c.rows, 18, random);
    GrowVector D(9 * c.contacts), d(c.rows);
    for (int k = 0; k < D.size(); ++k) D[k] = k % 4 == 0 ? 2.0 : 0.1 * (k % 9);
    for (int k = 0; k < d.size(); ++k) d[k] = 0.5 * k;
    const Eigen::VectorXd x = Eigen::VectorXd::NullaryExpr(3 * c.contacts + c.rows, [&] { return test_scenes::normal(random); });
    space.bind(p, true);
    EXPECT_EQ(space.on_matrix(), 3 * c.contacts + c.rows < 18);
    for (const bool again : {false, true}) {
      SCOPED_TRACE(again);
      expect_reference(space, p, D, d, x);
    }
    (c.contacts > 0 ? D : d)[0] = 7.0;
    expect_reference(space, p, D, d, x);
  }
}

// Coulomb's motion of a wall need not be unique (two points of the last, both exact to 1e-15, are 6e-7 m/s apart), that of the relaxation
// is.
TEST(MatrixSpace, SolvesWallsAsTheSpaceOfTheBodies) {
  Random random(33);
  for (const int boxes : {12, 30, 50}) {
    TwoWays problem = wall(boxes, random);
    for (const bool relaxed : {false, true}) {
      ConeOptions options;
      options.relaxed = relaxed;
      ConeWorkspace workspace;
      ConeSolution by_matrix, by_bodies;
      solve_cone(problem.matrix, options, workspace, by_matrix);
      solve_cone(problem.bodies, options, workspace, by_bodies);
      ASSERT_EQ(by_matrix.status, Status::solved) << boxes;
      ASSERT_EQ(by_bodies.status, Status::solved) << boxes;
      EXPECT_LE(cone_testing::natural_map(problem.bodies, 0, relaxed, by_matrix.lambda, by_matrix.beta), 1e-9) << boxes;
      EXPECT_LE(cone_testing::natural_map(problem.matrix, 0, relaxed, by_bodies.lambda, by_bodies.beta), 1e-9) << boxes;
      if (!relaxed) continue;
      const Eigen::MatrixXd R = problem.bodies.Rt.to_dense();
      EXPECT_LT((R * (R.transpose() * (by_matrix.lambda - by_bodies.lambda))).norm(), 1e-7) << boxes;
    }
  }
}

TEST(MatrixSpace, SolvesTheRelaxationAndPolygons) {
  Random random(34);
  TwoWays problem = wall(30, random);
  for (const bool relaxed : {false, true}) {
    ConeOptions options;
    options.edges = 4;
    options.relaxed = relaxed;
    ConeWorkspace workspace;
    ConeSolution solution;
    solve_cone(problem.matrix, options, workspace, solution);
    EXPECT_EQ(solution.status, Status::solved) << relaxed;
    EXPECT_LE(cone_testing::natural_map(problem.bodies, options.edges, relaxed, solution.lambda, solution.beta), 1e-9) << relaxed;
  }
}

}  // namespace
}  // namespace stiction::matrix_space_test
