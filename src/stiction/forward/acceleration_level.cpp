#include "stiction/forward/acceleration_level.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/laws/lowering.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Isometry3d;
using Eigen::Ref;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

// rad between poses of the difference. Its error is of fourth order in it over the angle within which a point of contact moves by its
// shape's size, the tilt of a disc next to flat: for 1e-3 rad such discs gained 1e-3 of energy. Rounding brings in 1e-12 of rate² |u|.
constexpr double kTurn = 1e-4;
constexpr double kAtRest = 1e-8;          // m/s, rad/s: below, J̇ v, of second order in v, is rounding
constexpr double kSlide = 1e3;            // B, in accelerations of the free motion
constexpr double kBeside = 1e2;           // s²/m: times scale(), by which the tolerance of a solve with B grows: to a tenth of small()
constexpr double kAligned = 1e-8;         // rad, of a slip and its friction when the passes end: ten times the tolerance of the solves
constexpr int kForcePasses = 8;           // each gains two digits or more where forces exist; a stiff slide, of first order, takes two
constexpr int kMostFactorizations = 200;  // ten times what a solvable problem takes; where none exists there is another way on
constexpr double kCorner = 10.0 * kTurn;  // of a normal between poses of the difference: one that turns less takes little wherever it turns
constexpr double kOpenGap = 1e-9;         // m: what is closer is closed
constexpr double kLeaving = 1e-4;         // of the slip: what opens faster at the end of a piece has left, as an edge that is slid over
constexpr double kDetection = 1e-5;       // m, beyond the distance that the points of contact have come apart
constexpr double kForceRounded = 1e-8;    // of the largest force: nearer to its limit a drive is at it
constexpr double kSteadySlip = 1e-8;      // m/s: below, what starts to slip has no direction yet but that of its acceleration

const Isometry3d& pose_of(const WorldData& data, int body) {
  static const Isometry3d world = Isometry3d::Identity();
  return body < 0 ? world : data.X_WB[body];
}

// Fixed to body A, its normal to body B: what goes on where collision does not tell.
ContactPoint carried(const ClosedContact& c, const WorldData& data) {
  ContactPoint p = c.point;
  const Isometry3d &A = pose_of(data, p.body_a), &B = pose_of(data, p.body_b);
  p.p_WC = A * c.p_A;
  p.n = B.linear() * c.n_B;
  contact_tangents(p.n, p.t1, p.t2);
  p.gap += p.n.dot(p.p_WC - B * c.p_B);
  return p;
}

// Whether a normal seen at -2, -1, 1 and 2 steps jumps, as that of a rim on its way over an edge: a smooth one turns evenly over so short a
// way.
bool jumps(const std::array<Vector3d, 4>& n) {
  const Vector3d before = n[1] - n[0], here = 0.5 * (n[2] - n[1]), after = n[3] - n[2];
  const double most = std::max({before.norm(), here.norm(), after.norm()});
  return most > kCorner && std::max((here - before).norm(), (after - here).norm()) > 0.5 * most;
}

}  // namespace

ContactTerms terms_of(Law law, double mu, const ContactMaterial& material) {
  ContactState contact;
  contact.mu = mu;
  contact.material = &material;
  contact.family = row_of(law).family;
  ContactTerms terms;
  row_of(law).lower(contact, terms);
  return terms;
}

bool fits_events(Law law) {
  const LawRow& row = row_of(law);
  return row.contact == ContactKind::rigid &&
         (row.family == Family::coulomb || (row.family == Family::associated && row.section == Section::none));
}

Law impact_law(Law law) {
  ContactMaterial material;
  material.viscosity = 1.0;
  return terms_of(law, 1.0, material).has_fixed_friction() ? Law::frictionless : law;
}

Law acceleration_law(Law law) {
  const Law left = impact_law(law);
  if (row_of(left).reads != Reads::velocity_before) return left;
  return row_of(left).section == Section::polygon ? Law::coulomb_pyramid : Law::coulomb_cone;
}

SolveOptions under(SolveOptions options, Law law) {
  if (!can_solve(law, options.solver)) options.solver = Solver::automatic;
  options.law = law;
  return options;
}

