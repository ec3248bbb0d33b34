#include "stiction/laws/choice.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

namespace {

using Eigen::Vector3d;
using Ref = Eigen::Ref<const Eigen::VectorXd>;

constexpr double kMotion = 1e-12;   // of |R_i λ_i|: far below any certificate, and above rounding
constexpr double kEnough = 1e-11;   // accepted when rounding stops the rounds earlier
constexpr double kSoftness = 1e-4;  // ε over the mean of diag G: rounds gain four digits where G is well conditioned
constexpr double kResting = 1e-9;   // velocities below this share of the largest count as rest
constexpr int kRounds = 30;
constexpr double kApart = 1e-9;  // of a row's length: nearer to the span of others it is in it
constexpr double kPulls = 1e-6;  // of the multipliers: rounding, the motion is met to kEnough and they are that over ε
constexpr int kSets = 20;        // of rows at their bounds, beside two for each: one to three are tried as a rule

double mean_diagonal(const ReducedProblem& p) {
  const double sum = p.Rt.square();
  return sum > 0.0 ? sum / (3.0 * p.contacts()) : 1.0;
}

// u of all contacts at (λ, β), offset included; returns the largest without it.
double contact_velocities(const ReducedProblem& p, const Ref& lambda, const Ref& beta, const Ref& motion, ChoiceWorkspace& w) {
  if (motion.size() > 0) {
    w.y = motion;
  } else {
    w.y.setZero(p.rank_bound());
    p.Rt.add_transposed(lambda, w.y);
    p.Bt.add_transposed(beta, w.y);
  }
  w.u.resize(lambda.size());
  p.Rt.multiply(w.y, w.u);
  if (p.defect.size() > 0) w.u.noalias() += p.defect * lambda;
  w.u += p.u_free;
  const double largest = largest_entry(w.u);
  for (int i = 0; i < p.contacts(); ++i) w.u[3 * i] += p.offset[i];
  return largest;
}

// Infinite friction that slips bears no load.
Vector3d ray(double mu, const Eigen::Vector2d& direction) {
  return mu == kInfinity ? Vector3d(0.0, direction[0], direction[1]) : Vector3d(1.0, mu * direction[0], mu * direction[1]);
}

void set_sliding_face(const SectionShape& shape, double mu, const Vector3d& u, double tolerance, SoftContact& c) {
  c.face = SoftContact::Face::ray;
  const Eigen::Vector2d slip = u.tail<2>();
  if (shape.disc()) {
    c.ray = ray(mu, -slip.normalized());
    return;
  }
  const Sector sector = shape.sector(-slip);
  const Eigen::Vector2d a = shape.vertex(sector.vertex), b = shape.vertex(sector.vertex + 1);
  const double lead = a.dot(-slip) - b.dot(-slip);
  c.ray = ray(mu, lead >= 0.0 ? a : b);
  if (std::abs(lead) > tolerance) return;
  c.face = SoftContact::Face::sector;
  c.ray = ray(mu, a);
  c.other_ray = ray(mu, b);
}

// The face that the law leaves to a contact at velocity u (offset included).
void set_face(const StandardForm& form, const SectionShape& shape, double mu, const Vector3d& u, double tolerance, SoftContact& c) {
  c.mu = mu;
  if (form.family == Family::energy) return;  // it leaves the whole cone
  const bool finite = mu > 0.0 && mu != kInfinity, dual = form.family == Family::associated && finite;
  const double lift = dual ? u[0] - mu * shape.slip(u.tail<2>()) : u[0];
  if (lift > tolerance * (1.0 + (finite ? mu : 0.0))) {
    // Friction without a load is part of the half space.
    c.face = form.family == Family::associated && mu == kInfinity ? SoftContact::Face::tangents : SoftContact::Face::apex;
  } else if ((finite || (mu > 0.0 && form.family == Family::coulomb)) && u.tail<2>().norm() > tolerance) {
    set_sliding_face(shape, mu, u, tolerance, c);
  }
}

void set_contacts(const StandardForm& form, const Ref& lambda, double tolerance, ChoiceWorkspace& w) {
  const ReducedProblem& p = form.problem;
  w.shape.reset(form.edges);
  w.contacts.assign(p.contacts(), {});
  for (int i = 0; i < p.contacts(); ++i) {
    set_face(form, w.shape, p.mu[i], w.u.segment<3>(3 * i), tolerance, w.contacts[i]);
  }
  w.solution.lambda = lambda;
  w.solution.beta.setZero(p.bounded_rows());  // not of the program: a start of another size would be none
}

// û that makes the program ½|R λ' - t|² + ½ε|λ' - λ_ref|².
void set_target(const ReducedProblem& p, double softness, ChoiceWorkspace& w) {
  w.u.resize(3 * p.contacts());
  p.Rt.multiply(w.target, w.u);
  w.u += p.u_free;
  if (w.reference.size() > 0) w.u += softness * w.reference;
  for (int i = 0; i < p.contacts(); ++i) w.contacts[i].reference = w.u.segment<3>(3 * i);
}

// Largest |R_i λ_i|: the size of what must cancel.
double motion_scale(const ReducedProblem& p, const Ref& lambda) {
  double scale = 1e-300;
  for (int i = 0; i < p.contacts(); ++i) {
    scale = std::max(scale, std::sqrt(p.Rt.group_square(i)) * lambda.segment<3>(3 * i).cwiseAbs().maxCoeff());
  }
  return scale;
}

// t for the next round: t - (R λ' - y), and where that converges slowly, as it does along the directions in which G is hardly larger than
// ε, the secant through the last two rounds [Anderson 1965, of depth one].
void update_target(bool fell, ChoiceWorkspace& w) {
  w.step = w.target;
  if (fell) {
    w.change = w.reached - w.last_reached;
    const double square = w.change.squaredNorm();
    const double part = square > 0.0 ? w.reached.dot(w.change) / square : 0.0;
    w.target -= part * (w.target - w.last_target - w.change);
  }
  w.target -= w.reached;
  w.last_target = w.step;
  w.last_reached = w.reached;
}

// The method of multipliers: `chosen` with R λ' = w.y, and in w.multipliers those of that motion times ε. False when it is not met to
// `accepted`.
bool share(const ReducedProblem& p, const StandardForm& form, double enough, double accepted, ChoiceWorkspace& w) {
  const double softness = kSoftness * mean_diagonal(p);
  for (SoftContact& c : w.contacts) c.normal = c.tangential = softness;
  SoftConeOptions program;
  program.edges = form.edges;
  program.proximity = 0.0;  // every contact is soft
  program.bounded_rows = false;
  program.warm_start = true;
  w.target = w.y;
  double best = kInfinity, before = 0.0;
  for (int round = 0, stalled = 0; round < kRounds && stalled < 3; ++round, ++w.rounds) {
    set_target(p, softness, w);
    soft_cone(p, w.contacts, program, w.program, w.solution);
    if (w.solution.status == Status::numerical_error) return false;
    w.reached = w.y;
    w.reached *= -1.0;
    p.Rt.add_transposed(w.solution.lambda, w.reached);
    const double miss = w.reached.norm();
    stalled = miss < 0.5 * best ? 0 : stalled + 1;
    if (miss < best && w.solution.status == Status::solved) {
      best = miss;
      w.chosen = w.solution.lambda;
      w.multipliers = w.target - w.y - w.reached;
    }
    if (best <= kMotion * enough) break;
    update_target(miss < before, w);
    before = miss;
  }
  return best <= kEnough * std::max(accepted, w.y.norm());
}

using Side = ChoiceWorkspace::Side;

// The problem without what free rows can do: R_t on the complement of their span. Free rows in the span of those behind them, as dry
// friction is where the joint has a motor, are wanted at the impulse nearest to none.
void project_out(const ReducedProblem& p, const GrowVector& rows, ChoiceWorkspace& w) {
  static const Eigen::VectorXd one = Eigen::VectorXd::Ones(1);
  const int r = p.rank_bound(), n = p.contacts();
  w.basis.reset(r);
  w.free.clear();
  w.wanted = rows;
  w.coordinates.resize(r);
  for (int j = p.bounded_rows() - 1; j >= 0; --j) {
    if (w.sides[j] != Side::free) continue;
    w.row.setZero(r);
    p.Bt.add_group_transposed(j, one, w.row);
    if (w.basis.project(w.row.data(), w.coordinates.data()) > kApart * w.row.norm()) {
      w.basis.append(w.coordinates.data());
      w.free.push_back(j);
    } else {
      w.wanted[j] = std::clamp(0.0, p.lo[j], p.hi[j]);
    }
  }
  static const Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();
  const auto complement = w.basis.complement();
  w.projected = p;
  RowMap projected = w.projected.Rt.reset_single_block(3, static_cast<int>(complement.cols()), n);
  w.projected.Bt.reset(1, w.projected.Rt.block_sizes());
  for (GrowVector* x : {&w.projected.w_free, &w.projected.lo, &w.projected.hi}) x->resize(0);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k) {
      w.row.setZero(r);
      p.Rt.add_group_transposed(i, axes.col(k), w.row);
      projected.row(3 * i + k).noalias() = w.row.transpose().lazyProduct(complement);
    }
  }
}

