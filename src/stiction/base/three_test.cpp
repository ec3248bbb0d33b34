// Against Eigen, compiled both ways.
#include "stiction/base/three.hpp"

#include <gtest/gtest.h>

#include "stiction/base/random.hpp"

namespace stiction::three_test {
namespace {

using Eigen::Isometry3d;
using Eigen::Matrix3d;
using Eigen::Vector3d;

struct Products {
  Vector3d cross, rotated, magnitude;
  Matrix3d turned;
  Isometry3d pose = Isometry3d::Identity();
  double dot = 0.0;
};

STICTION_INLINE void multiply(const Isometry3d& X, const Matrix3d& A, const Vector3d& a, const Vector3d& b, Products& out) {
  const three::Columns R = three::rotation(X), turned = three::times(R, A.data(), 3);
  three::store(three::cross(three::load(a.data()), three::load(b.data())), out.cross.data());
  three::store(three::times(R, three::load(a.data())), out.rotated.data());
  three::store(magnitude(three::load(a.data())), out.magnitude.data());
  for (int j = 0; j < 3; ++j) three::store(turned.column[j], out.turned.col(j).data());
  three::set_pose(turned, three::times(R, b.data()), out.pose);
  out.dot = three::dot(three::load(a.data()), three::load(b.data()));
}
void multiply_narrow(const Isometry3d& X, const Matrix3d& A, const Vector3d& a, const Vector3d& b, Products& out) {
  multiply(X, A, a, b, out);
}
STICTION_WIDE void multiply_wide(const Isometry3d& X, const Matrix3d& A, const Vector3d& a, const Vector3d& b, Products& out) {
  multiply(X, A, a, b, out);
}

TEST(Three, ProductsAreThoseOfEigen) {
  std::srand(5);
  for (const auto run : {multiply_narrow, wide_vectors() ? multiply_wide : multiply_narrow}) {
    Isometry3d X = Isometry3d::Identity();
    X.linear() = Eigen::Quaterniond::UnitRandom().toRotationMatrix();
    X.translation().setRandom();
    const Matrix3d A = Matrix3d::Random();
    const Vector3d a = Vector3d::Random(), b = Vector3d::Random();
    Products out;
    run(X, A, a, b, out);
    constexpr double kRounding = 1e-15;
    EXPECT_LE((out.cross - a.cross(b)).norm(), kRounding);
    EXPECT_LE((out.rotated - X.linear() * a).norm(), kRounding);
    EXPECT_EQ(out.magnitude, a.cwiseAbs().eval());
    EXPECT_LE((out.turned - X.linear() * A).norm(), kRounding);
    EXPECT_NEAR(out.dot, a.dot(b), kRounding);
    EXPECT_EQ(out.pose.linear(), out.turned);
    EXPECT_LE((out.pose.translation() - X.linear() * b).norm(), kRounding);
    EXPECT_EQ(Eigen::RowVector4d(out.pose.matrix().row(3)), Eigen::RowVector4d(0.0, 0.0, 0.0, 1.0));
  }
}

}  // namespace
}  // namespace stiction::three_test
