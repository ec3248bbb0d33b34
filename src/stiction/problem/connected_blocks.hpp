// The blocks of a problem that came as dense matrices: solvers take its connected parts one by one (laws/islands.hpp), and parts are made
// of blocks.
#pragma once

#include <span>

#include "stiction/problem/contact_problem.hpp"

namespace stiction {

/// Takes M and the columns of J and J_b in these blocks along the diagonal. Throws InvalidArgument where they do not sum to nv, and where M
/// has an entry outside them.
void set_blocks(ContactProblem& problem, std::span<const int> sizes);

/// The smallest runs of coordinates, one after the other along the diagonal, that no entry of M joins; runs next to each other that
/// contacts or rows join, over whatever other runs, are one block, and so are those that nothing touches. A part whose coordinates others
/// separate has several blocks.
void find_blocks(ContactProblem& problem);

}  // namespace stiction
