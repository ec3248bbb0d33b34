// The LCPs of ../shared/data/lcp (Siconos' test data): each is solved, or proved unsolvable, or left open; never wrong.
// The matrices stand column by column: read so, the textbook examples have their textbook solutions.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "stiction/programs/lcp/decide_lcp.hpp"
#include "stiction/programs/lcp/lcp_testing.hpp"
#include "test_paths.hpp"

namespace stiction::lcp_files_test {
namespace {

using lcp_testing::all_solutions;
using lcp_testing::distance_to;
using lcp_testing::Lcp;
using lcp_testing::violation;

const std::filesystem::path kFolder = STICTION_SOURCE_DIR "/../shared/data/lcp";

/// n; storage kind (0, dense); rows and columns, twice; the entries of M; q.
Lcp read(const std::filesystem::path& path) {
  std::ifstream in(path);
  int n = 0, storage = -1, size = 0;
  in >> n >> storage >> size >> size >> size >> size;
  EXPECT_TRUE(in.good() && storage == 0 && size == n) << path;
  Lcp lcp{Eigen::MatrixXd(n, n), Eigen::VectorXd(n)};
  for (Eigen::Index i = 0; i < lcp.M.size(); ++i) in >> lcp.M.data()[i];
  for (Eigen::Index i = 0; i < n; ++i) in >> lcp.q[i];
  EXPECT_FALSE(in.fail()) << path;
  return lcp;
}

LcpSolution solve(const Lcp& lcp) {
  LemkeWorkspace workspace;
  LcpSolution solution;
  lemke(lcp.M, lcp.q, {}, workspace, solution);
  return solution;
}

TEST(LcpFiles, LemkeSolvesOrProvesOrEndsOnARayThatProvesNothing) {
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "no folder " << kFolder;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".dat") continue;
    const Lcp lcp = read(entry.path());
    for (const Lcp& problem : {lcp, Lcp{lcp.M.transpose(), lcp.q}}) {
      const LcpSolution s = solve(problem);
      if (s.status == Status::solved) {
        EXPECT_LT(violation(problem, s.z), 1e-9 * problem.q.lpNorm<Eigen::Infinity>()) << entry.path();
      } else {
        EXPECT_EQ(s.status, Status::ray_termination) << entry.path();
      }
      if (problem.q.size() > 12) continue;
      const int count = all_solutions(problem).count;
      EXPECT_TRUE(s.status != Status::solved || count != 0) << entry.path();
      EXPECT_TRUE(!s.infeasible || count == 0) << entry.path();
    }
  }
}

/// Decided files as they stand and transposed (some readers take them row by row): solved with a checked z, or without any solution, which
/// enumeration and, where there is one, the ray confirm.
TEST(LcpFiles, EveryProblemIsDecided) {
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "no folder " << kFolder;
  int files = 0, solved = 0, unsolvable = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".dat") continue;
    ++files;
    const Lcp lcp = read(entry.path());
    for (const bool transposed : {false, true}) {
      const Lcp problem = transposed ? Lcp{lcp.M.transpose(), lcp.q} : lcp;
      DecideLcpWorkspace workspace;
      LcpSolution s;
      decide_lcp(problem.M, problem.q, {}, workspace, s);
      const bool small = problem.q.size() <= 12;
      const int count = small ? all_solutions(problem).count : -1;
      if (s.status == Status::solved) {
        EXPECT_LT(violation(problem, s.z), 1e-9 * problem.q.lpNorm<Eigen::Infinity>()) << entry.path();
        EXPECT_NE(count, 0) << entry.path();
      } else {
        EXPECT_EQ(s.status, Status::infeasible) << entry.path();
        EXPECT_TRUE(count == 0 || (!small && s.infeasible)) << entry.path() << " " << count;
        EXPECT_TRUE(!s.infeasible || is_farkas_ray(problem.M, problem.q, s.ray)) << entry.path();
      }
      if (transposed) continue;
      solved += s.status == Status::solved;
      unsolvable += s.status == Status::infeasible;
    }
  }
  EXPECT_GE(files, 12);
  EXPECT_EQ(solved + unsolvable, files);
}

TEST(LcpFiles, TextbookSolutions) {
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "no folder " << kFolder;
  const auto expect = [](const char* name, const Eigen::VectorXd& z) {
    const Lcp lcp = read(kFolder / name);
    EXPECT_LT((solve(lcp).z - z).norm(), 1e-12 * z.norm()) << name;
    EXPECT_LT(distance_to(all_solutions(lcp), z), 1e-12 * z.norm()) << name;
  };
  expect("lcp_CPS_2.dat", Eigen::Vector3d(0, 1, 3));
  expect("lcp_CPS_4.dat", Eigen::Vector4d(2, 2, 2, 92));
  expect("lcp_CPS_5.dat", Eigen::Vector2d(0, 1));
  expect("lcp_Pang_isolated_sol.dat", Eigen::Vector3d(1, 0, 0));
  expect("lcp_inf_sol_perturbed.dat", Eigen::Vector3d(1, 0, 1e-4));
  expect("lcp_deudeu.dat", Eigen::Vector2d(4.0 / 3.0, 7.0 / 3.0));
  // The bimatrix game ends Lemke's path on a ray that proves nothing; its equilibria are found by enumeration.
  const Lcp game = read(kFolder / "lcp_CPS_3.dat");
  EXPECT_EQ(solve(game).status, Status::ray_termination);
  DecideLcpWorkspace workspace;
  LcpSolution s;
  decide_lcp(game.M, game.q, {}, workspace, s);
  EXPECT_EQ(s.status, Status::solved);
  EXPECT_EQ(all_solutions(game).count, 3);
  expect("lcp_trivial.dat", Eigen::VectorXd::LinSpaced(9, 1, 9).cwiseInverse());
}

}  // namespace
}  // namespace stiction::lcp_files_test
