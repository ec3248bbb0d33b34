// Desired velocities that contacts and rows refuse: the nearest that they allow, from closed forms and by its multipliers.
#include <gtest/gtest.h>

#include <numbers>
#include <numeric>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/base/least_norm.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"
#include "stiction/laws/test_problems.hpp"
#include "stiction/problem/connected_blocks.hpp"

namespace stiction::nearest_consistent_test {
namespace {

using namespace testing_problems;
using Eigen::Vector2d;

constexpr double kDt = 1e-3;

InverseOptions with(Law law) {
  InverseOptions options;
  options.contact.law = law;
  return options;
}

/// Two driven coordinates a, b and a free one f of lever e: normal velocities a + e f and b - e f, so that some f allows what has
/// a + b >= 0.
ContactProblem levers(double e) {
  MatrixXd J = MatrixXd::Zero(6, 3);
  J.row(0) << 1.0, 0.0, e;
  J.row(3) << 0.0, 1.0, -e;
  return make_contact_problem(MatrixXd::Identity(3, 3), VectorXd::Zero(3), J, VectorXd::Constant(2, 0.5), kDt);
}

const std::vector<int> kTwo{0, 1};
const Vector2d kAsked(-1.0, 0.99), kNearest(-0.995, 0.995);

TEST(NearestConsistent, HowShortTheLeverOfAFreeCoordinateIsDoesNotMatter) {
  for (const Law law : {Law::frictionless, Law::coulomb_cone, Law::coulomb_pyramid, Law::anitescu, Law::todorov, Law::max_dissipation}) {
    for (const double e : {30.0, 1.0, 0.3, 0.1, 0.03, 0.01}) {
      const InverseSolution s = inverse_dynamics(levers(e), kTwo, kAsked, {}, with(law));
      EXPECT_EQ(s.status, Status::solved) << to_string(law) << " " << e << " " << s.certificate.worst();
      EXPECT_TRUE(s.repaired);
      EXPECT_NEAR(s.shortfall, 0.005, 1e-10) << to_string(law) << " " << e;
      EXPECT_LT((s.v.head<2>() - kNearest).norm(), 1e-10) << to_string(law) << " " << e;
    }
  }
}

// With a row beside the contacts no_slip has no closed form: here a + b = 0, by tangents.
TEST(NearestConsistent, NorWhereARowComesWithNoSlip) {
  for (const double e : {1.0, 0.3, 0.1, 0.03, 0.01}) {
    MatrixXd J = MatrixXd::Zero(6, 3);
    J.row(1) << 1.0, 0.0, e;
    J.row(4) << 0.0, 1.0, -e;
    ContactProblem p = make_contact_problem(MatrixXd::Identity(3, 3), VectorXd::Zero(3), J, VectorXd::Constant(2, 0.5), kDt);
    p.J_b = BlockRows::from_dense(1, MatrixXd(Eigen::RowVector3d(0.0, 0.0, 1.0)), p.M.sizes());
    p.b = VectorXd::Zero(1);
    p.lo = VectorXd::Constant(1, -1e-9);
    p.hi = VectorXd::Constant(1, 1e-9);
    const InverseSolution s = inverse_dynamics(p, kTwo, kAsked, {}, with(Law::no_slip));
    EXPECT_EQ(s.status, Status::solved) << e;
    EXPECT_TRUE(s.repaired) << e;
    EXPECT_LT((s.v.head<2>() - kNearest).norm(), 1e-10) << e;
  }
}

/// Least |Gᵀλ - way| over λ >= 0, by enumeration of the rows of G that push.
double distance_to_cone(const MatrixXd& G, const VectorXd& way) {
  double best = way.norm();
  for (unsigned mask = 1; mask < 1u << G.rows(); ++mask) {
    std::vector<Eigen::Index> rows;
    for (Eigen::Index k = 0; k < G.rows(); ++k) {
      if (mask >> k & 1u) rows.push_back(k);
    }
    const MatrixXd A = G(rows, Eigen::all).transpose();
    const VectorXd lambda = least_norm_solution(A, way);
    if (lambda.minCoeff() >= -1e-12) best = std::min(best, (A * lambda - way).norm());
  }
  return best;
}

/// The demands g·v >= 0 of the law that are tight at v: normals, or the edges of anitescu's pyramid.
MatrixXd tight_demands(const ContactProblem& p, const SolveOptions& law, const VectorXd& v) {
  const MatrixXd J = p.J.to_dense();
  const int edges = law.law == Law::anitescu ? law.edges : 1;
  MatrixXd G(p.contacts() * edges, p.velocities());
  Eigen::Index count = 0;
  for (int i = 0; i < p.contacts(); ++i) {
    for (int k = 0; k < edges; ++k) {
      Eigen::RowVectorXd g = J.row(3 * i);
      const double angle = 2.0 * std::numbers::pi * k / edges;
      if (edges > 1) g += p.mu[i] * (std::cos(angle) * J.row(3 * i + 1) + std::sin(angle) * J.row(3 * i + 2));
      if (g.dot(v) < 1e-8 * g.norm() * v.norm() + 1e-12) G.row(count++) = g;
    }
  }
  return G.topRows(count);
}

// At the nearest the way there is a push of the demands that are tight, and one that the free coordinates do not feel. From rest and
// without forces, the nearest that is standing still is solved too.
TEST(NearestConsistent, TheWayThereIsAPushOfWhatRefusedTheRequest) {
  int repaired = 0, still = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    std::mt19937 rng(seed);
    std::normal_distribution<double> normal;
    const int nv = 2 + static_cast<int>(seed % 4), driven = 1 + static_cast<int>(seed / 4 % (nv - 1)), n = 1 + static_cast<int>(seed % 2);
    const auto gaussian = [&] { return normal(rng); };
    const MatrixXd A = MatrixXd::NullaryExpr(nv, nv, gaussian), J = MatrixXd::NullaryExpr(3 * n, nv, gaussian);
    const ContactProblem p =
        make_contact_problem(A * A.transpose() + 0.2 * MatrixXd::Identity(nv, nv), VectorXd::Zero(nv), J, VectorXd::Constant(n, 0.5), kDt);
    const VectorXd desired = VectorXd::NullaryExpr(driven, gaussian);
    std::vector<int> joints(driven);
    std::iota(joints.begin(), joints.end(), 0);
    for (const Law law : {Law::frictionless, Law::anitescu}) {
      InverseOptions options = with(law);
      options.contact.edges = 4;
      const InverseSolution s = inverse_dynamics(p, joints, desired, {}, options);
      if (!s.repaired) continue;
      ++repaired;
      EXPECT_EQ(s.status, Status::solved) << seed << " " << to_string(law) << " " << s.certificate.worst();
      if (s.v.head(driven).isZero(0.0)) ++still;
      VectorXd way = VectorXd::Zero(nv);
      way.head(driven) = s.v.head(driven) - desired;
      EXPECT_LT(distance_to_cone(tight_demands(p, options.contact, s.v), way), 1e-7 * desired.norm()) << seed << " " << to_string(law);
    }
  }
  EXPECT_GT(repaired, 50);
  EXPECT_GT(still, 5);
}

/// Some robot, at rest, on some contacts of friction 0.5.
ContactProblem random_contacts(std::mt19937& rng, int nv, int n) {
  std::normal_distribution<double> normal;
  const auto gaussian = [&] { return normal(rng); };
  const MatrixXd A = MatrixXd::NullaryExpr(nv, nv, gaussian), J = MatrixXd::NullaryExpr(3 * n, nv, gaussian);
  return make_contact_problem(A * A.transpose() + MatrixXd::Identity(nv, nv), VectorXd::Zero(nv), J, VectorXd::Constant(n, 0.5), kDt);
}

VectorXd random_velocities(std::mt19937& rng, int n) {
  std::normal_distribution<double> normal;
  return VectorXd::NullaryExpr(n, [&] { return 0.3 * normal(rng); });
}

std::vector<int> first(int driven) {
  std::vector<int> joints(driven);
  std::iota(joints.begin(), joints.end(), 0);
  return joints;
}

// Over the disc the request is inside of its dual cone, the way there a push of a polygon of 64 edges about one larger by 1e-3, and as near
// as the disc allows, of which a polygon of 1024 edges in it has all but 5e-6.
TEST(NearestConsistent, OverTheDiscTheRequestIsInsideOfTheConeAndAsNearAsThatAllows) {
  InverseOptions disc = with(Law::anitescu), polygon = disc;
  disc.contact.edges = 0;
  polygon.contact.edges = 1024;
  SolveOptions about = polygon.contact;
  about.edges = 64;
  int repaired = 0, compared = 0, sliding = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 rng(seed);
    const int n = 1 + static_cast<int>(seed % 3), driven = 9 - static_cast<int>(seed % 4);
    ContactProblem p = random_contacts(rng, 9, n);
    const VectorXd desired = random_velocities(rng, driven);
    const InverseSolution s = inverse_dynamics(p, first(driven), desired, {}, disc);
    if (!s.repaired) continue;
    ++repaired;
    const double size = desired.norm();
    ASSERT_EQ(s.status, Status::solved) << seed << " " << s.certificate.worst();
    EXPECT_LT(s.impulses.lpNorm<Eigen::Infinity>(), 1e4 * size) << seed;
    VectorXd way = VectorXd::Zero(9);
    way.head(driven) = s.v.head(driven) - desired;
    const InverseSolution near = inverse_dynamics(p, first(driven), desired, {}, polygon);
    if (near.status == Status::solved) {
      ++compared;
      EXPECT_NEAR(way.norm(), (near.v.head(driven) - desired).norm(), 3e-3 * size) << seed;
    }
    if (driven < 9) continue;
    const MatrixXd J = p.J.to_dense();
    bool apex = false;
    for (int i = 0; i < n; ++i) {
      const Vector3d u = J.middleRows<3>(3 * i) * s.v;
      EXPECT_GT(u[0] - p.mu[i] * u.tail<2>().norm(), -1e-8 * size) << seed;
      apex = apex || u.norm() < 1e-3 * size;
    }
    if (apex) continue;
    ++sliding;
    p.mu.setConstant(0.5 * (1.0 + 1e-3) / std::cos(std::numbers::pi / 64.0));
    EXPECT_LT(distance_to_cone(tight_demands(p, about, s.v), way), 1e-6 * size) << seed;
  }
  EXPECT_GT(repaired, 60);
  EXPECT_GE(compared, repaired - 3);
  EXPECT_GT(sliding, 10);
}

