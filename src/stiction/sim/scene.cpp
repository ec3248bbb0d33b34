#include "stiction/sim/scene.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/files.hpp"
#include "stiction/base/ranges.hpp"
#include "stiction/control/torque_limits.hpp"
#include "stiction/forward/step_options.hpp"
#include "stiction/geometry/mass_properties.hpp"
#include "stiction/geometry/terrain.hpp"
#include "stiction/model/cut_joints.hpp"
#include "stiction/sim/key_names.hpp"
#include "stiction/sim/model_path.hpp"
#include "stiction/sim/scene_drives.hpp"
#include "stiction/sim/scene_table.hpp"

namespace stiction {

namespace {

using Eigen::Isometry3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// The whole path of a file that a key names, relative to the scene's folder.
std::string file_of(Table& t, const std::filesystem::path& folder) {
  const std::string name = t.text("file", "");
  if (!t.has("file")) {
    t.miss("file");
    return {};
  }
  const std::string file = (folder / name).string();
  try {
    require_file(file);
  } catch (const FileError& error) {
    t.fail("file", error.what());
  }
  return std::filesystem::absolute(file).string();
}

Shape read_shape(Table& t, const std::filesystem::path& folder) {
  const std::string kind = t.text("shape", "");
  if (kind == "sphere") return Sphere{t.required_number("radius")};
  if (kind == "box" && !t.has("size")) t.miss("size");
  if (kind == "box") return Box{0.5 * t.vector("size", Vector3d::Zero())};
  if (kind == "capsule") return Capsule{t.required_number("radius"), 0.5 * t.required_number("length")};
  if (kind == "cylinder") return Cylinder{t.required_number("radius"), 0.5 * t.required_number("length")};
  if (kind == "plane") return HalfSpace{};
  if (kind == "mesh") return MeshFile{file_of(t, folder), t.vector("scale", Vector3d::Ones()), t.flag("convex", true)};
  constexpr const char* kExpected = "expected sphere, box, capsule, cylinder, plane or mesh";
  if (t.has("shape")) t.fail("shape", kExpected);
  for (const char* key : {"radius", "length", "size", "file", "scale", "convex"}) t.allow(key);
  t.miss("shape", kExpected);
  return HalfSpace{};
}

constexpr std::array<std::string_view, 10> kTables{"body", "coupled", "drive",      "events", "material",
                                                   "pair", "robot",   "simulation", "static", "terrain"};

/// Reads the tables in order; velocities and held joints are applied once the world is built.
class SceneReader {
 public:
  SceneReader(const std::string& path, std::optional<Coordinates> coordinates)
      : path_(path), folder_(std::filesystem::path(path).parent_path()), coordinates_(coordinates) {}

  Scene read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      if (std::ranges::find(kTables, key.str()) == kTables.end()) {
        throw FileError(path_, fmt::format("line {}", node.source().begin.line),
                        fmt::format("unknown table [{}]: expected some of {}", key.str(), fmt::join(kTables, ", ")));
      }
    }
    if_there(root, "simulation", [this](Table t) { read_simulation(std::move(t)); });
    if_there(root, "material", [this](Table t) { read_material(std::move(t)); });
    if_there(root, "events", [this](Table t) { read_events(std::move(t)); });
    for_each(root, "robot", [this](Table t) { read_robot(std::move(t)); });
    for_each(root, "body", [this](Table t) { read_body(std::move(t)); });
    for_each(root, "static", [this](Table t) { read_static(std::move(t)); });
    for_each(root, "terrain", [this](Table t) { read_terrain(std::move(t)); });
    scene_.world = builder_.build();
    if (!dt_given_) scene_.options.assemble.dt = scene_.world.timestep().value_or(scene_.options.assemble.dt);
    for_each(root, "pair", [this](Table t) { read_pair(std::move(t)); });
    scene_.world = builder_.build();  // with what the pairs exclude
    for_each(root, "drive", [this](Table t) { read_drive(std::move(t), scene_.world, scene_.options.assemble.drives); });
    for_each(root, "coupled", [this](Table t) { read_coupled(std::move(t), scene_.world, scene_.options.assemble.drives); });
    scene_.start = initial_state(scene_.world);
    scene_.restitution = restitution_;
    scene_.restitution.resize(scene_.world.bodies().size(), 0.0);
    apply_velocities();
    apply_held();
    return std::move(scene_);
  }

