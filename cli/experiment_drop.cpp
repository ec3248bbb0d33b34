// stiction experiment drop: robots let go above the ground, and whether what happens makes sense at every step.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/experiment.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/experiments/drop.hpp"
#include "stiction/io/problem_file.hpp"

namespace stiction::cli {
namespace {

struct DropCommand {
  std::vector<std::string> robots;
  std::string height = "clear", law = "coulomb_cone", dump;
  bool quick = false, fixed = false;
  DropOptions options;
};

/// Files as named; of a folder all URDF files in it, at any depth.
std::vector<std::string> find_files(const std::vector<std::string>& named) {
  std::vector<std::string> files;
  for (const std::string& name : named) {
    if (!std::filesystem::exists(name)) throw FileError(name, "", "no such file or folder");
    if (!std::filesystem::is_directory(name)) {
      files.push_back(name);
      continue;
    }
    const std::size_t first = files.size();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(name)) {
      if (entry.is_regular_file() && entry.path().extension() == ".urdf") files.push_back(entry.path().string());
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
  }
  return files;
}

/// Of the step that ended the run too.
double worst_residual(const DropResult& r) { return std::max(r.run.worst_residual, r.run.last.residual); }

nlohmann::ordered_json drop_to_json(const DropResult& r) {
  nlohmann::ordered_json out;
  out["robot"] = r.robot;
  out["file"] = r.file;
  out["status"] = r.run.status();
  out["time"] = r.time;
  out["nv"] = r.nv;
  out["bodies"] = r.bodies;
  out["geometries"] = r.geometries;
  out["mass"] = r.mass;
  out["clearance"] = r.clearance;
  out["height_start"] = r.height_start;
  out["height_end"] = r.height_end;
  out["steps"] = r.run.steps;
  out["steps_at_acceptable"] = r.run.at_acceptable;
  out["retried"] = r.run.retried;
  out["halved"] = r.run.halved;
  out["corrections_refused"] = r.run.corrections_refused;
  out["most_contacts"] = std::lround(r.run.contacts.maximum());
  out["mean_iterations"] = r.run.iterations.mean();
  out["worst_residual"] = worst_residual(r);
  out["penetration_start"] = r.run.penetration_start;
  out["penetration"] = r.run.deepest_penetration;
  out["penetration_end"] = r.run.penetration_end;
  out["fastest"] = r.fastest;
  out["jump"] = r.jump;
  out["jump_share"] = r.jump_share;
  out["energy_rise"] = r.energy_rise;
  out["energy_scale"] = r.energy_scale;
  for (const auto& [joint, position] : r.joints) out["joints"][joint] = position;
  out["warnings"] = r.warnings;
  return out;
}

constexpr const char* kDropRow = "{:<28} {:>4} {:>8} {:>7} {:>18} {:>7} {:>7} {:>6} {:>9} {:>16} {:>9} {:>9} {:>8}\n";

std::string header() {
  return fmt::format(kDropRow, "robot", "nv", "contacts", "time", "base height m", "accept.", "retried", "halved", "residual",
                     "penetration mm", "jump mm", "energy", "m/s");
}

std::string row(const DropResult& r) {
  return fmt::format(
      kDropRow, std::filesystem::path(r.file).stem().string(), r.nv, r.run.contacts.maximum(),
      r.time > 0.0 && (r.run.stop == Stop::duration) ? fmt::format("{:.2f} s", r.time) : fmt::format("{:.2f} !", r.time),
      fmt::format("{:.3f} -> {:.3f}", r.height_start, r.height_end), r.run.at_acceptable, r.run.retried, r.run.halved,
      fmt::format("{:.1e}", worst_residual(r)),
      fmt::format("{:.2f} {:.2f} {:.2f}", 1e3 * r.run.penetration_start, 1e3 * r.run.deepest_penetration, 1e3 * r.run.penetration_end),
      fmt::format("{:.2g}", 1e3 * r.jump), fmt::format("{:.1e}", r.energy_rise / r.energy_scale), fmt::format("{:.1f}", r.fastest));
}

constexpr const char* kDropLegend =
    "time: reached, ! ended early. accept.: steps above the tolerance that went on. penetration: deepest at the start, over the run, at "
    "the\n"
    "end. jump: farthest that a body moved beyond its speed and the correction of positions. energy: largest rise over m g (highest\n"
    "point).";

/// Files that cannot be read are rows too: a table of robots says which it left out.
bool run_one(const std::string& file, const DropCommand& command, bool table, const Session& session, nlohmann::ordered_json& rows) {
  ContactProblem failed;
  try {
    const DropResult result = drop(file, command.options, &failed);
    const bool ended = result.run.stop == Stop::refused;
    if (ended && !command.dump.empty()) save_problem(command.dump, failed);
    rows.push_back(drop_to_json(result));
    print_warnings(result.warnings, session);
    if (table) fmt::print("{}", row(result));
    std::fflush(stdout);
    return !ended;
  } catch (const FileError& error) {
    rows.push_back({{"file", file}, {"status", "not loaded"}, {"reason", error.what()}});
    if (table) fmt::print("{:<28} not loaded: {}\n", std::filesystem::path(file).stem().string(), error.what());
    return true;
  }
}

int run_drop(DropCommand& command, const Session& session) {
  require_distinct({{"--dump", command.dump}, {"--json", session.json.value_or("")}});
  command.options.step.contact.law = law_from_string(command.law);
  command.options.floating = !command.fixed;
  if (command.height != "clear") {
    try {
      command.options.clearance = std::stod(command.height);
    } catch (const std::exception&) {
      throw InvalidArgument("--height", "clear or a number (m)", "'" + command.height + "'");
    }
  }
  if (command.quick) command.options.duration = std::min(command.options.duration, 0.2);
  const bool table = session.prints_table();
  if (table) fmt::print("{}", header());
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  bool good = true;
  for (const std::string& file : find_files(command.robots)) good &= run_one(file, command, table, session, rows);
  if (table) fmt::print("{}\n", kDropLegend);
  if (session.json) write_text(*session.json, rows.dump(2));
  return good ? kOk : kNumericalFailure;
}

}  // namespace

void add_drop(CLI::App& sub, Session& session) {
  auto command = std::make_shared<DropCommand>();
  sub.add_option("--robot", command->robots, "URDF or MJCF file, or a folder of URDF files; may be repeated")->required();
  sub.add_option("--height", command->height, "Of the lowest point at the start: clear (1 mm) or a number (m)")->capture_default_str();
  sub.add_option("--duration", command->options.duration, "Simulated time (s)")->capture_default_str();
  sub.add_option("--dt", command->options.step.assemble.dt, "Step (s)")->capture_default_str()->check(positive_number());
  sub.add_option("--law", command->law, "Contact law: " + law_names())->check(name_read_by(law_from_string))->capture_default_str();
  sub.add_flag("--fixed", command->fixed, "URDF files keep a fixed base, at the height at which their lowest point is clear");
  sub.add_flag("--quick", command->quick, "0.2 s at most");
  sub.add_option("--dump", command->dump, "File (.json or .npz) for the contact problem at which a run ended")
      ->check(writable_file({".json", ".npz"}));
  sub.callback([command, &session] { session.run = [command, &session] { return run_drop(*command, session); }; });
}

}  // namespace stiction::cli
