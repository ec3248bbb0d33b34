#include "stiction/inverse/inverse_dynamics.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Ref = Eigen::Ref<const Eigen::VectorXd>;

constexpr double kMissed = 1e-8;  // shortfall relative to the speeds from which on a request counts as missed

void add_limited_row(ContactProblem& p, int joint, double v_desired, double bound) {
  int block = 0;
  while (joint >= p.M.offset(block) + p.M.block_size(block)) ++block;
  p.J_b.add_group();
  p.J_b.add_entry(block)(0, joint - p.M.offset(block)) = 1.0;
  const Index m = p.b.size();
  for (GrowVector* x : {&p.b, &p.lo, &p.hi}) x->resize(m + 1);  // keeps its entries: storage only grows at the end
  p.b[m] = v_desired;
  p.lo[m] = -bound;
  p.hi[m] = bound;
}

/// Adds the rows of the driven joints and takes them away again, whatever happens in between.
class DrivenRows {
 public:
  DrivenRows(ContactProblem& p, std::span<const int> joints, const Ref& v_desired, std::span<const double> tau_max)
      : problem_(p), rows_(p.bounded_rows()) {
    p.prescribed.clear();
    Index prescribed = 0;
    p.v_prescribed.resize(v_desired.size());
    for (std::size_t i = 0; i < joints.size(); ++i) {
      const bool limited = !tau_max.empty() && std::isfinite(tau_max[i]);
      if (limited) {
        add_limited_row(p, joints[i], v_desired[static_cast<Index>(i)], tau_max[i] * p.dt);
      } else {
        p.prescribed.push_back(joints[i]);
        p.v_prescribed[prescribed++] = v_desired[static_cast<Index>(i)];
      }
    }
    p.v_prescribed.resize(prescribed);
  }
  ~DrivenRows() {
    problem_.prescribed.clear();
    problem_.v_prescribed.resize(0);
    problem_.J_b.truncate(rows_);
    for (GrowVector* x : {&problem_.b, &problem_.lo, &problem_.hi}) x->resize(rows_);
  }
  DrivenRows(const DrivenRows&) = delete;
  DrivenRows& operator=(const DrivenRows&) = delete;
  int first_row() const { return rows_; }

 private:
  ContactProblem& problem_;
  int rows_;
};

// tau from the prescribed multipliers, then from the limited rows, in the order of `joints`.
void read_torques(const ContactProblem& p, std::size_t joints, std::span<const double> tau_max, int first_row, InverseSolution& s) {
  s.tau.resize(static_cast<Index>(joints));
  Index prescribed = 0, row = first_row;
  for (std::size_t i = 0; i < joints; ++i) {
    const bool limited = !tau_max.empty() && std::isfinite(tau_max[i]);
    s.tau[static_cast<Index>(i)] = (limited ? s.bounded_impulses[row++] : s.prescribed_impulses[prescribed++]) / p.dt;
  }
}

void measure_shortfall(std::span<const int> joints, const Ref& v_desired, InverseSolution& s) {
  s.shortfall = 0.0;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    s.shortfall = std::max(s.shortfall, std::abs(s.v[joints[i]] - v_desired[static_cast<Index>(i)]));
  }
}

// The joint velocities closest to the desired ones that the contacts allow, no-slip or at least without penetration [ZD15, Eqs. 40-43]:
// Gauss's principle, steps whose inertia is 1 on the driven joints and little elsewhere. Repeating them from the velocity reached
// (proximal point) takes the little inertia's say away without the bad conditioning of none. Rows that may give way have none.
bool nearest_consistent(const ContactProblem& p, std::span<const int> joints, const Ref& v_desired, const InverseOptions& options,
                        InverseWorkspace& w) {
  constexpr double kFreeWeight = 0.1;
  constexpr int kRepeats = 8;
  w.nearest = p;
  for (int k = 0; k < p.M.blocks(); ++k)
    w.nearest.M.block(k) = kFreeWeight * Eigen::MatrixXd::Identity(p.M.block_size(k), p.M.block_size(k));
  w.nearest.impulse.setZero();
  for (std::size_t i = 0; i < joints.size(); ++i) {
    int block = 0;
    while (joints[i] >= p.M.offset(block) + p.M.block_size(block)) ++block;
    const int local = joints[i] - p.M.offset(block);
    w.nearest.M.block(block)(local, local) = 1.0;
    w.nearest.v[joints[i]] = v_desired[static_cast<Index>(i)];
  }
  for (Index j = 0; j < w.nearest.b.size(); ++j) {
    if (std::isfinite(p.lo[j]) && std::isfinite(p.hi[j])) w.nearest.lo[j] = w.nearest.hi[j] = 0.0;
  }
  SolveOptions kinematic = options.contact;
  kinematic.solver = Solver::automatic;
  if (kinematic.law != Law::no_slip) kinematic.law = Law::frictionless;
  for (int k = 0; k < kRepeats; ++k) {
    reduce(w.nearest, w.repair.reduction);
    w.repair.reduction.reduced.offset = w.solve.reduction.reduced.offset;  // which contacts are closed is decided at p.v
    w.repair.reduction.reduced.closed = w.solve.reduction.reduced.closed;
    solve_reduced(w.repair.reduction.reduced, kinematic, w.repair, w.repair.impulses);
    if (w.repair.impulses.status != Status::solved) return false;
    if (w.repair.impulses.motion.size() > 0) {
      recover_velocity(w.repair.reduction, w.repair.impulses.motion, w.v_nearest);
    } else {
      recover_velocity(w.repair.reduction, w.repair.impulses.lambda, w.repair.impulses.beta, w.v_nearest);
    }
    w.nearest.v = w.v_nearest;
    for (std::size_t i = 0; i < joints.size(); ++i) w.nearest.v[joints[i]] = v_desired[static_cast<Index>(i)];
  }
  w.v_desired.resize(v_desired.size());
  for (std::size_t i = 0; i < joints.size(); ++i) w.v_desired[static_cast<Index>(i)] = w.v_nearest[joints[i]];
  return joints.empty() || (w.v_desired - v_desired).cwiseAbs().maxCoeff() > 0.0;
}