 private:
  template <class Function>
  void for_each(const toml::table& root, const char* name, Function&& function) {
    const toml::node* node = root.get(name);
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr || !array->is_array_of_tables()) {
      throw FileError(path_, fmt::format("line {}", node->source().begin.line), fmt::format("write [[{}]], one per entry", name));
    }
    for (std::size_t i = 0; i < array->size(); ++i) at(*array->get(i)->as_table(), fmt::format("{}[{}]", name, i), function);
  }
  template <class Function>
  void if_there(const toml::table& root, const char* name, Function&& function) {
    const toml::node* node = root.get(name);
    if (node == nullptr) return;
    if (!node->is_table()) throw FileError(path_, fmt::format("line {}", node->source().begin.line), fmt::format("write [{}], once", name));
    at(*node->as_table(), name, function);
  }
  /// Reads one table; what a room refuses of it is said with the table's line.
  template <class Function>
  void at(const toml::table& table, std::string name, Function&& function) {
    try {
      function(Table(path_, name, table));
    } catch (const InvalidArgument& error) {
      throw FileError(path_, fmt::format("line {}, {}", table.source().begin.line, name),
                      by_keys_of_drives(by_keys_of_robots(error.what())));
    }
  }

  static ContactMaterial material_of(Table& t, ContactMaterial m) {
    for (const MaterialField& field : kMaterialFields) m.*field.member = t.number(std::string(field.name).c_str(), m.*field.member);
    validate(m, "material[0]");
    return m;
  }

  void read_material(Table t) {
    scene_.options.assemble.material = material_of(t, {});
    t.finish();
  }

  int body_named(const Table& t, const char* key, const std::string& name) const {
    try {
      return scene_.world.body(name);
    } catch (const InvalidArgument&) {
      t.fail(key, fmt::format("expected the name of one body or link, got '{}'", name));
    }
  }

  void read_pair(Table t) {
    PairMaterial pair;
    const std::string a = t.text("a", ""), b = t.text("b", "");
    const bool collide = t.flag("collide", true);
    if (!t.has("a")) t.miss("a", "missing: expected the name of a body or link");
    if (t.has("friction")) pair.mu = t.number("friction", 0.0, require_friction);
    if (t.has("restitution")) pair.restitution = t.number("restitution", 0.0, require_share);
    if (t.has("law")) pair.law = t.word("law", "", law_from_string);
    const bool parameters = std::ranges::any_of(kMaterialFields, [&](const MaterialField& field) { return t.has(field.name); });
    const ContactMaterial own = material_of(t, scene_.options.assemble.material.value_or(ContactMaterial{}));
    if (parameters) pair.material = own;
    t.finish();
    pair.body_a = body_named(t, "a", a);
    if (a == b) t.fail("b", fmt::format("expected another body than a, got '{}'", b));
    pair.body_b = t.has("b") ? body_named(t, "b", b) : kAnyBody;
    if (!collide) {
      if (!t.has("b")) t.fail("collide", "expected b, the name of the other body");
      t.refuse_others({"a", "b", "collide"}, "collide = false");
      return builder_.exclude(a, b);
    }
    if (!pair.mu && !pair.restitution && !pair.law && !parameters && !t.has("collide"))
      t.fail("friction", "missing, and no restitution, law, collide or parameter of the material either");
    scene_.options.assemble.pairs.push_back(pair);
  }

  void read_simulation(Table t) {
    dt_given_ = t.has("dt");
    scene_.options.assemble.dt = t.number("dt", 1e-3, require_positive);
    scene_.duration = t.number("duration", 1.0, require_positive);
    scene_.default_friction = t.number("friction", 0.5, require_friction);
    default_restitution_ = t.number("restitution", 0.0, require_share);
    scene_.options.contact.law = t.word("law", "coulomb_cone", law_from_string);
    scene_.options.contact.solver = t.word("solver", "auto", solver_from_string);
    scene_.options.scheme = t.word("scheme", to_string(scene_.options.scheme), scheme_from_string);
    scene_.options.contact.edges = t.integer("edges", scene_.options.contact.edges);
    scene_.options.contact.choice = t.word("choice", to_string(scene_.options.contact.choice), choice_from_string);
    scene_.options.contact.tolerance = t.number("tolerance", 1e-9, require_positive);
    scene_.options.acceptable = t.number("acceptable", 1e-6);
    scene_.options.strict = t.flag("strict", false);
    scene_.options.sub_steps = t.integer("sub_steps", 1);
    scene_.options.recovery = t.number("recovery", scene_.options.recovery, require_share);
    scene_.options.assemble.loop_recovery = t.number("loop_recovery", 1.0, require_share);
    if (t.has("gravity")) builder_.set_gravity(t.vector("gravity", Vector3d::Zero()));
    t.finish();
    if (scene_.options.sub_steps < 1) t.fail("sub_steps", "expected an integer >= 1");
    if (!(scene_.options.acceptable >= 0.0)) t.fail("acceptable", "expected a number >= 0");
    t.at("acceptable", [&] { refuse_idle(scene_.options, {.acceptable = t.has("acceptable") ? "acceptable" : ""}); });
  }

  void read_events(Table t) {
    EventOptions& events = scene_.options.events;
    events.integrator = t.word("integrator", to_string(events.integrator), integrator_from_string);
    events.impact = t.word("impact_model", to_string(events.impact), impact_model_from_string);
    events.order = t.word("impact_order", to_string(events.order), impact_order_from_string);
    events.time_tolerance = t.number("time_tolerance", events.time_tolerance);
    events.rest_speed = t.number("rest_speed", events.rest_speed);
    events.integration_tolerance = t.number("integration_tolerance", events.integration_tolerance);
    events.most_events = t.integer("most_events", events.most_events);
    t.finish();
    validate(events);
  }

  void read_robot(Table t) {
    RobotOptions options;
    options.name = t.text("name", "");
    if (t.has("floating")) options.base = t.flag("floating", false) ? BaseKind::floating : BaseKind::fixed;
    options.pose = t.pose();
    if (t.has("srdf")) options.srdf = srdf_path(t, t.text("srdf", ""));
    options.self_collision = t.flag("self_collision", true);
    options.filter_overlaps = t.flag("filter_overlaps", true);
    options.convex_meshes = t.flag("convex_meshes", true);
    options.keyframe = t.text("keyframe", "");
    options.allow_impossible_inertia = t.flag("allow_impossible_inertia", false);
    options.coordinates = t.word("coordinates", "minimal", coordinates_from_string);
    options.cut = t.texts("cut");
    if (coordinates_) {
      options.coordinates = *coordinates_;
      if (*coordinates_ != Coordinates::extended) options.cut.clear();
    }
    for (const auto& [joint, position] : t.numbers("joints")) options.joints[joint].position = position;
    for (auto& [joint, settings] : t.tables("joint_settings")) {
      for (const JointSettingField& field : kJointSettingFields) {
        if (settings.has(field.name)) options.joints[joint].*field.member = settings.number(field.name, 0.0);
      }
      settings.finish();
    }
    const std::string file = t.text("file", "");
    const double kp = t.number("hold_kp", 0.0), kd = t.number("hold_kd", 0.0);
    t.finish();
    if (!(kp >= 0.0) || std::isinf(kp)) t.fail("hold_kp", "expected a finite number >= 0");
    if (!(kd >= 0.0) || std::isinf(kd)) t.fail("hold_kd", "expected a finite number >= 0");
    const int robot = builder_.add_robot(find_model(t, "file", file), options);
    if (kp > 0.0 || kd > 0.0) held_robots_.push_back({robot, kp, kd});
  }

  /// Beside the scene, in the folder above it, or among the models that come with stiction.
  std::string find_model(const Table& t, std::string_view key, const std::string& file) const {
    if (file.empty()) t.fail(key, "expected the name of a URDF or MJCF file");
    for (const std::filesystem::path& place : {folder_ / file, folder_ / ".." / file}) {
      std::error_code error;
      if (std::filesystem::is_regular_file(place, error)) return tidy_path(place);
    }
    try {
      return model_path(file);
    } catch (const FileError&) {
      const std::string here = folder_.empty() ? "." : folder_.string(), shipped = shipped_folder();
      t.fail(key,
             fmt::format("expected a file in {}, the folder above it{}, got '{}'", here, shipped.empty() ? "" : " or " + shipped, file));
    }
  }

  std::string srdf_path(const Table& t, const std::string& file) const { return file.empty() ? file : find_model(t, "srdf", file); }

  /// One shape at the body's origin, or `shapes`, each with its place; `friction` is of those that have none of their own.
  std::vector<BodyShape> shapes_of(Table& t) {
    const std::optional<double> friction = t.maybe_number("friction");
    if (!t.has("shapes")) return {{read_shape(t, folder_), Isometry3d::Identity(), friction}};
    if (t.has("shape")) t.fail("shape", "expected shape or shapes, not both");
    std::vector<BodyShape> out;
    for (auto& [name, own] : t.tables("shapes")) {
      out.push_back({read_shape(own, folder_), own.pose(), own.has("friction") ? own.maybe_number("friction") : friction});
      own.finish();
    }
    if (out.empty()) t.fail("shapes", "expected one or more, got none");
    return out;
  }

  /// Mass, or density; centre of mass and inertia of the homogeneous solid where the file does not give them. The last to read of its
  /// table.
  static void read_inertia(Table& t, FreeBody& body) {
    const std::optional<double> mass = t.maybe_number("mass"), density = t.maybe_number("density");
    if (mass && density) t.fail("density", "expected mass or density, not both");
    if (!mass && !density) t.miss("mass", "missing, and no density either");
    const bool has_com = t.has("com");
    const Vector3d com = t.vector("com", Vector3d::Zero());
    const std::optional<Eigen::Matrix3d> inertia = t.matrix("inertia");
    t.finish();
    set_inertia(body, mass, density, has_com ? std::optional(com) : std::nullopt, inertia);
  }

  void set_restitution(int body, double value) {
    if (restitution_.size() <= static_cast<std::size_t>(body))
      restitution_.resize(static_cast<std::size_t>(body) + 1, default_restitution_);
    restitution_[body] = value;
  }

  void read_body(Table t) {
    FreeBody body;
    body.name = t.text("name", fmt::format("body{}", velocities_.size()));
    body.pose = t.pose();
    body.shapes = shapes_of(t);
    const Vector3d velocity = t.vector("velocity", Vector3d::Zero()), spin = t.vector("angular_velocity", Vector3d::Zero());
    const double restitution = t.number("restitution", default_restitution_, require_share);
    read_inertia(t, body);
    const int index = builder_.add_free_body(body);
    set_restitution(index, restitution);
    velocities_.push_back({index, velocity, spin});
  }

  void read_static(Table t) {
    StaticBody body;
    body.name = t.text("name", fmt::format("static{}", statics_++));
    body.pose = t.pose();
    body.shapes = shapes_of(t);
    const double restitution = t.number("restitution", default_restitution_, require_share);
    t.finish();
    set_restitution(builder_.add_static_body(body), restitution);
  }

  void read_terrain(Table t) {
    TerrainOptions options;
    options.kind = t.word("kind", to_string(options.kind), terrain_kind_from_string);
    options.seed = t.seed("seed", 1);
    if (const auto size = t.two_numbers("size")) {
      t.at("size", [&] {
        for (const double side : *size) require_positive("size", side);
      });
      std::tie(options.size_x, options.size_y) = std::pair((*size)[0], (*size)[1]);
    }
    options.friction = t.two_numbers("friction");
    for (const TerrainField& field : terrain_fields()) {
      if (field.is_read(options.kind)) {
        options.*field.member = t.number(field.name, options.*field.member);
      } else if (t.holds(field.name)) {
        t.fail(field.name, fmt::format("expected no such number for {}", to_string(options.kind)));
      }
    }
    StaticBody body;
    body.name = t.text("name", "terrain");
    body.pose = t.pose();
    const double restitution = t.number("restitution", default_restitution_, require_share);
    t.finish();
    body.shapes = {make_terrain(options)};
    set_restitution(builder_.add_static_body(body), restitution);
  }

  void apply_velocities() {
    for (const auto& [body, velocity, spin] : velocities_) set_velocity(scene_.world, body, velocity, spin, scene_.start);
  }

  void apply_held() {
    for (const auto& [robot, kp, kd] : held_robots_) {
      const World uncut = scene_.world.uncut();
      for (const Joint& joint : uncut.joints()) {
        if (joint.robot != robot || joint.nv != 1 || !joint.actuated) continue;
        scene_.held.push_back({joint.q, joint.v, uncut.initial_configuration()[joint.q], kp, kd, motor_limit(joint)});
      }
    }
  }

  struct HeldRobot {
    int robot;
    double kp, kd;
  };
  struct StartVelocity {
    int body;
    Vector3d velocity, spin;
  };
  const std::string& path_;
  std::filesystem::path folder_;
  std::optional<Coordinates> coordinates_;
  WorldBuilder builder_;
  Scene scene_;
  double default_restitution_ = 0.0;
  bool dt_given_ = false;
  int statics_ = 0;
  std::vector<double> restitution_;
  std::vector<HeldRobot> held_robots_;
  std::vector<StartVelocity> velocities_;
};

}  // namespace

