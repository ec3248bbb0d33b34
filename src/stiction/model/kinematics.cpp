// Jacobians, energies and centre of mass from the placements and unit motions that `update` leaves in WorldData.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/dynamics.hpp"
#include "stiction/model/single_body.hpp"
#include "stiction/model/world_impl.hpp"

namespace stiction {

namespace {

/// Velocity coordinates of the body's block that move the body, and the block's unit motions; nothing for a static body.
struct Support {
  std::span<const int> columns;
  const Matrix6Xd* J = nullptr;
};

Support support_of(const World& world, const WorldData& data, int body, Eigen::Index cols) {
  const World::Impl& w = world.impl();
  if (body < 0 || body >= static_cast<int>(w.bodies.size())) {
    throw InvalidArgument("body", fmt::format("an index in [0, {})", w.bodies.size()), fmt::format("{}", body));
  }
  const auto b = static_cast<std::size_t>(body);
  const int block = w.bodies[b].block;
  require_size("J.cols", cols, block < 0 ? 0 : w.block_sizes[block]);
  if (block < 0) return {};
  const auto begin = static_cast<std::size_t>(w.support_begin[b]), end = static_cast<std::size_t>(w.support_begin[b + 1]);
  return {std::span(w.support).subspan(begin, end - begin), &data.J_W[block]};
}

/// Velocity at p of a unit motion about the world's origin.
Eigen::Vector3d at_point(const Matrix6Xd& J, int column, const Eigen::Vector3d& p) {
  return J.col(column).head<3>() + J.col(column).tail<3>().cross(p);
}

bool is_free(const World& world, int body) {
  const World::Impl& w = world.impl();
  if (body < 0 || body >= static_cast<int>(w.bodies.size())) return false;
  const int block = w.bodies[body].block;
  return block >= 0 && w.trees[block] == nullptr;
}

/// Columns of a body's support and its motions; nothing for the world or a static body.
Support support_of(const World& world, const WorldData& data, int body) {
  if (body < 0) return {};
  const int block = world.bodies()[body].block;
  return support_of(world, data, body, block < 0 ? 0 : world.blocks()[block].nv);
}

/// Whether a coordinate of `support` that does not move the other body as well moves p along n, beyond the rounding of its two terms.
bool moves(const Support& support, const Support& other, const Eigen::Vector3d& p, const Eigen::Vector3d& n) {
  constexpr double kRounding = 1e-12;  // some thousand roundings: a chain of placements lies behind each term
  for (const int c : support.columns) {
    if (support.J == other.J && std::ranges::binary_search(other.columns, c)) continue;
    const double along = n.dot(at_point(*support.J, c, p));
    const double squares = support.J->col(c).head<3>().squaredNorm() + support.J->col(c).tail<3>().squaredNorm() * p.squaredNorm();
    if (along * along > 2.0 * kRounding * kRounding * squares) return true;  // (a + b)² <= 2 (a² + b²)
  }
  return false;
}

Eigen::Vector3d weighted_com(const World& world, const WorldData& data, int robot, double& mass) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  const std::span<const Body> bodies = world.bodies();
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    if (bodies[b].block < 0 || (robot >= 0 && bodies[b].robot != robot)) continue;
    mass += bodies[b].mass;
    sum += bodies[b].mass * (data.X_WB[b] * bodies[b].com);
  }
  return sum;
}

Eigen::Vector3d mean_com(const World& world, const WorldData& data, int robot) {
  double mass = 0.0;
  const Eigen::Vector3d sum = weighted_com(world, data, robot, mass);
  if (!(mass > 0.0)) throw InvalidArgument("world", "a moving body", "none");
  return sum / mass;
}

}  // namespace

bool joins_one_body(const World& world, const Joint& joint) {
  const World::Impl& w = world.impl();
  const auto support = [&](const Joint& j) {
    return std::span(w.support).subspan(w.support_begin[j.body], w.support_begin[j.body + 1] - w.support_begin[j.body]);
  };
  if (std::ssize(support(joint)) != joint.nv) return false;
  const auto next = world.joints().begin() + (&joint - &world.joints().front()) + 1;  // the first that it carries, if any
  return next == world.joints().end() || next->block != joint.block ||
         !std::ranges::binary_search(support(*next), joint.v - world.blocks()[joint.block].v);
}

