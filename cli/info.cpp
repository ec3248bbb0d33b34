// stiction info MODEL: what a robot's file contains, as this engine reads it.
#include <cmath>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "stiction/assemble/assemble.hpp"
#include "stiction/base/errors.hpp"

namespace stiction::cli {
namespace {

/// Infinity has no JSON; an absent limit is null.
nlohmann::json finite_or_null(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); }

/// Links that would not collide; a mesh that cannot be made to collide is said here too.
std::vector<std::string> overlap_warnings(const World& world) {
  constexpr double kAnyFriction = 0.5;
  try {
    return make_scene(world, kAnyFriction).warnings;
  } catch (const std::exception& error) {
    return {fmt::format("{}: not looked for links that overlap: {}", world.robots()[0].name, error.what())};
  }
}

std::string describe_json(const World& world) {
  nlohmann::ordered_json out;
  const Robot& robot = world.robots()[0];
  out["name"] = robot.name;
  out["file"] = robot.file;
  out["floating_base"] = robot.floating;
  out["mass"] = robot.mass;
  out["nq"] = world.nq();
  out["nv"] = world.nv();
  out["actuated"] = world.actuated().size();
  out["joints"] = nlohmann::ordered_json::array();
  for (const Joint& joint : world.joints()) {
    out["joints"].push_back({{"name", joint.name},
                             {"kind", to_string(joint.kind)},
                             {"body", world.bodies()[joint.body].name},
                             {"q", joint.q},
                             {"v", joint.v},
                             {"lower", finite_or_null(joint.lower)},
                             {"upper", finite_or_null(joint.upper)},
                             {"velocity_limit", finite_or_null(joint.velocity_limit)},
                             {"effort_limit", finite_or_null(joint.effort_limit)},
                             {"dry_friction", joint.dry_friction},
                             {"damping", joint.damping},
                             {"armature", joint.armature},
                             {"stiffness", joint.stiffness},
                             {"spring_reference", joint.spring_reference},
                             {"actuated", joint.actuated}});
  }
  out["bodies"] = nlohmann::ordered_json::array();
  for (const Body& body : world.bodies()) out["bodies"].push_back({{"name", body.name}, {"mass", body.mass}});
  out["geometries"] = nlohmann::ordered_json::array();
  for (const CollisionGeometry& geometry : world.geometries()) {
    out["geometries"].push_back(
        {{"name", geometry.name}, {"body", world.bodies()[geometry.body].name}, {"shape", shape_name(geometry.shape)}});
  }
  out["warnings"] = world.warnings();
  for (const std::string& warning : overlap_warnings(world)) out["warnings"].push_back(warning);
  return out.dump(2);
}

std::string describe(const World& world) {
  const Robot& robot = world.robots()[0];
  std::string out = fmt::format("{}: {} base, {:.6g} kg, {} bodies, {} joints ({} actuated), {} collision shapes, nq {}, nv {}\n",
                                robot.name, robot.floating ? "floating" : "fixed", robot.mass, world.bodies().size(), world.joints().size(),
                                world.actuated().size(), world.geometries().size(), world.nq(), world.nv());
  out += fmt::format("{:>3}  {:<32} {:<10} {:>9} {:>9} {:>9} {:>9}\n", "v", "joint", "kind", "lower", "upper", "speed", "effort");
  for (const Joint& joint : world.joints()) {
    out += fmt::format("{:>3}{} {:<32} {:<10} {:>9.4g} {:>9.4g} {:>9.4g} {:>9.4g}\n", joint.v, joint.actuated ? '*' : ' ', joint.name,
                       to_string(joint.kind), joint.lower, joint.upper, joint.velocity_limit, joint.effort_limit);
  }
  return out + "* actuated; limits in rad, m, rad/s, m/s, N m, N";
}

struct InfoOptions {
  std::string model;
  bool floating = false;
};

/// The files of other commands are named; any other text is told by the reader.
void require_robot_file(const std::string& model) {
  const std::string kind = std::filesystem::path(model).extension().string();
  const std::string_view other = kind == ".toml" ? "a scene" : kind == ".npz" || kind == ".csv" ? "a recorded run" : "";
  if (!other.empty()) throw InvalidArgument("MODEL", "a URDF or MJCF file", fmt::format("'{}', which is named as {}", model, other));
}

int info(const InfoOptions& options, const Session& session) {
  require_robot_file(options.model);
  require_distinct({{"MODEL", options.model}, {"--json", session.json.value_or("")}});
  WorldBuilder builder;
  RobotOptions robot;
  if (options.floating) robot.base = BaseKind::floating;
  builder.add_robot(options.model, robot);
  const World world = builder.build();
  print_warnings(world, session);
  print_warnings(overlap_warnings(world), session);
  if (session.json) {
    write_text(*session.json, describe_json(world));
  } else if (!session.quiet) {
    write_text("-", describe(world));
  }
  return kOk;
}

}  // namespace

void add_info(CLI::App& app, Session& session) {
  CLI::App& sub = add_subcommand(app, "info", "What a robot's file (URDF or MJCF) contains", session);
  auto options = std::make_shared<InfoOptions>();
  sub.add_option("MODEL", options->model, "URDF or MJCF file")->required();
  sub.add_flag("--floating", options->floating, "Give a URDF a floating base");
  sub.callback([options, &session] { session.run = [options, &session] { return info(*options, session); }; });
}

}  // namespace stiction::cli
