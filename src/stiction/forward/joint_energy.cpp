#include "stiction/forward/joint_energy.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>

#include "stiction/forward/free_motion.hpp"
#include "stiction/forward/loop_drift.hpp"

namespace stiction {

namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kNotable = 0.05;    // of a tree's kinetic energy T: what the scheme may give it in all
constexpr double kReserve = 1e-3;    // of T: what is taken back beyond that; at gains of 1e-5 a step one in a hundred is solved again
constexpr double kPart = 0.1;        // of what the joints carry: as far as an impulse of the kind takes, beyond it turns w
constexpr double kOwed = 0.01;       // of T: what joints that carried too little are still to give back
constexpr double kLeastGain = 1e-4;  // of T: what a step whose joints are braked may still gain, and a part of one times their number
constexpr double kFast = 0.06;       // rad: of 20000 double pendulums with spinning bases e was 14 φ² of T at most, of chains 4 φ²
constexpr double kResting = 1e-8;    // of T: joints that carry less have nothing to give
constexpr double kRounded = 1e-14;   // sums over bodies round to 1e-16 each; flights with joints at rest keep their bits
constexpr double kGain = 0.5;  // a solve again that leaves more than this of the excess leads nowhere; half of the step makes a quarter

bool is_of(const KinematicTree& tree, int body) { return std::ranges::find(tree.bodies, body) != tree.bodies.end(); }

/// Whether a contact that bears, by impulses (3n), answers.
template <class Answer>
bool any_bears(const std::vector<ContactPoint>& contacts, const GrowVector& impulses, Answer answer) {
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (answer(contacts[i]) && !impulses.segment<3>(3 * static_cast<Eigen::Index>(i)).isZero(0.0)) return true;
  }
  return false;
}

/// Whether drives, other than torques, act on any of these coordinates.
bool any_drives(const Drives& drives, int first, int size) {
  const auto acts = [&](const auto& drive) { return drive.v >= first && drive.v < first + size; };
  return std::ranges::any_of(drives.velocity, acts) || std::ranges::any_of(drives.servos, acts) ||
         std::ranges::any_of(drives.rows, [&](const VelocityRow& row) { return std::ranges::any_of(row.terms, acts); });
}

/// Whether nothing that could hide what the scheme gives does work on a tree: neither contacts nor motors.
bool is_passive(const KinematicTree& tree, const std::vector<ContactPoint>& contacts, const GrowVector& impulses, const Drives& drives,
                const Eigen::Ref<const Eigen::VectorXd>& tau) {
  return tau.segment(tree.first, tree.size).isZero(0.0) && !any_drives(drives, tree.first, tree.size) &&
         !any_bears(contacts, impulses, [&](const ContactPoint& c) { return is_of(tree, c.body_a) || is_of(tree, c.body_b); });
}

/// Of the bodies of a tree, without armature, whose energy no configuration changes: by M, where that is at hand,
double kinetic_energy(const World& world, const KinematicTree& tree, const WorldData& data, const Eigen::Ref<const Eigen::VectorXd>& v) {
  double twice = twice_energy(inertia_of(data, tree), v.segment(tree.first, tree.size));
  for (const int j : tree.joints) {
    const Joint& joint = world.joints()[j];
    if (joint.armature != 0.0) twice -= joint.armature * v.segment(joint.v, joint.nv).squaredNorm();
  }
  return 0.5 * twice;
}

/// and by the velocities of the bodies.
double kinetic_energy(const World& world, const KinematicTree& tree, const WorldData& data, const std::vector<Vector6d>& V) {
  double twice = 0.0;
  for (const int b : tree.bodies) {
    const Body& body = world.bodies()[b];
    const Vector3d w = data.X_WB[b].linear().transpose() * V[b].tail<3>();
    twice += body.mass * center_velocity(body, data.X_WB[b], V[b]).squaredNorm() + w.dot(body.inertia * w);
  }
  return 0.5 * twice;
}

