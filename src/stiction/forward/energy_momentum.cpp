#include "stiction/forward/energy_momentum.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include <Eigen/Cholesky>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/forward/free_motion.hpp"

namespace stiction {

namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr int kPasses = 40;              // at h |ω| = 1/2 they gain twelve digits
constexpr double kPassRounding = 1e-15;  // of a block's momenta: below, a pass changes nothing
constexpr double kStalled = 0.9;         // a pass that gains less than this gains nothing more
constexpr double kResting = 1e-6;        // of the energy: joints that carry less cannot make up for what friction takes from the whole

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

}  // namespace

EnergyMomentum::EnergyMomentum(const World& world) : start_(world), end_(world) {
  const VectorXd rest = VectorXd::Zero(world.nv());
  for (KinematicTree& tree : kinematic_trees(world)) trees_.emplace_back().KinematicTree::operator=(std::move(tree));
  for (VectorXd* x : {&middle_.v, &last_.v, &origin_, &forward_, &change_, &rows_, &held_, &scratch_}) *x = rest;
  middle_.q = last_.q = world.initial_configuration();
  loops_.M.reset(world.block_sizes());
  scale_.setZero(static_cast<Eigen::Index>(world.blocks().size()));
}

void EnergyMomentum::close_loops(ContactProblem& p) const {
  const int rows = loops_.bounded_rows(), first = p.bounded_rows() - rows;  // assembled last
  for (int j = 0; j < rows; ++j) {
    Eigen::Matrix<double, 1, 1> speed(0.0);
    p.J_b.add_group_product(first + j, p.v, speed);
    p.b[first + j] = loops_.b[j] - speed[0];
  }
}

