// A world: robots (a tree of joints each), free rigid bodies and static bodies in one state, block by block.
//
//   q = (q_1, ..., q_K), v = (v_1, ..., v_K)     block k is a robot, a part of one that is cut, or a free body; M(q) = diag(M_1, ..., M_K)
//
// Coordinates of a joint: one for a revolute or prismatic joint (a continuous joint is a revolute one without limits, so its angle
// is one number, not a cosine and a sine); for a floating base or a free body 7 positions [x y z qx qy qz qw] and 6 velocities,
// linear then angular, of the body's origin in the body's own axes; for a spherical joint a quaternion [x y z w] and 3 body-frame
// angular velocities. A *body* is what moves rigidly: links joined by fixed joints are one body, whose frame is that of the joint
// that moves it (in a URDF: its link nearest the root; in an MJCF: at the joint's `pos`); a *link* is a named frame of the file fixed to
// a body, where the file has it. Static bodies have block -1.
// SI units; frames: W world, B body, J parent joint. Immutable after `WorldBuilder::build`, cheap to copy (shared), safe to share between
// threads.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "stiction/model/shape.hpp"

namespace stiction {

/// Bound of coordinates and of bodies' positions (rad or m): the last digit of a double is 1.2e-7 there, below the 1e-6 m that contacts may
/// overlap (StepOptions::allowed_penetration); farther out a step's motion is lost in it.
inline constexpr double kFarthest = 1e9;
/// Of gravity (m/s²): what falls for a second is within reach.
inline constexpr double kStrongestGravity = kFarthest;
/// False also of a NaN.
inline bool within_reach(const Eigen::Ref<const Eigen::VectorXd>& values) { return (values.array().abs() <= kFarthest).all(); }
/// Throws InvalidArgument, naming the entry, unless within_reach.
void require_within_reach(std::string_view argument, const Eigen::Ref<const Eigen::VectorXd>& values);

enum class JointKind { revolute, prismatic, spherical, free };
std::string_view to_string(JointKind kind);

/// One joint of a robot, or the 6 degrees of freedom of a floating base or free body. Absent limits are infinite.
struct Joint {
  std::string name;
  JointKind kind = JointKind::revolute;
  int robot = -1;  ///< index into World::robots, -1 for a free body
  int block = 0;
  int body = 0;                   ///< the body it moves
  int q = 0, v = 0;               ///< first coordinate in the world's q and v
  int nq = 1, nv = 1;             ///< number of coordinates
  double lower = 0.0;             ///< position limits (rad or m), 1-dof joints only
  double upper = 0.0;             ///< never below `lower`
  double velocity_limit = 0.0;    ///< rad/s or m/s
  double effort_limit = 0.0;      ///< N m or N
  double dry_friction = 0.0;      ///< N m or N; not part of `bias`
  double damping = 0.0;           ///< N m s/rad or N s/m; not part of `bias`
  double stiffness = 0.0;         ///< N m/rad or N/m of the spring, 1-dof joints only; its force is part of `bias`
  double spring_reference = 0.0;  ///< position at which the spring is at rest (rad or m)
  double armature = 0.0;          ///< reflected rotor inertia, kg m² or kg; part of M
  bool actuated = false;
};

/// What moves rigidly, or stands still (block -1).
struct Body {
  std::string name;
  int robot = -1;                                     ///< index into World::robots, -1 for free and static bodies
  int block = -1;                                     ///< -1: static
  double mass = 0.0;                                  ///< kg
  Eigen::Vector3d com = Eigen::Vector3d::Zero();      ///< centre of mass in the body frame
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  ///< about the centre of mass, body axes (kg m²)
  double lifted_mass = 0.0;  ///< kg on which gravity is compensated (MJCF gravcomp); its weight is left out of `bias`
  Eigen::Vector3d lifted_com = Eigen::Vector3d::Zero();  ///< its centre in the body frame
};

/// connect: a point of body a stays on a point of body b. weld: a frame on a frame. hinge, slide: the same but for its turn about `axis`,
/// or its shift along it. joint: q_a - r_a = Σ c_k (q_b - r_b)^k.
enum class EqualityKind { connect, weld, joint, hinge, slide };

/// What a file demands of two bodies or two joints of one robot beyond its tree: bilateral rows of every step.
struct Equality {
  std::string name;
  EqualityKind kind = EqualityKind::connect;
  int robot = -1;
  int body_a = -1, body_b = -1;                               ///< all but joint; either may be static
  Eigen::Isometry3d X_AF = Eigen::Isometry3d::Identity();     ///< the frame (connect: its origin) in body a,
  Eigen::Isometry3d X_BF = Eigen::Isometry3d::Identity();     ///< and in body b
  Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();            ///< hinge, slide: unit, in the frame
  int joint_a = -1, joint_b = -1;                             ///< joint; joint_b = -1: q_a - r_a = c_0
  double reference_a = 0.0, reference_b = 0.0;                ///< r (rad or m)
  std::array<double, 5> polynomial{0.0, 1.0, 0.0, 0.0, 0.0};  ///< c_0 ... c_4
};

/// A joint that a robot was cut at (RobotOptions::coordinates). Its position and rate are found by model/cut_joints.hpp.
struct CutJoint {
  Joint joint;       ///< as in `World::uncut()`, q and v included; but for its body, the child, which is one of this world
  int parent = -1;   ///< body
  int equality = 0;  ///< whose rows hold it
};

/// A named frame of a file, fixed to a body.
struct Link {
  std::string name;
  int robot = -1;
  int body = 0;
  int tree = -1;  ///< root link of its kinematic tree, within which collisions are self-collisions; -1: the world of an MJCF
  Eigen::Isometry3d X_BL = Eigen::Isometry3d::Identity();
};

/// A shape fixed to a body, to be taken by the geometry room.
struct CollisionGeometry {
  std::string name;
  int body = 0;
  Eigen::Isometry3d placement = Eigen::Isometry3d::Identity();  ///< shape frame in the body frame
  Shape shape = {};
  std::optional<double> friction = std::nullopt;  ///< sliding friction where the file has it
  FrictionPatches patches = {};                   ///< in place of it, where there are any
  unsigned type = 1, mask = 1;  ///< a and b may collide when a.type & b.mask or b.type & a.mask (MJCF contype, conaffinity)
  bool frictionless = false;    ///< so is a contact where both geometries are (MJCF condim 1)
  int link = -1;                ///< index into World::links; -1 for free and static bodies
};

/// Two geometries that collide whatever their flags and exclusions say (MJCF <pair>), a < b.
struct DeclaredPair {
  int a = 0, b = 0;
  std::optional<double> friction = std::nullopt;  ///< in place of what the geometries say
};

struct Robot {
  std::string name;
  std::string file;                ///< "<text>" when loaded from text
  std::vector<std::string> files;  ///< all that it was read from: included ones, its SRDF and the meshes that collide or weigh, too
  int block = -1;                  ///< its first, -1: no moving joint
  bool floating = false;
  int first_body = 0, bodies = 0;
  int first_joint = 0, joints = 0;
  int first_link = 0, links = 0;
  double mass = 0.0;                       ///< moving and static parts (kg)
  bool self_collision = true;              ///< links of one of its kinematic trees collide with each other
  bool filter_overlaps = true;             ///< of those, what overlaps by design is left out (`make_scene`)
  std::optional<Eigen::Vector3d> gravity;  ///< what the file says of it (m/s², world axes)
  std::optional<double> timestep;          ///< what the file says of it (s)
  std::vector<std::string> warnings;       ///< what the file says and this engine leaves out, with its line
};

/// Columns and coordinates of one block.
struct Block {
  int q = 0, nq = 0;
  int v = 0, nv = 0;
  int robot = -1;  ///< -1: free body
  int body = -1;   ///< first moving body
};

class World {
 public:
  struct Impl;

