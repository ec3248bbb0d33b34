#include "stiction/geometry/collision_scene.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/ranges.hpp"
#include "stiction/geometry/broad_phase.hpp"
#include "stiction/geometry/collider.hpp"

namespace stiction {

namespace {

using Pair = std::pair<int, int>;
using Kind = Collider::Kind;

Pair ordered(int a, int b) { return {std::min(a, b), std::max(a, b)}; }

void insert_sorted(std::vector<Pair>& list, Pair p) {
  const auto at = std::lower_bound(list.begin(), list.end(), p);
  if (at == list.end() || *at != p) list.insert(at, p);
}

void require_material(std::string_view name, double mu, double restitution) {
  require_friction(fmt::format("{}.friction", name), mu);
  require_share(fmt::format("{}.restitution", name), restitution);
}

constexpr double kOrthonormal = 1e-6;

/// `require_pose` without its message, which `update_poses` would build for every body of every step.
bool is_pose(const Eigen::Isometry3d& X) {
  const Eigen::Vector3d p = X.translation(), x = X.linear().col(0), y = X.linear().col(1), z = X.linear().col(2);
  const double xx = x.squaredNorm() - 1.0, yy = y.squaredNorm() - 1.0, xy = x.dot(y);
  const double square = xx * xx + yy * yy + xy * xy + (x.cross(y) - z).squaredNorm();
  return square + 0.0 * p.sum() <= kOrthonormal * kOrthonormal;  // false of a NaN, which 0 · ∞ is
}

void require_pose(std::string_view name, const Eigen::Isometry3d& X) {
  const Eigen::Matrix3d& R = X.linear();
  if (!X.matrix().topRows<3>().allFinite()) throw InvalidArgument(name, "a finite pose", "a number that is not finite");
  const double error = (R.transpose() * R - Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff();
  if (!(error <= kOrthonormal)) {
    throw InvalidArgument(fmt::format("{}.rotation", name), "a rotation matrix", fmt::format("one {:.3g} from orthonormal", error));
  }
  if (R.determinant() < 0.0) throw InvalidArgument(fmt::format("{}.rotation", name), "a rotation matrix", "a reflection, determinant -1");
}

}  // namespace

struct CollisionScene::Impl {
  struct Material {
    double mu = 0.0, restitution = 0.0;
  };
  std::shared_ptr<const std::vector<SceneGeometry>> geometries;
  std::vector<Collider> colliders;
  std::vector<Eigen::Isometry3d> X_WG;  ///< of geometries with patches of friction, kept up
  std::vector<int> planes, solids;      ///< half-spaces and all others
  unsigned any_type = 0, any_mask = 0;  ///< of all solids
  int bodies = 0;
  std::vector<Pair> disabled_geometries, declared;
  std::map<Pair, Material> materials;

  BroadPhase broad_phase;
  std::vector<Pair> pairs;
  std::vector<RawContact> found;
  std::vector<int> low_vertices;
  SurfaceScratch surface_scratch;
  Gjk gjk;

  const SceneGeometry& geometry(int i) const { return (*geometries)[i]; }
  const Collider& collider(int i) const { return colliders[i]; }
  bool fixed(int i) const { return geometry(i).fixed || geometry(i).body < 0; }

  void require_index(std::string_view name, int i) const {
    if (i < 0 || i >= static_cast<int>(geometries->size())) {
      throw InvalidArgument(name, fmt::format("a geometry index in [0, {})", geometries->size()), fmt::format("{}", i));
    }
  }

  void add(std::size_t i) {
    const SceneGeometry& g = (*geometries)[i];
    const std::string name = fmt::format("geometry '{}'", g.name);
    if (g.body < -1) throw InvalidArgument(name + ".body", "an index >= -1", fmt::format("{}", g.body));
    require_pose(name + ".placement", g.placement);
    require_material(name, g.friction, g.restitution);
    validate(g.patches, name + ".patches");
    // Bodies fall through ground that faces away from them; the meshes of robots' links, often wound in disorder, stay as they are.
    Collider& c = colliders.emplace_back(make_collider(g.shape, name, fixed(static_cast<int>(i))));
    const bool only_fixed = c.kind == Kind::half_space || std::holds_alternative<HeightMap>(g.shape);
    if (only_fixed && !fixed(static_cast<int>(i))) {
      throw InvalidArgument(name, fmt::format("a fixed body for a {}", shape_name(g.shape)), fmt::format("moving body {}", g.body));
    }
    bodies = std::max(bodies, g.body + 1);
    if (c.kind == Kind::half_space) {
      planes.push_back(static_cast<int>(i));
    } else {
      solids.push_back(static_cast<int>(i));
      any_type |= g.type;
      any_mask |= g.mask;
    }
    place(i, Eigen::Isometry3d::Identity());
  }

