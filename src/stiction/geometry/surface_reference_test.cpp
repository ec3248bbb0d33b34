// Convex shapes against random triangle meshes (closed and open) and height maps, in poses that graze, touch and penetrate, judged by
// Coal's distance of a shape and a triangle, one triangle after the other, which shares nothing with how surfaces are searched here.
//
//   apart         the least gap is the distance
//   penetrating   D = the shortest translation that leaves no triangle cut, by search over directions
//                 no contact is deeper than D, and the shortest translation t with n_i · t >= -φ_i for all contacts is as long as D
//
// STICTION_GEOMETRY_PAIRS=15000 tries that many poses instead of the few of a quick run.
#include <cmath>
#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include <coal/BVH/BVH_model.h>
#include <coal/collision.h>
#include <coal/distance.h>

#include "stiction/geometry/closest.hpp"
#include "stiction/geometry/collider.hpp"
#include "stiction/geometry/cylinder.hpp"
#include "stiction/geometry/random_surfaces.hpp"
#include "stiction/geometry/reference_shapes.hpp"

namespace stiction::surface_reference_test {
namespace {

using Eigen::Isometry3d;
using Eigen::Vector3d;
using reference::Placed;
using reference::Solid;

constexpr double kCoal = 3e-6;  // GJK's tolerance in Coal (m)

int poses_to_try(int quick) {
  const char* wanted = std::getenv("STICTION_GEOMETRY_PAIRS");
  return wanted == nullptr ? quick : std::max(std::atoi(wanted), quick);
}

/// Triangles in the world, and Coal's tree of them.
struct Soup {
  std::vector<std::array<Vector3d, 3>> triangles;
  coal::BVHModel<coal::OBBRSS> tree;

  explicit Soup(const Surface& s) {
    std::vector<coal::Triangle> indices;
    for (const auto& t : s.triangles) {
      triangles.push_back({s.vertex(t.v[0]), s.vertex(t.v[1]), s.vertex(t.v[2])});
      indices.emplace_back(static_cast<unsigned>(t.v[0]), static_cast<unsigned>(t.v[1]), static_cast<unsigned>(t.v[2]));
    }
    tree.beginModel();
    tree.addSubModel(s.vertices, indices);
    tree.endModel();
  }
  Vector3d normal(std::size_t i) const {
    const auto& t = triangles[i];
    return (t[1] - t[0]).cross(t[2] - t[0]).normalized();
  }
};

/// A convex shape among triangles near it.
class Probe {
 public:
  Probe(const Soup& soup, const Collider& collider) : soup_(soup), collider_(collider) {}

