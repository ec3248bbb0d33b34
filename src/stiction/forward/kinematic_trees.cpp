#include "stiction/forward/kinematic_trees.hpp"

#include <algorithm>
#include <cassert>

namespace stiction {

namespace {

/// The first coordinate of its block that moves a body: that of its root.
int root_of(const World& world, const WorldData& data, int body) {
  const Block& block = world.blocks()[world.bodies()[body].block];
  Matrix6Xd J(6, block.nv);
  frame_jacobian(world, data, body, data.X_WB[body].translation(), J);
  int first = 0;
  while (first + 1 < block.nv && J.col(first).isZero(0.0)) ++first;
  return block.v + first;
}

}  // namespace

std::vector<KinematicTree> kinematic_trees(const World& world) {
  std::vector<KinematicTree> trees;
  WorldData data(world);
  update_kinematics(world, world.initial_configuration(), data);
  for (std::size_t i = 0; i < world.joints().size(); ++i) {
    const Joint& joint = world.joints()[i];
    const int root = root_of(world, data, joint.body);
    if (root == joint.v) {
      KinematicTree tree;
      tree.block = joint.block;
      tree.first = joint.v;
      tree.root_q = joint.q;
      tree.is_free = joint.kind == JointKind::free;
      trees.push_back(tree);
    }
    KinematicTree& tree = *std::ranges::find(trees, root, &KinematicTree::first);
    assert(joint.v == tree.first + tree.size);
    tree.size += joint.nv;
    tree.bodies.push_back(joint.body);
    tree.joints.push_back(static_cast<int>(i));
  }
  return trees;
}

}  // namespace stiction