void EnergyMomentum::start(const World& world, double h, double loop_recovery, const PhasePoint& from, PhasePoint& at) {
  update(world, from.q, from.v, start_);
  loops_.dt = h;
  loops_.J_b.reset(1, world.block_sizes());
  loops_.row_kinds.clear();
  for (GrowVector* x : {&loops_.b, &loops_.lo, &loops_.hi}) x->resize(count_equality_rows(world));
  Eigen::Index rows = 0;
  add_equality_rows(world, start_, from.q, from.v, loop_recovery, loops_, rows);
  for (int j = 0; j < rows; ++j) loops_.J_b.add_group_product(j, from.v, loops_.b.segment<1>(j));
  origin_ = from.v;
  for (Tree& tree : trees_) {
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

// Δ(T + V) = w·rows, by a force along S w_j, S the inertia that the joints feel. The change of the springs' energy over h w is h w times
// their force at q_m.
void EnergyMomentum::conserve_energy(const World& world, double h, const WorldData& data, const Tree& tree, double potential_change) {
  const int joints = tree.is_free ? 6 : 0, n = tree.size - joints;
  if (n == 0) return;
  const auto w = middle_.v.segment(tree.first, tree.size);
  auto y = scratch_.segment(tree.first + joints, n);
  const auto w_j = w.tail(n);
  joint_momentum(tree, inertia_of(data, tree), w_j, y);
  const double after = 0.5 * twice_energy(inertia_of(end_, tree), last_.v.segment(tree.first, tree.size));
  double missing = after - tree.kinetic + potential_change - w.dot(rows_.segment(tree.first, tree.size));
  for (const int j : tree.joints) {
    const Joint& joint = world.joints()[j];
    if (joint.stiffness == 0.0) continue;
    missing += h * middle_.v[joint.v] * joint.stiffness * (middle_.q[joint.q] - joint.spring_reference);
  }
  const double carried = w_j.dot(y);
  const double whole = after + tree.kinetic + std::abs(potential(world, start_, tree.bodies, true, Vector3d::Zero()));
  if (carried > kResting * whole) rows_.segment(tree.first + joints, n) += missing / carried * y;
}

// The rows of one tree: M (v⁺ - v) + h b̄.
void EnergyMomentum::balance(const World& world, double h, const WorldData& data, const Tree& tree) {
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
    const double change_of_potential =
        potential(world, end_, tree.bodies, true, Vector3d::Zero()) - potential(world, start_, tree.bodies, true, Vector3d::Zero());
    return conserve_energy(world, h, data, tree, change_of_potential);
  }
  const Quaterniond R_m = rotation(middle_.q, tree.root_q), R_plus = rotation(last_.q, tree.root_q);
  const auto M_plus = inertia_of(end_, tree);
  const double mass = M(0, 0);
  const Momenta after = momenta(M_plus, last_.v.segment(tree.first, tree.size), R_plus);
  const Vector3d flight = 0.5 * h / mass * (tree.momentum + after.linear);
  const Vector3d place = tree.com + flight - R_plus * center_of(M_plus), shift = place - last_.q.segment<3>(tree.root_q);
  last_.q.segment<3>(tree.root_q) = place;
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
  conserve_energy(world, h, data, tree, lifted - mass * world.gravity().dot(flight));
}

// forward_ += M⁻¹ (right side - rows), given in scratch_. Returns the largest share, over blocks, of the change in the energy of its
// momenta.
double EnergyMomentum::correct(const ContactProblem& problem) {
  double largest = 0.0;
  for (int k = 0; k < factors_.blocks(); ++k) {
    const auto L = std::as_const(factors_).block(k);
    auto x = scratch_.segment(factors_.offset(k), factors_.block_size(k));
    L.triangularView<Eigen::Lower>().solveInPlace(x);
    const double square = x.squaredNorm();
    L.transpose().triangularView<Eigen::Upper>().solveInPlace(x);
    const auto v = forward_.segment(factors_.offset(k), factors_.block_size(k));
    const double whole = scale_[k] + twice_energy(problem.M.block(k), v);
    if (!(square <= kPassRounding * kPassRounding * whole)) largest = std::max(largest, whole > 0.0 ? square / whole : kInfinity);
    if (std::isnan(square)) return kInfinity;
  }
  for (const Tree& tree : trees_) {
    if (!tree.is_free) continue;
    scratch_.segment<3>(tree.first) = rotation(middle_.q, tree.root_q) * Vector3d(scratch_.segment<3>(tree.first));
  }
  forward_ += scratch_;
  return largest;
}

EnergyMomentum::Progress EnergyMomentum::advance(const World& world, const PhasePoint& from, const Eigen::Ref<const VectorXd>& tau,
                                                 const ContactProblem& problem, const Solution& solution, double tolerance, PhasePoint& at,
                                                 WorldData& data) {
  const double h = problem.dt;
  held_.setZero();
  problem.J.add_transposed(solution.impulses, held_);
  problem.J_b.add_transposed(solution.bounded_impulses, held_);
  forward_ = solution.v;
  for (const Tree& tree : trees_) {
    if (tree.is_free) forward_.segment<3>(tree.first) = rotation(at.q, tree.root_q) * Vector3d(solution.v.segment<3>(tree.first));
  }
  factors_ = problem.M;
  for (int k = 0; k < factors_.blocks(); ++k) {
    Eigen::Map<Eigen::MatrixXd> block = factors_.block(k);
    Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> llt(block);
    auto x = scratch_.segment(factors_.offset(k), factors_.block_size(k));
    x = problem.impulse.segment(factors_.offset(k), factors_.block_size(k));
    block.triangularView<Eigen::Lower>().solveInPlace(x);
    scale_[k] = x.squaredNorm() + twice_energy(problem.M.block(k), problem.v.segment(factors_.offset(k), factors_.block_size(k)));
  }
  double last = kInfinity;
  for (int pass = 0; pass < kPasses; ++pass) {
    follow(world, h, from);
    if (!middle_.q.allFinite() || !within_reach(last_.q) || !std::isfinite(last_.v.squaredNorm())) return Progress::diverged;
    update(world, middle_.q, middle_.v, data);
    update(world, last_.q, last_.v, end_);
    for (const Tree& tree : trees_) balance(world, h, data, tree);
    scratch_ = h * tau + held_ - rows_;
    for (const Joint& joint : world.joints()) {
      if (joint.damping != 0.0) scratch_.segment(joint.v, joint.nv) -= h * joint.damping * middle_.v.segment(joint.v, joint.nv);
    }
    const double gained = correct(problem);
    if (pass == 0 && gained <= tolerance * tolerance) return Progress::settled;
    if (gained == 0.0) break;
    if (!(gained < kStalled * last) || pass + 1 == kPasses) {
      if (!(gained <= tolerance * tolerance)) return Progress::diverged;
      break;
    }
    last = gained;
  }
  follow(world, h, from);
  at.q = middle_.q;
  at.v = origin_;
  for (const Tree& tree : trees_) {
    if (tree.is_free) at.v.segment<3>(tree.first) = rotation(at.q, tree.root_q).inverse() * Vector3d(origin_.segment<3>(tree.first));
  }
  update(world, middle_.q, middle_.v, data);
  return Progress::moved;
}

void EnergyMomentum::set_impulse(ContactProblem& problem) {
  problem.M.multiply(change_, scratch_);
  problem.impulse = scratch_ - held_;
}

void EnergyMomentum::finish(const World& world, double h, const PhasePoint& from, const PhasePoint& at, const GrowVector& v_plus,
                            GrowVector& v_path, PhasePoint& end) {
  forward_ = v_plus;
  v_path -= v_plus;
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
    const Vector3d shift = rotation(at.q, tree.root_q) * Vector3d(v_path.segment<3>(tree.first));
    v_path.segment<3>(tree.first) = R.inverse() * shift;
  }
  end.q = last_.q;
  end.v = last_.v;
  if (!v_path.isZero(0.0)) move(world, &end_.M, h, v_path, end.q, end.v);
}

}  // namespace stiction