// What replaces a request is on the boundary of what some motion can follow: faces of contacts between driven links, whose motion is
// settled by it, are met to the rounding of the programs that found it, which is no contradiction.
TEST(NearestConsistent, OverPolygonsFacesThatAreMetToRoundingHold) {
  int repaired = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 rng(seed);
    const int n = 2 + static_cast<int>(seed % 3);
    MatrixXd J = random_contacts(rng, 12, n).J.to_dense();
    J.topRightCorner(3 * (n / 2), 6).setZero();
    const ContactProblem p = make_contact_problem(MatrixXd::Identity(12, 12), VectorXd::Zero(12), J, VectorXd::Constant(n, 0.5), kDt);
    InverseOptions options = with(Law::anitescu);
    options.contact.edges = 4 << (seed % 3);
    const double scale = seed % 2 == 0 ? 1.0 : 1e-4;
    const InverseSolution s = inverse_dynamics(p, first(6), scale * random_velocities(rng, 6), {}, options);
    EXPECT_EQ(s.status, Status::solved) << seed << " " << s.certificate.worst();
    repaired += s.repaired ? 1 : 0;
  }
  EXPECT_GT(repaired, 100);
}

/// A ball between two plates whose normals rise by `slope`, the one coordinate that is driven brings both together, from a fall.
ContactProblem wedge(double slope, double mu) {
  MatrixXd J = MatrixXd::Zero(6, 4);  // of the ball, and of the plates
  const double c = std::cos(slope), s = std::sin(slope);
  J.topRows<3>() << c, 0.0, s, -c, -s, 0.0, c, s, 0.0, 1.0, 0.0, 0.0;
  J.bottomRows<3>() << -c, 0.0, s, -c, s, 0.0, c, s, 0.0, 1.0, 0.0, 0.0;
  return make_contact_problem(MatrixXd::Identity(4, 4), Eigen::Vector4d(0.0, 0.0, -0.01, 0.0), J, VectorXd::Constant(2, mu), kDt);
}

