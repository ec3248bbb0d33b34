// Parts of a problem against each of them solved alone, and against the whole as one dense block.
#include "stiction/laws/islands.hpp"

#include <gmock/gmock.h>
#include <Eigen/Dense>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"
#include "stiction/problem/certificate.hpp"

namespace stiction::islands_test {
namespace {

using namespace testing_problems;
using Eigen::Index;

constexpr double kDt = 1e-3;

void append(GrowVector& to, const GrowVector& more) {
  const Index size = to.size();
  to.resize(size + more.size());  // keeps its entries
  to.tail(more.size()) = more;
}

void append_group(const BlockRows& from, int g, int first_block, BlockRows& to) {
  to.add_group();
  for (int e = from.entry_begin(g); e < from.entry_end(g); ++e) to.add_entry(first_block + from.entry_block(e)) = from.entry(e);
}

/// Problems side by side as one. Their contacts and rows are dealt out in turn, so those of one part lie apart.
struct SideBySide {
  explicit SideBySide(const std::vector<ContactProblem>& parts) {
    std::vector<int> sizes, first_block, first_coordinate;
    for (const ContactProblem& p : parts) {
      first_block.push_back(static_cast<int>(sizes.size()));
      first_coordinate.push_back(static_cast<int>(problem.v.size()));
      sizes.insert(sizes.end(), p.M.sizes().begin(), p.M.sizes().end());
      append(problem.v, p.v);
      append(problem.impulse, p.impulse);
      append(problem.v_prescribed, p.v_prescribed);
      for (const int j : p.prescribed) problem.prescribed.push_back(first_coordinate.back() + j);
    }
    problem.dt = kDt;
    problem.M.reset(sizes);
    problem.J.reset(3, sizes);
    problem.J_b.reset(1, sizes);
    contacts.resize(parts.size());
    rows.resize(parts.size());
    const auto one = [](double x) { return GrowVector(VectorXd::Constant(1, x)); };
    for (std::size_t k = 0; k < parts.size(); ++k) {
      for (int b = 0; b < parts[k].M.blocks(); ++b) problem.M.block(first_block[k] + b) = parts[k].M.block(b);
    }
    for (int i = 0; i < 100; ++i) {
      for (std::size_t k = 0; k < parts.size(); ++k) {
        const ContactProblem& p = parts[k];
        if (i < p.contacts()) {
          contacts[k].push_back(problem.contacts());
          append_group(p.J, i, first_block[k], problem.J);
          append(problem.mu, one(p.mu[i]));
          append(problem.restitution, one(p.restitution[i]));
          append(problem.gap, one(p.gap[i]));
        }
        if (i < p.bounded_rows()) {
          rows[k].push_back(problem.bounded_rows());
          append_group(p.J_b, i, first_block[k], problem.J_b);
          append(problem.b, one(p.b[i]));
          append(problem.lo, one(p.lo[i]));
          append(problem.hi, one(p.hi[i]));
        }
      }
    }
  }