void SolveTally::count(const Solution& solution) {
  ++solves;
  iterations += solution.iterations;
}

void SolveTally::note(const Solution& solution) {
  if (solution.status != Status::solved) status = solution.status;
  const double worst = solution.certificate.worst();
  if (!(worst > residual)) return;
  residual = worst;
  certificate = solution.certificate;
}

AccelerationLevel::AccelerationLevel(const World& world) : data_(world), ahead_(world), equalities_(count_equality_rows(world)) {
  q_ahead_ = world.initial_configuration();
  loops_.M.reset(world.block_sizes());
  loops_.dt = 1.0;
}

void AccelerationLevel::hold(const EventSetting& setting, const WorldData& data) {
  smooth_ = setting.assemble;
  smooth_.dt = 1.0;
  smooth_.joint_limits = smooth_.dry_friction = false;
  smooth_.drives.velocity.clear();
  smooth_.spring_ahead = smooth_.damping_share = 0.0;
  for (ClosedContact& c : contacts) {
    const Isometry3d &A = pose_of(data, c.point.body_a), &B = pose_of(data, c.point.body_b);
    c.p_A = A.inverse() * c.point.p_WC;
    c.p_B = B.inverse() * c.point.p_WC;
    c.n_B = B.linear().transpose() * c.point.n;
  }
}

// The closed contacts at the poses of `data`. Points that touched as the piece began are points of the bodies, so no gap is wider than
// those are apart by now: an integrator's stages, whose poses are guesses, open gaps by more than the motion does.
void AccelerationLevel::find_points(const EventSetting& setting, const WorldData& data, double margin) {
  points_.resize(contacts.size());
  if (contacts.empty()) return;
  double apart = 0.0;
  for (const ClosedContact& c : contacts)
    apart = std::max(apart, (pose_of(data, c.point.body_a) * c.p_A - pose_of(data, c.point.body_b) * c.p_B).norm());
  setting.scene.update_poses(data.X_WB);
  setting.scene.detect(margin + apart, found_);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const ClosedContact& c = contacts[i];
    const auto found = c.point.id == 0 ? found_.end() : std::ranges::find(found_, c.point.id, &ContactPoint::id);
    points_[i] = found != found_.end() ? *found : carried(c, data);
  }
}

Vector3d contact_velocity(const World& world, const WorldData& data, const ContactPoint& c, const Ref<const VectorXd>& v) {
  Vector3d relative = Vector3d::Zero();
  for (const auto& [body, sign] : {std::pair(c.body_a, 1.0), std::pair(c.body_b, -1.0)}) {
    if (body < 0 || world.bodies()[body].block < 0) continue;
    const Vector6d V = body_velocity(world, data, body, v);
    const Vector3d arm = c.p_WC - pose_of(data, body).translation();
    relative += sign * (V.head<3>() + V.tail<3>().cross(arm));
  }
  return {c.n.dot(relative), c.t1.dot(relative), c.t2.dot(relative)};
}

// The rows of closed loops at these poses, as over a step of a second.
void AccelerationLevel::list_loops(const World& world, const WorldData& data, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v) {
  loops_.J_b.reset(1, world.block_sizes());
  loops_.row_kinds.clear();
  for (GrowVector* x : {&loops_.b, &loops_.lo, &loops_.hi}) x->resize(equalities_);
  Index count = 0;
  add_equality_rows(world, data, q, v, 1.0, loops_, count);
}

