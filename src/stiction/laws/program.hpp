// From a law's terms to impulses, in the coordinates of the cones: which solver, and which fall-back where it fails. For solve.cpp and for
// programs that are no law's, such as nearest_consistent.hpp's.
#pragma once

#include "stiction/laws/solve.hpp"

namespace stiction {

constexpr bool is_prox(Solver solver) { return solver == Solver::jor || solver == Solver::sor; }

/// Takes what other methods have spent from every bound of work; false when one has nothing left.
bool take_spent(int iterations, SolverOptions& options);

/// Terms and standard form of the problem into the workspace.
void prepare(const ReducedProblem& problem, const SolveOptions& options, SolveWorkspace& workspace);

/// By this solver; `out` holds the start. Terms and form of the workspace are the problem's.
void solve_in_form(const ReducedProblem& problem, const SolveOptions& options, Solver solver, SolveWorkspace& workspace, Impulses& out);

/// By the solver that the options ask for, and by the dense method where a block-sparse one failed.
void solve_prepared(const ReducedProblem& problem, const SolveOptions& options, SolveWorkspace& workspace, Impulses& out);

/// From the coordinates of the cones to the contacts of the problem.
void expand(const ReducedProblem& problem, const SolveWorkspace& workspace, const Impulses& cone, Impulses& out);

}  // namespace stiction
