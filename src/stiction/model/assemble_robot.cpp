#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/world_impl.hpp"

namespace stiction {

namespace {

int positions(JointKind kind) { return kind == JointKind::free ? 7 : kind == JointKind::spherical ? 4 : 1; }
int velocities(JointKind kind) { return kind == JointKind::free ? 6 : kind == JointKind::spherical ? 3 : 1; }

double checked(const std::string& joint, const char* member, double value) {
  if (!(value >= 0.0)) {
    throw InvalidArgument(fmt::format("options.joints['{}'].{}", joint, member), "a number >= 0", fmt::format("{}", value));
  }
  return value;
}

struct Assembler {
  const RobotDescription& description;
  const RobotOptions& options;
  RobotParts parts{};
  std::vector<int> first_link{};  ///< per body, its link nearest the root
  std::vector<char> has_mass{};   ///< per plan, its subtree has mass or armature

  void run() {
    parts.robot.name = options.name.empty() ? description.name : options.name;
    parts.robot.file = description.file;
    parts.robot.warnings = description.warnings;
    parts.robot.self_collision = options.self_collision;
    parts.robot.filter_overlaps = options.filter_overlaps;
    check_names();
    for (std::size_t i = 0; i < description.links.size(); ++i) add_link(static_cast<int>(i));
    finish_bodies();
    require_massive_subtrees();
    apply_keyframe();
    apply_settings();
    select_actuated();
    choose_pairs(description, parts);
    add_equalities();
    warn_of_limits();
    parts.robot.gravity = description.gravity;
    parts.robot.timestep = description.timestep;
    parts.robot.bodies = static_cast<int>(parts.bodies.size());
    parts.robot.joints = static_cast<int>(parts.joints.size());
    parts.robot.links = static_cast<int>(parts.links.size());
    parts.robot.block = parts.joints.empty() ? -1 : 0;
  }

  void check_names() const {
    std::set<std::string> links, joints;
    for (const LinkDescription& link : description.links) {
      if (!links.insert(link.name).second) throw FileError(description.file, link.place, "second link of this name");
      if (!link.joint.fixed && !joints.insert(link.joint.name).second) {
        throw FileError(description.file, link.place, fmt::format("second joint of the name '{}'", link.joint.name));
      }
    }
  }

  /// The joint above a link, as the chosen base has it.
  JointDescription joint_above(int i) const {
    const LinkDescription& link = description.links[i];
    JointDescription joint = link.joint;
    const bool is_root = link.parent < 0;
    if (is_root && is_floating_root()) {
      joint = {};
      joint.name = "floating_base";
      joint.fixed = false;
      joint.kind = JointKind::free;
    } else if (options.base == BaseKind::fixed && !joint.fixed && joint.kind == JointKind::free && link.parent == 0) {
      joint.fixed = true;
      joint.X_PJ = joint.start;
    }
    return joint;
  }

  /// A URDF's root link may float; an MJCF's root is its world, and what floats there says so itself.
  bool is_floating_root() const { return options.base == BaseKind::floating && description.root_may_float; }

  void add_link(int i) {
    const LinkDescription& link = description.links[i];
    const JointDescription joint = joint_above(i);
    Link made{link.name, 0, 0, -1, Eigen::Isometry3d::Identity()};
    if (link.parent < 0) {
      made.body = joint.fixed ? add_body(i, nullptr, -1, options.pose) : add_body(i, &joint, -1, options.pose);
    } else {
      const Link& parent = parts.links[link.parent];
      if (joint.fixed) {
        made.body = parent.body;
        made.X_BL = parent.X_BL * joint.X_PJ * joint.X_JL;
      } else {
        made.body = add_body(i, &joint, parent.body, parent.X_BL * joint.X_PJ);
        made.X_BL = joint.X_JL;
      }
    }
    add_inertial(made, link);
    for (const GeometryDescription& g : link.geometries) {
      parts.geometries.push_back({g.name, made.body, made.X_BL * g.X_LG, g.shape, g.friction, {}, g.type, g.mask, g.frictionless, i});
    }
    parts.links.push_back(std::move(made));
  }

