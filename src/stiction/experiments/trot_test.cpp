// The trot in short: the published set-ups come out as published, ours better, and every torque is within its limit.
#include "stiction/experiments/trot.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/experiments/trot_control.hpp"
#include "test_paths.hpp"

namespace stiction::trot_test {
namespace {

TrotRun short_run(TrotController controller, double mu, std::string_view setup = "ours", QpObjective objective = QpObjective::kinetic) {
  TrotRun run;
  run.model = STICTION_SOURCE_DIR "/models/links.urdf";
  run.controller = controller;
  run.objective = objective;
  run.setup = trot_setup_from_string(setup);
  run.mu = mu;
  run.duration = 2.0;
  run.seed = 1;
  return run;
}

void expect_walks(const TrotResult& r) {
  SCOPED_TRACE(r.controller + " " + r.objective + " " + r.setup);
  EXPECT_FALSE(r.fell) << "at " << r.fell_at << " s";
  EXPECT_EQ(r.uncertified, 0);
  EXPECT_LE(r.worst_residual, 1e-9);
  EXPECT_EQ(r.self_contacts, 0);
  EXPECT_GT(r.waypoints, 0);
}

// Look-ahead, gains and contacts as the paper's text has them. Of two seconds, and over mean force: step by step the ratio is noisier.
TEST(Trot, KineticQpOfThePapersTextComesOutAsPublishedOnSlipperyGround) {
  const TrotResult r = run_trot(short_run(TrotController::id_qp_mu, 0.1, "paper"));
  expect_walks(r);
  EXPECT_EQ(r.failures, 0);
  EXPECT_LE(r.position_error, *r.published.position_error);
  EXPECT_NEAR(r.force_error_of_mean, *r.published.force_error, 0.04);
}

TEST(Trot, KineticQpOfInfiniteFrictionComesOutAsPublished) {
  constexpr std::uint64_t kStarts = 8;
  for (const auto& [mu, tolerance] : {std::pair{kInfinity, 0.07}, std::pair{0.1, 0.1}}) {
    double error = 0.0, published = 0.0;
    for (std::uint64_t seed = 1; seed <= kStarts; ++seed) {
      TrotRun run = short_run(TrotController::id_qp_inf, mu, "paper");
      run.duration = 5.0;
      run.seed = seed;
      const TrotResult r = run_trot(run);
      expect_walks(r);
      EXPECT_EQ(r.failures, 0);
      EXPECT_LE(r.position_error, *r.published.position_error);
      error += r.force_error_of_mean / static_cast<double>(kStarts);
      published = *r.published.force_error;
    }
    EXPECT_NEAR(error, published, tolerance) << "mu " << mu;  // of 40 starts: 0.27, each off by 0.05 in the mean, anew under any rounding
  }
}

TEST(Trot, TorquesOfThePublishedSetUpMeetTheirLimit) {
  const TrotResult r = run_trot(short_run(TrotController::id_qp_mu, 0.1, "2014"));
  expect_walks(r);
  EXPECT_EQ(r.failures, 0);
  EXPECT_GT(r.saturated_steps, 0);
  EXPECT_LE(r.position_error, *r.published.position_error);
}

TEST(Trot, OurSetUpBeatsThePublishedKineticQp) {
  for (const auto& [controller, mu] : {std::pair{TrotController::id_qp_mu, 0.1}, std::pair{TrotController::id_qp_inf, kInfinity}}) {
    const TrotResult r = run_trot(short_run(controller, mu));
    expect_walks(r);
    EXPECT_LE(r.position_error, 0.5 * *r.published.position_error);
    EXPECT_LE(r.force_error_relative, 0.75 * *r.published.force_error);
  }
}

// One contact problem, one solver: nothing is left of the error where simulator and controller share law, look-ahead and contacts.
TEST(Trot, PredictsExactlyUnderOneLaw) {
  for (const auto& [controller, objective] :
       {std::pair{TrotController::id_lcp_mu, QpObjective::kinetic}, std::pair{TrotController::id_qp_mu, QpObjective::anitescu}}) {
    TrotRun run = short_run(controller, 0.1, "ours", objective);
    run.same_law = true;
    const TrotResult r = run_trot(run);
    expect_walks(r);
    EXPECT_EQ(r.failures, 0);
    EXPECT_LE(r.force_error_of_mean, 1e-6);
    EXPECT_LE(r.touchdown_error_of_mean, 1e-6);
    EXPECT_GT(r.touchdown_steps, 4);
  }
}

// At high friction feet wedge, and Coulomb's law allows several motions: every step in which ground and controller differ is one of them.
TEST(Trot, AtHighFrictionOneLawDiffersOnlyWhereItAllowsSeveralMotions) {
  for (const double mu : {5.0, kInfinity}) {
    TrotRun run = short_run(TrotController::id_lcp_mu, mu);
    run.same_law = true;
    const TrotResult r = run_trot(run);
    expect_walks(r);
    EXPECT_EQ(r.failures, 0);
    EXPECT_GT(r.ambiguous_steps, 0);
    EXPECT_LT(r.ambiguous_steps, r.steps / 10);  // 3 to 6 % by the chaos of the run
    EXPECT_GT(r.force_error_of_mean, 1e-4);
    EXPECT_LE(r.unambiguous_error_of_mean, 1e-6);
  }
}

// Springs and dampers: 1 mm deep under the robot, which every inverse takes for rigid.
TEST(Trot, WalksOnCompliantGroundThatTheControllerTakesForRigid) {
  for (const double mu : {0.1, kInfinity}) {
    for (const TrotController controller : {TrotController::id_lcp_mu, TrotController::id_qp_mu, TrotController::pid}) {
      TrotRun run = short_run(controller, mu);
      run.ground = TrotGround::compliant;
      const TrotResult r = run_trot(run);
      expect_walks(r);
      EXPECT_EQ(r.simulator, "stick_slip_spring");
      EXPECT_LE(r.position_error, 1.5 * *published_trot_results(to_string(controller), "rigid", std::isinf(mu)).position_error);
      if (predicts_forces(controller)) {
        EXPECT_GT(r.force_error_of_mean, 0.01);  // the law is another one
      }
    }
  }
}

TEST(Trot, HillsAreWalkedWithTheFrictionOfEachPatch) {
  TrotRun run = short_run(TrotController::id_lcp_mu, kInfinity);
  run.ground = TrotGround::hills;
  const TrotResult r = run_trot(run), again = run_trot(run);
  expect_walks(r);
  EXPECT_EQ(r.trace.x, again.trace.x);
  EXPECT_FALSE(r.published.position_error);
  EXPECT_LE(r.force_error_of_mean, 1e-3);  // one problem on both sides
  run.terrain_seed = 2;
  EXPECT_NE(run_trot(run).trace.x, r.trace.x);
  run.setup = trot_setup_from_string("2014");
  EXPECT_THROW(run_trot(run), InvalidArgument);
}

TEST(Trot, StageTwoActsAndTheTraceHasItsRates) {
  TrotRun run = short_run(TrotController::id_qp_mu, 0.1);
  const TrotResult with = run_trot(run);
  run.stage_two = false;
  const TrotResult without = run_trot(run);
  expect_walks(without);
  EXPECT_NE(with.trace.torque_rate, without.trace.torque_rate);
  ASSERT_EQ(with.trace.time.size(), 100u);  // 2 s
  double largest = 0.0;
  for (const double rate : with.trace.torque_rate) largest = std::max(largest, rate);
  EXPECT_DOUBLE_EQ(largest, with.torque_rate_max);
}

// Without limits, wedged feet ask for torques in proportion to mu, out of reach of the tolerance; those within 4 N m are found all the
// same.
TEST(Trot, WalksAtAnyFriction) {
  for (const double mu : {1e4, 1e6}) {
    TrotRun run = short_run(TrotController::id_lcp_mu, mu);
    run.same_law = true;
    run.duration = 0.5;
    const TrotResult r = run_trot(run);
    EXPECT_FALSE(r.fell) << "mu " << mu;
    EXPECT_LT(r.failures, r.steps / 25) << "mu " << mu;  // at 1e6 the last bits decide: 1 to 3 % of the periods
  }
}

// What takes slippery ground for infinitely rough asks for more torque than there is; its answer within the limits is found, not the PID's.
TEST(Trot, InfiniteFrictionOnSlipperyGroundIsSolvedWithinTheLimits) {
  for (const auto& [controller, objective] :
       {std::pair{TrotController::id_qp_inf, QpObjective::anitescu}, std::pair{TrotController::id_lcp_inf, QpObjective::kinetic}}) {
    const TrotResult r = run_trot(short_run(controller, 0.1, "ours", objective));
    expect_walks(r);
    EXPECT_EQ(r.failures, 0);
    EXPECT_GT(r.saturated_steps, r.steps / 4);
  }
}

TEST(Trot, PidAndSensedForcesWalk) {
  for (const TrotController controller : {TrotController::pid, TrotController::id_sensed_1, TrotController::id_sensed_2}) {
    for (const double mu : {0.1, kInfinity}) {
      const TrotResult r = run_trot(short_run(controller, mu, "2014"));
      expect_walks(r);
      EXPECT_LE(r.position_error, *r.published.position_error);
    }
  }
}

TEST(Trot, RowsAtHighFrictionAreDifferentExperiments) {
  const auto error = [](TrotController controller) {
    TrotRun run = short_run(controller, INFINITY);
    run.duration = 0.5;
    return run_trot(run).position_error;
  };
  EXPECT_NE(error(TrotController::id_lcp_mu), error(TrotController::id_lcp_inf));
  EXPECT_NE(error(TrotController::id_qp_mu), error(TrotController::id_qp_inf));
}

TEST(Trot, TorquesStayWithinTheirLimits) {
  TrotRun run = short_run(TrotController::id_qp_mu, 0.1, "2014");
  run.setup.torque_limit = 1.0;  // acts in most periods
  run.duration = 0.5;
  run.log = testing::TempDir() + "stiction_trot_limits.csv";
  EXPECT_GT(run_trot(run).saturated_steps, 100);
  std::ifstream file(run.log);
  std::string header, line, cell;
  std::getline(file, header);
  std::vector<std::string> names;
  for (std::istringstream in(header); std::getline(in, cell, ',');) names.push_back(cell);
  double largest = 0.0;
  while (std::getline(file, line)) {
    std::istringstream in(line);
    for (const std::string& name : names) {
      std::getline(in, cell, ',');
      if (name.starts_with("tau ")) largest = std::max(largest, std::abs(std::stod(cell)));
    }
  }
  EXPECT_GT(largest, 0.99);
  EXPECT_LE(largest, 1.0 + 1e-9);
  std::filesystem::remove(run.log);
}

TEST(Trot, SeedsPerturbTheStartAndRepeat) {
  TrotRun run = short_run(TrotController::pid, 0.1);
  run.duration = 0.2;
  const double first = run_trot(run).position_error, again = run_trot(run).position_error;
  run.seed = 2;
  EXPECT_EQ(first, again);
  EXPECT_NE(first, run_trot(run).position_error);
}

TEST(Trot, MedianAndWorstOfSeveralRuns) {
  std::vector<TrotResult> runs(3);
  runs[0].force_error = 3.0;
  runs[1].force_error = 1.0;
  runs[2].force_error = 2.0;
  EXPECT_EQ(median_worst(runs, &TrotResult::force_error).median, 2.0);
  EXPECT_EQ(median_worst(runs, &TrotResult::force_error).worst, 3.0);
  EXPECT_THROW(median_worst({}, &TrotResult::force_error), InvalidArgument);
}

// Tikhonov's term: at rest on mass m, an impulse with the normal row alone stops p within 1/m + compliance.
TEST(SoftContacts, TakeUpEnergyInProportionToTheSquareOfTheImpulse) {
  constexpr double m = 2.0, compliance = 0.25, p = -3.0;
  ContactProblem hard = make_contact_problem(m * Eigen::MatrixXd::Identity(3, 3), Eigen::VectorXd::Zero(3), Eigen::MatrixXd::Identity(3, 3),
                                             Eigen::VectorXd::Constant(1, 0.5), 0.01);
  hard.impulse[0] = p;
  ContactProblem soft;
  soften_contacts(hard, compliance, soft);
  SolveOptions options;
  options.law = Law::frictionless;
  const Solution s = solve(soft, options);
  ASSERT_EQ(s.status, Status::solved);
  EXPECT_NEAR(s.impulses[0], -p / m / (1.0 / m + compliance), 1e-12);
}

TEST(Trot, LogHasOneRowPerStepFromTheStartOnAndNamesJoints) {
  TrotRun run = short_run(TrotController::id_lcp_mu, 0.1);
  run.duration = 0.05;
  run.log = testing::TempDir() + "stiction_trot_test.csv";
  run_trot(run);
  std::ifstream file(run.log);
  std::string header, line;
  std::getline(file, header);
  for (const char* column : {"time,q ", ",q_desired LF_HIP,", ",v_desired LF_HIP,", ",tau RH_SHANK,", ",force_predicted LF_foot,"}) {
    EXPECT_NE(header.find(column), std::string::npos) << column;
  }
  std::vector<double> times;
  while (std::getline(file, line)) times.push_back(std::stod(line));
  ASSERT_EQ(times.size(), 50);
  EXPECT_EQ(times.front(), 0.0);
  EXPECT_NEAR(times.back(), 0.049, 1e-12);
  std::filesystem::remove(run.log);
}

TEST(Trot, BadOptionsNameTheArgument) {
  TrotRun run = short_run(TrotController::pid, -0.1);
  EXPECT_THROW(run_trot(run), InvalidArgument);
  EXPECT_THROW(trot_controller_from_string("id-lcp"), InvalidArgument);
  EXPECT_THROW(trot_setup_from_string("2013"), InvalidArgument);
  run = short_run(TrotController::pid, 0.1);
  run.model = "no_such.urdf";
  EXPECT_THROW(run_trot(run), std::runtime_error);
}

}  // namespace
}  // namespace stiction::trot_test
