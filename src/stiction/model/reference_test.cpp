// Pinocchio's own readers and algorithms as the reference for ours: every robot of example-robot-data.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/parsers/mjcf.hpp>
#include <pinocchio/parsers/urdf.hpp>

#include "stiction/base/errors.hpp"
#include "stiction/model/dynamics.hpp"
#include "stiction/model/robots_for_test.hpp"
#include "test_paths.hpp"

namespace stiction::reference_test {
namespace {

using ConstVector = Eigen::Ref<const Eigen::VectorXd>;

/// Our q and v in the coordinates of a model that Pinocchio read: other order of joints, continuous joints as cosine and sine.
struct Reference {
  pinocchio::Model model;
  Eigen::VectorXd q, v;
  std::vector<int> v_index;  ///< of each of our velocity coordinates

  void set(const World& world, const Eigen::VectorXd& ours_q, const Eigen::VectorXd& ours_v) {
    q = Eigen::VectorXd::Zero(model.nq);
    v = Eigen::VectorXd::Zero(model.nv);
    v_index.assign(world.nv(), -1);
    for (const Joint& joint : world.joints()) {
      const std::string name = joint.kind == JointKind::free ? "root_joint" : joint.name;
      ASSERT_TRUE(model.existJointName(name)) << name;
      const auto id = model.getJointId(name);
      if (model.nqs[id] == 2) {
        q.segment<2>(model.idx_qs[id]) << std::cos(ours_q[joint.q]), std::sin(ours_q[joint.q]);
      } else {
        q.segment(model.idx_qs[id], joint.nq) = ours_q.segment(joint.q, joint.nq);
      }
      v.segment(model.idx_vs[id], joint.nv) = ours_v.segment(joint.v, joint.nv);
      for (int i = 0; i < joint.nv; ++i) v_index[joint.v + i] = model.idx_vs[id] + i;
    }
  }
};

void expect_same_dynamics(const World& world, Reference& reference, const std::string& name) {
  ASSERT_EQ(world.nv(), reference.model.nv) << name;
  if (world.nv() == 0) return;
  const Eigen::VectorXd q = random_configuration(world, 7);
  Eigen::VectorXd v(world.nv());
  for (Eigen::Index i = 0; i < v.size(); ++i) v[i] = std::sin(1.0 + 2.0 * static_cast<double>(i));
  reference.set(world, q, v);
  pinocchio::Data data(reference.model);
  const ConstVector q_ref(reference.q), v_ref(reference.v);
  pinocchio::crba(reference.model, data, q_ref, pinocchio::Convention::WORLD);
  data.M.triangularView<Eigen::StrictlyLower>() = data.M.transpose();
  pinocchio::nonLinearEffects(reference.model, data, q_ref, v_ref);
  WorldData ours(world);
  update(world, q, v, ours);
  const auto& index = reference.v_index;
  const double M_scale = data.M.cwiseAbs().maxCoeff(), h_scale = data.nle.cwiseAbs().maxCoeff();
  EXPECT_LE((ours.M.to_dense() - data.M(index, index)).cwiseAbs().maxCoeff(), 1e-11 * M_scale) << name;
  EXPECT_LE((ours.bias - data.nle(index)).cwiseAbs().maxCoeff(), 1e-11 * (h_scale + 1.0)) << name;
}

std::vector<std::string> example_urdfs() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(EXAMPLE_ROBOT_DATA)) {
    if (entry.path().extension() == ".urdf") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Reference, EveryExampleRobotHasTheDynamicsThatPinocchioReads) {
  int compared = 0;
  std::set<std::string> refused;
  for (const std::string& file : example_urdfs()) {
    for (const BaseKind base : {BaseKind::fixed, BaseKind::floating}) {
      WorldBuilder builder;
      RobotOptions options;
      options.base = base;
      options.allow_impossible_inertia = true;
      try {
        builder.add_robot(file, options);
      } catch (const FileError&) {
        refused.insert(std::filesystem::path(file).stem().string());
        continue;
      }
      const World world = builder.build();
      Reference reference;
      if (base == BaseKind::floating) {
        pinocchio::urdf::buildModel(file, pinocchio::JointModelFreeFlyer(), reference.model);
      } else {
        pinocchio::urdf::buildModel(file, reference.model);
      }
      expect_same_dynamics(world, reference, file);
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
  // Two have joints that move links without mass, the third is a macro to be expanded, without links.
  EXPECT_EQ(refused, (std::set<std::string>{"romeo", "romeo_laas_small", "ur3"}));
}

std::string turn_and_slide(const std::string& axis) {
  std::string text = R"(<robot name="r"><link name="base"/>)", parent = "base";
  for (const std::string type : {"continuous", "prismatic"}) {
    const std::string link = type + "_link";
    text += "<link name='" + link + R"('><inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>
      <inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="0" iyz="0.02"/></inertial></link>)";
    text += "<joint name='" + type + "' type='" + type + "'><parent link='" + parent + "'/><child link='" + link + "'/><axis xyz='" + axis +
            "'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>";
    parent = link;
  }
  return text + "</robot>";
}

TEST(Reference, AnAxisOfAnyLengthIsADirectionAsPinocchioReadsIt) {
  const auto world_of = [](const char* axis) {
    WorldBuilder builder;
    builder.add_robot_text(turn_and_slide(axis));
    return builder.build();
  };
  for (const char* axis : {"0 0 2", "1 2 -3", "1e-6 2e-6 0", "-30 40 1200", "0.577 0.577 0.577"}) {
    Reference reference;
    pinocchio::urdf::buildModelFromXML(turn_and_slide(axis), reference.model);
    expect_same_dynamics(world_of(axis), reference, axis);
  }
  const World unit = world_of("0.6 0 -0.8");
  const Eigen::VectorXd q = random_configuration(unit, 7), v = Eigen::VectorXd::Ones(2);
  WorldData expected(unit);
  update(unit, q, v, expected);
  for (const char* axis : {"3e200 0 -4e200", "3e-200 0 -4e-200"}) {  // whose squares are no numbers
    const World world = world_of(axis);
    WorldData found(world);
    update(world, q, v, found);
    EXPECT_LE((found.M.to_dense() - expected.M.to_dense()).cwiseAbs().maxCoeff(), 1e-14) << axis;
    EXPECT_LE((found.bias - expected.bias).cwiseAbs().maxCoeff(), 1e-13) << axis;
  }
}

// Several joints per body, ball and free joints, classes, inertia from geoms. Joints and coordinates come in the file's order in both.
TEST(Reference, MjcfHasTheDynamicsThatPinocchioReads) {
  const std::string file = R"(<mujoco model="m"><compiler angle="radian"/>
    <default><geom density="700"/><default class="arm"><joint armature="0.02" axis="0 1 0"/></default></default>
    <worldbody><body name="trunk" pos="0 0 1"><freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.05"/><geom type="sphere" size="0.07" pos="0.2 0 0.1"/>
      <body name="hip" pos="0.1 0.1 -0.05" euler="0.2 -0.3 0.4"><joint name="hx" axis="1 0 0" range="-1 1"/><joint name="hz" axis="0 0 1" range="-1 1"/>
        <geom type="cylinder" size="0.04 0.15" pos="0 0 -0.15"/>
        <body name="shank" pos="0 0 -0.3"><joint name="knee" class="arm" range="-2 0" pos="0 0.01 0.02"/>
          <inertial pos="0 0 -0.1" mass="0.7" diaginertia="0.01 0.012 0.003" quat="0.9 0.1 0.2 0"/></body></body>
      <body name="head" pos="0 0 0.2"><joint name="neck" type="ball"/><geom type="sphere" size="0.1" pos="0 0 0.12"/></body>
      <body name="rod" pos="-0.2 0 0" quat="0.8 0 0.6 0"><joint name="slide" type="slide" axis="0 0 1" range="0 0.2"/>
        <geom type="box" size="0.02 0.03 0.1"/></body></body></worldbody></mujoco>)";
  WorldBuilder builder;
  builder.add_robot_text(file);
  const World world = builder.build();
  pinocchio::Model model;
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "stiction_reference_test.xml";
  std::ofstream(path) << file;
  pinocchio::mjcf::buildModel(path.string(), model);
  std::filesystem::remove(path);
  ASSERT_EQ(world.nq(), model.nq);
  ASSERT_EQ(world.nv(), model.nv);
  Eigen::VectorXd q = random_configuration(world, 3), v(world.nv());
  q.head<7>() << 0.1, -0.2, 0.3, 0.5, 0.5, -0.5, 0.5;
  for (Eigen::Index i = 0; i < v.size(); ++i) v[i] = std::cos(static_cast<double>(i));
  pinocchio::Data data(model);
  const ConstVector q_ref(q), v_ref(v);
  pinocchio::crba(model, data, q_ref, pinocchio::Convention::WORLD);
  data.M.triangularView<Eigen::StrictlyLower>() = data.M.transpose();
  pinocchio::nonLinearEffects(model, data, q_ref, v_ref);
  WorldData ours(world);
  update(world, q, v, ours);
  EXPECT_LT((ours.M.to_dense() - data.M).cwiseAbs().maxCoeff(), 1e-12) << ours.M.to_dense() - data.M;
  EXPECT_LT((ours.bias - data.nle).cwiseAbs().maxCoeff(), 1e-11);
}

TEST(Reference, JointsComeInPinocchiosOrder) {
  for (const char* name : {"solo12", "anymal", "ur10", "talos_reduced", "humanoid"}) {
    WorldBuilder builder;
    builder.add_robot(robot_file(name));
    const World world = builder.build();
    pinocchio::Model model;
    pinocchio::urdf::buildModel(robot_file(name), model);
    ASSERT_EQ(world.joints().size() + 1, model.names.size());
    for (std::size_t i = 0; i < world.joints().size(); ++i) EXPECT_EQ(world.joints()[i].name, model.names[i + 1]);
  }
}

}  // namespace
}  // namespace stiction::reference_test
