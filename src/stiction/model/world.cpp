#include "stiction/model/world.hpp"

#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/utf8.hpp"
#include "stiction/model/world_impl.hpp"

namespace stiction {

namespace {

/// Index of the entry called `name`, or `robot/name`; what is of no robot comes before what robots call so. -1 when there is none; throws,
/// naming the argument, when there are several.
template <class Item>
int find(const std::vector<Item>& items, const std::vector<Robot>& robots, std::string_view argument, std::string_view name) {
  int found = -1;
  bool is_shared = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    const bool is_qualified = item.robot >= 0 && name.size() > item.name.size() && name.ends_with(item.name) &&
                              name == fmt::format("{}/{}", robots[item.robot].name, item.name);
    if (item.name != name && !is_qualified) continue;
    if (item.robot < 0) return static_cast<int>(i);  // no other free or static body has this name
    is_shared = found >= 0;
    found = static_cast<int>(i);
  }
  if (is_shared) throw InvalidArgument(argument, "a unique name, or robot/name", fmt::format("'{}', which several robots have", name));
  return found;
}

int known(int index, std::string_view argument, std::string_view what, std::string_view name) {
  if (index < 0) throw InvalidArgument(argument, fmt::format("the name of a {} of this world", what), fmt::format("'{}'", name));
  return index;
}

}  // namespace

void require_within_reach(std::string_view argument, const Eigen::Ref<const Eigen::VectorXd>& values) {
  require_finite(argument, values);
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    if (std::abs(values[i]) <= kFarthest) continue;
    throw InvalidArgument(fmt::format("{}[{}]", argument, i),
                          "a number within 1e9 of 0, beyond which a step's motion is below the last digit", fmt::format("{}", values[i]));
  }
}

std::string_view to_string(JointKind kind) {
  constexpr std::string_view names[] = {"revolute", "prismatic", "spherical", "free"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view to_string(Coordinates coordinates) {
  constexpr std::string_view names[] = {"minimal", "extended", "maximal"};
  return names[static_cast<std::size_t>(coordinates)];
}

Coordinates coordinates_from_string(std::string_view name) {
  for (const Coordinates c : {Coordinates::minimal, Coordinates::extended, Coordinates::maximal}) {
    if (to_string(c) == name) return c;
  }
  throw InvalidArgument("coordinates", "minimal, extended or maximal", fmt::format("'{}'", name));
}

std::optional<double>& setting_named(JointSettings& settings, std::string_view name, std::string_view argument) {
  std::string known;
  for (const JointSettingField& field : kJointSettingFields) {
    if (field.name == name) return settings.*field.member;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", field.name);
  }
  throw InvalidArgument(argument, "a setting among " + known, fmt::format("'{}'", name));
}

World::World() : impl_(std::make_shared<const Impl>()) {}

int World::nq() const { return impl_->nq; }
int World::nv() const { return impl_->nv; }
const Eigen::Vector3d& World::gravity() const { return impl_->gravity; }
std::span<const Block> World::blocks() const { return impl_->blocks; }
std::span<const int> World::block_sizes() const { return impl_->block_sizes; }
std::span<const Robot> World::robots() const { return impl_->robots; }
std::span<const Body> World::bodies() const { return impl_->bodies; }
std::span<const Link> World::links() const { return impl_->links; }
std::span<const Joint> World::joints() const { return impl_->joints; }
std::span<const CollisionGeometry> World::geometries() const { return impl_->geometries; }
std::span<const Equality> World::equalities() const { return impl_->equalities; }
std::span<const CutJoint> World::cuts() const { return impl_->cuts; }
World World::uncut() const { return impl_->uncut == nullptr ? *this : World(impl_->uncut); }
std::span<const int> World::actuated() const { return impl_->actuated; }
const Eigen::VectorXd& World::initial_configuration() const { return impl_->q0; }
std::span<const std::pair<int, int>> World::excluded_geometries() const { return impl_->excluded; }
std::span<const DeclaredPair> World::declared_pairs() const { return impl_->declared; }

std::optional<double> World::timestep() const {
  for (const Robot& robot : impl_->robots) {
    if (robot.timestep) return robot.timestep;
  }
  return {};
}

std::vector<std::string> World::warnings() const {
  std::vector<std::string> list;
  for (const Robot& robot : impl_->robots) {
    for (const std::string& warning : robot.warnings) list.push_back(printable(fmt::format("{}: {}", robot.name, warning)));
  }
  return list;
}

int World::body(std::string_view name, std::string_view argument) const {
  if (const int b = find(impl_->bodies, impl_->robots, argument, name); b >= 0) return b;
  return impl_->links[known(find(impl_->links, impl_->robots, argument, name), argument, "body", name)].body;
}

int World::link(std::string_view name, std::string_view argument) const {
  return known(find(impl_->links, impl_->robots, argument, name), argument, "link", name);
}
int World::joint(std::string_view name, std::string_view argument) const {
  return known(find(impl_->joints, impl_->robots, argument, name), argument, "joint", name);
}

int World::robot(std::string_view name) const {
  for (std::size_t i = 0; i < impl_->robots.size(); ++i) {
    if (impl_->robots[i].name == name) return static_cast<int>(i);
  }
  return known(-1, "robot", "robot", name);
}

}  // namespace stiction
