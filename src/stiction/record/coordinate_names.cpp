#include "stiction/record/coordinate_names.hpp"

#include <span>

#include <fmt/format.h>

namespace stiction {

namespace {

constexpr std::string_view kPosition[] = {"x", "y", "z", "qx", "qy", "qz", "qw"};
constexpr std::string_view kVelocity[] = {"vx", "vy", "vz", "wx", "wy", "wz"};

std::string name_of(const World& world, const Joint& joint) {
  const std::string& name = joint.kind == JointKind::free ? world.bodies()[joint.body].name : joint.name;
  if (joint.robot < 0 || world.robots().size() < 2) return name;
  return fmt::format("{}/{}", world.robots()[joint.robot].name, name);
}

/// The last `count` of `parts`, a free joint's: a spherical joint has the rotational ones.
std::vector<std::string> names(const World& world, int Joint::*count, std::span<const std::string_view> parts) {
  std::vector<std::string> out;
  for (const Joint& joint : world.joints()) {
    const auto n = static_cast<std::size_t>(joint.*count);
    for (const std::string_view part : parts.last(n)) {
      out.push_back(n == 1 ? name_of(world, joint) : fmt::format("{}.{}", name_of(world, joint), part));
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> position_names(const World& world) { return names(world, &Joint::nq, kPosition); }
std::vector<std::string> velocity_names(const World& world) { return names(world, &Joint::nv, kVelocity); }

}  // namespace stiction
