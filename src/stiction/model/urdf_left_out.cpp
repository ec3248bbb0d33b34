// The URDF of the ROS documentation with the extensions of Gazebo, Bullet and Drake that change the dynamics.
#include <array>
#include <string_view>

#include "stiction/model/left_out.hpp"

namespace stiction {

namespace {

using Element = Coverage::Element;
using Reason = Coverage::Reason;
using Neutral = Coverage::Neutral;

constexpr std::array kElements = {
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

constexpr std::string_view kRigid = "contacts are rigid";

constexpr std::array kReasons = {
    Reason{"origin", "quat_xyzw", "a rotation is given by rpy"},
    Reason{"limit", "acceleration deceleration jerk", "it limits no motion here"},
};

constexpr std::array kNeutral = {
    Neutral{"dynamics", "stiffness", "0"},
};

constexpr Coverage kCoverage{kElements, kReasons, kNeutral};

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
constexpr std::array<std::string_view, 6> kIdle = {"visual", "material", "calibration", "sensor", "verbose", "transmission"};

struct Walk {
  LeftOut left_out{kCoverage};

  void visit(const XmlElement& e) {
    left_out.check(e);
    for (const XmlElement* child = e.FirstChildElement(); child != nullptr; child = child->NextSiblingElement()) {
      const std::string_view name = child->Name();
      if (holds(kIdle, name)) continue;
      if (name == "gazebo") {
        gazebo(*child);
      } else if (std::string_view(e.Name()) == "contact") {
        bullet(*child);
      } else if (left_out.knows(name)) {
        visit(*child);
      } else {
        left_out.add(*child, name == "safety_controller" ? "soft limits are a controller's" : "not known to this reader");
      }
    }
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
  Walk walk;
  walk.visit(root);
  return walk.left_out.messages();
}

}  // namespace stiction
