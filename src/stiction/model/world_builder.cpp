#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/ranges.hpp"
#include "stiction/model/equality_error.hpp"
#include "stiction/model/robot_readers.hpp"
#include "stiction/model/srdf.hpp"
#include "stiction/model/world_impl.hpp"
#include "stiction/model/xml.hpp"

namespace stiction {

namespace {

void require_rigid(std::string_view argument, const Eigen::Isometry3d& X) {
  require_finite(argument, X.matrix());
  require_within_reach(fmt::format("{}.translation", argument), X.translation());
  const double error = (X.linear().transpose() * X.linear() - Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff();
  if (!(error <= 1e-9))
    throw InvalidArgument(argument, "a rotation and a translation", fmt::format("a rotation part off by {:.3g}", error));
  if (X.linear().determinant() < 0.0) throw InvalidArgument(argument, "a rotation and a translation", "a reflection, determinant -1");
}

void require_shapes(const std::vector<BodyShape>& shapes) {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::string name = fmt::format("body.shapes[{}]", i);
    validate(shapes[i].shape, name);
    require_rigid(name + ".placement", shapes[i].placement);
    validate(shapes[i].patches, name + ".patches");
    if (shapes[i].friction) require_friction(name + ".friction", *shapes[i].friction);
  }
}

/// Free bodies stand alone, so M is positive definite only when all three moments are.
void require_free(const FreeBody& body) {
  require_positive("body.mass", body.mass);
  require_finite("body.com", body.com);
  require_spd("body.inertia", body.inertia);
  if (const std::string defect = inertia_defect({body.mass, body.com, body.inertia}); !defect.empty()) {
    throw InvalidArgument("body.inertia", "principal moments of a rigid body", defect);
  }
}

void require_new_name(const World::Impl& world, const std::string& name) {
  const bool is_taken = std::any_of(world.bodies.begin(), world.bodies.end(), [&](const Body& b) { return b.robot < 0 && b.name == name; });
  if (name.empty()) throw InvalidArgument("body.name", "a name that is not empty", "''");
  if (is_taken) throw InvalidArgument("body.name", "a name that no other free or static body has", fmt::format("'{}'", name));
}

// "robot/link", by which links are known that are called as others are, is the name of nothing else.
void require_unique_paths(const World::Impl& world) {
  if (world.robots.empty()) return;
  std::set<std::string> names, paths;
  for (const Body& body : world.bodies) names.insert(body.name);
  for (const Body& body : world.bodies) {
    if (body.robot < 0) continue;
    const std::string path = fmt::format("{}/{}", world.robots[body.robot].name, body.name);
    if (!paths.insert(path).second || names.contains(path))
      throw InvalidArgument("body.name", "names that are no other link's robot/link", fmt::format("'{}' twice", path));
  }
}

int add_body(World::Impl& world, const std::string& name, const Eigen::Isometry3d& static_pose, const std::vector<BodyShape>& shapes) {
  const int self = static_cast<int>(world.bodies.size());
  world.bodies.push_back({name});
  world.static_pose.push_back(static_pose);
  world.support_begin.push_back(static_cast<int>(world.support.size()));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    world.geometries.push_back(
        {fmt::format("{}_{}", name, i), self, shapes[i].placement, shapes[i].shape, shapes[i].friction, shapes[i].patches});
  }
  return self;
}

/// A new block behind the others; its start configuration is appended.
int add_block(World::Impl& world, const Eigen::VectorXd& q0, int nv, int robot, int body, std::shared_ptr<const RobotTree> tree) {
  const int nq = static_cast<int>(q0.size());
  world.blocks.push_back({world.nq, nq, world.nv, nv, robot, body});
  world.block_sizes.push_back(nv);
  world.trees.push_back(std::move(tree));
  world.q0.conservativeResize(world.nq + nq);
  world.q0.tail(nq) = q0;
  world.nq += nq;
  world.nv += nv;
  return static_cast<int>(world.blocks.size()) - 1;
}

/// Coordinates of its block that move each body: its joint's and its ancestors'.
void add_supports(World::Impl& world, const RobotParts& parts, const std::vector<int>& first_v) {
  for (const int plan_of_body : parts.plan_of_body) {
    const auto begin = static_cast<std::ptrdiff_t>(world.support.size());
    for (int k = plan_of_body; k >= 0; k = parts.plans[k].parent) {
      const Joint& joint = parts.joints[k];
      for (int i = 0; i < joint.nv; ++i) world.support.push_back(joint.v - first_v[k] + i);
    }
    std::sort(world.support.begin() + begin, world.support.end());
    world.support_begin.push_back(static_cast<int>(world.support.size()));
  }
}

using Trees = std::vector<std::shared_ptr<const RobotTree>>;

/// Of each block. One body that moves freely needs none; that its inertia is positive is checked all the same.
Trees build_trees(const RobotParts& parts) {
  Trees trees;
  for (std::size_t b = 0; b < parts.first_plan.size() && !parts.plans.empty(); ++b) {
    const RobotParts own = parts_of_block(parts, b);
    trees.push_back(build_tree(own));
    if (!parts.cuts.empty() && own.plans.size() == 1 && own.plans[0].kind == JointKind::free) trees.back() = nullptr;
  }
  return trees;
}

/// The robot's blocks behind the world's. `parts` gets their numbers: of each joint its block, of each plan the first coordinate of that.
std::vector<int> add_blocks(World::Impl& world, RobotParts& parts, Trees trees, int robot, int first_moving_body) {
  std::vector<int> first_v(parts.plans.size());
  for (std::size_t b = 0; b < trees.size(); ++b) {
    const std::size_t first = static_cast<std::size_t>(parts.first_plan[b]);
    const std::size_t end = b + 1 < trees.size() ? static_cast<std::size_t>(parts.first_plan[b + 1]) : parts.plans.size();
    const Joint &front = parts.joints[first], &back = parts.joints[end - 1];
    const int block = add_block(world, parts.q0.segment(front.q, back.q + back.nq - front.q), back.v + back.nv - front.v, robot,
                                first_moving_body + static_cast<int>(first), std::move(trees[b]));
    for (std::size_t k = first; k < end; ++k) {
      parts.joints[k].block = block;
      first_v[k] = front.v;
    }
  }
  return first_v;
}

int commit(World::Impl& world, RobotParts parts, Trees trees) {
  const int robot = static_cast<int>(world.robots.size()), first_body = static_cast<int>(world.bodies.size());
  const auto static_bodies = std::count(parts.plan_of_body.begin(), parts.plan_of_body.end(), -1);
  const int q = world.nq, v = world.nv;
  const std::vector<int> first_v = add_blocks(world, parts, std::move(trees), robot, first_body + static_cast<int>(static_bodies));
  parts.robot.block = parts.joints.empty() ? -1 : parts.joints.front().block;
  parts.robot.first_body = first_body;
  parts.robot.first_joint = static_cast<int>(world.joints.size());
  parts.robot.first_link = static_cast<int>(world.links.size());
  add_supports(world, parts, first_v);
  for (std::size_t b = 0; b < parts.bodies.size(); ++b) {
    Body& body = parts.bodies[b];
    body.robot = robot;
    if (parts.plan_of_body[b] >= 0) body.block = parts.joints[parts.plan_of_body[b]].block;
    if (body.block >= 0 && body.lifted_mass != 0.0) world.lifted.push_back(static_cast<int>(world.bodies.size()));
    world.bodies.push_back(body);
  }
  world.static_pose.insert(world.static_pose.end(), parts.static_pose.begin(), parts.static_pose.end());
  for (Joint& joint : parts.joints) {
    joint.robot = robot;
    joint.body += first_body;
    joint.q += q;
    joint.v += v;
    if (joint.actuated) world.actuated.push_back(joint.v);
    if (joint.stiffness != 0.0) world.sprung.push_back(static_cast<int>(world.joints.size()));
    world.joints.push_back(joint);
  }
  const int first_geometry = static_cast<int>(world.geometries.size());
  for (Link& link : parts.links) {
    if (link.tree >= 0) link.tree += parts.robot.first_link;
    link.robot = robot;
    link.body += first_body;
    world.links.push_back(link);
  }
  for (CollisionGeometry& geometry : parts.geometries) {
    geometry.body += first_body;
    geometry.link += parts.robot.first_link;
    world.geometries.push_back(std::move(geometry));
  }
  for (const auto& [a, b] : parts.excluded) world.excluded.emplace_back(a + first_geometry, b + first_geometry);
  for (const DeclaredPair& d : parts.declared) world.declared.push_back({d.a + first_geometry, d.b + first_geometry, d.friction});
  for (CutJoint& cut : parts.cuts) {
    cut.joint.robot = robot;
    cut.joint.body += first_body;
    cut.parent += first_body;
    cut.equality += static_cast<int>(world.equalities.size());
    world.cuts.push_back(cut);
  }
  for (Equality& equality : parts.equalities) {
    equality.robot = robot;
    if (equality.body_a >= 0) equality.body_a += first_body;
    if (equality.body_b >= 0) equality.body_b += first_body;
    if (equality.joint_a >= 0) equality.joint_a += parts.robot.first_joint;
    if (equality.joint_b >= 0) equality.joint_b += parts.robot.first_joint;
    world.equalities.push_back(equality);
  }
  world.robots.push_back(std::move(parts.robot));
  return robot;
}

/// The robot cut, and whole in `uncut`, which all that comes later is added to as well.
int commit_cut(World::Impl& world, RobotParts cut, RobotParts whole) {
  Trees trees = build_trees(cut), uncut_trees = build_trees(whole);
  if (world.uncut == nullptr) {
    world.uncut = std::make_shared<World::Impl>(world);
    for (int j = 0; j < static_cast<int>(world.joints.size()); ++j) world.uncut_joint.push_back(j);
  }
  const int first_joint = static_cast<int>(world.uncut->joints.size()), first_v = world.uncut->nv, first_q = world.uncut->nq;
  for (const int j : cut.uncut_joint) world.uncut_joint.push_back(first_joint + j);
  for (CutJoint& c : cut.cuts) {
    c.joint.q += first_q;
    c.joint.v += first_v;
    c.joint.block = static_cast<int>(world.uncut->blocks.size());
  }
  commit(*world.uncut, std::move(whole), std::move(uncut_trees));
  return commit(world, std::move(cut), std::move(trees));
}

int add_robot_description(World::Impl& world, const XmlElement& root, XmlDocuments& documents, const RobotOptions& options) {
  require_rigid("options.pose", options.pose);
  const std::string_view kind = root.Name();
  if (kind != "robot" && kind != "mujoco") fail(root, "expected <robot> (URDF) or <mujoco> (MJCF)");
  RobotDescription description = kind == "robot" ? read_urdf(root, options) : read_mjcf(root, documents, options);
  const std::string srdf = options.srdf ? *options.srdf : kind == "robot" ? find_srdf(description.file, description.name) : "";
  if (!srdf.empty()) read_srdf(documents.load(srdf), description);
  RobotParts parts = assemble_robot(description, options);
  std::vector<std::string>& files = parts.robot.files;
  files = documents.files();
  for (const CollisionGeometry& geometry : parts.geometries) {
    if (const auto* mesh = std::get_if<MeshFile>(&geometry.shape)) files.push_back(mesh->path);
  }
  for (const std::string& mesh : description.weighed_files) {
    if (std::ranges::find(files, mesh) == files.end()) files.push_back(mesh);
  }
  for (const Robot& other : world.robots) {
    if (other.name == parts.robot.name) {
      throw InvalidArgument("options.name", "a name that no other robot has", fmt::format("'{}'", other.name));
    }
  }
  RobotParts cut = cut_at_joints(parts, options);
  if (!cut.cuts.empty()) return commit_cut(world, std::move(cut), std::move(parts));
  Trees trees = build_trees(parts);
  if (world.uncut != nullptr) {
    for (int j = 0; j < static_cast<int>(parts.joints.size()); ++j)
      world.uncut_joint.push_back(static_cast<int>(world.uncut->joints.size()) + j);
    commit(*world.uncut, parts, trees);
  }
  return commit(world, std::move(parts), std::move(trees));
}

/// One gravity for all: the user's, else that of the first file that names one; a file that disagrees gets a warning.
void settle_gravity(World::Impl& world) {
  for (Robot& robot : world.robots) {
    if (!robot.gravity) continue;
    if (!world.gravity_given) {
      world.gravity = *robot.gravity;
      world.gravity_given = true;
    }
    const Eigen::Vector3d &own = *robot.gravity, &g = world.gravity;
    if (own == g) continue;
    robot.warnings.push_back(fmt::format("{}: gravity ({}, {}, {}) left out: that of the world is ({}, {}, {})", robot.file, own.x(),
                                         own.y(), own.z(), g.x(), g.y(), g.z()));
  }
}

/// Offsets of a file that lead a body out of reach.
void check_positions(const World& world, const WorldData& start) {
  require_within_reach("q", world.initial_configuration());
  for (std::size_t b = 0; b < start.X_WB.size(); ++b)
    require_within_reach(fmt::format("position of body '{}'", world.bodies()[b].name), start.X_WB[b].translation());
}

/// A closed loop or coupled joint that the start configuration does not meet is a warning: the first steps will close it.
void check_equalities(World::Impl& impl, const World& world, const WorldData& start) {
  constexpr double kClosed = 1e-6;  // m or rad: files round their digits
  for (const Equality& equality : impl.equalities) {
    const EqualityError e = equality_error(world, start, equality, impl.q0);
    const double off = std::max(e.position.norm(), e.rotation.norm());
    if (off <= kClosed) continue;
    Robot& robot = impl.robots[equality.robot];
    robot.warnings.push_back(fmt::format("{}: equality '{}' does not hold in the start configuration: off by {:.3g} (m or rad)", robot.file,
                                         equality.name, off));
  }
}

}  // namespace

