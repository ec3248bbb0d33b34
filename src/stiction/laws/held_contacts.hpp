// Coulomb's laws with contacts of infinite friction, where the interior point leaves them open.
//
// Such a contact is one of two things: held, u_T = 0 with λ_T free and 0 <= λ_N ⊥ u_N + c >= 0, or open, λ = 0 and u_N + c >= 0. Either is
// without a friction cone (a half line and two bilateral rows; nothing), and the interior point, which has to treat μ = ∞ as a wide cone
// with short steps near it, solves what is left. So the choices are tried, those nearest to the point it failed at first: as they
// are there, one changed, two changed. A point counts when the conditions of the law hold, the open contacts' included.
// Not exhaustive: three changes are not tried, nor anything beyond the budget. Cost: at most that of the failed attempt.
#pragma once

#include <vector>

#include "stiction/laws/impulses.hpp"
#include "stiction/laws/law.hpp"
#include "stiction/problem/certificate.hpp"
#include "stiction/problem/standard_form.hpp"
#include "stiction/programs/cone/cone.hpp"

namespace stiction {

struct HeldContactsWorkspace {
  ReducedProblem problem;     ///< of one choice
  std::vector<int> infinite;  ///< contacts with μ = ∞
  std::vector<char> is_held;  ///< one per entry of infinite
  std::vector<int> held;      ///< the held ones
  ConeWorkspace cone;
  ConeSolution solution;
  CertificateWorkspace checks;
  Certificate certificate;
  LawTerms terms;  ///< of the standard form
};

/// The family coulomb. `impulses`: the failed attempt's; replaced, with status
/// solved, when a choice has a solution (true), otherwise left alone but for the iterations spent.
bool solve_by_holding(const StandardForm& form, const SolverOptions& options, HeldContactsWorkspace& workspace, Impulses& impulses);

}  // namespace stiction