// Closing plates lift the ball at s cot(slope). Their friction, μ > tan(slope), would draw it down: no impulses hold it, though the motion
// is free of penetration. In the dual cones nothing closes: u_N >= μ |u_T| asks for s <= 0.
TEST(NearestConsistent, AJamStandsStillAndBelowTheAngleOfFrictionTheBallIsLifted) {
  const std::vector<int> plates{3};
  for (const Law law : {Law::coulomb_pyramid, Law::coulomb_cone}) {
    for (const double mu : {0.3, 0.7}) {
      const InverseSolution s = inverse_dynamics(wedge(0.5, mu), plates, VectorXd::Ones(1), {}, with(law));
      ASSERT_EQ(s.status, Status::solved) << to_string(law) << " " << mu << " " << s.certificate.worst();
      const bool jams = mu > std::tan(0.5);
      EXPECT_EQ(s.repaired, jams) << to_string(law);
      EXPECT_NEAR(s.v[3], jams ? 0.0 : 1.0, 1e-9) << to_string(law);
      EXPECT_NEAR(s.v[2], jams ? 0.0 : 1.0 / std::tan(0.5), 1e-8) << to_string(law);
      EXPECT_TRUE(s.proof.empty());
    }
  }
}

// Beside a part under a convex law the whole has no one program: the request is kept.
TEST(NearestConsistent, AJamBesideAPartOfAnotherFamilyKeepsItsRequest) {
  const ContactProblem one = wedge(0.5, 0.7);
  MatrixXd J = MatrixXd::Zero(12, 8);
  J.topLeftCorner<6, 4>() = J.bottomRightCorner<6, 4>() = one.J.to_dense();
  VectorXd v(8);
  v << one.v, one.v;
  ContactProblem p = make_contact_problem(MatrixXd::Identity(8, 8), v, J, VectorXd::Constant(4, 0.7), kDt);
  p.laws = {Law::coulomb_cone, Law::coulomb_cone, Law::anitescu, Law::anitescu};
  find_blocks(p);
  const std::vector<int> plates{3, 7};
  const InverseSolution s = inverse_dynamics(p, plates, Vector2d(1.0, 0.0), {}, with(Law::coulomb_cone));
  EXPECT_NE(s.status, Status::solved);
  EXPECT_FALSE(s.repaired);
  EXPECT_EQ(s.v[3], 1.0);
}

