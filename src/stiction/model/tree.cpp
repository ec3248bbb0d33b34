#include "stiction/model/tree.hpp"

#include <cmath>

namespace stiction {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using three::Columns;
using ConstVector = Eigen::Ref<const Eigen::VectorXd>;
using Part = TreeScratch::Part;
using Spatial = TreeScratch::Spatial;

/// R turned by `angle` about its own axis number `axis`.
STICTION_INLINE void turn(int axis, double angle, Columns& R) {
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  const double c = std::cos(angle), s = std::sin(angle);
  const Four first = R.column[i] * c + R.column[j] * s;
  R.column[j] = R.column[j] * c - R.column[i] * s;
  R.column[i] = first;
}

STICTION_INLINE void turn(const Matrix3d& by, Columns& R) { R = three::times(R, by.data(), 3); }

Matrix3d unit_rotation(const double* q) { return Eigen::Quaterniond(q).normalized().toRotationMatrix(); }

/// Where a body's frame is, from the reference point, and where unit motions go: about that point, and into J about the world's origin.
struct Frame {
  Columns R;
  Four p;
  Spatial* S;
  double* J;
  Four reference;

  STICTION_INLINE void set(int c, const Spatial& motion) const {
    S[c] = motion;
    three::store(motion.linear + three::cross(reference, motion.angular), J + 6 * c);
    three::store(motion.angular, J + 6 * c + 3);
  }
  STICTION_INLINE void set_translation(int c, Four axis) const { set(c, {axis, Four{}}); }
  STICTION_INLINE void set_rotation(int c, Four axis) const { set(c, {three::cross(p, axis), axis}); }
};

// The joint's own motion: from the frame it is placed at to the body's, and its unit motions.
STICTION_INLINE void move_joint(const RobotTree::Node& node, const double* q, Frame& frame) {
  Columns& R = frame.R;
  switch (node.plan.kind) {
    case JointKind::revolute:
      if (node.aligned >= 0) {
        frame.set_rotation(node.v, R.column[node.aligned]);
        return turn(node.aligned, q[node.q], R);
      }
      frame.set_rotation(node.v, three::times(R, node.plan.axis.data()));
      return turn(Eigen::AngleAxisd(q[node.q], node.plan.axis).toRotationMatrix(), R);
    case JointKind::prismatic: {
      const Four axis = three::times(R, node.plan.axis.data());
      frame.p += axis * q[node.q];
      return frame.set_translation(node.v, axis);
    }
    case JointKind::free:
      frame.p += three::times(R, q + node.q);
      turn(unit_rotation(q + node.q + 3), R);
      for (int i = 0; i < 3; ++i) frame.set_translation(node.v + i, R.column[i]);
      for (int i = 0; i < 3; ++i) frame.set_rotation(node.v + 3 + i, R.column[i]);
      return;
    case JointKind::spherical:
      turn(unit_rotation(q + node.q), R);
      for (int i = 0; i < 3; ++i) frame.set_rotation(node.v + i, R.column[i]);
      return;
  }
}

STICTION_INLINE void place_nodes(const RobotTree& tree, const double* q, TreeScratch& scratch, Eigen::Isometry3d* X_WB, double* J) {
  Frame frame{{}, {}, scratch.S.data(), J, {}};
  for (std::size_t k = 0; k < tree.nodes.size(); ++k) {
    const RobotTree::Node& node = tree.nodes[k];
    const double *placed = node.plan.placement.data(), *origin = placed + 12;
    if (node.plan.parent >= 0) {
      const auto parent = static_cast<std::size_t>(node.plan.parent);
      frame.R = three::rotation(X_WB[parent]);
      frame.p = scratch.parts[parent].p + three::times(frame.R, origin);
      if (!node.upright) frame.R = three::times(frame.R, placed, 4);
    } else {
      frame.R = three::rotation(node.plan.placement);
      frame.p = three::load(origin);
      if (k == 0) {
        frame.reference = frame.p;  // of the first body's origin
        if (node.plan.kind == JointKind::free) frame.reference += three::times(frame.R, q + node.q);
      }
      frame.p -= frame.reference;
    }
    move_joint(node, q, frame);
    scratch.parts[k].p = frame.p;
    three::set_pose(frame.R, frame.reference + frame.p, X_WB[k]);
  }
}

/// V × U.
STICTION_INLINE Spatial motion_cross(const Spatial& V, const Spatial& U) {
  return {three::cross(V.angular, U.linear) + three::cross(V.linear, U.angular), three::cross(V.angular, U.angular)};
}

/// V ×* f.
STICTION_INLINE Spatial force_cross(const Spatial& V, const Spatial& f) {
  return {three::cross(V.angular, f.linear), three::cross(V.angular, f.angular) + three::cross(V.linear, f.linear)};
}

/// I U of the body or composite body.
STICTION_INLINE Spatial momentum(const Part& part, const Spatial& U) {
  return {U.linear * part.mass + three::cross(U.angular, part.first),
          three::times(part.second, U.angular) + three::cross(part.first, U.linear)};
}

STICTION_INLINE double dot(const Spatial& a, const Spatial& b) {
  const Four product = a.linear * b.linear + a.angular * b.angular;
  return product[0] + product[1] + product[2];
}

// I = R I_c Rᵀ + m (c² - c cᵀ), c the centre of mass from the reference point.
STICTION_INLINE void set_inertia(const Inertial& body, const Eigen::Isometry3d& X, Part& part) {
  const Columns R = three::rotation(X), turned = three::times(R, body.inertia.data(), 3);
  const Four c = part.p + three::times(R, body.com.data()), mc = c * body.mass;
  const double square = three::dot(mc, c);
  part.mass = body.mass;
  part.first = mc;
  for (int j = 0; j < 3; ++j) {
    part.second.column[j] =
        turned.column[0] * R.column[0][j] + turned.column[1] * R.column[1][j] + turned.column[2] * R.column[2][j] - mc * c[j];
    part.second.column[j][j] += square;
  }
}

STICTION_INLINE void move_part(const RobotTree& tree, std::size_t k, const double* v, const Vector3d& gravity, TreeScratch& scratch) {
  const RobotTree::Node& node = tree.nodes[k];
  Spatial own{};
  for (int c = node.v; c < node.v + node.nv; ++c) own += {scratch.S[c].linear * v[c], scratch.S[c].angular * v[c]};
  Part& part = scratch.parts[k];
  part.V = own;
  if (node.plan.parent >= 0) {
    part.V += scratch.parts[node.plan.parent].V;
    part.A = scratch.parts[node.plan.parent].A;
  } else {
    part.A = {-three::load(gravity.data()), Four{}};
  }
  part.A += motion_cross(part.V, own);
}

STICTION_INLINE void pass_out(const RobotTree& tree, const double* v, const Vector3d& gravity, TreeScratch& scratch,
                              const Eigen::Isometry3d* X_WB, Vector6d* V_WB) {
  for (std::size_t k = 0; k < tree.nodes.size(); ++k) {
    const RobotTree::Node& node = tree.nodes[k];
    Part& part = scratch.parts[k];
    move_part(tree, k, v, gravity, scratch);
    three::store(part.V.linear + three::cross(part.V.angular, part.p), V_WB[k].data());
    three::store(part.V.angular, V_WB[k].data() + 3);
    if (node.massless) {
      part.mass = 0.0;
      part.first = Four{};
      part.second = Columns{};
      part.f = Spatial{};
    } else {
      set_inertia(node.plan.inertial, X_WB[k], part);
      part.f = force_cross(part.V, momentum(part, part.V));
      part.f += momentum(part, part.A);
    }
  }
}

/// The velocity of a free joint is in axes that turn: its armature's momentum a v has the rate a (dv/dt + ω × v).
STICTION_INLINE void add_turning_armature(const RobotTree::Node& node, const double* v, double* h) {
  const Four turning = three::cross(three::load(v + 3), three::load(v)) * node.plan.armature;
  for (int i = 0; i < 3; ++i) h[i] += turning[i];
}

// M column-major with columns `stride` apart.
STICTION_INLINE void pass_back(const RobotTree& tree, const double* v, TreeScratch& scratch, double* M, std::ptrdiff_t stride, double* h) {
  for (std::size_t k = tree.nodes.size(); k-- > 0;) {
    const RobotTree::Node& node = tree.nodes[k];
    const Part& part = scratch.parts[k];
    for (int column = node.v; column < node.v + node.nv; ++column) {
      const Spatial& s = scratch.S[column];
      const Spatial F = momentum(part, s);
      h[column] = dot(s, part.f);
      for (int row = column; row >= 0; row = tree.before[row]) {
        M[column * stride + row] = M[row * stride + column] = dot(scratch.S[row], F);
      }
      M[column * stride + column] += node.plan.armature;
    }
    if (node.plan.kind == JointKind::free) add_turning_armature(node, v + node.v, h + node.v);
    if (node.plan.parent < 0) continue;
    Part& parent = scratch.parts[node.plan.parent];
    parent.f += part.f;
    parent.mass += part.mass;
    parent.first += part.first;
    for (int j = 0; j < 3; ++j) parent.second.column[j] += part.second.column[j];
  }
}

struct Passes {
  const RobotTree& tree;
  const double* v;
  const Vector3d& gravity;
  TreeScratch& scratch;
  const Eigen::Isometry3d* X_WB;
  Vector6d* V_WB;
  double* M;
  std::ptrdiff_t stride;
  double* h;