  /// A static body at X in the world (joint null), or one moved by the joint at X in the parent body.
  int add_body(int link, const JointDescription* joint, int parent, const Eigen::Isometry3d& X) {
    const int self = static_cast<int>(parts.bodies.size());
    parts.bodies.push_back({description.links[link].name, 0, joint == nullptr ? -1 : 0});
    parts.static_pose.push_back(joint == nullptr ? X : Eigen::Isometry3d::Identity());
    parts.plan_of_body.push_back(joint == nullptr ? -1 : static_cast<int>(parts.plans.size()));
    first_link.push_back(link);
    if (joint != nullptr) add_joint(*joint, self, parent, X);
    return self;
  }

  void add_joint(const JointDescription& d, int body, int parent, const Eigen::Isometry3d& X) {
    JointPlan plan;
    plan.kind = d.kind;
    plan.parent = parent < 0 ? -1 : parts.plan_of_body[parent];
    plan.placement = plan.parent >= 0 || parent < 0 ? X : parts.static_pose[parent] * X;
    plan.axis = d.axis;
    plan.place = description.links[first_link[body]].place;
    Eigen::Isometry3d start = d.start;
    if (d.kind == JointKind::free && plan.parent < 0) {  // its coordinates are those of the body in the world
      start = plan.placement * d.start;
      plan.placement.setIdentity();
      parts.robot.floating = true;
    }
    parts.plans.push_back(plan);
    add_coordinates(d, body, start);
  }

  void add_coordinates(const JointDescription& d, int body, const Eigen::Isometry3d& start) {
    Joint joint{d.name, d.kind, 0, 0, body};
    if (!parts.joints.empty()) {
      joint.q = parts.joints.back().q + parts.joints.back().nq;
      joint.v = parts.joints.back().v + parts.joints.back().nv;
    }
    joint.nq = positions(d.kind);
    joint.nv = velocities(d.kind);
    joint.lower = d.lower;
    joint.upper = d.upper;
    joint.velocity_limit = d.velocity_limit;
    joint.effort_limit = d.effort_limit;
    joint.dry_friction = d.dry_friction;
    joint.damping = d.damping;
    joint.armature = d.armature;
    joint.stiffness = d.stiffness;
    joint.spring_reference = d.spring_reference;
    joint.actuated = d.actuated && joint.nv == 1;
    parts.joints.push_back(joint);
    parts.q0.conservativeResize(joint.q + joint.nq);
    if (joint.nv == 1) {
      parts.q0[joint.q] = d.reference ? *d.reference : std::clamp(0.0, d.lower, d.upper);  // a URDF names no start: within the limits
    } else {
      if (d.kind == JointKind::free) parts.q0.segment<3>(joint.q) = start.translation();
      const Eigen::Quaterniond r(start.linear());
      parts.q0.segment<4>(joint.q + joint.nq - 4) = r.normalized().coeffs();
    }
  }

  void add_inertial(const Link& made, const LinkDescription& link) {
    parts.robot.mass += link.inertial.mass;
    const int plan = parts.plan_of_body[made.body];
    if (plan < 0) return;
    Inertial& body = parts.plans[plan].inertial;
    const Inertial added = transformed(made.X_BL, link.inertial);
    body = body + added;
    if (link.gravity_compensation == 0.0) return;
    Body& lifted = parts.bodies[made.body];
    const double share = link.gravity_compensation * added.mass, mass = lifted.lifted_mass + share;
    if (mass != 0.0) lifted.lifted_com = (lifted.lifted_mass * lifted.lifted_com + share * added.com) / mass;
    lifted.lifted_mass = mass;
  }

