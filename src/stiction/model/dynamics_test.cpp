#include "stiction/model/dynamics.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/model/robots_for_test.hpp"

namespace stiction::dynamics_test {
namespace {

using Eigen::VectorXd;

VectorXd wave(Eigen::Index size, double phase) {
  VectorXd v(size);
  for (Eigen::Index i = 0; i < size; ++i) v[i] = std::sin(phase + 1.7 * static_cast<double>(i));
  return v;
}

FreeBody brick(const std::string& name, const Eigen::Vector3d& com = Eigen::Vector3d::Zero()) {
  FreeBody body;
  body.name = name;
  body.mass = 2.0;
  body.com = com;
  body.inertia = solid_inertia(Box{{0.1, 0.2, 0.4}}, 2.0);
  return body;
}

/// Two robots, a body whose centre of mass is off its origin, a static floor.
World mixed_world() {
  WorldBuilder builder;
  RobotOptions floating;
  floating.base = BaseKind::floating;
  floating.pose.translation() << 0.5, -0.3, 0.4;
  floating.pose.linear() = Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, 3).normalized()).toRotationMatrix();
  builder.add_robot(robot_file("solo12"), floating);
  builder.add_free_body(brick("brick", {0.05, -0.1, 0.2}));
  RobotOptions armature;
  armature.pose.translation() << 0.0, 1.0, 2.0;
  armature.joints["elbow"].armature = 0.3;
  builder.add_robot_text(double_pendulum(), armature);
  StaticBody floor;
  floor.name = "floor";
  floor.shapes.push_back({HalfSpace{}, Eigen::Isometry3d::Identity(), 0.5});
  builder.add_static_body(floor);
  return builder.build();
}

double kinetic_energy_at(const World& world, const VectorXd& q, const VectorXd& v, WorldData& data) {
  update(world, q, v, data);
  return kinetic_energy(world, data, v);
}

VectorXd moved(const World& world, const VectorXd& q, const VectorXd& direction, double step) {
  VectorXd out(world.nq());
  integrate(world, q, direction, step, out);
  return out;
}

TEST(Dynamics, KineticEnergyIsThatOfTheBodies) {
  const World world = mixed_world();
  WorldData data(world);
  const VectorXd v = wave(world.nv(), 0.3);
  double bodies = 0.5 * 0.3 * std::pow(v[world.joints()[world.joint("elbow")].v], 2);  // the elbow's armature
  update(world, random_configuration(world, 3), v, data);
  for (std::size_t b = 0; b < world.bodies().size(); ++b) {
    const Body& body = world.bodies()[b];
    const Eigen::Matrix3d R = data.X_WB[b].linear();
    const Eigen::Vector3d w = data.V_WB[b].tail<3>();
    const Eigen::Vector3d v_com = data.V_WB[b].head<3>() + w.cross(R * body.com);
    bodies += 0.5 * body.mass * v_com.squaredNorm() + 0.5 * w.dot(R * body.inertia * R.transpose() * w);
  }
  EXPECT_NEAR(kinetic_energy(world, data, v), bodies, 1e-12 * bodies);
}

// Its velocity is in axes that turn, and its momentum, armature included, stands still in the world's.
TEST(Dynamics, ArmatureOfAFloatingBaseFliesStraight) {
  WorldBuilder builder;
  builder.add_robot_text(R"(<mujoco><option gravity="0 0 0"/><worldbody><body name="a"><joint type="free" armature="10"/>
    <geom type="box" size="0.1 0.2 0.3" mass="3"/></body></worldbody></mujoco>)");
  const World world = builder.build();
  WorldData data(world);
  const VectorXd v = wave(6, 0.3);
  update(world, random_configuration(world, 5), v, data);
  EXPECT_LT((data.bias.head<3>() - 13.0 * v.tail<3>().head<3>().cross(v.head<3>())).norm(), 1e-13);
}

