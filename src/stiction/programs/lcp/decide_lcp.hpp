// An LCP  w = M z + q, 0 <= w ⊥ z >= 0  of any matrix: solved, proved unsolvable, or left open.
//
// Lemke first (lemke.hpp); where its path ends on a ray that proves nothing, M being outside the classes it decides, and n is small, every
// complementary basis is tried (enumerate.hpp): the basic solution of least |z| is returned, or the proof by exhaustion that there is
// none (up to the enumeration's tolerance).
// Status: solved; infeasible (by Farkas' ray, `infeasible` set, or by exhaustion, `infeasible` unset, no ray); what Lemke said otherwise.
// Cost: that of Lemke, plus 2ⁿ small linear systems when it leaves a small problem open.
#pragma once

#include "stiction/programs/lcp/enumerate.hpp"
#include "stiction/programs/lcp/lemke.hpp"

namespace stiction {

struct DecideLcpOptions {
  LemkeOptions lemke;
  EnumerateOptions enumerate;  ///< max_size: largest n that is enumerated
};

struct DecideLcpWorkspace {
  LemkeWorkspace lemke;
  EnumerateWorkspace enumerate;
  LcpSolutions all;
};

/// M n x n, q n. Throws InvalidArgument on sizes, NaN and infinity.
void decide_lcp(const Eigen::Ref<const Eigen::MatrixXd>& M, const Eigen::Ref<const Eigen::VectorXd>& q, const DecideLcpOptions& options,
                DecideLcpWorkspace& workspace, LcpSolution& solution);

}  // namespace stiction
