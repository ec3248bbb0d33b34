// Siconos' text files: small ones written here, and the collections beside the checkout where they are.
#include <filesystem>
#include <fstream>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include "stiction/base/errors.hpp"
#include "stiction/io/formats.hpp"
#include "test_paths.hpp"

namespace stiction::siconos_test {
namespace {

namespace fs = std::filesystem;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const fs::path kData = fs::path(STICTION_SOURCE_DIR) / "../shared/data";

MatrixXd delassus(const ReducedProblem& p) {
  MatrixXd W = p.Rt.to_dense() * p.Rt.to_dense().transpose();
  if (p.defect.size() > 0) W += p.defect;
  return W;
}

const char* const kDense = "3\n1\n0\n3\n3\n3 3\n4 1 0\n1 3 0\n0 0 2\n-1 0.5 0\n0.7\n1\n";

TEST(SiconosText, Dense) {
  const ReducedProblem p = parse_siconos("f", kDense);
  MatrixXd W(3, 3);
  W << 4, 1, 0, 1, 3, 0, 0, 0, 2;
  EXPECT_LT((delassus(p) - W).norm(), 1e-14);
  EXPECT_EQ(p.u_free, Eigen::Vector3d(-1, 0.5, 0));
  EXPECT_EQ(p.mu[0], 0.7);
  // Without the repeated size.
  EXPECT_LT((delassus(parse_siconos("f", "3 1 0 3 3  4 1 0 1 3 0 0 0 2  -1 0.5 0  0.7")) - W).norm(), 1e-14);
}

// The same two coupled contacts in the three storages. Blocks are column-major.
TEST(SiconosText, StoragesAgree) {
  const ReducedProblem dense = parse_siconos("f",
                                             "3 2 0 6 6 6 6\n"
                                             "9 1 0 2 0 0  1 8 0 0.5 0 0  0 0 7 0 0 0\n"
                                             "2 0.5 0 6 0 0  0 0 0 0 5 0  0 0 0 0 0 4\n"
                                             "1 2 3 4 5 6  0.1 0.2");
  const ReducedProblem blocks = parse_siconos("f",
                                              "3 2 1 6 6 4 2 2  3 6  3 6  3 4  0 2 4  0 1 0 1\n"
                                              "0  9 1 0 1 8 0 0 0 7\n"
                                              "1  2 0.5 0 0 0 0 0 0 0\n"
                                              "2  2 0 0 0.5 0 0 0 0 0\n"
                                              "3  6 0 0 0 5 0 0 0 4\n"
                                              "1 2 3 4 5 6  0.1 0.2");
  const ReducedProblem triplets =
      parse_siconos("f",
                    "3 2 2 6 6\n0\nCSparse Version 3.1.4, Feb 20.  Copyright\n"
                    "triplet: 6-by-6, nzmax: 14 nnz: 12\n"
                    "    0 0 : 9\n    0 1 : 1\n    1 0 : 1\n    1 1 : 8\n    2 2 : 7\n    0 3 : 2\n    3 0 : 2\n"
                    "    1 3 : 0.5\n    3 1 : 0.5\n    3 3 : 6\n    4 4 : 5\n    5 5 : 4\n"
                    "1 2 3 4 5 6  0.1 0.2");
  const ReducedProblem columns = parse_siconos("f",
                                               "3 2 2 6 6\n1\nCSparse Version 3.1.4, Feb 20.  Copyright\n"
                                               "6-by-6, nzmax: 12 nnz: 12, 1-norm: 12\n"
                                               "    col 0 : locations 0 to 2\n      0 : 9\n      1 : 1\n      3 : 2\n"
                                               "    col 1 : locations 3 to 5\n      0 : 1\n      1 : 8\n      3 : 0.5\n"
                                               "    col 2 : locations 6 to 6\n      2 : 7\n"
                                               "    col 3 : locations 7 to 9\n      0 : 2\n      1 : 0.5\n      3 : 6\n"
                                               "    col 4 : locations 10 to 10\n      4 : 5\n"
                                               "    col 5 : locations 11 to 11\n      5 : 4\n"
                                               "1 2 3 4 5 6  0.1 0.2");
  for (const ReducedProblem* p : {&blocks, &triplets, &columns}) {
    EXPECT_LT((delassus(*p) - delassus(dense)).norm(), 1e-14);
    EXPECT_EQ(p->u_free, dense.u_free);
    EXPECT_EQ(p->mu, dense.mu);
  }
  EXPECT_NEAR(delassus(dense)(1, 3), 0.5, 1e-14);
}

// A ball of 2 kg that slides on a plane, M v = H r + q, u = Hᵀ v + b, with six and with three coordinates (then M is as large as a W).
TEST(SiconosText, GlobalProblems) {
  const std::string ball = "3 1 0 6 6 6 6  2 0 0 0 0 0  0 2 0 0 0 0  0 0 2 0 0 0  0 0 0 1 0 0  0 0 0 0 1 0  0 0 0 0 0 1\n";
  const std::string ball_rows = "0 6 3 6 3  1 0 0 0 0 0  0 1 0 0 0 0.5  0 0 1 0 -0.5 0\n -2 6 0 0 0 0  0 0 0.25  0.4";
  const ReducedProblem p = parse_siconos("f", ball + ball_rows);
  MatrixXd H = MatrixXd::Zero(6, 3);
  H(0, 0) = H(1, 1) = H(2, 2) = 1.0;
  H(5, 1) = 0.5;
  H(4, 2) = -0.5;
  const VectorXd inverse_inertia = (VectorXd(6) << 0.5, 0.5, 0.5, 1, 1, 1).finished();
  EXPECT_LT((delassus(p) - H.transpose() * inverse_inertia.asDiagonal() * H).norm(), 1e-14);
  EXPECT_LT((p.u_free - Eigen::Vector3d(-1, 3, 0.25)).norm(), 1e-14);
  EXPECT_EQ(p.mu[0], 0.4);
  const ReducedProblem point = parse_siconos("f", "3 1 0 3 3 3 3 2 0 0 0 2 0 0 0 2  0 3 3 3 3 1 0 0 0 1 0 0 0 1  -2 6 0  0 0 0.25  0.4");
  EXPECT_LT((delassus(point) - 0.5 * MatrixXd::Identity(3, 3)).norm(), 1e-14);
  EXPECT_LT((point.u_free - Eigen::Vector3d(-1, 3, 0.25)).norm(), 1e-14);
  const ReducedProblem plane = parse_siconos("f", "2 1 0 3 3 3 3 2 0 0 0 2 0 0 0 1  0 3 2 3 2 1 0 0 0 1 0.5  -2 6 0  0 0  0.4");
  EXPECT_LT((plane.u_free - Eigen::Vector3d(-1, 3, 0)).norm(), 1e-14);
}

// Dense entries stand column by column, as their writer keeps them in memory.
TEST(SiconosText, AsymmetricWAsGivenOrItsSymmetricPart) {
  const char* const text = "3 1 0 3 3 3 3  4 0.98 0  1 3 0  0 0 2  -1 0.5 0  0.7";
  const MatrixXd given = delassus(parse_siconos("f", text));
  EXPECT_NEAR(given(1, 0), 0.98, 1e-14);
  EXPECT_NEAR(given(0, 1), 1.0, 1e-14);
  const ReducedProblem symmetric = parse_siconos("f", text, {.symmetric_part = true});
  EXPECT_EQ(symmetric.defect.size(), 0);
  EXPECT_NEAR(delassus(symmetric)(0, 1), 0.99, 1e-14);
  const char* const global = "2 1 0 3 3 3 3 2 0 0 0 2 0 0 0 1  0 3 2 3 2 1 0 0 0 1 0.5  -2 6 0  0 0  0.4";
  try {
    parse_siconos("f", global, {.symmetric_part = true});
    FAIL() << "read";
  } catch (const FileError& refused) {
    EXPECT_STREQ(refused.what(), "f: W: missing, and its symmetric part is asked for");
  }
}

TEST(SiconosText, PlaneProblemsGainATangentWithoutMotion) {
  const ReducedProblem p = parse_siconos("f", "2 2 0 4 4 4 4  2 1 0 0  1 3 0 0  0 0 4 0  0 0 0 5  1 2 3 4  0.1 0.2");
  ASSERT_EQ(p.contacts(), 2);
  const MatrixXd W = delassus(p);
  EXPECT_NEAR(W(0, 1), 1.0, 1e-15);
  EXPECT_NEAR(W(4, 4), 5.0, 1e-15);
  EXPECT_EQ(W.row(2).norm() + W.row(5).norm(), 0.0);
  EXPECT_EQ(p.u_free, (VectorXd(6) << 1, 2, 0, 3, 4, 0).finished());
}

struct BadText {
  const char *text, *says;
};
class TextErrors : public testing::TestWithParam<BadText> {};

TEST_P(TextErrors, SayTheLine) {
  try {
    parse_siconos("f", GetParam().text);
    FAIL() << "accepted";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(GetParam().says));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, TextErrors,
    testing::Values(BadText{"", "line 1: the file ends where the dimension"}, BadText{"4 1", "from 2 to 3, got 4"},
                    BadText{"3\nx", "line 2: expected the number of contacts"},
                    BadText{"3\n-1\n", "line 2: expected the number of contacts"}, BadText{"3\n2.5\n", "line 2"},
                    BadText{"3\n99999999999\n", "line 2: expected the number of contacts, an integer from 0 to"},
                    BadText{"3 1 7 3 3", "storage"}, BadText{"3 1 0 6 3", "an integer from 6 to 6, got 3"},
                    BadText{"3 1 0 2 2 2 2 1 0 0 1 0 3 3", "an integer from 2 to 2, got 3"},
                    BadText{"3\n1\n0\n3\n3\n3 3\n4 1 0\n1 3 0\n", "line 9: the file ends where an entry of the matrix"},
                    BadText{"3\n1\n0\n3\n3\n3 3\n4 1 0\n1 nan 0\n0 0 2\n-1 0.5 0\n0.7",
                            "line 8: expected an entry of the matrix, a finite number"},
                    BadText{"3\n1\n0\n3\n3\n3 3\n4 1 0\n1 3 0\n0 0 2\n-1 inf 0\n0.7", "line 10: expected an entry of q, a finite number"},
                    BadText{"3\n1\n0\n3\n3\n3 3\n4 1 0\n1 3 0\n0 0 2\n-1 0 0\n", "line 11: the file ends where a friction coefficient"},
                    BadText{"3\n1\n0\n3\n3\n3 3\n4 1 0\n1 3 0\n0 0 2\n-1 0 0\n-0.5", "mu[0]"},
                    BadText{"3\n1\n0\n3\n3\n3 3\n4 1 0\n1 3 0\n0 0 2\n-1 0 0\nnan", "mu[0]"},
                    BadText{"3 1 0 3 3 3 3  4 1 0 2 3 0 0 0 2 -1 0 0 0.5", "W: expected a symmetric matrix"},
                    BadText{"3 1 0 3 3 3 3  4 0 0 0 -3 0 0 0 2 -1 0 0 0.5", "W: expected a positive semidefinite matrix"},
                    BadText{"3 1 1 3 3 1 1 1 3 3 2 1 0 1 5 0", "index2"}, BadText{"3 1 1 3 3 1 1 1 2 3 2 1 0 1 0 0", "end at 2"},
                    BadText{"3 1 1 3 3 1 1 1 3 3 2 1 0 9 0 0", "index1"},
                    BadText{"3 1 1 3 3 1 1 1 3 3 2 1 0 1 0 0 1 2 3", "ends where an entry of a block"},
                    BadText{"3 1 2 3 3 0 nonsense", "expected 'CSparse'"},
                    BadText{"3 1 2 3 3 0 CSparse Version\n3-by-3, nzmax: 3 nnz: 999999999, 1-norm: 1", "too short"},
                    BadText{"3 1 2 3 3 0 CSparse Version\ntriplet: 3-by-3, nzmax: 3 nnz: 1\n 7 0 : 1", "expected a row"}));

TEST(SiconosText, DamagedFilesNeverCrash) {
  const std::string good = kDense;
  std::mt19937 random(5);
  int accepted = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text = good.substr(0, trial % 2 == 0 ? good.size() : random() % good.size());
    const char digits[] = "0123456789 \n-.ex";
    if (!text.empty()) text[random() % text.size()] = digits[random() % (sizeof(digits) - 1)];
    try {
      parse_siconos("f", text);
      ++accepted;
    } catch (const FileError&) {
    } catch (const InvalidArgument&) {
    }
  }
  EXPECT_GT(accepted, 100);
}

TEST(SiconosLcp, ReadsRemarksAndRefusesDamage) {
  const Lcp lcp = parse_siconos_lcp("f", "2\n0\n2\n2\n2\t2\n1 2\n3 4\n-1 -2\n\nRemark: 5 6\n");
  EXPECT_EQ(lcp.M, (Eigen::Matrix2d() << 1, 3, 2, 4).finished());  // column by column
  EXPECT_EQ(lcp.q, Eigen::Vector2d(-1, -2));
  EXPECT_THROW(parse_siconos_lcp("f", "2\n0\n2\n2\n2\t2\n1 2\n3 4\n-1\n"), FileError);
  EXPECT_THROW(parse_siconos_lcp("f", "2\n0\n2\n2\n2\t2\n1 nan\n3 4\n-1 1\n"), FileError);
  EXPECT_THROW(parse_siconos_lcp("f", "1000000000"), FileError);
}

std::vector<fs::path> files(const char* folder) {
  std::vector<fs::path> out;
  if (!fs::is_directory(kData / folder)) return out;
  for (const auto& entry : fs::directory_iterator(kData / folder)) out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

#define SKIP_WITHOUT(list) \
  if ((list).empty()) GTEST_SKIP() << "no files in " << kData

TEST(Collection, EveryFrictionContactProblemLoadsAndIsSemidefinite) {
  const auto list = files("fc3d");
  SKIP_WITHOUT(list);
  for (const fs::path& path : list) {
#ifndef STICTION_HDF5
    if (path.extension() == ".hdf5") continue;
#endif
    SCOPED_TRACE(path.filename().string());
    const ReducedProblem p = std::get<ReducedProblem>(load_problem(path));
    EXPECT_GT(p.contacts(), 0);
    const MatrixXd W = delassus(p);
    const double scale = W.diagonal().maxCoeff();
    EXPECT_GE(W.diagonal().minCoeff(), 0.0);
    EXPECT_LT(p.defect.size() == 0 ? 0.0 : p.defect.cwiseAbs().maxCoeff(), 2e-4 * scale);
    if (W.rows() > 400) continue;  // eigenvalues of large ones take long, and their factor is semidefinite anyway
    const MatrixXd symmetric = 0.5 * (W + W.transpose());
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatrixXd>(symmetric).eigenvalues()[0], -1e-6 * scale);
  }
}

TEST(Collection, SameProblemInTwoStorages) {
  const fs::path dense = kData / "fc3d/FC3D_Example1.dat", blocks = kData / "fc3d/FC3D_Example1_SBM.dat";
  if (!fs::exists(dense) || !fs::exists(blocks)) GTEST_SKIP() << "no files in " << kData;
  const ReducedProblem a = std::get<ReducedProblem>(load_problem(dense)), b = std::get<ReducedProblem>(load_problem(blocks));
  EXPECT_LT((delassus(a) - delassus(b)).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_EQ(a.u_free, b.u_free);
  EXPECT_EQ(a.mu, b.mu);
}

TEST(Collection, EveryLcpLoads) {
  const auto list = files("lcp");
  SKIP_WITHOUT(list);
  for (const fs::path& path : list) {
    SCOPED_TRACE(path.filename().string());
    const Lcp lcp = load_lcp(path);
    EXPECT_GT(lcp.q.size(), 1);
    EXPECT_EQ(lcp.M.rows(), lcp.q.size());
    EXPECT_TRUE(lcp.M.allFinite() && lcp.q.allFinite());
  }
  const Lcp murty = load_lcp(kData / "lcp/lcp_exp_murty.dat");
  EXPECT_EQ(murty.M(0, 5), 2.0);
  EXPECT_EQ(murty.M(5, 0), 0.0);
  EXPECT_EQ(murty.q, VectorXd::Constant(6, -1.0));
}

}  // namespace
}  // namespace stiction::siconos_test