/// Whether contacts hold a tree to anything but itself.
bool touches_others(const KinematicTree& tree, const std::vector<ContactPoint>& contacts, const GrowVector& impulses) {
  return any_bears(contacts, impulses, [&](const ContactPoint& c) { return is_of(tree, c.body_a) != is_of(tree, c.body_b); });
}

/// The same of loops.
bool is_joined(const World& world, const KinematicTree& tree) {
  return std::ranges::any_of(world.equalities(), [&](const Equality& equality) {
    return equality.kind != EqualityKind::joint && is_of(tree, equality.body_a) != is_of(tree, equality.body_b);
  });
}

/// Whether the root of a tree is two slides and the hinge that follows them, square to both, that nothing but forces of motors holds, and
/// carries all mass; axes: columns dual to the slides' and the hinge's, in the world.
bool is_planar(const World& world, const KinematicTree& tree, Eigen::Matrix3d& axes) {
  if (tree.is_free || tree.joints.size() < 3 || tree.before[1] != 0 || tree.before[2] != 1) return false;
  if (std::any_of(tree.before.begin() + 3, tree.before.end(), [](int before) { return before < 2; })) return false;
  WorldData data(world);
  update_kinematics(world, world.initial_configuration(), data);
  for (int k = 0; k < 3; ++k) {
    const Joint& joint = world.joints()[tree.joints[k]];
    if (joint.kind != (k < 2 ? JointKind::prismatic : JointKind::revolute) || joint.q != tree.root_q + k) return false;
    if (joint.damping != 0.0 || joint.armature != 0.0 || joint.stiffness != 0.0 || joint.dry_friction != 0.0) return false;
    if (k < 2 && world.bodies()[joint.body].mass != 0.0) return false;
    const auto binds = [&](const Equality& e) { return e.joint_a == tree.joints[k] || e.joint_b == tree.joints[k]; };
    if (std::ranges::any_of(world.equalities(), binds)) return false;
    const Vector6d V = body_velocity(world, data, joint.body, VectorXd::Unit(world.nv(), joint.v));
    axes.col(k) = k < 2 ? V.head<3>() : V.tail<3>();
  }
  constexpr double kSquare = 1e-12;  // rounding of axes in files
  if (Eigen::Vector2d(axes.leftCols<2>().transpose() * axes.col(2)).norm() > kSquare || axes.col(0).cross(axes.col(1)).norm() < 0.1)
    return false;
  axes = axes.inverse().transpose().eval();
  return true;
}

/// Whether a limit of the first `root` coordinates of a tree, which are no free joint, bears.
bool is_stopped(const KinematicTree& tree, int root, const ContactProblem& problem, const Solution& solution) {
  const BlockRows& J = problem.J_b;
  for (int j = 0; j < J.groups(); ++j) {
    if (problem.row_kinds[j] != RowKind::limit || solution.bounded_impulses[j] == 0.0) continue;
    for (int e = J.entry_begin(j); e < J.entry_end(j); ++e) {
      const int first = tree.first - problem.M.offset(tree.block);
      if (J.entry_block(e) == tree.block && !J.entry(e).row(0).segment(first, root).isZero(0.0)) return true;
    }
  }
  return false;
}

/// Of a tree, in the axes of the world: momentum, and spin and inertia about its centre of mass.
struct TreeMomenta {
  double mass = 0.0;
  Vector3d com = Vector3d::Zero(), linear = Vector3d::Zero(), spin = Vector3d::Zero();
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();
};

Eigen::Matrix3d turn_by(const Vector3d& r) {
  const double angle = r.norm();
  return angle > 0.0 ? Eigen::AngleAxisd(angle, r / angle).toRotationMatrix() : Eigen::Matrix3d::Identity();
}