TEST(Dynamics, VelocitiesAreTimeDerivativesOfPlacements) {
  const World world = mixed_world();
  WorldData data(world), ahead(world), behind(world);
  const VectorXd q = random_configuration(world, 4), v = wave(world.nv(), 1.3);
  const double step = 1e-6;
  update(world, q, v, data);
  update_kinematics(world, moved(world, q, v, step), ahead);
  update_kinematics(world, moved(world, q, v, -step), behind);
  for (std::size_t b = 0; b < world.bodies().size(); ++b) {
    const Eigen::Vector3d linear = (ahead.X_WB[b].translation() - behind.X_WB[b].translation()) / (2.0 * step);
    const Eigen::Matrix3d spin = (ahead.X_WB[b].linear() - behind.X_WB[b].linear()) / (2.0 * step) * data.X_WB[b].linear().transpose();
    EXPECT_LT((linear - data.V_WB[b].head<3>()).norm(), 1e-8) << world.bodies()[b].name;
    EXPECT_LT((Eigen::Vector3d(spin(2, 1), spin(0, 2), spin(1, 0)) - data.V_WB[b].tail<3>()).norm(), 1e-8) << world.bodies()[b].name;
  }
}

TEST(Dynamics, BodyVelocityIsThatOfAnUpdateAtThoseVelocities) {
  const World world = mixed_world();
  WorldData data(world), other(world);
  const VectorXd q = random_configuration(world, 6), v = wave(world.nv(), 0.9);
  update_kinematics(world, q, data);
  update(world, q, v, other);
  std::vector<Vector6d> all;
  body_velocities(world, data, v, all);
  for (std::size_t b = 0; b < world.bodies().size(); ++b) {
    EXPECT_LT((all[b] - other.V_WB[b]).norm(), 1e-12) << world.bodies()[b].name;
    EXPECT_LT((body_velocity(world, data, static_cast<int>(b), v) - other.V_WB[b]).norm(), 1e-12) << world.bodies()[b].name;
  }
}

// The upper link turns about y: it is moved along x and z, not along y, nor anything on its axis; the pair of links only by the elbow.
TEST(Dynamics, ADirectionThatNoJointMovesIsKnownAsSuch) {
  WorldBuilder builder;
  RobotOptions turned;
  turned.pose.linear() = Eigen::AngleAxisd(0.3, Eigen::Vector3d(1, 2, 3).normalized()).toRotationMatrix();
  turned.pose.translation() << 30.0, -20.0, 10.0;
  builder.add_robot_text(double_pendulum(), turned);
  const World world = builder.build();
  WorldData data(world);
  update_kinematics(world, VectorXd::Constant(2, 0.4), data);
  const int upper = world.body("upper"), lower = world.body("lower");
  const Eigen::Isometry3d& X = data.X_WB[upper];
  const Eigen::Vector3d axis = X.linear().col(1), along = X.linear().col(2), p = X * Eigen::Vector3d(0.1, 0.2, -0.5);
  EXPECT_TRUE(can_separate(world, data, upper, -1, p, along));
  EXPECT_TRUE(can_separate(world, data, -1, upper, p, X.linear().col(0)));
  EXPECT_FALSE(can_separate(world, data, upper, -1, p, axis));
  EXPECT_FALSE(can_separate(world, data, upper, -1, X * Eigen::Vector3d(0, 0.2, 0), along));
  EXPECT_TRUE(can_separate(world, data, upper, lower, p, along));
  const Eigen::Vector3d elbow = data.X_WB[lower].translation();
  EXPECT_FALSE(can_separate(world, data, upper, lower, elbow, along));
}

