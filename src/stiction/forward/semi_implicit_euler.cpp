// Semi-implicit Euler: M, forces, contact rows and gaps at the start of the step, positions with the velocity of its end.
//
//   M(q) (v⁺ - v) = h (tau - bias(q, v)) + J(q)ᵀ λ,   q⁺ = q ⊕ h v⁺
//
// First order. One evaluation per step; the energy of smooth motion oscillates where M is constant and drifts at O(h) where it is not.
#include "stiction/forward/free_motion.hpp"
#include "stiction/forward/scheme.hpp"

namespace stiction {

void begin_euler(const World& /*world*/, double /*h*/, const PhasePoint& start, WorldData& /*data*/, GrowVector& /*v_path*/,
                 PhasePoint& at) {
  at = start;
}

void finish_euler(const World& world, double h, const BlockDiagonal& M, const PhasePoint& at, const GrowVector& v_plus, GrowVector& v_path,
                  PhasePoint& end) {
  end.q = at.q;
  end.v = v_plus;
  move(world, &M, h, v_path, end.q, end.v);
}

}  // namespace stiction
