// Connected parts of a problem, each solved, warm-started and certified as a problem of its own.
//
//   bodies (blocks of M) are connected by contacts and rows that touch both; the fixed world connects nothing. Bodies that nothing touches
//   are one part, which moves freely. Prescribed coordinates go with their block.
// What a part's impulses do ends at its edge, so the whole is solved when its parts are. Each part has the scales of its own certificate:
// a light part cannot hide its errors behind the impulses of a heavy one, nor is it asked for digits that only the heavy one's scale would
// show. The whole's residuals are the largest of the parts', raw and scaled, its works their sums, its scales the largest.
// A problem of one part is solved as it is. Costs: O(bodies + entries of the rows) to find and copy the parts; their solves. The answer
// does not depend on the number of threads: every part's solve reads its own data alone.
#pragma once

#include <exception>
#include <vector>

#include "stiction/base/disjoint_sets.hpp"
#include "stiction/base/team.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/contact_problem.hpp"
#include "stiction/problem/solution.hpp"

namespace stiction {

struct SolveWorkspace;

struct Islands {
  struct Part {
    std::vector<int> blocks, contacts, rows, prescribed;  ///< of the whole, ascending; the last are places in ContactProblem::prescribed
    ContactProblem problem;
    Solution solution;
    GrowVector found, found_rows;  ///< of the workspace that solved it
    std::exception_ptr error;
  };
  std::vector<Part> parts;    ///< the first `count` are in use
  int count = 0;              ///< parts of the last problem
  std::vector<int> schedule;  ///< parts in the order in which they are begun, those with most contacts first
  DisjointSets sets;
  std::vector<int> part_of, local;  ///< of a block of M: its part, and its place there
  std::vector<int> sizes;           ///< of the blocks of a part
  KeptTeam team;                    ///< that solves the parts
};

/// Joins the blocks that a contact or row touches.
void join_blocks(const BlockRows& rows, DisjointSets& sets);

/// Number of parts of a problem; where there are several, lists their blocks, contacts, rows and prescribed coordinates. Parts come in the
/// order of their first blocks; bodies that nothing touches and rows that touch no body are the last.
int find_islands(const ProblemView& problem, Islands& islands);

/// Solves one problem whole; it starts from `workspace.start`.
using SolvePart = void (*)(const ProblemView&, const SolveOptions&, SolveWorkspace&, Solution&);

/// Solves the parts of a problem by `solve_part` on up to options.threads threads and puts their solutions together; the status is the
/// worst: solved, inaccurate, iteration_limit, ray_termination, numerical_error, infeasible (one part proves it of the whole). False, and
/// nothing done, when the problem is one part, or its solver compares outcomes of the whole (enumerate).
bool solve_by_islands(const ProblemView& problem, const SolveOptions& options, SolveWorkspace& workspace, Solution& solution,
                      SolvePart solve_part);

}  // namespace stiction