TEST(Dynamics, PointJacobianIsTheDerivativeOfAPointThroughIntegrate) {
  const World world = mixed_world();
  WorldData data(world), ahead(world), behind(world);
  const VectorXd q = random_configuration(world, 5);
  const double step = 1e-6;
  update_kinematics(world, q, data);
  const Eigen::Vector3d p_B(0.2, -0.3, 0.4);
  for (std::size_t b = 0; b < world.bodies().size(); ++b) {
    if (world.bodies()[b].block < 0) continue;
    const Block& block = world.blocks()[world.bodies()[b].block];
    const Eigen::Vector3d p_W = data.X_WB[b] * p_B;
    Matrix3Xd J(3, block.nv), difference(3, block.nv);
    point_jacobian(world, data, static_cast<int>(b), p_W, J);
    for (int i = 0; i < block.nv; ++i) {
      const VectorXd direction = VectorXd::Unit(world.nv(), block.v + i);
      update_kinematics(world, moved(world, q, direction, step), ahead);
      update_kinematics(world, moved(world, q, direction, -step), behind);
      difference.col(i) = (ahead.X_WB[b] * p_B - behind.X_WB[b] * p_B) / (2.0 * step);
    }
    EXPECT_LT((J - difference).cwiseAbs().maxCoeff(), 1e-8) << world.bodies()[b].name;
  }
}

TEST(Dynamics, FrameJacobianGivesTheBodysVelocityAndContactRowsItsPart) {
  const World world = mixed_world();
  WorldData data(world);
  const VectorXd v = wave(world.nv(), 0.9);
  update(world, random_configuration(world, 6), v, data);
  const Eigen::Matrix3d R_WC = Eigen::AngleAxisd(1.1, Eigen::Vector3d(3, -1, 2).normalized()).toRotationMatrix();
  for (std::size_t b = 0; b < world.bodies().size(); ++b) {
    if (world.bodies()[b].block < 0) continue;
    const Block& block = world.blocks()[world.bodies()[b].block];
    const VectorXd v_k = v.segment(block.v, block.nv);
    const int body = static_cast<int>(b);
    Matrix6Xd J(6, block.nv);
    frame_jacobian(world, data, body, data.X_WB[b].translation(), J);
    EXPECT_LT((J * v_k - data.V_WB[b]).cwiseAbs().maxCoeff(), 1e-12) << world.bodies()[b].name;
    const Eigen::Vector3d p(0.3, 0.1, -0.2);
    Matrix3Xd P(3, block.nv);
    point_jacobian(world, data, body, p, P);
    RowMatrix rows = RowMatrix::Constant(3, block.nv, 0.25);
    add_contact_rows(world, data, body, p, R_WC, -1.0, rows);
    EXPECT_LT((rows - (RowMatrix::Constant(3, block.nv, 0.25) - R_WC.transpose() * P)).cwiseAbs().maxCoeff(), 1e-14);
  }
}

// Lagrange's equations in the quasi-velocities v: with T = vᵀM v/2, momentum P = M v and free motion M a + h = 0 the energy balance
// T + V stays constant along the flow: d/dt at any (q, v): vᵀM a + ½ vᵀṀ v + ∇V·v = 0, so vᵀh = ½ vᵀṀ v + V̇ for every v.
TEST(Dynamics, BiasDoesTheWorkThatTheEnergiesChangeBy) {
  const World world = mixed_world();
  WorldData data(world);
  const double step = 1e-5;
  for (int trial = 0; trial < 5; ++trial) {
    const VectorXd q = random_configuration(world, 20 + static_cast<std::uint64_t>(trial)), v = 2.0 * wave(world.nv(), trial);
    const auto energy = [&](double t) {
      const double kinetic = kinetic_energy_at(world, moved(world, q, v, t), v, data);
      return kinetic + potential_energy(world, data);
    };
    const double rate = (energy(step) - energy(-step)) / (2.0 * step);
    update(world, q, v, data);
    EXPECT_NEAR(v.dot(data.bias), rate, 1e-7 * (1.0 + std::abs(rate)));
  }
}

