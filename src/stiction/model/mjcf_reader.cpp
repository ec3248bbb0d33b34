#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "stiction/base/utf8.hpp"
#include "stiction/model/left_out.hpp"
#include "stiction/model/mjcf_context.hpp"
#include "stiction/model/robot_readers.hpp"

namespace stiction {

namespace {

using Isometry = Eigen::Isometry3d;

Isometry translation(const Eigen::Vector3d& p) {
  Isometry X = Isometry::Identity();
  X.translation() = p;
  return X;
}

class MjcfReader {
 public:
  MjcfReader(const XmlElement& root, XmlDocuments& documents, const RobotOptions& options)
      : root_(root), context_(root, documents, options) {
    const Attribute model = attribute(root, "model");
    robot_.name = model ? printable(model.text) : "robot";
    robot_.file = source_of(root);
    robot_.root_may_float = false;
    robot_.excludes_static_parent = false;
    robot_.skips_empty_parent = false;
    robot_.links.push_back({"world", fmt::format("line {}, worldbody", root.GetLineNum()), -1, {}, {}, {}});
    places_.bodies["world"] = {};
    body_names_.insert("world");
  }

  RobotDescription read() {
    find_paired_geoms();
    find_names(context_.section("worldbody"));
    require_own_names();
    read_content(context_.framed(context_.section("worldbody"), ""), 0);
    if (robot_.links.size() == 1 && robot_.links[0].geometries.empty()) fail(root_, "<worldbody> is missing or empty");
    read_actuators();
    for (const XmlElement* e : context_.section("contact")) read_contact(*e);
    for (const LinkDescription& l : robot_.links) {
      if (!l.joint.fixed && l.joint.kind != JointKind::free && l.joint.kind != JointKind::spherical)
        places_.joints[l.joint.name] = &l.joint;
    }
    for (const XmlElement* e : context_.section("equality")) {
      if (auto equality = read_equality(*e, context_, places_, robot_.warnings)) robot_.equalities.push_back(std::move(*equality));
    }
    for (const XmlElement* e : context_.section("keyframe")) read_key(*e);
    for (const XmlElement* e : context_.children(root_)) {
      if (std::string_view(e->Name()) == "option") read_option(*e);
    }
    if (!gravity_acts_) robot_.gravity = Eigen::Vector3d::Zero();
    apply_mass_settings(context_, bodies_, robot_);
    for (const XmlElement* e : context_.section("tendon")) leave_out(*e, "a tendon");
    const std::vector<std::string> rest = mjcf_left_out(root_, context_, acting_gains_);
    robot_.warnings.insert(robot_.warnings.end(), rest.begin(), rest.end());
    return std::move(robot_);
  }

 private:
  struct BodyInertia {
    Inertial from_geoms;
    std::vector<MjcfMeshMass> meshes;  ///< not yet in it
  };

  void leave_out(const XmlElement& e, std::string_view what) {
    robot_.warnings.push_back(fmt::format("{}: {} (<{}>) is left out", place(e), what, e.Name()));
  }

  LinkDescription& link(int i) { return robot_.links[i]; }

  /// Geoms, sites and bodies inside a body (its link) or the world.
  BodyInertia read_content(const std::vector<MjcfElement>& elements, int self) {
    BodyInertia sum;
    for (const MjcfElement& e : elements) {
      const std::string_view kind = e.element->Name();
      if (self == 0 && (kind == "joint" || kind == "freejoint" || kind == "inertial"))
        fail(*e.element, "the world has none: put it into a body");
      if (kind == "geom") add_geom(e, self, sum);
      if (kind == "body") add_body(e, self);
      if (kind == "site") add_site(e, self);
      if (kind == "replicate" || kind == "attach" || kind == "composite" || kind == "flexcomp") {
        fail(*e.element, fmt::format("<{}> is not supported", kind));
      }
    }
    return sum;
  }