WorldBuilder::WorldBuilder() : impl_(std::make_unique<World::Impl>()) {}
WorldBuilder::~WorldBuilder() = default;
WorldBuilder::WorldBuilder(const WorldBuilder& other) : impl_(std::make_unique<World::Impl>(*other.impl_)) {
  if (impl_->uncut != nullptr) impl_->uncut = std::make_shared<World::Impl>(*impl_->uncut);  // additions change it
}
WorldBuilder::WorldBuilder(WorldBuilder&&) noexcept = default;
WorldBuilder& WorldBuilder::operator=(WorldBuilder&&) noexcept = default;

void WorldBuilder::set_gravity(const Eigen::Vector3d& gravity) {
  require_finite("gravity", gravity);
  for (int i = 0; i < 3; ++i) {
    if (std::abs(gravity[i]) <= kStrongestGravity) continue;
    throw InvalidArgument(fmt::format("gravity[{}]", i), fmt::format("a number within {:g} m/s^2 of 0", kStrongestGravity),
                          fmt::format("{}", gravity[i]));
  }
  impl_->gravity = gravity;
  impl_->gravity_given = true;
}

int WorldBuilder::add_robot(const std::string& file, const RobotOptions& options) {
  XmlDocuments documents;
  return add_robot_description(*impl_, documents.load(file), documents, options);
}