  void finish_bodies() {
    for (std::size_t b = 0; b < parts.bodies.size(); ++b) {
      if (parts.plan_of_body[b] < 0) continue;
      const JointPlan& plan = parts.plans[parts.plan_of_body[b]];
      parts.bodies[b].mass = plan.inertial.mass;
      parts.bodies[b].com = plan.inertial.com;
      parts.bodies[b].inertia = plan.inertial.inertia;
      const std::string defect = inertia_defect(plan.inertial);
      if (defect.empty()) continue;
      if (!options.allow_impossible_inertia) throw FileError(description.file, plan.place, defect);
      parts.robot.warnings.push_back(fmt::format("{}: {}: {}", description.file, plan.place, defect));
    }
  }

  void require_massive_subtrees() {
    has_mass.assign(parts.plans.size(), 0);
    for (std::size_t k = parts.plans.size(); k-- > 0;) {
      const JointPlan& plan = parts.plans[k];
      const bool one_dof = parts.joints[k].nv == 1;
      const double armature = setting(parts.joints[k].name, &JointSettings::armature).value_or(parts.joints[k].armature);
      if (plan.inertial.mass > 0.0) has_mass[k] = 1;
      if (!has_mass[k] && !(one_dof && armature > 0.0)) {
        throw FileError(
            description.file, plan.place,
            fmt::format("mass is zero, but joint '{}' moves this link: give it a mass, or fix the joint", parts.joints[k].name));
      }
      if (has_mass[k] && plan.parent >= 0) has_mass[plan.parent] = 1;
    }
  }

  std::optional<double> setting(const std::string& joint, std::optional<double> JointSettings::*member) const {
    const auto at = options.joints.find(joint);
    return at == options.joints.end() ? std::nullopt : at->second.*member;
  }

  Joint& joint_named(const std::string& name, const char* argument) {
    const auto at = std::find_if(parts.joints.begin(), parts.joints.end(), [&](const Joint& j) { return j.name == name; });
    if (at == parts.joints.end()) {
      throw InvalidArgument(argument, fmt::format("names of moving joints of robot '{}'", parts.robot.name), fmt::format("'{}'", name));
    }
    return *at;
  }

  void apply_settings() {
    for (const auto& [name, s] : options.joints) {
      Joint& joint = joint_named(name, "options.joints");
      if (s.effort_limit) joint.effort_limit = checked(name, "effort_limit", *s.effort_limit);
      if (s.velocity_limit) joint.velocity_limit = checked(name, "velocity_limit", *s.velocity_limit);
      if (s.dry_friction) joint.dry_friction = checked(name, "dry_friction", *s.dry_friction);
      if (joint.nv != 1 && joint.dry_friction > 0.0) throw not_one_coordinate(joint, "dry_friction");
      if (s.damping) joint.damping = checked(name, "damping", *s.damping);
      if (s.armature) joint.armature = checked(name, "armature", *s.armature);
      apply_spring(joint, s);
      if (s.position) set_position(joint, *s.position);
    }
    for (std::size_t k = 0; k < parts.plans.size(); ++k) {
      const Joint& joint = parts.joints[k];
      const auto refuse_infinite = [&](const char* what, double value) {
        if (std::isinf(value)) throw InvalidArgument(fmt::format("{} of joint '{}'", what, joint.name), "a finite number >= 0", "inf");
      };
      refuse_infinite("armature", joint.armature);
      refuse_infinite("damping", joint.damping);
      parts.plans[k].armature = joint.armature;
    }
  }

  static InvalidArgument not_one_coordinate(const Joint& joint, const char* setting) {
    return {fmt::format("options.joints['{}'].{}", joint.name, setting), "a joint with one coordinate", std::string(to_string(joint.kind))};
  }

  void apply_spring(Joint& joint, const JointSettings& s) const {
    if (!s.stiffness && !s.spring_reference) return;
    if (joint.nv != 1) throw not_one_coordinate(joint, "stiffness");
    if (s.stiffness) joint.stiffness = checked(joint.name, "stiffness", *s.stiffness);
    if (s.spring_reference) joint.spring_reference = *s.spring_reference;
    if (!std::isfinite(joint.stiffness) || !std::isfinite(joint.spring_reference)) {
      throw InvalidArgument(fmt::format("options.joints['{}'].stiffness", joint.name), "a finite number >= 0 and a finite spring_reference",
                            "another number");
    }
  }