// Impulses of the free rows that make up for what `chosen` leaves of the motion in w.whole.
void fit_free_rows(const ReducedProblem& p, ChoiceWorkspace& w) {
  w.row = w.whole;
  w.row *= -1.0;
  p.Rt.add_transposed(w.chosen, w.row);
  w.row *= -1.0;
  w.coordinates.resize(w.basis.rank());
  w.coordinates.noalias() = w.basis.span().transpose().lazyProduct(w.row);
  w.basis.solve_upper(w.coordinates.data());
  for (std::size_t k = 0; k < w.free.size(); ++k) w.wanted[w.free[k]] = w.coordinates[static_cast<Eigen::Index>(k)];
}

// From the impulses of the rows to those that are wanted: all of the way, or to the first bound on it, which holds its row from then on.
// Contacts can follow: their faces are convex.
bool reach(const ReducedProblem& p, ChoiceWorkspace& w, GrowVector& rows) {
  double part = 1.0;
  int first = -1;
  for (const int j : w.free) {
    const double change = w.wanted[j] - rows[j], bound = change > 0.0 ? p.hi[j] : p.lo[j];
    if (change > 0.0 ? w.wanted[j] <= bound : w.wanted[j] >= bound) continue;
    const double to = std::max(0.0, (bound - rows[j]) / change);
    if (to >= part && first >= 0) continue;
    part = to;
    first = j;
  }
  if (first < 0) {
    rows = w.wanted;
    return true;
  }
  w.sides[first] = w.wanted[first] > rows[first] ? Side::hi : Side::lo;
  rows += part * (w.wanted - rows);
  rows[first] = w.sides[first] == Side::hi ? p.hi[first] : p.lo[first];
  return false;
}

