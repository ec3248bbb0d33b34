// The MJCF of MuJoCo's XML reference, element by element: what this engine acts on, what has no say in the motion, and why the rest is
// left out.
#include <array>
#include <set>
#include <string_view>

#include "stiction/model/left_out.hpp"
#include "stiction/model/mjcf_context.hpp"

namespace stiction {

namespace {

using Element = Coverage::Element;
using Reason = Coverage::Reason;
using Neutral = Coverage::Neutral;

constexpr std::string_view kActuator =
    "name class group user joint jointinparent gear ctrllimited ctrlrange forcelimited forcerange armature damping";

constexpr std::array kMjcfElements = {
    Element{"mujoco", "model"},
    Element{"compiler",
            "angle assetdir autolimits balanceinertia boundinertia boundmass coordinate discardvisual eulerseq fitaabb fusestatic "
            "inertiafromgeom inertiagrouprange meshdir "
            "savecanonical savecompiled saveinertial settotalmass texturedir usethread convexhull"},
    Element{"option", "gravity timestep magnetic apirate"},
    Element{"flag",
            "autoreset diagexact energy eulerdamp filterparent fwdinv gravity invdiscrete island midphase nativeccd refsafe sensor sleep "
            "warmstart"},
    Element{"default", "class"},
    Element{"worldbody", ""},
    Element{"frame", "name childclass pos quat axisangle euler xyaxes zaxis"},
    Element{"body", "name childclass pos quat axisangle euler xyaxes zaxis gravcomp mocap user fuse simple sleep"},
    Element{"inertial", "pos quat axisangle euler xyaxes zaxis mass diaginertia fullinertia"},
    Element{"joint",  // of a body, or of an <equality>
            "active joint1 joint2 polycoef name class group user type pos axis limited range ref stiffness springref damping armature "
            "frictionloss actuatorfrclimited actuatorfrcrange"},
    Element{"freejoint", "name group"},
    Element{"geom",
            "name class group user type pos quat axisangle euler xyaxes zaxis size fromto mesh hfield mass density friction contype "
            "conaffinity material rgba castshadow fitscale"},
    Element{"asset", ""},
    Element{"mesh", "name class file vertex scale refpos refquat content_type normal texcoord face smoothnormal inertia"},
    Element{"hfield", "name content_type file elevation nrow ncol size"},
    Element{"actuator", ""},
    Element{"motor", kActuator},
    Element{"general", kActuator},
    Element{"contact", ""},
    Element{"exclude", "name body1 body2"},
    Element{"pair", "name class geom1 geom2 friction"},
    Element{"connect", "name class active body1 body2 anchor site1 site2"},
    Element{"weld", "name class active body1 body2 relpose anchor torquescale site1 site2"},
    Element{"equality", "active"},  // of a default class
    Element{"keyframe", ""},
    Element{"key", "name time qpos act ctrl mpos mquat"},
};

constexpr std::string_view kCallersTorque = "its own dynamics are left to the caller's torques";
constexpr std::string_view kRigidJoint = "limits, dry friction and constraints are rigid";
constexpr std::string_view kNumerics = "the step has a scheme and solvers of its own";
constexpr std::string_view kFrames = "free bodies keep the frame that the file gives them";
constexpr std::string_view kFluid = "there is no fluid";

constexpr std::array kMjcfReasons = {
    Reason{"option",
           "integrator solver iterations tolerance ls_iterations ls_tolerance noslip_iterations noslip_tolerance ccd_iterations "
           "ccd_tolerance sdf_iterations sdf_initpoints sleep_tolerance jacobian",
           kNumerics},
    Reason{"option", "cone impratio", "the contact law is chosen by the caller"},
    Reason{"option", "wind density viscosity", kFluid},
    Reason{"option", "o_margin o_solref o_solimp o_friction", "contacts are rigid"},
    Reason{"option", "actuatorgroupdisable", kCallersTorque},
    Reason{"flag", "constraint equality frictionloss limit contact spring damper", "nothing is switched off"},
    Reason{"flag", "actuation clampctrl", kCallersTorque},
    Reason{"flag", "override", "contacts are rigid"},
    Reason{"geom", "solref solimp solmix margin gap priority", "contacts are rigid, and a pair has the smaller friction"},
    Reason{"geom", "condim", "contacts have sliding friction in two directions"},
    Reason{"pair", "condim", "contacts have sliding friction in two directions"},
    Reason{"pair", "solref solreffriction solimp margin gap", "contacts are rigid"},
    Reason{"geom", "fluidshape fluidcoef", kFluid},
    Reason{"geom", "shellinertia", "inertia is that of the solid"},
    Reason{"geom", "adhesion surfacevel", "contacts neither pull nor drive"},
    Reason{"joint", "solref solimp solreflimit solimplimit solreffriction solimpfriction margin", kRigidJoint},
    Reason{"joint", "springdamper springyield", "a spring is given by its stiffness"},
    Reason{"joint", "actuatorgravcomp", kCallersTorque},
    // Not MuJoCo's: what python/stiction/pinocchio_model.py writes.
    Reason{"joint", "frictionlossrange", "dry friction is the same both ways: that of the larger side is taken"},
    Reason{"freejoint", "align", kFrames},
    Reason{"compiler", "alignfree", kFrames},
    Reason{"mesh", "maxhullvert", "hulls keep all their vertices"},
    Reason{"connect", "solref solimp", kRigidJoint},
    Reason{"weld", "solref solimp", kRigidJoint},
    Reason{"equality", "solref solimp", kRigidJoint},
    Reason{
        "general",
        "gaintype gainprm biastype biasprm dyntype dynprm actdim actearly actlimited actrange ffrange velrange input interp delay nsample "
        "inheritrange",
        kCallersTorque},
};

constexpr std::array kMjcfNeutral = {
    Neutral{"option", "integrator", "Euler"},
    Neutral{"option", "impratio", "1"},
    Neutral{"option", "wind", "0 0 0"},
    Neutral{"option", "density", "0"},
    Neutral{"option", "viscosity", "0"},
    Neutral{"flag", "constraint", "enable"},
    Neutral{"flag", "equality", "enable"},
    Neutral{"flag", "frictionloss", "enable"},
    Neutral{"flag", "limit", "enable"},
    Neutral{"flag", "contact", "enable"},
    Neutral{"flag", "spring", "enable"},
    Neutral{"flag", "damper", "enable"},
    Neutral{"flag", "actuation", "enable"},
    Neutral{"flag", "clampctrl", "enable"},
    Neutral{"flag", "override", "disable"},
    Neutral{"flag", "multiccd", "disable"},
    Neutral{"geom", "solref", "0.02 1"},
    Neutral{"geom", "solimp", "0.9 0.95 0.001"},
    Neutral{"geom", "solimp", "0.9 0.95 0.001 0.5 2"},
    Neutral{"geom", "solmix", "1"},
    Neutral{"geom", "margin", "0"},
    Neutral{"geom", "gap", "0"},
    Neutral{"geom", "priority", "0"},
    Neutral{"geom", "condim", "1"},
    Neutral{"geom", "condim", "3"},
    Neutral{"pair", "condim", "1"},
    Neutral{"pair", "condim", "3"},
    Neutral{"pair", "margin", "0"},
    Neutral{"pair", "gap", "0"},
    Neutral{"geom", "fluidshape", "none"},
    Neutral{"geom", "shellinertia", "false"},
    Neutral{"geom", "adhesion", "0"},
    Neutral{"joint", "margin", "0"},
    Neutral{"joint", "springdamper", "0 0"},
    Neutral{"joint", "actuatorgravcomp", "false"},
    Neutral{"joint", "solreflimit", "0.02 1"},
    Neutral{"joint", "solreffriction", "0.02 1"},
    Neutral{"joint", "solimplimit", "0.9 0.95 0.001"},
    Neutral{"joint", "solimpfriction", "0.9 0.95 0.001"},
    Neutral{"freejoint", "align", "false"},
    Neutral{"compiler", "alignfree", "false"},
    Neutral{"compiler", "strippath", "false"},
    Neutral{"compiler", "conflict", "warning"},
    Neutral{"mesh", "maxhullvert", "-1"},
    Neutral{"general", "gaintype", "fixed"},
    Neutral{"general", "biastype", "none"},
    Neutral{"general", "dyntype", "none"},
};

constexpr Coverage kMjcfCoverage{kMjcfElements, kMjcfReasons, kMjcfNeutral};

/// Elements whose content has no say in the motion.
constexpr std::array<std::string_view, 15> kIdle = {"visual",   "statistic",   "size",  "sensor",    "custom",
                                                    "site",     "camera",      "light", "skin",      "texture",
                                                    "material", "lengthrange", "text",  "extension", "model"};

/// Elements that a reader reports itself, or refuses.
constexpr std::array<std::string_view, 5> kReported = {"tendon", "replicate", "attach", "composite", "flexcomp"};

struct MjcfWalk {
  MjcfContext& context;
  const std::set<const XmlElement*>& acting_gains;
  LeftOut left_out{kMjcfCoverage};

  void visit(const XmlElement& e, std::string_view parent) {
    const std::string_view name = e.Name();
    if (holds(kIdle, name) || holds(kReported, name)) return;
    if (!left_out.knows(name)) {
      if (parent == "actuator")
        return left_out.add(e, "its own dynamics are left to the caller's torques; its limits, armature and damping act");
      if (parent != "default" && parent != "equality") left_out.add(e, "not known to this reader");
      return;  // a default of what is reported where it is used
    }
    left_out.check(e, acting_gains.contains(&e) ? "gainprm" : "");
    for (const XmlElement* child : context.children(e)) visit(*child, name);
  }
};

}  // namespace

std::vector<std::string> mjcf_left_out(const XmlElement& root, MjcfContext& context, const std::set<const XmlElement*>& acting_gains) {
  MjcfWalk walk{context, acting_gains};
  walk.visit(root, "");
  return walk.left_out.messages();
}

}  // namespace stiction