// At rest h is the gradient of the potential energy.
TEST(Dynamics, BiasAtRestIsTheGradientOfPotentialEnergy) {
  const World world = mixed_world();
  WorldData data(world);
  const VectorXd q = random_configuration(world, 8), rest = VectorXd::Zero(world.nv());
  const double step = 1e-6;
  update(world, q, rest, data);
  const VectorXd bias = data.bias;
  for (int i = 0; i < world.nv(); ++i) {
    const VectorXd e = VectorXd::Unit(world.nv(), i);
    update_kinematics(world, moved(world, q, e, step), data);
    const double up = potential_energy(world, data);
    update_kinematics(world, moved(world, q, e, -step), data);
    EXPECT_NEAR(bias[i], (up - potential_energy(world, data)) / (2.0 * step), 1e-7);
  }
}

/// Motion without forces, M a + h = 0.
struct FreeMotion {
  const World& world;
  WorldData data;
  explicit FreeMotion(const World& w) : world(w), data(w) {}

  VectorXd acceleration(const VectorXd& q, const VectorXd& v) {
    update(world, q, v, data);
    return -data.M.to_dense().llt().solve(VectorXd(data.bias));
  }
  /// Midpoint rule: second order.
  void step(VectorXd& q, VectorXd& v, double h) {
    const VectorXd v_mid = v + h / 2.0 * acceleration(q, v), q_mid = moved(world, q, v, h / 2.0);
    const VectorXd a_mid = acceleration(q_mid, v_mid);
    q = moved(world, q, v_mid, h);
    v += h * a_mid;
  }
  double energy(const VectorXd& q, const VectorXd& v) { return kinetic_energy_at(world, q, v, data) + potential_energy(world, data); }
  /// Error of the energy after one second.
  double drift(VectorXd q, VectorXd v, int steps) {
    const double before = energy(q, v);
    for (int i = 0; i < steps; ++i) step(q, v, 1.0 / steps);
    return std::abs(energy(q, v) - before);
  }
};

TEST(Dynamics, EnergyOfADoublePendulumConvergesAtTheIntegratorsOrder) {
  WorldBuilder builder;
  builder.add_robot_text(double_pendulum());
  const World world = builder.build();
  FreeMotion motion(world);
  const VectorXd q = Eigen::Vector2d(2.0, 0.5), v = Eigen::Vector2d(1.0, -1.5);
  const double coarse = motion.drift(q, v, 500), fine = motion.drift(q, v, 1000);
  EXPECT_GT(coarse / fine, 3.0);
  EXPECT_LT(fine, 1e-3);
}

TEST(Dynamics, TumblingBodyKeepsEnergyAndMomentum) {
  WorldBuilder builder;
  builder.set_gravity(Eigen::Vector3d::Zero());
  builder.add_free_body(brick("brick", {0.1, 0.0, -0.2}));
  const World world = builder.build();
  FreeMotion motion(world);
  VectorXd q = random_configuration(world, 2), v = (VectorXd(6) << 0.3, -0.2, 0.5, 1.0, 4.0, 0.3).finished();
  // Momentum about the world's origin: columns of J_W are unit motions, so the generalised momentum is J_Wᵀ of it.
  const auto momentum = [&]() -> VectorXd {
    update(world, q, v, motion.data);
    const VectorXd p = motion.data.M.to_dense() * v;
    return motion.data.J_W[0].transpose().partialPivLu().solve(p);
  };
  EXPECT_GT(motion.drift(q, v, 200) / motion.drift(q, v, 400), 3.0);
  const VectorXd before = momentum();
  for (int i = 0; i < 2000; ++i) motion.step(q, v, 5e-4);
  EXPECT_LT((momentum() - before).norm(), 1e-5 * before.norm());
  EXPECT_NEAR(q.tail<4>().norm(), 1.0, 1e-15);
}

