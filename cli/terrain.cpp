// stiction terrain KIND: ground drawn from a seed, what it measures, and a scene with it.
#include <array>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/geometry/terrain.hpp"

namespace stiction::cli {
namespace {

struct TerrainCommand {
  std::string kind = "hills", scene;
  std::vector<double> size, friction;  ///< of one number or two
  TerrainOptions options;
  std::array<CLI::Option*, 6> given{};  ///< in the order of terrain_fields()
};

std::array<double, 2> two(const std::vector<double>& numbers) { return {numbers.front(), numbers.back()}; }

TerrainOptions options_of(const TerrainCommand& c, std::uint64_t seed) {
  TerrainOptions o = c.options;
  o.kind = terrain_kind_from_string(c.kind);
  o.seed = seed;
  for (const double side : c.size) require_positive("--size", side);
  if (!c.size.empty()) {
    o.size_x = two(c.size)[0];
    o.size_y = two(c.size)[1];
  }
  if (!c.friction.empty()) {
    o.friction = two(c.friction);
    const auto [least, most] = *o.friction;
    if (!(0.0 <= least && least <= most && std::isfinite(most)))
      throw InvalidArgument("--friction", "a finite number >= 0, or two with the least first",
                            fmt::format("{}", fmt::join(c.friction, " ")));
  }
  for (std::size_t i = 0; i < c.given.size(); ++i) {
    const TerrainField& field = terrain_fields()[i];
    if (c.given[i]->count() > 0 && !field.is_read(o.kind)) {
      throw InvalidArgument(fmt::format("--{}", field.name), fmt::format("no such number for {}", c.kind), "one");
    }
  }
  return o;
}

/// Height of the highest point and number of triangles of its top.
std::pair<double, long> measure(const Shape& shape) {
  if (const auto* map = std::get_if<HeightMap>(&shape)) {
    return {map->heights.maxCoeff(), 2 * (map->heights.rows() - 1) * (map->heights.cols() - 1)};
  }
  const auto& mesh = std::get<TriangleMesh>(shape);
  double highest = 0.0;
  for (const Eigen::Vector3d& v : mesh.vertices) highest = std::max(highest, v.z());
  return {highest, static_cast<long>(mesh.triangles.size())};
}

/// The ground and a ball above its middle.
std::string scene_of(const TerrainOptions& o, const Shape& shape) {
  std::string out = fmt::format("# Ground drawn from a seed.\n[[terrain]]\nkind = \"{}\"\nseed = {}\nsize = [{}, {}]\n", to_string(o.kind),
                                o.seed, o.size_x, o.size_y);
  for (const TerrainField& field : terrain_fields()) {
    if (field.is_read(o.kind)) out += fmt::format("{} = {}\n", field.name, o.*field.member);
  }
  if (o.friction) out += fmt::format("friction = [{}, {}]\n", (*o.friction)[0], (*o.friction)[1]);
  constexpr double kDrop = 0.3;  // m
  return out + fmt::format("\n[[body]]\nname = \"ball\"\nshape = \"sphere\"\nradius = 0.05\nmass = 1.0\nposition = [0.0, 0.0, {}]\n",
                           terrain_height(shape, 0.0, 0.0).value_or(0.0) + kDrop);
}

int terrain(const TerrainCommand& command, const Session& session) {
  require_distinct({{"--scene", command.scene}, {"--json", session.json.value_or("")}});
  const TerrainOptions options = options_of(command, session.seed);
  const BodyShape ground = make_terrain(options);
  const auto [highest, triangles] = measure(ground.shape);
  const Eigen::MatrixXd& mu = ground.patches.mu;
  nlohmann::ordered_json out{{"kind", to_string(options.kind)},
                             {"seed", options.seed},
                             {"size", {options.size_x, options.size_y}},
                             {"highest", highest},
                             {"triangles", triangles}};
  out["patches"] =
      mu.size() == 0
          ? nlohmann::ordered_json()
          : nlohmann::ordered_json{
                {"along_x", mu.rows()}, {"along_y", mu.cols()}, {"least", mu.minCoeff()}, {"mean", mu.mean()}, {"most", mu.maxCoeff()}};
  if (session.json) write_text(*session.json, out.dump(2));
  if (session.prints_table()) {
    fmt::print("{}, seed {}: {:g} m x {:g} m, highest point {:.6g} m, {} triangles\n", to_string(options.kind), options.seed,
               options.size_x, options.size_y, highest, triangles);
    if (mu.size() > 0) {
      fmt::print("{} x {} patches of friction, least {:.4g}, mean {:.4g}, most {:.4g}\n", mu.rows(), mu.cols(), mu.minCoeff(), mu.mean(),
                 mu.maxCoeff());
    }
  }
  if (!command.scene.empty()) write_text(command.scene, scene_of(options, ground.shape));
  return kOk;
}

}  // namespace

void add_terrain(CLI::App& app, Session& session) {
  CLI::App& sub = add_subcommand(app, "terrain", "Ground drawn from a seed, for scenes", session);
  auto command = std::make_shared<TerrainCommand>();
  sub.add_option("KIND", command->kind, terrain_kind_names())->capture_default_str();
  sub.add_option("--size", command->size, "Sides along x and y, 4 3 or 4,3, or one for both (m; default: 3)")
      ->expected(1, 2)
      ->delimiter(',');
  sub.add_option("--friction", command->friction,
                 "Of every patch: uniform between two numbers, 0.1 2 or 0.1,2, or one number (default: the scene's)")
      ->expected(1, 2)
      ->delimiter(',');
  for (std::size_t i = 0; i < command->given.size(); ++i) {
    const TerrainField& field = terrain_fields()[i];
    std::string kinds;
    for (const TerrainKind kind : kTerrainKinds) {
      if (field.is_read(kind)) kinds += (kinds.empty() ? "" : ", ") + std::string(to_string(kind));
    }
    command->given[i] =
        sub.add_option(fmt::format("--{}", field.name), command->options.*field.member, fmt::format("{} ({})", kinds, field.unit))
            ->capture_default_str();
  }
  sub.add_option("--scene", command->scene, "File (.toml) for a scene: the ground and a ball above its middle")
      ->check(writable_file({".toml"}));
  sub.callback([command, &session] { session.run = [command, &session] { return terrain(*command, session); }; });
}

}  // namespace stiction::cli
