// Which of the contacts found between a shape and a surface, feature against feature, are contacts of the two.
//
// A signed distance d along n between a point of the shape and a point of the surface says of a translation that parts the two there:
//   touch     n lies in the normal cones of both features: apart, the nearest points; penetrating, one way out, d long or longer
//   nearest   d >= 0, or a point of one body lies d deep in the other, measured to its nearest face: every way out is as long or longer
// So the depth is known from both sides. Rules:
//   A touch that is not nearest gives way to a touch of lesser depth that undoes it too: the shape, moved out along that normal, is convex
//   and lies all in front of a plane that the other's surface point lies behind, or neither of the other's points lies in the other body
//   any more. Lesser by more than rounding: two as deep undo nothing of each other, and one of no depth undoes what only seems to overlap,
//   as do edges in the common plane of two bodies face on face.
//   Touches of a shape that is not convex undo together what each would undo alone were it convex: a corner between two walls is freed by
//   both. They need leave no more of it than what counts as flush; a wall that holds it by less may have no touch of its own.
//   What is left is the least way out of each overlap.
//   What is neither holds a corner of the contact patch: it counts beside a touch with a normal within 10 degrees that is as deep or
//   deeper.
#pragma once

#include <algorithm>
#include <vector>

#include "stiction/geometry/convex_pairs.hpp"

namespace stiction {

struct SurfaceContact {
  Eigen::Vector3d p, n;   ///< point of the shape's core, normal from the surface; frame of the surface
  double distance = 0.0;  ///< of the core (m)
  std::uint64_t name_shape = 0, name_surface = 0;
  bool touch = false, nearest = false;
  /// From the points to the ends of their edges, where they lie beyond: contacts only inside the solids.
  Eigen::Vector3d to_shape = Eigen::Vector3d::Zero(), to_surface = to_shape;
  /// Whose point is one of a vertex or edge: where it has left the other body, the overlap is undone. A point on a face tells nothing.
  bool sharp_shape = true, sharp_surface = true;
  bool border = false, back = false;  ///< at an open border; and with a normal to its back
  bool aside = false;                 ///< behind an open surface, with its border nearer than the depth, seen along the surface

  Eigen::Vector3d on_surface() const { return p - distance * n; }
};

class SurfaceContacts {
 public:
  struct Scratch {
    std::vector<SurfaceContact> found, touches;
    std::vector<int> first, next;  ///< found ones by where their normal lies, in lists
  };

  /// `radius`: rounding of the shape; `size`: of the shape, for rounding errors; a touch deeper than `thickness` is one of the far side.
  SurfaceContacts(Scratch& scratch, double margin, double radius, double size, double thickness);

  double reach() const { return reach_; }
  double thickness() const { return thickness_; }
  /// Of points and depths, for rounding (m). What lies in a body to this counts as in it: on its surface rounding must not decide.
  double tolerance() const { return tolerance_; }
  /// Adds it unless it repeats a point or two features, or lies beyond reach.
  void add(const SurfaceContact& c);
  std::size_t size() const { return scratch_.found.size(); }
  template <class F>
  bool any(const F& f) const {
    return std::any_of(scratch_.found.begin(), scratch_.found.end(), f);
  }
  template <class F>
  void drop(std::size_t first, const F& is_dropped) {
    auto& found = scratch_.found;
    found.erase(std::remove_if(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(), is_dropped), found.end());
  }

  /// Drops the touches that others undo. `overlap(c, way, slack)`: whether c's vertices or edges still lie in the other body, grown by
  /// `slack`, when the shape is moved that way. `convex`: the shape is.
  template <class Overlap>
  void settle(bool convex, const Overlap& overlap);
  /// Puts what counts into the world.
  void emit(const Eigen::Isometry3d& X, ContactSink& sink) const;

 private:
  /// The touches, from the shallowest on.
  void sort_touches();
  /// The first found that this repeats, or -1.
  int find(const SurfaceContact& c) const;
  /// What stays of them in place of all touches found.
  void keep_touches();
  bool is_cleared_by(const SurfaceContact& c, const SurfaceContact& other) const;
  /// Moved this way the shape is out of all the first `count` touches that would clear c if it were convex; zero if none would.
  Eigen::Vector3d way_together(const SurfaceContact& c, std::size_t count) const;
  bool is_held(const SurfaceContact& c) const;

  Scratch& scratch_;
  double reach_, radius_, thickness_, tolerance_;
};

template <class Overlap>
void SurfaceContacts::settle(bool convex, const Overlap& overlap) {
  sort_touches();
  auto& touches = scratch_.touches;
  std::size_t kept = 0;
  for (const SurfaceContact& c : touches) {
    const auto undone_by = [&](const SurfaceContact& other) {
      if (!(other.distance > c.distance + 2.0 * tolerance_)) return false;
      if (convex && is_cleared_by(c, other)) return true;
      // Twice: a point nearer to a body than the tolerance is still in it.
      const Eigen::Vector3d way = (2.0 * tolerance_ + std::max(0.0, -other.distance)) * other.n;
      return other.distance <= tolerance_ && !overlap(c, way, tolerance_);
    };
    // Judged by those that stay.
    const auto begin = touches.begin(), end = begin + static_cast<std::ptrdiff_t>(kept);
    const auto undone_together = [&] {
      const Eigen::Vector3d way = way_together(c, kept);
      return way.norm() > 0.0 && way.norm() < -c.distance && !overlap(c, way, -kLaidFlush);
    };
    if (c.nearest || (std::none_of(begin, end, undone_by) && (convex || !undone_together()))) touches[kept++] = c;
  }
  touches.resize(kept);
  keep_touches();
}

}  // namespace stiction