struct CollisionCache {
  std::mutex mutex;
  World world;  ///< of `scene`; kept, so that no other world gets its address
  std::optional<CollisionScene> scene;
};

Scene::Scene() : collision(std::make_shared<CollisionCache>()) {}

Stepper Scene::make_stepper(const StepOptions& other_options) const {
  const std::lock_guard lock(collision->mutex);
  if (!collision->scene || &collision->world.impl() != &world.impl()) {
    collision->scene.emplace(make_scene(world, default_friction, restitution));
    collision->world = world;
  }
  return {world, *collision->scene, other_options};
}

void Scene::held_torques(const State& state, VectorXd& tau) const {
  tau.setZero(world.nv());
  const auto hold = [this](const VectorXd& q, const VectorXd& v, VectorXd& out) {
    for (const HeldJoint& joint : held) {
      const double wanted = joint.kp * (joint.target - q[joint.q]) - joint.kd * v[joint.v];
      out[joint.v] = clamp_torque(wanted, joint.effort_limit);
    }
  };
  if (world.cuts().empty()) return hold(state.q, state.v, tau);
  if (held.empty()) return;
  WorldData data(world);
  update(world, state.q, state.v, data);
  VectorXd q(world.uncut().nq()), v(world.uncut().nv()), wanted = VectorXd::Zero(world.uncut().nv());
  to_uncut(world, data, state.q, state.v, q, v);
  hold(q, v, wanted);
  add_uncut_forces(world, data, wanted, tau);
}

