// Round trip under Coulomb's laws, where a forward problem may have several solutions: the torques of the inverse are applied, the forward
// problem is solved on its own, and the two answers are compared.
//
// - The inverse's point is a solution of the forward problem: its certificate there says so.
// - Where the motion is certified unique, the forward solve must return it, and its impulses.
// - Where it returns another one, both are certified: that shows that the motion is not unique. Anything between is a failure.
// Two certificates of uniqueness, neither of them from the product's solvers of the law but of its data alone:
//   few contacts   for two solutions Δλ·GΔλ <= Σ μ_i |Δλ_N,i| |(GΔλ)_T,i| [De Saxcé's term is all that is not monotone], so one motion if
//                  Δλ·GΔλ - Σ μ_i Δλ_N,i d_i·(GΔλ)_T,i > 0 for all |d_i| <= 1: linear in every d_i, so the vertices of an octagon around
//                  the disc decide. Disc and polygon alike; ξ of `moreau` shifts u alone.
//   polygon        every basic solution of the LCP, found by enumeration, moves alike.
#include <cstdio>
#include <numbers>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include "stiction/inverse/inverse_dynamics.hpp"
#include "stiction/problem/indeterminacy.hpp"
#include "tests/robot_scenes.hpp"

namespace stiction::coulomb_round_trip_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using robot_scenes::kRobots;
using robot_scenes::RobotCase;
using robot_scenes::Scene;
using robot_scenes::with;

constexpr double kSame = 1e-8, kOther = 1e-5;  // rad/s or m/s: one motion, two motions

bool is_monotone(const ReducedProblem& p) {
  constexpr int kVertices = 8;
  const MatrixXd R = p.Rt.to_dense(), G = R * R.transpose();
  int choices = 1;
  for (int i = 0; i < p.contacts(); ++i) choices *= kVertices;
  for (int c = 0; c < choices; ++c) {
    MatrixXd form = G;
    for (int i = 0, rest = c; i < p.contacts(); ++i, rest /= kVertices) {
      const double angle = 2.0 * std::numbers::pi * (rest % kVertices) / kVertices,
                   radius = p.mu[i] / std::cos(std::numbers::pi / kVertices);
      const VectorXd g = 0.5 * radius * (std::cos(angle) * G.col(3 * i + 1) + std::sin(angle) * G.col(3 * i + 2));
      form.row(3 * i) -= g.transpose();
      form.col(3 * i) -= g;
    }
    const double least = Eigen::SelfAdjointEigenSolver<MatrixXd>(form, Eigen::EigenvaluesOnly).eigenvalues()[0];
    if (!(least > 1e-9 * G.trace())) return false;  // rounding
  }
  return true;
}

enum class Motions { one, several, unknown };

Motions enumerated_motions(const ReducedProblem& p, const SolveOptions& options) {
  PyramidLcpWorkspace lcp;
  EnumerateWorkspace workspace;
  LcpSolutions all;
  build_pyramid_lcp(p, options.edges, lcp);
  enumerate(lcp.M, lcp.q, {}, workspace, all);
  if (!all.complete || all.count == 0) return Motions::unknown;
  const Index forces = lcp.directions.cols();
  for (int k = 1; k < all.count; ++k) {
    const double apart = (lcp.directions * (all.z(k) - all.z(0)).head(forces)).norm();
    if (apart > 1e-7 * (1.0 + (lcp.directions * all.z(0).head(forces)).norm())) return Motions::several;
  }
  return Motions::one;
}

Motions motions(const ContactProblem& problem, const SolveOptions& options, Reduction& reduction) {
  constexpr int kMost = 3;  // 8³ matrices; 6 · 2 variables of the LCP
  reduce(problem, reduction);
  if (problem.contacts() > kMost) return Motions::unknown;
  if (is_monotone(reduction.reduced)) return Motions::one;
  if (options.law != Law::coulomb_pyramid || options.align_edges || problem.contacts() == kMost) return Motions::unknown;
  return enumerated_motions(reduction.reduced, options);
}

struct Tally {
  int tried = 0, unsolved = 0, replaced = 0, unique = 0, several = 0, agree = 0, other = 0;
};

