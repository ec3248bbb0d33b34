#include "stiction/programs/qp/thin_qr.hpp"

#include <gtest/gtest.h>

#include "stiction/programs/qp/qp_reference.hpp"

namespace stiction {
namespace {

TEST(ThinQr, StaysAFactorisationWhileColumnsComeAndGo) {
  reference::Random random(1);
  constexpr int r = 12;
  std::vector<Eigen::VectorXd> columns;
  ThinQr qr;
  qr.reset(r);
  for (int step = 0; step < 400; ++step) {
    if (!columns.empty() && (static_cast<int>(columns.size()) == r || random.chance(0.4))) {
      const int k = random.integer(0, static_cast<int>(columns.size()) - 1);
      qr.remove(k);
      columns.erase(columns.begin() + k);
    } else {
      columns.emplace_back(random.plain(r, 1));
      ASSERT_TRUE(qr.append(columns.back().data(), columns.back().norm(), 1e-10));
    }
    const auto k = static_cast<Eigen::Index>(columns.size());
    const Eigen::MatrixXd R = qr.R().triangularView<Eigen::Upper>();
    EXPECT_LE((qr.Q().transpose() * qr.Q() - Eigen::MatrixXd::Identity(k, k)).norm(), 1e-12);
    for (Eigen::Index i = 0; i < k; ++i) EXPECT_LE((qr.Q() * R.col(i) - columns[static_cast<std::size_t>(i)]).norm(), 1e-12);
  }
}

TEST(ThinQr, RefusesDependentColumnsAndSaysHow) {
  reference::Random random(2);
  const Eigen::MatrixXd A = random.plain(6, 3);
  ThinQr qr;
  qr.reset(6);
  for (int k = 0; k < 3; ++k) ASSERT_TRUE(qr.append(A.col(k).data(), A.col(k).norm(), 1e-10));
  const Eigen::Vector3d weights(0.5, -2.0, 1.0);
  const Eigen::VectorXd dependent = A * weights;
  ASSERT_FALSE(qr.append(dependent.data(), dependent.norm(), 1e-10));
  Eigen::VectorXd x = qr.projection();
  qr.solve(x.data());
  EXPECT_NEAR((x - weights).norm(), 0.0, 1e-12);
  Eigen::VectorXd b = weights;
  qr.solve_transposed(b.data());
  const Eigen::MatrixXd R = qr.R().triangularView<Eigen::Upper>();
  EXPECT_NEAR((R.transpose() * b - weights).norm(), 0.0, 1e-12);
}

}  // namespace
}  // namespace stiction
