// Solvers of other projects behind one function, for comparison only.
//
// They get what they ask for, ready made: the dense Delassus matrix W = R_t R_tᵀ (+ defect), q = u_free + offset e_N and μ, or, for a
// linear complementarity solver, M and q of the friction pyramid's LCP (laws/pyramid_lcp.hpp), or, for a QP solver, A and c of the convex
// QP of law anitescu in its smaller form, min |y|²/2 subject to A y + c >= 0, one row per friction edge (laws/generators.hpp). Their clock
// runs over the solve alone, their start is cold. Siconos gets W in its block-sparse storage when at most half of the 3 x 3 blocks are
// there, its best case. `converged` is what the solver says; whether the impulses solve the problem is for the certificate to say.
#pragma once

#include <array>
#include <string_view>

#include "stiction/laws/law.hpp"
#include "stiction/problem/reduced.hpp"

namespace stiction {

enum class Baseline { pinocchio_admm, pinocchio_pgs, siconos_nsgs, siconos_lexicolemke, proxqp };
inline constexpr std::array kBaselines{Baseline::pinocchio_admm, Baseline::pinocchio_pgs, Baseline::siconos_nsgs,
                                       Baseline::siconos_lexicolemke, Baseline::proxqp};

std::string_view to_string(Baseline baseline);
/// False when this build goes without the project that it is from.
bool is_built(Baseline baseline);
/// The law that it solves: coulomb_cone, but coulomb_pyramid for siconos_lexicolemke and anitescu for proxqp.
Law law_of(Baseline baseline);

struct BaselineOptions {
  double tolerance = 1e-9;     ///< handed to the solver as its own tolerance
  double flops = 4e9;          ///< bounds its iterations, at 2 (3n)² a sweep of a dense matrix
  int max_iterations = 20000;  ///< bounds them too
  int edges = 4;               ///< of the pyramid
};

struct BaselineSolution {
  Eigen::VectorXd lambda;  ///< 3n (N s); zero when it failed
  bool converged = false;
  int iterations = 0;
  double seconds = 0.0;
};

/// Throws InvalidArgument when it is not built, on bounded rows, on infinite friction, and for proxqp on a W that is not R_t R_tᵀ alone.
BaselineSolution solve_by_baseline(Baseline baseline, const ReducedProblem& problem, const BaselineOptions& options = {});

}  // namespace stiction
