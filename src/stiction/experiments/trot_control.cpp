#include "stiction/experiments/trot_control.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "stiction/base/errors.hpp"
#include "stiction/control/torque_limits.hpp"
#include "stiction/forward/free_motion.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

// m: a foot that the gait plans to stand counts as standing from here on. A controller that counts on the force of a foot in the air
// presses it into the ground.
constexpr double kFeltGap = 1e-4;

bool is_sensed(TrotController c) { return c == TrotController::id_sensed_1 || c == TrotController::id_sensed_2; }

}  // namespace

TrotOptions links_trot() {
  TrotOptions options;
  options.nominal_feet = links_nominal_feet();
  options.start_time = kTrotSettle;
  return options;
}

void soften_contacts(const ContactProblem& p, double compliance, ContactProblem& soft) {
  const int nv = p.velocities(), added = 3 * p.contacts();
  const std::array<int, 2> sizes{nv, added};
  soft = p;
  soft.M.reset(sizes);
  soft.M.block(0) = p.M.block(0);
  soft.M.block(1).diagonal().setConstant(1.0 / compliance);
  for (auto [x, from] : {std::pair{&soft.v, &p.v}, std::pair{&soft.impulse, &p.impulse}}) {
    x->setZero(nv + added);
    x->head(nv) = *from;
  }
  soft.J.reset(3, sizes);
  for (int i = 0; i < p.contacts(); ++i) {
    soft.J.add_group();
    soft.J.add_entry(0) = p.J.entry(p.J.entry_begin(i));
    RowMap give = soft.J.add_entry(1);
    for (int k = 0; k < 3; ++k) give(k, 3 * i + k) = 1.0;
  }
  soft.J_b.reset(1, sizes);
  for (int j = 0; j < p.bounded_rows(); ++j) {
    soft.J_b.add_group();
    soft.J_b.add_entry(0) = p.J_b.entry(p.J_b.entry_begin(j));
  }
}

TrotControl::TrotControl(const World& world, const TrotRun& run, const TrotOptions& plan)
    : world_(world),
      controller_(run.controller),
      setup_(run.setup),
      mu_(controller_friction(run.controller, run.mu)),
      choice_(run.stage_two ? Choice::least_torque : Choice::warm_start),
      senses_mu_(run.ground == TrotGround::hills),
      planner_(links_legs(), plan, links_standing_posture()) {
  const TrotSetup& setup = run.setup;
  const TrotController controller = run.controller;
  const double dt = run.dt;
  joints_.assign(world.actuated().begin(), world.actuated().end());
  require_size("actuated joints of the model", static_cast<Index>(joints_.size()), kTrotJoints);
  for (std::size_t f = 0; f < feet_.size(); ++f) {
    feet_[f] = world.body(kTrotFeet[f]);
    links_[f] = world.link(kTrotFeet[f]);
  }
  limits_.assign(kTrotJoints, setup.torque_limit);
  limit_.setConstant(kTrotJoints, setup.torque_limit);
  const TrotPid gains;
  pid_options_ = {PidGains::uniform(kTrotJoints, gains.joint_kp, gains.joint_kv, gains.joint_ki), dt, setup.lookahead};
  foot_gains_ = PidGains::uniform(3 * Index{kTrotLegs}, gains.foot_kp, gains.foot_kv, gains.foot_ki);
  reference_options_ = {PidGains::uniform(kTrotJoints, setup.kp, setup.kd, 0.0), dt, setup.lookahead};
  validate(reference_options_);
  inverse_options_.contact.law = controller_law(controller, run.objective);
  if (controller == TrotController::id_qp_inf && run.objective == QpObjective::kinetic) softness_ = kTikhonov / world.robots()[0].mass;
  if (is_sensed(controller)) sensed_.emplace(world.nv(), controller == TrotController::id_sensed_1 ? 1 : 2);
  q_.setZero(kTrotJoints);
  v_ = tau_ = pid_torque_ = foot_torque_ = acceleration_ = q_;
  foot_position_.setZero(3 * Index{kTrotLegs});
  foot_velocity_ = foot_position_;
  foot_jacobian_.setZero(3 * Index{kTrotLegs}, kTrotJoints);
}

void TrotControl::sense(const Eigen::Ref<const VectorXd>& force) {
  if (sensed_) sensed_->push(force);
}