  /// To the nearest triangle, 0 where one is cut.
  double distance(const Isometry3d& X) const {
    coal::DistanceRequest request(false, false);
    coal::DistanceResult result;
    return std::max(0.0, coal::distance(collider_.coal_shape.get(), {X.linear(), X.translation()}, &soup_.tree,
                                        coal::Transform3s::Identity(), request, result));
  }
  /// On the front of the nearest triangle.
  bool is_in_front(const Isometry3d& X) const {
    coal::DistanceRequest request(true, false);
    coal::DistanceResult result;
    coal::distance(&soup_.tree, coal::Transform3s::Identity(), collider_.coal_shape.get(), {X.linear(), X.translation()}, request, result);
    return result.b1 >= 0 &&
           soup_.normal(static_cast<std::size_t>(result.b1)).dot(result.nearest_points[1] - result.nearest_points[0]) > 0.0;
  }
  bool cuts(const Isometry3d& X) const {
    coal::CollisionRequest request;
    coal::CollisionResult result;
    return coal::collide(collider_.coal_shape.get(), {X.linear(), X.translation()}, &soup_.tree, coal::Transform3s::Identity(), request,
                         result) > 0;
  }
  /// Shortest way out along d, looked for up to `farthest`.
  double way_out(const Isometry3d& X, const Vector3d& d, double farthest, double tolerance) const {
    const auto cut_at = [&](double way) {
      Isometry3d Y = X;
      Y.translation() += way * d;
      return cuts(Y);
    };
    if (cut_at(farthest)) return std::numeric_limits<double>::infinity();
    double low = 0.0, high = farthest;
    while (high - low > tolerance) (cut_at(0.5 * (low + high)) ? low : high) = 0.5 * (low + high);
    return high;
  }
  /// Shortest way out of all, at most `farthest`.
  double least_way_out(const Isometry3d& X, const std::vector<Vector3d>& also, double farthest, Random& random) const {
    constexpr int kCover = 60, kSteps = 40, kTries = 5;
    double best = farthest;
    Vector3d n = Vector3d::UnitZ();
    const auto take = [&](const Vector3d& d) {
      const double way = way_out(X, d, best, 1e-3 * best);
      if (way < best) best = way, n = d;
    };
    for (const Vector3d& d : also) take(d.normalized());
    for (int i = 0; i < kCover; ++i) {
      const double z = 1.0 - (2.0 * i + 1.0) / kCover, angle = i * std::numbers::pi * (3.0 - std::sqrt(5.0));
      take({std::sqrt(1.0 - z * z) * std::cos(angle), std::sqrt(1.0 - z * z) * std::sin(angle), z});
    }
    double size = 0.3;
    for (int i = 0; i < kSteps; ++i, size *= 0.85) {
      for (int k = 0; k < kTries; ++k) take((n + size * random.vector(1.0)).normalized());
    }
    return best;
  }
  /// Distance of a point to the surface.
  double off_surface(const Vector3d& p) const {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& t : soup_.triangles) least = std::min(least, (closest_on_triangle(p, t[0], t[1], t[2]).point - p).norm());
    return least;
  }
  /// Largest sine by which a triangle at p rises along n: 0 where n is a normal of the surface there.
  double rise(const Vector3d& p, const Vector3d& n) const {
    double most = 0.0;
    for (const auto& t : soup_.triangles) {
      if ((closest_on_triangle(p, t[0], t[1], t[2]).point - p).norm() > 1e-7) continue;
      for (const auto& v : t) {
        if ((v - p).norm() > 1e-5) most = std::max(most, n.dot(v - p) / (v - p).norm());
      }
    }
    return most;
  }

 private:
  const Soup& soup_;
  const Collider& collider_;
};

/// Length of the shortest t with n_i · t >= -φ_i: Hildreth's method on the dual.
double least_translation(const std::vector<ContactPoint>& contacts) {
  std::vector<double> lambda(contacts.size(), 0.0);
  Vector3d t = Vector3d::Zero();
  for (int sweep = 0; sweep < 2000; ++sweep) {
    double change = 0.0;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const double step = std::max(-lambda[i], -contacts[i].gap - contacts[i].n.dot(t));
      lambda[i] += step;
      t += step * contacts[i].n;
      change = std::max(change, std::abs(step));
    }
    if (change < 1e-9 * t.norm()) break;
  }
  return t.norm();
}

struct Tally {
  int tried = 0, apart = 0, apart_off = 0, in = 0, missed = 0, too_deep = 0, too_shallow = 0, other_way = 0, off_surface = 0, hollow = 0,
      sideways = 0;
  std::size_t contacts = 0, most = 0;
  void print(const char* what) const {
    std::printf(
        "%-12s %5d poses: %d apart, %d of them off; %d in, %d of them missed, %d too deep, %d too shallow, %d freed by another way; %d "
        "points "
        "off a surface, %d in a hollow, %d normals sideways; %.1f contacts a pose, at most %zu\n",
        what, tried, apart, apart_off, in, missed, too_deep, too_shallow, other_way, off_surface, hollow, sideways,
        static_cast<double>(contacts) / std::max(tried, 1), most);
  }
};

/// Whether a shape meets an open surface from its front, away from its borders. Elsewhere what lies behind a triangle may lie beside the
/// surface, too: whether it is inside cannot be told.
bool is_on_front(const Surface& surface, const Probe& probe, const Placed& shape, const Vector3d& d, double margin) {
  for (const auto& e : surface.edges) {
    const Vector3d &a = surface.vertex(e.a), along = surface.vertex(e.b) - a;
    for (int i = 0; i <= 20 && e.right < 0; ++i) {
      if (shape.to_surface(a + 0.05 * i * along) < margin) return false;
    }
  }
  Isometry3d back = shape.X;
  while (probe.cuts(back)) back.translation() += margin * d;
  return probe.is_in_front(back);
}

