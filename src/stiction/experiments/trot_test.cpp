// The trot in short: every controller walks on the ground that it is meant for, and predicts its forces.
#include "stiction/experiments/trot.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/experiments/scene.hpp"
#include "test_paths.hpp"

namespace stiction {
namespace {

TrotRun short_run(TrotController controller, double mu) {
  TrotRun run;
  run.model = STICTION_SOURCE_DIR "/models/links.urdf";
  run.controller = controller;
  run.mu = mu;
  run.duration = 2.0;
  return run;
}

struct Case {
  TrotController controller;
  double mu;
};

class Walks : public testing::TestWithParam<Case> {};

TEST_P(Walks, WithoutFallingAndWithinThePublishedError) {
  const TrotResult r = run_trot(short_run(GetParam().controller, GetParam().mu));
  EXPECT_FALSE(r.fell) << "at " << r.fell_at << " s";
  EXPECT_EQ(r.uncertified, 0);
  EXPECT_LE(r.worst_residual, 1e-9);
  ASSERT_TRUE(r.published.position_error);
  EXPECT_LE(r.position_error, *r.published.position_error);
  if (GetParam().controller == TrotController::pid) return;
  EXPECT_EQ(r.controller_failures, 0);
  EXPECT_LE(r.force_error_relative, 1e-3);
  EXPECT_GT(r.touchdown_steps, 4);
}

INSTANTIATE_TEST_SUITE_P(Controllers, Walks,
                         testing::Values(Case{TrotController::pid, INFINITY}, Case{TrotController::id_lcp_mu, 0.1},
                                         Case{TrotController::id_lcp_mu, INFINITY}, Case{TrotController::id_lcp_inf, INFINITY},
                                         Case{TrotController::id_qp_mu, 0.1}, Case{TrotController::id_qp_mu, INFINITY},
                                         Case{TrotController::id_qp_inf, INFINITY}),
                         [](const auto& instance) {
                           std::string name =
                               std::string(to_string(instance.param.controller)) + (std::isinf(instance.param.mu) ? "_inf" : "_low");
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST(Trot, LogHasOneRowPerStep) {
  TrotRun run = short_run(TrotController::id_lcp_mu, 0.1);
  run.duration = 0.05;
  run.log = testing::TempDir() + "stiction_trot_test.csv";
  run_trot(run);
  std::ifstream file(run.log);
  std::string line;
  int lines = 0;
  while (std::getline(file, line)) ++lines;
  EXPECT_EQ(lines, 51);
  std::filesystem::remove(run.log);
}

TEST(Trot, BadOptionsNameTheArgument) {
  TrotRun run = short_run(TrotController::pid, -0.1);
  EXPECT_THROW(run_trot(run), InvalidArgument);
  EXPECT_THROW(trot_controller_from_string("id-lcp"), InvalidArgument);
  run = short_run(TrotController::pid, 0.1);
  run.model = "no_such.urdf";
  EXPECT_THROW(run_trot(run), std::runtime_error);
}

TEST(Scene, NamesFileLineAndKey) {
  const std::string path = testing::TempDir() + "stiction_scene_test.toml";
  const auto message = [&](const std::string& text) -> std::string {
    std::ofstream(path) << text;
    try {
      load_scene(path);
    } catch (const FileError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message("[[static]]\nshape = \"plane\"\n"), "");
  EXPECT_NE(message("[simulation]\ndt = \"fast\"\n").find("line 2, simulation.dt: expected a number"), std::string::npos);
  EXPECT_NE(message("[[body]]\nmas = 1.0\nshape = \"sphere\"\nradius = 1.0\n").find("body[0].mass: missing"), std::string::npos);
  EXPECT_NE(message("[[body]]\nmass = 1.0\nshape = \"sphere\"\nradius = 1.0\ncolour = 1\n").find("line 5, body[0].colour: unknown key"),
            std::string::npos);
  EXPECT_NE(message("[[body]]\nmass = -1.0\nshape = \"sphere\"\nradius = 1.0\n").find("mass"), std::string::npos);
  EXPECT_NE(message("a = = 1").find("line 1"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(Scene, ThoseThatComeWithStictionRun) {
  for (const char* name : {"incline", "stack", "bounce", "quadruped"}) {
    const Scene scene = load_scene(std::string(STICTION_SOURCE_DIR "/models/scenes/") + name + ".toml");
    Stepper stepper = scene.make_stepper();
    State state = scene.start;
    Eigen::VectorXd tau;
    for (int k = 0; k < 50; ++k) {
      scene.held_torques(state, tau);
      ASSERT_TRUE(stepper.step(tau, state).accepted) << name << " step " << k;
    }
  }
}

TEST(Scene, BallReboundsToTheSquareOfItsRestitution) {
  const Scene scene = load_scene(STICTION_SOURCE_DIR "/models/scenes/bounce.toml");
  Stepper stepper = scene.make_stepper();
  State state = scene.start;
  double apex = 0.0;
  bool bounced = false;
  while (state.time < 1.2) {
    ASSERT_TRUE(stepper.step(Eigen::VectorXd::Zero(6), state).accepted);
    bounced |= state.v[2] > 0.0;
    if (bounced) apex = std::max(apex, state.q[2] - 0.1);
  }
  EXPECT_NEAR(apex, 0.64, 0.01);
}

}  // namespace
}  // namespace stiction
