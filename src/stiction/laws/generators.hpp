// Contact impulses as nonnegative combinations of generators, for the laws that lead to a low-rank QP or LCP in them.
//
//   λ = D x,  lo <= x <= hi;   rows a_j = D_jᵀ R_t of A (variables x r),   c_j = D_jᵀ (u_free + offset e_N)
// Per contact of a problem in standard form: μ = 0 has e_N; a pyramid with k edges has e_N + μ (cos 2πj/k e_S + sin 2πj/k e_T), whose conic
// hull it is; μ = ∞ has e_N >= 0 and both tangents, free. Bounded rows follow with their box. Cost: variables x r.
#pragma once

#include <vector>

#include "stiction/problem/reduced.hpp"

namespace stiction {

/// cone: as above. box: e_N and the free tangents (±e_S + e_T)/√2 of every contact with friction, for programs that bound these by the
/// normal force.
enum class GeneratorKind { cone, box };

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

/// Vertex j of the section, d_j = (cos 2πj/k, sin 2πj/k).
Eigen::Vector2d section_vertex(int j, int edges);

/// Fills `out` for all contacts; `edges` of the pyramids.
void make_generators(const ReducedProblem& problem, GeneratorKind kind, int edges, Generators& out);

/// The variables and their bounds alone, without rows and c, for programs that keep these sparse.
void list_generators(const ReducedProblem& problem, GeneratorKind kind, int edges, Generators& out);

/// λ (3n) and β from the variables x.
void expand(const ReducedProblem& problem, const Generators& generators, const Eigen::Ref<const Eigen::VectorXd>& x, GrowVector& lambda,
            GrowVector& beta);

/// R_t (3n x r) as one row-major matrix: itself, or a copy when it has several blocks.
ConstRowMap dense_rows(const BlockRows& Rt, std::vector<double>& copy);

}  // namespace stiction