// J̇ v of contacts and loops.
void AccelerationLevel::differentiate(const EventSetting& setting, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v) {
  convective_.setZero(3 * std::ssize(contacts));
  carried_.setZero(3 * std::ssize(contacts));
  normals_.resize(contacts.size());
  loop_rate_.setZero(equalities_);
  if (contacts.empty() && equalities_ == 0) return;
  double rate = 0.0, speed = 0.0, reach = 0.0;
  for (std::size_t b = 0; b < setting.reach.size(); ++b) {
    const double linear = data_.V_WB[b].head<3>().norm(), angular = data_.V_WB[b].tail<3>().norm();
    speed = std::max({speed, linear, angular});
    reach = std::max(reach, setting.reach[b]);
    rate = std::max(rate, angular + (setting.reach[b] > 0.0 ? linear / setting.reach[b] : 0.0));
  }
  if (!(speed > kAtRest)) return;
  const double step = kTurn / (rate > 0.0 ? rate : speed);
  constexpr std::array<std::pair<double, double>, 4> kPlaces{{{-2.0, 1.0}, {-1.0, -8.0}, {1.0, 8.0}, {2.0, -1.0}}};
  for (std::size_t k = 0; k < kPlaces.size(); ++k) {
    const auto& [place, weight] = kPlaces[k];
    integrate(setting.world, q, v, place * step, q_ahead_);
    update_kinematics(setting.world, q_ahead_, ahead_);
    find_points(setting, ahead_, kDetection + 4.0 * kTurn * reach);
    const double share = weight / (12.0 * step);
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const Index at = 3 * static_cast<Index>(i);
      convective_.segment<3>(at) += share * contact_velocity(setting.world, ahead_, points_[i], v);
      carried_.segment<3>(at) += share * contact_velocity(setting.world, ahead_, carried(contacts[i], ahead_), v);
      normals_[i][k] = points_[i].n;
    }
    if (equalities_ == 0) continue;
    list_loops(setting.world, ahead_, q_ahead_, v);
    for (int j = 0; j < equalities_; ++j) {
      Eigen::Matrix<double, 1, 1> speed_now(0.0);
      loops_.J_b.add_group_product(j, v, speed_now);
      loop_rate_[j] += share * speed_now[0];
    }
  }
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Index at = 3 * static_cast<Index>(i);
    if (jumps(normals_[i])) convective_.segment<3>(at) = carried_.segment<3>(at);
  }
}

void AccelerationLevel::add_rows(const Ref<const VectorXd>& v) {
  ContactProblem& p = problem_;
  row_of_.assign(rows.size(), -1);
  row_slip_.resize(std::ssize(rows));
  Index m = p.bounded_rows();
  for (std::size_t j = 0; j < rows.size(); ++j) {
    const ClosedRow& r = rows[j];
    const double slip = r.sign * v[r.v] - r.target;
    row_slip_[static_cast<Index>(j)] = slip;
    if (r.mode == Mode::leaves) continue;
    if (r.mode == Mode::slides || (r.mode == Mode::starts && std::abs(slip) > kSteadySlip)) {
      const double side = r.mode == Mode::slides ? r.side : slip;
      p.impulse[r.v] += r.sign * (side > 0.0 ? r.lo : r.hi);
      continue;
    }
    row_of_[j] = static_cast<int>(m);
    p.J_b.add_group();
    p.J_b.add_entry(r.block)(0, r.v - p.M.offset(r.block)) = r.sign;
    for (GrowVector* x : {&p.b, &p.lo, &p.hi}) x->resize(m + 1);
    p.b[m] = 0.0;
    p.lo[m] = r.lo;
    p.hi[m] = r.hi;
    p.row_kinds.push_back(r.kind);
    p.row_ids.push_back(r.id);
    ++m;
  }
}

