#include "stiction/assemble/assemble.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/assemble/overlap_filter.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/base/ranges.hpp"
#include "stiction/model/cut_joints.hpp"

namespace stiction {

namespace {

using Eigen::Ref;
using Eigen::VectorXd;

void add_damping(const World& world, const AssembleOptions& options, ContactProblem& p) {
  for (const Joint& joint : world.joints()) {
    const double damping = options.damping_share * joint.damping + options.spring_ahead * options.dt * joint.stiffness;
    if (damping == 0.0) continue;
    for (int j = joint.v; j < joint.v + joint.nv; ++j) {
      const int local = j - p.M.offset(joint.block);
      p.M.block(joint.block)(local, local) += options.dt * damping;
    }
  }
}

void add_body_rows(const World& world, const WorldData& data, const ContactPoint& c, const Eigen::Matrix3d& R_WC, int body, double sign,
                   BlockRows& J) {
  if (body < 0) return;
  const int block = world.bodies()[body].block;
  if (block < 0) return;
  const int g = J.groups() - 1;
  for (int e = J.entry_begin(g); e < J.entry_end(g); ++e) {
    if (J.entry_block(e) == block) return add_contact_rows(world, data, body, c.p_WC, R_WC, sign, J.entry(e));
  }
  add_contact_rows(world, data, body, c.p_WC, R_WC, sign, J.add_entry(block));
}

void assemble_contacts(const World& world, const WorldData& data, std::span<const ContactPoint> contacts, ContactProblem& p) {
  const Eigen::Index n = static_cast<Eigen::Index>(contacts.size());
  p.J.reset(3, world.block_sizes());
  p.mu.resize(n);
  p.restitution.resize(n);
  p.gap.resize(n);
  p.ids.clear();
  if (std::ranges::find(contacts, 0u, &ContactPoint::id) == contacts.end()) {
    for (const ContactPoint& c : contacts) p.ids.push_back(c.id);
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    const ContactPoint& c = contacts[i];
    const Eigen::Matrix3d R_WC = c.R_WC();
    p.J.add_group();
    add_body_rows(world, data, c, R_WC, c.body_a, 1.0, p.J);
    add_body_rows(world, data, c, R_WC, c.body_b, -1.0, p.J);
    p.mu[i] = c.mu;
    p.restitution[i] = c.restitution;
    p.gap[i] = c.gap;
  }
}

void apply(const PairMaterial& pair, std::size_t i, ContactProblem& p) {
  const Eigen::Index k = static_cast<Eigen::Index>(i);
  if (pair.mu) p.mu[k] = *pair.mu;
  if (pair.restitution) p.restitution[k] = *pair.restitution;
  if (pair.law) p.laws[i] = *pair.law;
  if (pair.material) p.material[i] = *pair.material;
}

// Laws and materials of the contacts; both stay empty where nobody names any.
void assemble_materials(std::span<const ContactPoint> contacts, const AssembleOptions& options, ContactProblem& p) {
  p.laws.clear();
  p.material.clear();
  const auto any = [&](auto member) {
    return std::ranges::any_of(options.pairs, [&](const PairMaterial& x) { return (x.*member).has_value(); });
  };
  if (any(&PairMaterial::law)) p.laws.assign(contacts.size(), options.law);
  if (options.material || any(&PairMaterial::material)) p.material.assign(contacts.size(), options.material.value_or(ContactMaterial{}));
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    for (const PairMaterial& x : options.pairs) {
      if (x.fits(contacts[i].body_a, contacts[i].body_b)) apply(x, i, p);
    }
  }
  if (options.friction) p.mu.setConstant(*options.friction);
}

enum class JointRow { lower, from_below, upper, from_above, friction };
constexpr std::uint64_t kKinds = 8;                             // room for each joint's rows
constexpr std::uint64_t kEqualities = std::uint64_t{1} << 32U;  // above the names of all joints' rows

std::uint64_t row_id(std::size_t joint, JointRow kind) { return kKinds * joint + static_cast<std::uint64_t>(kind); }

/// Where a joint's rows act: on its coordinate, or on the coordinates on both sides of a cut.
struct JointPlace {
  int block = -1, column = 0;
  const CutJoint* cut = nullptr;
};

struct BoundedRow {
  std::uint64_t id;
  JointPlace place;
  double sign, b, lo, hi;
  RowKind kind;
};

/// What rows of joints are made from, and where they go.
struct JointRows {
  const World& world;
  const WorldData& data;
  ContactProblem& p;
  Eigen::Index& m;
};

void add_side(const JointRows& rows, const CutJoint& cut, bool child, double sign) {
  const int block = rows.world.bodies()[child ? cut.joint.body : cut.parent].block;
  if (block < 0) return;
  RowMap entry = rows.p.J_b.add_entry(block);
  Eigen::RowVectorXd::MapType row(entry.data(), entry.cols());
  add_cut_row(rows.world, rows.data, cut, child, child ? sign : -sign, row);
}

void add_row(const BoundedRow& row, const JointRows& rows) {
  ContactProblem& p = rows.p;
  p.J_b.add_group();
  if (row.place.cut == nullptr) {
    p.J_b.add_entry(row.place.block)(0, row.place.column) = row.sign;
  } else {
    add_side(rows, *row.place.cut, true, row.sign);
    add_side(rows, *row.place.cut, false, row.sign);
  }
  p.b[rows.m] = row.b;
  p.lo[rows.m] = row.lo;
  p.hi[rows.m] = row.hi;
  p.row_ids.push_back(row.id);
  p.row_kinds.push_back(row.kind);
  ++rows.m;
}

/// The most inertia that a joint moves: with all beyond it held to it.
double inertia_at(const JointPlace& place, const JointRows& rows) {
  if (place.cut == nullptr) return rows.p.M.block(place.block)(place.column, place.column);
  const int block = rows.world.bodies()[place.cut->joint.body].block;
  Eigen::RowVectorXd along = Eigen::RowVectorXd::Zero(rows.p.M.block_size(block));
  add_cut_row(rows.world, rows.data, *place.cut, true, 1.0, along);
  return along.dot(rows.p.M.block(block) * along.transpose());  // the child is its block's root: its motion along the axis is `along`
}

/// What the drives of a joint mean for its return along `sign`: the velocity along it that they hold the joint at, and the most that they
/// press against it (N s).
struct DrivenReturn {
  double held = kInfinity, outward = 0.0;
};

/// A drive that can bring the joint to its velocity, alone and against the known impulses, decides how fast the return is, as long as it is
/// one. Any other presses the joint against its limit, and the return is stronger by that; than a force without a bound nothing is.
DrivenReturn driven_return(const Joint& joint, double sign, double q, double inertia, const ContactProblem& p, const Drives& drives) {
  DrivenReturn out;
  const double h = p.dt;
  for (const VelocityDrive& drive : drives.velocity) {
    if (drive.v != joint.v) continue;
    const double along = sign * drive.velocity, against = h * (sign > 0.0 ? -drive.least : drive.most);
    const double needed = inertia * (drive.velocity - p.v[drive.v]) - p.impulse[drive.v];
    const bool can = against > 0.0 && needed >= h * drive.least && needed <= h * drive.most;
    if (against == kInfinity || (along >= 0.0 && can)) {
      out.held = along;
    } else {
      out.outward += against;
    }
  }
  for (const Servo& servo : drives.servos) {
    if (servo.v != joint.v) continue;
    const double torque = servo.kp * (servo.position - q) + servo.kd * servo.velocity;
    out.outward += h * std::clamp(-sign * torque, 0.0, servo.limit);
  }
  return out;
}

constexpr double kBeyond = 1e-6;  // rad or m: what certified steps drift past a limit stays below it

/// One side of a joint's range, `distance` away along `sign`; closer than rest_gap(h) (rad or m) it is there, as contacts are: what it
/// holds together with contacts would else open by rounding. M_jj v is the most that it takes to bring the joint alone to speed v.
void add_limit(std::uint64_t id, const JointPlace& place, const Joint& joint, double sign, double distance, const AssembleOptions& options,
               const JointRows& rows) {
  const double h = rows.p.dt;
  add_row({id, place, sign, distance > rest_gap(h) ? -distance / h : 0.0, 0.0, kInfinity, RowKind::limit}, rows);
  if (distance >= -kBeyond) return;
  const double q = sign > 0.0 ? joint.lower + distance : joint.upper - distance, inertia = inertia_at(place, rows);
  const DrivenReturn driven = place.cut != nullptr ? DrivenReturn{} : driven_return(joint, sign, q, inertia, rows.p, options.drives);
  const double back = std::min({-distance / h, kClosing, driven.held});
  add_row({id + 1, place, sign, back, 0.0, inertia * kClosing + driven.outward, RowKind::limit}, rows);
}

/// Rows of joint number k (cut ones behind the others) at its position and rate.
void add_joint(std::size_t k, const Joint& joint, const JointPlace& place, double q, double v, const AssembleOptions& options,
               const JointRows& rows) {
  const auto id = [&](JointRow kind) { return row_id(k, kind); };
  const double reach = options.limit_reach + 2.0 * options.dt * std::abs(v);
  if (options.joint_limits) {
    const double below = q - joint.lower, above = joint.upper - q;
    if (below < reach) add_limit(id(JointRow::lower), place, joint, 1.0, below, options, rows);
    if (above < reach) add_limit(id(JointRow::upper), place, joint, -1.0, above, options, rows);
  }
  const double friction = options.dt * joint.dry_friction;
  if (options.dry_friction && friction > 0.0)
    add_row({id(JointRow::friction), place, 1.0, 0.0, -friction, friction, RowKind::friction}, rows);
}

void assemble_joint_rows(const World& world, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v, const AssembleOptions& options,
                         const WorldData& data, ContactProblem& p) {
  p.J_b.reset(1, world.block_sizes());
  p.row_kinds.clear();
  const std::span<const Joint> joints = world.joints();
  const Eigen::Index most =
      4 * (std::ssize(joints) + std::ssize(world.cuts())) + most_drive_rows(options.drives) + count_equality_rows(world);
  p.b.resize(most);
  p.lo.resize(most);
  p.hi.resize(most);
  p.row_ids.clear();
  if (has_compliance(options.drives)) {
    p.row_compliance.setZero(most);
  } else {
    p.row_compliance.resize(0);
  }
  Eigen::Index m = 0;
  const JointRows rows{world, data, p, m};
  for (std::size_t k = 0; k < joints.size(); ++k) {
    const Joint& joint = joints[k];
    if (joint.nv == 1) add_joint(k, joint, {joint.block, joint.v - p.M.offset(joint.block)}, q[joint.q], v[joint.v], options, rows);
  }
  for (std::size_t c = 0; c < world.cuts().size(); ++c) {
    const CutJoint& cut = world.cuts()[c];
    if (cut.joint.nv != 1) continue;
    add_joint(joints.size() + c, cut.joint, {.cut = &cut}, cut_position(world, data, cut), cut_rate(world, data, data.V_WB, cut), options,
              rows);
  }
  add_drive_rows(world, options.drives, q, options.spring_ahead, p, m);
  add_equality_rows(world, data, q, v, options.loop_recovery, p, m);
  for (std::uint64_t k = kEqualities; std::ssize(p.row_ids) < m; ++k) p.row_ids.push_back(k);
  p.b.resize(m);
  p.lo.resize(m);
  p.hi.resize(m);
  if (p.row_compliance.size() > 0) p.row_compliance.resize(m);
}

/// Geometries that never collide with each other share the number of their kinematic tree.
int self_collision_group(const World& world, const CollisionGeometry& g) {
  if (g.link < 0) return -1;
  const Link& link = world.links()[g.link];
  return world.robots()[link.robot].self_collision ? -1 : link.tree;
}

double pair_restitution(const CollisionScene& scene, const DeclaredPair& pair) {
  const auto of = [&](int g) { return scene.geometries()[g].restitution; };
  return std::max(of(pair.a), of(pair.b));
}

CollisionScene unfiltered_scene(const World& world, double friction, std::span<const double> restitution) {
  std::vector<SceneGeometry> geometries;
  for (const CollisionGeometry& g : world.geometries()) {
    SceneGeometry out;
    out.name = g.name;
    out.body = g.body;
    out.placement = g.placement;
    out.shape = g.shape;
    out.friction = g.friction.value_or(friction);
    out.patches = g.patches;
    out.type = g.type;
    out.mask = g.mask;
    out.frictionless = g.frictionless;
    out.group = self_collision_group(world, g);
    if (!restitution.empty()) out.restitution = restitution[g.body];
    out.fixed = world.bodies()[g.body].block < 0;
    geometries.push_back(std::move(out));
  }
  CollisionScene scene(std::move(geometries));
  for (const auto& [a, b] : world.excluded_geometries()) scene.disable_geometries(a, b);
  for (const DeclaredPair& pair : world.declared_pairs()) {
    scene.declare_pair(pair.a, pair.b);
    if (pair.friction) scene.set_pair_material(pair.a, pair.b, *pair.friction, pair_restitution(scene, pair));
  }
  return scene;
}

}  // namespace