  void add_geom(const MjcfElement& placed, int self, BodyInertia& sum) {
    const auto& [element, X_BF, childclass] = placed;
    const XmlElement& e = *element;
    const char* name = e.Attribute("name");
    MjcfGeom geom = read_geom(e, context_, childclass, X_BF, name != nullptr && paired_.contains(name), robot_.warnings);
    const double group = number_or(context_.find(e, "group", childclass), 0.0);
    if (group >= context_.group_low && group <= context_.group_high) {
      sum.from_geoms = sum.from_geoms + geom.inertial;
      if (geom.mesh_mass) sum.meshes.push_back(*geom.mesh_mass);
    }
    const Attribute type = context_.find(e, "type", childclass);
    const std::string_view kind = type ? type.text : "";
    if (moves(self) && (kind == "plane" || (kind == "hfield" && geom.collides))) fail_attribute(type, "a body that stands still");
    if (!geom.collides) return;
    if (geom.geometry.name.empty())
      geom.geometry.name = made_name(fmt::format("{}_{}", link(self).name, link(self).geometries.size()), geom_names_);
    link(self).geometries.push_back(std::move(geom.geometry));
  }

  bool moves(int i) const {
    while (i > 0 && robot_.links[i].joint.fixed) i = robot_.links[i].parent;
    return i > 0;
  }

  void add_site(const MjcfElement& placed, int self) {
    const auto& [e, X_BF, childclass] = placed;
    const Attribute name = attribute(*e, "name");
    if (name && !context_.find(*e, "fromto", childclass)) places_.sites[name.text] = {self, X_BF * context_.pose(*e, childclass)};
  }

  void add_body(const MjcfElement& placed, int parent) {
    const auto& [element, X_PF, inherited] = placed;
    const XmlElement& e = *element;
    const std::string childclass = context_.class_inside(e, inherited);
    const Attribute named = attribute(e, "name");
    const std::string name = named ? text(named) : made_name(fmt::format("body{}", robot_.links.size()), body_names_);
    const Isometry X_PB = X_PF * context_.pose(e, childclass);
    const std::vector<MjcfElement> elements = context_.framed(context_.children(e), childclass);
    const int self = add_links(e, name, elements, parent, X_PB);
    places_.bodies[name] = {self, places_.bodies.at(link(parent).name).X * X_PB};
    bodies_.push_back(self);
    link(self).gravity_compensation = number_or(attribute(e, "gravcomp"), 0.0);
    const BodyInertia sum = read_content(elements, self);
    link(self).inertial = body_inertia(e, elements, sum, moves(self));
  }

  /// One link per joint: all but the last are massless and carry the joints in turn. Returns the body's own link.
  int add_links(const XmlElement& e, const std::string& name, const std::vector<MjcfElement>& elements, int parent, const Isometry& X_PB) {
    const std::string where = fmt::format("line {}, body '{}'", e.GetLineNum(), name);
    std::vector<MjcfElement> joints;
    for (const MjcfElement& j : elements) {
      const std::string_view kind = j.element->Name();
      if (kind == "joint" || kind == "freejoint") joints.push_back(j);
    }
    if (boolean(attribute(e, "mocap"), false)) robot_.warnings.push_back(fmt::format("{}: mocap body '{}' stands still", place(e), name));
    Isometry X = X_PB;
    Eigen::Vector3d anchor = Eigen::Vector3d::Zero();
    for (std::size_t k = 0; k < joints.size(); ++k) {
      const bool is_last = k + 1 == joints.size();
      const auto& [element, X_BF, childclass] = joints[k];
      JointDescription joint = read_joint(joints[k], fmt::format("{}_joint{}", name, k));
      const Eigen::Vector3d at = X_BF * vector3_or(context_.find(*element, "pos", childclass), Eigen::Vector3d::Zero());
      if (joint.kind == JointKind::free) {
        if (parent != 0 || joints.size() > 1) fail(*element, "a free joint must be the only joint of a body of the world");
        joint.start = X_PB;
      } else {
        joint.X_PJ = X * translation(at - anchor) * joint.X_PJ;
        if (is_last) joint.X_JL = translation(-at);
      }
      const std::string link_name = is_last ? name : made_name(fmt::format("{}:{}", name, joint.name), body_names_);
      robot_.links.push_back({link_name, where, parent, joint, {}, {}, !is_last});
      parent = static_cast<int>(robot_.links.size()) - 1;
      X = Isometry::Identity();
      anchor = at;
    }
    if (joints.empty()) {
      LinkDescription fixed{name, where, parent, {}, {}, {}};
      fixed.joint.X_PJ = X_PB;
      robot_.links.push_back(std::move(fixed));
    }
    return static_cast<int>(robot_.links.size()) - 1;
  }

