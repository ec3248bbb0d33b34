#include "stiction/sim/scene_drives.hpp"

#include <algorithm>

#include "stiction/model/cut_joints.hpp"

namespace stiction {

namespace {

int coordinate_of(const Table& t, const char* key, const World& world, const std::string& name) {
  try {
    const Joint& joint = world.joints()[world.joint(name)];
    if (joint.nv != 1) t.fail(key, fmt::format("expected joints of one velocity, got '{}' of {}", name, joint.nv));
    return joint.v;
  } catch (const InvalidArgument&) {
    const auto is_it = [&](const CutJoint& cut) { return cut.joint.name == name; };
    const bool is_cut = std::ranges::any_of(world.cuts(), is_it);
    t.fail(key, fmt::format("expected the name of one joint{}, got '{}'", is_cut ? " that is not cut" : "", name));
  }
}

std::vector<int> coordinates_of(Table& t, const World& world) {
  std::vector<int> out;
  for (const std::string& name : t.texts("joints")) {
    out.push_back(coordinate_of(t, "joints", world, name));
    if (std::ranges::count(out, out.back()) > 1) t.fail("joints", fmt::format("expected every joint once, got '{}' again", name));
  }
  if (!t.has("joints")) out.assign(world.actuated().begin(), world.actuated().end());
  return out;
}

/// Largest force of a drive, checked here because the drives have two bounds of their own made from it.
std::optional<double> limit_of(Table& t) {
  const std::optional<double> limit = t.maybe_number("limit");
  if (limit && !(*limit >= 0.0)) t.fail("limit", "expected a number >= 0");
  return limit;
}

}  // namespace

void read_drive(Table t, const World& world, Drives& drives) {
  const std::vector<int> joints = coordinates_of(t, world);
  const bool servo = t.has("position");
  const double position = t.number("position", 0.0), velocity = t.number("velocity", 0.0), no_load = t.number("no_load", kInfinity);
  const double kp = t.number("kp", 0.0), kd = t.number("kd", 0.0);
  const std::optional<double> limit = limit_of(t);
  t.finish();
  if (!servo && !t.has("velocity")) t.fail("velocity", "missing, and no position either");
  if (joints.empty()) t.fail(servo ? "position" : "velocity", "expected joints to drive, got none");
  if (servo && t.has("no_load")) t.fail("no_load", "expected none beside position");
  if (!servo && (t.has("kp") || t.has("kd"))) t.fail(t.has("kp") ? "kp" : "kd", "expected none without position");
  if (servo && kp == 0.0 && kd == 0.0) t.fail("position", "expected kp or kd above zero beside it");
  for (const int v : joints) {
    const double most = limit.value_or(motor_limit(*joint_at(world, v)));
    if (servo) drives.servos.push_back({v, position, velocity, kp, kd, most});
    if (!servo) drives.velocity.push_back({v, velocity, -most, most, no_load});
  }
  validate(world, drives);
}

void read_coupled(Table t, const World& world, Drives& drives) {
  VelocityRow row;
  for (const auto& [name, factor] : t.numbers("joints")) row.terms.push_back({coordinate_of(t, "joints", world, name), factor});
  row.velocity = t.number("velocity", 0.0);
  row.most = limit_of(t).value_or(kInfinity);
  row.least = -row.most;
  t.finish();
  drives.rows.push_back(row);
  validate(world, drives);
}

}  // namespace stiction