  void place(std::size_t i, const Eigen::Isometry3d& X_WB) {
    const SceneGeometry& g = (*geometries)[i];
    colliders[i].place(X_WB, g.placement);
    if (!g.patches.empty()) X_WG[i] = X_WB * g.placement;
  }

  bool enabled(int i, int j) const {
    const SceneGeometry &a = geometry(i), &b = geometry(j);
    if ((fixed(i) && fixed(j)) || a.body == b.body) return false;
    if (!declared.empty() && std::binary_search(declared.begin(), declared.end(), ordered(i, j))) return true;
    if (((a.type & b.mask) == 0 && (b.type & a.mask) == 0) || (a.group >= 0 && a.group == b.group)) return false;
    return !std::binary_search(disabled_geometries.begin(), disabled_geometries.end(), ordered(i, j));
  }

  /// Only what its flags let meet another solid is sorted: of a robot's links that collide with the ground alone, none.
  void list_boxes() {
    for (const int i : solids) {
      const SceneGeometry& g = geometry(i);
      if ((g.type & any_mask) != 0 || (g.mask & any_type) != 0) broad_phase.boxes.emplace_back().id = i;
    }
  }

  /// And what a declared pair does.
  void add_box(int i) {
    if (collider(i).kind == Kind::half_space || std::ranges::find(broad_phase.boxes, i, &BroadPhase::Box::id) != broad_phase.boxes.end())
      return;
    broad_phase.boxes.emplace_back().id = i;
  }

  /// Least height of a collider's box over the plane.
  static double lowest(const Collider& c, const Plane3& plane) {
    const Eigen::Vector3d at_lower = plane.n.cwiseProduct(c.lower), at_upper = plane.n.cwiseProduct(c.upper);
    return at_lower.cwiseMin(at_upper).sum() - plane.offset;
  }

  /// What geometry i adds to the margin of its pairs.
  double own_margin(int i, std::span<const double> body_margin) const {
    const int body = geometry(i).body;
    return body < 0 || body_margin.empty() ? 0.0 : body_margin[static_cast<std::size_t>(body)];
  }

  void find_pairs(double margin, std::span<const double> body_margin) {
    pairs.clear();
    for (auto& box : broad_phase.boxes) {
      const double own = own_margin(box.id, body_margin);
      box.lower = collider(box.id).lower.array() - own;
      box.upper = collider(box.id).upper.array() + own;
    }
    broad_phase.sweep(margin, pairs);
    for (const int p : planes) {
      for (const int i : solids) {
        if (lowest(collider(i), collider(p).plane) <= margin + own_margin(i, body_margin)) pairs.push_back(ordered(p, i));
      }
    }
    pairs.erase(std::remove_if(pairs.begin(), pairs.end(), [&](const Pair& p) { return !enabled(p.first, p.second); }), pairs.end());
    std::sort(pairs.begin(), pairs.end());
  }

  void collide(const Collider& a, const Collider& b, ContactSink sink) {
    if (a.kind == Kind::half_space || (a.kind == Kind::surface && b.is_convex())) {
      sink.flip = !sink.flip;
      collide(b, a, sink);
    } else if (b.kind == Kind::half_space) {
      a.is_convex() ? collide_convex_plane(a.convex, b.plane, sink, low_vertices) : collide_surface_plane(a.placed, b.plane, sink);
    } else if (b.kind == Kind::surface) {
      a.is_convex() ? collide_convex_surface(a.convex, b.placed, surface_scratch, sink)
                    : collide_surfaces(a.placed, b.placed, surface_scratch, sink);
    } else {
      collide_convexes(a, b, sink);
    }
  }

