// Scene files: what pairs of bodies say of their contacts, and errors that name line and key.
#include "stiction/sim/scene.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/sim/simulation.hpp"
#include "test_paths.hpp"

namespace stiction::scene_test {
namespace {

std::string scene_file(const std::string& pairs) {
  // Tests run side by side.
  const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / ("stiction_pairs_" + test + ".toml");
  std::ofstream(path) << R"([simulation]
dt = 0.001
gravity = [3.0, 0.0, -9.0]
law = "coulomb_cone"
[[static]]
name = "ground"
shape = "plane"
friction = 0.5
[[body]]
name = "sledge"
shape = "box"
size = [0.2, 0.2, 0.1]
mass = 1.0
position = [0.0, 0.0, 0.05]
[[body]]
name = "block"
shape = "box"
size = [0.2, 0.2, 0.1]
mass = 1.0
position = [0.0, 1.0, 0.05]
)" << pairs;
  return path.string();
}

double speed_along_x(const Simulation& simulation, int body) {
  const World& world = simulation.world();
  return simulation.state().v[world.blocks()[world.bodies()[body].block].v];
}

// The sledge is body 0, the block body 1.
void expect_speeds(const Scene& scene, double sledge, double block, double tolerance = 1e-9) {
  Simulation simulation(scene);
  ASSERT_EQ(simulation.run({.duration = 100 * scene.options.assemble.dt}).stop, Stop::duration);
  EXPECT_NEAR(speed_along_x(simulation, 0), sledge, 1e-9);
  EXPECT_NEAR(speed_along_x(simulation, 1), block, tolerance);
}

// tan of the slope is 1/3: a block with mu = 0.5 sticks, one without friction gains 3 m/s².
TEST(ScenePairs, EachPairFollowsItsOwnLaw) {
  const Scene scene = load_scene(scene_file("[[pair]]\na = \"ground\"\nb = \"sledge\"\nlaw = \"frictionless\"\n"));
  expect_speeds(scene, 0.3, 0.0);
}

TEST(ScenePairs, FrictionAndParametersOfAPair) {
  const Scene scene =
      load_scene(scene_file("[[pair]]\na = \"block\"\nb = \"ground\"\nfriction = 0.2\nrestitution = 0.5\n"
                            "[[pair]]\na = \"ground\"\nb = \"sledge\"\nlaw = \"coulomb_cone\"\nstiffness = 1e5\n"));
  ASSERT_EQ(scene.options.assemble.pairs.size(), 2u);
  EXPECT_EQ(scene.options.assemble.pairs[1].material->stiffness, 1e5);
  expect_speeds(scene, 0.0, 0.1 * (3.0 - 0.2 * 9.0), 1e-6);
}

TEST(ScenePairs, APairNeedNotCollide) {
  const Scene scene = load_scene(scene_file("[[pair]]\na = \"ground\"\nb = \"sledge\"\ncollide = false\n"));
  Stepper stepper = scene.make_stepper();
  State state = scene.start;
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(stepper.world().nv());
  for (int k = 0; k < 10; ++k) ASSERT_TRUE(stepper.step(none, state).accepted) << k;
  for (const ContactPoint& c : stepper.contacts()) EXPECT_NE(c.body_a, stepper.world().body("sledge"));
  EXPECT_FALSE(stepper.contacts().empty());
}

void expect_error(const std::string& pairs, const char* part) {
  try {
    load_scene(scene_file(pairs));
    FAIL() << pairs;
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
}

// Contacts of pairs that name no law follow the one that the step is taken with, whoever chose it.
TEST(ScenePairs, ALawGivenLaterReachesThePairsThatNameNone) {
  Scene scene = load_scene(scene_file("[[pair]]\na = \"ground\"\nb = \"block\"\nlaw = \"coulomb_cone\"\n"));
  scene.options.contact.law = Law::frictionless;
  expect_speeds(scene, 0.3, 0.0);
}

TEST(ScenePairs, ABodyAloneIsAllItsPairs) {
  const Scene scene = load_scene(scene_file("[[pair]]\na = \"sledge\"\nfriction = 0.0\n"));
  expect_speeds(scene, 0.3, 0.0);
}

// Two boxes of 0.1 x 0.1 x 0.2 side by side, by density and with a centre of mass and inertia of the file's.
TEST(SceneBodies, MassIsThatOfTheShapes) {
  const std::string two =
      "[[body]]\nname = \"two\"\nfriction = 0.3\nposition = [9, 0, 0]\nvelocity = [1, 0, 0]\nshapes = [\n"
      "{ shape = \"box\", size = [0.1, 0.1, 0.2], position = [0.05, 0, 0] },\n"
      "{ shape = \"box\", size = [0.2, 0.1, 0.1], position = [0.15, 0, 0], rpy = [0, 1.5707963267948966, 0], "
      "friction = 0.7 }]\n";
  const auto body = [&](const std::string& keys) {
    const Scene scene = load_scene(scene_file(two + keys));
    EXPECT_EQ(scene.world.geometries()[2].friction, 0.3);
    EXPECT_EQ(scene.world.geometries()[3].friction, 0.7);
    EXPECT_EQ(scene.start.v[12], 1.0);
    return scene.world.bodies()[scene.world.body("two")];
  };
  const Body solid = body("density = 500.0\n");
  EXPECT_NEAR(solid.mass, 2.0, 1e-12);
  EXPECT_LE((solid.com - Eigen::Vector3d(0.1, 0.0, 0.0)).norm(), 1e-12);
  const Eigen::Vector3d moments(0.01 + 0.04, 0.04 + 0.04, 0.04 + 0.01);
  EXPECT_LE((solid.inertia.diagonal() - 2.0 / 12.0 * moments).norm(), 1e-12);
  const Body given = body("mass = 3.0\ncom = [0.0, 0.1, 0.0]\ninertia = [[1, 0.1, 0], [0.1, 2, 0], [0, 0, 2.5]]\n");
  EXPECT_EQ(given.mass, 3.0);
  EXPECT_EQ(given.com, Eigen::Vector3d(0.0, 0.1, 0.0));
  EXPECT_EQ(given.inertia(0, 1), 0.1);
}

TEST(SceneBodies, VelocitiesAreOfABodyOfTheWorld) {
  Scene scene = load_scene("stack");
  const World& world = scene.world;
  const int body = world.joints().front().body;
  const Eigen::Vector3d one(1.0, 0.0, 0.0), none = Eigen::Vector3d::Zero();
  set_velocity(world, body, one, none, scene.start);
  EXPECT_NEAR(scene.start.v.head<3>().norm(), 1.0, 1e-12);
  for (const int other : {-1, 99}) EXPECT_THROW(set_velocity(world, other, one, none, scene.start), InvalidArgument);
  EXPECT_THROW(set_velocity(world, body, one * std::nan(""), none, scene.start), InvalidArgument);
  EXPECT_THROW(set_velocity(world, body, one, one * kInfinity, scene.start), InvalidArgument);
  State empty;
  EXPECT_THROW(set_velocity(world, body, one, none, empty), InvalidArgument);
}

TEST(ScenePairs, ErrorsNameTheKey) {
  expect_error("[[pair]]\na = \"ground\"\nb = \"sled\"\n", "'sled'");
  expect_error("[[pair]]\na = \"ground\"\nb = \"sledge\"\nfriction = -1.0\n", "friction");
  expect_error("[[pair]]\na = \"ground\"\nb = \"sledge\"\nlaw = \"glue\"\n", "glue");
  expect_error("[[pair]]\na = \"ground\"\nb = \"sledge\"\nstifness = 1.0\n", "stifness");
  expect_error("[[pair]]\na = \"ground\"\nb = \"sledge\"\nstiffness = -1.0\n", "stiffness");
  expect_error("[[pair]]\na = \"ground\"\nb = \"sledge\"\ncollide = false\nfriction = 1.0\n",
               "pair[0].friction: expected none beside collide = false, got 1");
  expect_error("[[pair]]\na = \"ground\"\nb = \"sledge\"\ncollide = \"no\"\n", "collide");
  expect_error("[[pair]]\na = \"ground\"\nb = \"sledge\"\n", "pair[0].friction: missing, and no restitution, law");
}

TEST(SceneErrors, NameTheTableAndItsLine) {
  expect_error("[[robot]]\nfile = \"nowhere.urdf\"\n", "robot[0].file: expected a file in ");
  expect_error("[[body]]\nname = \"flat\"\nshape = \"box\"\nsize = [1, 1, 0]\nmass = 1\n", "body[2]: ");
  expect_error("[[body]]\nname = \"two\"\nshape = \"sphere\"\nradius = 1\nmass = 1\ndensity = 1\n", "body[2].density");
  expect_error("[[body]]\nname = \"two\"\nmass = 1\nshapes = [{shape = \"sphere\"}]\n", "body[2].shapes[0].radius: missing");
  expect_error("[[robot]]\nfile = \"links.urdf\"\njoint_settings = { LF_HIP = { dampening = 1 } }\n", "joint_settings.LF_HIP.dampening");
  expect_error("[[pair]]\na = \"ground\"\ncollide = false\n", "pair[0].collide");
  expect_error("[[pair]]\na = \"ground\"\nb = \"ground\"\nfriction = 1\n", "pair[0].b: expected another body than a, got 'ground'");
  expect_error("[[body]]\nname = \"none\"\nshapes = []\nmass = 1\n", "body[2].shapes: expected one or more, got none");
  expect_error("[[body]]\nname = \"rock\"\nshape = \"mesh\"\nfile = \"none.stl\"\nmass = 1\n", "none.stl: no such file");
  expect_error("[[body]]\nname = \"rock\"\nshape = \"mesh\"\nmass = 1\n", "body[2].file: missing");
  expect_error("[[robot]]\nfile = \"links.urdf\"\nkeyframe = \"none\"\n", "robot[0]: keyframe: expected");
  expect_error("[[robot]]\nfile = \"links.urdf\"\njoints = { none = 1.0 }\n", "robot[0]: joints, joint_settings: expected");
  expect_error("[[drive]]\nvelocity = 1.0\n", "drive[0].velocity: expected joints to drive, got none");
  expect_error("[[robot]]\nfile = \"links.urdf\"\nsrdf = \"none.srdf\"\n", "robot[0].srdf: ");
  expect_error("[[robot]]\nfile = \"links.urdf\"\n[[drive]]\njoints = [\"LF_HIP\", \"LF_HIP\"]\nvelocity = 1\n",
               "drive[0].joints: expected every joint once, got 'LF_HIP' again");
  expect_error("[[body]]\nname = \"light\"\nshape = \"sphere\"\nradius = 1\nmass = 0\n", "body[2]: ");
  expect_error("[[body]]\nname = \"ball\"\nshape = \"sphere\"\nradius = 1\nmass = 1\nrestitution = 2\n",
               "body[2].restitution: expected a number in [0, 1], got 2");
}

TEST(SceneErrors, AnAcceptableResidualThatNoStepCouldGoOnWith) {
  const auto error = [](const char* simulation) {
    const std::string path = testing::TempDir() + "stiction_acceptable.toml";
    std::ofstream(path) << "[simulation]\n" << simulation;
    try {
      static_cast<void>(load_scene(path));
    } catch (const FileError& refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  EXPECT_THAT(error("acceptable = 1e-10\n"),
              testing::HasSubstr("line 2, simulation.acceptable: expected a number >= the tolerance of 1e-09"));
  EXPECT_THAT(error("tolerance = 1e-4\nacceptable = 1e-5\n"), testing::HasSubstr("line 3, simulation.acceptable: expected a number >="));
  EXPECT_THAT(error("dt = -1e-3\n"), testing::HasSubstr("line 2, simulation.dt: expected a finite number > 0, got -0.001"));
  EXPECT_THAT(error("strict = \"yes\"\n"), testing::HasSubstr("simulation.strict: expected true or false, got 'yes'"));
  EXPECT_THAT(error("strict = 1\n"), testing::HasSubstr("simulation.strict: expected true or false, got 1"));
  EXPECT_THAT(error("dt = true\n"), testing::HasSubstr("simulation.dt: expected a number, got true"));
  EXPECT_THAT(error("gravity = [0, 0, nan]\n"), testing::HasSubstr("simulation.gravity: expected three finite numbers, got [ 0, 0, nan ]"));
  EXPECT_THAT(error("friction = -1\n"), testing::HasSubstr("simulation.friction: expected a number >= 0 or infinity, got -1"));
  EXPECT_THAT(error("restitution = 2\n"), testing::HasSubstr("simulation.restitution: expected a number in [0, 1], got 2"));
  EXPECT_THAT(error("tolerance = 0\n"), testing::HasSubstr("simulation.tolerance: expected a finite number > 0, got 0"));
  EXPECT_THAT(error("law = \"none\"\n"), testing::HasSubstr("line 2, simulation.law: expected"));
  EXPECT_THAT(error("strict = true\nacceptable = 1e-6\n"), testing::HasSubstr("simulation.acceptable: expected none beside strict"));
  EXPECT_EQ(error("tolerance = 1e-4\n"), "");  // the usual one was not asked for
  EXPECT_EQ(error("strict = true\n"), "");
}

TEST(SceneErrors, AnUnknownTableIsToldThoseThatThereAre) {
  expect_error("[boddy]\nmass = 1\n",
               "unknown table [boddy]: expected some of body, coupled, drive, events, material, pair, robot, simulation");
}

TEST(SceneErrors, AMisspeltKeyIsNamedBeforeTheOneThatIsMissingForIt) {
  expect_error("[[static]]\nname = \"g\"\nshap = \"plane\"\n", "static[1].shap: unknown key: expected some of ");
  expect_error("[[body]]\nshap = \"sphere\"\nradius = 1\nmass = 1\n", "body[2].shap: unknown key");
  expect_error("[[body]]\nshape = \"sphere\"\nradius = 0.1\nmas = 1.0\n", "body[2].mas: unknown key");
  expect_error("[[body]]\nshape = \"box\"\nsizes = [1, 1, 1]\nmass = 1\n", "body[2].sizes: unknown key");
  expect_error("[[body]]\nshape = \"sphere\"\nradious = 0.1\nmass = 1\n", "body[2].radious: unknown key");
  expect_error("[[body]]\nshape = \"capsule\"\nradius = 0.1\nlenght = 1\nmass = 1\n", "body[2].lenght: unknown key");
  expect_error("[[body]]\nshape = \"mesh\"\nfiel = \"rock.stl\"\nmass = 1\n", "body[2].fiel: unknown key");
  expect_error("[[body]]\nmass = 1\nshapes = [{shape = \"sphere\", radios = 1}]\n", "body[2].shapes[0].radios: unknown key");
  expect_error("[[pair]]\naa = \"ground\"\nfriction = 0.1\n", "pair[0].aa: unknown key");
  expect_error("[[pair]]\na = \"ground\"\nbb = \"sledge\"\ncollide = false\n", "pair[0].bb: unknown key");
}

TEST(SceneErrors, WhatIsMissingIsNamedWithTheTable) {
  expect_error("[[body]]\nradius = 1\nmass = 1\n", "body[2].shape: expected sphere, box, capsule, cylinder, plane or mesh");
  expect_error("[[body]]\nshape = \"cylinder\"\nmass = 1\nradius = 1\n", "body[2].length: missing");
  expect_error("[[pair]]\nfriction = 0.1\n", "pair[0].a: missing: expected the name of a body or link");
}

TEST(SceneErrors, HoldGainsAreFiniteAndNotNegative) {
  for (const char* gain : {"hold_kp", "hold_kd"}) {
    for (const char* value : {"-1", "inf", "\"inf\""}) {
      expect_error(fmt::format("[[robot]]\nfile = \"links.urdf\"\n{} = {}\n", gain, value).c_str(),
                   fmt::format("robot[0].{}: expected a finite number >= 0", gain).c_str());
    }
  }
}

TEST(SceneErrors, WhatIsWrittenOnceIsATable) {
  const std::string path = scene_file("");
  for (const char* text : {"\n[[simulation]]\ndt = 1\n", "\nsimulation = 3\n", "\n[[material]]\n", "\n[[events]]\n"}) {
    std::ofstream(path) << text;
    try {
      load_scene(path);
      ADD_FAILURE() << text;
    } catch (const FileError& error) {
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("line 2: write ["), testing::HasSubstr("], once"))) << text;
    }
  }
}

TEST(SceneErrors, NamesThatShipAreScenes) {
  EXPECT_EQ(load_scene("stack").world.nv(), 30);
  try {
    load_scene("stak");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("stack"));
  }
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
  EXPECT_NE(message("[[body]]\nshape = \"sphere\"\nradius = 1.0\n").find("line 1, body[0].mass: missing"), std::string::npos);
  EXPECT_NE(message("[[body]]\nmass = 1.0\nshape = \"sphere\"\nradius = 1.0\ncolour = 1\n").find("line 5, body[0].colour: unknown key"),
            std::string::npos);
  EXPECT_THAT(message("[material]\nfoo = 1\n"),
              testing::AllOf(testing::HasSubstr("material.foo: unknown key: expected some of "), testing::HasSubstr(", stiffness, "),
                             testing::HasSubstr("dissipation_time")));
  EXPECT_THAT(message("[[robot]]\nfile = \"no.urdf\"\n"),
              testing::AllOf(testing::HasSubstr("robot[0].file: expected a file in "), testing::HasSubstr(", got 'no.urdf'"),
                             testing::Not(testing::HasSubstr("scenes that come"))));
  EXPECT_THAT(message("[[terrain]]\nkind = \"flat\"\nsize = [2, 0]\n"),
              testing::HasSubstr("line 3, terrain[0].size: expected a finite number > 0, got 0"));
  EXPECT_NE(message("[[body]]\nmass = -1.0\nshape = \"sphere\"\nradius = 1.0\n").find("mass"), std::string::npos);
  EXPECT_NE(message("a = = 1").find("line 1"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(Scene, SaysHowFarAStepUndoesErrorsAndWhichForcesItTakes) {
  const std::string path = testing::TempDir() + "stiction_settings_test.toml";
  const auto options = [&](const std::string& text) {
    std::ofstream(path) << "[simulation]\n" << text;
    return load_scene(path).options;
  };
  const StepOptions read = options("recovery = 0.4\nloop_recovery = 0.5\nchoice = \"least_norm\"\n");
  EXPECT_EQ(read.recovery, 0.4);
  EXPECT_EQ(read.assemble.loop_recovery, 0.5);
  EXPECT_EQ(read.contact.choice, Choice::least_norm);
  EXPECT_EQ(options("").recovery, StepOptions{}.recovery);
  for (const char* text : {"recovery = 1.5\n", "choice = \"any\"\n"}) {
    try {
      options(text);
      FAIL();
    } catch (const std::exception& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("line 2, simulation." + std::string(text).substr(0, 6)));
    }
  }
  std::filesystem::remove(path);
}

TEST(Scene, NamesItsScheme) {
  const std::string path = testing::TempDir() + "stiction_scheme_test.toml";
  const auto scheme = [&](const std::string& text) {
    std::ofstream(path) << text;
    return load_scene(path).options.scheme;
  };
  EXPECT_EQ(scheme("[simulation]\nscheme = \"moreau_midpoint\"\n"), Scheme::moreau_midpoint);
  EXPECT_EQ(scheme("[simulation]\ndt = 0.01\n"), Scheme::semi_implicit_euler);
  try {
    scheme("[simulation]\nscheme = \"euler\"\n");
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("scheme"), testing::HasSubstr("'euler'")));
  }
  std::filesystem::remove(path);
}

TEST(Scene, SaysHowEventsAreTaken) {
  const std::string path = testing::TempDir() + "stiction_events_test.toml";
  const auto events = [&](const std::string& text) {
    std::ofstream(path) << "[simulation]\nscheme = \"event_driven\"\n[events]\n" << text;
    return load_scene(path).options.events;
  };
  const EventOptions read = events("integrator = \"rk45\"\nimpact_model = \"poisson\"\nimpact_order = \"sequential\"\nmost_events = 7\n");
  EXPECT_EQ(read.integrator, Integrator::rk45);
  EXPECT_EQ(read.impact, ImpactModel::poisson);
  EXPECT_EQ(read.order, ImpactOrder::sequential);
  EXPECT_EQ(read.most_events, 7);
  EXPECT_EQ(read.rest_speed, EventOptions{}.rest_speed);
  const auto message = [&](const std::string& text) -> std::string {
    try {
      events(text);
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  };
  EXPECT_THAT(message("integrator = \"rk5\"\n"), testing::AllOf(testing::HasSubstr("integrator"), testing::HasSubstr("rk45")));
  EXPECT_THAT(message("rest_speed = 0.0\n"), testing::HasSubstr("rest_speed"));
  EXPECT_THAT(message("tolerance = 1.0\n"), testing::HasSubstr("unknown key"));
  std::filesystem::remove(path);
}

// The quadruped that stands under its joint hold, from one file in three sets of coordinates: it comes to rest in one posture.
TEST(Scene, ARobotIsCutAsItSays) {
  const std::string path = testing::TempDir() + "stiction_cut_test.toml";
  std::ofstream(path) << "[[robot]]\nfile = \"links.urdf\"\nfloating = true\ncoordinates = \"extended\"\ncut = [\"LF_SHANK\"]\n"
                      << "[simulation]\nloop_recovery = 0.5\n";
  const Scene scene = load_scene(path);
  EXPECT_EQ(scene.options.assemble.loop_recovery, 0.5);
  EXPECT_EQ(scene.world.nv(), 17 + 6);
  EXPECT_EQ(load_scene(path, Coordinates::maximal).world.nv(), 78);
  std::ofstream(path) << "[[robot]]\nfile = \"links.urdf\"\ncut = \"LF_SHANK\"\n";
  EXPECT_THROW(load_scene(path), FileError);
  std::filesystem::remove(path);
  const auto stood = [](Coordinates coordinates) {
    const Scene own = load_scene("quadruped", coordinates);
    Simulation simulation(own);
    EXPECT_EQ(simulation.run({.duration = 0.5, .control = hold_joints(own)}).stop, Stop::duration);
    return simulation.state().q;
  };
  const Eigen::VectorXd minimal = stood(Coordinates::minimal);
  for (const Coordinates c : {Coordinates::extended, Coordinates::maximal}) {
    const Eigen::VectorXd q = stood(c);
    EXPECT_LE((q.head<7>() - minimal.head<7>()).norm(), 1e-4) << to_string(c);  // the base comes first
  }
}

TEST(Scene, ABaseFloatsWhereTheSceneSaysSoOrElseTheFile) {
  const std::string path = testing::TempDir() + "stiction_base_test.toml", robot = "stiction_base_test.xml";
  std::ofstream(testing::TempDir() + robot) << "<mujoco><worldbody><body name='base'><freejoint/><geom size='0.1'/>"
                                            << "<body name='arm'><joint/><geom size='0.1'/></body></body></worldbody></mujoco>";
  const auto velocities = [&](const std::string& file, const std::string& keys) {
    std::ofstream(path) << "[[robot]]\nfile = \"" << file << "\"\n" << keys;
    return load_scene(path).world.nv();
  };
  EXPECT_EQ(velocities(robot, ""), 7);
  EXPECT_EQ(velocities(robot, "floating = true\n"), 7);
  EXPECT_EQ(velocities(robot, "floating = false\n"), 1);
  EXPECT_EQ(velocities("links.urdf", ""), 12);
  EXPECT_EQ(velocities("links.urdf", "floating = false\n"), 12);
  EXPECT_EQ(velocities("links.urdf", "floating = true\n"), 18);
  std::filesystem::remove(path);
  std::filesystem::remove(testing::TempDir() + robot);
}

TEST(Scene, AHoldIsCutToTheEffortLimitAndNothingHoldsWhatIsNotDriven) {
  const std::string path = testing::TempDir() + "stiction_hold_test.toml", robot = "stiction_hold_test.xml";
  std::ofstream(testing::TempDir() + robot)
      << "<mujoco><worldbody><body><joint name='j' axis='0 1 0'/><geom size='0.1' pos='1 0 0' mass='1'/></body></worldbody>"
      << "<actuator><motor joint='j'/></actuator></mujoco>";
  const auto torque = [&](const std::string& keys) {
    std::ofstream(path) << "[[robot]]\nfile = \"" << robot << "\"\nhold_kp = 20.0\n" << keys;
    const Scene scene = load_scene(path);
    State state = scene.start;
    state.q[0] += 0.5;
    Eigen::VectorXd tau;
    scene.held_torques(state, tau);
    return tau[0];
  };
  EXPECT_DOUBLE_EQ(torque(""), -10.0);
  EXPECT_DOUBLE_EQ(torque("joint_settings = { j = { effort_limit = 3.0 } }\n"), -3.0);
  EXPECT_DOUBLE_EQ(torque("joint_settings = { j = { effort_limit = 0.0 } }\n"), 0.0);
  std::filesystem::remove(path);
  std::filesystem::remove(testing::TempDir() + robot);
}

TEST(Scene, ThoseThatComeWithStictionRun) {
  for (const char* name : {"incline", "stack", "bounce", "quadruped"}) {
    const Scene scene = load_scene(std::string(STICTION_SOURCE_DIR "/models/scenes/") + name + ".toml");
    const RunSummary run = Simulation(scene).run({.duration = 50 * scene.options.assemble.dt, .control = hold_joints(scene)});
    EXPECT_EQ(run.stop, Stop::duration) << name << " step " << run.steps;
  }
}

TEST(Scene, BallReboundsToTheSquareOfItsRestitution) {
  const Scene scene = load_scene(STICTION_SOURCE_DIR "/models/scenes/bounce.toml");
  double apex = 0.0;
  bool bounced = false;
  const auto watch = [&](const StepTaken& step) {
    bounced |= step.state.v[2] > 0.0;
    if (bounced) apex = std::max(apex, step.state.q[2] - 0.1);
  };
  ASSERT_EQ(Simulation(scene).run({.duration = 1.2, .observers = {watch}}).stop, Stop::duration);
  EXPECT_NEAR(apex, 0.64, 0.01);
}

}  // namespace
}  // namespace stiction::scene_test