  ContactProblem problem;
  std::vector<std::vector<int>> contacts, rows;  ///< of the parts, among those of the problem
};

void add_row(ContactProblem& p, int coordinate, double b, double lo, double hi) {
  p.J_b.add_group();
  p.J_b.add_entry(0)(0, coordinate) = 1.0;
  append(p.b, VectorXd::Constant(1, b));
  append(p.lo, VectorXd::Constant(1, lo));
  append(p.hi, VectorXd::Constant(1, hi));
}

/// Robots with limits, bilateral rows and prescribed joints, and a body in free flight.
std::vector<ContactProblem> robots(unsigned seed, int count) {
  std::mt19937 rng(seed);
  std::vector<ContactProblem> out;
  for (int k = 0; k < count; ++k) {
    ContactProblem p = random_robot(rng, 8 + k % 5, 1 + k % 4, 0.2 + 0.15 * (k % 4), kDt);
    if (k % 3 == 1) add_row(p, 6, -0.1, 0.0, kInfinity);
    if (k % 3 == 2) add_row(p, 7, 0.05, -kInfinity, kInfinity);
    if (k % 4 == 3) {
      p.prescribed = {7};
      p.v_prescribed = VectorXd::Constant(1, 0.1);
    }
    out.push_back(p);
  }
  ContactProblem flying = make_contact_problem(2.0 * MatrixXd::Identity(6, 6), VectorXd::Ones(6), MatrixXd(0, 6), VectorXd(0), kDt);
  flying.impulse[2] = -0.02;
  out.push_back(flying);
  return out;
}

/// The same problem with all its bodies in one block of M, which nothing takes apart.
ContactProblem as_one_block(const ContactProblem& p) {
  ContactProblem out = p;
  out.M = BlockDiagonal::dense(p.M.to_dense());
  out.J = BlockRows::from_dense(3, p.J.to_dense(), out.M.sizes());
  out.J_b = BlockRows::from_dense(1, p.J_b.to_dense(), out.M.sizes());
  return out;
}

Certificate certificate_of(const ContactProblem& p, const SolveOptions& options, const Solution& s) {
  return certify(p, lowered(p, options), s.v, s.impulses, s.bounded_impulses, s.prescribed_impulses);
}

constexpr std::array kAll{Law::frictionless, Law::no_slip,         Law::coulomb_pyramid, Law::coulomb_cone,
                          Law::anitescu,     Law::max_dissipation, Law::todorov,         Law::moreau};

TEST(Islands, AreWhatContactsAndRowsConnect) {
  const std::vector<ContactProblem> parts = robots(1, 5);
  const SideBySide all(parts);
  validate(all.problem);
  Islands islands;
  ASSERT_EQ(find_islands(all.problem, islands), 6);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_EQ(islands.parts[k].contacts, all.contacts[k]);
    EXPECT_EQ(islands.parts[k].rows, all.rows[k]);
    EXPECT_EQ(islands.parts[k].blocks, std::vector<int>{static_cast<int>(k)});
    EXPECT_EQ(islands.parts[k].prescribed, k == 3 ? std::vector<int>{0} : std::vector<int>{});
  }
  EXPECT_EQ(islands.parts[5].blocks, std::vector<int>{5});

  ContactProblem tied = all.problem;  // a row between the first and the last robot
  tied.J_b.add_group();
  tied.J_b.add_entry(0)(0, 0) = 1.0;
  tied.J_b.add_entry(4)(0, 0) = -1.0;
  for (GrowVector* x : {&tied.b, &tied.lo, &tied.hi}) append(*x, VectorXd::Zero(1));
  EXPECT_EQ(find_islands(tied, islands), 5);
  EXPECT_EQ(islands.parts[0].blocks, (std::vector<int>{0, 4}));
  EXPECT_EQ(find_islands(as_one_block(all.problem), islands), 1);
}

TEST(Islands, EachIsSolvedAsIfItWereAlone) {
  const std::vector<ContactProblem> parts = robots(2, 9);
  const SideBySide all(parts);
  for (const Law law : kAll) {
    SolveWorkspace w;
    Solution whole;
    solve(all.problem, with(law), w, whole);
    Index first = 0;
    double worst = 0.0;
    int iterations = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const Solution alone = solve(parts[k], with(law));
      const Index nv = parts[k].velocities();
      EXPECT_EQ(VectorXd(whole.v.segment(first, nv)), VectorXd(alone.v)) << to_string(law) << " " << k;
      first += nv;
      for (std::size_t i = 0; i < all.contacts[k].size(); ++i) {
        const Index from = 3 * static_cast<Index>(i), to = 3 * Index{all.contacts[k][i]};
        EXPECT_EQ(Vector3d(whole.impulses.segment<3>(to)), Vector3d(alone.impulses.segment<3>(from))) << to_string(law) << " " << k;
        EXPECT_EQ(Vector3d(whole.u.segment<3>(to)), Vector3d(alone.u.segment<3>(from))) << to_string(law) << " " << k;
      }
      for (std::size_t j = 0; j < all.rows[k].size(); ++j)
        EXPECT_EQ(whole.bounded_impulses[all.rows[k][j]], alone.bounded_impulses[static_cast<Index>(j)]) << to_string(law) << " " << k;
      if (k == 3) {
        EXPECT_EQ(whole.prescribed_impulses[0], alone.prescribed_impulses[0]) << to_string(law);
      }
      worst = std::max(worst, alone.certificate.worst());
      iterations += alone.iterations;
    }
    EXPECT_EQ(whole.certificate.worst(), worst) << to_string(law);
    EXPECT_EQ(whole.iterations, iterations) << to_string(law);
  }
}

