#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "stiction/base/utf8.hpp"
#include "stiction/model/left_out.hpp"
#include "stiction/model/resources.hpp"
#include "stiction/model/robot_readers.hpp"

namespace stiction {

namespace {

struct UrdfJoint {
  const XmlElement* element = nullptr;
  std::string name, parent, child;
};

/// Links and joints by name; std::map so that children come in the order of joint names.
struct UrdfTree {
  std::map<std::string, const XmlElement*> links;
  std::map<std::string, UrdfJoint> joints;
  std::map<std::string, std::vector<const UrdfJoint*>> children;  ///< by parent link
  std::map<std::string, const UrdfJoint*> parent;                 ///< by child link
  std::map<std::string, double> gazebo_friction;
  std::map<std::string, double> rotor_inertia;  ///< by joint, seen through its gear (Drake's extension of <transmission>)
  std::string root;
};

void add_link(const XmlElement& e, UrdfTree& tree) {
  const std::string name = text(require(e, "name"));
  if (!tree.links.emplace(name, &e).second) {
    fail(e, fmt::format("second link of this name, the first is at line {}", tree.links[name]->GetLineNum()));
  }
}

void add_joint(const XmlElement& e, UrdfTree& tree) {
  UrdfJoint joint{&e, text(require(e, "name")), text(require(require_child(e, "parent"), "link")),
                  text(require(require_child(e, "child"), "link"))};
  const auto [at, is_new] = tree.joints.emplace(joint.name, joint);
  if (!is_new) fail(e, fmt::format("second joint of this name, the first is at line {}", at->second.element->GetLineNum()));
}

void connect(UrdfTree& tree) {
  for (const auto& [name, joint] : tree.joints) {
    for (const std::string& end : {joint.parent, joint.child}) {
      if (!tree.links.contains(end)) fail(*joint.element, fmt::format("joins the unknown link '{}'", end));
    }
    tree.children[joint.parent].push_back(&joint);
    const auto [at, is_new] = tree.parent.emplace(joint.child, &joint);
    if (!is_new) {
      fail(*joint.element,
           fmt::format("link '{}' is already the child of joint '{}': the links must form a tree", joint.child, at->second->name));
    }
  }
}

void find_root(const XmlElement& robot, UrdfTree& tree) {
  if (tree.links.empty()) fail(robot, "has no link");
  for (const auto& [name, element] : tree.links) {
    if (tree.parent.contains(name)) continue;
    if (!tree.root.empty()) fail(*element, fmt::format("'{}' and '{}' both have no parent: a robot has one root link", tree.root, name));
    tree.root = name;
  }
  if (tree.root.empty()) fail(robot, "has no root link: every link is some joint's child");
}

void read_gazebo_friction(const XmlElement& e, UrdfTree& tree) {
  const Attribute reference = attribute(e, "reference");
  const XmlElement* mu = e.FirstChildElement("mu1");
  if (!reference || mu == nullptr) return;
  const char* content = mu->Attribute("value") != nullptr ? mu->Attribute("value") : mu->GetText();
  if (content == nullptr) fail(*mu, "has no number");
  const double value = number({mu, "mu1", content});
  if (!(value >= 0.0)) fail(*mu, fmt::format("friction {} is negative", value));
  tree.gazebo_friction[reference.text] = value;
}

/// <drake:rotor_inertia> and <drake:gear_ratio> of an actuator: ratio² inertia at the joint.
void read_transmission(const XmlElement& e, UrdfTree& tree) {
  const XmlElement *joint = e.FirstChildElement("joint"), *actuator = e.FirstChildElement("actuator");
  if (joint == nullptr || actuator == nullptr) return;
  const auto value = [&](const char* name, double fallback) {
    const XmlElement* x = actuator->FirstChildElement(name);
    const double number = x == nullptr ? fallback : stiction::number(require(*x, "value"));
    if (!(number >= 0.0)) fail(*x, fmt::format("{} is negative", number));
    return number;
  };
  const double inertia = value("drake:rotor_inertia", 0.0), ratio = value("drake:gear_ratio", 1.0);
  if (inertia > 0.0) tree.rotor_inertia[text(require(*joint, "name"))] += ratio * ratio * inertia;
}

Eigen::Isometry3d origin(const XmlElement& e) {
  Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
  const XmlElement* o = e.FirstChildElement("origin");
  if (o == nullptr) return X;
  const Eigen::Vector3d rpy = vector3_or(attribute(*o, "rpy"), Eigen::Vector3d::Zero());
  X.translation() = vector3_or(attribute(*o, "xyz"), Eigen::Vector3d::Zero());
  X.linear() = (Eigen::AngleAxisd(rpy.z(), Eigen::Vector3d::UnitZ()) * Eigen::AngleAxisd(rpy.y(), Eigen::Vector3d::UnitY()) *
                Eigen::AngleAxisd(rpy.x(), Eigen::Vector3d::UnitX()))
                   .toRotationMatrix();
  return X;
}

Inertial inertial(const XmlElement& link) {
  const XmlElement* e = link.FirstChildElement("inertial");
  if (e == nullptr) return {};
  const XmlElement& i = require_child(*e, "inertia");
  const auto moment = [&i](const char* name) { return number(require(i, name)); };
  Inertial local;
  local.mass = number(require(require_child(*e, "mass"), "value"));
  if (!(local.mass >= 0.0)) fail(*e, fmt::format("mass {} kg is negative", local.mass));
  const double xy = moment("ixy"), xz = moment("ixz"), yz = moment("iyz");
  local.inertia << moment("ixx"), xy, xz, xy, moment("iyy"), yz, xz, yz, moment("izz");
  return transformed(origin(*e), local);
}

/// Bullet's <contact><lateral_friction>, or Gazebo's <mu1>.
std::optional<double> friction(const XmlElement& link, const UrdfTree& tree) {
  if (const XmlElement* contact = link.FirstChildElement("contact")) {
    if (const XmlElement* e = contact->FirstChildElement("lateral_friction")) {
      const double value = number(require(*e, "value"));
      if (!(value >= 0.0)) fail(*e, fmt::format("friction {} is negative", value));
      return value;
    }
  }
  const auto at = tree.gazebo_friction.find(link.Attribute("name"));
  return at == tree.gazebo_friction.end() ? std::nullopt : std::optional(at->second);
}

double size(const XmlElement& e, const char* name) {
  const double value = number(require(e, name));
  if (!(value > 0.0)) fail(e, fmt::format("{} {} is not positive", name, value));
  return value;
}

Shape mesh(const XmlElement& e, const RobotOptions& options) {
  const std::string uri = text(require(e, "filename"));
  MeshFile file{find_resource(uri, source_of(e), options.package_dirs), vector3_or(attribute(e, "scale"), Eigen::Vector3d::Ones()),
                options.convex_meshes};
  if (file.path.empty()) fail(e, fmt::format("mesh file '{}' is not found", uri));
  if ((file.scale.array() == 0.0).any()) fail(e, "scale has a zero");
  return file;
}

Shape shape(const XmlElement& geometry, const RobotOptions& options) {
  const XmlElement* e = geometry.FirstChildElement();
  if (e == nullptr) fail(geometry, "is empty");
  const std::string_view kind = e->Name();
  if (kind == "sphere") return Sphere{size(*e, "radius")};
  if (kind == "cylinder") return Cylinder{size(*e, "radius"), size(*e, "length") / 2.0};
  if (kind == "capsule") return Capsule{size(*e, "radius"), size(*e, "length") / 2.0};
  if (kind == "mesh") return mesh(*e, options);
  if (kind == "box") {
    const Eigen::Vector3d sides = vector3(require(*e, "size"));
    if (!(sides.array() > 0.0).all()) fail(*e, "a side is not positive");
    return Box{sides / 2.0};
  }
  fail(*e, "expected sphere, box, cylinder, capsule or mesh");
}

std::vector<GeometryDescription> geometries(const XmlElement& link, const UrdfTree& tree, const RobotOptions& options) {
  std::vector<GeometryDescription> list;
  const std::optional<double> mu = friction(link, tree);
  for (const XmlElement* e = link.FirstChildElement("collision"); e != nullptr; e = e->NextSiblingElement("collision")) {
    const Attribute name = attribute(*e, "name");
    list.push_back({name ? printable(name.text) : fmt::format("{}_{}", link.Attribute("name"), list.size()), origin(*e),
                    shape(require_child(*e, "geometry"), options), mu});
  }
  return list;
}

Eigen::Vector3d axis(const XmlElement& joint) {
  const XmlElement* e = joint.FirstChildElement("axis");
  if (e == nullptr) return Eigen::Vector3d::UnitX();
  const Eigen::Vector3d a = vector3(require(*e, "xyz"));
  const double most = a.cwiseAbs().maxCoeff();
  if (!(most > 0.0)) fail(*e, "axis has length 0, expected a direction");
  return (a / std::exp2(std::ilogb(most))).normalized();  // a power of two: no bit of a direction changes, no square over- or underflows
}

double nonnegative(const Attribute& a, double fallback) {
  const double value = a ? limit(a) : fallback;
  if (!(value >= 0.0)) fail(*a.element, fmt::format("{} {} is negative", a.name, value));
  return value;
}

void read_limits(const XmlElement& joint, bool has_range, JointDescription& d) {
  const XmlElement* e = joint.FirstChildElement("limit");
  if (e == nullptr) {
    if (has_range) fail(joint, "<limit> is missing");
    return;
  }
  d.effort_limit = nonnegative(attribute(*e, "effort"), d.effort_limit);
  d.velocity_limit = nonnegative(attribute(*e, "velocity"), d.velocity_limit);
  if (!has_range) return;
  const Attribute lower = attribute(*e, "lower"), upper = attribute(*e, "upper");
  d.lower = lower ? limit(lower) : 0.0;
  d.upper = upper ? limit(upper) : 0.0;
  if (std::min(d.upper, -d.lower) == -std::numeric_limits<double>::infinity()) fail(*e, "a limit leaves no position");
  if (!(d.lower <= d.upper)) fail(*e, fmt::format("lower limit {} is above the upper limit {}", d.lower, d.upper));
}

void read_dynamics(const XmlElement& joint, JointDescription& d) {
  const XmlElement* e = joint.FirstChildElement("dynamics");
  if (e == nullptr) return;
  d.damping = nonnegative(attribute(*e, "damping"), 0.0);
  d.dry_friction = nonnegative(attribute(*e, "friction"), 0.0);
  d.armature = nonnegative(attribute(*e, "armature"), 0.0);
}

JointDescription joint_description(const UrdfJoint& joint) {
  const XmlElement& e = *joint.element;
  const std::string type = text(require(e, "type"));
  JointDescription d;
  d.name = joint.name;
  d.X_PJ = origin(e);
  if (type == "fixed") return d;
  d.fixed = false;
  if (type == "floating") {
    d.kind = JointKind::free;
    std::swap(d.start, d.X_PJ);
    return d;
  }
  if (type != "revolute" && type != "continuous" && type != "prismatic") {
    fail(e, type == "planar" ? std::string("type 'planar' is not supported: use two prismatic joints and a continuous one")
                             : fmt::format("unknown type '{}'", type));
  }
  d.kind = type == "prismatic" ? JointKind::prismatic : JointKind::revolute;
  d.axis = axis(e);
  read_limits(e, type != "continuous", d);
  read_dynamics(e, d);
  d.actuated = d.effort_limit > 0.0;
  return d;
}

/// q = multiplier q_other + offset.
std::optional<EqualityDescription> mimic(const UrdfJoint& joint, const UrdfTree& tree, std::vector<std::string>& warnings) {
  const XmlElement& e = *joint.element->FirstChildElement("mimic");
  EqualityDescription d;
  d.place = fmt::format("line {}, mimic of joint '{}'", e.GetLineNum(), joint.name);
  d.equality.name = joint.name;
  d.equality.kind = EqualityKind::joint;
  d.equality.polynomial = {number_or(attribute(e, "offset"), 0.0), number_or(attribute(e, "multiplier"), 1.0), 0.0, 0.0, 0.0};
  d.joint_a = joint.name;
  d.joint_b = text(require(e, "joint"));
  const auto other = tree.joints.find(d.joint_b);
  if (other == tree.joints.end()) {
    warnings.push_back(fmt::format("{}: joint '{}' mimics the unknown joint '{}': it moves freely", place(e), d.joint_a, d.joint_b));
    return {};
  }
  if (d.joint_a == d.joint_b) fail(e, fmt::format("joint '{}' mimics itself", d.joint_a));
  const std::string kind = text(require(*other->second.element, "type"));
  if (kind == "fixed") d.joint_b.clear();  // it stands at zero
  if (kind == "floating") fail(e, fmt::format("mimics '{}': expected a joint with one coordinate", d.joint_b));
  return d;
}

LinkDescription read_link(const std::string& name, int parent, const UrdfJoint* joint, const UrdfTree& tree, const RobotOptions& options) {
  const XmlElement& e = *tree.links.at(name);
  LinkDescription link;
  link.name = name;
  link.place = fmt::format("line {}, link '{}'", e.GetLineNum(), name);
  link.parent = parent;
  link.inertial = inertial(e);
  link.geometries = geometries(e, tree, options);
  if (joint == nullptr) return link;
  link.joint = joint_description(*joint);
  const auto rotor = tree.rotor_inertia.find(joint->name);
  if (rotor != tree.rotor_inertia.end()) link.joint.armature += rotor->second;
  return link;
}

/// Links depth-first, children by joint name; a chain of thousands of links needs no deep call stack.
void read_links(const UrdfTree& tree, const RobotOptions& options, RobotDescription& robot) {
  struct Next {
    const UrdfJoint* joint;
    int parent;
  };
  std::vector<Next> stack{{nullptr, -1}};
  while (!stack.empty()) {
    const auto [joint, parent] = stack.back();
    stack.pop_back();
    const std::string& name = joint == nullptr ? tree.root : joint->child;
    LinkDescription link = read_link(name, parent, joint, tree, options);
    if (const JointDescription& d = link.joint; !d.fixed && d.lower == d.upper) {
      robot.warnings.push_back(fmt::format("{}: joint '{}' cannot move: lower and upper are both {} (0 where not given)",
                                           place(*joint->element), d.name, d.lower));
    }
    if (joint != nullptr && !link.joint.fixed && joint->element->FirstChildElement("mimic") != nullptr) {
      if (link.joint.kind == JointKind::free) fail(*joint->element, "a floating joint cannot mimic another one");
      if (auto equality = mimic(*joint, tree, robot.warnings)) {
        robot.equalities.push_back(std::move(*equality));
        link.joint.actuated = false;  // it is driven through the one that it follows
      }
    }
    robot.links.push_back(std::move(link));
    const auto children = tree.children.find(name);
    if (children == tree.children.end()) continue;
    const int self = static_cast<int>(robot.links.size()) - 1;
    for (auto child = children->second.rbegin(); child != children->second.rend(); ++child) stack.push_back({*child, self});
  }
}

}  // namespace

RobotDescription read_urdf(const XmlElement& root, const RobotOptions& options) {
  UrdfTree tree;
  for (const XmlElement* e = root.FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) {
    const std::string_view kind = e->Name();
    if (kind == "link") add_link(*e, tree);
    if (kind == "joint") add_joint(*e, tree);
    if (kind == "transmission") read_transmission(*e, tree);
    if (kind == "gazebo") read_gazebo_friction(*e, tree);
  }
  connect(tree);
  find_root(root, tree);
  RobotDescription robot;
  const Attribute name = attribute(root, "name");
  robot.name = name ? printable(name.text) : "robot";
  robot.file = source_of(root);
  read_links(tree, options, robot);
  const std::vector<std::string> rest = urdf_left_out(root);
  robot.warnings.insert(robot.warnings.end(), rest.begin(), rest.end());
  if (robot.links.size() != tree.links.size()) {
    for (const auto& [link, element] : tree.links) {
      if (std::ranges::none_of(robot.links, [&link = link](const auto& l) { return l.name == link; })) {
        fail(*element, "is part of a loop of joints: the links must form a tree");
      }
    }
  }
  return robot;
}

}  // namespace stiction
