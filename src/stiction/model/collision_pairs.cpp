#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/world_impl.hpp"

namespace stiction {

namespace {

struct PairChooser {
  const RobotDescription& description;
  RobotParts& parts;

  const LinkDescription& described(int link) const { return description.links[link]; }

  /// The root link of a URDF, each child of the world of an MJCF, and all below it.
  void find_trees() {
    for (std::size_t i = 0; i < parts.links.size(); ++i) {
      const int self = static_cast<int>(i), parent = description.links[i].parent;
      const int above = parent < 0 ? -1 : parts.links[parent].tree;
      const bool is_world = parent < 0 && !description.root_may_float;
      parts.links[i].tree = is_world ? -1 : above < 0 ? self : above;
    }
  }

  void exclude(const std::vector<int>& first, const std::vector<int>& second) {
    for (const int a : first) {
      for (const int b : second) {
        if (a != b) parts.excluded.emplace_back(std::min(a, b), std::max(a, b));
      }
    }
  }

  template <class Member>
  std::vector<std::vector<int>> geometries_by(Member member, std::size_t count) const {
    std::vector<std::vector<int>> lists(count);
    for (std::size_t g = 0; g < parts.geometries.size(); ++g) {
      lists[parts.geometries[g].*member].push_back(static_cast<int>(g));
    }
    return lists;
  }

  /// Per body, its link nearest the root: links come parents first.
  std::vector<int> root_links() const {
    std::vector<int> first(parts.bodies.size(), -1);
    for (std::size_t i = parts.links.size(); i-- > 0;) first[parts.links[i].body] = static_cast<int>(i);
    return first;
  }

  /// The body that this one is joined to; -1 for the root and for what floats.
  int parent_body(int body, const std::vector<int>& first_link) const {
    const int plan = parts.plan_of_body[body];
    const int parent_link = described(first_link[body]).parent;
    if (plan < 0 || parent_link < 0 || parts.plans[plan].kind == JointKind::free) return -1;
    return parts.links[parent_link].body;
  }

  void exclude_parents() {
    if (!description.excludes_parent) return;
    const auto on_body = geometries_by(&CollisionGeometry::body, parts.bodies.size());
    const std::vector<int> first_link = root_links();
    const auto is_skipped = [&](int body) {
      const bool is_empty = description.skips_empty_parent && on_body[body].empty();
      return is_empty || described(first_link[body]).carries_joint;
    };
    for (std::size_t b = 0; b < parts.bodies.size(); ++b) {
      int up = parent_body(static_cast<int>(b), first_link);
      while (up >= 0 && is_skipped(up)) up = parent_body(up, first_link);
      if (up < 0 || (parts.bodies[up].block < 0 && !description.excludes_static_parent)) continue;
      exclude(on_body[up], on_body[b]);
    }
  }

  std::size_t link_named(const std::string& name) const {
    const auto at = std::find_if(parts.links.begin(), parts.links.end(), [&](const Link& l) { return l.name == name; });
    return static_cast<std::size_t>(at - parts.links.begin());
  }

  void exclude_links() {
    const auto on_link = geometries_by(&CollisionGeometry::link, parts.links.size());
    for (const auto& [a, b] : description.excluded_links) exclude(on_link[link_named(a)], on_link[link_named(b)]);
  }

  int geometry_named(const std::string& name, const PairDescription& pair) const {
    for (std::size_t g = 0; g < parts.geometries.size(); ++g) {
      if (parts.geometries[g].name == name) return static_cast<int>(g);
    }
    throw FileError(description.file, pair.place, fmt::format("names the unknown geom '{}'", name));
  }

  void declare() {
    for (const PairDescription& pair : description.pairs) {
      const auto [a, b] = std::minmax({geometry_named(pair.a, pair), geometry_named(pair.b, pair)});
      if (a != b) parts.declared.push_back({a, b, pair.friction});
    }
  }
};

}  // namespace

void choose_pairs(const RobotDescription& description, RobotParts& parts) {
  PairChooser chooser{description, parts};
  chooser.find_trees();
  chooser.exclude_parents();
  chooser.exclude_links();
  chooser.declare();
}

namespace {

std::vector<int> geometries_named(const World& world, std::string_view name, std::string_view argument) {
  const int body = world.body(name, argument);
  const Body& found_body = world.bodies()[body];
  const auto qualified = [&] { return world.robots()[found_body.robot].name + "/" + found_body.name; };
  const bool is_body = name == found_body.name || (found_body.robot >= 0 && name == qualified());
  const int link = is_body ? -1 : world.link(name);
  std::vector<int> found;
  for (std::size_t g = 0; g < world.geometries().size(); ++g) {
    const CollisionGeometry& geometry = world.geometries()[g];
    if (is_body ? geometry.body == body : geometry.link == link) found.push_back(static_cast<int>(g));
  }
  return found;
}

}  // namespace

void WorldBuilder::exclude(std::string_view a, std::string_view b) {
  const World world(std::shared_ptr<const World::Impl>(std::shared_ptr<void>(), impl_.get()));  // names as the finished world takes them
  if (a == b) throw InvalidArgument("b", "another body than a", fmt::format("'{}'", b));
  const std::vector<int> first = geometries_named(world, a, "a"), second = geometries_named(world, b, "b");
  for (const int i : first) {
    for (const int j : second) {
      if (i == j) continue;
      const auto pair = std::minmax({i, j});
      impl_->excluded.push_back(pair);
      std::erase_if(impl_->declared, [&](const DeclaredPair& d) { return std::pair(d.a, d.b) == pair; });
    }
  }
}

}  // namespace stiction