/// A request under one law: inverse, then forward on its own.
void go_round(const Scene& scene, const SolveOptions& contact, const std::string& name, Tally& tally) {
  InverseOptions options;
  options.contact = contact;
  const InverseSolution inverse = inverse_dynamics(scene.problem, scene.joints, scene.desired, {}, options);
  if (inverse.impulses.norm() == 0.0) return;  // free flight
  ++tally.tried;
  if (inverse.repaired) ++tally.replaced;  // it jams the joints: docs/laws.md
  if (inverse.status != Status::solved) {
    ++tally.unsolved;
    return;
  }
  const ContactProblem problem = scene.with_torques(inverse.tau);
  const Certificate c = certify(problem, lowered(problem, contact), inverse.v, inverse.impulses, VectorXd(0), VectorXd(0));
  EXPECT_LT(c.worst(), 1e-9) << name;

  const Solution forward = solve(problem, contact);
  ASSERT_EQ(forward.status, Status::solved) << name << " worst " << forward.certificate.worst();
  Reduction reduction;
  const Motions known = motions(problem, contact, reduction);
  const double apart = (forward.v - inverse.v).cwiseAbs().maxCoeff();
  if (known == Motions::one) {
    ++tally.unique;
    EXPECT_LT(apart, kSame) << name;
  }
  if (known == Motions::several) ++tally.several;
  EXPECT_TRUE(apart < kSame || apart > kOther) << name << " apart " << apart;
  if (apart >= kSame) {
    ++tally.other;
    return;
  }
  ++tally.agree;
  const Indeterminacy open =
      indeterminacy(reduction.reduced, lowered(reduction.reduced, contact), forward.impulses, forward.bounded_impulses);
  if (open.dimension == 0) {
    EXPECT_LT((forward.impulses - inverse.impulses).cwiseAbs().maxCoeff(), kSame * std::max(1.0, inverse.impulses.norm())) << name;
  }
}

std::vector<SolveOptions> coulombs_laws() {
  SolveOptions turned = with(Law::coulomb_pyramid);
  turned.align_edges = true;
  turned.variant = PyramidVariant::anitescu_potra;
  return {with(Law::coulomb_pyramid), with(Law::coulomb_cone), with(Law::moreau), turned};
}

Tally go_round(const std::vector<int>& contacts, const std::vector<double>& frictions, unsigned seeds) {
  Tally tally;
  for (const RobotCase& robot : kRobots) {
    for (const int n : contacts) {
      for (unsigned seed = 0; seed < seeds; ++seed) {
        Scene scene(robot, n, 200 + static_cast<unsigned>(n) + 1000 * seed);
        for (const double mu : frictions) {
          scene.problem.mu.setConstant(mu);
          for (const SolveOptions& contact : coulombs_laws()) {
            const std::string name = fmt::format("{}, n {}, seed {}, mu {}, {}", robot.name, n, seed, mu, to_string(contact.law));
            go_round(scene, contact, name, tally);
          }
        }
      }
    }
  }
  return tally;
}

void report(const Tally& t) {
  const std::string text =
      fmt::format("{} requests: {} unsolved, {} replaced, {} certified unique, {} certified not unique; {} agree, {} other solutions",
                  t.tried, t.unsolved, t.replaced, t.unique, t.several, t.agree, t.other);
  testing::Test::RecordProperty("tally", text);
  std::printf("%s\n", text.c_str());
}

TEST(CoulombRoundTrip, FewContactsAgreeWhereTheMotionIsCertifiedUnique) {
  const Tally t = go_round({1, 2, 3}, {0.1, 0.3, 0.6}, 10);
  report(t);
  EXPECT_GT(t.tried, 400);
  EXPECT_EQ(t.unsolved, 0);
  EXPECT_GE(t.unique, t.tried * 2 / 3);
  EXPECT_GE(t.several, 1);
}

TEST(CoulombRoundTrip, ManyContactsAgreeOrShowASecondSolution) {
  const Tally t = go_round({4, 8, 16, 40}, {0.1, 0.6}, 5);
  report(t);
  EXPECT_GT(t.tried, 100);
  EXPECT_EQ(t.unsolved, 0);
  EXPECT_GE(t.agree, t.tried * 4 / 5);
}

}  // namespace
}  // namespace stiction::coulomb_round_trip_test