  JointDescription read_joint(const MjcfElement& placed, const std::string& fallback_name) {
    const XmlElement& e = *placed.element;
    const std::string& childclass = placed.childclass;
    const auto find = [&](const char* name) { return context_.find(e, name, childclass); };
    JointDescription joint;
    const Attribute name = attribute(e, "name"), type = find("type");
    const std::string_view kind = std::string_view(e.Name()) == "freejoint" ? "free" : type ? type.text : "hinge";
    joint.name = name ? text(name) : made_name(fallback_name, joint_names_);
    joint.fixed = false;
    if (kind == "hinge")
      joint.kind = JointKind::revolute;
    else if (kind == "slide")
      joint.kind = JointKind::prismatic;
    else if (kind == "ball")
      joint.kind = JointKind::spherical;
    else if (kind == "free")
      joint.kind = JointKind::free;
    else
      fail(e, fmt::format("unknown type '{}'", kind));
    if (std::string_view(e.Name()) == "freejoint") return joint;  // default classes do not reach it
    joint.damping = nonnegative(find("damping"));
    const double dry_friction = nonnegative(find("frictionloss"));
    joint.armature = nonnegative(find("armature"));
    const double stiffness = nonnegative(find("stiffness"));
    if (joint.kind == JointKind::revolute || joint.kind == JointKind::prismatic) {
      read_axis_and_range(placed, joint);
      joint.stiffness = stiffness;
      joint.dry_friction = dry_friction;
      return joint;
    }
    if (stiffness > 0.0) robot_.warnings.push_back(fmt::format("{}: stiffness of a {} joint is left out", place(e), kind));
    if (dry_friction > 0.0) robot_.warnings.push_back(fmt::format("{}: frictionloss of a {} joint is left out", place(e), kind));
    if (joint.kind == JointKind::spherical && context_.limits(e, "limited", "range", childclass)) {
      robot_.warnings.push_back(fmt::format("{}: range of a {} joint is left out", place(e), kind));
    }
    return joint;
  }

  static double nonnegative(const Attribute& a) {
    const double value = number_or(a, 0.0);
    if (!(value >= 0.0)) fail(*a.element, fmt::format("{} {} is negative", a.name, value));
    return value;
  }

  void read_axis_and_range(const MjcfElement& placed, JointDescription& joint) {
    const XmlElement& e = *placed.element;
    const std::string& childclass = placed.childclass;
    const bool is_hinge = joint.kind == JointKind::revolute;
    const auto find = [&](const char* name) { return context_.find(e, name, childclass); };
    const auto coordinate = [&](double x) { return is_hinge ? context_.angle(x) : x; };
    const Eigen::Vector3d axis = vector3_or(find("axis"), Eigen::Vector3d::UnitZ());
    if (!(axis.norm() > 1e-10)) fail(e, "axis is zero");
    joint.axis = placed.X_BF.linear() * axis.normalized();
    // The file's pose is that of the coordinate `ref`, so coordinate zero is turned or shifted back by it.
    const double ref = coordinate(number_or(find("ref"), 0.0));
    joint.reference = ref;
    joint.spring_reference = coordinate(number_or(find("springref"), 0.0));
    if (is_hinge)
      joint.X_PJ.linear() = Eigen::AngleAxisd(-ref, joint.axis).toRotationMatrix();
    else
      joint.X_PJ.translation() = -ref * joint.axis;
    if (const auto range = context_.limits(e, "limited", "range", childclass)) {
      joint.lower = coordinate(range->first);
      joint.upper = coordinate(range->second);
      if (joint.lower == joint.upper) {
        robot_.warnings.push_back(
            fmt::format("{}: joint '{}' cannot move: lower and upper are both {}", place(e), joint.name, joint.lower));
      }
    }
    joint.effort_limit = largest(e, "actuatorfrclimited", "actuatorfrcrange", childclass);
  }