Shape random_convex(Random& random, int kind) {
  const auto extent = [&] { return random(0.03, 0.15); };
  const double x = extent(), y = extent(), z = extent();
  if (kind == 0) return Sphere{x};
  if (kind == 1) return Box{{x, y, z}};
  if (kind == 2) return Capsule{x, y};
  if (kind == 3) return Cylinder{x, y};
  ConvexMesh mesh;
  for (int i = 0; i < 14; ++i) mesh.vertices.push_back(random.vector(1.0).normalized().cwiseProduct(Vector3d(x, y, z)));
  if (kind == 5) {  // an ellipsoid, as hulls have it
    mesh.vertices.clear();
    for (int i = 0; i < 80; ++i) {
      const double h = 1.0 - (2.0 * i + 1.0) / 80.0, angle = i * std::numbers::pi * (3.0 - std::sqrt(5.0)), r = std::sqrt(1.0 - h * h);
      mesh.vertices.emplace_back(x * r * std::cos(angle), y * r * std::sin(angle), z * h);
    }
  }
  return mesh;
}

/// Lowers the shape onto the surface along -d until it touches, then on by `depth`; false when it meets nothing.
bool lower(const Probe& probe, Isometry3d& X, const Vector3d& d, double depth) {
  for (int i = 0; i < 200; ++i) {
    const double distance = probe.distance(X);
    if (distance <= 1e-7) {
      X.translation() -= depth * d;
      return i > 0;
    }
    if (distance > 5.0) return false;
    X.translation() -= distance * d;
  }
  return false;
}

/// The deepest contact's points lie on the two surfaces. Of the corners of a patch that of a rounded shape may lie within it, and that of a
/// hollow beyond the border of its face, on the plane of the face.
void check_points(const Probe& probe, const Placed& shape, const std::vector<ContactPoint>& contacts, bool is_static, Tally& t) {
  for (const ContactPoint& c : contacts) {
    const bool first = &c == &deepest(contacts);
    bool hollow = false;
    const auto are_on_both = [&](const Vector3d& p, double gap) {
      const double on_shape = shape.to_surface(p), on_surface = probe.off_surface(p - gap * c.n);
      hollow = gap < 0.0 && on_surface > 1e-7 && on_surface < std::sqrt(3.0) * -gap;
      return (first ? std::abs(on_shape) : on_shape) < 1e-7 && (hollow || on_surface < 1e-7);
    };
    // A corner of a tilted cap bears away from where it is (cylinder.hpp).
    CornerFade fade;
    if (const auto* s = std::get_if<Cylinder>(&shape.solid.shape))
      fade = corner_fade({.cylinder_radius = s->radius, .cylinder_half = s->half_length, .X = shape.X}, -c.n);
    const auto on_both = [&](const Vector3d& middle) {
      const Vector3d p = middle + 0.5 * c.gap * c.n;
      return are_on_both(p, c.gap) || are_on_both(p - fade.shift - fade.lift * c.n, c.gap - fade.lift);
    };
    const bool on_surfaces = std::ranges::any_of(middles(c, contacts, is_static), on_both);
    if (hollow) ++t.hollow;
    if (on_surfaces) continue;
    ++t.off_surface;
    ADD_FAILURE() << (first ? "" : "other ") << "points off the surfaces, gap " << c.gap;
  }
}

std::ostream& report() { return std::cout << ::testing::UnitTest::GetInstance()->current_test_info()->name() << ": "; }

