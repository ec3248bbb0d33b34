#include "stiction/inverse/nearest_consistent.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/laws/program.hpp"
#include "stiction/problem/inertia_block.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Ref = Eigen::Ref<const Eigen::VectorXd>;

constexpr double kFirstWeight = 1e-2, kLighter = 0.1, kLeastWeight = 1e-6;
constexpr double kShortest = 1e-4;    // no column counts as shorter: what contradicts itself is not mended by speeds of 1e14
constexpr double kConverged = 1e-12;  // change of the driven velocities beside the speeds
constexpr double kSettled = 1e-10;    // of the speeds: a tenth of what the certificate lets pass, and above the rounding of some dozen rows
constexpr int kMostProblems = 40;
constexpr int kEdges = 64;              // about the disc: see the header
constexpr double kInside = 1.0 + 1e-3;  // of its dual cone

// The law's demands on velocities, without its complementarity: those whose impulses may grow without bound.
void take_demands(const LawTerms& law, LawTerms& demands) {
  demands.family = Family::associated;
  demands.edges = law.disc() ? kEdges : law.edges;
  demands.contacts.resize(law.contacts.size());
  for (std::size_t i = 0; i < law.contacts.size(); ++i) {
    ContactTerms& t = demands.contacts[i] = recession(law.contacts[i], law.family);
    if (law.disc() && std::isfinite(t.mu)) t.mu *= kInside / std::cos(std::numbers::pi / kEdges);
  }
}

// a_j² += the share of coordinate j in one row.
void add_row(const BlockRows& rows, int group, int row, GrowVector& columns) {
  const double square = rows.row_square(group, row);
  if (!(square > 0.0)) return;
  for (int e = rows.entry_begin(group); e < rows.entry_end(group); ++e) {
    const auto entry = rows.entry(e);
    columns.segment(rows.col_offset(rows.entry_block(e)), entry.cols()) += entry.row(row).cwiseAbs2().transpose() / square;
  }
}

void measure_columns(const ProblemView& p, const LawTerms& demands, GrowVector& columns) {
  columns.setZero(p.velocities());
  for (int i = 0; i < p.contacts(); ++i) {
    const ContactTerms& t = demands.contacts[i];
    for (int row = 0; t.bears && row < (t.mu > 0.0 ? 3 : 1); ++row) add_row(p.J, i, row, columns);
  }
  for (int j = 0; j < p.bounded_rows(); ++j) {
    if (!is_two_sided(p, j)) add_row(p.J_b, j, 0, columns);
  }
  for (double& a : columns) a = a > 0.0 ? std::max(a, kShortest * kShortest) : 1.0;
}

void set_inertia(const ProblemView& p, std::span<const int> joints, double weight, NearestConsistentWorkspace& w) {
  for (int k = 0; k < w.M.blocks(); ++k) {
    w.M.block(k).diagonal() = weight * w.columns.segment(w.M.offset(k), w.M.block_size(k));
  }
  for (const int joint : joints) {
    const int block = inertia_block(p.M, joint), local = joint - p.M.offset(block);
    w.M.block(block)(local, local) = 1.0;
  }
}

// The rows of the problem without the forces that limit them, and those that hold in place of no slip.
void take_rows(const ProblemView& p, const HeldRows& held, LawTerms& demands, ProblemRows& rows) {
  const Index own = p.bounded_rows(), added = held.targets.size();
  rows.J_b = p.J_b;
  for (GrowVector* x : {&rows.b, &rows.lo, &rows.hi}) x->resize(own + added);
  rows.b.head(own) = p.b;
  for (int j = 0; j < p.bounded_rows(); ++j) {
    rows.lo[j] = std::isinf(p.lo[j]) ? p.lo[j] : 0.0;
    rows.hi[j] = std::isinf(p.hi[j]) ? p.hi[j] : 0.0;
  }
  rows.b.tail(added) = held.targets;
  rows.lo.tail(added).setConstant(-kInfinity);
  rows.hi.tail(added).setConstant(kInfinity);
  for (int i = 0; i < added; ++i) rows.J_b.append_group(held.rows, i);
  if (added == 0) return;
  for (ContactTerms& t : demands.contacts) t.mu = std::isinf(t.mu) ? 0.0 : t.mu;
}

void set_desired(std::span<const int> joints, const Ref& v_desired, GrowVector& v) {
  for (std::size_t i = 0; i < joints.size(); ++i) v[joints[i]] = v_desired[static_cast<Index>(i)];
}

// Normals that the bilateral rows settle: what is left of their velocity is rounding, and nothing could mend it.
void drop_settled(double speed, ReducedProblem& p) {
  for (int i = 0; i < p.contacts(); ++i) {
    if (p.Rt.is_zero(i, 0) && std::abs(p.u_free[3 * i] + p.offset[i]) <= kSettled * speed) p.u_free[3 * i] = -p.offset[i];
  }
}

bool solve_step(const ProblemView& step, const LawTerms& demands, const SolveOptions& options, NearestConsistentWorkspace& w) {
  SolveWorkspace& s = w.solve;
  reduce(step, s.reduction);
  drop_settled(s.reduction.reduced.velocity, s.reduction.reduced);
  s.terms = demands;
  make_standard_form(s.reduction.reduced, s.terms, s.form);
  solve_prepared(s.reduction.reduced, options, s, s.impulses);
  if (s.impulses.status != Status::solved) return false;
  if (s.impulses.motion.size() > 0) {
    recover_velocity(s.reduction, s.impulses.motion, w.reached);
  } else {
    recover_velocity(s.reduction, s.impulses.lambda, s.impulses.beta, w.reached);
  }
  return true;
}

// Takes over what was reached; by how much that changes it.
double take_reached(std::span<const int> joints, const GrowVector& reached, GrowVector& nearest) {
  double change = 0.0;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    double& v = nearest[static_cast<Index>(i)];
    change = std::max(change, std::abs(reached[joints[i]] - v));
    v = reached[joints[i]];
  }
  return change;
}

}  // namespace

bool nearest_consistent(const ProblemView& p, const LawTerms& law, const HeldRows& held, std::span<const int> joints, const Ref& v_desired,
                        SolveOptions options, NearestConsistentWorkspace& w, GrowVector& nearest) {
  options.solver = Solver::automatic;
  take_demands(law, w.demands);
  measure_columns(p, w.demands, w.columns);
  w.M.reset(p.M.sizes());
  w.impulse.setZero(p.velocities());
  w.v = p.v;
  set_desired(joints, v_desired, w.v);
  take_rows(p, held, w.demands, w.rows);
  const ProblemView step = p.with_rows(w.rows).with_momentum(w.M, w.v, w.impulse);
  nearest = v_desired;
  const double speed = std::max(largest_entry(v_desired), largest_entry(p.v));
  double weight = kFirstWeight;
  for (int k = 0; k < kMostProblems; ++k) {
    set_inertia(p, joints, weight, w);
    if (!solve_step(step, w.demands, options, w)) return k > 0;
    if (take_reached(joints, w.reached, nearest) <= kConverged * speed && k > 0) break;
    w.v = w.reached;
    set_desired(joints, v_desired, w.v);
    weight = std::max(kLeastWeight, kLighter * weight);
  }
  return true;
}

}  // namespace stiction
