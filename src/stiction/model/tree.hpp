// A robot as a tree of joints, and its equation of motion in one pass out and one back. Internal to this room.
//
//   M(q) = Σ_i S_iᵀ I_i S_i + armature    composite rigid bodies: M_jk = S_jᵀ (Σ_{i beyond k} I_i) S_k, j an ancestor of k or k itself
//   h(q, v) = S_kᵀ Σ_{i beyond k} (I_i A_i + V_i ×* I_i V_i),  A_i = A_parent + V_i × S_i v_i,  A_0 = -g      Newton-Euler
// (Featherstone, Rigid Body Dynamics Algorithms, 5.3 and 6.2). Spatial vectors are linear then angular, in world axes about one point of
// the robot, the origin of its first body: all joints share a frame, so nothing is transformed, and a robot far from the world's origin
// loses no digits. Each joint's placement is computed once for poses, Jacobian, M and h. Cost: joints + Σ_k nv_k depth_k.
#pragma once

#include <memory>
#include <vector>

#include "stiction/base/three.hpp"
#include "stiction/model/dynamics.hpp"
#include "stiction/model/world_impl.hpp"

namespace stiction {

/// r × as a matrix.
inline Eigen::Matrix3d cross_matrix(const Eigen::Vector3d& r) {
  Eigen::Matrix3d m;
  m << 0.0, -r.z(), r.y(), r.z(), 0.0, -r.x(), -r.y(), r.x(), 0.0;
  return m;
}

struct RobotTree {
  struct Node {
    JointPlan plan;
    int q = 0, v = 0, nv = 0;  ///< in the robot's coordinates
    int aligned = -1;          ///< the coordinate axis that a revolute joint's axis is, -1: none
    bool upright = false;      ///< the joint's frame is placed without a rotation
    bool massless = false;
  };
  std::vector<Node> nodes;  ///< parents first
  std::vector<int> before;  ///< per coordinate, the next one towards the root, -1: none; M has no entries but with these
};

/// Sums over a body and all beyond it, and the motion of the body; reused between calls. Vectors as in base/three.hpp.
struct TreeScratch {
  struct Spatial {
    three::Stored linear, angular;

    STICTION_INLINE void operator+=(const Spatial& other) {
      linear += other.linear;
      angular += other.angular;
    }
  };
  struct Part {
    three::Stored p;        ///< joint frame from the reference point
    Spatial V, A, f;        ///< velocity, acceleration at v̇ = 0, force
    double mass;            ///< of the composite body
    three::Stored first;    ///< mass times centre from the reference point
    three::Columns second;  ///< inertia about the reference point
  };
  std::vector<Part> parts;
  std::vector<Spatial> S;  ///< nv unit motions about the reference point

  explicit TreeScratch(const RobotTree& tree);
};

/// Poses of the bodies (X_WB, one per joint) and J_W (6 x nv, unit motions about the world's origin) at q.
void place(const RobotTree& tree, const Eigen::Ref<const Eigen::VectorXd>& q, TreeScratch& scratch, Eigen::Isometry3d* X_WB,
           Matrix6Xd& J_W);

/// After `place`: M (nv x nv, whose entries between branches are zero and stay so), h (nv) and the bodies' velocities as in WorldData.
void add_dynamics(const RobotTree& tree, const Eigen::Ref<const Eigen::VectorXd>& v, const Eigen::Vector3d& gravity, TreeScratch& scratch,
                  const Eigen::Isometry3d* X_WB, Vector6d* V_WB, Eigen::Ref<Eigen::MatrixXd> M, Eigen::Ref<Eigen::VectorXd> h);

}  // namespace stiction
