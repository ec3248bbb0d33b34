#include "stiction/laws/tangent_rows.hpp"

namespace stiction {

using Eigen::Index;

void append_tangents(std::span<const int> contacts, ReducedProblem& p) {
  Index j = p.bounded_rows();
  const Index m = j + 2 * static_cast<Index>(contacts.size());
  if (j == 0) p.Bt.reset(1, p.Rt.block_sizes());
  for (GrowVector* x : {&p.w_free, &p.lo, &p.hi}) x->resize(m);  // keeps its entries
  for (const int i : contacts) {
    for (const int k : {1, 2}) {
      p.Bt.add_group();
      for (int e = p.Rt.entry_begin(i); e < p.Rt.entry_end(i); ++e) p.Bt.add_entry(p.Rt.entry_block(e)) = p.Rt.entry(e).row(k);
      p.w_free[j] = p.u_free[3 * i + k];
      p.lo[j] = -kInfinity;
      p.hi[j++] = kInfinity;
    }
  }
}

void take_tangents(std::span<const int> contacts, GrowVector& lambda, GrowVector& beta) {
  const Index own = beta.size() - 2 * static_cast<Index>(contacts.size());
  Index j = own;
  for (const int i : contacts) {
    lambda.segment<2>(3 * i + 1) = beta.segment<2>(j);
    j += 2;
  }
  beta.resize(own);  // keeps its entries
}

void give_tangents(std::span<const int> contacts, GrowVector& lambda, GrowVector& beta) {
  Index j = beta.size();
  beta.resize(j + 2 * static_cast<Index>(contacts.size()));  // keeps its entries
  for (const int i : contacts) {
    beta.segment<2>(j) = lambda.segment<2>(3 * i + 1);
    lambda.segment<2>(3 * i + 1).setZero();
    j += 2;
  }
}

}  // namespace stiction