TreeMomenta momenta_of(const World& world, const KinematicTree& tree, const WorldData& data, std::span<const Vector6d> V) {
  TreeMomenta out;
  for (const int b : tree.bodies) {
    const Body& body = world.bodies()[b];
    out.mass += body.mass;
    out.com += body.mass * (data.X_WB[b] * body.com);
    out.linear += body.mass * center_velocity(body, data.X_WB[b], V[b]);
  }
  out.com /= out.mass;
  for (const int b : tree.bodies) {
    const Body& body = world.bodies()[b];
    const Eigen::Matrix3d R = data.X_WB[b].linear(), inertia = R * body.inertia * R.transpose();
    const Vector3d arm = data.X_WB[b] * body.com - out.com;
    out.spin += inertia * V[b].tail<3>() + body.mass * arm.cross(center_velocity(body, data.X_WB[b], V[b]));
    out.inertia += inertia + body.mass * (arm.squaredNorm() * Eigen::Matrix3d::Identity() - arm * arm.transpose());
  }
  return out;
}

}  // namespace

JointEnergy::JointEnergy(const World& world) : start_(world), end_(world) {
  for (KinematicTree& found : kinematic_trees(world)) {
    if (found.size <= (found.is_free ? 6 : 1)) continue;
    Tree& tree = trees_.emplace_back();
    tree.KinematicTree::operator=(std::move(found));
    const Joint& root = world.joints()[tree.joints.front()];
    tree.is_held = is_joined(world, tree) || root.damping != 0.0 || root.armature != 0.0;
    tree.root = tree.is_free ? 6 : is_planar(world, tree, tree.axes) ? 3 : 0;
  }
  given_.assign(trees_.size(), 0.0);
  impulse_.setZero(world.nv());
  scratch_.setZero(world.nv());
}

bool JointEnergy::is_due(const World& world, double h, double share, const Eigen::Ref<const Eigen::VectorXd>& v,
                         const Eigen::Ref<const Eigen::VectorXd>& v_plus, const std::vector<ContactPoint>& contacts,
                         const GrowVector& impulses, const Drives& drives, const Eigen::Ref<const Eigen::VectorXd>& tau) {
  const double fast = kFast * std::sqrt(share);
  bool any = false;
  for (Tree& tree : trees_) {
    tree.is_idle = is_passive(tree, contacts, impulses, drives, tau);
    tree.is_due = tree.is_braked || tree.is_idle;
    tree.drives_root = any_drives(drives, tree.first, tree.root);
    turns_.assign(tree.joints.size(), 0.0);
    for (std::size_t i = 0; i < tree.joints.size() && !tree.is_due; ++i) {
      const Joint& joint = world.joints()[tree.joints[i]];
      if (tree.before[i] >= 0) turns_[i] = turns_[tree.before[i]];
      if (joint.kind == JointKind::prismatic) continue;
      const bool free = joint.kind == JointKind::free;  // of which the last three velocities turn
      const int first = joint.v + (free ? 3 : 0), size = free ? 3 : joint.nv;
      turns_[i] += h * std::max(v.segment(first, size).norm(), v_plus.segment(first, size).norm());
      tree.is_due = turns_[i] > fast;
    }
    if (!tree.is_due) tree.leave();
    any = any || tree.is_due;
  }
  return any;
}

void JointEnergy::reset() { std::ranges::fill(given_, 0.0); }

void JointEnergy::start() {
  last_ = kInfinity;
  for (Tree& tree : trees_) {
    tree.is_braked = false;
    tree.leave();
  }
}

JointEnergy::Progress JointEnergy::change_of_problem() {
  last_ = kInfinity;
  return Progress::moved;
}

double JointEnergy::keep() {
  double taken = 0.0;
  for (std::size_t k = 0; k < trees_.size(); ++k) {
    given_[k] = trees_[k].kept * given_[k] + trees_[k].gain;
    taken += trees_[k].taken;
  }
  return taken;
}

void JointEnergy::close_flights(PhasePoint& end) const {
  for (const Tree& tree : trees_) {
    if (tree.root == 0) continue;
    end.v.segment(tree.first, tree.root) += tree.closing.head(tree.root);
    const int places = tree.is_free ? 3 : 2;
    end.q.segment(tree.root_q, places) += tree.aside.head(places);
  }
}

