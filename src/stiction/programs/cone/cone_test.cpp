// Closed forms, enumeration of the LCP's patterns, residuals computed here from the definition, degenerate data.
#include "stiction/programs/cone/cone.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include <gtest/gtest.h>
#include <Eigen/LU>
#include <Eigen/SVD>

#include "stiction/base/errors.hpp"
#include "stiction/programs/cone/cone_testing.hpp"

namespace stiction::cone_test {
namespace {

using namespace cone_testing;
using cone_testing::kLaws, cone_testing::Law;  // not those of problems
using test_scenes::Random;

// A box of 1 kg on four points of a plane inclined along `direction` by `slope`, after a step of gravity of length h from `velocity`.
ReducedProblem box_on_incline(double slope, double direction, double mu, const Eigen::Vector3d& velocity, double h = 0.01) {
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(6, 6), J(12, 6);
  M.diagonal() << 1, 1, 1, 0.01, 0.01, 0.01;
  int row = 0;
  for (double x : {-0.1, 0.1}) {
    for (double y : {-0.1, 0.1}) {
      J.middleRows<3>(row) = test_scenes::upright_rows({x, y, -0.02});
      row += 3;
    }
  }
  Eigen::VectorXd v = Eigen::VectorXd::Zero(6);
  v.head<3>() =
      velocity + 9.81 * h * Eigen::Vector3d(std::sin(slope) * std::cos(direction), std::sin(slope) * std::sin(direction), -std::cos(slope));
  return test_scenes::reduced_problem(M, J, v, Eigen::VectorXd::Constant(4, mu), {6});
}

TEST(ConeAnalytic, BoxOnInclineSticksWithoutCreep) {
  for (double direction : {0.0, 0.3, 1.0, 2.5}) {
    const ReducedProblem problem = box_on_incline(0.3, direction, 0.5, Eigen::Vector3d::Zero());
    for (Law law : kLaws) {
      const ConeSolution solution = solve(problem, law);
      expect_solved(problem, law, solution);
      EXPECT_LE(velocities(problem, solution).lpNorm<Eigen::Infinity>(), 1e-13);
      double normal = 0.0;
      for (int i = 0; i < 4; ++i) normal += solution.lambda[3 * i];
      EXPECT_NEAR(normal, 9.81 * 0.01 * std::cos(0.3), 1e-12);
    }
  }
}

TEST(ConeAnalytic, BoxOnInclineSlidesWithCoulombFrictionInEveryDirection) {
  const double slope = 0.6, mu = 0.4;
  for (double direction : {0.0, 0.3, 1.0, 2.5, 4.0}) {
    const ReducedProblem problem = box_on_incline(slope, direction, mu, Eigen::Vector3d::Zero());
    const ConeSolution solution = solve(problem, Law::disc);
    expect_solved(problem, Law::disc, solution);
    const Eigen::VectorXd u = velocities(problem, solution);
    const double speed = 9.81 * 0.01 * (std::sin(slope) - mu * std::cos(slope));
    for (int i = 0; i < 4; ++i) {
      EXPECT_NEAR(u[3 * i], 0.0, 1e-12);
      EXPECT_NEAR(u[3 * i + 1], speed * std::cos(direction), 1e-12);
      EXPECT_NEAR(u[3 * i + 2], speed * std::sin(direction), 1e-12);
    }
  }
}

TEST(ConeAnalytic, PyramidWithVertexAgainstSlipIsCoulomb) {
  const ReducedProblem problem = box_on_incline(0.6, 0.0, 0.4, Eigen::Vector3d::Zero());
  const ConeSolution solution = solve(problem, Law::pyramid);
  expect_solved(problem, Law::pyramid, solution);
  EXPECT_NEAR(velocities(problem, solution)[1], 9.81 * 0.01 * (std::sin(0.6) - 0.4 * std::cos(0.6)), 1e-12);
}

TEST(ConeAnalytic, SlidingDecelerationIsIsotropicForTheDisc) {
  for (int k = 0; k < 12; ++k) {
    const double direction = 0.1 + k * std::numbers::pi / 6;
    const Eigen::Vector3d velocity(2.0 * std::cos(direction), 2.0 * std::sin(direction), 0.0);
    const ReducedProblem problem = box_on_incline(0.0, 0.0, 0.3, velocity);
    const ConeSolution solution = solve(problem, Law::disc);
    expect_solved(problem, Law::disc, solution);
    double forward = 0.0, across = 0.0;
    for (int i = 0; i < 4; ++i) {
      forward += std::cos(direction) * solution.lambda[3 * i + 1] + std::sin(direction) * solution.lambda[3 * i + 2];
      across += -std::sin(direction) * solution.lambda[3 * i + 1] + std::cos(direction) * solution.lambda[3 * i + 2];
    }
    EXPECT_NEAR(forward, -0.3 * 9.81 * 0.01, 1e-12);
    EXPECT_NEAR(across, 0.0, 1e-12);
  }
}

TEST(ConeAnalytic, OpenGapMayCloseAndNoFurther) {
  ReducedProblem problem = box_on_incline(0.0, 0.0, 0.5, Eigen::Vector3d(0, 0, -1));
  problem.offset.setConstant(0.4);
  for (Law law : kLaws) {
    const ConeSolution solution = solve(problem, law);
    expect_solved(problem, law, solution);
    EXPECT_NEAR(velocities(problem, solution)[0], -0.4, 1e-12);
  }
  problem.offset.setConstant(2.0);
  for (Law law : kLaws) EXPECT_EQ(solve(problem, law).lambda.norm(), 0.0);
}

TEST(ConeAnalytic, NoFrictionAndInfiniteFriction) {
  ReducedProblem problem = box_on_incline(0.5, 0.7, 0.0, Eigen::Vector3d(0.3, -0.2, 0.0));
  for (Law law : kLaws) {
    const ConeSolution solution = solve(problem, law);
    expect_solved(problem, law, solution);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(solution.lambda.segment<2>(3 * i + 1).norm(), 0.0);
  }
  problem.mu.setConstant(kInfinity);
  for (Law law : kLaws) {
    const ConeSolution solution = solve(problem, law);
    EXPECT_EQ(solution.status, Status::solved);
    for (int i = 0; i < 4; ++i) {
      EXPECT_GE(solution.lambda[3 * i], 0.0);
      EXPECT_LE(velocities(problem, solution).segment<2>(3 * i + 1).norm(), 1e-12);
    }
  }
  problem.u_free += Eigen::Vector3d(5.0, 0.0, 0.0).replicate(4, 1);  // lifts off: nothing holds the tangents
  EXPECT_EQ(solve(problem, Law::disc).lambda.norm(), 0.0);
  EXPECT_EQ(solve(problem, Law::disc).status, Status::solved);
}

// All solutions of the Coulomb pyramid LCP with one or two contacts by trying every pattern: open, stick, each edge, each vertex.
std::vector<Eigen::VectorXd> enumerate_velocities(const ReducedProblem& problem) {
  const int n = problem.contacts();
  const Eigen::MatrixXd Rt = problem.Rt.to_dense(), G = Rt * Rt.transpose();
  std::vector<Eigen::VectorXd> found;
  const int patterns = 10;
  int total = 1;
  for (int i = 0; i < n; ++i) total *= patterns;
  for (int code = 0; code < total; ++code) {
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(3 * n, 3 * n);  // rows P u + Q λ = rhs with u = G λ + u_free
    Eigen::VectorXd rhs = Eigen::VectorXd::Zero(3 * n);
    for (int i = 0, rest = code; i < n; ++i, rest /= patterns) {
      const int pattern = rest % patterns, row = 3 * i;
      const double mu = problem.mu[i];
      const auto impulse = [&](int r, const Eigen::RowVector3d& c) { A.block<1, 3>(row + r, row) += c; };
      const auto velocity = [&](int r, const Eigen::RowVector3d& c, double value) {
        A.row(row + r) += c * G.middleRows<3>(row);
        rhs[row + r] += value - c.dot(problem.u_free.segment<3>(row));
      };
      if (pattern == 0) {
        for (int r = 0; r < 3; ++r) impulse(r, Eigen::RowVector3d::Unit(r));
        continue;
      }
      velocity(0, {1, 0, 0}, -problem.offset[i]);
      if (pattern == 1) {
        velocity(1, {0, 1, 0}, 0);
        velocity(2, {0, 0, 1}, 0);
      } else if (pattern < 6) {  // vertex j
        const double angle = std::numbers::pi / 2 * (pattern - 2);
        impulse(1, {mu * std::cos(angle), -1, 0});
        impulse(2, {mu * std::sin(angle), 0, -1});
      } else {  // edge between vertices j and j + 1
        const double angle = std::numbers::pi / 2 * (pattern - 6) + std::numbers::pi / 4;
        impulse(1, {mu * std::sqrt(0.5), -std::cos(angle), -std::sin(angle)});
        velocity(2, {0, -std::sin(angle), std::cos(angle)}, 0);
      }
    }
    const Eigen::FullPivLU<Eigen::MatrixXd> lu(A);
    if (!lu.isInvertible()) continue;
    ConeSolution candidate;
    candidate.lambda = lu.solve(rhs);
    if (violation(problem, Law::pyramid, candidate) < 1e-9) found.push_back(velocities(problem, candidate));
  }
  return found;
}

TEST(ConeEnumeration, PyramidSolutionsAreAmongTheEnumerated) {
  Random random(1);
  int compared = 0;
  for (int k = 0; k < 200; ++k) {
    ReducedProblem problem = test_scenes::random_problem(1 + k % 2, 6 + k % 3, random);
    for (int i = 0; i < problem.contacts(); ++i) problem.offset[i] = test_scenes::uniform(random, -0.5, 0.5);
    const ConeSolution solution = solve(problem, Law::pyramid);
    expect_solved(problem, Law::pyramid, solution);
    const std::vector<Eigen::VectorXd> all = enumerate_velocities(problem);
    ASSERT_FALSE(all.empty());
    const Eigen::VectorXd u = velocities(problem, solution);
    double nearest = kInfinity;
    for (const Eigen::VectorXd& other : all) nearest = std::min(nearest, (u - other).lpNorm<Eigen::Infinity>());
    EXPECT_LE(nearest, 1e-8) << "problem " << k;
    ++compared;
  }
  EXPECT_EQ(compared, 200);
}

TEST(ConeRandom, EveryProblemIsSolvedUnderEveryLaw) {
  for (Law law : kLaws) {
    ConeWorkspace workspace;
    Random random(2);
    for (int k = 0; k < 1000; ++k) {
      const ReducedProblem problem = test_scenes::random_problem(1 + k % 10, 6 + 2 * (k % 4), random);
      expect_solved(problem, law, solve(problem, law, workspace));
    }
  }
}

TEST(ConeRandom, FlatFeetWithRedundantPoints) {
  for (Law law : kLaws) {
    ConeWorkspace workspace;
    Random random(3);
    for (int k = 0; k < 200; ++k) {
      const ReducedProblem problem = test_scenes::flat_feet(k % 2 == 0 ? 40 : 8, random);
      expect_solved(problem, law, solve(problem, law, workspace));
    }
  }
}

// Joints that are told to move as their log does from one configuration to the next ask points of the feet for velocities that no body has,
// and slip that small decides where friction points.
TEST(ConeRandom, FlatFeetWhosePointsCreep) {
  constexpr int kProblems = 200;
  for (const double creep : {1e-7, 1e-9}) {
    for (const int points : {4, 8}) {
      test_scenes::Random random(11);
      int systems = 0, longest = 0;
      for (int k = 0; k < kProblems; ++k) {
        ReducedProblem problem = test_scenes::flat_feet(points, random);
        for (double& u : problem.u_free) u += creep * test_scenes::normal(random);
        const ConeSolution solution = solve(problem, Law::disc);
        expect_solved(problem, Law::disc, solution);
        systems += solution.iterations;
        longest = std::max(longest, solution.iterations);
      }
      EXPECT_LT(systems, 40 * kProblems) << points << " points that creep at " << creep << " m/s";
      EXPECT_LT(longest, 300) << points << " points that creep at " << creep << " m/s";
    }
  }
}

TEST(ConeRandom, BrickWalls) {
  for (Law law : kLaws) {
    ConeWorkspace workspace;
    for (int boxes : {1, 3, 9, 16, 32}) {
      Random random(static_cast<unsigned>(boxes));
      for (int k = 0; k < 10; ++k) {
        const ReducedProblem problem = test_scenes::brick_wall(boxes, random, k % 2 == 0 ? 10.0 : 1000.0);
        expect_solved(problem, law, solve(problem, law, workspace));
      }
    }
  }
}

TEST(ConeRandom, ConvexRelaxationMinimisesItsObjective) {
  // No impulse of the cone has a lower ½ λᵀGλ + λᵀ(u_free + c).
  Random random(4);
  for (Law law : {Law::relaxed_disc, Law::relaxed_pyramid}) {
    for (int k = 0; k < 20; ++k) {
      const ReducedProblem problem = test_scenes::random_problem(4, 8, random);
      const ConeSolution solution = solve(problem, law);
      expect_solved(problem, law, solution);
      const Eigen::MatrixXd R = problem.Rt.to_dense().transpose();
      const auto objective = [&](const Eigen::VectorXd& lambda) { return 0.5 * (R * lambda).squaredNorm() + lambda.dot(problem.u_free); };
      const double best = objective(solution.lambda);
      for (int trial = 0; trial < 100; ++trial) {
        Eigen::VectorXd other = solution.lambda;
        for (int i = 0; i < 4; ++i) {
          const double normal = std::max(0.0, other[3 * i] + 0.1 * test_scenes::normal(random));
          const double angle = test_scenes::uniform(random, 0.0, 6.28),
                       radius = problem.mu[i] * normal * test_scenes::uniform(random, 0.0, 0.7);
          other.segment<3>(3 * i) << normal, radius * std::cos(angle), radius * std::sin(angle);
        }
        EXPECT_GE(objective(other), best - 1e-12);
      }
    }
  }
}

TEST(ConeDegenerate, DuplicatedContactsGiveTheSameVelocity) {
  Random random(5);
  for (Law law : kLaws) {
    for (int k = 0; k < 20; ++k) {
      const ReducedProblem once = box_on_incline(0.2 + 0.03 * k, 0.4 * k, 0.4, Eigen::Vector3d(0.05 * k, 0, 0));
      const Eigen::MatrixXd Rt = once.Rt.to_dense();
      ReducedProblem twice = once;
      twice.Rt = BlockRows::from_dense(3, (Eigen::MatrixXd(24, 6) << Rt, Rt).finished(), std::vector<int>{6});
      twice.u_free = (Eigen::VectorXd(24) << once.u_free, once.u_free).finished();
      twice.offset.setZero(8);
      twice.mu = (Eigen::VectorXd(8) << once.mu, once.mu).finished();
      const ConeSolution a = solve(once, law), b = solve(twice, law);
      expect_solved(once, law, a);
      expect_solved(twice, law, b);
      EXPECT_LE((velocities(once, a) - velocities(twice, b).head(12)).lpNorm<Eigen::Infinity>(), 1e-10);
    }
  }
}

TEST(ConeRandom, ManyFreedomsInOneBlockWithRowsThatEndInZeros) {
  Random random(13);
  for (int k = 0; k < 3; ++k) {
    ReducedProblem problem = test_scenes::random_problem(30, 75, random);
    Eigen::MatrixXd Rt = problem.Rt.to_dense();
    for (Eigen::Index i = 0; i < Rt.rows(); ++i) Rt.row(i).tail(std::max<Eigen::Index>(0, 75 - i - 1)).setZero();
    problem.Rt = BlockRows::from_dense(3, Rt, problem.Rt.block_sizes());
    for (Law law : kLaws) expect_solved(problem, law, solve(problem, law), 1e-8);
  }
}

TEST(ConeStacks, MassesOverThreeDecadesAreAllSolved) {
  // Their path of centres turns back on the way in one of ten.
  ConeWorkspace workspace;
  Random random(256);
  for (int k = 0; k < 8; ++k) {
    const ReducedProblem problem = test_scenes::brick_wall(64, random, 1000.0);
    for (Law law : {Law::disc, Law::pyramid}) EXPECT_EQ(solve(problem, law, workspace).status, Status::solved) << k;
  }
}

TEST(ConeStacks, WallsOfAThousandContactsAreSolved) {
  ConeWorkspace workspace;
  for (double ratio : {10.0, 1000.0}) {
    Random random(1024);
    const ReducedProblem problem = test_scenes::brick_wall(256, random, ratio);
    for (Law law : {Law::disc, Law::pyramid}) EXPECT_EQ(solve(problem, law, workspace).status, Status::solved) << ratio;
  }
}

TEST(ConeStacks, PathsThatTurnSharplyAndEndInDoubtAreSolved) {
  // Masses over 1000 : 1, about one wall in twenty: the step past a turn ends where no correction leads back, or contacts that carry next
  // to nothing send Newton off from a point that is exact to 1e-7.
  ConeWorkspace workspace;
  for (const auto& [seed, law] : {std::pair(47u, Law::disc), std::pair(38u, Law::pyramid), std::pair(42u, Law::pyramid)}) {
    Random random(seed);
    const ReducedProblem problem = test_scenes::brick_wall(256, random, 1000.0);
    EXPECT_EQ(solve(problem, law, workspace).status, Status::solved) << seed;
  }
}

TEST(ConeDegenerate, PermutedContactsGiveTheSameVelocity) {
  Random random(6);
  for (Law law : kLaws) {
    for (int k = 0; k < 20; ++k) {
      const ReducedProblem problem = test_scenes::brick_wall(3, random);
      const int n = problem.contacts();
      const Eigen::MatrixXd Rt = problem.Rt.to_dense();
      Eigen::MatrixXd reversed(3 * n, Rt.cols());
      ReducedProblem permuted = problem;
      for (int i = 0; i < n; ++i) {
        reversed.middleRows<3>(3 * i) = Rt.middleRows<3>(3 * (n - 1 - i));
        permuted.u_free.segment<3>(3 * i) = problem.u_free.segment<3>(3 * (n - 1 - i));
        permuted.mu[i] = problem.mu[n - 1 - i];
      }
      permuted.Rt = BlockRows::from_dense(3, reversed, problem.Rt.block_sizes());
      const Eigen::VectorXd u = velocities(problem, solve(problem, law)), w = velocities(permuted, solve(permuted, law));
      for (int i = 0; i < n; ++i) EXPECT_LE((u.segment<3>(3 * i) - w.segment<3>(3 * (n - 1 - i))).lpNorm<Eigen::Infinity>(), 1e-9);
    }
  }
}

TEST(ConeDegenerate, NothingToDo) {
  Random random(7);
  ReducedProblem still = test_scenes::flat_feet(8, random, 0.5);
  still.u_free.setZero();
  ReducedProblem apart = still;
  for (int i = 0; i < 8; ++i) apart.u_free[3 * i] = 1.0;
  ReducedProblem none = test_scenes::reduced_problem(Eigen::MatrixXd::Identity(6, 6), Eigen::MatrixXd(0, 6), Eigen::VectorXd::Zero(6),
                                                     Eigen::VectorXd(0), {6});
  for (Law law : kLaws) {
    for (const ReducedProblem* problem : {&still, &apart, &none}) {
      const ConeSolution solution = solve(*problem, law);
      EXPECT_EQ(solution.status, Status::solved);
      EXPECT_EQ(solution.lambda.norm(), 0.0);
    }
  }
}

TEST(ConeDegenerate, ContactThatNothingCanMove) {
  // Every joint prescribed: no freedom is left. Solvable only when the free velocity does not penetrate.
  ReducedProblem problem = test_scenes::reduced_problem(Eigen::MatrixXd::Identity(6, 6), Eigen::MatrixXd::Zero(3, 6),
                                                        Eigen::VectorXd::Zero(6), Eigen::VectorXd::Constant(1, 0.5), {6});
  problem.u_free << 0.5, 1.0, 0.0;
  for (Law law : kLaws) EXPECT_EQ(solve(problem, law).status, relaxed(law) && 0.5 < 0.5 * 1.0 ? Status::inaccurate : Status::solved);
  problem.u_free << -0.5, 0.0, 0.0;
  for (Law law : kLaws) {
    const ConeSolution solution = solve(problem, law);
    EXPECT_NE(solution.status, Status::solved);
    EXPECT_TRUE(solution.lambda.allFinite());
    EXPECT_NEAR(solution.natural_map, 0.5, 1e-9);
  }
}

TEST(ConeOptions, SameInputSameBits) {
  Random random(11);
  const ReducedProblem problem = test_scenes::brick_wall(9, random), other = test_scenes::brick_wall(3, random);
  for (Law law : kLaws) {
    ConeWorkspace workspace;
    const ConeSolution first = solve(problem, law, workspace);
    solve(other, law, workspace);
    const ConeSolution again = solve(problem, law, workspace);
    EXPECT_TRUE((first.lambda.array() == again.lambda.array()).all());
  }
}

}  // namespace
}  // namespace stiction::cone_test