void AccelerationLevel::assemble_rows(const EventSetting& setting, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v) {
  ContactProblem& p = problem_;
  const Index n = std::ssize(contacts);
  u_.resize(3 * n);
  bearing_.clear();
  bearing_points_.clear();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    u_.segment<3>(3 * static_cast<Index>(i)) = contact_velocity(setting.world, data_, points_[i], v);
    if (contacts[i].mode == Mode::leaves) continue;
    bearing_.push_back(i);
    bearing_points_.push_back(points_[i]);
  }
  tau_ = setting.tau;
  add_wrenches(setting.world, data_, setting.wrenches, tau_);
  assemble(setting.world, data_, q, v, tau_, bearing_points_, smooth_, p);
  for (int j = 0; j < equalities_; ++j) p.b[j] = -loop_rate_[j];
  add_rows(v);
  holds_slip_ = false;
  along_.resize(bearing_.size());
  viscosity_.resize(bearing_.size());
  speed_.assign(bearing_.size(), 0.0);
  for (std::size_t k = 0; k < bearing_.size(); ++k) {
    ClosedContact& c = contacts[bearing_[k]];
    const Vector2d slip = u(bearing_[k]).tail<2>();
    const Index i = static_cast<Index>(k);
    const Law law = p.laws.empty() ? setting.contact.law : p.laws[k];
    along_[k].setZero();
    c.mu = p.mu[i];
    const ContactTerms terms = terms_of(law, p.mu[i], material_of(p.material, static_cast<int>(k)));
    const bool fixed = terms.has_fixed_friction();
    viscosity_[k] = fixed ? 1.0 / terms.tangential_compliance : 0.0;
    const Vector3d friction = -viscosity_[k] * Vector3d(0.0, slip[0], slip[1]);
    if (viscosity_[k] > 0.0) p.J.add_group_transposed(static_cast<int>(k), friction, p.impulse);
    if (fixed || !(terms.mu > 0.0)) {
      c.mode = Mode::free;
      continue;
    }
    if (std::isinf(terms.mu)) {
      c.mode = Mode::sticks;
      holds_slip_ = holds_slip_ || slip.norm() > setting.events.rest_speed;
      continue;
    }
    const double speed = slip.norm();
    if (c.mode == Mode::starts && speed > kSteadySlip) along_[k] = slip / speed;
    speed_[k] = c.mode == Mode::slides ? std::max(slip.dot(c.along), 0.0) : speed;
    if (c.mode == Mode::slides) along_[k] = speed > kSteadySlip && slip.dot(c.along) > 0.0 ? Vector2d(slip / speed) : c.along;
  }
  if (setting.contact.align_edges) edge_angles(p, edge_angle_);
  for (Law& law : p.laws) law = acceleration_law(law);
  p.gap.setZero();
  p.restitution.setZero();
  p.v.setZero();
}

// What is added to the acceleration of a contact that slides.
Vector2d AccelerationLevel::slip_seen(std::size_t k, int pass, double slide) const {
  const Vector2d &along = along_[k], &known = contacts[bearing_[k]].known;
  if (!(speed_[k] < piece * scale_)) return slide * along - (known - along * along.dot(known));
  return pass == 0 ? Vector2d(slide * along) : Vector2d(speed_[k] / piece * along - known);
}

AccelerationLevel::Answer AccelerationLevel::solve_law(const EventSetting& setting) {
  ReducedProblem& r = reduction_.reduced;
  const int n = r.contacts();
  u_free_ = r.u_free;
  for (int k = 0; k < n; ++k) u_free_.segment<3>(3 * k) += convective_.segment<3>(3 * static_cast<Index>(bearing_[k]));
  stiff_ = false;
  scale_ = std::max({setting.world.gravity().norm(), largest_entry(u_free_), largest_entry(r.w_free)});
  lambda_.setZero(3 * n);
  scratch_.setZero(r.bounded_rows());
  const auto velocity_of = [&](const Ref<const VectorXd>& beta) {
    recover_velocity(reduction_, lambda_, beta, v_dot_);
    a_.resize(3 * n);
    problem_.J.multiply(v_dot_, a_);
    for (int k = 0; k < n; ++k) a_.segment<3>(3 * k) += convective_.segment<3>(3 * static_cast<Index>(bearing_[k]));
  };
  if (n + r.bounded_rows() == 0) {
    velocity_of(scratch_);
    return Answer::found;
  }
  if (setting.contact.align_edges) r.edge_angle = edge_angle_;
  SolveOptions options = under(setting.contact, acceleration_law(setting.contact.law));
  options.max_factorizations = std::min(options.max_factorizations, kMostFactorizations);
  const double slide = kSlide * scale_;
  for (int pass = 0; pass < kForcePasses; ++pass) {
    r.u_free = u_free_;
    for (int k = 0; k < n; ++k) {
      const std::size_t i = static_cast<std::size_t>(k);
      if (!along_[i].isZero(0.0)) r.u_free.segment<2>(3 * k + 1) += slip_seen(i, pass, slide);
    }
    // Redundant contacts that stick agree to rounding alone, and Newton would chase those digits. A solve with B, beside which the
    // certificate measures, need be no finer than accelerations are wanted, a tenth of small().
    const bool beside = largest_entry(r.u_free) > scale_;
    options.tolerance = setting.contact.tolerance * (beside ? std::max(1.0, kBeside * scale_) : 1.0);
    options.warm_start = setting.contact.warm_start && !cold;
    if (cold) workspace_.choice.last.resize(0);
    solve(r, options, workspace_, solution_);
    tally.count(solution_);
    if (solution_.status != Status::solved && !(solution_.certificate.worst() <= setting.contact.acceptable)) return Answer::failed;
    tally.note(solution_);
    cold = false;
    lambda_ = solution_.impulses;
    velocity_of(solution_.bounded_impulses);
    bool settled = true;
    for (int k = 0; k < n; ++k) {
      const std::size_t i = static_cast<std::size_t>(k);
      const Vector2d& along = along_[i];
      if (along.isZero(0.0)) continue;
      ClosedContact& c = contacts[bearing_[i]];
      const Vector2d a = a_.segment<2>(3 * k + 1), seen = a + slip_seen(i, pass, slide);
      if (pass == 0 && lambda_[3 * k] > 0.0 && seen.dot(along) < 0.5 * slide) return Answer::none;
      const bool stiff = speed_[i] < piece * scale_;
      const Vector2d part = stiff ? Vector2d(along * along.dot(a)) : Vector2d(a - along * along.dot(a));
      settled = settled && (stiff ? pass > 0 : (part - c.known).norm() <= kAligned * slide);
      if (!(stiff && pass > 0)) c.known = part;
      stiff_ = stiff_ || stiff;
    }
    if (settled) break;
  }
  return Answer::found;
}