// Two feet that carry a body and are to splay: without a bound on friction none of them slips under a load.
TEST(NearestConsistent, FeetThatSplayAgainstInfiniteFrictionStandStill) {
  MatrixXd J = MatrixXd::Zero(6, 4);  // body x, y, z and the splay
  J.topLeftCorner<3, 3>() << 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0;
  J.bottomLeftCorner<3, 3>() = J.topLeftCorner<3, 3>();
  J(1, 3) = 1.0;
  J(4, 3) = -1.0;
  const ContactProblem p =
      make_contact_problem(MatrixXd::Identity(4, 4), Eigen::Vector4d(0.0, 0.0, -0.01, 0.0), J, VectorXd::Constant(2, kInfinity), kDt);
  const std::vector<int> splay{3};
  for (const Law law : {Law::coulomb_pyramid, Law::coulomb_cone}) {
    const InverseSolution s = inverse_dynamics(p, splay, VectorXd::Ones(1), {}, with(law));
    EXPECT_EQ(s.status, Status::solved) << to_string(law) << " " << s.certificate.worst();
    EXPECT_TRUE(s.repaired) << to_string(law);
    EXPECT_LT(s.v.lpNorm<Eigen::Infinity>(), 1e-9) << to_string(law);
    EXPECT_NEAR(s.impulses[0] + s.impulses[3], 0.01, 1e-10) << to_string(law);
  }
}

// Without regularization todorov demands what anitescu does over the disc, with it nothing.
TEST(NearestConsistent, TodorovIsRepairedWhereItDoesNotGiveWay) {
  InverseOptions disc = with(Law::anitescu);
  disc.contact.edges = 0;
  int repaired = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 rng(seed);
    ContactProblem p = random_contacts(rng, 7, 2);
    const VectorXd desired = random_velocities(rng, 5);
    const InverseSolution rigid = inverse_dynamics(p, first(5), desired, {}, with(Law::todorov));
    const InverseSolution convex = inverse_dynamics(p, first(5), desired, {}, disc);
    EXPECT_EQ(rigid.status, Status::solved) << seed << " " << rigid.certificate.worst() << " " << rigid.repaired;
    EXPECT_EQ(rigid.repaired, convex.repaired) << seed;
    EXPECT_LT((rigid.v - convex.v).norm(), 1e-7 * desired.norm()) << seed;
    repaired += rigid.repaired ? 1 : 0;
    p.material.assign(2, ContactMaterial{});
    for (ContactMaterial& m : p.material) m.regularization = 1e-2;
    const InverseSolution soft = inverse_dynamics(p, first(5), desired, {}, with(Law::todorov));
    EXPECT_EQ(soft.status, Status::solved) << seed;
    EXPECT_FALSE(soft.repaired) << seed;
  }
  EXPECT_GT(repaired, 10);
}