void set_velocity(const World& world, int body, const Vector3d& linear, const Vector3d& angular, State& state) {
  const int bodies = static_cast<int>(world.bodies().size());
  if (body < 0 || body >= bodies) throw InvalidArgument("body", fmt::format("an index in [0, {})", bodies), fmt::format("{}", body));
  require_finite("linear", linear);
  require_finite("angular", angular);
  require_size("state.q", state.q.size(), world.nq());
  require_size("state.v", state.v.size(), world.nv());
  const auto at = std::ranges::find_if(world.joints(), [&](const Joint& j) { return j.body == body && j.kind == JointKind::free; });
  if (at == world.joints().end()) {
    const std::string& name = world.bodies()[body].name;
    throw InvalidArgument("velocity", "a free body or a floating base", fmt::format("'{}'", name));
  }
  const Eigen::Quaterniond R(Eigen::Vector4d(state.q.segment<4>(at->q + 3)));
  state.v.segment<3>(at->v) = R.inverse() * linear;
  state.v.segment<3>(at->v + 3) = R.inverse() * angular;
}

void set_inertia(FreeBody& body, std::optional<double> mass, std::optional<double> density, const std::optional<Vector3d>& com,
                 const std::optional<Eigen::Matrix3d>& inertia) {
  if (mass) require_positive("mass", *mass);
  if (density) require_positive("density", *density);
  if (mass && com && inertia) {
    body.mass = *mass;
  } else {
    Inertial solid = mass_properties(body.shapes, density.value_or(1.0));
    if (mass) {
      solid.inertia *= *mass / solid.mass;
      solid.mass = *mass;
    }
    body.mass = solid.mass;
    body.com = solid.com;
    body.inertia = solid.inertia;
  }
  if (com) body.com = *com;
  if (inertia) body.inertia = *inertia;
}

Scene load_scene(const std::string& name, std::optional<Coordinates> coordinates) {
  const std::string path = model_path(name);
  if (const std::string kind = std::filesystem::path(path).extension().string(); kind == ".urdf" || kind == ".xml" || kind == ".mjcf")
    throw FileError(path, "", "expected a scene (.toml), whose [[robot]] names such a file; `stiction view` shows it alone");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileError(path, "", fmt::format("cannot be read: {}", std::strerror(errno)));
  toml::table root;
  try {
    root = toml::parse(file, path);
  } catch (const toml::parse_error& error) {
    throw FileError(path, fmt::format("line {}", error.source().begin.line), error.description());
  }
  try {
    return SceneReader(path, coordinates).read(root);
  } catch (const InvalidArgument& error) {
    throw FileError(path, "", error.what());
  }
}

}  // namespace stiction