// Frees the row that pulls most from its bound, against what is chosen. False when there is none.
bool release(const ReducedProblem& p, ChoiceWorkspace& w) {
  w.row.resize(p.rank_bound());
  w.row.noalias() = w.basis.complement().lazyProduct(w.multipliers);
  double most = kPulls * w.row.norm();
  int found = -1;
  for (int j = 0; j < p.bounded_rows(); ++j) {
    if (w.sides[j] != Side::lo && w.sides[j] != Side::hi) continue;
    w.u.setZero(1);
    p.Bt.add_group_product(j, w.row, w.u);
    const double pull = (w.sides[j] == Side::hi ? -w.u[0] : w.u[0]) / std::sqrt(p.Bt.group_square(j));
    if (!(pull > most)) continue;
    most = pull;
    found = j;
  }
  if (found >= 0) w.sides[found] = Side::free;
  return found >= 0;
}

// Rows that move are no part of the choice, all others are free at first.
void hold_moving_rows(const ReducedProblem& p, double tolerance, ChoiceWorkspace& w) {
  w.speeds.resize(p.bounded_rows());
  p.Bt.multiply(w.motion, w.speeds);
  w.speeds += p.w_free;
  w.sides.assign(static_cast<std::size_t>(p.bounded_rows()), Side::free);
  for (int j = 0; j < p.bounded_rows(); ++j) {
    if (std::abs(w.speeds[j]) > tolerance || p.lo[j] == p.hi[j]) w.sides[j] = Side::held;
  }
}

// Active set over the rows that do not move, from their impulses on.
bool share_with_rows(const ReducedProblem& p, const StandardForm& form, double scale, ChoiceWorkspace& w, GrowVector& rows) {
  w.goal.setZero(p.rank_bound());
  p.Rt.add_transposed(w.solution.lambda, w.goal);
  p.Bt.add_transposed(rows, w.goal);
  for (int round = 0; round < kSets + 2 * p.bounded_rows(); ++round) {
    project_out(p, rows, w);
    w.whole = w.goal;
    w.wanted *= -1.0;
    for (const int j : w.free) w.wanted[j] = 0.0;
    p.Bt.add_transposed(w.wanted, w.whole);
    w.wanted *= -1.0;
    w.y.resize(p.rank_bound() - w.basis.rank());
    w.y.noalias() = w.basis.complement().transpose().lazyProduct(w.whole);
    // Of large impulses that cancel a small motion is left.
    if (!share(w.projected, form, std::min(scale, w.whole.norm()), scale, w)) return false;
    fit_free_rows(p, w);
    if (reach(p, w, rows) && !release(p, w)) return true;
  }
  return false;
}

}  // namespace

bool choose_impulses(const StandardForm& form, const Ref& lambda, const Ref& beta, const Ref& motion, ChoiceWorkspace& w,
                     GrowVector& rows) {
  w.rounds = 0;
  const ReducedProblem& p = form.problem;
  rows = beta;
  if (p.contacts() == 0 || form.compliance.size() > 0) {
    w.chosen = lambda;
    return true;
  }
  const double scale = motion_scale(p, lambda);
  const double tolerance = kResting * std::max({1e-300, contact_velocities(p, lambda, beta, motion, w), largest_entry(p.u_free)});
  set_contacts(form, lambda, tolerance, w);
  w.motion = w.y;
  hold_moving_rows(p, tolerance, w);
  if (std::ranges::find(w.sides, Side::free) != w.sides.end()) return share_with_rows(p, form, scale, w, rows);
  w.y.setZero();
  p.Rt.add_transposed(lambda, w.y);
  return share(p, form, scale, scale, w);
}

}  // namespace stiction
