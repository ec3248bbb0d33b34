#include "stiction/record/coordinate_names.hpp"

#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

namespace stiction {

namespace {

constexpr std::string_view kPosition[] = {"x", "y", "z", "qx", "qy", "qz", "qw"};
constexpr std::string_view kVelocity[] = {"vx", "vy", "vz", "wx", "wy", "wz"};

/// By name, the robots that have something of it; -1: a free or static body.
using Owners = std::map<std::string_view, std::set<int>>;

template <class Item>
void add(std::span<const Item> items, Owners& owners) {
  for (const Item& item : items) owners[item.name].insert(item.robot);
}

template <class Item>
std::string own_name(const World& world, const Item& item, const Owners& owners) {
  if (item.robot < 0 || owners.at(item.name).size() == 1) return item.name;
  return fmt::format("{}/{}", world.robots()[item.robot].name, item.name);
}

/// The last `count` of `parts`, a free joint's: a spherical joint has the rotational ones.
std::vector<std::string> names(const World& world, int Joint::*count, std::span<const std::string_view> parts) {
  const std::vector<std::string> bodies = body_names(world);
  Owners owners;
  add(world.joints(), owners);
  std::vector<std::string> out;
  for (const Joint& joint : world.joints()) {
    const std::string name = joint.kind == JointKind::free ? bodies[joint.body] : own_name(world, joint, owners);
    const auto n = static_cast<std::size_t>(joint.*count);
    for (const std::string_view part : parts.last(n)) out.push_back(n == 1 ? name : fmt::format("{}.{}", name, part));
  }
  return out;
}

}  // namespace

std::vector<std::string> body_names(const World& world) {
  Owners owners;
  add(world.links(), owners);  // by whose names World::body finds bodies too
  add(world.bodies(), owners);
  std::vector<std::string> out;
  for (const Body& body : world.bodies()) out.push_back(own_name(world, body, owners));
  return out;
}

std::vector<std::string> position_names(const World& world) { return names(world, &Joint::nq, kPosition); }
std::vector<std::string> velocity_names(const World& world) { return names(world, &Joint::nv, kVelocity); }

}  // namespace stiction