  /// Effort limits are symmetric here: the larger side of a range, infinity where none holds.
  double largest(const XmlElement& e, const char* limited, const char* range, const std::string& childclass) {
    const auto limits = context_.limits(e, limited, range, childclass);
    if (!limits) return std::numeric_limits<double>::infinity();
    const auto [low, high] = *limits;
    if (low != -high) robot_.warnings.push_back(fmt::format("{}: {} is not symmetric: the larger side is taken", place(e), range));
    return std::max(std::abs(low), std::abs(high));
  }

  Inertial body_inertia(const XmlElement& e, const std::vector<MjcfElement>& elements, const BodyInertia& geoms, bool moves) {
    const auto at = std::ranges::find_if(elements, [](const MjcfElement& x) { return std::string_view(x.element->Name()) == "inertial"; });
    require_once(context_.children(e), "inertial");
    const bool from_geoms = context_.inertia_from_geom.value_or(at == elements.end());
    if (!from_geoms) return at == elements.end() ? Inertial{} : read_inertial(*at);
    Inertial sum = geoms.from_geoms;
    if (!moves && !(context_.total_mass > 0.0)) return sum;  // what stands still needs no file of a mesh to be weighed
    for (const MjcfMeshMass& m : geoms.meshes) {
      Inertial mesh = transformed(m.X_BG, context_.mesh_inertial(*m.geom, m.mesh));
      const Shape shape = context_.mesh(*m.geom, m.mesh).first;
      if (const auto* file = std::get_if<MeshFile>(&shape)) robot_.weighed_files.push_back(file->path);
      const double scale = m.mass ? *m.mass / mesh.mass : m.density;
      mesh.mass *= scale;
      mesh.inertia *= scale;
      sum = sum + mesh;
    }
    return sum;
  }

  Inertial read_inertial(const MjcfElement& placed) {
    const auto& [element, X_BF, childclass] = placed;
    const XmlElement& e = *element;
    require(e, "pos");
    Inertial local;
    local.mass = number(require(e, "mass"));
    if (!(local.mass >= 0.0)) fail(e, fmt::format("mass {} kg is negative", local.mass));
    if (const Attribute full = attribute(e, "fullinertia")) {
      for (const char* name : {"diaginertia", "quat", "axisangle", "euler", "xyaxes", "zaxis"}) {
        if (const Attribute axes = attribute(e, name)) fail_attribute(axes, "none beside fullinertia");
      }
      const std::vector<double> i = numbers(full);
      if (i.size() != 6) fail(e, "fullinertia: expected 6 numbers");
      local.inertia << i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2];
    } else if (const Attribute diagonal = attribute(e, "diaginertia")) {
      local.inertia = vector3(diagonal).asDiagonal();
    }
    return transformed(X_BF * context_.pose(e, childclass), local);
  }

  /// Actuators of one joint add up, within the joint's own limit.
  void read_actuators() {
    std::map<JointDescription*, double> efforts;
    for (const XmlElement* e : context_.section("actuator")) {
      Attribute target = attribute(*e, "joint");
      if (!target) target = attribute(*e, "jointinparent");  // the same for joints of one coordinate
      if (!target) {
        leave_out(*e, "an actuator that drives no joint");
        continue;
      }
      const auto at = std::ranges::find_if(robot_.links, [&](const auto& l) { return !l.joint.fixed && l.joint.name == target.text; });
      if (at == robot_.links.end()) fail(*e, fmt::format("drives the unknown joint '{}'", target.text));
      JointDescription& joint = at->joint;
      joint.actuated = true;
      const double gear = first(*e, "gear", 6);
      efforts[&joint] += gear == 0.0 ? 0.0 : gear * effort(*e);
      if (joint.kind == JointKind::free || joint.kind == JointKind::spherical) {
        leave_out(*e, fmt::format("an actuator of the {} joint '{}'", joint.kind == JointKind::free ? "free" : "ball", joint.name));
        continue;
      }
      joint.armature += gear * gear * nonnegative(context_.find(*e, "armature", ""));
      joint.damping += gear * gear * nonnegative(context_.find(*e, "damping", ""));
    }
    for (const auto& [joint, effort] : efforts) joint->effort_limit = std::min(joint->effort_limit, effort);
  }

