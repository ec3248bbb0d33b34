// Some contacts of a problem as a problem of their own, for laws under which the others bear nothing.
#pragma once

#include <vector>

#include "stiction/problem/reduced.hpp"

namespace stiction {

struct ContactSubset {
  std::vector<int> contacts;  ///< their indices in the whole problem, ascending
  ReducedProblem problem;     ///< k contacts
};

/// Fills `subset.problem` with the contacts listed: rows, velocities, offsets, mu, closed, names, W and its defect; bounded rows are all
/// kept. Gaps, laws and materials are left out. No allocation once the sizes have been seen.
void select_contacts(const ReducedProblem& whole, ContactSubset& subset);

/// All that is not about contacts: step, scale, bounded rows, the motion of least energy.
void copy_common(const ReducedProblem& whole, ReducedProblem& part);

/// W and its defect among these contacts (ascending), where `whole` has them.
void select_delassus(const ReducedProblem& whole, const std::vector<int>& contacts, ReducedProblem& part);

/// part (3k, of the subset) -> all (3n, zero elsewhere).
void expand_contacts(const ContactSubset& subset, int contacts, const Eigen::Ref<const Eigen::VectorXd>& part, GrowVector& all);

}  // namespace stiction
