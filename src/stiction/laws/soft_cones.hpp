// Convex programs by Newton on their primal (programs/soft_cone): the family associated, contacts rigid or giving way.
#pragma once

#include <vector>

#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/standard_form.hpp"
#include "stiction/programs/soft_cone/soft_cone.hpp"

namespace stiction {

struct SoftConesWorkspace {
  std::vector<SoftContact> contacts;
  SoftConeWorkspace program;
  SoftConeSolution solution;
};

void solve_by_newton(const StandardForm& form, const SolverOptions& options, SoftConesWorkspace& workspace, Impulses& impulses);

}  // namespace stiction