  void collide_convexes(const Collider& a, const Collider& b, ContactSink sink) {
    if (a.kind == Kind::sphere && b.kind != Kind::hull) {
      collide_sphere(a.convex, b.convex, sink);
    } else if (b.kind == Kind::sphere && a.kind != Kind::hull) {
      sink.flip = !sink.flip;
      collide_sphere(b.convex, a.convex, sink);
    } else if (a.kind == Kind::capsule && b.kind == Kind::capsule) {
      collide_capsules(a.convex, b.convex, sink);
    } else if (a.kind == Kind::box && b.kind == Kind::box) {
      collide_boxes(a.convex, b.convex, gjk, sink);
    } else {
      collide_convex(a.convex, b.convex, gjk, sink);
    }
  }

  /// Of the pair, where it has its own.
  const Material* own_material(int i, int j) const {
    if (materials.empty()) return nullptr;
    const auto it = materials.find(ordered(i, j));
    return it == materials.end() ? nullptr : &it->second;
  }

  double friction_at(int i, const Eigen::Vector3d& p_W) const {
    const SceneGeometry& g = geometry(i);
    if (g.patches.empty()) return g.friction;
    const Eigen::Isometry3d& X = X_WG[i];
    return g.patches.at(X.linear().transpose() * (p_W - X.translation()));
  }

  double friction_at(int i, int j, const Eigen::Vector3d& p_W) const {
    if (geometry(i).frictionless && geometry(j).frictionless) return 0.0;
    return std::min(friction_at(i, p_W), friction_at(j, p_W));
  }