void point_jacobian(const World& world, const WorldData& data, int body, const Eigen::Vector3d& p_W, Eigen::Ref<Matrix3Xd> J) {
  const Support support = support_of(world, data, body, J.cols());
  J.setZero();
  for (const int c : support.columns) J.col(c) = at_point(*support.J, c, p_W);
}

void frame_jacobian(const World& world, const WorldData& data, int body, const Eigen::Vector3d& p_W, Eigen::Ref<Matrix6Xd> J) {
  const Support support = support_of(world, data, body, J.cols());
  J.setZero();
  for (const int c : support.columns) {
    J.col(c).head<3>() = at_point(*support.J, c, p_W);
    J.col(c).tail<3>() = support.J->col(c).tail<3>();
  }
}

namespace {

// Of a free body at X: R_WCᵀ [R_WB, -[p - o]x R_WB], all its columns at once.
void add_free_rows(const Eigen::Isometry3d& X, const Eigen::Vector3d& p_W, const Eigen::Matrix3d& R_WC, double sign, double* rows) {
  const Eigen::Vector3d p = p_W - X.translation();
  const Eigen::Matrix3d R = X.linear();
  for (int i = 0; i < 3; ++i, rows += 6) {
    const Eigen::Vector3d axis = sign * R_WC.col(i), moment = p.cross(axis);  // axis · (ω x p) = ω · (p x axis)
    Eigen::Map<Eigen::Vector3d>{rows}.noalias() += R.transpose() * axis;
    Eigen::Map<Eigen::Vector3d>{rows + 3}.noalias() += R.transpose() * moment;
  }
}

}  // namespace

void add_contact_rows(const World& world, const WorldData& data, int body, const Eigen::Vector3d& p_W, const Eigen::Matrix3d& R_WC,
                      double sign, Eigen::Ref<RowMatrix> rows) {
  require_size("rows.rows", rows.rows(), 3);
  if (is_free(world, body) && rows.cols() == 6 && rows.outerStride() == 6) {
    return add_free_rows(data.X_WB[body], p_W, R_WC, sign, rows.data());
  }
  const Support support = support_of(world, data, body, rows.cols());
  Eigen::Matrix<double, 6, 3> wrenches;  // of unit forces along N, S, T at p_W, about the world's origin
  wrenches.topRows<3>() = sign * R_WC;
  for (int i = 0; i < 3; ++i) wrenches.col(i).tail<3>() = p_W.cross(wrenches.col(i).head<3>());
  for (const int c : support.columns) {
    const Vector6d motion = support.J->col(c);
    for (int i = 0; i < 3; ++i) rows(i, c) += wrenches.col(i).dot(motion);
  }
}

Vector6d body_velocity(const World& world, const WorldData& data, int body, const Eigen::Ref<const Eigen::VectorXd>& v) {
  require_size("v", v.size(), world.nv());
  Vector6d V = Vector6d::Zero();
  const Support support = support_of(world, data, body);
  if (support.J == nullptr) return V;
  const std::size_t b = static_cast<std::size_t>(body);
  const int first = world.blocks()[world.bodies()[b].block].v;
  for (const int c : support.columns) V += v[first + c] * support.J->col(c);
  V.head<3>() += V.tail<3>().cross(data.X_WB[b].translation());
  return V;
}

void body_velocities(const World& world, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& v, std::vector<Vector6d>& out) {
  require_size("v", v.size(), world.nv());
  const World::Impl& w = world.impl();
  out.resize(w.bodies.size());
  for (std::size_t b = 0; b < out.size(); ++b) {
    Vector6d V = Vector6d::Zero();
    if (const int block = w.bodies[b].block; block >= 0) {
      const Matrix6Xd& J = data.J_W[block];
      const double* of_block = v.data() + world.blocks()[block].v;
      for (int k = w.support_begin[b]; k < w.support_begin[b + 1]; ++k) V += of_block[w.support[k]] * J.col(w.support[k]);
      V.head<3>() += V.tail<3>().cross(data.X_WB[b].translation());
    }
    out[b] = V;
  }
}

