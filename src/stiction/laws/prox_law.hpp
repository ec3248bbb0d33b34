// Programs as normal-cone inclusions, iterated by jor or sor [G14, Eqs. 11-19] to the certificate's tolerance: Coulomb's family, and half
// lines.
#pragma once

#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/standard_form.hpp"
#include "stiction/programs/prox/prox.hpp"

namespace stiction {

struct ProxLawWorkspace {
  ProxWorkspace prox;
  ProxSolution solution;
};

/// options.solver jor or sor; rigid contacts.
void solve_by_prox(const StandardForm& form, const SolverOptions& options, ProxLawWorkspace& workspace, Impulses& impulses);

}  // namespace stiction
