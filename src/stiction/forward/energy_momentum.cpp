#include "stiction/forward/energy_momentum.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Cholesky>

#include "stiction/forward/block_cholesky.hpp"
#include "stiction/forward/free_motion.hpp"

namespace stiction {

namespace {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Matrix6d = Eigen::Matrix<double, 6, 6>;

constexpr int kPasses = 40;              // at h |ω| = 1/2 they gain twelve digits
constexpr double kUnsettled = 1e-3;      // of momenta: after seven solves, each of which leaves a quarter or so, a tenth of this is left
constexpr double kPassRounding = 1e-15;  // of a block's momenta: below, a pass changes nothing
constexpr double kStalled = 0.9;         // a pass that gains less than this gains nothing more; beside loops two: what one moves of their
                                         // forces, the next makes up for in the momenta

Quaterniond rotation(const Eigen::Ref<const VectorXd>& q, int first) { return Quaterniond(Eigen::Vector4d(q.segment<4>(first + 3))); }

struct Momenta {
  Vector3d linear, spin;
};

/// P and K of a tree with inertia M (n x n) at velocity v (n), in the axes R of the world.
template <class Matrix, class Vector>
Momenta momenta(const Matrix& M, const Vector& v, const Quaterniond& R) {
  Vector6d both = Vector6d::Zero();
  for (Eigen::Index j = 0; j < v.size(); ++j) both += v[j] * M.col(j).template head<6>();
  const Vector3d l = both.head<3>(), k = both.tail<3>();
  return {R * l, R * Vector3d(k - center_of(M).cross(l))};
}

/// -Σ m g·c of the bodies in `data`, moved by `shift`, less what is compensated.
double potential(const World& world, const WorldData& data, const std::vector<int>& bodies, bool weight, const Vector3d& shift) {
  double energy = 0.0;
  for (const int b : bodies) {
    const Body& body = world.bodies()[b];
    const Eigen::Isometry3d& X = data.X_WB[b];
    if (weight) energy -= body.mass * world.gravity().dot(X * body.com + shift);
    if (body.lifted_mass != 0.0) energy += body.lifted_mass * world.gravity().dot(X * body.lifted_com + shift);
  }
  return energy;
}

/// From the motion of axes of the world at `reference` to that of a free root, in its own axes.
Matrix6d root_motion(const Eigen::Ref<const VectorXd>& q, int root, const Vector3d& reference) {
  const Eigen::Matrix3d turned = rotation(q, root).toRotationMatrix().transpose();
  const Vector3d arm = q.segment<3>(root) - reference;
  Matrix6d X = Matrix6d::Zero();
  X.topLeftCorner<3, 3>() = X.bottomRightCorner<3, 3>() = turned;
  for (int j = 0; j < 3; ++j) X.block<3, 1>(0, 3 + j) = turned * Vector3d::Unit(j).cross(arm);
  return X;
}

}  // namespace

EnergyMomentum::EnergyMomentum(const World& world) : start_(world), end_(world), shift_(world) {
  const VectorXd rest = VectorXd::Zero(world.nv());
  for (KinematicTree& tree : kinematic_trees(world)) {
    // Armature is inertia without weight, along axes that turn with the body: such a root carries no momentum over.
    const bool floats = tree.is_free;
    tree.is_free = tree.is_free && world.joints()[tree.joints.front()].armature == 0.0;
    trees_.emplace_back().KinematicTree::operator=(std::move(tree));
    trees_.back().floats = floats;
    for (const int b : trees_.back().bodies) trees_.back().mass += world.bodies()[b].mass;
  }
  find_groups(world);
  for (VectorXd* x : {&middle_.v, &last_.v, &origin_, &forward_, &change_, &rows_, &given_, &held_, &scratch_, &held_loops_, &pull_})
    *x = rest;
  middle_.q = last_.q = world.initial_configuration();
  loops_.M.reset(world.block_sizes());
  scale_.setZero(static_cast<Eigen::Index>(world.blocks().size()));
}

void EnergyMomentum::factor(const BlockDiagonal& M) {
  factors_ = M;
  factor_in_place(factors_);
}

// x <- L⁻ᵀ x.
void EnergyMomentum::unwhiten(VectorXd& x) const { stiction::unwhiten(factors_, x); }

void EnergyMomentum::start(const World& world, double h, double loop_recovery, const PhasePoint& from, PhasePoint& at) {
  update(world, from.q, from.v, start_);
  known_ = false;
  turned_.clear();
  start_loops(world, h, loop_recovery, from);
  origin_ = from.v;
  for (Tree& tree : trees_) {
    tree.aside.setZero();
    const auto M = inertia_of(start_, tree);
    const auto v = from.v.segment(tree.first, tree.size);
    tree.kinetic = 0.5 * twice_energy(M, v);
    if (!tree.is_free) continue;
    const Quaterniond R = rotation(from.q, tree.root_q);
    const Momenta before = momenta(M, v, R);
    tree.momentum = before.linear;
    tree.spin = before.spin;
    tree.com = from.q.segment<3>(tree.root_q) + R * center_of(M);
    origin_.segment<3>(tree.first) = R * Vector3d(from.v.segment<3>(tree.first));
  }
  at = from;
  scratch_ = from.v;
  move(world, &start_.M, 0.5 * h, scratch_, at.q, at.v);
  middle_.q = at.q;
}

Vector3d EnergyMomentum::Tree::center(const BlockDiagonal& M) const {
  const int at = first - M.offset(block);
  const auto inertia = M.block(block).block<6, 6>(at, at);
  return center_of(inertia) * (inertia(0, 0) / mass);
}

void EnergyMomentum::pose(ContactProblem& problem) {
  keep_contacts(problem);
  turn_friction(problem);
  close_loops(problem);
}

// The rows of contacts at q_M are remembered, and those at any other midpoint made from them.
void EnergyMomentum::keep_contacts(ContactProblem& problem) {
  if (!known_) contacts_ = problem.J;
  BlockRows& J = known_ ? problem.J : contacts_;
  for (int g = 0; g < J.groups(); ++g) {
    for (int e = J.entry_begin(g); e < J.entry_end(g); ++e) {
      const int block = J.entry_block(e), offset = J.col_offset(block);
      RowMap rows = J.entry(e);
      if (known_) rows = contacts_.entry(e);
      auto tree = std::ranges::lower_bound(trees_, offset, {}, &Tree::first);
      for (; tree != trees_.end() && tree->block == block; ++tree) {
        if (!tree->floats) continue;
        const int first = tree->first - offset;
        const Matrix3d R = rotation(middle_.q, tree->root_q).toRotationMatrix();
        const Vector3d arm = tree->center(problem.M) - R.transpose() * tree->aside;
        auto linear = rows.block<3, 3>(0, first), angular = rows.block<3, 3>(0, first + 3);
        if (known_) {
          linear = (linear * R).eval();
          angular = (angular * R - linear.rowwise().cross(arm)).eval();
        } else {
          angular = ((angular + linear.rowwise().cross(arm)) * R.transpose()).eval();
          linear = (linear * R.transpose()).eval();
        }
      }
    }
  }
}

// Of impulses on free roots, from the axes of the root at q, about its origin, to those of the world, about the tree's centre of mass, and
// back.
void EnergyMomentum::turn_impulses(const BlockDiagonal& M, const VectorXd& q, bool to_world, VectorXd& impulses) const {
  for (const Tree& tree : trees_) {
    if (!tree.floats) continue;
    const Quaterniond R = rotation(q, tree.root_q);
    const Vector3d c = tree.center(M) - R.inverse() * tree.aside;
    auto force = impulses.segment<3>(tree.first), moment = impulses.segment<3>(tree.first + 3);
    if (to_world) {
      moment = R * Vector3d(moment - c.cross(Vector3d(force)));
      force = R * Vector3d(force);
    } else {
      force = R.inverse() * Vector3d(force);
      moment = R.inverse() * Vector3d(moment) + c.cross(Vector3d(force));
    }
  }
}

// Whether dry friction of joints did work, beyond `tolerance` of the energies there and of what it could take by itself, in the solution of
// a problem: it acts beyond v⁺ = -v in the next. Joints that it holds move by rounding.
bool EnergyMomentum::find_turned(const ContactProblem& problem, const Solution& solution, double tolerance) {
  bool any = false;
  for (int j = 0; j < problem.bounded_rows(); ++j) {
    if (problem.row_kinds[j] != RowKind::friction || std::ranges::find(turned_, problem.row_ids[j]) != turned_.end()) continue;
    Eigen::Matrix<double, 1, 1> speeds(0.0);
    problem.J_b.add_group_product(j, problem.v, speeds);
    problem.J_b.add_group_product(j, solution.v, speeds);
    if (!(solution.bounded_impulses[j] * speeds[0] > 0.0)) continue;
    double scale = 0.0;
    for (int e = problem.J_b.entry_begin(j); e < problem.J_b.entry_end(j); ++e) {
      const int k = problem.J_b.entry_block(e);
      auto x = scratch_.segment(factors_.offset(k), factors_.block_size(k));
      x = problem.hi[j] * problem.J_b.entry(e).row(0).transpose();
      std::as_const(factors_).block(k).triangularView<Eigen::Lower>().solveInPlace(x);
      scale += scale_[k] + x.squaredNorm();
    }
    if (!(solution.bounded_impulses[j] * speeds[0] > tolerance * scale)) continue;
    turned_.push_back(problem.row_ids[j]);
    any = true;
  }
  return any;
}

void EnergyMomentum::turn_friction(ContactProblem& problem) const {
  if (turned_.empty()) return;
  for (int j = 0; j < problem.bounded_rows(); ++j) {
    if (std::ranges::find(turned_, problem.row_ids[j]) == turned_.end()) continue;
    Eigen::Matrix<double, 1, 1> before(0.0);
    problem.J_b.add_group_product(j, problem.v, before);
    problem.b[j] = -before[0];
    (before[0] > 0.0 ? problem.lo : problem.hi)[j] = 0.0;
  }
}

// q_m, w, q⁺, v⁺ and v⁺ - v from `forward_`; the origins of free roots at q⁺ wait for the inertia there.
void EnergyMomentum::follow(const World& world, double h, const PhasePoint& from) {
  middle_.v = 0.5 * (origin_ + forward_);
  last_.v = forward_;
  change_ = forward_ - origin_;
  integrate(world, from.q, middle_.v, 0.5 * h, middle_.q);
  integrate(world, from.q, middle_.v, h, last_.q);
  for (const Tree& tree : trees_) {
    if (!tree.is_free) continue;
    const Vector3d u = middle_.v.segment<3>(tree.first), half = 0.5 * h * middle_.v.segment<3>(tree.first + 3);
    const Quaterniond turn = Quaterniond(1.0, half.x(), half.y(), half.z()).normalized();
    const Quaterniond half_turn = Quaterniond(1.0 + turn.w(), turn.x(), turn.y(), turn.z()).normalized();
    const Quaterniond R = rotation(from.q, tree.root_q), R_m = (R * half_turn).normalized(), R_plus = (R * turn).normalized();
    middle_.q.segment<3>(tree.root_q) = from.q.segment<3>(tree.root_q) + 0.5 * h * u;
    middle_.q.segment<4>(tree.root_q + 3) = R_m.coeffs();
    last_.q.segment<3>(tree.root_q) = from.q.segment<3>(tree.root_q) + h * u;
    last_.q.segment<4>(tree.root_q + 3) = R_plus.coeffs();
    middle_.v.segment<3>(tree.first) = R_m.inverse() * u;
    last_.v.segment<3>(tree.first) = R_plus.inverse() * Vector3d(forward_.segment<3>(tree.first));
    change_.segment<3>(tree.first) = R_m.inverse() * Vector3d(change_.segment<3>(tree.first));
  }
}

// What is left of the velocities of a group when the rigid motion with their momenta is taken away.
void EnergyMomentum::inner_motion(const Group& group, const WorldData& data, const PhasePoint& x, VectorXd& out) const {
  Matrix6d inertia = Matrix6d::Zero();
  Vector6d momenta = Vector6d::Zero();
  for (const int i : group.trees) out.segment(trees_[i].first, trees_[i].size) = x.v.segment(trees_[i].first, trees_[i].size);
  if (group.is_held) return;
  const Vector3d reference = x.q.segment<3>(trees_[group.trees.front()].root_q);
  for (const int i : group.trees) {
    const Tree& tree = trees_[i];
    const auto M = inertia_of(data, tree);
    const Matrix6d X = root_motion(x.q, tree.root_q, reference);
    inertia += X.transpose() * M.topLeftCorner<6, 6>() * X;
    momenta += X.transpose() * Vector6d(M.topRows<6>().lazyProduct(x.v.segment(tree.first, tree.size)));
  }
  const Vector6d rigid = inertia.llt().solve(momenta);
  for (const int i : group.trees) out.segment<6>(trees_[i].first) -= root_motion(x.q, trees_[i].root_q, reference) * rigid;
}

double EnergyMomentum::kinetic(const Group& group, const WorldData& data, const VectorXd& v) const {
  double energy = 0.0;
  for (const int i : group.trees) energy += 0.5 * twice_energy(inertia_of(data, trees_[i]), v.segment(trees_[i].first, trees_[i].size));
  return energy;
}

/// Size of the energies at work: potential before the step, from the height of each tree's first body on: that of the world's origin says
/// nothing. What is compensated counts by itself; what every impulse gives by itself does too, where all is level with that body.
double EnergyMomentum::magnitude(const World& world, const Group& group) const {
  double energy = 0.0;
  for (const int i : group.trees) {
    energy += 0.5 * scale_[trees_[i].block];
    const std::vector<int>& bodies = trees_[i].bodies;
    const Vector3d origin = -start_.X_WB[bodies.front()].translation();
    energy += std::abs(potential(world, start_, bodies, true, origin)) + std::abs(potential(world, start_, bodies, false, origin));
  }
  return energy;
}

// Δ(T + V) = w·rows less what the loops' forces do beyond their share, by a force along M (w - ξ). The change of the springs' energy over
// h w is h w times their force at q_m.
void EnergyMomentum::conserve_energy(const World& world, double h, const WorldData& data, const Group& group) {
  if (!group.is_held && group.trees.size() == 1 && trees_[group.trees.front()].size == 6) return;  // all of it is carried over
  inner_motion(group, data, middle_, pull_);
  const double after = kinetic(group, end_, last_.v);
  double missing = after - group.loop_work, carried = 0.0, before = 0.0;
  for (const int i : group.trees) {
    const Tree& tree = trees_[i];
    const auto w = middle_.v.segment(tree.first, tree.size);
    auto y = scratch_.segment(tree.first, tree.size);
    y.noalias() = inertia_of(data, tree) * pull_.segment(tree.first, tree.size);
    carried += w.dot(y);
    before += tree.kinetic;
    missing += tree.rise - tree.kinetic - w.dot(rows_.segment(tree.first, tree.size) - held_loops_.segment(tree.first, tree.size));
    for (const int j : tree.joints) {
      const Joint& joint = world.joints()[j];
      if (joint.stiffness == 0.0) continue;
      missing += h * middle_.v[joint.v] * joint.stiffness * (middle_.q[joint.q] - joint.spring_reference);
    }
  }
  if (!(carried > kResting * (after + before + magnitude(world, group)))) return;
  for (const int i : group.trees)
    rows_.segment(trees_[i].first, trees_[i].size) += missing / carried * scratch_.segment(trees_[i].first, trees_[i].size);
}

EnergyMomentum::Flight EnergyMomentum::flight(double h, const WorldData& data, const Tree& tree) const {
  const Quaterniond R_m = rotation(middle_.q, tree.root_q), R_plus = rotation(last_.q, tree.root_q);
  const auto M = inertia_of(data, tree), M_plus = inertia_of(end_, tree);
  const Momenta after = momenta(M_plus, last_.v.segment(tree.first, tree.size), R_plus);
  const Vector3d way = 0.5 * h / M_plus(0, 0) * (tree.momentum + after.linear);
  return {after.linear, after.spin, way, tree.com + way - R_plus * center_of(M_plus), tree.com + 0.5 * way - R_m * center_of(M)};
}

// The rows of one tree: M (v⁺ - v) + h b̄.
void EnergyMomentum::balance(const World& world, double h, const WorldData& data, Tree& tree) {
  const auto M = inertia_of(data, tree);
  auto rows = rows_.segment(tree.first, tree.size);
  auto change = scratch_.segment(tree.first, tree.size);
  change = change_.segment(tree.first, tree.size);
  if (tree.is_free) {
    const Vector3d v = middle_.v.segment<3>(tree.first), omega = middle_.v.segment<3>(tree.first + 3);
    change.head<3>() -= h * omega.cross(v);  // the bias is of axes that turn with the body, the change of v of axes that stand still
  }
  rows.noalias() = M * change;
  rows += h * data.bias.segment(tree.first, tree.size);
  if (!tree.is_free) {
    tree.rise = potential(world, end_, tree.bodies, true, Vector3d::Zero()) - potential(world, start_, tree.bodies, true, Vector3d::Zero());
    return;
  }
  const Quaterniond R_m = rotation(middle_.q, tree.root_q);
  const double mass = M(0, 0);
  const Flight after = flight(h, data, tree);
  const Vector3d shift = after.place - last_.q.segment<3>(tree.root_q);
  last_.q.segment<3>(tree.root_q) = after.place;
  const Vector3d c = center_of(M), change_P = R_m.inverse() * Vector3d(after.linear - tree.momentum);
  Vector3d force = mass * (R_m.inverse() * world.gravity()), moment = c.cross(force);
  for (const int b : tree.bodies) {
    const Body& body = world.bodies()[b];
    if (body.lifted_mass == 0.0) continue;
    const Vector3d lift = R_m.inverse() * Vector3d(-body.lifted_mass * world.gravity());
    const Vector3d arm = data.X_WB[b] * body.lifted_com - middle_.q.segment<3>(tree.root_q);
    force += lift;
    moment += Vector3d(R_m.inverse() * arm).cross(lift);
  }
  rows.head<3>() = change_P - h * force;
  rows.segment<3>(3) = R_m.inverse() * Vector3d(after.spin - tree.spin) + c.cross(change_P) - h * moment;
  const double lifted = potential(world, end_, tree.bodies, false, shift) - potential(world, start_, tree.bodies, false, Vector3d::Zero());
  tree.rise = lifted - mass * world.gravity().dot(after.way);
}

// forward_ += M⁻¹ (right side - rows + Jᵀδλ), right side - rows given in scratch_, δλ what the loops need to close. Returns the largest
// share, over blocks, of the change in the energy of its momenta.
double EnergyMomentum::correct(const ContactProblem& problem) {
  double largest = 0.0;
  whiten(factors_, scratch_);
  if (!group_of_row_.empty()) close_step();
  for (int k = 0; k < factors_.blocks(); ++k) {
    const auto x = scratch_.segment(factors_.offset(k), factors_.block_size(k));
    const double square = x.squaredNorm();
    const auto v = forward_.segment(factors_.offset(k), factors_.block_size(k));
    const double whole = scale_[k] + twice_energy(problem.M.block(k), v);
    if (!(square <= kPassRounding * kPassRounding * whole)) largest = std::max(largest, whole > 0.0 ? square / whole : kInfinity);
    if (std::isnan(square)) return kInfinity;
  }
  unwhiten(scratch_);
  for (const Tree& tree : trees_) {
    if (!tree.is_free) continue;
    scratch_.segment<3>(tree.first) = rotation(middle_.q, tree.root_q) * Vector3d(scratch_.segment<3>(tree.first));
  }
  forward_ += scratch_;
  return largest;
}

// The energy that an impulse on a block, given in scratch_, gives to it counts.
void EnergyMomentum::measure(int block) {
  auto x = scratch_.segment(factors_.offset(block), factors_.block_size(block));
  if (x.isZero(0.0)) return;
  std::as_const(factors_).block(block).triangularView<Eigen::Lower>().solveInPlace(x);
  scale_[block] += x.squaredNorm();
}

// Weight, springs, torques and every contact and row by itself: where they cancel, their sum is rounded as they are.
void EnergyMomentum::measure_impulses(const World& world, const Eigen::Ref<const VectorXd>& tau, const ContactProblem& problem,
                                      const Solution& solution, const PhasePoint& at, const WorldData& data) {
  const double h = problem.dt;
  VectorXd& springs = rows_;
  springs.setZero();
  for (const Joint& joint : world.joints()) {
    if (joint.stiffness != 0.0) springs[joint.v] = h * joint.stiffness * (at.q[joint.q] - joint.spring_reference);
  }
  for (int k = 0; k < factors_.blocks(); ++k)
    scale_[k] = twice_energy(problem.M.block(k), problem.v.segment(factors_.offset(k), factors_.block_size(k)));
  const auto measure_all = [&] {
    for (int k = 0; k < factors_.blocks(); ++k) measure(k);
  };
  scratch_ = h * tau;
  measure_all();
  scratch_ = h * data.bias - springs;
  measure_all();
  scratch_ = springs;
  measure_all();
  const double fall = (h * world.gravity()).squaredNorm();
  for (const Body& body : world.bodies()) {
    if (body.block >= 0) scale_[body.block] += std::abs(body.lifted_mass) * fall;  // the bias has weight without what is compensated
  }
  const auto measure_rows = [&](const BlockRows& J, int height, const GrowVector& impulses) {
    for (int j = 0; j < J.groups(); ++j) {
      for (int e = J.entry_begin(j); e < J.entry_end(j); ++e) {
        const int k = J.entry_block(e);
        scratch_.segment(factors_.offset(k), factors_.block_size(k)) =
            J.entry(e).transpose().lazyProduct(impulses.segment(height * j, height));
        measure(k);
      }
    }
  };
  measure_rows(problem.J, 3, solution.impulses);
  measure_rows(problem.J_b, 1, solution.bounded_impulses);
}

// Trees that loops join meet their impulses where their centres of mass are on average, for angular momentum.
void EnergyMomentum::place_free_roots(double h, const WorldData& data) {
  for (const Group& group : groups_) {
    for (const int i : group.trees) {
      const Tree& tree = trees_[i];
      if (!tree.is_free) continue;
      const Flight after = flight(h, data, tree);
      last_.q.segment<3>(tree.root_q) = after.place;
      if (group.trees.size() > 1) middle_.q.segment<3>(tree.root_q) = after.half_way;
    }
  }
}

EnergyMomentum::Progress EnergyMomentum::advance(const World& world, const PhasePoint& from, const Eigen::Ref<const VectorXd>& tau,
                                                 const ContactProblem& problem, const Solution& solution, double tolerance, bool last_solve,
                                                 PhasePoint& at, WorldData& data) {
  const double h = problem.dt;
  held_.setZero();
  problem.J.add_transposed(solution.impulses, held_);
  lambda_ = solution.bounded_impulses.tail(std::ssize(group_of_row_));
  for (int j = 0; j < problem.bounded_rows() - lambda_.size(); ++j)
    problem.J_b.add_group_transposed(j, solution.bounded_impulses.segment<1>(j), held_);
  given_ = held_;
  turn_impulses(problem.M, at.q, true, given_);
  forward_ = solution.v;
  for (const Tree& tree : trees_) {
    if (tree.is_free) forward_.segment<3>(tree.first) = rotation(at.q, tree.root_q) * Vector3d(solution.v.segment<3>(tree.first));
  }
  factor(problem.M);
  measure_impulses(world, tau, problem, solution, at, data);
  const bool turned = find_turned(problem, solution, tolerance);
  double last = kInfinity, before_last = kInfinity;
  for (int pass = 0; pass < kPasses; ++pass) {
    follow(world, h, from);
    if (!middle_.q.allFinite() || !within_reach(last_.q) || !std::isfinite(last_.v.squaredNorm())) return Progress::diverged;
    update(world, middle_.q, middle_.v, data);
    update(world, last_.q, last_.v, end_);
    for (Tree& tree : trees_) balance(world, h, data, tree);
    hold_loops(world, h, data);
    held_ = given_;
    turn_impulses(data.M, middle_.q, false, held_);
    for (const Group& group : groups_) {
      if (!group.trees.empty()) conserve_energy(world, h, data, group);
    }
    scratch_ = h * tau + held_ + held_loops_ - rows_;
    for (const Joint& joint : world.joints()) {
      if (joint.damping != 0.0) scratch_.segment(joint.v, joint.nv) -= h * joint.damping * middle_.v.segment(joint.v, joint.nv);
    }
    const double gained = correct(problem);
    const bool balanced = known_ || group_of_row_.empty();  // the first targets of loops are those of the start
    if (pass == 0 && !turned && gained <= (balanced ? tolerance * tolerance : 0.0)) return Progress::settled;
    if (pass == 0 && last_solve && !(gained <= kUnsettled * kUnsettled)) return Progress::diverged;
    if (gained == 0.0) break;
    if (!(gained < kStalled * (group_of_row_.empty() ? last : before_last)) || pass + 1 == kPasses) {
      if (!(gained <= tolerance * tolerance)) return Progress::diverged;
      break;
    }
    before_last = std::exchange(last, gained);
  }
  follow(world, h, from);
  place_free_roots(h, data);
  measure_loops(world, h);
  known_ = true;
  for (Tree& tree : trees_) {
    if (tree.is_free)
      tree.aside =
          0.25 * h * ((flight(h, data, tree).linear - tree.momentum - given_.segment<3>(tree.first)) / tree.mass - h * world.gravity());
  }
  at.q = middle_.q;
  at.v = origin_;
  for (const Tree& tree : trees_) {
    if (tree.is_free) at.v.segment<3>(tree.first) = rotation(at.q, tree.root_q).inverse() * Vector3d(origin_.segment<3>(tree.first));
  }
  update(world, middle_.q, middle_.v, data);
  held_ = given_;
  turn_impulses(data.M, middle_.q, false, held_);
  held_ += held_loops_;
  return Progress::moved;
}

void EnergyMomentum::set_impulse(ContactProblem& problem) {
  problem.M.multiply(change_, scratch_);
  problem.impulse = scratch_ - held_;
}

double EnergyMomentum::finish(const World& world, double h, const PhasePoint& from, const PhasePoint& at, const SolvedStep& step,
                              GrowVector& shift, PhasePoint& end) {
  const GrowVector& v_plus = step.solution->v;
  forward_ = v_plus;
  for (const Tree& tree : trees_) {
    if (tree.is_free) forward_.segment<3>(tree.first) = rotation(at.q, tree.root_q) * Vector3d(v_plus.segment<3>(tree.first));
  }
  follow(world, h, from);
  update(world, last_.q, last_.v, end_);
  for (const Tree& tree : trees_) {
    if (!tree.is_free) continue;
    const Quaterniond R = rotation(last_.q, tree.root_q);
    const auto M = inertia_of(end_, tree);
    const Momenta after = momenta(M, last_.v.segment(tree.first, tree.size), R);
    last_.q.segment<3>(tree.root_q) = tree.com + 0.5 * h / M(0, 0) * (tree.momentum + after.linear) - R * center_of(M);
  }
  settle_speeds(world);
  end.q = last_.q;
  end.v = last_.v;
  if (shift.isZero(0.0)) return 0.0;
  const double turned = shift_.apply(world, h, end_, at.q, shift, end, step);
  if (!group_of_row_.empty()) close_speeds(world, end);
  return turned;
}

}  // namespace stiction
