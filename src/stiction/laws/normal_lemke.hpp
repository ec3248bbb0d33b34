// Half lines, and half spaces whose tangents give way, by Lemke's method: what [D14, Table III] sets beside the modified PPM.
//
//   0 <= λ_N ⊥ N̂ N̂ᵀ λ_N + q >= 0        N̂ as in viscous.hpp, the rows of the normals themselves where nothing is viscous
// Cost n² r for the dense matrix and that of programs/lcp/lemke.hpp.
#pragma once

#include "stiction/laws/pyramid_lcp.hpp"
#include "stiction/laws/viscous.hpp"

namespace stiction {

/// No bounded rows. Of the workspace of polygons' LCPs the matrix, the method's memory and its solution.
void solve_normals_by_lemke(const StandardForm& form, const SolverOptions& options, ViscousWorkspace& workspace, PyramidLcpWorkspace& lcp,
                            Impulses& impulses);

}  // namespace stiction
