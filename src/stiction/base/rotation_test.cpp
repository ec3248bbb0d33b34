#include "stiction/base/rotation.hpp"

#include <gtest/gtest.h>

namespace stiction::rotation_test {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

TEST(Rotation, TakesZToADirectionTheShortestWay) {
  for (const Vector3d& direction : {Vector3d(0.0, 0.0, 1.0), Vector3d(0.0, 0.0, -1.0), Vector3d(0.6, 0.0, 0.8), Vector3d(0.0, -1.0, 0.0),
                                    Vector3d(1e-12, 0.0, -1.0), Vector3d(0.48, -0.6, -0.64)}) {
    const Matrix3d R = rotation_of_z(direction);
    EXPECT_LE((R.col(2) - direction).norm(), 1e-11);
    EXPECT_LE((R * R.transpose() - Matrix3d::Identity()).norm(), 1e-15);
    EXPECT_NEAR(R.determinant(), 1.0, 1e-15);
    EXPECT_NEAR(0.5 * (R.trace() - 1.0), direction.z(), 1e-15);  // the cosine of its angle
  }
}

}  // namespace
}  // namespace stiction::rotation_test
