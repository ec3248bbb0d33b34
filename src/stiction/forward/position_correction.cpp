#include "stiction/forward/position_correction.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/model/cut_joints.hpp"

namespace stiction {

namespace {

using Motion = CorrectionMotion;
using ConstVector = Eigen::Ref<const Eigen::VectorXd>;

constexpr double kSoftness = 1e-3;   // σ: a foot whose tangents are ten times as light as its normal loses a hundredth of its share
constexpr double kOutOfReach = 2.0;  // in deepest penetrations: no shift closes a gap wider than this, as each side moves by one at most

constexpr double kReached = 1e-6;  // rad or m, from which a limit has a row that the shift keeps

// Opening a contact may move some point this many times as far as it opens. Beyond, its lever is no way out: a thigh that lies in its
// hull beside the hip turns and turns, and stays where it is.
constexpr double kLongestLever = 10.0;
constexpr double kPlainShare = 0.1;  // of the normal in the mean of a contact's three rows, above which its lever is not looked at

double deepest_of(const ProblemView& p, const std::vector<char>& takes_part) {
  double deepest = 0.0;
  for (int i = 0; i < p.contacts(); ++i) {
    if (takes_part[i] != 0) deepest = std::max(deepest, -p.gap[i]);
  }
  return deepest;
}

double normal_weight(const BlockRows& rows, int i) {
  double sum = 0.0;
  for (int e = rows.entry_begin(i); e < rows.entry_end(i); ++e) sum += rows.entry(e).row(0).squaredNorm();
  return sum;
}

/// Power against gravity where bodies have the velocities V (W).
double lifting_power(const Motion& m, const std::vector<Vector6d>& V) {
  double power = 0.0;
  for (std::size_t b = 0; b < V.size(); ++b) {
    const Body& body = m.world.bodies()[b];
    if (body.block < 0) continue;
    power -= body.mass * m.world.gravity().dot(center_velocity(body, m.data.X_WB[b], V[b]));
  }
  return power;
}

}  // namespace

double fastest_point(const std::vector<Vector6d>& V, const std::vector<double>& reach) {
  double fastest = 0.0;
  for (std::size_t b = 0; b < reach.size(); ++b) fastest = std::max(fastest, fastest_point(V[b], reach[b]));
  return fastest;
}

// The largest share of h δ with which no joint passes a limit that lies ahead after h v⁺. One that is reached has a row.
double PositionCorrection::share_within_limits(const Motion& motion, double h, const ConstVector& v_plus) const {
  double share = 1.0;
  const auto look = [&](const Joint& joint, double q, double rate, double shift) {
    if (shift == 0.0) return;
    const double room = (shift > 0.0 ? joint.upper - q : q - joint.lower) - std::max(shift > 0.0 ? h * rate : -h * rate, 0.0);
    if (room > kReached && h * std::abs(shift) > (1.0 + kReached) * room) share = std::min(share, room / (h * std::abs(shift)));
  };
  for (const Joint& joint : motion.world.joints()) {
    if (joint.nv == 1) look(joint, motion.q[joint.q], v_plus[joint.v], shift_[joint.v]);
  }
  for (const CutJoint& cut : motion.world.cuts()) {
    if (cut.joint.nv != 1) continue;
    look(cut.joint, cut_position(motion.world, motion.data, cut), 0.0, cut_rate(motion.world, motion.data, V_, cut));
  }
  return share;
}

// Whether the least motion that opens contact i moves no point much farther than that.
bool PositionCorrection::can_open(const Motion& motion, int i) {
  const double normal = normal_weight(problem_.Rt, i);
  if (normal == 0.0) return false;  // held by drives and loops
  if (normal > kPlainShare * problem_.material[i].regularization / kSoftness) return true;
  y_.setZero(problem_.rank_bound());
  const Eigen::Vector3d unit(1.0, 0.0, 0.0);  // as an expression it would be copied to the heap
  problem_.Rt.add_group_transposed(i, unit, y_);
  recover_velocity(motion.reduction, y_, shift_);
  shift_ -= motion.reduction.v_free;
  body_velocities(motion.world, motion.data, shift_, V_);
  return fastest_point(V_, motion.reach) <= kLongestLever * normal;
}

// That of the step where no drive with limits holds a joint.
Reduction& PositionCorrection::reduce_held(const ProblemView& p, Reduction& of_step, const Solution& solved) {
  lo_ = p.lo;
  hi_ = p.hi;
  bool any = false;
  for (int row = 0; row < p.bounded_rows(); ++row) {
    if (is_bilateral(p, row) || !is_held(p, solved, row) || compliance(p, row) > 0.0) continue;
    lo_[row] = -kInfinity;
    hi_[row] = kInfinity;
    any = true;
  }
  if (!any) return of_step;
  const ProblemView held{
      p.dt, p.M, p.v, p.impulse,        p.J,         p.mu,  p.restitution, p.gap, p.laws, p.material, p.prescribed, p.v_prescribed, p.J_b,
      p.b,  lo_, hi_, p.row_compliance, p.row_kinds, p.ids, p.row_ids};
  reduce(held, held_, {.velocity_before = false});
  return held_;
}

void PositionCorrection::pose(const ProblemView& p, const Motion& motion, const Solution& solved, const std::vector<char>& takes_part,
                              const CorrectionOptions& options, double deepest) {
  const GrowVector& v_plus = solved.v;
  const Reduction& reduction = motion.reduction;
  problem_ = reduction.reduced;
  for (GrowVector* x : {&problem_.u_free, &problem_.w_free, &problem_.y_free, &problem_.gap, &problem_.restitution, &problem_.mu})
    x->setZero();
  problem_.laws.clear();
  problem_.material.assign(p.contacts(), {});
  const double rate = 1.0 / p.dt, far = kOutOfReach * rate * deepest;
  u_.resize(p.J.rows());
  p.J.multiply(v_plus, u_);
  for (int i = 0; i < p.contacts(); ++i) {
    const std::size_t k = static_cast<std::size_t>(i);
    problem_.material[k].regularization = kSoftness * problem_.Rt.group_square(i) / 3.0;
    const double depth = -p.gap[i];
    double& c = problem_.offset[i];
    if (takes_part[k] == 0) {
      c = far;
    } else if (depth > options.allowed) {
      c = std::max(u_[3 * i], 0.0);
      if (can_open(motion, i)) c -= options.recovery * rate * depth;
    } else {
      c = std::max(u_[3 * i] + rate * std::max(p.gap[i], 0.0), 0.0);
    }
    c = std::min(c, far);
  }
  for (int j = 0; j < problem_.bounded_rows(); ++j) {
    const int row = reduction.bounded[j];
    Eigen::Matrix<double, 1, 1> w(-p.b[row]);
    p.J_b.add_group_product(row, v_plus, w);
    const RowKind kind = row_kind(p, row);
    if (kind == RowKind::limit) {
      problem_.w_free[j] = problem_.lo[j] < 0.0 ? std::clamp(w[0], -far, 0.0) : std::clamp(w[0], 0.0, far);
    } else if (is_held(p, solved, row)) {  // also a servo within its limit, which stays the spring that it is
      problem_.lo[j] = -kInfinity;
      problem_.hi[j] = kInfinity;
    } else {
      problem_.lo[j] = problem_.hi[j] = 0.0;  // friction and motors that give way do not move positions
    }
  }
}

CorrectionReport PositionCorrection::add(const ProblemView& p, const Motion& of_step, const Solution& solved,
                                         const std::vector<char>& takes_part, const CorrectionOptions& options,
                                         Eigen::Ref<Eigen::VectorXd> velocity) {
  CorrectionReport report;
  report.deepest = deepest_of(p, takes_part);
  report.asked = report.deepest > options.allowed && options.recovery > 0.0;
  if (!report.asked) return report;
  const Motion motion{of_step.world, of_step.data, of_step.q, of_step.reach, reduce_held(p, of_step.reduction, solved)};
  pose(p, motion, solved, takes_part, options, report.deepest);
  SolveOptions law;
  law.law = Law::todorov;
  law.tolerance = options.tolerance;
  law.warm_start = !cold_;
  solve(problem_, law, workspace_, solution_);
  report.residual = solution_.certificate.worst();
  report.refused = cold_ = !(report.residual <= options.acceptable);
  if (report.refused) return report;
  recover_velocity(motion.reduction, solution_.impulses, solution_.bounded_impulses, shift_);
  shift_ -= motion.reduction.v_free;
  body_velocities(motion.world, motion.data, shift_, V_);
  const double farthest = p.dt * fastest_point(V_, motion.reach);
  const double share = std::min(farthest > report.deepest ? report.deepest / farthest : 1.0, share_within_limits(motion, p.dt, solved.v));
  report.farthest = share * farthest;
  report.lifted = share * p.dt * lifting_power(motion, V_);
  velocity += share * shift_;
  return report;
}

}  // namespace stiction
