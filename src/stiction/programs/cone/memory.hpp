// Memory of the cone solvers, and the point that they share: impulses, the velocities that follow from them, and their residual.
#pragma once

#include "stiction/programs/cone/cone.hpp"
#include "stiction/programs/cone/interior_cones.hpp"
#include "stiction/programs/cone/rspace.hpp"
#include "stiction/programs/cone/sections.hpp"

namespace stiction {

struct ConeMemory {
  RSpace space;
  SectionShape shape;
  DiscCones discs;
  PolygonCones polygons;
  BoxRows boxes;

  bool relaxed = false;
  bool lagged = false;          ///< the polish solves the convex problem whose offsets contain μ s of an earlier point
  double rho = 1.0;             ///< 1 / mean diag G
  double target = 0.0;          ///< natural map that ends the solve (m/s)
  double floor = 0.0;           ///< natural map that rounding allows (m/s)
  int budget = 0;               ///< linear systems that may still be factored
  GrowVector scale, row_scale;  ///< n, m: sqrt of the mean diagonal of each contact's and row's own Delassus block

  GrowVector offset;  ///< n: c, or c + μ s of an earlier point when lagged (m/s)

  GrowVector lambda, beta, y, u, w;       ///< current point of the interior phase or of the polish
  GrowVector dlambda, dbeta, dy, du, dw;  ///< its direction
  GrowVector D, Db;                       ///< 9n and m: eliminated contacts and rows
  GrowVector hold_lambda, hold_beta;      ///< interior point while a polish is tried
  GrowVector best_lambda, best_beta;      ///< best point so far
  double best = 0.0;                      ///< its natural map
};

/// y, u and w of (λ, β) from scratch.
void place(const ReducedProblem& problem, ConeMemory& memory);

/// `place`, and the natural map of the point, that of the lagged problem when lagged; keeps the point when it is the best so far.
double evaluate(const ReducedProblem& problem, ConeMemory& memory);

/// Newton on the natural map from the current point, regularised by a proximal step: finds the exact solution of the contacts' pattern
/// (open, stick, slip) and corrects the pattern. Leaves the best point in best_*; true when it meets the target.
bool polish(const ReducedProblem& problem, ConeMemory& memory, int steps);

}  // namespace stiction
