// Readers of robot files. Both check everything that needs the file's lines: numbers, names, limits, masses, meshes; what concerns
// the whole robot (a body's inertia after fixed joints are merged, a positive definite M) is checked by `build_tree`.
//
// Pinocchio has readers of its own. These serve instead because its readers keep no lines, let NaN, negative masses and missing
// limits pass, split a continuous joint into a cosine and a sine, and leave out friction, planes and actuators; they are the
// reference in the tests: same order of joints, same M(q) and h(q, v).
#pragma once

#include <string>

#include "stiction/model/robot_description.hpp"
#include "stiction/model/xml.hpp"

namespace stiction {

/// What <robot> says. Links depth-first, children by joint name, as urdfdom orders them. Joint types: fixed, revolute, continuous,
/// prismatic, floating.
RobotDescription read_urdf(const XmlElement& root, const RobotOptions& options);

/// What <mujoco> says; the root link is its world. Compiler settings, default classes, <include>, <frame>, bodies with several
/// joints, inertia from primitive geoms, actuator limits. Conventions of the MuJoCo XML reference.
RobotDescription read_mjcf(const XmlElement& root, XmlDocuments& documents, const RobotOptions& options);

}  // namespace stiction
