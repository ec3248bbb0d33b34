#include "stiction/assemble/assemble.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/assemble/overlap_filter.hpp"
#include "stiction/base/errors.hpp"

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
  const int block = world.bodies()[static_cast<std::size_t>(body)].block;
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
    const ContactPoint& c = contacts[static_cast<std::size_t>(i)];
    const Eigen::Matrix3d R_WC = c.R_WC();
    p.J.add_group();
    add_body_rows(world, data, c, R_WC, c.body_a, 1.0, p.J);
    add_body_rows(world, data, c, R_WC, c.body_b, -1.0, p.J);
    p.mu[i] = c.mu;
    p.restitution[i] = c.restitution;
    p.gap[i] = c.gap;
  }
}

bool fits(const PairMaterial& pair, int a, int b) { return pair.body_a == a && (pair.body_b == b || pair.body_b == kAnyBody); }

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
    const int a = contacts[i].body_a, b = contacts[i].body_b;
    for (const PairMaterial& x : options.pairs) {
      if (fits(x, a, b) || fits(x, b, a)) apply(x, i, p);
    }
  }
  if (options.friction) p.mu.setConstant(*options.friction);
}

enum class JointRow { lower, from_below, upper, from_above, friction };
constexpr std::uint64_t kKinds = 8;                             // room for each joint's rows
constexpr std::uint64_t kEqualities = std::uint64_t{1} << 32U;  // above the names of all joints' rows

struct BoundedRow {
  std::uint64_t id;
  int block, column;
  double sign, b, lo, hi;
  RowKind kind;
};

void add_row(const BoundedRow& row, ContactProblem& p, Eigen::Index& m) {
  p.J_b.add_group();
  p.J_b.add_entry(row.block)(0, row.column) = row.sign;
  p.b[m] = row.b;
  p.lo[m] = row.lo;
  p.hi[m] = row.hi;
  p.row_ids.push_back(row.id);
  p.row_kinds.push_back(row.kind);
  ++m;
}

constexpr double kBeyond = 1e-6;  // rad or m: what certified steps drift past a limit stays below it

/// One side of a joint's range, `distance` away along `sign`; closer than rest_gap(h) (rad or m) it is there, as contacts are: what it
/// holds together with contacts would else open by rounding. M_jj v is the most that it takes to bring the joint alone to speed v.
void add_limit(std::uint64_t id, const Joint& joint, double sign, double distance, double h, ContactProblem& p, Eigen::Index& m) {
  const int column = joint.v - p.M.offset(joint.block);
  add_row({id, joint.block, column, sign, distance > rest_gap(h) ? -distance / h : 0.0, 0.0, kInfinity, RowKind::limit}, p, m);
  if (distance >= -kBeyond) return;
  const double inertia = p.M.block(joint.block)(column, column);
  add_row({id + 1, joint.block, column, sign, std::min(-distance / h, kClosing), 0.0, inertia * kClosing, RowKind::limit}, p, m);
}