namespace {

void validate_pair(const PairMaterial& pair, int bodies, const std::string& name) {
  const auto require_body = [&](const char* member, int body, bool any) {
    if ((body >= -1 && body < bodies) || (any && body == kAnyBody)) return;
    throw InvalidArgument(fmt::format("{}.{}", name, member),
                          fmt::format("a body in [0, {}), -1 for the world{}", bodies, any ? ", or kAnyBody" : ""),
                          fmt::format("{}", body));
  };
  require_body("body_a", pair.body_a, false);
  require_body("body_b", pair.body_b, true);
  if (pair.mu) require_friction(name + ".mu", *pair.mu);
  if (pair.restitution) require_share(name + ".restitution", *pair.restitution);
  if (pair.law) require_law(name + ".law", *pair.law);
  if (pair.material) validate(*pair.material, name + ".material");
}

}  // namespace

void validate(const World& world, const AssembleOptions& options) {
  require_positive("assemble.dt", options.dt);
  if (options.friction) require_friction("assemble.friction", *options.friction);
  if (options.material) validate(*options.material, "assemble.material");
  for (std::size_t i = 0; i < options.pairs.size(); ++i)
    validate_pair(options.pairs[i], static_cast<int>(world.bodies().size()), fmt::format("assemble.pairs[{}]", i));
  require_law("assemble.law", options.law);
  if (!(options.limit_reach >= 0.0))
    throw InvalidArgument("assemble.limit_reach", "a number >= 0 or infinity", fmt::format("{}", options.limit_reach));
  require_share("assemble.spring_ahead", options.spring_ahead);
  require_share("assemble.damping_share", options.damping_share);
  require_share("assemble.loop_recovery", options.loop_recovery);
}