void check_pose(const Probe& probe, const Placed& shape, const std::vector<ContactPoint>& contacts, double margin, Random& random,
                bool is_static, Tally& t) {
  t.contacts += contacts.size();
  t.most = std::max(t.most, contacts.size());
  check_points(probe, shape, contacts, is_static, t);
  const double distance = probe.distance(shape.X), gap = contacts.empty() ? margin : deepest(contacts).gap;
  const auto sideways = [&] {
    const ContactPoint& c = deepest(contacts);
    const double rise = probe.rise(is_static ? c.p_WC : Vector3d(c.p_WC - 0.5 * c.gap * c.n), c.n);
    if (rise < 1e-4) return;
    ++t.sideways;
    ADD_FAILURE() << "normal " << rise << " into the surface, gap " << c.gap;
  };
  if (distance > kCoal) {
    ++t.apart;
    if (distance > margin - kCoal) return;
    if (!(std::abs(gap - distance) < kCoal)) {
      ++t.apart_off;
      ADD_FAILURE() << "gap " << gap << ", distance " << distance;
    } else {
      sideways();
    }
    return;
  }
  ++t.in;
  if (contacts.empty()) {
    ++t.missed;
    ADD_FAILURE() << "no contact";
    return;
  }
  std::vector<Vector3d> normals;
  for (const auto& c : contacts) normals.push_back(c.n);
  const double farthest = 0.8 * shape.solid.size / std::sqrt(3.0);
  const double D = probe.least_way_out(shape.X, normals, farthest, random);
  if (D >= farthest) return;
  const double slack = std::max(2e-5, 0.02 * D), needed = least_translation(contacts);
  if (-gap > D + slack) {
    ++t.too_deep;
    report() << "too deep: gap " << gap << ", free after " << D << '\n';
  } else if (needed < D - slack) {
    ++t.too_shallow;
    report() << "too shallow: gap " << gap << ", " << needed << " to undo the contacts, free after " << D << '\n';
  } else {
    sideways();
    if (needed > D + slack) ++t.other_way;
  }
}

void run(const char* what, int kind, int poses) {
  Random random(31 + static_cast<unsigned>(kind));
  Tally t;
  constexpr double margin = 0.02;
  while (t.tried < poses) {
    const Shape ground = random_surface(random, kind);
    const Surface surface = surface_of(ground);
    const Soup soup(surface);
    for (int i = 0; i < 12 && t.tried < poses; ++i) {
      const Solid solid(random_convex(random, i % 6));
      const Collider collider = make_collider(solid.shape, "shape");
      const Probe probe(soup, collider);
      ShapePair pair(solid.shape, ground);
      for (int k = 0; k < 4; ++k) {
        Isometry3d X = random.pose(0.0);
        if (k == 1) X.linear().setIdentity();
        const auto at = static_cast<std::size_t>(pick(random, static_cast<int>(soup.triangles.size())));
        const Vector3d d = (soup.normal(at) + random.vector(0.5)).normalized();
        // Over a face, an edge or a corner.
        Vector3d weights(random(0.0, 1.0), random(0.0, 1.0), random(0.0, 1.0));
        for (int j = 0; j < pick(random, 3); ++j) weights[j] *= 1e-3;
        weights /= weights.sum();
        const auto& corner = soup.triangles[at];
        const Vector3d on = weights[0] * corner[0] + weights[1] * corner[1] + weights[2] * corner[2];
        X.translation() = on + 3.0 * d;
        const double size = solid.size / std::sqrt(3.0);
        const std::array<double, 5> depths{-random(0.0, 0.9) * margin, 0.0, std::pow(10.0, random(-6.0, -4.0)), random(0.0, 0.03) * size,
                                           random(0.0, 0.1) * size};
        const int depth = pick(random, 5);
        if (!lower(probe, X, d, depths[depth])) continue;
        if (kind == 1 && !is_on_front(surface, probe, {solid, X}, d, margin)) continue;
        SCOPED_TRACE(::testing::Message() << shape_name(solid.shape) << " on " << what << ", number " << t.tried << ", " << depth);
        ++t.tried;
        check_pose(probe, {solid, X}, pair.contacts(X, Isometry3d::Identity(), margin), margin, random, is_fixed_shape(ground), t);
      }
    }
  }
  t.print(what);
  EXPECT_LE(t.too_deep + t.too_shallow, t.tried / 1000);  // what is left open: see the room's README
}

TEST(SurfaceReference, ClosedMeshes) { run("closed mesh", 0, poses_to_try(150)); }
TEST(SurfaceReference, OpenMeshes) { run("open mesh", 1, poses_to_try(150)); }
TEST(SurfaceReference, PlateMeshes) { run("plate mesh", 2, poses_to_try(150)); }
TEST(SurfaceReference, HeightMaps) { run("height map", 3, poses_to_try(150)); }

}  // namespace
}  // namespace stiction::surface_reference_test
