// What a workspace remembers from one solve for the next; all else in it is written before it is read.
#pragma once

#include <array>

#include "stiction/base/archive.hpp"
#include "stiction/laws/solve.hpp"

namespace stiction {

/// The bases that the programs start from; where the contacts are others, none of them is a start.
inline std::array<std::vector<int>*, 2> remembered_bases(SolveWorkspace& w) {
  return {&w.convex.lcp_solution.active, &w.viscous.lcp_solution.active};
}
/// The points that they start from.
inline std::array<GrowVector*, 5> remembered_points(SolveWorkspace& w) {
  return {&w.convex.qp_solution.x, &w.viscous.qp_solution.x, &w.box_rows.solution.x, &w.max_dissipation.solution.x,
          &w.max_dissipation.solution.mu};
}

template <class Archive>
void carry(Archive& archive, SolveWorkspace& w) {
  w.start.contacts.carry(archive);
  w.start.rows.carry(archive);
  archive(w.choice.last, w.listed, w.listed_rows, w.pyramid.last_outcome);
  for (std::vector<int>* basis : remembered_bases(w)) archive(*basis);
  for (GrowVector* point : remembered_points(w)) archive(*point);
  w.workers.resize(archive.count(w.workers.size(), 1));
  for (SolveWorkspace& worker : w.workers) carry(archive, worker);
}

}  // namespace stiction