  /// Size of the first number of an actuator's attribute, 1 where it has none.
  double first(const XmlElement& e, const char* name, std::size_t most) const {
    if (!context_.find(e, name, "")) return 1.0;
    const std::vector<double> values = context_.filled(e, name, "", most);
    if (values.empty()) fail(e, fmt::format("{}: expected a number", name));
    return std::abs(values[0]);
  }

  /// Whether a <general> has defaults written as <position> or the like, which set its gain and bias.
  bool has_foreign_defaults(const XmlElement& e) const {
    return std::string_view(e.Name()) == "general" && std::ranges::any_of(context_.with_defaults(e, ""), [](const XmlElement* x) {
             return std::string_view(x->Name()) != "general" && std::string_view(x->Name()) != "motor";
           });
  }

  /// A motor's control is its force, as is that of a <general> whose defaults and own attributes say nothing of other dynamics.
  bool is_motor(const XmlElement& e) const {
    const auto is = [&](const char* name, std::string_view value) {
      const Attribute a = context_.find(e, name, "");
      return !a || a.text == value;
    };
    if (std::string_view(e.Name()) == "motor") return true;
    return !has_foreign_defaults(e) && std::string_view(e.Name()) == "general" && is("gaintype", "fixed") && is("biastype", "none") &&
           is("dyntype", "none");
  }

  /// Largest torque or force of an actuator before its gear.
  double effort(const XmlElement& e) {
    const double most = largest(e, "forcelimited", "forcerange", "");
    if (!is_motor(e)) {
      if (has_foreign_defaults(e)) leave_out(e, "what its class says of another kind of actuator");
      return most;
    }
    const double control = largest(e, "ctrllimited", "ctrlrange", "");
    if (std::string_view(e.Name()) != "general") return std::min(most, control);
    const double gain = first(e, "gainprm", 10);
    if (std::isfinite(control)) acting_gains_.insert(context_.find(e, "gainprm", "").element);
    return std::min(most, gain * control);
  }

  void find_paired_geoms() {
    for (const XmlElement* e : context_.section("contact")) {
      if (std::string_view(e->Name()) != "pair") continue;
      for (const char* end : {"geom1", "geom2"}) paired_.insert(text(require(*e, end)));
    }
  }

  void read_contact(const XmlElement& e) {
    if (std::string_view(e.Name()) == "pair") return robot_.pairs.push_back(read_pair(e, context_, robot_.warnings));
    if (std::string_view(e.Name()) != "exclude") return;
    for (const char* end : {"body1", "body2"}) {
      const std::string name = text(require(e, end));
      if (std::none_of(robot_.links.begin(), robot_.links.end(), [&](const LinkDescription& l) { return l.name == name; })) {
        fail(e, fmt::format("names the unknown body '{}'", name));
      }
    }
    robot_.excluded_links.emplace_back(e.Attribute("body1"), e.Attribute("body2"));
  }

  void read_option(const XmlElement& e) {
    if (const Attribute g = attribute(e, "gravity")) {
      robot_.gravity = vector3(g);
      if (!(robot_.gravity->array().abs() <= kStrongestGravity).all())
        fail_attribute(g, fmt::format("numbers within {:g} m/s^2 of 0", kStrongestGravity));
    }
    if (const Attribute h = attribute(e, "timestep")) {
      robot_.timestep = number(h);
      if (!(*robot_.timestep > 0.0)) fail(e, fmt::format("timestep {} is not positive", *robot_.timestep));
    }
    require_once(context_.children(e), "flag");
    for (const XmlElement* flag : context_.children(e)) {
      if (std::string_view(flag->Name()) != "flag") continue;
      gravity_acts_ = boolean(attribute(*flag, "gravity"), gravity_acts_, "enable", "disable");
      robot_.excludes_parent = boolean(attribute(*flag, "filterparent"), robot_.excludes_parent, "enable", "disable");
    }
  }

