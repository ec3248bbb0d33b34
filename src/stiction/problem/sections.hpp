// Friction cones and their projections: what "solved" means for one contact.
//
//   disc          K = {|λ_T| <= μ λ_N}
//   polygon(k)    K = cone of the k rays (1, μ d_j), d_j = (cos 2πj/k, sin 2πj/k)
//   natural map   λ - P_K(λ - ρ ũ),  ũ = u + (c + μ s(u_T)) e_N,  s(u_T) = max {-d·u_T : d in the section},  s = 0 when relaxed
//   μ = ∞         its limit, where μ λ_N may stay finite while λ_N vanishes: λ = 0 and u_N + c >= 0, or u_N + c = 0 and either u_T = 0 or
//                 λ_N = 0 with λ_T most dissipative in its own section, λ_T = P_r(λ_T - ρ u_T), r = gauge(λ_T)
// P_K is the Euclidean projection. The reflections of the polygon across its vertices keep the projection in the sector of the point,
// so one facet and its two rays are all that need be looked at: O(1) for any k.
#pragma once

#include <Eigen/Core>

#include "stiction/problem/reduced.hpp"

namespace stiction {

/// Sector of a regular polygon with k vertices that holds a tangential vector.
struct Sector {
  int vertex;                       ///< j: the sector lies between d_j and d_{j+1}
  Eigen::Vector2d normal, tangent;  ///< outward unit normal of the edge, and its direction from d_j to d_{j+1}
};

/// Trigonometry of the section, computed once per solve. edges = 0 is the disc.
class SectionShape {
 public:
  SectionShape() = default;
  /// Keeps its memory between calls.
  void reset(int edges);
  int edges() const { return edges_; }
  bool disc() const { return edges_ == 0; }
  /// Vertex j of the unit polygon, j in [0, k].
  Eigen::Vector2d vertex(int j) const { return {vertices_[2 * j], vertices_[2 * j + 1]}; }
  double cos_half() const { return cos_half_; }  ///< distance of the edges from the centre, cos(π/k)
  double sin_half() const { return sin_half_; }  ///< half length of an edge, sin(π/k)
  Sector sector(const Eigen::Vector2d& t) const;
  /// s(u_T) = max {-d·u_T : d in the section}: |u_T| for the disc (m/s).
  double slip(const Eigen::Vector2d& u_t) const;
  /// Gauge of the unit section at t: the smallest radius that contains it.
  double gauge(const Eigen::Vector2d& t) const;
  /// Euclidean projection on the section of this radius.
  Eigen::Vector2d clip(double radius, const Eigen::Vector2d& t) const;
  /// Euclidean projection on K; mu finite.
  Eigen::Vector3d project(double mu, const Eigen::Vector3d& x) const;

 private:
  int edges_ = 0;
  double cos_half_ = 1.0, sin_half_ = 0.0;
  GrowVector vertices_;
};

/// Natural map (m/s) of one contact; `u` does not contain the offset c.
double contact_natural_map(const SectionShape& shape, bool relaxed, double mu, double offset, double rho, const Eigen::Vector3d& lambda,
                           const Eigen::Vector3d& u);

/// Natural map (m/s) of one bounded row.
double row_natural_map(double lo, double hi, double rho, double beta, double w);

}  // namespace stiction