// Positions, velocities and Jacobian of the feet in the base frame.
void TrotControl::track_feet(const TrotObservation& seen) {
  q_ = seen.state.q.tail(kTrotJoints);
  for (std::size_t i = 0; i < joints_.size(); ++i) v_[static_cast<Index>(i)] = seen.state.v[joints_[i]];
  LegVector q(3);
  LegJacobian J;
  Eigen::Vector3d p;
  for (std::size_t f = 0; f < feet_.size(); ++f) {
    const Leg& leg = planner_.legs()[f];
    const Index row = 3 * static_cast<Index>(f);
    for (Index k = 0; k < 3; ++k) q[k] = q_[leg.joints[k]];
    leg.kinematics(q, p, J);
    foot_position_.segment<3>(row) = p;
    for (Index k = 0; k < 3; ++k) foot_jacobian_.block<3, 1>(row, leg.joints[k]) = J.col(k);
  }
  foot_velocity_.noalias() = foot_jacobian_.lazyProduct(v_);
}

// Virtual forces of the feet that the gait plans to stand, into the torques and accelerations of the feedback.
void TrotControl::stabilise(const TrotObservation& seen, Index stance) {
  const Eigen::Matrix3d R_WB = base_rotation(seen.state).toRotationMatrix();
  const Eigen::Matrix3d R_HB =
      Eigen::AngleAxisd(-planar_pose(seen.state.q.head<3>(), R_WB).yaw, Eigen::Vector3d::UnitZ()).toRotationMatrix() * R_WB;
  stance_point_.resize(3, stance);
  stance_normal_ = Eigen::Vector3d::UnitZ().replicate(1, stance);
  stance_jacobian_.resize(3 * stance, kTrotJoints);
  Index k = 0;
  for (std::size_t f = 0; f < feet_.size(); ++f) {
    if (planner_.plan().stance[f] == 0) continue;
    const Index row = 3 * static_cast<Index>(f);
    stance_point_.col(k) = R_HB * foot_position_.segment<3>(row);
    stance_jacobian_.middleRows<3>(3 * k++) = R_HB.lazyProduct(foot_jacobian_.middleRows<3>(row));
  }
  const StabilizerGains gains = published_stabilizer(seen.data.M.block(0).block<2, 2>(3, 3));
  const Eigen::Vector2d moment = stabilizing_moment(gains, base_tilt(R_WB, seen.state.v.segment<3>(3)));
  compressive_forces(stance_point_, stance_normal_, Eigen::Vector3d::Zero(), moment, gains.regularisation, virtual_forces_);
  add_virtual_force_torques(virtual_forces_, stance_normal_, stance_jacobian_, foot_torque_);
  if (!setup_.adds_torques) {
    const double carried = world_.robots()[0].mass / static_cast<double>(stance);
    add_virtual_force_accelerations(virtual_forces_, stance_normal_, stance_jacobian_, carried, acceleration_);
  }
}

// The PID baseline's torques, and what inverse dynamics must reach.
void TrotControl::feed_back(const TrotObservation& seen) {
  const TrotPlan& plan = planner_.plan();
  const Eigen::Map<const VectorXd> position(plan.foot_position.data(), plan.foot_position.size());
  const Eigen::Map<const VectorXd> velocity(plan.foot_velocity.data(), plan.foot_velocity.size());
  operational_space_pid(foot_gains_, {position, velocity}, {foot_position_, foot_velocity_}, foot_jacobian_, pid_options_.dt, foot_state_,
                        foot_torque_);
  acceleration_.setZero();
  const Index stance = std::ranges::count(plan.stance, 1);
  if (setup_.stabilises && stance > 0) stabilise(seen, stance);
  joint_pid(pid_options_, plan.joints, q_, v_, foot_torque_, pid_state_, pid_torque_);
  desired_ = plan.joints;
  if (setup_.damps_motion) desired_.v.setZero();
  joint_reference(reference_options_, desired_, q_, v_, acceleration_, reference_state_, reference_);
}

