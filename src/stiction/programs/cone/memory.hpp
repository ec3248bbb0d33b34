// Memory of the cone solvers, and the point that they share: impulses, the velocities that follow from them, and their residual.
#pragma once

#include <array>

#include "stiction/problem/sections.hpp"
#include "stiction/programs/cone/cone.hpp"
#include "stiction/programs/cone/rspace.hpp"
#include "stiction/programs/cone/smooth_cones.hpp"

namespace stiction {

// Points of the path that it may go back to: of 873 problems of robots, piles and walls, fewer leave more of them unsolved, and more lead
// in circles.
inline constexpr std::size_t kPathPoints = 7;

using Matrix3Row = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

/// Pairs of rows that hold one coordinate from both sides with no room between: the limits of a joint whose range is a point, fingers that
/// are driven against each other. Their common impulse has no bound, so the interior phase runs off along it; as one bilateral row they
/// are harmless. Their difference is that row's impulse, and at the solution one of the two may be zero.
struct OpposingRows {
  std::vector<int> order;    ///< rows by the size of their rows in B_t
  std::vector<int> partner;  ///< m: the other of the pair, -1 for none
  std::vector<int> kept;     ///< row of the problem of each row of `merged`
  ReducedProblem merged;
  ConeSolution solution;
};

struct ConeMemory {
  OpposingRows opposing;
  RSpace space;
  SectionShape shape;
  DiscCones discs;
  PolygonCones polygons;
  BoxRows boxes;

  bool relaxed = false;
  double rho = 1.0;          ///< 1 / mean diag G
  double velocity = 0.0;     ///< largest velocity of the problem, known or free (m/s)
  double target = 0.0;       ///< natural map that ends the solve (m/s)
  double accept = 0.0;       ///< natural map that is solved when Newton came no further (m/s)
  double acceptable = 0.0;   ///< natural map from which the solve may end soon (m/s)
  double floor = 0.0;        ///< natural map that rounding allows (m/s)
  int most = 0, budget = 0;  ///< linear systems that may be factored, and that still may
  int paths = 0;             ///< begun in this solve
  std::vector<ConeRecord>* log = nullptr;
  GrowVector scale, row_scale;  ///< n, m: sqrt of the mean diagonal of each contact's and row's own Delassus block
  GrowVector path_scale;        ///< n: in which the path counts, see kStiffest

  GrowVector shift;                                                  ///< 3n: u_free, and the defect's part of u at an earlier point (m/s)
  GrowVector lambda, beta, y, u, w;                                  ///< current point
  GrowVector dlambda, dbeta, dy, du, dw;                             ///< its direction
  GrowVector D, Db;                                                  ///< 9n and m: eliminated contacts and rows
  GrowVector path_lambda, path_beta, path_shift;                     ///< point that Newton began at, to come back to
  GrowVector point, trial, kept;                                     ///< unknowns of the path: now, of trials
  std::array<GrowVector, kPathPoints> last;                          ///< and before the last steps
  GrowVector residual, first_residual, wanted, correction, tangent;  ///< see central_path.hpp
  GrowVector best_lambda, best_beta;                                 ///< best point so far
  double best = 0.0;                                                 ///< its natural map
  double wide = 0.0;  ///< natural map of the current point under the law of the path, whose cones are wide where μ = ∞ (m/s)
};

/// Takes the defect's part of u from λ.
void update_shift(const ReducedProblem& problem, ConeMemory& memory);

/// y, u and w of (λ, β) from scratch; the defect's part of u stays.
void place(const ReducedProblem& problem, ConeMemory& memory);

/// Natural map of the current point, whose velocities are in place; keeps the point when it is the best so far.
double judge(const ReducedProblem& problem, ConeMemory& memory);

/// `update_shift`, `place` and `judge`.
double evaluate(const ReducedProblem& problem, ConeMemory& memory);

/// Adds an iteration to the log, where there is one.
void record(ConeMemory& memory, ConePhase phase, double product, double natural_map, double step);

/// δλ = dlambda - D δu and δβ = dbeta - Db δw from the current point; see linearise.cpp for `limit`.
void linearise(const ReducedProblem& problem, ConeMemory& memory, double limit);

/// Newton on the natural map from the current point, regularised by a proximal step: finds the exact solution of the contacts' active set
/// (open, stick, slip) and corrects that. `sharper` divides the proximal term. True when the best point meets the target; or when it does
/// not and is acceptable as solved.
bool newton(const ReducedProblem& problem, ConeMemory& memory, int steps, double sharper = 1.0);

/// One Newton step from the best point, a solution; the best stays where that is no better.
void refine(const ReducedProblem& problem, ConeMemory& memory);

/// One problem from start to end, in this memory.
void solve_whole(const ReducedProblem& problem, const ConeOptions& options, ConeMemory& memory, ConeSolution& solution);

/// True when the problem has opposing rows within `width` (m/s) of each other; `rows.merged` is then the problem without them.
bool merge_opposing_rows(const ReducedProblem& problem, double width, OpposingRows& rows);
/// Impulses of `merged` as those of the whole problem.
void split_opposing_rows(const OpposingRows& rows, const GrowVector& merged, GrowVector& beta);

/// Newton alone, from the impulses in the solution.
bool refine(const ReducedProblem& problem, const ConeOptions& options, ConeMemory& memory, int steps, ConeSolution& solution);

}  // namespace stiction
