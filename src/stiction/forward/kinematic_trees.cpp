#include "stiction/forward/kinematic_trees.hpp"

#include <algorithm>
#include <cassert>

namespace stiction {

namespace {

/// First coordinates, in v, of the joints that move the body of joint `last`, from the root to it.
std::vector<int> path_to(const World& world, const WorldData& data, std::size_t last) {
  const int body = world.joints()[last].body;
  const Block& block = world.blocks()[world.bodies()[body].block];
  Matrix6Xd J(6, block.nv);
  frame_jacobian(world, data, body, data.X_WB[body].translation(), J);
  std::vector<int> path;
  for (std::size_t i = 0; i <= last; ++i) {
    const Joint& joint = world.joints()[i];
    if (joint.block == world.bodies()[body].block && !J.col(joint.v - block.v).isZero(0.0)) path.push_back(joint.v);
  }
  return path;
}

}  // namespace

std::vector<KinematicTree> kinematic_trees(const World& world) {
  std::vector<KinematicTree> trees;
  WorldData data(world);
  update_kinematics(world, world.initial_configuration(), data);
  for (std::size_t i = 0; i < world.joints().size(); ++i) {
    const Joint& joint = world.joints()[i];
    const std::vector<int> path = path_to(world, data, i);
    if (path.size() == 1) {
      KinematicTree tree;
      tree.block = joint.block;
      tree.first = joint.v;
      tree.root_q = joint.q;
      tree.is_free = joint.kind == JointKind::free;
      trees.push_back(tree);
    }
    KinematicTree& tree = *std::ranges::find(trees, path.front(), &KinematicTree::first);
    assert(joint.v == tree.first + tree.size);
    const auto is_next = [&](int j) { return path.size() > 1 && world.joints()[j].v == path[path.size() - 2]; };
    const auto before = std::ranges::find_if(tree.joints, is_next);
    tree.before.push_back(before == tree.joints.end() ? -1 : static_cast<int>(before - tree.joints.begin()));
    tree.size += joint.nv;
    tree.bodies.push_back(joint.body);
    tree.joints.push_back(static_cast<int>(i));
  }
  return trees;
}

}  // namespace stiction