void TrotControl::find_contacts(const TrotObservation& seen) {
  contacts_.clear();
  if (!predicts_forces(controller_)) return;
  if (!setup_.plans_contacts) {
    contacts_.assign(seen.contacts.begin(), seen.contacts.end());
  } else {
    for (std::size_t f = 0; f < feet_.size(); ++f) {
      if (planner_.plan().stance[f] == 0) continue;
      ContactPoint c;
      c.body_a = feet_[f];
      c.n = Eigen::Vector3d::UnitZ();
      c.p_WC = link_pose(world_, seen.data, links_[f]).translation() - kTrotFootRadius * c.n;
      contact_tangents(c.n, c.t1, c.t2);
      if (c.p_WC.z() > kFeltGap) continue;
      c.id = f + 1;
      contacts_.push_back(c);
    }
  }
  set_friction();
}

// Of the ground as the controller knows it: on patches that of the contact, elsewhere one for all.
void TrotControl::set_friction() {
  for (ContactPoint& c : contacts_) c.mu = senses_mu_ ? controller_friction(controller_, c.mu) : mu_;
}

void TrotControl::make_problem(const TrotObservation& seen) {
  find_contacts(seen);
  AssembleOptions options;
  options.dt = setup_.lookahead;
  const State& state = seen.state;
  const VectorXd none = VectorXd::Zero(state.v.size());
  assemble(world_, seen.data, state.q, state.v, none, contacts_, options, problem_);
  add_convective(world_, none, seen.data.bias, problem_);
  if (sensed_) problem_.impulse += setup_.lookahead * sensed_->delayed();
  if (!setup_.adds_torques) return;
  for (std::size_t i = 0; i < joints_.size(); ++i) problem_.impulse[joints_[i]] -= setup_.lookahead * pid_torque_[static_cast<Index>(i)];
}

bool TrotControl::solve(ContactProblem& problem, bool limited) {
  // What the law leaves open goes to the least torque; where limits act, which stage II does not know, to the least impulse.
  inverse_options_.choice = limited && choice_ == Choice::least_torque ? Choice::least_norm : choice_;
  inverse_dynamics(problem, joints_, reference_.v, limited ? std::span<const double>(limits_) : std::span<const double>(), inverse_options_,
                   workspace_, inverse_);
  return inverse_.status == Status::solved;
}

// Without limits first: where they do not act, the torques of least norm are those within them. Where they act, the free program may be out
// of reach of its tolerance (wedged feet ask for torques in proportion to mu), so its failure says nothing about the limited one.
bool TrotControl::solve_inverse() {
  ContactProblem* problem = &problem_;
  if (softness_ > 0.0 && problem_.contacts() > 0) {
    soften_contacts(problem_, softness_, soft_problem_);
    problem = &soft_problem_;
  }
  for (const bool warm : {true, false}) {
    if (warm && choice_ != Choice::least_torque) continue;  // the last forces would choose in place of stage II
    inverse_options_.contact.warm_start = warm;
    const bool within = solve(*problem, false) && (inverse_.tau.array().abs() <= limit_.array()).all();
    if (!within && !solve(*problem, true)) continue;
    counts_.cold += warm ? 0 : 1;
    counts_.saturated += within ? 0 : 1;
    return true;
  }
  return false;
}

void TrotControl::read_forces() {
  forces_.setZero();
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    for (std::size_t f = 0; f < feet_.size(); ++f) {
      if (contacts_[i].body_a != feet_[f] && contacts_[i].body_b != feet_[f]) continue;
      forces_[static_cast<Index>(f)] += inverse_.impulses[3 * static_cast<Index>(i)] / setup_.lookahead;
    }
  }
}

const VectorXd& TrotControl::update(double t, const PlanarTwist& command, const PlanarTwist& measured, const TrotObservation& seen) {
  planner_.update(t, command, measured);
  track_feet(seen);
  feed_back(seen);
  predicted_ = false;
  solved_ = false;
  if (controller_ != TrotController::pid) {
    make_problem(seen);
    const auto start = std::chrono::steady_clock::now();
    solved_ = solve_inverse();
    microseconds_ = 1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    counts_.failures += solved_ ? 0 : 1;
    counts_.repaired += inverse_.repaired ? 1 : 0;
  }
  if (solved_) {
    tau_ = inverse_.tau;
    predicted_ = predicts_forces(controller_);
    if (predicted_) read_forces();
  } else {
    tau_ = pid_torque_;
    const int cut = clamp_torques(limit_, tau_, pid_state_.saturation);
    if (controller_ == TrotController::pid && cut > 0) ++counts_.saturated;
  }
  return tau_;
}

}  // namespace stiction
