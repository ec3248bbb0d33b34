// The reduced certificate against the one of the full problem, and a sliding point in closed form.
#include "stiction/problem/reduced_certificate.hpp"
#include "stiction/problem/test_terms.hpp"

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"

namespace stiction::reduced_certificate_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kMass = 2.0, kMu = 0.5;

// A point mass on a plane; `impulse` of one step, contact frame = world with the normal first.
ContactProblem point_mass(const Vector3d& v, const Vector3d& impulse) {
  ContactProblem p =
      make_contact_problem(kMass * MatrixXd::Identity(3, 3), v, MatrixXd::Identity(3, 3), Eigen::Matrix<double, 1, 1>(kMu), 0.01);
  p.impulse = impulse;
  return p;
}

TEST(ReducedCertificate, SlidingPointMass) {
  const ContactProblem p = point_mass(Vector3d(-1.0, 3.0, 4.0), Vector3d::Zero());
  Reduction red;
  reduce(p, red);
  const double normal = kMass * 1.0;
  const Vector3d lambda(normal, -kMu * normal * 0.6, -kMu * normal * 0.8);
  const Certificate c = certify(red.reduced, terms_of(red.reduced), lambda, VectorXd(0));
  EXPECT_LT(c.worst(), 1e-15);
  EXPECT_LT(c.dissipation_angle, 1e-7);
  // Speeds drop from (1, 5) to (0, 4.5).
  EXPECT_NEAR(c.energy_change, 0.5 * kMass * (4.5 * 4.5 - 5.0 * 5.0 - 1.0), 1e-12);

  const Certificate weak = certify(red.reduced, terms_of(red.reduced), 0.9 * lambda, VectorXd(0));
  EXPECT_NEAR(weak.penetration.raw, 0.1, 1e-14);
  EXPECT_NEAR(weak.penetration.scaled, 0.1 / 4.0, 1e-14);  // velocity scale: the largest component, 4 m/s
  EXPECT_NEAR(weak.velocity_scale, 4.0, 1e-14);
  EXPECT_NEAR(weak.impulse_scale, 4.0 * kMass, 1e-14);
  const Certificate turned = certify(red.reduced, terms_of(red.reduced), Vector3d(normal, -kMu * normal, 0.0), VectorXd(0));
  EXPECT_GT(turned.dissipation_angle, 0.5);
}

// Every residual that both know agrees, for any point, on a problem with bounded rows and an open contact.
TEST(ReducedCertificate, AgreesWithTheFullCertificate) {
  std::srand(3);
  const MatrixXd a = MatrixXd::Random(7, 7);
  ContactProblem p = make_contact_problem(a * a.transpose() + MatrixXd::Identity(7, 7), VectorXd::Random(7), MatrixXd::Random(9, 7),
                                          Vector3d(0.3, 0.0, kInfinity), 0.01);
  p.gap[1] = 0.02;
  p.J_b = BlockRows::from_dense(1, MatrixXd::Random(2, 7), p.M.sizes());
  p.b = VectorXd::Random(2);
  p.lo = VectorXd::Constant(2, -0.1);
  p.hi = VectorXd::Constant(2, 0.1);
  Reduction red;
  reduce(p, red);
  for (const bool relaxed : {false, true}) {
    const TestLaw law{.family = relaxed ? Family::associated : Family::coulomb, .needs_contact = relaxed};
    const VectorXd lambda = VectorXd::Random(9), beta = 0.1 * VectorXd::Random(2);
    GrowVector v_plus;
    recover_velocity(red, lambda, beta, v_plus);
    const Certificate full = certify(p, terms_of(p, law), v_plus, lambda, beta, VectorXd(0));
    const Certificate reduced = certify(red.reduced, terms_of(red.reduced, law), lambda, beta);
    EXPECT_NEAR(full.penetration.raw, reduced.penetration.raw, 1e-12);
    EXPECT_NEAR(full.tension.raw, reduced.tension.raw, 1e-12);
    EXPECT_NEAR(full.normal_complementarity.raw, reduced.normal_complementarity.raw, 1e-12);
    EXPECT_NEAR(full.cone.raw, reduced.cone.raw, 1e-12);
    EXPECT_NEAR(full.dissipation.raw, reduced.dissipation.raw, 1e-12);
    EXPECT_NEAR(full.relaxation.raw, reduced.relaxation.raw, 1e-12);
    EXPECT_GT(reduced.worst(), 1e-3);
  }
}

TEST(ReducedCertificate, InfiniteFrictionAsksForTouch) {
  const Eigen::Matrix<double, 1, 1> mu(kInfinity);
  const ReducedProblem leaves = reduce_dense(MatrixXd::Identity(3, 3), Vector3d(1.0, 3.0, 0.0), mu),
                       stays = reduce_dense(MatrixXd::Identity(3, 3), Vector3d(0.0, 3.0, 0.0), mu);
  const Vector3d friction(0.0, -3.0, 0.0);
  EXPECT_GT(certify(leaves, terms_of(leaves), friction, VectorXd(0)).worst(), 0.1);
  EXPECT_LT(certify(stays, terms_of(stays), friction, VectorXd(0)).worst(), 1e-15);
}

TEST(ReducedCertificate, CountsTheDefectOfW) {
  ReducedProblem p = reduce_dense(MatrixXd::Identity(3, 3), Vector3d(-1.0, 0.0, 0.0), Eigen::Matrix<double, 1, 1>(kMu));
  const Vector3d lambda(1.0, 0.0, 0.0);
  EXPECT_LT(certify(p, terms_of(p), lambda, VectorXd(0)).worst(), 1e-15);
  p.defect.setZero(3, 3);
  p.defect(0, 0) = -0.25;
  EXPECT_NEAR(certify(p, terms_of(p), lambda, VectorXd(0)).penetration.raw, 0.25, 1e-15);
}

TEST(ReducedCertificate, RefusesWrongSizesAndNaN) {
  const ReducedProblem p = reduce_dense(MatrixXd::Identity(3, 3), Vector3d::Zero(), Eigen::Matrix<double, 1, 1>(kMu));
  EXPECT_THROW(certify(p, terms_of(p), VectorXd::Zero(2), VectorXd(0)), InvalidArgument);
  EXPECT_EQ(certify(p, terms_of(p), Vector3d(NAN, 0, 0), VectorXd(0)).worst(), kInfinity);
  EXPECT_EQ(certify(p, terms_of(p), Vector3d::Zero(), VectorXd(0)).worst(), 0.0);
}

}  // namespace
}  // namespace stiction::reduced_certificate_test