SolveOptions contact_options(const InverseOptions& options) {
  SolveOptions contact = options.contact;
  if (options.choice == Choice::least_norm || options.choice == Choice::closest_to_last) contact.choice = options.choice;
  return contact;
}

// Solves without torque limits; true when the torques are within them all the same.
bool is_within_limits(ContactProblem& p, std::span<const int> joints, const Ref& v_desired, std::span<const double> tau_max,
                      const InverseOptions& options, InverseWorkspace& w, InverseSolution& s) {
  const DrivenRows rows(p, joints, v_desired, {});
  solve(p, contact_options(options), w.solve, s);
  if (s.status != Status::solved) return false;
  read_torques(p, joints.size(), {}, rows.first_row(), s);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    if (std::abs(s.tau[static_cast<Index>(i)]) > tau_max[i]) return false;
  }
  return true;
}

// No-slip contacts that refuse the desired velocities, by the rank of their rows or by a proof of the solver: a solve that only missed its
// tolerance keeps what was asked for.
bool contradicts_contacts(const InverseOptions& options, InverseWorkspace& w, const InverseSolution& s) {
  if (s.status == Status::infeasible) return true;
  return options.contact.law == Law::no_slip && tangents_contradict(w.solve.form.problem, w.solve.convex);
}

void apply_stage_two(const ContactProblem& p, const InverseOptions& options, InverseWorkspace& w, InverseSolution& s) {
  w.stage_one = s.impulses;
  s.least_torque = stage_two(p, w.solve.reduction, w.solve.terms, options.contact.edges, options.contact.warm_start, s.v,
                             s.bounded_impulses, w.stage_two, s.impulses) == Status::solved;
  if (!s.least_torque) return;
  w.solve.impulses.lambda = s.impulses;
  complete(p, options.contact, w.solve, s);
  s.least_torque = s.status == Status::solved;
  if (s.least_torque) return;
  w.solve.impulses.lambda = w.stage_one;  // what the certificate refuses does not replace what it passed
  complete(p, options.contact, w.solve, s);
}

}  // namespace

void inverse_dynamics(ContactProblem& p, std::span<const int> joints, const Ref& v_desired, std::span<const double> tau_max,
                      const InverseOptions& options, InverseWorkspace& w, InverseSolution& s) {
  validate_request(p, joints, v_desired, tau_max);
  s.repaired = s.least_torque = false;
  s.proof.clear();
  w.last = w.solve.choice.last;
  if (options.contact.law == Law::max_dissipation && !tau_max.empty() && is_within_limits(p, joints, v_desired, tau_max, options, w, s)) {
    return measure_shortfall(joints, v_desired, s);
  }
  {
    const DrivenRows rows(p, joints, v_desired, tau_max);
    w.solve.choice.last = w.last;
    solve(p, contact_options(options), w.solve, s);
    reduce_whole(p, contact_options(options), s, w.solve);
    const bool leaves_choice = w.solve.terms.family != Family::constitutive;
    if (leaves_choice && options.choice == Choice::least_torque && s.status == Status::solved && tau_max.empty())
      apply_stage_two(p, options, w, s);
    read_torques(p, joints.size(), tau_max, rows.first_row(), s);
  }
  if (s.status != Status::solved && options.repair_inconsistent && p.laws.empty() && contradicts_contacts(options, w, s) &&
      nearest_consistent(p, joints, v_desired, options, w)) {
    const DrivenRows rows(p, joints, w.v_desired, tau_max);
    w.solve.choice.last = w.last;  // not what the refused attempt left there
    solve(p, contact_options(options), w.solve, s);
    s.repaired = true;
    read_torques(p, joints.size(), tau_max, rows.first_row(), s);
  }
  measure_shortfall(joints, v_desired, s);
  const double speed =
      std::max(s.v.size() > 0 ? s.v.cwiseAbs().maxCoeff() : 0.0, v_desired.size() > 0 ? v_desired.cwiseAbs().maxCoeff() : 0.0);
  if (options.prove_infeasible && (s.status != Status::solved || s.shortfall > kMissed * speed)) {
    find_request_proof(p, joints, v_desired, tau_max, options.contact, w.proof, s.proof);
  }
}

InverseSolution inverse_dynamics(const ContactProblem& problem, std::span<const int> joints, const Ref& v_desired,
                                 std::span<const double> tau_max, const InverseOptions& options) {
  validate(problem);
  ContactProblem copy = problem;
  InverseWorkspace workspace;
  InverseSolution solution;
  InverseOptions proving = options;
  proving.prove_infeasible = true;
  inverse_dynamics(copy, joints, v_desired, tau_max, proving, workspace, solution);
  return solution;
}

}  // namespace stiction