// Velocities are unique for these laws; the whole's own certificate, with the whole's scales, holds for all.
TEST(Islands, AgreeWithTheWhole) {
  for (unsigned seed = 3; seed < 8; ++seed) {
    const ContactProblem p = SideBySide(robots(seed, 6)).problem, dense = as_one_block(p);
    for (const Law law : kAll) {
      const Solution by_parts = solve(p, with(law)), at_once = solve(dense, with(law));
      EXPECT_EQ(by_parts.status, at_once.status) << to_string(law) << " " << seed;  // feet may contradict each other under no_slip
      if (law == Law::no_slip && by_parts.status == Status::infeasible) continue;
      ASSERT_EQ(by_parts.status, Status::solved) << to_string(law) << " " << by_parts.certificate.worst();
      Certificate check = certificate_of(p, with(law), by_parts);
      if (law == Law::max_dissipation) check.dissipation = {};  // which only its program can check
      EXPECT_LE(check.worst(), 1e-9) << to_string(law);
      const bool unique = law == Law::frictionless || law == Law::anitescu || law == Law::max_dissipation || law == Law::todorov;
      if (unique) {
        EXPECT_NEAR((by_parts.v - at_once.v).norm(), 0.0, 1e-7) << to_string(law);
      }
    }
  }
}

TEST(Islands, TheAnswerDoesNotDependOnTheThreads) {
  std::vector<SolveWorkspace> workspaces(3);
  for (unsigned step = 0; step < 4; ++step) {
    ContactProblem p = SideBySide(robots(10, 25)).problem;
    p.impulse *= 1.0 + 0.1 * step;
    for (int i = 0; i < p.contacts(); ++i) p.ids.push_back(static_cast<std::uint64_t>(i) + step);
    for (const Law law : kAll) {
      std::vector<Solution> solutions;
      for (std::size_t k = 0; k < workspaces.size(); ++k) {
        SolveOptions options = with(law);
        options.threads = std::array{1, 2, 7}[k];
        solve(p, options, workspaces[k], solutions.emplace_back());
        const Solution& one = solutions.front();
        EXPECT_EQ(VectorXd(solutions[k].v), VectorXd(one.v)) << to_string(law) << " " << k;
        EXPECT_EQ(VectorXd(solutions[k].impulses), VectorXd(one.impulses)) << to_string(law) << " " << k;
        EXPECT_EQ(solutions[k].certificate.worst(), one.certificate.worst());
        EXPECT_EQ(solutions[k].iterations, one.iterations);
      }
    }
  }
}

// A feather beside an anvil: an error of the feather's motion that the anvil's scales would hide is seen with its own.
TEST(Islands, ALightPartHidesBehindNoHeavyOne) {
  const auto box = [](double mass) { return box_on_slope(mass, Vector3d(0.1, 0.1, 0.1), 0.0, 0.5, kDt, Vector3d::Zero()); };
  const Solution feather = solve(box(1e-6), with(Law::coulomb_cone)), anvil = solve(box(1e6), with(Law::coulomb_cone));
  const Solution both = solve(SideBySide({box(1e-6), box(1e6)}).problem, with(Law::coulomb_cone));
  EXPECT_EQ(both.status, Status::solved);
  EXPECT_EQ(both.certificate.momentum.scaled, std::max(feather.certificate.momentum.scaled, anvil.certificate.momentum.scaled));
  EXPECT_EQ(both.certificate.momentum.raw, std::max(feather.certificate.momentum.raw, anvil.certificate.momentum.raw));
  EXPECT_EQ(both.certificate.impulse_scale, anvil.certificate.impulse_scale);
  const double weight = 1e-6 * 9.81 * kDt;
  EXPECT_NEAR(both.impulses[0] + both.impulses[6] + both.impulses[12] + both.impulses[18], weight, 1e-9 * weight);
}

