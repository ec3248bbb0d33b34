// Contacts and rows on the central path, every complementarity product exact: what is unknown of a pair x ∘ z = ν² e of a self-dual cone
// (half line, second-order cone) is w = x - z alone,
//
//     x = (w + √(w² + 4 ν² e)) / 2,   z = (-w + √(w² + 4 ν² e)) / 2           at ν = 0 the projections of w and of -w
//
// [Chen and Harker 1993; Fukushima, Luo and Tseng 2002]. What remains are linear equations between the pairs of one contact:
//     0 <= λ_N ⊥ a >= 0,       a = u_N + c - κ s                        κ = 0: Coulomb,  κ = μ: Anitescu's relaxation
//     disc      Q ∋ (x_0, λ_T) ⊥ (s, u_T) ∈ Q,     x_0 = μ λ_N             Q the second-order cone of R³
//     polygon   0 <= β_j ⊥ w_j = s + d_j·u_T >= 0,   0 <= t = μ λ_N - Σ β_j ⊥ s >= 0,   λ_T = Σ β_j d_j       [ZD15, Eqs. 48-61]
// s replaces De Saxce's |u_T| and is smooth along the path. Impulses are counted times, velocities over the contact's `scale`, both are
// then roots of an energy. Linearised, each contact reads δλ = d - D δu with D 3 x 3; denominators are sums of positive terms.
// `soft`: impulses give way by this part of their own Delassus block, a proximal term that bounds D and leaves the residual exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "stiction/problem/sections.hpp"

namespace stiction {

/// Stands for μ = ∞ while the path is followed; the natural map knows the exact law.
inline constexpr double kInteriorInfinity = 1e3;

/// One pair of numbers: x z = ν², x - z = w.
struct Pair {
  double x = 0.0, z = 0.0;
  void place(double w, double nu) {
    const double half = 0.5 * std::abs(w), larger = half + std::sqrt(half * half + nu * nu);
    const double smaller = larger > 0.0 ? nu * (nu / larger) : 0.0;
    x = w > 0.0 ? larger : smaller;
    z = w > 0.0 ? smaller : larger;
  }
};

/// What the contacts of both sections share.
struct SmoothContact {
  double mu, kappa, scale;
  bool friction;
  Pair normal;
  double soft_a, q;  // elimination

  void bind(double coefficient, bool relaxed, double size) {
    mu = std::min(coefficient, kInteriorInfinity);
    kappa = relaxed ? mu : 0.0;
    friction = mu > 0.0;
    scale = size;
  }
  /// D without friction (9); returns its unit.
  double eliminate_normal(double soft, double* D) {
    std::fill(D, D + 9, 0.0);
    soft_a = normal.z + soft * normal.x;
    q = normal.x / soft_a;
    const double unit = 1.0 / (scale * scale);
    D[0] = unit * q;
    return unit;
  }
};

class DiscCones {
 public:
  static constexpr int kUnknowns = 4;  // per contact: of the normal pair, and of the pair of vectors
  void bind(const ReducedProblem& problem, const SectionShape& shape, bool relaxed, const GrowVector& scale, double soft);
  int unknowns() const { return kUnknowns * static_cast<int>(contacts_.size()); }
  /// Unknowns of the point where λ_N and a are t.
  void start(double t, double* w) const;
  /// Unknowns of these impulses and velocities, at ν = 0.
  void from_impulses(const GrowVector& lambda, const GrowVector& u, const GrowVector& offset, double* w) const;
  /// The pairs of w at ν, and their λ.
  void place(const double* w, double nu, GrowVector& lambda);
  /// What the equations between the pairs leave at u.
  void residual(const GrowVector& u, const GrowVector& offset, double* r) const;
  void eliminate(GrowVector& D);
  /// d of every contact where the products change by p and the equations by -r.
  void right_hand_side(double p, const double* r, GrowVector& d);
  /// From δu and d: δλ in its place, and δw.
  void recover(const double* r, const GrowVector& D, const GrowVector& du, GrowVector& d, double* dw) const;

 private:
  struct Contact : SmoothContact {
    double x0, s, z1, z2;                                            // the pair of vectors, but for λ_T
    double plus_x, minus_x, plus_z, minus_z, e1, e2;                 // its eigenvalues, and the direction of its vectors
    double shear, det, along, along_x, inverse, across, d1, d2, s0;  // elimination
  };
  std::vector<Contact> contacts_;
  double soft_ = 0.0;
};

class PolygonCones {
 public:
  void bind(const ReducedProblem& problem, const SectionShape& shape, bool relaxed, const GrowVector& scale, double soft);
  int unknowns() const { return (k_ + 2) * static_cast<int>(contacts_.size()); }
  void start(double t, double* w) const;
  void from_impulses(const GrowVector& lambda, const GrowVector& u, const GrowVector& offset, double* w) const;
  void place(const double* w, double nu, GrowVector& lambda);
  void residual(const GrowVector& u, const GrowVector& offset, double* r) const;
  void eliminate(GrowVector& D);
  void right_hand_side(double p, const double* r, GrowVector& d);
  void recover(const double* r, const GrowVector& D, const GrowVector& du, GrowVector& d, double* dw) const;

 private:
  struct Contact : SmoothContact {
    Pair slip;                                  // t and s
    double soft_s, qt, g1, g2, inverse, s0, c;  // elimination
  };
  struct Edge {
    double x, y;  // d_j
    Pair pair;
    double soft, q, d;  // elimination
  };
  std::vector<Contact> contacts_;
  std::vector<Edge> edges_;  // k per contact
  SectionShape shape_;
  int k_ = 0;
  double soft_ = 0.0;
};

/// Bounded rows: lo <= β <= hi with w = z_lo - z_hi; an infinite bound has no multiplier, two of them make a bilateral row.
class BoxRows {
 public:
  static constexpr int kUnknowns = 2;  // per row: of the pairs at lo and at hi; a bilateral row: β
  void bind(const ReducedProblem& problem, const GrowVector& scale, double soft);
  int unknowns() const { return kUnknowns * static_cast<int>(rows_.size()); }
  void start(double t, double* w) const;
  void from_impulses(const GrowVector& beta, const GrowVector& v, double* w) const;
  void place(const double* w, double nu, GrowVector& beta);
  void residual(const GrowVector& v, double* r) const;
  void eliminate(GrowVector& D);
  void right_hand_side(double p, const double* r, GrowVector& d);
  void recover(double p, const double* r, const GrowVector& D, const GrowVector& dv, GrowVector& d, double* dw) const;

 private:
  struct Row {
    double lo, hi, scale;
    bool fixed, has_lo, has_hi;
    Pair at_lo, at_hi;
    Pair lo_then, hi_then;  // when eliminated
  };
  std::vector<Row> rows_;
  double soft_ = 0.0;
};

}  // namespace stiction