// The rigid motion at the end that gives the tree the momenta, and the centre of mass, that it has to have: those of the start with weight
// and torques on the root, the angular one turned as that of the tree with its joints locked would be, a free body's (free_motion.hpp).
// Returns the energy that it adds (J).
double JointEnergy::close_flight(const World& world, double h, const WorldData& start, std::span<const Vector6d> V_start,
                                 const WorldData& at, const Eigen::Ref<const Eigen::VectorXd>& tau, Tree& tree) const {
  const TreeMomenta before = momenta_of(world, tree, start, V_start), middle = momenta_of(world, tree, at, at.V_WB),
                    after = momenta_of(world, tree, end_, V_end_);
  const Joint& joint = world.joints()[tree.joints[tree.is_free ? 0 : 2]];
  const Eigen::Isometry3d &X_start = start.X_WB[joint.body], &X_at = at.X_WB[joint.body], &X = end_.X_WB[joint.body];
  const Vector3d axis = tree.axes.col(2);  // of a planar root
  Vector3d force, moment;
  if (tree.is_free) {
    force = X_at.linear() * tau.segment<3>(tree.first);
    moment = X_at.linear() * tau.segment<3>(tree.first + 3);
  } else {
    force = tree.axes.leftCols<2>() * tau.segment<2>(tree.first);
    moment = tau[tree.first + 2] * axis;
  }
  Vector3d linear = before.mass * world.gravity() + force;
  Vector3d spin = moment + (X_at.translation() - middle.com).cross(force);
  for (const int b : tree.bodies) {
    const Body& body = world.bodies()[b];
    if (body.lifted_mass == 0.0) continue;
    const Vector3d lift = -body.lifted_mass * world.gravity();
    linear += lift;
    spin += (at.X_WB[b] * body.lifted_com - middle.com).cross(lift);
  }
  linear = before.linear + h * linear - after.linear;
  const bool starts_there = &start == &at;
  const Vector3d last = after.linear + linear;
  tree.aside = before.com + h / before.mass * (starts_there ? last : 0.5 * (before.linear + last)) - after.com;
  if (!tree.is_free) {
    tree.aside.head<2>() = (tree.axes.leftCols<2>().transpose() * tree.aside).eval();
    linear -= axis.dot(linear) * axis;
    spin = axis.dot(before.spin + h * spin - after.spin) * axis;
    const Vector3d velocity = linear / after.mass, turn = spin / axis.dot(after.inertia * axis);
    tree.closing.head<2>() = tree.axes.leftCols<2>().transpose() * (velocity + turn.cross(X.translation() - after.com));
    tree.closing[2] = axis.dot(turn);
    return velocity.dot(after.linear + 0.5 * linear) + turn.dot(after.spin + 0.5 * spin);
  }

  const Eigen::LLT<Eigen::Matrix3d> I(X_at.linear().transpose() * middle.inertia * X_at.linear());
  const Vector3d K = X_start.linear().transpose() * before.spin, omega = I.solve(K);
  const Vector3d change = gyroscopic_impulse(at.M, joint, omega, h) - h * omega.cross(K), omega_plus = omega + I.solve(change);
  const Eigen::Matrix3d turned =
      starts_there ? turn_by(h * omega_plus) : Eigen::Matrix3d(turn_by(0.5 * h * omega) * turn_by(0.5 * h * omega_plus));
  spin = X_start.linear() * (turned * Vector3d(K + change)) + h * spin - after.spin;

  const Eigen::LLT<Eigen::Matrix3d> inertia(after.inertia);
  const Vector3d velocity = linear / after.mass, turn = inertia.solve(spin);
  const double twice = after.linear.squaredNorm() / after.mass + after.spin.dot(inertia.solve(after.spin));
  if (velocity.dot(linear) + turn.dot(spin) <= kRounded * kRounded * twice) return 0.0;
  tree.closing << X.linear().transpose() * (velocity + turn.cross(X.translation() - after.com)), X.linear().transpose() * turn;
  return velocity.dot(after.linear + 0.5 * linear) + turn.dot(after.spin + 0.5 * spin);
}