  void emit(int a, int b, std::vector<ContactPoint>& contacts) const {
    const Material* own = own_material(a, b);
    const double restitution = own != nullptr ? own->restitution : std::max(geometry(a).restitution, geometry(b).restitution);
    const bool is_static = fixed(b);
    const std::uint64_t pair = pair_name(static_cast<std::uint64_t>(a) + 1, static_cast<std::uint64_t>(b) + 1);
    for (auto at = found.begin(); at != found.end(); ++at) {
      const RawContact& c = *at;
      ContactPoint& p = contacts.emplace_back();
      p.geometry_a = a;
      p.geometry_b = b;
      p.body_a = geometry(a).body;
      p.body_b = geometry(b).body;
      // On what is static the points of all bodies lie in its own surface, and their tangents depend on each other as those of a face do.
      p.p_WC = is_static ? Eigen::Vector3d(c.p - 0.5 * c.least_gap * c.n) : c.p;
      p.n = c.n;
      contact_tangents(p.n, p.t1, p.t2);
      p.gap = c.gap;
      p.id = pair_name(pair, c.feature);
      // Rods side by side may bear twice by the same caps or edges.
      const auto repeats = std::count_if(found.begin(), at, [&](const RawContact& before) { return before.feature == c.feature; });
      if (repeats > 0) p.id = pair_name(p.id, static_cast<std::uint64_t>(repeats));
      p.mu = own != nullptr ? own->mu : friction_at(a, b, p.p_WC);
      p.restitution = restitution;
    }
  }
};

CollisionScene::CollisionScene(std::vector<SceneGeometry> geometries) : impl_(std::make_unique<Impl>()) {
  impl_->geometries = std::make_shared<const std::vector<SceneGeometry>>(std::move(geometries));
  impl_->colliders.reserve(impl_->geometries->size());
  impl_->X_WG.resize(impl_->geometries->size());
  for (std::size_t i = 0; i < impl_->geometries->size(); ++i) impl_->add(i);
  impl_->list_boxes();
}
CollisionScene::~CollisionScene() = default;
CollisionScene::CollisionScene(const CollisionScene& other) : warnings(other.warnings), impl_(std::make_unique<Impl>(*other.impl_)) {}
CollisionScene& CollisionScene::operator=(const CollisionScene& other) {
  if (impl_ == nullptr) return *this = CollisionScene(other);  // moved from
  *impl_ = *other.impl_;
  warnings = other.warnings;
  return *this;
}
CollisionScene::CollisionScene(CollisionScene&&) noexcept = default;
CollisionScene& CollisionScene::operator=(CollisionScene&&) noexcept = default;

std::span<const SceneGeometry> CollisionScene::geometries() const { return *impl_->geometries; }
int CollisionScene::bodies() const { return impl_->bodies; }

double CollisionScene::reach(int geometry) const {
  impl_->require_index("geometry", geometry);
  return impl_->collider(geometry).reach;
}

void CollisionScene::disable_geometries(int geometry_a, int geometry_b) {
  impl_->require_index("geometry_a", geometry_a);
  impl_->require_index("geometry_b", geometry_b);
  insert_sorted(impl_->disabled_geometries, ordered(geometry_a, geometry_b));
}

void CollisionScene::declare_pair(int geometry_a, int geometry_b) {
  impl_->require_index("geometry_a", geometry_a);
  impl_->require_index("geometry_b", geometry_b);
  insert_sorted(impl_->declared, ordered(geometry_a, geometry_b));
  impl_->add_box(geometry_a);
  impl_->add_box(geometry_b);
}

bool CollisionScene::may_collide(int geometry_a, int geometry_b) const {
  impl_->require_index("geometry_a", geometry_a);
  impl_->require_index("geometry_b", geometry_b);
  return impl_->enabled(geometry_a, geometry_b);
}

void CollisionScene::set_pair_material(int geometry_a, int geometry_b, double mu, double restitution) {
  impl_->require_index("geometry_a", geometry_a);
  impl_->require_index("geometry_b", geometry_b);
  require_material("pair", mu, restitution);
  impl_->materials[ordered(geometry_a, geometry_b)] = {mu, restitution};
}

void CollisionScene::update_poses(std::span<const Eigen::Isometry3d> X_WB) {
  if (X_WB.size() < static_cast<std::size_t>(impl_->bodies)) {
    throw InvalidArgument("X_WB", fmt::format("{} poses or more", impl_->bodies), fmt::format("{}", X_WB.size()));
  }
  for (std::size_t i = 0; i < X_WB.size(); ++i) {
    if (!is_pose(X_WB[i])) require_pose(fmt::format("X_WB[{}]", i), X_WB[i]);
  }
  for (std::size_t i = 0; i < impl_->geometries->size(); ++i) {
    if (const int body = impl_->geometry(static_cast<int>(i)).body; body >= 0) impl_->place(i, X_WB[body]);
  }
}

double CollisionScene::gap(int geometry_a, int geometry_b, double margin) {
  impl_->require_index("geometry_a", geometry_a);
  impl_->require_index("geometry_b", geometry_b);
  const Collider &a = impl_->collider(geometry_a), &b = impl_->collider(geometry_b);
  impl_->found.clear();
  if (a.kind == Kind::half_space && b.kind == Kind::half_space) return std::numeric_limits<double>::infinity();
  const bool has_boxes = a.kind != Kind::half_space && b.kind != Kind::half_space;
  const bool near = !has_boxes || ((a.lower - b.upper).maxCoeff() <= margin && (b.lower - a.upper).maxCoeff() <= margin);
  if (near) impl_->collide(a, b, {impl_->found, margin, false});
  double least = std::numeric_limits<double>::infinity();
  for (const RawContact& c : impl_->found) least = std::min(least, c.gap);
  return least;
}

void CollisionScene::detect(double margin, std::vector<ContactPoint>& contacts) { detect(margin, {}, contacts); }

void CollisionScene::detect(double margin, std::span<const double> body_margin, std::vector<ContactPoint>& contacts) {
  const auto require_margin = [](const char* name, double m) {
    if (!(m >= 0.0) || std::isinf(m)) throw InvalidArgument(name, "a finite number >= 0", fmt::format("{}", m));
  };
  require_margin("margin", margin);
  if (!body_margin.empty() && std::ssize(body_margin) < bodies())
    throw InvalidArgument("body_margin", fmt::format("{} numbers or more", bodies()), fmt::format("{}", body_margin.size()));
  for (const double m : body_margin) require_margin("body_margin", m);
  contacts.clear();
  impl_->find_pairs(margin, body_margin);
  for (const auto& [i, j] : impl_->pairs) {
    const bool swap = impl_->fixed(i);
    const int a = swap ? j : i, b = swap ? i : j;
    impl_->found.clear();
    const double of_pair = margin + impl_->own_margin(a, body_margin) + impl_->own_margin(b, body_margin);
    impl_->collide(impl_->collider(a), impl_->collider(b), {impl_->found, of_pair, false});
    level_faces(impl_->found);
    impl_->emit(a, b, contacts);
  }
}

}  // namespace stiction
