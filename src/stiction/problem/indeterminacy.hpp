// How far the contact impulses of a solved problem are determined by it: the set of impulses with the same motion,
//
//   F = { λ' : R λ' = R λ,  λ'_i in the face that the law leaves to contact i at its velocity u_i }
//
//   u_N + c > 0 (relaxed laws: > μ |u_T|)   λ'_i = 0; no-slip: λ'_N = 0, λ'_T any, on closed contacts
//   sliding                                 λ'_i = λ_N (1, -μ u_T/|u_T|); pyramid: the vertices that dissipate most
//   sliding with μ = ∞ (Coulomb's laws)     λ'_N = 0, λ'_T against the slip
//   sticking                                the friction cone (disc or pyramid), or the half space λ_N >= 0 for no-slip
//   constitutive laws                       λ'_i = λ_i, a function of the motion
// Bounded rows keep their impulses. F is a slice of a product of cones; its dimension is Σ_i dim span(face_i) - rank(R over those
// spans) with face_i the smallest face that contains F's part of contact i. Smallest faces: a point in the relative interior of
// F is grown by linear programs that push every impulse off the boundary it lies on, until none can move.
// Normal intervals: min and max of λ'_N,i over F. The programs are solved by a simplex method whose columns are extreme rays of
// the cones, chosen by largest reduced cost in closed form (disc: opposite to the dual velocity), so the disc needs no polygon:
// every iterate is feasible and the duality gap bounds the error. Cost per pivot: r² + n r.
#pragma once

#include <vector>

#include "stiction/problem/certificate.hpp"
#include "stiction/problem/reduced.hpp"

namespace stiction {

struct IndeterminacyOptions {
  double tolerance = 1e-7;        ///< velocities and impulses below this share of the largest one count as zero
  bool normal_intervals = false;  ///< compute normal_min and normal_max
};

struct Indeterminacy {
  int dimension = 0;                ///< of F; 0: the impulses are unique
  std::vector<int> face_dimension;  ///< n, dimension of what contact i's impulse can span in F: 0, 1, 2 or 3
  GrowVector interior;              ///< 3n, impulses in the relative interior of F
  GrowVector normal_min;            ///< n, smallest λ_N,i over F (N s); empty unless asked for
  GrowVector normal_max;            ///< n, largest, infinity when unbounded
  double interval_error =
      0.0;  ///< N s: the true interval reaches at most this far beyond the reported one. An estimate when F is unbounded.
  /// False when a program ran into its bound of 2000 pivots or lost its point to rounding, or when an interval leaves out the solution
  /// itself (which does not solve the law then, or rounding has won): nothing here is sure then.
  bool complete = true;
  int pivots = 0;
};

/// Indeterminacy of the solution (lambda 3n, beta m) of a problem under a law, up to the given tolerance.
Indeterminacy indeterminacy(const ReducedProblem& problem, const LawTerms& law, const Eigen::Ref<const Eigen::VectorXd>& lambda,
                            const Eigen::Ref<const Eigen::VectorXd>& beta, const IndeterminacyOptions& options = {});

}  // namespace stiction
