#include "stiction/problem/contact_weights.hpp"

namespace stiction {

void contact_weights(const ProblemView& p, ContactWeightsScratch& scratch, GrowVector& weights) {
  const std::size_t blocks = static_cast<std::size_t>(p.M.blocks());
  if (scratch.factors.size() < blocks) scratch.factors.resize(blocks);
  for (int k = 0; k < p.M.blocks(); ++k) {
    EnvelopeCholesky& factor = scratch.factors[static_cast<std::size_t>(k)];
    factor.reset(p.M.block_size(k)) = p.M.block(k);
    factor.factor();
  }
  weights.setZero(p.contacts());
  for (int i = 0; i < p.contacts(); ++i) {
    for (int e = p.J.entry_begin(i); e < p.J.entry_end(i); ++e) {
      for (int row = 0; row < 3; ++row) {
        scratch.row = p.J.entry(e).row(row).transpose();
        scratch.factors[static_cast<std::size_t>(p.J.entry_block(e))].solve_lower(scratch.row.data());
        weights[i] += scratch.row.squaredNorm() / 3.0;
      }
    }
  }
}

}  // namespace stiction
