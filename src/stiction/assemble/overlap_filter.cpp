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
  const Link& link = world.links()[g.link];
  return link.tree >= 0 && world.robots()[link.robot].filter_overlaps;
}

bool is_declared(const World& world, int a, int b) {
  return std::ranges::any_of(world.declared_pairs(), [&](const DeclaredPair& d) { return d.a == a && d.b == b; });
}

/// Pairs of links by their indices, with the shapes of each that may collide, among those that were seen to touch.
using Candidates = std::map<std::pair<int, int>, Candidate>;

void add_touching(const World& world, CollisionScene& scene, std::vector<ContactPoint>& contacts, Candidates& found) {
  const auto geometry = [&](int g) -> const CollisionGeometry& { return world.geometries()[g]; };
  const auto tree = [&](int g) { return world.links()[geometry(g).link].tree; };
  scene.detect(kTouch, contacts);
  for (const ContactPoint& c : contacts) {
    const auto [a, b] = std::minmax({c.geometry_a, c.geometry_b});
    if (!is_filtered(world, geometry(a)) || !is_filtered(world, geometry(b)) || tree(a) != tree(b) || is_declared(world, a, b)) continue;
    found[std::minmax({geometry(a).link, geometry(b).link})];
  }
}

/// All shapes of the found links that may collide.
std::vector<Candidate> with_shapes(const World& world, const CollisionScene& scene, Candidates found) {
  std::vector<std::vector<int>> on_link(world.links().size());
  for (int g = 0; g < static_cast<int>(world.geometries().size()); ++g) {
    const int link = world.geometries()[g].link;
    if (link >= 0) on_link[link].push_back(g);
  }
  std::vector<Candidate> list;
  for (auto& [links, candidate] : found) {
    candidate.links.a = links.first;
    candidate.links.b = links.second;
    for (const int i : on_link[links.first]) {
      for (const int j : on_link[links.second]) {
        const auto [a, b] = std::minmax({i, j});
        if (scene.may_collide(a, b) && !is_declared(world, a, b)) candidate.shapes.emplace_back(a, b);
      }
    }
    list.push_back(std::move(candidate));
  }
  return list;
}

void pose(const World& world, const Eigen::VectorXd& q, WorldData& data, CollisionScene& scene) {
  update_kinematics(world, q, data);
  scene.update_poses(data.X_WB);
}

Eigen::VectorXd sampled(const World& world, int sample) { return random_configuration(world, static_cast<std::uint64_t>(sample)); }

bool touches(const Candidate& c, CollisionScene& scene) {
  return std::ranges::any_of(c.shapes, [&](const GeometryPair& p) { return scene.gap(p.first, p.second, kTouch) <= kTouch; });
}

double depth(const Candidate& c, CollisionScene& scene) {
  double deepest = 0.0;
  for (const auto& [a, b] : c.shapes) deepest = std::max(deepest, -scene.gap(a, b, 0.0));
  return deepest;
}

std::string list_names(const World& world, const std::vector<OverlappingLinks>& pairs, int robot, bool always) {
  const auto name = [&](int link) { return world.links()[link].name; };
  std::string list;
  for (const OverlappingLinks& p : pairs) {
    if (world.links()[p.a].robot != robot || p.always != always) continue;
    list += fmt::format("{}{} - {}", list.empty() ? "" : ", ", name(p.a), name(p.b));
    if (p.depth > 0.0) list += fmt::format(" ({:.1f} mm)", 1e3 * p.depth);
  }
  return list;
}

}  // namespace

// Links that touch in all samples but kMisses touch in one of the first kMisses + 1; so only what touches there or at the start is
// looked at again, not every pair of links.
std::vector<OverlappingLinks> find_overlaps(const World& world, CollisionScene& scene) {
  std::vector<OverlappingLinks> found;
  const auto geometries = world.geometries();
  if (std::ranges::none_of(geometries, [&](const CollisionGeometry& g) { return is_filtered(world, g); })) return found;
  WorldData data(world);
  Candidates touching;
  std::vector<ContactPoint> contacts;
  for (int sample = 0; sample <= kMisses + 1; ++sample) {
    pose(world, sample == 0 ? world.initial_configuration() : sampled(world, sample), data, scene);
    add_touching(world, scene, contacts, touching);
  }
  std::vector<Candidate> open = with_shapes(world, scene, std::move(touching));
  pose(world, world.initial_configuration(), data, scene);
  for (Candidate& c : open) c.links.depth = depth(c, scene);
  for (int sample = 1; sample <= kSamples && !open.empty(); ++sample) {
    pose(world, sampled(world, sample), data, scene);
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

void filter_overlaps(const World& world, const std::vector<OverlappingLinks>& pairs, CollisionScene& scene) {
  for (const OverlappingLinks& p : pairs) {
    for (int a = 0; a < static_cast<int>(world.geometries().size()); ++a) {
      if (world.geometries()[a].link != p.a) continue;
      for (int b = 0; b < static_cast<int>(world.geometries().size()); ++b) {
        const bool is_other = world.geometries()[b].link == p.b;
        if (is_other) scene.disable_geometries(a, b);
      }
    }
  }
  for (int r = 0; r < static_cast<int>(world.robots().size()); ++r) {
    const std::string& name = world.robots()[r].name;
    if (const std::string list = list_names(world, pairs, r, false); !list.empty()) {
      scene.warnings.push_back(fmt::format("{}: links that overlap at the start do not collide: {}", name, list));
    }
    if (const std::string list = list_names(world, pairs, r, true); !list.empty()) {
      scene.warnings.push_back(fmt::format("{}: links that touch in nearly every pose do not collide: {}", name, list));
    }
  }
}

}  // namespace stiction