  void apply_keyframe() {
    if (options.keyframe.empty()) return;
    const auto key = std::ranges::find(description.keyframes, options.keyframe, &KeyframeDescription::name);
    if (key != description.keyframes.end()) return apply_key(*key);
    const auto pose = std::ranges::find(description.poses, options.keyframe, &PoseDescription::name);
    if (pose != description.poses.end()) return apply_pose(*pose);
    std::string known;
    for (const KeyframeDescription& k : description.keyframes) known += " '" + k.name + "'";
    for (const PoseDescription& p : description.poses) known += " '" + p.name + "'";
    throw InvalidArgument("options.keyframe",
                          fmt::format("a <key> of {} or a <group_state> of its SRDF:{}", description.file, known.empty() ? " none" : known),
                          fmt::format("'{}'", options.keyframe));
  }

  /// An SRDF may name joints of other variants of the robot.
  void apply_pose(const PoseDescription& pose) {
    for (const auto& [name, position] : pose.positions) {
      const int j = joint_index(name);
      if (j < 0 || parts.joints[j].nv != 1) continue;
      parts.q0[parts.joints[j].q] = position;
    }
  }

  /// Positions of the file's joints in turn; those of a base that is fixed are passed over.
  void apply_key(const KeyframeDescription& key) {
    std::size_t next = 0, joint = 0;
    for (const LinkDescription& link : description.links) {
      if (link.joint.fixed) continue;
      const auto count = static_cast<std::size_t>(positions(link.joint.kind));
      if (joint < parts.joints.size() && parts.joints[joint].name == link.joint.name) set_key(parts.joints[joint++], &key.q[next]);
      next += count;
    }
  }

  void set_key(const Joint& joint, const double* q) {
    auto own = parts.q0.segment(joint.q, joint.nq);
    own = Eigen::Map<const Eigen::VectorXd>(q, joint.nq);
    if (joint.kind != JointKind::free) return;
    own.head<3>() = options.pose * Eigen::Vector3d(own.head<3>());
    const Eigen::Quaterniond turned = Eigen::Quaterniond(options.pose.linear()) * Eigen::Quaterniond(Eigen::Vector4d(own.tail<4>()));
    own.tail<4>() = turned.normalized().coeffs();
  }

  void set_position(const Joint& joint, double position) {
    const std::string argument = fmt::format("options.joints['{}'].position", joint.name);
    if (joint.nv != 1) throw InvalidArgument(argument, "a joint with one coordinate", std::string(to_string(joint.kind)));
    if (!(position >= joint.lower && position <= joint.upper) || std::isinf(position)) {
      throw InvalidArgument(argument, fmt::format("a number in [{}, {}]", joint.lower, joint.upper), fmt::format("{}", position));
    }
    parts.q0[joint.q] = position;
  }

  void select_actuated() {
    if (!options.actuated) {
      for (Joint& joint : parts.joints) {
        if (joint.effort_limit == 0.0) joint.actuated = false;
      }
      return;
    }
    for (Joint& joint : parts.joints) joint.actuated = false;
    for (const std::string& name : *options.actuated) {
      Joint& joint = joint_named(name, "options.actuated");
      if (joint.nv != 1) throw InvalidArgument("options.actuated", "joints with one coordinate", fmt::format("'{}'", name));
      joint.actuated = true;
    }
  }

  /// A start that the file puts outside its own limits is taken as it is; the steps drive the joint back (assemble.hpp).
  void warn_of_limits() {
    for (std::size_t k = 0; k < parts.joints.size(); ++k) {
      const Joint& joint = parts.joints[k];
      if (joint.nv != 1) continue;
      const double q = parts.q0[joint.q];
      if (q >= joint.lower && q <= joint.upper) continue;
      parts.robot.warnings.push_back(fmt::format("{}: {}: joint '{}' starts at {:.6g}, outside its limits [{:.6g}, {:.6g}]",
                                                 description.file, parts.plans[k].place, joint.name, q, joint.lower, joint.upper));
    }
  }

