// Memory of the cone solvers, and the point that they share: impulses, the velocities that follow from them, and their residual.
#pragma once

#include "stiction/problem/sections.hpp"
#include "stiction/programs/cone/cone.hpp"
#include "stiction/programs/cone/interior_cones.hpp"
#include "stiction/programs/cone/rspace.hpp"

namespace stiction {

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
  DiscCones discs, last_discs;  ///< and those of the point before the last step along the path
  PolygonCones polygons, last_polygons;
  BoxRows boxes, last_boxes;

  bool relaxed = false;
  bool lagged = false;          ///< the polish solves the convex problem whose offsets contain μ s of an earlier point
  double rho = 1.0;             ///< 1 / mean diag G
  double velocity = 0.0;        ///< largest velocity of the problem, known or free (m/s)
  double target = 0.0;          ///< natural map that ends the solve (m/s)
  double accept = 0.0;          ///< natural map that is solved when a polish came no further (m/s)
  double floor = 0.0;           ///< natural map that rounding allows (m/s)
  int budget = 0;               ///< linear systems that may still be factored
  GrowVector scale, row_scale;  ///< n, m: sqrt of the mean diagonal of each contact's and row's own Delassus block
  GrowVector start_scale;       ///< n: of the interior phase's first point, see kStiffest

  GrowVector shift;   ///< 3n: u_free, and the defect's part of u at an earlier point (m/s)
  GrowVector offset;  ///< n: c, or c + μ s of an earlier point when lagged (m/s)

  GrowVector lambda, beta, y, u, w;                                     ///< current point of the interior phase or of the polish
  GrowVector dlambda, dbeta, dy, du, dw;                                ///< its direction
  GrowVector D, Db;                                                     ///< 9n and m: eliminated contacts and rows
  GrowVector hold_lambda, hold_beta, hold_shift;                        ///< point to come back to while a polish is tried
  GrowVector polish_lambda, polish_beta;                                ///< where a polish starts
  GrowVector path_lambda, path_beta;                                    ///< centring direction while the path of centres is followed
  GrowVector path_contacts, path_rows, tangent_contacts, tangent_rows;  ///< centring direction and tangent over the point
  GrowVector last_lambda, last_beta;                                    ///< point before the last step along it
  GrowVector step, start;             ///< r, Newton step of the proximal method, and y at the beginning of its outer step
  GrowVector best_lambda, best_beta;  ///< best point so far
  double best = 0.0;                  ///< its natural map

  bool convex() const { return relaxed || lagged; }
  DiscCones& last(const DiscCones&) { return last_discs; }
  PolygonCones& last(const PolygonCones&) { return last_polygons; }
};

/// Takes the defect's part of u from λ.
void update_shift(const ReducedProblem& problem, const GrowVector& lambda, ConeMemory& memory);

/// y, u and w of (λ, β) from scratch; the defect's part of u stays.
void place(const ReducedProblem& problem, ConeMemory& memory);

/// `update_shift`, `place`, and the natural map of the point, that of the lagged problem when lagged; keeps the point when it is the best
/// so far.
double evaluate(const ReducedProblem& problem, ConeMemory& memory);

/// The point to come back to.
void hold(ConeMemory& memory);
void resume(const ReducedProblem& problem, ConeMemory& memory);

/// δλ = dlambda - D δu and δβ = dbeta - Db δw from the current point; `stiffness` is ρ times each contact's own Delassus block. See
/// linearise.cpp for `limit`.
void linearise(const ReducedProblem& problem, ConeMemory& memory, double stiffness, double limit);

/// Proximal point method with Newton inside, from the current point (whose y, u and w are placed); ends in the polish. False when the
/// space is that of W.
bool proximal_newton(const ReducedProblem& problem, ConeMemory& memory);

/// Newton on the natural map from the current point, regularised by a proximal step: finds the exact solution of the contacts' pattern
/// (open, stick, slip) and corrects the pattern. True when the target is met, by the best point or, when lagged, by the
/// current one; or when it is not, and the best point is acceptable.
bool polish(const ReducedProblem& problem, ConeMemory& memory, int steps);

/// The same near a solution whose pattern is not clear (contacts that carry or slip next to nothing): the limit of the linearisation is
/// that with which the natural map does not rise threefold, tenfold after every step that goes well and a tenth after one that is taken
/// back.
bool settle(const ReducedProblem& problem, ConeMemory& memory, int steps);

/// One problem from start to end, in this memory; edges = 0 is the disc.
void solve_whole(const ReducedProblem& problem, const ConeOptions& options, int edges, ConeMemory& memory, ConeSolution& solution);

/// True when the problem has opposing rows within `width` (m/s) of each other; `rows.merged` is then the problem without them.
bool merge_opposing_rows(const ReducedProblem& problem, double width, OpposingRows& rows);
/// Impulses of `merged` as those of the whole problem.
void split_opposing_rows(const OpposingRows& rows, const GrowVector& merged, GrowVector& beta);

/// The polish alone, from the impulses in the solution.
bool refine(const ReducedProblem& problem, const ConeOptions& options, int edges, ConeMemory& memory, int steps, ConeSolution& solution);

}  // namespace stiction
