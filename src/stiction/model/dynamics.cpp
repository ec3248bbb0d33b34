#include "stiction/model/dynamics.hpp"

#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/tree.hpp"
#include "stiction/model/world_impl.hpp"

namespace stiction {

struct WorldData::Impl {
  World world;
  std::vector<std::unique_ptr<TreeScratch>> robots;  ///< per block, null for free bodies; scratch of `update`, never copied
};

namespace {

using ConstVector = Eigen::Ref<const Eigen::VectorXd>;

void require_state(const World& world, const WorldData& data, const ConstVector& q) {
  require_size("data.bias (was the data made for this world?)", data.bias.size(), world.nv());
  require_size("data.X_WB (was the data made for this world?)", static_cast<Eigen::Index>(data.X_WB.size()),
               static_cast<Eigen::Index>(world.bodies().size()));
  require_size("q", q.size(), world.nq());
  if (!q.allFinite()) require_finite("q", q);
  for (const Joint& joint : world.joints()) {
    if (joint.nv == 1) continue;
    const double error = q.segment<4>(joint.q + joint.nq - 4).squaredNorm() - 1.0;
    if (!(std::abs(error) <= 2e-6)) {
      throw InvalidArgument(fmt::format("q[{}]", joint.q + joint.nq - 4), fmt::format("a unit quaternion for '{}'", joint.name),
                            fmt::format("length {:.9g}", std::sqrt(error + 1.0)));
    }
  }
}

// A free body in its own axes, c the centre of mass from the origin B, [.] the cross-product matrix:
//   M = [m I, -m [c]; m [c], I_B],  I_B = I_c - m [c]²;  momentum (l, k) = M (v, ω)
//   h = (ω × l, ω × k + v × l) - (m g_B, c × m g_B)             Newton-Euler about B
void free_body_inertia(const Body& body, Eigen::Ref<Eigen::Matrix<double, 6, 6>> M) {
  const Eigen::Matrix3d c = body.mass * cross_matrix(body.com);
  M.topLeftCorner<3, 3>() = body.mass * Eigen::Matrix3d::Identity();
  M.topRightCorner<3, 3>() = -c;
  M.bottomLeftCorner<3, 3>() = c;
  M.bottomRightCorner<3, 3>() = body.inertia - c * cross_matrix(body.com);
}

void free_body_bias(const Body& body, const Eigen::Matrix<double, 6, 6>& M, const Eigen::Vector3d& g_B, const Vector6d& V,
                    Eigen::Ref<Vector6d> h) {
  const Vector6d momentum = M * V;
  const Eigen::Vector3d v = V.head<3>(), w = V.tail<3>(), l = momentum.head<3>(), k = momentum.tail<3>();
  const Eigen::Vector3d weight = body.mass * g_B;
  h.head<3>() = w.cross(l) - weight;
  h.tail<3>() = w.cross(k) + v.cross(l) - body.com.cross(weight);
}

void free_body_kinematics(const Block& block, const ConstVector& q, WorldData& data, Matrix6Xd& J) {
  Eigen::Isometry3d& X = data.X_WB[block.body];
  const Eigen::Vector3d p = q.segment<3>(block.q);
  const Eigen::Quaterniond r(Eigen::Vector4d(q.segment<4>(block.q + 3)));
  X.linear() = r.normalized().toRotationMatrix();
  X.translation() = p;
  const Eigen::Matrix3d R = X.linear();
  J.topLeftCorner<3, 3>() = R;
  for (int i = 0; i < 3; ++i) J.col(3 + i).head<3>() = p.cross(R.col(i));
  J.bottomLeftCorner<3, 3>().setZero();
  J.bottomRightCorner<3, 3>() = R;
}

void robot_kinematics(const World& world, int k, const ConstVector& q, WorldData& data) {
  const Block& block = world.blocks()[k];
  place(*world.impl().trees[k], q.segment(block.q, block.nq), *data.impl->robots[k], &data.X_WB[block.body], data.J_W[k]);
}

void update_free_body(const World& world, int k, const ConstVector& q, const ConstVector& v, WorldData& data) {
  const Block& block = world.blocks()[k];
  const Body& body = world.bodies()[block.body];
  free_body_kinematics(block, q, data, data.J_W[k]);
  const Eigen::Matrix3d R = data.X_WB[block.body].linear();
  const Eigen::Matrix<double, 6, 6> M = data.M.block(k);
  const Vector6d V = v.segment<6>(block.v);
  free_body_bias(body, M, R.transpose() * world.gravity(), V, data.bias.segment<6>(block.v));
  data.V_WB[block.body] << R * V.head<3>(), R * V.tail<3>();
}

void update_robot(const World& world, int k, const ConstVector& q, const ConstVector& v, WorldData& data) {
  const Block& block = world.blocks()[k];
  robot_kinematics(world, k, q, data);
  add_dynamics(*world.impl().trees[k], v.segment(block.v, block.nv), world.gravity(), *data.impl->robots[k], &data.X_WB[block.body],
               &data.V_WB[block.body], data.M.block(k), data.bias.segment(block.v, block.nv));
}

double spring_energy(const World& world, const ConstVector& q) {
  double energy = 0.0;
  for (const int j : world.impl().sprung) {
    const Joint& joint = world.joints()[j];
    energy += 0.5 * joint.stiffness * std::pow(q[joint.q] - joint.spring_reference, 2);
  }
  return energy;
}

void add_springs(const World& world, const ConstVector& q, WorldData& data) {
  for (const int j : world.impl().sprung) {
    const Joint& joint = world.joints()[j];
    data.bias[joint.v] += joint.stiffness * (q[joint.q] - joint.spring_reference);
  }
}

/// h += J_cᵀ m_c g: the weight of what is compensated, taken out again.
void lift(const World& world, WorldData& data) {
  for (const int b : world.impl().lifted) {
    const Body& body = world.bodies()[b];
    const Block& block = world.blocks()[body.block];
    Vector6d weight = Vector6d::Zero();
    weight.head<3>() = body.lifted_mass * world.gravity();
    add_wrench_row(world, data, b, data.X_WB[b] * body.lifted_com, weight, data.bias.segment(block.v, block.nv).transpose());
  }
}

}  // namespace

WorldData::WorldData(const World& world) : impl(std::make_unique<Impl>(world)) {
  const World::Impl& w = world.impl();
  M.reset(w.block_sizes);
  bias.setZero(w.nv);
  X_WB = w.static_pose;
  V_WB.assign(w.bodies.size(), Vector6d::Zero());
  for (std::size_t k = 0; k < w.blocks.size(); ++k) {
    J_W.emplace_back(Matrix6Xd::Zero(6, w.block_sizes[k]));
    if (w.trees[k] != nullptr) {
      impl->robots.push_back(std::make_unique<TreeScratch>(*w.trees[k]));
    } else {
      impl->robots.push_back(nullptr);
      free_body_inertia(w.bodies[w.blocks[k].body], M.block(static_cast<int>(k)));
    }
  }
}

WorldData::~WorldData() = default;
WorldData::WorldData(const WorldData& other) : WorldData(other.impl->world) { *this = other; }
WorldData& WorldData::operator=(const WorldData& other) {
  if (impl == nullptr || &impl->world.impl() != &other.impl->world.impl()) *this = WorldData(other.impl->world);
  M = other.M;
  bias = other.bias;
  X_WB = other.X_WB;
  V_WB = other.V_WB;
  J_W = other.J_W;
  return *this;
}
WorldData::WorldData(WorldData&&) noexcept = default;
WorldData& WorldData::operator=(WorldData&&) noexcept = default;

void update(const World& world, const ConstVector& q, const ConstVector& v, WorldData& data) {
  require_state(world, data, q);
  require_size("v", v.size(), world.nv());
  if (!v.allFinite()) require_finite("v", v);
  for (int k = 0; k < static_cast<int>(world.blocks().size()); ++k) {
    if (world.impl().trees[k] != nullptr) {
      update_robot(world, k, q, v, data);
    } else {
      update_free_body(world, k, q, v, data);
    }
  }
  data.spring_energy = spring_energy(world, q);
  add_springs(world, q, data);
  lift(world, data);
}

void update_kinematics(const World& world, const ConstVector& q, WorldData& data) {
  require_state(world, data, q);
  for (int k = 0; k < static_cast<int>(world.blocks().size()); ++k) {
    if (world.impl().trees[k] == nullptr) {
      free_body_kinematics(world.blocks()[k], q, data, data.J_W[k]);
    } else {
      robot_kinematics(world, k, q, data);
    }
  }
  data.spring_energy = spring_energy(world, q);
}

}  // namespace stiction
