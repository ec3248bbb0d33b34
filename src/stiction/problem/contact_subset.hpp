// Some contacts of a problem as a problem of their own, for programs that leave out those which nothing moves.
#pragma once

#include <vector>

#include "stiction/problem/reduced.hpp"

namespace stiction {

struct ContactSubset {
  std::vector<int> contacts;  ///< their indices in the whole problem, ascending
  ReducedProblem problem;     ///< k contacts
};

/// Fills `subset.problem` with what programs read of the contacts listed: rows, velocities, offsets, mu, W and its defect; bounded rows are
/// all kept. Gaps, closed flags, laws, materials and names are left out. No allocation once the sizes have been seen.
void select_contacts(const ReducedProblem& whole, ContactSubset& subset);

/// What programs read that is not about contacts: scale, bounded rows, the motion of least energy.
void copy_common(const ReducedProblem& whole, ReducedProblem& part);

/// W and its defect among these contacts (ascending), where `whole` has them.
void select_delassus(const ReducedProblem& whole, const std::vector<int>& contacts, ReducedProblem& part);

/// part (3k, of the subset) -> all (3n, zero elsewhere).
void expand_contacts(const ContactSubset& subset, int contacts, const Eigen::Ref<const Eigen::VectorXd>& part, GrowVector& all);

}  // namespace stiction