void assemble_joint_rows(const World& world, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v, const AssembleOptions& options,
                         const WorldData& data, ContactProblem& p) {
  const double h = options.dt;
  p.J_b.reset(1, world.block_sizes());
  p.row_kinds.clear();
  const Eigen::Index most = 4 * std::ssize(world.joints()) + std::ssize(options.drives.velocity) + count_equality_rows(world);
  p.b.resize(most);
  p.lo.resize(most);
  p.hi.resize(most);
  p.row_ids.clear();
  Eigen::Index m = 0;
  for (std::size_t k = 0; k < world.joints().size(); ++k) {
    const Joint& joint = world.joints()[k];
    if (joint.nv != 1) continue;
    const auto id = [&](JointRow kind) { return kKinds * k + static_cast<std::uint64_t>(kind); };
    const int column = joint.v - p.M.offset(joint.block);
    const double reach = options.limit_reach + 2.0 * h * std::abs(v[joint.v]);
    if (options.joint_limits) {
      const double below = q[joint.q] - joint.lower, above = joint.upper - q[joint.q];
      if (below < reach) add_limit(id(JointRow::lower), joint, 1.0, below, h, p, m);
      if (above < reach) add_limit(id(JointRow::upper), joint, -1.0, above, h, p, m);
    }
    const double friction = h * joint.dry_friction;
    if (options.dry_friction && friction > 0.0)
      add_row({id(JointRow::friction), joint.block, column, 1.0, 0.0, -friction, friction, RowKind::friction}, p, m);
  }
  for (const VelocityDrive& drive : options.drives.velocity) {
    const int block = joint_at(world, drive.v)->block;
    add_row(
        {drive_row_id(drive.v), block, drive.v - p.M.offset(block), 1.0, drive.velocity, h * drive.least, h * drive.most, RowKind::motor},
        p, m);
  }
  add_equality_rows(world, data, q, v, p, m);
  for (std::uint64_t k = kEqualities; std::ssize(p.row_ids) < m; ++k) p.row_ids.push_back(k);
  p.b.resize(m);
  p.lo.resize(m);
  p.hi.resize(m);
}

/// Geometries that never collide with each other share the number of their kinematic tree.
int self_collision_group(const World& world, const CollisionGeometry& g) {
  if (g.link < 0) return -1;
  const Link& link = world.links()[static_cast<std::size_t>(g.link)];
  return world.robots()[static_cast<std::size_t>(link.robot)].self_collision ? -1 : link.tree;
}

double pair_restitution(const CollisionScene& scene, const DeclaredPair& pair) {
  const auto of = [&](int g) { return scene.geometries()[static_cast<std::size_t>(g)].restitution; };
  return std::max(of(pair.a), of(pair.b));
}

}  // namespace

CollisionScene make_scene(const World& world, double friction, std::span<const double> restitution) {
  if (!restitution.empty()) {
    require_size("restitution", static_cast<Eigen::Index>(restitution.size()), static_cast<Eigen::Index>(world.bodies().size()));
  }
  std::vector<SceneGeometry> geometries;
  for (const CollisionGeometry& g : world.geometries()) {
    SceneGeometry out;
    out.name = g.name;
    out.body = g.body;
    out.placement = g.placement;
    out.shape = g.shape;
    out.friction = g.friction.value_or(friction);
    out.type = g.type;
    out.mask = g.mask;
    out.frictionless = g.frictionless;
    out.group = self_collision_group(world, g);
    if (!restitution.empty()) out.restitution = restitution[static_cast<std::size_t>(g.body)];
    out.fixed = world.bodies()[static_cast<std::size_t>(g.body)].block < 0;
    geometries.push_back(std::move(out));
  }
  CollisionScene scene(std::move(geometries));
  for (const auto& [a, b] : world.excluded_geometries()) scene.disable_geometries(a, b);
  for (const DeclaredPair& pair : world.declared_pairs()) {
    scene.declare_pair(pair.a, pair.b);
    if (pair.friction) scene.set_pair_material(pair.a, pair.b, *pair.friction, pair_restitution(scene, pair));
  }
  filter_overlaps(world, scene);
  return scene;
}

void assemble_impulse(const World& world, const WorldData& data, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v,
                      const Ref<const VectorXd>& tau, const AssembleOptions& options, ContactProblem& p) {
  p.impulse = p.dt * (tau - data.bias);
  add_servo_impulse(world, options.drives, q, v, options.spring_ahead, p);
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
  add_servo_inertia(world, options.drives, options.spring_ahead, p);
  assemble_impulse(world, data, q, v, tau, options, p);
  assemble_contacts(world, data, contacts, p);
  assemble_materials(contacts, options, p);
  p.prescribed.clear();
  p.v_prescribed.resize(0);
  assemble_joint_rows(world, q, v, options, data, p);
}

}  // namespace stiction