  /// An empty world; use WorldBuilder for more.
  World();
  explicit World(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  int nq() const;
  int nv() const;
  const Eigen::Vector3d& gravity() const;  ///< m/s², world axes
  /// Step that the first robot's file that names one asks for (s).
  std::optional<double> timestep() const;
  std::span<const Block> blocks() const;
  /// nv of each block, as BlockDiagonal and BlockRows take them.
  std::span<const int> block_sizes() const;
  std::span<const Robot> robots() const;
  std::span<const Body> bodies() const;
  std::span<const Link> links() const;
  std::span<const Joint> joints() const;
  std::span<const CollisionGeometry> geometries() const;
  std::span<const Equality> equalities() const;
  /// Of all robots, robot by robot, parents first.
  std::span<const CutJoint> cuts() const;
  /// The same world with no joint cut: this one where none is. Robots, links and geometries have the same numbers; bodies, joints and
  /// coordinates need not.
  World uncut() const;
  /// Velocity coordinates of the actuated joints, ascending.
  std::span<const int> actuated() const;
  /// Start state q (nq): poses and joint positions given to the builder.
  const Eigen::VectorXd& initial_configuration() const;
  /// Pairs of geometries that may not collide, first < second, ascending. URDF: those of a body and of its nearest ancestor with
  /// geometry, and the disabled pairs of an SRDF; MJCF: those of a body and of its parent unless that stands still, and <exclude>;
  /// and what `WorldBuilder::exclude` was given.
  std::span<const std::pair<int, int>> excluded_geometries() const;
  std::span<const DeclaredPair> declared_pairs() const;
  /// What the robots' files say and this engine leaves out: "ROBOT: FILE:LINE: what", robot by robot.
  std::vector<std::string> warnings() const;

  /// Index by name, or "robot/name" where two robots share it. Throw InvalidArgument, naming the argument, when unknown or ambiguous.
  int body(std::string_view name, std::string_view argument = "body") const;  ///< a body, or the body that a link is fixed to
  int link(std::string_view name, std::string_view argument = "link") const;
  int joint(std::string_view name, std::string_view argument = "joint") const;
  int robot(std::string_view name) const;

  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

/// from_file: fixed for a URDF, what the MJCF says for an MJCF.
enum class BaseKind { from_file, fixed, floating };

/// Coordinates of a robot [G14, section "Description of the quadrupedal robot"].
///   minimal   those of its joints, one block
///   extended  cut at some joints into subsystems, each a block with a root that moves freely; a cut joint is five rows (spherical: three)
///   maximal   cut at all: every body by itself
enum class Coordinates { minimal, extended, maximal };
std::string_view to_string(Coordinates coordinates);
/// Throws InvalidArgument that lists the names known.
Coordinates coordinates_from_string(std::string_view name);

/// Overrides of what the file says about one joint.
struct JointSettings {
  std::optional<double> position;  ///< start position (rad or m), 1-dof joints
  std::optional<double> effort_limit, velocity_limit, dry_friction, damping, armature;
  std::optional<double> stiffness, spring_reference;  ///< 1-dof joints
};

/// The settings but the position by name, as `Joint` calls what they replace, for whoever reads them from elsewhere.
struct JointSettingField {
  std::string_view name;
  std::optional<double> JointSettings::*member;
};
inline constexpr std::array<JointSettingField, 7> kJointSettingFields{{{"effort_limit", &JointSettings::effort_limit},
                                                                       {"velocity_limit", &JointSettings::velocity_limit},
                                                                       {"dry_friction", &JointSettings::dry_friction},
                                                                       {"damping", &JointSettings::damping},
                                                                       {"armature", &JointSettings::armature},
                                                                       {"stiffness", &JointSettings::stiffness},
                                                                       {"spring_reference", &JointSettings::spring_reference}}};
/// The setting of this name. Throws InvalidArgument naming `argument` and the names there are.
std::optional<double>& setting_named(JointSettings& settings, std::string_view name, std::string_view argument);

struct RobotOptions {
  std::string name;  ///< empty: the name in the file
  BaseKind base = BaseKind::from_file;
  Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();  ///< of the root link in the world; start pose when floating
  /// Names of the actuated joints. Default: every 1-dof joint whose effort limit is not 0 (URDF), every 1-dof joint that an actuator
  /// drives (MJCF).
  std::optional<std::vector<std::string>> actuated;
  std::map<std::string, JointSettings> joints;
  /// Start configuration by name: the <key> of an MJCF, the <group_state>s of a URDF's SRDF (of every group that has one). Empty: none.
  std::string keyframe;
  std::vector<std::string> package_dirs;  ///< where package://NAME/... is looked up, besides the file's own ancestors
  bool convex_meshes = true;              ///< collide the convex hull of a mesh, not its triangles
  /// Accept inertias that no rigid body has (with a warning) as long as M stays positive definite.
  bool allow_impossible_inertia = false;
  /// SRDF file whose disabled pairs of links do not collide. Absent: the one that lies beside a URDF, if any (`find_srdf`); "": none.
  std::optional<std::string> srdf;
  bool self_collision = true;  ///< links of the robot collide with each other
  /// Leave out the contacts of links that overlap at the start or touch in nearly every configuration (`make_scene`).
  bool filter_overlaps = true;
  /// A joint with armature, damping or a spring is not cut (InvalidArgument): what they ask of the end of a step couples both its sides.
  Coordinates coordinates = Coordinates::minimal;
  /// extended: names of the joints that are cut; empty: those of the root body, the limbs.
  std::vector<std::string> cut;
};

/// A shape with its placement in the body frame.
struct BodyShape {
  Shape shape = {};
  Eigen::Isometry3d placement = Eigen::Isometry3d::Identity();
  std::optional<double> friction = std::nullopt;
  FrictionPatches patches = {};  ///< in place of friction, where there are any
};

struct FreeBody {
  std::string name;
  double mass = 0.0;                                  ///< kg, > 0
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  ///< about the centre of mass, body axes (kg m²); SPD, triangle inequality
  Eigen::Vector3d com = Eigen::Vector3d::Zero();      ///< in the body frame (m)
  Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
  std::vector<BodyShape> shapes;
};

struct StaticBody {
  std::string name;
  Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
  std::vector<BodyShape> shapes;
};

/// Collects robots and bodies, each checked as it comes. Bodies, joints and blocks are numbered in the order of addition.
/// Throws FileError (file, line, link or joint) on bad files, InvalidArgument on bad arguments; the builder is unchanged then.
class WorldBuilder {
 public:
  WorldBuilder();
  ~WorldBuilder();
  WorldBuilder(const WorldBuilder& other);
  WorldBuilder(WorldBuilder&&) noexcept;
  WorldBuilder& operator=(WorldBuilder&&) noexcept;

  /// m/s², world axes, at most kStrongestGravity; default: what the first robot's file that speaks of it says, else (0, 0, -9.81).
  void set_gravity(const Eigen::Vector3d& gravity);
  /// Format by content: <robot> is URDF, <mujoco> MJCF. Returns the index into World::robots.
  int add_robot(const std::string& file, const RobotOptions& options = {});
  int add_robot_text(const std::string& text, const RobotOptions& options = {});
  /// Returns the body's index.
  int add_free_body(const FreeBody& body);
  int add_static_body(const StaticBody& body);
  /// The two never collide. A body's name stands for all that is fixed to it, another link's name for that link.
  void exclude(std::string_view a, std::string_view b);
  /// Those added so far.
  std::span<const Robot> robots() const;
  /// The world; the builder stays usable and later additions make another one.
  World build() const;

 private:
  std::unique_ptr<World::Impl> impl_;
};

/// Inertia about the centre of mass of a homogeneous solid of this mass (kg m²); sphere, box, capsule, cylinder. Throws InvalidArgument
/// otherwise.
Eigen::Matrix3d solid_inertia(const Shape& shape, double mass);

}  // namespace stiction
