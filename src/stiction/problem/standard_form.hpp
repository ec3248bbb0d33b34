// A reduced problem in the coordinates of its law's cones: what programs take.
//
//   K_k ∋ λ̂_k ⊥ û_k + c + R λ̂_k (+ De Saxcé) ∈ K_k*,   û = R̂_t y + û_free        k runs over the contacts that bear
// Rows are T_iᵀ R_i, velocities hold c_T and what the known friction does, `offset` is c_N, `mu` that of the terms. Gaps, materials, laws,
// closed flags and angles are the terms' matter and left out, as are the step and names.
#pragma once

#include <vector>

#include "stiction/problem/contact_terms.hpp"
#include "stiction/problem/reduced.hpp"

namespace stiction {

struct StandardForm {
  ReducedProblem problem;  ///< k contacts
  Family family = Family::coulomb;
  int edges = 0;              ///< of the section, 0 the disc
  std::vector<int> contacts;  ///< k, their indices in the whole problem, ascending
  GrowVector compliance;      ///< 2k, R_N and R_T; empty when all are rigid
  GrowVector known;           ///< 3n, known friction of the whole problem; empty when there is none
  GrowVector y_known;         ///< r, what it adds to y; empty with it
  GrowVector scratch;

  bool disc() const { return edges == 0; }
  /// Half lines and half spaces alone.
  bool has_linear_cones() const;
  bool gives_way(int k) const { return compliance.size() > 0 && !compliance.segment<2>(2 * k).isZero(0.0); }
};

/// Fills `form`; no allocation once the sizes have been seen. `terms` has one entry per contact.
void make_standard_form(const ReducedProblem& whole, const LawTerms& terms, StandardForm& form);

/// λ (3n) of the whole problem from λ̂ (3k); `linear`: without the known friction.
void expand_impulses(const StandardForm& form, const LawTerms& terms, const Eigen::Ref<const Eigen::VectorXd>& cone_impulses,
                     GrowVector& lambda, bool linear = false);
/// λ̂ (3k) from λ (3n).
void collect_impulses(const StandardForm& form, const LawTerms& terms, const Eigen::Ref<const Eigen::VectorXd>& lambda,
                      GrowVector& cone_impulses);

/// The same problem with compliance as rows of more columns, G + R = [R_t, R^½][R_t, R^½]ᵀ: three per contact that gives way. For programs
/// that know rigid contacts alone. `sizes` is scratch.
void widen(const StandardForm& form, ReducedProblem& wide, std::vector<int>& sizes);

}  // namespace stiction