int WorldBuilder::add_robot_text(const std::string& text, const RobotOptions& options) {
  XmlDocuments documents;
  return add_robot_description(*impl_, documents.parse(text, "<text>"), documents, options);
}

namespace {

int commit_free_body(World::Impl& world, const FreeBody& body) {
  const int self = static_cast<int>(world.bodies.size());
  Eigen::VectorXd q0(7);
  q0 << body.pose.translation(), Eigen::Quaterniond(body.pose.linear()).normalized().coeffs();
  Joint joint{body.name, JointKind::free, -1, static_cast<int>(world.blocks.size()), self, world.nq, world.nv, 7, 6};
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  joint.lower = -unlimited;
  joint.upper = joint.velocity_limit = joint.effort_limit = unlimited;
  const int block = add_block(world, q0, 6, -1, self, nullptr);
  world.joints.push_back(joint);
  for (int i = 0; i < 6; ++i) world.support.push_back(i);
  add_body(world, body.name, Eigen::Isometry3d::Identity(), body.shapes);
  Body& added = world.bodies.back();
  added.block = block;
  added.mass = body.mass;
  added.com = body.com;
  added.inertia = (body.inertia + body.inertia.transpose()) / 2.0;
  return self;
}

}  // namespace

int WorldBuilder::add_free_body(const FreeBody& body) {
  require_new_name(*impl_, body.name);
  require_free(body);
  require_rigid("body.pose", body.pose);
  require_shapes(body.shapes);
  if (impl_->uncut != nullptr) {
    impl_->uncut_joint.push_back(static_cast<int>(impl_->uncut->joints.size()));
    commit_free_body(*impl_->uncut, body);
  }
  return commit_free_body(*impl_, body);
}