CollisionScene make_scene(const World& world, double friction, std::span<const double> restitution) {
  if (!restitution.empty()) {
    require_size("restitution", static_cast<Eigen::Index>(restitution.size()), static_cast<Eigen::Index>(world.bodies().size()));
  }
  CollisionScene scene = unfiltered_scene(world, friction, restitution);
  if (world.cuts().empty()) {
    filter_overlaps(world, find_overlaps(world, scene), scene);
  } else {  // whose random configurations would tear the robot apart
    const World uncut = world.uncut();
    CollisionScene whole = unfiltered_scene(uncut, friction, {});
    filter_overlaps(world, find_overlaps(uncut, whole), scene);
  }
  return scene;
}

void assemble_impulse(const World& world, const WorldData& data, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v,
                      const Ref<const VectorXd>& tau, const AssembleOptions& options, ContactProblem& p) {
  p.impulse = p.dt * (tau - data.bias);
  add_drive_impulse(world, options.drives, q, v, options.spring_ahead, p);
  for (const Joint& joint : world.joints()) {
    const double damping = joint.damping + options.spring_ahead * p.dt * joint.stiffness;
    if (damping != 0.0) p.impulse.segment(joint.v, joint.nv) -= p.dt * damping * v.segment(joint.v, joint.nv);
  }
}

void assemble(const World& world, const WorldData& data, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v,
              const Ref<const VectorXd>& tau, std::span<const ContactPoint> contacts, const AssembleOptions& options, ContactProblem& p) {
  require_positive("dt", options.dt);
  require_size("q", q.size(), world.nq());
  require_size("v", v.size(), world.nv());
  require_size("tau", tau.size(), world.nv());
  require_finite("tau", tau);
  p.dt = options.dt;
  p.M = data.M;
  p.v = v;
  add_damping(world, options, p);
  add_drive_inertia(world, options.drives, options.spring_ahead, options.damping_share, p);
  assemble_impulse(world, data, q, v, tau, options, p);
  assemble_contacts(world, data, contacts, p);
  assemble_materials(contacts, options, p);
  p.prescribed.clear();
  p.v_prescribed.resize(0);
  assemble_joint_rows(world, q, v, options, data, p);
}

std::uint64_t limit_row_id(std::size_t joint, double sign) { return row_id(joint, sign > 0.0 ? JointRow::lower : JointRow::upper); }
std::uint64_t friction_row_id(std::size_t joint) { return row_id(joint, JointRow::friction); }

}  // namespace stiction