TEST(Dynamics, PendulumFromRestHasTheClosedFormAcceleration) {
  const double m = 1.0, l = 0.5, I = 0.084, angle = 0.7;
  WorldBuilder builder;
  RobotOptions options;
  options.joints["elbow"].armature = 0.0;
  builder.add_robot_text(R"(<robot name="p"><link name="base"/><link name="bob"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    <inertia ixx="0.084" iyy="0.084" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="pivot" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/></joint></robot>)");
  const World world = builder.build();
  WorldData data(world);
  update(world, VectorXd::Constant(1, angle), VectorXd::Constant(1, 3.0), data);
  EXPECT_NEAR(data.M.block(0)(0, 0), I + m * l * l, 1e-15);
  EXPECT_NEAR(data.bias[0], m * 9.81 * l * std::sin(angle), 1e-14);
}

TEST(Dynamics, BlocksAreIndependent) {
  const World world = mixed_world();
  ASSERT_EQ(world.blocks().size(), 3u);
  EXPECT_EQ(std::vector<int>(world.block_sizes().begin(), world.block_sizes().end()), (std::vector<int>{18, 6, 2}));
  EXPECT_EQ(world.nq(), 19 + 7 + 2);
  WorldData data(world), alone(world);
  VectorXd q = random_configuration(world, 9), v = wave(world.nv(), 2.0);
  update(world, q, v, data);
  q.head(19) = random_configuration(world, 10).head(19);
  v.head(18).setZero();
  update(world, q, v, alone);
  for (int k = 1; k < 3; ++k) {
    EXPECT_EQ(data.M.block(k), alone.M.block(k));
    EXPECT_EQ(data.bias.segment(data.M.offset(k), data.M.block_size(k)), alone.bias.segment(data.M.offset(k), data.M.block_size(k)));
  }
  EXPECT_NE(data.M.block(0), alone.M.block(0));
  for (int k = 0; k < 3; ++k) EXPECT_EQ(data.M.block(k), data.M.block(k).transpose().eval());
}

// Inertia and bias are the same wherever the robot is; about the world's origin their terms would grow with the square of the distance.
TEST(Dynamics, ARobotFarFromTheOriginKeepsItsDigits) {
  const World world = mixed_world();
  WorldData near(world), far(world);
  VectorXd q = random_configuration(world, 12);
  const VectorXd v = wave(world.nv(), 0.4);
  update(world, q, v, near);
  q.head<3>() += Eigen::Vector3d(1e5, -2e5, 3e4);
  update(world, q, v, far);
  const Eigen::MatrixXd M = near.M.block(0);
  EXPECT_LE((far.M.block(0) - M).cwiseAbs().maxCoeff(), 1e-13 * M.cwiseAbs().maxCoeff());
  EXPECT_LE((far.bias - near.bias).head(18).cwiseAbs().maxCoeff(), 1e-12 * near.bias.head(18).cwiseAbs().maxCoeff());
}

TEST(Dynamics, NothingIsAllocatedAfterTheFirstCall) {
  ASSERT_TRUE(allocations_are_counted());
  const World world = mixed_world();
  WorldData data(world);
  VectorXd q = random_configuration(world, 11), v = wave(world.nv(), 0.1), w(world.nv());
  Matrix3Xd J(3, 18);
  Matrix6Xd F(6, 18);
  const int foot = world.body("FL_FOOT");
  const auto all = [&] {
    update(world, q, v, data);
    update_kinematics(world, q, data);
    point_jacobian(world, data, foot, Eigen::Vector3d(0.1, 0.2, 0.3), J);
    frame_jacobian(world, data, foot, Eigen::Vector3d(0.1, 0.2, 0.3), F);
    integrate(world, q, v, 1e-3, q);
    difference(world, q, q, w);
    return kinetic_energy(world, data, v) + potential_energy(world, data) + center_of_mass(world, data).x();
  };
  double sum = all();
  const std::size_t before = allocation_count();
  for (int i = 0; i < 10; ++i) sum += all();
  EXPECT_EQ(allocation_count(), before);
  EXPECT_TRUE(std::isfinite(sum));
}

