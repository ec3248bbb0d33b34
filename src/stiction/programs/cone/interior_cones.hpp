// Interior-point state of the contacts: per-contact elimination of every variable but the contact velocity.
//
// Both sections are written in the split form, in which friction has its own multiplier s (slip speed, m/s) and its own cone,
//     0 <= λ_N ⊥ a >= 0,       a = u_N + c - κ s                        κ = 0: Coulomb,  κ = μ: Anitescu's relaxation
//     disc      Q ∋ (μ λ_N, λ_T) ⊥ (s, u_T) ∈ Q                            Q the second-order cone of R³
//     polygon   0 <= β_j ⊥ w_j = s + d_j·u_T >= 0,   0 <= μ λ_N - Σ β_j ⊥ s >= 0,   λ_T = Σ β_j d_j       [ZD15, Eqs. 48-61]
// so that s replaces De Saxce's |u_T| and is smooth along the central path (products = m). Differentiating |u_T| itself stalls on
// half of the stacks with 36 contacts or more; the split form solves them.
// Linearised, each contact reads δλ = d - D δu with D 3 x 3; denominators are sums of positive terms, so it always exists.
// Directions are those of the Jordan product (Alizadeh, Haeberly and Overton 1998), Mehrotra's second-order term included.
#pragma once

#include <cmath>
#include <vector>

#include "stiction/problem/sections.hpp"
#include "stiction/programs/cone/step_length.hpp"

namespace stiction {

/// Stands for μ = ∞ during the interior phase; the polish imposes u_T = 0 exactly.
inline constexpr double kInteriorInfinity = 1e3;

/// What an iteration asks of the complementarity products.
struct Target {
  double m = 0.0;             ///< value of every product at the end of the step
  bool second_order = false;  ///< subtract the products of the last direction (corrector)
};

/// Size of the contact's own Delassus block: sqrt of its mean diagonal (kg^-1/2), floored for a contact that nothing can move.
void contact_scales(const ReducedProblem& problem, GrowVector& scale, GrowVector& row_scale);

/// Weights of the contacts' products: 1 on path 0, spread between 1/2 and 2 by the golden ratio on the others.
template <class Contacts>
void weigh_contacts(int path, Contacts& contacts) {
  constexpr double kGolden = 0.6180339887498949;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const double x = kGolden * path * static_cast<double>(i + 1);
    contacts[i].weight = path == 0 ? 1.0 : std::exp2(2.0 * (x - std::floor(x)) - 1.0);
  }
}

class DiscCones {
 public:
  void bind(const ReducedProblem& problem, bool relaxed);
  /// Memory for a copy of these.
  void reserve(const DiscCones& other) { contacts_.reserve(other.contacts_.size()); }
  /// Interior point of size t (scaled velocity) for the normal offsets c, at contact velocities u and impulses λ_N > 0, λ_T = 0.
  void start(const GrowVector& scale, const GrowVector& offset, double t, const GrowVector& u, const GrowVector& lambda);
  /// D of every contact (9 each, row-major).
  void eliminate(const GrowVector& u, const GrowVector& lambda, GrowVector& D);
  /// d of every contact.
  void right_hand_side(const Target& target, const GrowVector& u, const GrowVector& lambda, GrowVector& d);
  /// Directions from δu; `d` becomes δλ. Returns the longest step that stays in the cones, at most kLongestStep.
  double recover(const GrowVector& D, const GrowVector& u, const GrowVector& lambda, const GrowVector& du, GrowVector& d);
  /// Sum of the complementarity products after a step, before λ and u are moved, and how many there are.
  double products(double step, const GrowVector& u, const GrowVector& lambda, const GrowVector& du, const GrowVector& dlambda) const;
  int count() const { return count_; }
  /// Smallest of the products after a step; of a disc, whose two products are one vector, the root of the product of its determinants,
  /// which is m on the path too.
  double smallest(double step, const GrowVector& u, const GrowVector& lambda, const GrowVector& du, const GrowVector& dlambda) const;
  /// The last direction over the point: numbers over themselves, vectors of a cone over its axis. `relative_size()` entries.
  void relative(const GrowVector& lambda, const GrowVector& dlambda, GrowVector& out) const;
  Eigen::Index relative_size() const { return 7 * static_cast<Eigen::Index>(contacts_.size()); }
  void advance(double step);
  /// Sets κ to this part of μ: 0 is Coulomb's law, 1 the relaxation.
  void couple(double part);
  void weigh(int path) { weigh_contacts(path, contacts_); }