AccelerationLevel::Answer AccelerationLevel::evaluate(const EventSetting& setting, const Ref<const VectorXd>& q,
                                                      const Ref<const VectorXd>& v, Accelerations& out) {
  update(setting.world, q, v, data_);
  differentiate(setting, q, v);
  find_points(setting, data_, kDetection);
  assemble_rows(setting, q, v);
  reduce(problem_, reduction_);
  const Answer answer = solve_law(setting);
  if (answer == Answer::failed || !std::isfinite(v_dot_.squaredNorm())) return Answer::failed;
  out.v_dot = v_dot_;
  lambda_b_.setZero(problem_.bounded_rows());
  if (problem_.bounded_rows() > 0) {
    scratch_ = solution_.bounded_impulses;
    if (problem_.contacts() + reduction_.reduced.bounded_rows() == 0) scratch_.resize(0);
    expand_bounded(problem_, reduction_, scratch_, lambda_b_);
    recover_bilateral(problem_, reduction_, v_dot_, lambda_, lambda_b_, lambda_p_);
  }
  out.forces.setZero(3 * std::ssize(contacts));
  scratch_ = a_;
  a_.setZero(3 * std::ssize(contacts));
  for (std::size_t k = 0; k < bearing_.size(); ++k) {
    const Index i = 3 * static_cast<Index>(bearing_[k]), own = 3 * static_cast<Index>(k);
    Vector3d force = lambda_.segment<3>(own);
    force.tail<2>() -= viscosity_[k] * u_.segment<2>(i + 1);
    out.forces.segment<3>(i) = bearing_points_[k].R_WC() * force;
    a_.segment<3>(i) = scratch_.segment<3>(own);
  }
  out.equality_forces = lambda_b_.head(equalities_);
  out.row_forces.setZero(std::ssize(rows));
  row_a_.setZero(std::ssize(rows));
  for (std::size_t j = 0; j < rows.size(); ++j) {
    const ClosedRow& r = rows[j];
    const Index i = static_cast<Index>(j);
    row_a_[i] = r.sign * v_dot_[r.v];
    if (row_of_[j] >= 0) {
      out.row_forces[i] = lambda_b_[row_of_[j]];
    } else if (r.mode != Mode::leaves) {
      out.row_forces[i] = (r.mode == Mode::slides ? r.side : row_slip_[i]) > 0.0 ? r.lo : r.hi;
    }
  }
  return answer;
}

