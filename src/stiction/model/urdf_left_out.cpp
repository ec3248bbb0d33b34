// The URDF of the ROS documentation with the extensions of Gazebo, Bullet and Drake that change the dynamics.
#include <array>
#include <string_view>

#include "stiction/model/left_out.hpp"

namespace stiction {

namespace {

using Element = Coverage::Element;
using Reason = Coverage::Reason;
using Neutral = Coverage::Neutral;

constexpr std::array kUrdfElements = {
    Element{"robot", "name version xmlns:xacro xmlns:drake xmlns xmlns:xi xmlns:sensor xmlns:controller xmlns:interface"},
    Element{"link", "name type"},
    Element{"inertial", ""},
    Element{"origin", "xyz rpy"},
    Element{"mass", "value"},
    Element{"inertia", "ixx ixy ixz iyy iyz izz"},
    Element{"collision", "name"},
    Element{"geometry", "name"},
    Element{"box", "size"},
    Element{"sphere", "radius"},
    Element{"cylinder", "radius length"},
    Element{"capsule", "radius length"},
    Element{"mesh", "filename scale"},
    Element{"contact", ""},
    Element{"lateral_friction", "value"},
    Element{"joint", "name type"},
    Element{"parent", "link"},
    Element{"child", "link"},
    Element{"axis", "xyz"},
    Element{"limit", "lower upper effort velocity"},
    Element{"dynamics", "damping friction armature"},
    Element{"mimic", "joint multiplier offset"},
};

/// Elements of which there may be several beside each other; of all others the first one counts.
constexpr std::array<std::string_view, 3> kRepeated = {"link", "joint", "collision"};

constexpr std::string_view kRigid = "contacts are rigid";

constexpr std::array kUrdfReasons = {
    Reason{"origin", "quat_xyzw", "a rotation is given by rpy"},
    Reason{"limit", "acceleration deceleration jerk", "it limits no motion here"},
};

constexpr std::array kUrdfNeutral = {
    Neutral{"dynamics", "stiffness", "0"},
};

constexpr Coverage kUrdfCoverage{kUrdfElements, kUrdfReasons, kUrdfNeutral};

struct Extension {
  std::string_view name, neutral, reason;
};

/// Bullet's <contact>.
constexpr std::array kBullet = {
    Extension{"rolling_friction", "0", "contacts have sliding friction alone"},
    Extension{"spinning_friction", "0", "contacts have sliding friction alone"},
    Extension{"inertia_scaling", "1", "the inertia is that of the file"},
    Extension{"restitution", "0", "restitution is given by the caller"},
    Extension{"friction_anchor", "", kRigid},
    Extension{"contact_cfm", "0", kRigid},
    Extension{"contact_erp", "0", kRigid},
    Extension{"stiffness", "0", kRigid},
    Extension{"damping", "0", kRigid},
};

/// Inside <gazebo>: what has no say in the motion.
constexpr std::array<std::string_view, 9> kGazeboIdle = {
    "mu1", "mu", "material", "visual", "sensor", "provideFeedback", "disableFixedJointLumping", "preserveFixedJoint", "laserRetro"};

/// No say in the motion: looks, encoders, sensors, names of interfaces.
constexpr std::array<std::string_view, 6> kIdleUrdf = {"visual", "material", "calibration", "sensor", "verbose", "transmission"};

struct UrdfWalk {
  LeftOut left_out{kUrdfCoverage};

  void visit(const XmlElement& e) {
    left_out.check(e);
    for (const XmlElement* child = e.FirstChildElement(); child != nullptr; child = child->NextSiblingElement()) {
      const std::string_view name = child->Name();
      if (holds(kIdleUrdf, name)) continue;
      if (name == "gazebo") {
        gazebo(*child);
      } else if (std::string_view(e.Name()) == "contact") {
        bullet(*child);
      } else if (left_out.knows(name)) {
        if (name == "link" && std::string_view(e.Name()) == "link") {
          left_out.add(*child, "links stand beside each other, in <robot>");
        } else if (is_second(e, *child)) {
          left_out.add(*child, "the first one counts");
        } else if (has_no_say(e, *child)) {
          left_out.add(*child, "its joint is fixed or floating");
        } else {
          visit(*child);
        }
      } else {
        left_out.add(*child, name == "safety_controller" ? "soft limits are a controller's" : "not known to this reader");
      }
    }
  }

  /// Of a <geometry> the first shape counts, whatever the others are.
  static bool is_second(const XmlElement& parent, const XmlElement& e) {
    if (holds(kRepeated, e.Name())) return false;
    const bool is_shape = std::string_view(parent.Name()) == "geometry";
    return e.PreviousSiblingElement(is_shape ? nullptr : e.Name()) != nullptr;
  }

  /// <dynamics> (but for zeros) and <mimic> of a joint without a coordinate of its own.
  static bool has_no_say(const XmlElement& parent, const XmlElement& e) {
    const std::string_view name = e.Name();
    const Attribute type = attribute(parent, "type");
    if (!type || (std::string_view(type.text) != "fixed" && std::string_view(type.text) != "floating")) return false;
    if (name == "mimic") return true;
    if (name != "dynamics") return false;
    for (const auto* a = e.FirstAttribute(); a != nullptr; a = a->Next()) {
      if (!same({&e, a->Name(), a->Value()}, "0")) return true;
    }
    return false;
  }

  void bullet(const XmlElement& e) {
    const std::string_view name = e.Name();
    if (name == "lateral_friction") return left_out.check(e);
    for (const Extension& x : kBullet) {
      if (x.name != name) continue;
      const Attribute value = attribute(e, "value");
      if (!value || !same(value, x.neutral)) left_out.add(e, x.reason);
      return;
    }
    left_out.add(e, "not known to this reader");
  }

  static bool same(const Attribute& value, std::string_view neutral) {
    if (neutral.empty()) return false;
    const std::string text(neutral);
    return numbers(value) == numbers({value.element, value.name, text.c_str()});
  }

  void gazebo(const XmlElement& e) {
    for (const XmlElement* child = e.FirstChildElement(); child != nullptr; child = child->NextSiblingElement()) {
      if (!holds(kGazeboIdle, child->Name())) left_out.add_child(e, *child, "an extension of Gazebo");
    }
  }
};

}  // namespace

std::vector<std::string> urdf_left_out(const XmlElement& root) {
  UrdfWalk walk;
  walk.visit(root);
  return walk.left_out.messages();
}

}  // namespace stiction
