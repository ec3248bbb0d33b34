// JOR and SOR (prox.hpp) where G is formed: few contacts of one robot, on whose sweeps much of the time of a step goes.
//
// Entries come in groups of four contacts, N of the four, then S, then T, and after them in fours of rows: a vector of four numbers holds
// one component of four contacts, so a Jacobi sweep is one pass over the columns of G per group, and one projection of four contacts. What
// fills a group up has no column and 1 / G_ll = 0, and stays zero.
#pragma once

#include <vector>

#include "stiction/problem/reduced.hpp"
#include "stiction/problem/sections.hpp"
#include "stiction/programs/prox/proximal_step.hpp"

namespace stiction {

class DenseProx {
 public:
  /// Whether a row of G is shorter than one of R_t there and back, and there is one robot.
  static bool fits(const ReducedProblem& problem);
  /// Forms G, and for Gauss-Seidel that before the elimination. `shape` must outlive the sweeps.
  void reset(const ReducedProblem& problem, const SectionShape& shape, bool in_turn);
  void set_point(const GrowVector& lambda, const GrowVector& beta);
  void get_point(GrowVector& lambda, GrowVector& beta) const;

  /// One sweep with relaxation α; StepTest::worst of it.
  double jacobi(double alpha, const StepTolerance& tolerance);
  double gauss_seidel(double alpha, const StepTolerance& tolerance);
  /// m/s, ProxSolution::residual of the point.
  double residual();

  struct Sweep;  // what a sweep reads, as plain numbers

 private:
  Sweep sweep(double alpha, const StepTolerance& tolerance);
  void form_before(const ReducedProblem& problem, int length);

  int contacts_ = 0, rows_ = 0;
  std::vector<int> place_;                ///< 3n + m: of the entries of (λ, β) in the vectors below
  GrowMatrix delassus_, matrix_;          ///< G in the order of (λ, β); its rows placed, a column for each of (λ, β)
  GrowMatrix before_;                     ///< likewise placed, G before the elimination; empty where that is G itself, or not read
  GrowVector x_, next_, free_, inverse_;  ///< impulses, those after or before a sweep, velocities without them, 1 / G_ll
  GrowVector moved_, column_;             ///< scratch: what an impulse moves before the elimination, and its column of `before_`
  GrowVector mu_, lo_, hi_;               ///< four per group of contacts; four per four of rows
  const SectionShape* shape_ = nullptr;
};

}  // namespace stiction
