// FCLIB files: the two beside the checkout, and one written here with a solution known in closed form.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/LU>

#include "stiction/base/errors.hpp"
#include "stiction/io/formats.hpp"
#include "stiction/problem/reduce_sparse.hpp"
#include "test_paths.hpp"

#ifdef STICTION_HDF5
#include <hdf5.h>
#endif

namespace stiction::fclib_test {
namespace {

namespace fs = std::filesystem;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

SparseMatrix sparse(const MatrixXd& dense) { return dense.sparseView(); }

// Two bodies with a coupling mass matrix each, contacts on one, the other and between them, against dense algebra.
TEST(ReduceGlobal, MatchesDenseAlgebra) {
  std::srand(21);
  MatrixXd M = MatrixXd::Zero(11, 11), H = MatrixXd::Random(11, 9);
  const MatrixXd a = MatrixXd::Random(6, 6), b = MatrixXd::Random(5, 5);
  M.topLeftCorner(6, 6) = a * a.transpose() + MatrixXd::Identity(6, 6);
  M.bottomRightCorner(5, 5) = b * b.transpose() + MatrixXd::Identity(5, 5);
  H.block(6, 0, 5, 3).setZero();
  H.block(0, 3, 6, 3).setZero();
  const VectorXd f = VectorXd::Random(11), w = VectorXd::Random(9);
  const ReducedProblem p = reduce_global(sparse(M), sparse(H), f, w, Vector3d::Constant(0.3));
  EXPECT_EQ(p.Rt.blocks(), 2);
  EXPECT_EQ(p.Rt.entry_end(0) - p.Rt.entry_begin(0), 1);
  EXPECT_EQ(p.Rt.entry_end(2) - p.Rt.entry_begin(2), 2);
  const MatrixXd Rt = p.Rt.to_dense(), inverse = M.inverse();
  EXPECT_LT((Rt * Rt.transpose() - H.transpose() * inverse * H).norm(), 1e-12);
  EXPECT_LT((p.u_free - H.transpose() * inverse * f - w).norm(), 1e-12);
  EXPECT_NEAR(p.y_free.squaredNorm(), f.dot(inverse * f), 1e-12);
}

TEST(ReduceGlobal, FreeBodiesWithDiagonalInertiaStayWhole) {
  const VectorXd inertia = (VectorXd(18) << 2, 2, 2, 1, 1, 1, 3, 3, 3, 1, 1, 1, 4, 4, 4, 1, 1, 1).finished();
  MatrixXd H = MatrixXd::Zero(18, 3);
  H.middleRows(12, 6).setOnes();  // only the third body is touched
  const ReducedProblem p =
      reduce_global(sparse(inertia.asDiagonal()), sparse(H), VectorXd::Zero(18), Vector3d::Zero(), Eigen::Matrix<double, 1, 1>(0.3));
  ASSERT_EQ(p.Rt.blocks(), 1);
  EXPECT_EQ(p.Rt.cols(), 6);
  EXPECT_TRUE(p.Rt.is_single_block());
}

TEST(ReduceGlobal, Errors) {
  const Eigen::Matrix<double, 1, 1> mu(0.3);
  const auto reduce3 = [&](const MatrixXd& M, const MatrixXd& H) {
    return reduce_global(sparse(M), sparse(H), VectorXd::Zero(3), Vector3d::Zero(), mu);
  };
  const MatrixXd I = MatrixXd::Identity(3, 3);
  EXPECT_NO_THROW(reduce3(I, I));
  EXPECT_THROW(reduce3(-I, I), InvalidArgument);
  EXPECT_THROW(reduce3(MatrixXd::Zero(3, 3), I), InvalidArgument);
  EXPECT_THROW(reduce3(I, MatrixXd::Identity(3, 2)), InvalidArgument);
  MatrixXd skew = I;
  skew(0, 1) = 0.1;
  EXPECT_THROW(reduce3(skew, I), InvalidArgument);
  skew(0, 1) = NAN;
  EXPECT_THROW(reduce3(I, skew), InvalidArgument);
}

#ifdef STICTION_HDF5

// Writes data sets of an HDF5 file; groups on the way are made as needed.
class Writer {
 public:
  explicit Writer(const std::string& file) : id_(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {}
  ~Writer() { H5Fclose(id_); }
  void numbers(const std::string& path, const std::vector<double>& values) {
    const hsize_t size = values.size();
    const hid_t space = H5Screate_simple(1, &size, nullptr), links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t set = H5Dcreate2(id_, path.c_str(), H5T_NATIVE_DOUBLE, space, links, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(set);
    H5Pclose(links);
    H5Sclose(space);
  }
  void diagonal(const std::string& path, const std::vector<double>& values, double nz) {
    const double n = static_cast<double>(values.size());
    numbers(path + "/m", {n});
    numbers(path + "/n", {n});
    numbers(path + "/nz", {nz});
    std::vector<double> index, begin;
    for (double k = 0; k < n + (nz < 0 ? 1 : 0); ++k) begin.push_back(k);
    for (double k = 0; k < n; ++k) index.push_back(k);
    numbers(path + "/i", index);
    numbers(path + "/p", begin);
    numbers(path + "/x", values);
  }

 private:
  hid_t id_;
};

std::string scratch(const char* name) { return (fs::path(testing::TempDir()) / name).string(); }

// A point mass of 2 kg falling at 1 m/s onto a plane while sliding at 3 m/s, mu = 0.5: N = 2 N s, friction 1 N s.
TEST(Fclib, GlobalProblemHasTheClosedFormAsItsSolution) {
  const std::string file = scratch("global.hdf5");
  for (const double nz : {3.0, -1.0, -2.0}) {
    {
      Writer out(file);
      out.numbers("fclib_global/spacedim", {3});
      out.diagonal("fclib_global/M", {2, 2, 2}, nz);
      out.diagonal("fclib_global/H", {1, 1, 1}, nz);
      out.numbers("fclib_global/vectors/f", {-2, 6, 0});
      out.numbers("fclib_global/vectors/w", {0, 0, 0});
      out.numbers("fclib_global/vectors/mu", {0.5});
    }
    const ReducedProblem p = std::get<ReducedProblem>(load_problem(file));
    const Vector3d r(2, -1, 0), u(0, 2.5, 0);
    const MatrixXd Rt = p.Rt.to_dense();
    EXPECT_LT((Rt * (Rt.transpose() * r) + p.u_free - u).norm(), 1e-15);
    EXPECT_EQ(p.mu[0], 0.5);
  }
}

struct BadFclib {
  const char* path;
  std::vector<double> values;
  const char* says;
};

TEST(Fclib, ErrorsNameTheDataSet) {
  const std::vector<BadFclib> table{
      {"fclib_local/spacedim", {4}, "fclib_local/spacedim: expected an integer from 2 to 3"},
      {"fclib_local/W/nz", {7}, "fclib_local/W: fewer than nz = 7 triplets"},
      {"fclib_local/W/nz", {-3}, "fclib_local/W/nz: expected an integer"},
      {"fclib_local/W/n", {4}, "fclib_local/W: expected 3 x 3, got 3 x 4"},
      {"fclib_local/W/n", {NAN}, "fclib_local/W/n: expected an integer"},
      {"fclib_local/W/i", {0, 1, 9}, "fclib_local/W/i: expected an integer from 0 to 2, got 9"},
      {"fclib_local/W/x", {1, NAN, 1}, "W[1, 1]: expected a finite number"},
      {"fclib_local/W/x", {1, -1, 1}, "W: expected a positive semidefinite matrix"},
      {"fclib_local/vectors/q", {1, 2}, "fclib_local/vectors/q: expected 3 x 1, got 2 x 1"},
      {"fclib_local/vectors/mu", {-1}, "mu[0]"},
      {"fclib_local/vectors/mu", {}, "expected 0 x 0"},
  };
  const std::string file = scratch("bad.hdf5");
  for (const BadFclib& bad : table) {
    SCOPED_TRACE(bad.says);
    {
      Writer out(file);
      const auto write = [&](const std::string& path, const std::vector<double>& values) {
        out.numbers(path, path == bad.path ? bad.values : values);
      };
      write("fclib_local/spacedim", {3});
      for (const char* size : {"m", "n", "nz"}) write(std::string("fclib_local/W/") + size, {3});
      for (const char* index : {"i", "p"}) write(std::string("fclib_local/W/") + index, {0, 1, 2});
      write("fclib_local/W/x", {1, 1, 1});
      write("fclib_local/vectors/q", {-1, 0, 0});
      write("fclib_local/vectors/mu", {0.5});
    }
    try {
      load_problem(file);
      ADD_FAILURE() << "accepted";
    } catch (const FileError& error) {
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr(file), testing::HasSubstr(bad.says)));
    }
  }
}

TEST(Fclib, OtherFilesAreRefused) {
  const std::string file = scratch("other.hdf5");
  {
    Writer out(file);
    out.numbers("something/else", {1, 2, 3});
  }
  EXPECT_THROW(load_problem(file), FileError);
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (const std::size_t size : {std::size_t{8}, bytes.size() / 2, bytes.size() - 1}) {
    std::ofstream(scratch("cut.hdf5"), std::ios::binary) << bytes.substr(0, size);
    EXPECT_THROW(load_problem(scratch("cut.hdf5")), FileError) << size;
  }
}

const fs::path kData = fs::path(STICTION_SOURCE_DIR) / "../shared/data/fc3d";

TEST(FclibCollection, BoxStacksKeepTheirBodies) {
  const fs::path path = kData / "Box_Stacks-i0122-82-5.hdf5";
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path;
  const ReducedProblem p = std::get<ReducedProblem>(load_problem(path));
  EXPECT_EQ(p.contacts(), 82);
  for (const int size : p.Rt.block_sizes()) EXPECT_EQ(size, 6);
  for (int i = 0; i < 82; ++i) EXPECT_LE(p.Rt.entry_end(i) - p.Rt.entry_begin(i), 2);
}

#else

TEST(Fclib, ErrorNamesTheMissingLibrary) {
  const fs::path path = fs::path(testing::TempDir()) / "fclib.hdf5";
  std::ofstream(path, std::ios::binary) << "\x89HDF\r\n\x1a\n";
  try {
    load_problem(path);
    FAIL();
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("HDF5"));
  }
}

#endif

}  // namespace
}  // namespace stiction::fclib_test
