#include "stiction/plan/world_legs.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/dynamics.hpp"

namespace stiction {

namespace {

/// Foot and joints of a leg in its world.
struct LegOfWorld {
  LegOfWorld(const World& of, const WorldFoot& its_foot, std::vector<int> leg_joints)
      : world(of), foot(its_foot), joints(std::move(leg_joints)), data(of), q(of.initial_configuration()), J(6, block().nv) {}

  const Block& block() const { return world.blocks()[world.bodies()[foot.body].block]; }
  const Eigen::Isometry3d& base() const { return data.X_WB[block().body]; }

  void operator()(const LegVector& angles, Eigen::Vector3d& position, LegJacobian& jacobian) {
    position = base().inverse() * at(angles);
    pick<0>(jacobian);
  }
  void turn(const LegVector& angles, Eigen::Matrix3d& rotation, LegJacobian& angular) {
    at(angles);
    rotation = base().linear().transpose() * data.X_WB[foot.body].linear() * foot.X_BF.linear();
    pick<3>(angular);
  }
  /// The foot in the world, with J there.
  Eigen::Vector3d at(const LegVector& angles) {
    for (std::size_t i = 0; i < joints.size(); ++i) q[world.joints()[joints[i]].q] = angles[static_cast<Eigen::Index>(i)];
    update_kinematics(world, q, data);
    const Eigen::Vector3d p_W = data.X_WB[foot.body] * foot.X_BF.translation();
    frame_jacobian(world, data, foot.body, p_W, J);
    return p_W;
  }
  /// Three rows of J from this on, in the base's axes.
  template <int Row>
  void pick(LegJacobian& rows) const {
    rows.resize(3, static_cast<Eigen::Index>(joints.size()));
    for (std::size_t i = 0; i < joints.size(); ++i) {
      const int column = world.joints()[joints[i]].v - block().v;
      rows.col(static_cast<Eigen::Index>(i)) = base().linear().transpose() * J.col(column).segment<3>(Row);
    }
  }

  World world;
  WorldFoot foot;
  std::vector<int> joints;  ///< indices into World::joints
  WorldData data;
  Eigen::VectorXd q;
  Matrix6Xd J;  ///< linear, angular
};

/// Driven joints whose motion moves the foot somewhere: in a configuration drawn at random no lever is zero.
std::vector<int> joints_of(const World& world, const WorldFoot& foot) {
  const Body& body = world.bodies()[foot.body];
  if (body.block < 0) throw InvalidArgument("feet", "links that move", "'" + foot.name + "', which stands still");
  const Block& block = world.blocks()[body.block];
  WorldData data(world);
  update_kinematics(world, random_configuration(world, 1), data);
  Matrix3Xd J(3, block.nv);
  point_jacobian(world, data, foot.body, data.X_WB[foot.body] * foot.X_BF.translation(), J);
  std::vector<int> out;
  for (std::size_t j = 0; j < world.joints().size(); ++j) {
    const Joint& joint = world.joints()[j];
    if (joint.block == body.block && joint.actuated && joint.nv == 1 && J.col(joint.v - block.v).norm() > 1e-12)
      out.push_back(static_cast<int>(j));
  }
  if (out.empty() || out.size() > static_cast<std::size_t>(kMaxLegJoints))
    throw InvalidArgument("feet", fmt::format("feet that 1 to {} driven joints move", kMaxLegJoints),
                          fmt::format("{} for '{}'", out.size(), foot.name));
  return out;
}

Leg leg_of(const World& world, const WorldFoot& foot) {
  const auto kinematics = std::make_shared<LegOfWorld>(world, foot, joints_of(world, foot));
  const auto size = static_cast<Eigen::Index>(kinematics->joints.size());
  Leg leg{{},
          [kinematics](const LegVector& q, Eigen::Vector3d& p, LegJacobian& J) { (*kinematics)(q, p, J); },
          LegVector(size),
          LegVector(size),
          [kinematics](const LegVector& q, Eigen::Matrix3d& R, LegJacobian& W) { kinematics->turn(q, R, W); }};
  const std::span<const int> driven = world.actuated();
  for (Eigen::Index k = 0; k < size; ++k) {
    const Joint& joint = world.joints()[kinematics->joints[k]];
    leg.joints.push_back(static_cast<int>(std::ranges::find(driven, joint.v) - driven.begin()));
    leg.lower[k] = joint.lower;
    leg.upper[k] = joint.upper;
  }
  return leg;
}

}  // namespace

WorldLegs world_legs(const World& world, const std::vector<WorldFoot>& feet) {
  for (auto foot = feet.begin(); foot != feet.end(); ++foot) {
    const auto same = [&](const WorldFoot& other) { return other.name == foot->name; };
    if (std::find_if(feet.begin(), foot, same) != foot) throw InvalidArgument("feet", "every foot once", "'" + foot->name + "' twice");
  }
  const std::span<const int> driven = world.actuated();
  WorldLegs out;
  out.posture.setZero(static_cast<Eigen::Index>(driven.size()));
  for (const Joint& joint : world.joints()) {
    const auto at = std::ranges::find(driven, joint.v);
    if (joint.nv == 1 && at != driven.end()) out.posture[at - driven.begin()] = world.initial_configuration()[joint.q];
  }
  out.feet.resize(3, static_cast<Eigen::Index>(feet.size()));
  for (const WorldFoot& foot : feet) {
    const Leg& leg = out.legs.emplace_back(leg_of(world, foot));
    LegVector q(leg.lower.size());
    for (Eigen::Index k = 0; k < q.size(); ++k) q[k] = out.posture[leg.joints[k]];
    Eigen::Vector3d at_start;
    LegJacobian J;
    leg.kinematics(q, at_start, J);
    out.feet.col(static_cast<Eigen::Index>(out.legs.size()) - 1) = at_start;
  }
  return out;
}

}  // namespace stiction
