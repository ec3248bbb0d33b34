// What a law asks of each contact, as data that programs, certificates, proofs and choices read without asking for the law's name:
//
//   λ = T λ̂ + λ₀,   û = Tᵀ u                            T the axes of the friction section in the tangent plane, λ₀ friction that is known
//   ũ = û + R λ̂ + c + [coulomb] μ s(ũ_T) e_N            R >= 0 compliance, c offset
//                                                       s(x) = max {-d·x : d in the unit section}, |x| for the disc
//   K ∋ λ̂ ⊥ ũ ∈ K*                                      K = {λ̂_N >= 0, λ̂_T in μ λ̂_N section}
//                                                       half line (μ = 0), cone, half space (μ = ∞)
// Under Coulomb's law (De Saxcé's term) μ = ∞ is the limit of wide cones: open, λ = 0 and ũ_N >= 0, or touching, ũ_N = 0, and either at
// rest, λ_N >= 0, or slipping without a load, λ_T against the slip. A contact that does not bear has λ = 0 and demands nothing. Families,
// each one program:
//   associated     no De Saxcé term: one convex program                     coulomb       with it: a complementarity problem
//   energy         least kinetic energy over the cones [ZD15, Eqs. 63-72]   constitutive  λ = f(u), problem/constitutive.hpp
#pragma once

#include <cmath>
#include <vector>

#include "stiction/problem/constitutive.hpp"

namespace stiction {

enum class Family : char { associated, coulomb, energy, constitutive };

/// Terms of one contact; the default is a frictionless one at gap zero.
struct ContactTerms {
  bool bears = true;
  bool coulomb = false;                              ///< with De Saxcé's term
  double mu = 0.0;                                   ///< of the cone; 0 and infinity as above
  Eigen::Vector3d offset = Eigen::Vector3d::Zero();  ///< c (m/s)
  double normal_compliance = 0.0;                    ///< R_N (1/kg)
  double tangential_compliance = 0.0;                ///< R_T (1/kg), of both tangents
  bool turned = false;                               ///< T is not the identity
  Eigen::Matrix2d axes = Eigen::Matrix2d::Identity();
  Eigen::Vector2d known = Eigen::Vector2d::Zero();  ///< λ₀ (N s)
  CompliantContact constitutive;                    ///< f, read by the family of that name alone

  /// u_T = 0 at any load, or a friction that gives way, in a convex program.
  bool is_half_space() const { return !coulomb && std::isinf(mu); }
  /// Friction that the motion fixes, whatever the load.
  bool has_fixed_friction() const { return tangential_compliance > 0.0 || !known.isZero(0.0); }
};

/// A law lowered on the contacts of one problem.
struct LawTerms {
  Family family = Family::coulomb;
  int edges = 0;                       ///< of the section: 0 the unit disc, k its inscribed polygon with vertices at angles 2πj/k
  std::vector<ContactTerms> contacts;  ///< n

  bool disc() const { return edges == 0; }
};

/// λ̂ of λ, û of u, and ũ but for De Saxcé's term; λ of λ̂.
Eigen::Vector3d cone_impulse(const ContactTerms& terms, const Eigen::Vector3d& lambda);
Eigen::Vector3d cone_velocity(const ContactTerms& terms, const Eigen::Vector3d& u);
Eigen::Vector3d law_velocity(const ContactTerms& terms, const Eigen::Vector3d& u, const Eigen::Vector3d& cone_impulse);
Eigen::Vector3d contact_impulse(const ContactTerms& terms, const Eigen::Vector3d& cone_impulse);

/// The directions in which the impulses of a law can grow without bound and without friction that gives way, as terms of their own: those
/// of the family associated (a cone), half lines of the others (their friction never refuses a motion), nothing of contacts that give way.
ContactTerms recession(const ContactTerms& terms, Family family);

}  // namespace stiction
