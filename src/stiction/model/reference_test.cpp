// Pinocchio's own readers and algorithms as the reference for ours: every robot of example-robot-data.
#include <filesystem>

#include <gtest/gtest.h>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/parsers/mjcf.hpp>
#include <pinocchio/parsers/urdf.hpp>

#include "stiction/base/errors.hpp"
#include "stiction/model/dynamics.hpp"
#include "stiction/model/robots_for_test.hpp"

namespace stiction {
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
    v_index.assign(static_cast<std::size_t>(world.nv()), -1);
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
      for (int i = 0; i < joint.nv; ++i) v_index[static_cast<std::size_t>(joint.v + i)] = model.idx_vs[id] + i;
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
  int compared = 0, refused = 0;
  for (const std::string& file : example_urdfs()) {
    for (const BaseKind base : {BaseKind::fixed, BaseKind::floating}) {
      WorldBuilder builder;
      RobotOptions options;
      options.base = base;
      options.allow_impossible_inertia = true;
      try {
        builder.add_robot(file, options);
      } catch (const FileError& error) {  // a mesh that the package does not ship, or a massless leaf
        std::cout << error.what() << "\n";
        ++refused;
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
  EXPECT_LE(refused, 6);
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
}  // namespace stiction