  STICTION_INLINE void run() const {
    pass_out(tree, v, gravity, scratch, X_WB, V_WB);
    pass_back(tree, v, scratch, M, stride, h);
  }
};

void place_narrow(const RobotTree& tree, const double* q, TreeScratch& scratch, Eigen::Isometry3d* X_WB, double* J) {
  place_nodes(tree, q, scratch, X_WB, J);
}
STICTION_WIDE void place_wide(const RobotTree& tree, const double* q, TreeScratch& scratch, Eigen::Isometry3d* X_WB, double* J) {
  place_nodes(tree, q, scratch, X_WB, J);
}
void pass_narrow(const Passes& passes) { passes.run(); }
STICTION_WIDE void pass_wide(const Passes& passes) { passes.run(); }

}  // namespace

TreeScratch::TreeScratch(const RobotTree& tree) : parts(tree.nodes.size()), S(tree.before.size()) {}

void place(const RobotTree& tree, const ConstVector& q, TreeScratch& scratch, Eigen::Isometry3d* X_WB, Matrix6Xd& J_W) {
  J_W.resize(6, std::ssize(scratch.S));
  (wide_vectors() ? place_wide : place_narrow)(tree, q.data(), scratch, X_WB, J_W.data());
}

void add_dynamics(const RobotTree& tree, const ConstVector& v, const Vector3d& gravity, TreeScratch& scratch, const Eigen::Isometry3d* X_WB,
                  Vector6d* V_WB, Eigen::Ref<Eigen::MatrixXd> M, Eigen::Ref<Eigen::VectorXd> h) {
  (wide_vectors() ? pass_wide : pass_narrow)({tree, v.data(), gravity, scratch, X_WB, V_WB, M.data(), M.outerStride(), h.data()});
}

}  // namespace stiction