 private:
  struct Contact {
    double mu, kappa, offset, weight;
    bool friction;
    double a, s, da, ds, du1, du2;
    double inv_a, inv_s, inv_w, det, s0, e1, e2;  // elimination
  };
  std::vector<Contact> contacts_;
  int count_ = 0;
};

class PolygonCones {
 public:
  void bind(const ReducedProblem& problem, const SectionShape& shape, bool relaxed);
  void reserve(const PolygonCones& other) {
    contacts_.reserve(other.contacts_.size());
    edges_.reserve(other.edges_.size());
  }
  void start(const GrowVector& scale, const GrowVector& offset, double t, const GrowVector& u, const GrowVector& lambda);
  void eliminate(const GrowVector& u, const GrowVector& lambda, GrowVector& D);
  void right_hand_side(const Target& target, const GrowVector& u, const GrowVector& lambda, GrowVector& d);
  double recover(const GrowVector& D, const GrowVector& u, const GrowVector& lambda, const GrowVector& du, GrowVector& d);
  double products(double step, const GrowVector& u, const GrowVector& lambda, const GrowVector& du, const GrowVector& dlambda) const;
  int count() const { return count_; }
  double smallest(double step, const GrowVector& u, const GrowVector& lambda, const GrowVector& du, const GrowVector& dlambda) const;
  void relative(const GrowVector& lambda, const GrowVector& dlambda, GrowVector& out) const;
  Eigen::Index relative_size() const { return (4 + 2 * k_) * static_cast<Eigen::Index>(contacts_.size()); }
  void advance(double step);
  void couple(double part);
  void weigh(int path) { weigh_contacts(path, contacts_); }

 private:
  struct Contact {
    double mu, kappa, offset, weight;
    bool friction;
    double a, s, t, da, ds, dt;          // t = μ λ_N - Σ β
    double inv_a, inv_w, s0, g1, g2, c;  // elimination; c = Σ c_j / w_j
  };
  struct Edge {
    double x, y;  // d_j
    double beta, w, dbeta, dw, q, c;
  };
  std::vector<Contact> contacts_;
  std::vector<Edge> edges_;  // k per contact
  int k_ = 0, count_ = 0;
};

/// Bounded rows: lo <= β <= hi with w = z_lo - z_hi; an infinite bound has no multiplier, two of them make a bilateral row.
class BoxRows {
 public:
  void bind(const ReducedProblem& problem);
  void reserve(const BoxRows& other) { rows_.reserve(other.rows_.size()); }
  void start(const GrowVector& row_scale, double t, GrowVector& beta);
  void eliminate(const GrowVector& w, const GrowVector& beta, GrowVector& D);
  void right_hand_side(const Target& target, const GrowVector& w, const GrowVector& beta, GrowVector& d);
  double recover(const GrowVector& D, const GrowVector& beta, const GrowVector& dw, GrowVector& d);
  double products(double step, const GrowVector& beta, const GrowVector& dbeta) const;
  double smallest(double step, const GrowVector& beta, const GrowVector& dbeta) const;
  int count() const { return count_; }
  void relative(const GrowVector& beta, const GrowVector& dbeta, GrowVector& out) const;
  Eigen::Index relative_size() const { return 4 * static_cast<Eigen::Index>(rows_.size()); }
  void advance(double step);

 private:
  struct Row {
    double lo, hi, scale;
    bool fixed, has_lo, has_hi;
    double z_lo, z_hi, dz_lo, dz_hi, c_lo, c_hi, dbeta;
  };
  std::vector<Row> rows_;
  int count_ = 0;
};

}  // namespace stiction