  /// qpos of a <key>: quaternions [w x y z] of free and ball joints become [x y z w]. A key without it is the pose of the file.
  void read_key(const XmlElement& e) {
    const Attribute name = attribute(e, "name"), qpos = attribute(e, "qpos");
    if (!name) return leave_out(e, "a key without a name");
    if (!qpos) return robot_.keyframes.push_back({name.text, written_positions()});
    KeyframeDescription key{name.text, numbers(qpos)};
    std::size_t next = 0;
    for (const LinkDescription& l : robot_.links) {
      if (l.joint.fixed) continue;
      const bool turns = l.joint.kind == JointKind::free || l.joint.kind == JointKind::spherical;
      const std::size_t first = next + (l.joint.kind == JointKind::free ? 3 : 0);
      next = first + (turns ? 4 : 1);
      if (next > key.q.size()) break;
      if (!turns) continue;
      Eigen::Map<Eigen::Vector4d> r(&key.q[first]);
      const bool is_zero = !(r.norm() > 1e-12), starts = context_.options.keyframe == name.text;
      if (is_zero && starts) fail(e, fmt::format("qpos[{}..{}]: the quaternion is zero", first, next - 1));
      if (!is_zero) r = Eigen::Vector4d(r[1], r[2], r[3], r[0]).normalized();
    }
    if (next != key.q.size()) fail(e, fmt::format("qpos: expected {} numbers, got {}", next, key.q.size()));
    robot_.keyframes.push_back(std::move(key));
  }

  /// Of all joints, in the pose in which the file is written.
  std::vector<double> written_positions() const {
    std::vector<double> q;
    for (const LinkDescription& l : robot_.links) {
      if (l.joint.fixed) continue;
      const Eigen::Vector3d p = l.joint.start.translation();
      const Eigen::Quaterniond r(l.joint.start.linear());  // of a ball joint: the identity
      if (l.joint.kind == JointKind::free) q.insert(q.end(), {p.x(), p.y(), p.z()});
      if (l.joint.kind == JointKind::free || l.joint.kind == JointKind::spherical) {
        q.insert(q.end(), {r.x(), r.y(), r.z(), r.w()});
      } else {
        q.push_back(l.joint.reference.value_or(0.0));
      }
    }
    return q;
  }

  /// A name belongs to one element of a kind.
  static void take_name(const XmlElement& e, std::string_view kind, std::set<std::string>& taken) {
    const char* name = e.Attribute("name");
    if (name != nullptr && *name != '\0' && !taken.insert(printable(name)).second)
      fail(e, fmt::format("second {} of the name '{}'", kind, printable(name)));
  }

  /// The names that the file gives to what is in bodies and the world, wherever it stands.
  void find_names(const std::vector<const XmlElement*>& elements) {
    for (const XmlElement* e : elements) {
      const std::string_view kind = std::string_view(e->Name()) == "freejoint" ? "joint" : e->Name();
      take_name(*e, kind,
                kind == "body"    ? body_names_
                : kind == "joint" ? joint_names_
                : kind == "geom"  ? geom_names_
                                  : other_names_[kind]);
      find_names(context_.children(*e));
    }
  }

  /// The same in the other sections, of some of which all elements are of one kind.
  void require_own_names() {
    for (const char* section : {"actuator", "equality", "sensor", "tendon"}) {
      for (const XmlElement* e : context_.section(section)) take_name(*e, section, other_names_[section]);
    }
    for (const char* section : {"asset", "contact", "custom", "keyframe"}) {
      for (const XmlElement* e : context_.section(section)) take_name(*e, e->Name(), other_names_[e->Name()]);
    }
  }

  /// A name for what the file leaves without one; where that is another's, underscores are added.
  static std::string made_name(std::string name, std::set<std::string>& taken) {
    while (!taken.insert(name).second) name += "_";
    return name;
  }

  const XmlElement& root_;
  MjcfContext context_;
  MjcfPlaces places_;
  std::vector<int> bodies_;  ///< links that are bodies of the file
  RobotDescription robot_;
  bool gravity_acts_ = true;
  std::set<std::string> paired_;                                   ///< geoms that a <pair> names
  std::set<const XmlElement*> acting_gains_;                       ///< <general> whose gain gives an effort limit
  std::set<std::string> body_names_, joint_names_, geom_names_;    ///< of the file, and those made for what has none
  std::map<std::string_view, std::set<std::string>> other_names_;  ///< by kind
};

}  // namespace

RobotDescription read_mjcf(const XmlElement& root, XmlDocuments& documents, const RobotOptions& options) {
  return MjcfReader(root, documents, options).read();
}

}  // namespace stiction