// What bears after the last evaluation: contacts by their place in the problem, with their tangents where they stick, and rows.
template <class OnContact, class OnRow>
void AccelerationLevel::for_each_held(const EventSetting& setting, const OnContact& on_contact, const OnRow& on_row) const {
  for (std::size_t k = 0; k < bearing_.size(); ++k) {
    const std::size_t i = bearing_[k];
    const bool opens = points_[i].gap > kOpenGap && u(i)[0] > setting.events.rest_speed + kLeaving * u(i).tail<2>().norm();
    if (a(i)[0] > small() || opens) continue;
    on_contact(k, contacts[i].mode == Mode::sticks && !(a(i).tail<2>().norm() > small()));
  }
  for (std::size_t j = 0; j < rows.size(); ++j) {
    if (row_of_[j] >= 0 && rows[j].mode == Mode::sticks && !(std::abs(row_a(j)) > small())) on_row(j);
  }
}

void AccelerationLevel::impulses_of_held(const EventSetting& setting, const GrowVector& of_rows, Accelerations& out) const {
  out.forces.setZero(3 * std::ssize(contacts));
  out.row_forces.setZero(std::ssize(rows));
  Index m = 0;
  const auto on_contact = [&](std::size_t k, bool sticks) {
    Vector3d impulse = Vector3d::Zero();
    for (int row = 0; row < (sticks ? 3 : 1); ++row) impulse[row] = of_rows[m++];
    out.forces.segment<3>(3 * static_cast<Index>(bearing_[k])) = bearing_points_[k].R_WC() * impulse;
  };
  for_each_held(setting, on_contact, [&](std::size_t j) { out.row_forces[static_cast<Index>(j)] = of_rows[m++]; });
  out.equality_forces = of_rows.tail(equalities_);
}

// driven: of drives inside their limits.
void AccelerationLevel::holding_rows(const EventSetting& setting, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v,
                                     double recovery, GrowMatrix& transposed, GrowVector& speeds, GrowVector& gaps, std::vector<int>& first,
                                     std::vector<std::size_t>& driven) {
  const ContactProblem& p = problem_;
  const Index most = 3 * std::ssize(bearing_) + p.bounded_rows();
  first.clear();
  transposed.setZero(p.velocities(), most);
  speeds.resize(most);
  gaps.setZero(most);
  driven.clear();
  Index m = 0;
  const auto closing = [&](double gap) { return gap < -kTouchGap ? -recovery * gap : -gap; };
  const auto add = [&](const BlockRows& from, int group, int row) {
    const Vector3d unit = Vector3d::Unit(row);
    from.add_group_transposed(group, unit.head(from.height()), transposed.col(m));
    speeds[m] = -transposed.col(m).dot(v);
    first.push_back(static_cast<int>(m));
    ++m;
  };
  const auto on_contact = [&](std::size_t k, bool sticks) {
    add(p.J, static_cast<int>(k), 0);
    gaps[m - 1] = closing(points_[bearing_[k]].gap);
    for (int row = 1; row < (sticks ? 3 : 1); ++row) add(p.J, static_cast<int>(k), row);
  };
  const double slack = kForceRounded * std::max(largest_entry(lambda_), largest_entry(lambda_b_));
  const auto on_row = [&](std::size_t j) {
    const ClosedRow& r = rows[j];
    add(p.J_b, row_of_[j], 0);
    speeds[m - 1] += r.target;
    const double force = lambda_b_[row_of_[j]];
    if (r.kind == RowKind::motor && force > r.lo + slack && force < r.hi - slack) driven.push_back(j);
    if (r.kind == RowKind::limit) gaps[m - 1] = closing(r.sign * (q[r.q] - r.place));
  };
  for_each_held(setting, on_contact, on_row);
  if (equalities_ > 0) {
    list_loops(setting.world, data_, q, v);
    int j = 0;
    for (const Equality& e : setting.world.equalities()) {
      const int count = count_rows(e.kind), shifts = count_shifts(e.kind);
      for (int row = 0; row < count; ++row, ++j) {
        add(loops_.J_b, j, 0);
        if (row != 0 && row != shifts) first.back() = first[m - 2];
        gaps[m - 1] = loops_.b[j];  // over a second: all of it
      }
    }
  }
  transposed.resize(p.velocities(), m);
  speeds.resize(m);
  gaps.resize(m);
}

}  // namespace stiction