TEST(Islands, OneWithoutSolutionProvesItOfTheWhole) {
  ContactProblem clash = make_contact_problem(MatrixXd::Identity(1, 1), VectorXd::Zero(1), MatrixXd(0, 1), VectorXd(0), kDt);
  add_row(clash, 0, 1.0, 0.0, kInfinity);    // v >= 1
  add_row(clash, 0, -1.0, -kInfinity, 0.0);  // v <= -1
  std::vector<ContactProblem> parts = robots(4, 3);
  parts.insert(parts.begin() + 1, clash);
  const ContactProblem p = SideBySide(parts).problem;
  const Solution s = solve(p, with(Law::coulomb_cone));
  EXPECT_EQ(s.status, Status::infeasible);
  ASSERT_TRUE(s.ray.proof);
  EXPECT_EQ(s.ray.impulses.size(), 3 * p.contacts());
  EXPECT_TRUE(proves_infeasible(p, with(Law::coulomb_cone), s.ray));
}

TEST(Islands, ABadContactIsNamedAsTheProblemKnowsIt) {
  ContactProblem p = SideBySide(robots(5, 4)).problem;
  p.material.assign(p.contacts(), {});
  for (ContactMaterial& m : p.material) m.stiffness = 1e5;
  p.material.back().stiffness = 0.0;
  try {
    solve(p, with(Law::sap));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("material[" + std::to_string(p.contacts() - 1) + "]"));
  }
}

TEST(Islands, NoAllocationOnceGrown) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  ContactProblem p = SideBySide(robots(6, 12)).problem;
  for (int i = 0; i < p.contacts(); ++i) p.ids.push_back(static_cast<std::uint64_t>(100 + i));
  for (const Law law : {Law::frictionless, Law::coulomb_cone, Law::coulomb_pyramid, Law::todorov}) {
    SolveWorkspace w;
    Solution s;
    for (int k = 0; k < 3; ++k) solve(p, with(law), w, s);
    const std::size_t before = allocation_count();
    solve(p, with(law), w, s);
    EXPECT_EQ(allocation_count() - before, 0u) << to_string(law);
  }
}

// What was solved before is a start for those contacts that are still there, whatever became of the others.
TEST(WarmStart, AContactThatLeavesDoesNotDisturbTheOthers) {
  std::mt19937 rng(3);
  int named = 0, by_position = 0, cold = 0;
  for (int trial = 0; trial < 20; ++trial) {
    ContactProblem before = random_robot(rng, 12, 6, 0.6, kDt), after = before;
    const int gone = trial % 5;  // never the last: all behind it move up
    before.gap[gone] = 1.0;      // it bears nothing, so what the others bear stays
    Eigen::MatrixXd J = before.J.to_dense();
    const Index left = 3 * Index{5 - gone};
    J.middleRows(3 * gone, left) = J.bottomRows(left).eval();
    after.J = BlockRows::from_dense(3, J.topRows(15), after.M.sizes());
    for (GrowVector* x : {&after.mu, &after.restitution, &after.gap}) x->resize(5);
    SolveOptions options = with(Law::coulomb_cone);
    Solution s;
    const auto iterations = [&](bool names, bool warm) {
      SolveWorkspace w;
      ContactProblem first = before, second = after;
      for (std::uint64_t i = 0; names && i < 6; ++i) {
        first.ids.push_back(7 * i + 1);
        if (static_cast<int>(i) != gone) second.ids.push_back(7 * i + 1);
      }
      options.warm_start = warm;
      solve(first, options, w, s);
      solve(second, options, w, s);
      EXPECT_EQ(s.status, Status::solved) << trial;
      return s.iterations;
    };
    named += iterations(true, true);
    by_position += iterations(false, true);
    cold += iterations(false, false);
  }
  EXPECT_EQ(by_position, cold);  // another number of contacts
  EXPECT_LE(5 * named, cold);
}

}  // namespace
}  // namespace stiction::islands_test