TEST(Dynamics, RefusesStatesThatAreNotStates) {
  const World world = mixed_world();
  WorldData data(world);
  const VectorXd q = random_configuration(world, 1), v = wave(world.nv(), 0.0);
  VectorXd bad = q;
  bad[4] = std::nan("");
  EXPECT_THROW(update(world, bad, v, data), InvalidArgument);
  bad = q;
  bad.segment<4>(3) *= 1.01;
  EXPECT_THROW(update(world, bad, v, data), InvalidArgument);
  EXPECT_THROW(update(world, q.head(5), v, data), InvalidArgument);
  VectorXd fast = v;
  fast[0] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(update(world, q, fast, data), InvalidArgument);
  WorldData of_another((World()));
  EXPECT_THROW(update(world, q, v, of_another), InvalidArgument);
  Matrix3Xd J(3, 6);
  EXPECT_THROW(point_jacobian(world, data, world.body("FL_FOOT"), Eigen::Vector3d::Zero(), J), InvalidArgument);
  EXPECT_THROW(point_jacobian(world, data, 999, Eigen::Vector3d::Zero(), J), InvalidArgument);
}

TEST(Dynamics, CenterOfMassOfAllAndOfOneRobot) {
  const World world = mixed_world();
  WorldData data(world);
  update_kinematics(world, world.initial_configuration(), data);
  const int pendulum = world.robot("double_pendulum");
  const Eigen::Vector3d upper = data.X_WB[world.body("upper")] * Eigen::Vector3d(0, 0, -0.5);
  const Eigen::Vector3d lower = data.X_WB[world.body("lower")] * Eigen::Vector3d(0.05, 0, -0.5);
  EXPECT_LT((center_of_mass(world, data, pendulum) - (upper + lower) / 2.0).norm(), 1e-14);
  double mass = 0.0;
  for (const Body& body : world.bodies()) mass += body.mass;
  EXPECT_NEAR(potential_energy(world, data), mass * 9.81 * center_of_mass(world, data).z(), 1e-11);
}

TEST(Configuration, DifferenceUndoesIntegrate) {
  const World world = mixed_world();
  for (const double size : {1e-9, 1e-4, 1e-2, 0.5, 1.7}) {
    const VectorXd q = random_configuration(world, 12), w = size * wave(world.nv(), 0.4);
    VectorXd back(world.nv());
    difference(world, q, moved(world, q, w, 1.0), back);
    EXPECT_LT((back - w).cwiseAbs().maxCoeff(), 1e-14 + 1e-13 * size) << size;
  }
}

TEST(Configuration, ConstantBodyVelocityMovesOnAScrew) {
  WorldBuilder builder;
  builder.add_free_body(brick("brick"));
  const World world = builder.build();
  // Turning at 1 rad/s about z while moving along x: a circle of radius 1; a quarter of it.
  const VectorXd v = (VectorXd(6) << 1, 0, 0, 0, 0, 1).finished();
  const VectorXd q = moved(world, neutral(world), v, M_PI_2);
  EXPECT_LT((q.head<3>() - Eigen::Vector3d(1, 1, 0)).norm(), 1e-15);
  EXPECT_LT((q.tail<4>() - Eigen::Vector4d(0, 0, M_SQRT1_2, M_SQRT1_2)).norm(), 1e-15);
  VectorXd many = neutral(world);
  for (int i = 0; i < 1000; ++i) many = moved(world, many, v, M_PI_2 / 1000);
  EXPECT_LT((many - q).norm(), 1e-13);
}

TEST(Configuration, RandomOnesAreWithinLimitsAndRepeatable) {
  WorldBuilder builder;
  builder.add_robot(robot_file("talos_reduced"));
  const World world = builder.build();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const VectorXd q = random_configuration(world, seed);
    for (const Joint& joint : world.joints()) {
      EXPECT_GE(q[joint.q], joint.lower);
      EXPECT_LE(q[joint.q], joint.upper);
    }
    EXPECT_EQ(q, random_configuration(world, seed));
  }
  EXPECT_NE(random_configuration(world, 1), random_configuration(world, 2));
}

}  // namespace
}  // namespace stiction::dynamics_test