// h w·C v as the step has it: of bias, less that of weight and springs, and of what is left out of bias for roots that move freely, and
// taken at the end for their rotation (free_motion.hpp). Weight and springs cancel in it: their rounding is what it is known to.
JointEnergy::Work JointEnergy::work(const World& world, double h, const Tree& tree, const PhasePoint& at, const WorldData& data,
                                    std::span<const Vector6d> V_plus, const Eigen::Ref<const Eigen::VectorXd>& tau) const {
  double power = mean_.segment(tree.first, tree.size).dot(data.bias.segment(tree.first, tree.size)), cancelled = 0.0;
  const double gravity = world.gravity().norm();
  Vector3d convective = Vector3d::Zero();
  for (const int j : tree.joints) {
    const Joint& joint = world.joints()[j];
    if (joint.stiffness != 0.0) {
      const double spring = mean_[joint.v] * joint.stiffness * (at.q[joint.q] - joint.spring_reference);
      power -= spring;
      cancelled += std::abs(spring);
    }
    const Vector6d& V = data.V_WB[joint.body];
    if (joint.kind == JointKind::spherical && tree.joints.size() == 1) {
      power -= mean_.segment<3>(joint.v).dot(gyroscopic_impulse(data.M, joint, at.v.segment<3>(joint.v),
                                                                tau.segment<3>(joint.v) - data.bias.segment<3>(joint.v), h)) /
               h;
    }
    if (joint.kind != JointKind::free) continue;
    const Vector3d c = data.X_WB[joint.body].linear() * steady_point(world, data.M, joint);
    convective = V.tail<3>().cross(V.head<3>() + V.tail<3>().cross(c));
    power -= mean_.segment<3>(joint.v + 3).dot(gyroscopic_impulse(data.M, joint, at.v.segment<3>(joint.v + 3), h)) / h;
  }
  for (const int b : tree.bodies) {
    const Body& body = world.bodies()[b];
    const Eigen::Isometry3d& X = data.X_WB[b];
    const Vector6d W = 0.5 * (data.V_WB[b] + V_plus[b]);
    const Vector3d lifted = W.head<3>() + W.tail<3>().cross(X.linear() * body.lifted_com);
    power += body.mass * center_velocity(body, X, W).dot(world.gravity() - convective) - body.lifted_mass * lifted.dot(world.gravity());
    // Places are rounded as they are from the world's origin, and arms of the weight with them.
    const double fastest = W.head<3>().norm() + W.tail<3>().norm() * (X.translation().norm() + body.com.norm());
    cancelled += (body.mass + std::abs(body.lifted_mass)) * gravity * fastest;
  }
  return {h * power, kRounded * h * cancelled};
}

// What the limits of a tree would give together: where one impact throws several joints at theirs, one alone may, of what others take. The
// speeds of joints that they hold are rounding of what each impulse gives by itself.
JointEnergy::Work JointEnergy::limit_work(const Tree& tree, const ContactProblem& problem, const Solution& solution) const {
  double work = 0.0, alone = 0.0;
  const BlockRows& J = problem.J_b;
  for (int j = 0; j < J.groups(); ++j) {
    const int e = J.entry_begin(j);
    const bool inside = J.entry_end(j) == e + 1 && J.entry_block(e) == tree.block;  // limits of cut joints are between trees
    if (!inside || problem.row_kinds[j] != RowKind::limit || is_return(problem, j)) continue;
    const int first = tree.first - problem.M.offset(tree.block);
    const auto row = J.entry(e).row(0).segment(first, tree.size);
    const double lambda = solution.bounded_impulses[j];
    work += lambda * row.dot(mean_.segment(tree.first, tree.size));
    const auto inertia = problem.M.block(tree.block).diagonal().segment(first, tree.size);
    alone += lambda * lambda * (row.transpose().array().square() / inertia.array()).sum();
  }
  return {std::max(work, 0.0), kRounded * alone};
}