int WorldBuilder::add_static_body(const StaticBody& body) {
  require_new_name(*impl_, body.name);
  require_rigid("body.pose", body.pose);
  require_shapes(body.shapes);
  if (impl_->uncut != nullptr) add_body(*impl_->uncut, body.name, body.pose, body.shapes);
  return add_body(*impl_, body.name, body.pose, body.shapes);
}

std::span<const Robot> WorldBuilder::robots() const { return impl_->robots; }

World WorldBuilder::build() const {
  require_unique_paths(*impl_);
  auto world = std::make_shared<World::Impl>(*impl_);
  const auto settle = [](World::Impl& impl) {
    std::sort(impl.excluded.begin(), impl.excluded.end());
    impl.excluded.erase(std::unique(impl.excluded.begin(), impl.excluded.end()), impl.excluded.end());
    settle_gravity(impl);
  };
  settle(*world);
  if (world->uncut != nullptr) {
    world->uncut = std::make_shared<World::Impl>(*world->uncut);
    world->uncut->gravity = impl_->gravity;
    world->uncut->gravity_given = impl_->gravity_given;
    world->uncut->excluded = world->excluded;
    settle(*world->uncut);
  }
  World made(world);
  WorldData start(made);
  update_kinematics(made, made.initial_configuration(), start);
  check_positions(made, start);
  check_equalities(*world, made, start);
  return made;
}

}  // namespace stiction
