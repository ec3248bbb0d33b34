// Contact impulses as nonnegative combinations of generators, for the laws that lead to a low-rank QP or LCP in them.
//
//   λ = D x,  lo <= x <= hi;   rows a_j = D_jᵀ R_t of A (variables x r),   c_j = D_jᵀ (u_free + offset e_N)
// Per contact of a problem in standard form: μ = 0 has e_N; a pyramid with k edges has e_N + μ (cos 2πj/k e_S + sin 2πj/k e_T), whose conic
// hull it is; μ = ∞ has e_N and both tangents. Bounded rows follow with their box. Cost: variables x r.
#pragma once

#include <vector>

#include "stiction/problem/reduced.hpp"

namespace stiction {

/// How what sticks at any force (μ = ∞) enters, and what friction is. free_tangents: e_N >= 0 and free e_S, e_T. split_tangents:
/// nonnegative e_N, ±e_S, ±e_T, for programs without free variables. box: e_N and the free tangents (±e_S + e_T)/√2 of every contact with
/// friction, for programs that bound these by the normal force.
enum class GeneratorKind { free_tangents, split_tangents, box };

struct Generators {
  GrowMatrix storage;  ///< r x variables, Aᵀ
  GrowVector c, lo, hi;
  struct Variable {
    int contact;  ///< -1: bounded row
    int row;      ///< of Bt when contact < 0
    Eigen::Vector3d direction;
  };
  std::vector<Variable> variables;
  int contact_variables = 0;  ///< those before the bounded rows

  int size() const { return static_cast<int>(variables.size()); }
};

/// Fills `out` for all contacts; `edges` of the pyramids.
void make_generators(const ReducedProblem& problem, GeneratorKind kind, int edges, Generators& out);

/// The variables alone, without rows, for programs that keep them sparse.
void list_generators(const ReducedProblem& problem, GeneratorKind kind, int edges, Generators& out);

/// λ (3n) and β from the variables x.
void expand(const ReducedProblem& problem, const Generators& generators, const Eigen::Ref<const Eigen::VectorXd>& x, GrowVector& lambda,
            GrowVector& beta);

/// row of length r += direction ᵀ R_t of contact i.
void add_contact_row(const BlockRows& Rt, int contact, const Eigen::Vector3d& direction, double* row);

/// R_t (3n x r) as one row-major matrix: itself, or a copy when it has several blocks.
ConstRowMap dense_rows(const BlockRows& Rt, std::vector<double>& copy);

}  // namespace stiction
