// stiction scenes: what comes with stiction.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "stiction/sim/model_path.hpp"

namespace stiction::cli {
namespace {

int run(const Session& session) {
  const std::vector<ShippedScene> scenes = shipped_scenes();
  if (session.json) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const ShippedScene& scene : scenes) out.push_back({{"name", scene.name}, {"file", scene.file}, {"about", scene.about}});
    write_text(*session.json, out.dump(2));
  }
  if (!session.prints_table()) return kOk;
  for (const ShippedScene& scene : scenes) fmt::print("{:<12} {}\n", scene.name, scene.about);
  fmt::print("stiction simulate NAME runs one, stiction view NAME shows it; the files are in {}\n", shipped_folder());
  return kOk;
}

}  // namespace

void add_scenes(CLI::App& app, Session& session) {
  CLI::App& sub = add_subcommand(app, "scenes", "The scenes that come with stiction", session);
  sub.callback([&session] { session.run = [&session] { return run(session); }; });
}

}  // namespace stiction::cli