bool can_separate(const World& world, const WorldData& data, int body_a, int body_b, const Eigen::Vector3d& p_W, const Eigen::Vector3d& n) {
  if (body_a != body_b && (is_free(world, body_a) || is_free(world, body_b))) return true;
  const Support a = support_of(world, data, body_a), b = support_of(world, data, body_b);
  return moves(a, b, p_W, n) || moves(b, a, p_W, n);
}

void add_wrench(const World& world, const WorldData& data, int body, const Eigen::Vector3d& p_W, const Eigen::Vector3d& force,
                const Eigen::Vector3d& moment, Eigen::Ref<Eigen::VectorXd> tau) {
  require_size("tau", tau.size(), world.nv());
  const int block = body < 0 ? -1 : world.bodies()[body].block;
  if (block < 0) return;
  const Block& coordinates = world.blocks()[block];
  Vector6d wrench;
  wrench << force, moment;
  add_wrench_row(world, data, body, p_W, wrench, tau.segment(coordinates.v, coordinates.nv).transpose());
}

void add_wrenches(const World& world, const WorldData& data, std::span<const AppliedWrench> wrenches, Eigen::Ref<Eigen::VectorXd> tau) {
  for (const AppliedWrench& w : wrenches) add_wrench(world, data, w.body, data.X_WB[w.body] * w.p_B, w.force, w.moment, tau);
}

void add_wrench_row(const World& world, const WorldData& data, int body, const Eigen::Vector3d& p_W, const Vector6d& wrench,
                    Eigen::Ref<Eigen::RowVectorXd> row) {
  const Support support = support_of(world, data, body, row.cols());
  for (const int c : support.columns) {
    row[c] += wrench.head<3>().dot(at_point(*support.J, c, p_W)) + wrench.tail<3>().dot(support.J->col(c).tail<3>());
  }
}

MotionBound motion_bound(const World& world, const WorldData& data, int body, const Eigen::Vector3d& p_W,
                         const Eigen::Ref<const Eigen::VectorXd>& v) {
  const int block = world.bodies()[body].block;
  if (block < 0) return {};
  const Block& coordinates = world.blocks()[block];
  const Support support = support_of(world, data, body, coordinates.nv);
  MotionBound bound;
  for (const int c : support.columns) {
    const double speed = std::abs(v[coordinates.v + c]);
    bound.linear += speed * at_point(*support.J, c, p_W).norm();
    bound.angular += speed * support.J->col(c).tail<3>().norm();
  }
  return bound;
}

Eigen::Isometry3d link_pose(const World& world, const WorldData& data, int link) {
  const std::span<const Link> links = world.links();
  if (link < 0 || link >= static_cast<int>(links.size())) {
    throw InvalidArgument("link", fmt::format("an index in [0, {})", links.size()), fmt::format("{}", link));
  }
  const Link& l = links[link];
  return data.X_WB[l.body] * l.X_BL;
}

double kinetic_energy(const World& world, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& v) {
  require_size("v", v.size(), world.nv());
  double twice = 0.0;
  for (int k = 0; k < data.M.blocks(); ++k) {
    const auto v_k = v.segment(data.M.offset(k), data.M.block_size(k));
    const auto M_k = data.M.block(k);
    for (Eigen::Index j = 0; j < v_k.size(); ++j) twice += v_k[j] * M_k.col(j).dot(v_k);
  }
  return 0.5 * twice;
}

double potential_energy(const World& world, const WorldData& data) {
  double mass = 0.0;
  Eigen::Vector3d moment = weighted_com(world, data, -1, mass);
  for (const int b : world.impl().lifted) {
    const Body& body = world.bodies()[b];
    moment -= body.lifted_mass * (data.X_WB[b] * body.lifted_com);
  }
  return data.spring_energy - world.gravity().dot(moment);
}

Eigen::Vector3d center_of_mass(const World& world, const WorldData& data) { return mean_com(world, data, -1); }

Eigen::Vector3d center_of_mass(const World& world, const WorldData& data, int robot) {
  if (robot < 0 || robot >= static_cast<int>(world.robots().size())) {
    throw InvalidArgument("robot", fmt::format("an index in [0, {})", world.robots().size()), fmt::format("{}", robot));
  }
  return mean_com(world, data, robot);
}

}  // namespace stiction