TEST(NearestConsistent, ALawThatContactsNameIsThatOfTheArgument) {
  for (const Law law : {Law::frictionless, Law::coulomb_cone, Law::coulomb_pyramid, Law::moreau, Law::anitescu, Law::todorov, Law::no_slip,
                        Law::max_dissipation}) {
    int repaired = 0;
    for (unsigned seed = 1; seed <= 20; ++seed) {
      std::mt19937 rng(seed);
      ContactProblem p = random_contacts(rng, 6, 1);
      const VectorXd desired = random_velocities(rng, 6);
      const InverseSolution by_argument = inverse_dynamics(p, first(6), desired, {}, with(law));
      p.laws.assign(1, law);
      const InverseSolution by_contact = inverse_dynamics(p, first(6), desired, {}, with(Law::coulomb_cone));
      EXPECT_EQ(by_contact.status, Status::solved) << to_string(law) << " " << seed;
      EXPECT_EQ(by_contact.repaired, by_argument.repaired) << to_string(law) << " " << seed;
      EXPECT_LT((by_contact.v - by_argument.v).norm(), 1e-12) << to_string(law) << " " << seed;
      repaired += by_contact.repaired ? 1 : 0;
    }
    EXPECT_GT(repaired, 3) << to_string(law);
  }
}

// a + e f = 0 along a tangent of the first, b - e f >= 0 along the normal of the second: again a + b >= 0.
TEST(NearestConsistent, OfAMixtureEachContactDemandsWhatItsOwnLawDoes) {
  for (const Law other : {Law::frictionless, Law::anitescu, Law::todorov}) {
    ContactProblem p = levers(0.3);
    MatrixXd J = p.J.to_dense();
    J.row(0).swap(J.row(1));
    p.J = BlockRows::from_dense(3, J, p.M.sizes());
    p.laws = {Law::no_slip, other};
    const InverseSolution s = inverse_dynamics(p, kTwo, kAsked, {}, with(Law::coulomb_cone));
    EXPECT_EQ(s.status, Status::solved) << to_string(other) << " " << s.certificate.worst();
    EXPECT_TRUE(s.repaired);
    EXPECT_LT((s.v.head<2>() - kNearest).norm(), 1e-8) << to_string(other);
    const InverseSolution allowed = inverse_dynamics(p, kTwo, Vector2d(1.0, 0.5), {}, with(Law::coulomb_cone));
    EXPECT_EQ(allowed.status, Status::solved) << to_string(other);
    EXPECT_FALSE(allowed.repaired);
  }
}

// A wall refuses the first joint. The second is free to move on from a stop that may hold it back with up to 1 N s, or ahead.
TEST(NearestConsistent, StopsWithLimitedImpulsesDoNotPull) {
  for (const Law law : {Law::frictionless, Law::coulomb_cone, Law::coulomb_pyramid, Law::anitescu, Law::max_dissipation}) {
    for (const double side : {1.0, -1.0}) {
      MatrixXd J = MatrixXd::Zero(3, 2);
      J(0, 0) = -1.0;
      ContactProblem p = make_contact_problem(MatrixXd::Identity(2, 2), VectorXd::Zero(2), J, VectorXd::Constant(1, 0.5), kDt);
      p.J_b = BlockRows::from_dense(1, MatrixXd(Eigen::RowVector2d(0.0, 1.0)), p.M.sizes());
      p.b = VectorXd::Constant(1, side);
      p.lo = VectorXd::Constant(1, side > 0.0 ? -1.0 : -kInfinity);
      p.hi = VectorXd::Constant(1, side > 0.0 ? kInfinity : 1.0);
      const InverseSolution s = inverse_dynamics(p, kTwo, Vector2d(1.0, 3.0 * side), {}, with(law));
      EXPECT_EQ(s.status, Status::solved) << to_string(law);
      EXPECT_TRUE(s.repaired) << to_string(law);
      EXPECT_LT((s.v - Vector2d(0.0, 3.0 * side)).norm(), 1e-9) << to_string(law) << " " << s.v.transpose();
    }
  }
}

TEST(NearestConsistent, NoAllocationOnceTheSizesAreKnown) {
  if (!allocations_are_counted()) GTEST_SKIP() << "sanitizers own malloc in this build";
  const ContactProblem p = levers(0.1);
  for (const Law law : {Law::frictionless, Law::coulomb_cone, Law::anitescu}) {
    InverseWorkspace w;
    InverseSolution s;
    for (const Vector2d& asked : {kAsked, Vector2d(-0.5, 0.3)}) inverse_dynamics(p, kTwo, asked, {}, with(law), w, s);
    const std::size_t before = allocation_count();
    inverse_dynamics(p, kTwo, Vector2d(-0.5, 0.3), {}, with(law), w, s);
    EXPECT_EQ(allocation_count() - before, 0u) << to_string(law);
    EXPECT_TRUE(s.repaired);
  }
}

}  // namespace
}  // namespace stiction::nearest_consistent_test
