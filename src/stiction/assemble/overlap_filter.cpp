#include "stiction/assemble/overlap_filter.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "stiction/model/dynamics.hpp"

namespace stiction {

namespace {

constexpr double kOverlap = 1e-3;  // m: what a position correction undoes without anybody seeing it
constexpr double kTouch = 1e-4;    // m: flush faces stay within it in spite of rounded lengths in the file
constexpr int kSamples = 100;      // enough to tell 95 % from one half
constexpr int kMisses = 5;         // of the samples, in which the links are apart

using GeometryPair = std::pair<int, int>;

struct Candidate {
  OverlappingLinks links;
  std::vector<GeometryPair> shapes;
  int misses = 0;
};

bool is_filtered(const World& world, const CollisionGeometry& g) {
  if (g.link < 0) return false;
  const Link& link = world.links()[static_cast<std::size_t>(g.link)];
  return link.tree >= 0 && world.robots()[static_cast<std::size_t>(link.robot)].filter_overlaps;
}

bool is_declared(const World& world, int a, int b) {
  return std::ranges::any_of(world.declared_pairs(), [&](const DeclaredPair& d) { return d.a == a && d.b == b; });
}

/// Pairs of links with shapes that may collide, by the links' indices.
std::vector<Candidate> candidates(const World& world, const CollisionScene& scene) {
  std::map<std::pair<int, int>, Candidate> by_links;
  std::map<int, std::vector<int>> trees;
  for (int g = 0; g < static_cast<int>(world.geometries().size()); ++g) {
    const CollisionGeometry& geometry = world.geometries()[static_cast<std::size_t>(g)];
    if (is_filtered(world, geometry)) trees[world.links()[static_cast<std::size_t>(geometry.link)].tree].push_back(g);
  }
  for (const auto& [tree, members] : trees) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t j = i + 1; j < members.size(); ++j) {
        const int a = members[i], b = members[j];
        if (!scene.may_collide(a, b) || is_declared(world, a, b)) continue;
        const auto link = [&](int g) { return world.geometries()[static_cast<std::size_t>(g)].link; };
        const auto [first, second] = std::minmax({link(a), link(b)});
        Candidate& c = by_links[{first, second}];
        c.links.a = first;
        c.links.b = second;
        c.shapes.emplace_back(a, b);
      }
    }
  }
  std::vector<Candidate> list;
  for (auto& [links, candidate] : by_links) list.push_back(std::move(candidate));
  return list;
}

void pose(const World& world, const Eigen::VectorXd& q, WorldData& data, CollisionScene& scene) {
  update_kinematics(world, q, data);
  scene.update_poses(data.X_WB);
}

bool touches(const Candidate& c, CollisionScene& scene) {
  return std::ranges::any_of(c.shapes, [&](const GeometryPair& p) { return scene.gap(p.first, p.second, kTouch) <= kTouch; });
}

double depth(const Candidate& c, CollisionScene& scene) {
  double deepest = 0.0;
  for (const auto& [a, b] : c.shapes) deepest = std::max(deepest, -scene.gap(a, b, 0.0));
  return deepest;
}

std::string list_names(const World& world, const std::vector<OverlappingLinks>& pairs, int robot, bool always) {
  const auto name = [&](int link) { return world.links()[static_cast<std::size_t>(link)].name; };
  std::string list;
  for (const OverlappingLinks& p : pairs) {
    if (world.links()[static_cast<std::size_t>(p.a)].robot != robot || p.always != always) continue;
    list += fmt::format("{}{} - {}", list.empty() ? "" : ", ", name(p.a), name(p.b));
    if (p.depth > 0.0) list += fmt::format(" ({:.1f} mm)", 1e3 * p.depth);
  }
  return list;
}

}  // namespace

std::vector<OverlappingLinks> find_overlaps(const World& world, CollisionScene& scene) {
  std::vector<Candidate> open = candidates(world, scene);
  std::vector<OverlappingLinks> found;
  if (open.empty()) return found;
  WorldData data(world);
  pose(world, world.initial_configuration(), data, scene);
  for (Candidate& c : open) c.links.depth = depth(c, scene);
  for (int sample = 1; sample <= kSamples && !open.empty(); ++sample) {
    pose(world, random_configuration(world, static_cast<std::uint64_t>(sample)), data, scene);
    for (Candidate& c : open) c.misses += touches(c, scene) ? 0 : 1;
    const auto separable = [](const Candidate& c) { return c.misses > kMisses; };
    for (const Candidate& c : open) {
      if (separable(c) && c.links.depth > kOverlap) found.push_back(c.links);
    }
    std::erase_if(open, separable);
  }
  for (Candidate& c : open) {
    c.links.always = true;
    found.push_back(c.links);
  }
  std::ranges::sort(found, {}, [](const OverlappingLinks& p) { return std::pair(p.a, p.b); });
  pose(world, world.initial_configuration(), data, scene);
  return found;
}

void filter_overlaps(const World& world, CollisionScene& scene) {
  const std::vector<OverlappingLinks> pairs = find_overlaps(world, scene);
  for (const OverlappingLinks& p : pairs) {
    for (int a = 0; a < static_cast<int>(world.geometries().size()); ++a) {
      if (world.geometries()[static_cast<std::size_t>(a)].link != p.a) continue;
      for (int b = 0; b < static_cast<int>(world.geometries().size()); ++b) {
        const bool is_other = world.geometries()[static_cast<std::size_t>(b)].link == p.b;
        if (is_other) scene.disable_geometries(a, b);
      }
    }
  }
  for (int r = 0; r < static_cast<int>(world.robots().size()); ++r) {
    const std::string& name = world.robots()[static_cast<std::size_t>(r)].name;
    if (const std::string list = list_names(world, pairs, r, false); !list.empty()) {
      scene.warnings.push_back(fmt::format("{}: links that overlap at the start do not collide: {}", name, list));
    }
    if (const std::string list = list_names(world, pairs, r, true); !list.empty()) {
      scene.warnings.push_back(fmt::format("{}: links that touch in nearly every pose do not collide: {}", name, list));
    }
  }
}

}  // namespace stiction