  int joint_index(const std::string& name) const {
    for (std::size_t j = 0; j < parts.joints.size(); ++j) {
      if (parts.joints[j].name == name) return static_cast<int>(j);
    }
    return -1;
  }

  void add_equalities() {
    for (const EqualityDescription& d : description.equalities) {
      Equality e = d.equality;
      if (e.kind == EqualityKind::joint) {
        e.joint_a = joint_index(d.joint_a);
        e.joint_b = joint_index(d.joint_b);
      } else {
        const Link &a = parts.links[d.link_a], &b = parts.links[d.link_b];
        e.body_a = a.body;
        e.body_b = b.body;
        e.X_AF = a.X_BL * e.X_AF;
        e.X_BF = b.X_BL * e.X_BF;
      }
      parts.equalities.push_back(e);
    }
    follow_all();
  }

  /// Leaders before followers, whatever the order of the file. Joints that lead each other in a circle follow in that order.
  void follow_all() {
    std::vector<std::vector<const Equality*>> rules(parts.joints.size()), led(parts.joints.size());  // by follower and by leader
    std::vector<int> leaders(parts.joints.size());                                                   // that are not placed yet
    for (const Equality& e : parts.equalities) {
      if (e.kind != EqualityKind::joint) continue;
      rules[e.joint_a].push_back(&e);
      if (e.joint_b < 0 || is_placed(e.joint_a)) continue;
      led[e.joint_b].push_back(&e);
      ++leaders[e.joint_a];
    }
    std::vector<int> ready;
    for (int j = 0; j < static_cast<int>(leaders.size()); ++j) {
      if (leaders[j] == 0) ready.push_back(j);
    }
    for (std::size_t next = 0; next < ready.size(); ++next) {
      for (const Equality* e : rules[ready[next]]) follow(*e);
      for (const Equality* e : led[ready[next]]) {
        if (--leaders[e->joint_a] == 0) ready.push_back(e->joint_a);
      }
    }
    follow_in_circles(leaders);
  }

  void follow_in_circles(const std::vector<int>& leaders) {
    std::string names;
    for (const Equality& e : parts.equalities) {
      if (e.kind != EqualityKind::joint || leaders[e.joint_a] == 0) continue;
      follow(e);
      names += fmt::format(" '{}'", parts.joints[e.joint_a].name);
    }
    if (names.empty()) return;
    parts.robot.warnings.push_back(
        fmt::format("{}: joints that follow each other in a circle start as the order of the file has it:{}", description.file, names));
  }

  bool is_placed(int joint) const {
    const auto at = options.joints.find(parts.joints[joint].name);
    return at != options.joints.end() && at->second.position;
  }

  /// A joint that follows another one starts where that one says, unless the user has placed it.
  void follow(const Equality& e) {
    if (is_placed(e.joint_a)) return;
    const Joint& joint = parts.joints[e.joint_a];
    const double x = e.joint_b < 0 ? 0.0 : parts.q0[parts.joints[e.joint_b].q] - e.reference_b;
    double value = 0.0;
    for (std::size_t k = e.polynomial.size(); k-- > 0;) value = value * x + e.polynomial[k];
    parts.q0[joint.q] = e.reference_a + value;
  }
};

}  // namespace

RobotParts assemble_robot(const RobotDescription& description, const RobotOptions& options) {
  if (options.base == BaseKind::floating && !description.root_may_float) {
    const auto floats = [](const LinkDescription& l) { return !l.joint.fixed && l.joint.kind == JointKind::free; };
    if (std::none_of(description.links.begin(), description.links.end(), floats)) {
      throw FileError(description.file, "", "has no free joint, which an MJCF needs to float");
    }
  }
  Assembler assembler{description, options};
  assembler.run();
  return std::move(assembler.parts);
}

}  // namespace stiction