JointEnergy::Progress JointEnergy::advance(const World& world, double share, const PhasePoint& from, const PhasePoint& at,
                                           const WorldData& data, const ContactProblem& problem, const Solution& solution,
                                           std::span<const Vector6d> V_plus, const std::vector<ContactPoint>& contacts,
                                           const Eigen::Ref<const Eigen::VectorXd>& tau, const PhasePoint& end) {
  const double h = problem.dt;
  const GrowVector &v_plus = solution.v, &impulses = solution.impulses;
  if (!within_reach(end.q)) return Progress::settled;  // the step will be refused
  const bool starts_there = from.q == at.q;            // as semi_implicit_euler does
  if (!starts_there) {
    update_kinematics(world, from.q, start_);
    body_velocities(world, start_, from.v, V_start_);
  }
  update_kinematics(world, end.q, end_);
  body_velocities(world, end_, end.v, V_end_);
  mean_ = 0.5 * (at.v + v_plus);
  double excess = 0.0;
  for (std::size_t k = 0; k < trees_.size(); ++k) {
    Tree& tree = trees_[k];
    if (!tree.is_due) continue;
    const double at_start = kinetic_energy(world, tree, data, at.v);
    const double before = starts_there ? at_start : kinetic_energy(world, tree, start_, V_start_);
    double after = kinetic_energy(world, tree, end_, V_end_);
    tree.closing.setZero();
    tree.aside.setZero();
    const bool flies = tree.root > 0 && !tree.is_held && !tree.drives_root && !touches_others(tree, contacts, impulses);
    if (flies && (tree.is_free || !is_stopped(tree, tree.root, problem, solution))) {
      after += starts_there ? close_flight(world, h, data, data.V_WB, data, tau, tree)
                            : close_flight(world, h, start_, V_start_, data, tau, tree);
    }
    const double whole = std::max(before, after);
    const Work convective = work(world, h, tree, at, data, V_plus, tau);
    const bool bears = any_bears(contacts, impulses, [&](const ContactPoint& c) { return is_of(tree, c.body_a) || is_of(tree, c.body_b); });
    const Work limits = bears ? Work{} : limit_work(tree, problem, solution);
    const double rounding = convective.rounding + limits.rounding;
    const double e = after - before - (kinetic_energy(world, tree, data, v_plus) - at_start) - convective.done + limits.done;
    const int root = tree.root, n = tree.size - root;
    const auto w = mean_.segment(tree.first + root, n);
    auto p = impulse_.segment(tree.first + root, n);
    tree.taken = tree.is_braked ? -w.dot(p) : 0.0;
    tree.gain = e - tree.taken;
    given_[k] = std::clamp(given_[k], -kNotable * before, (kNotable + kOwed) * before);
    if (!tree.is_idle && before > 0.0) tree.kept = std::clamp((after - tree.gain) / before, 0.0, 1.0);
    const double given = tree.kept * given_[k], least = std::max(kLeastGain / share * whole, rounding);
    if (kNotable * whole <= rounding) continue;          // it rests: e is rounding
    if (tree.taken < -least) return Progress::diverged;  // it turned the joints about
    if (tree.gain <= std::max(kNotable * whole - given, tree.is_braked ? least : 0.0)) continue;
    const auto M = inertia_of(data, tree);
    auto y = scratch_.head(n);
    joint_momentum(M, w, y);
    const double carried = w.dot(y);
    if (!(carried > kResting * whole)) {
      if (tree.gain > least) return Progress::diverged;  // joints thrown back at the speed they came with have no w to be braked along
      continue;
    }
    tree.is_braked = true;
    const double owed = e + std::max(given - (kNotable - kReserve) * whole, 0.0), there = kPart * carried;
    p = -(e > least ? std::max(e, std::min(owed, there)) : std::min(owed, there)) / carried * y;
    excess = std::max(excess, tree.gain / whole);
  }
  if (excess == 0.0) return Progress::settled;
  const bool leads_on = excess < kGain * last_;
  last_ = excess;
  return leads_on ? Progress::moved : Progress::diverged;
}

void JointEnergy::add_impulse(GrowVector& impulse) const {
  for (const Tree& tree : trees_) {
    const int root = tree.root, n = tree.size - root;
    if (tree.is_braked) impulse.segment(tree.first + root, n) += impulse_.segment(tree.first + root, n);
  }
}

}  // namespace stiction
