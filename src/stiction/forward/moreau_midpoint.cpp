// Moreau's midpoint scheme [G14, Eqs. 6-8]: every matrix, force and gap at the midpoint that the velocity before the step leads to.
//
//   q_M = q ⊕ (h/2) v                                          [G14, Eq. 6]
//   M (v⁺ - v) = h (tau - bias) + Jᵀ λ, all at (q_M, v)        [G14, Eq. 7], the law at v⁺
//   q⁺ = q_M ⊕ (h/2) v⁺                                       [G14, Eq. 8]
//
// From midpoint to midpoint positions move by h v⁺, so a gap φ_M that is kept at φ_M + h N v⁺ >= 0 by the law stays open at every midpoint,
// and between them. With the law `moreau` the contacts closed at q_M alone bear, under Newton's impacts [G14, Eqs. 5, 9]: what comes in at
// speed u may then be h u/2 deep when it is stopped. Its own rule asks φ + h/2 N v <= 0, so it is given φ = φ_M - h/2 N v.
// Second order where forces depend on positions alone (free bodies in the coordinates of their centre of mass), else first, for the bias is
// that of v. One evaluation per step, as in semi-implicit Euler, and one more at its start where a robot floats.
// Departures from [G14]: F(q) u is the exponential of a body's rotation, at both halves in the axes of their beginning; straight flight
// and the rotation of free bodies are those of free_motion.hpp; joint damping and springs are taken at v⁺ and q⁺, stable at any h.
#include <algorithm>

#include "stiction/base/errors.hpp"
#include "stiction/forward/free_motion.hpp"
#include "stiction/forward/scheme.hpp"

namespace stiction {

void begin_moreau(const World& world, double h, const PhasePoint& start, WorldData& data, GrowVector& v_path, PhasePoint& at) {
  require_size("q", start.q.size(), world.nq());
  require_size("v", start.v.size(), world.nv());
  at = start;
  v_path = start.v;
  const bool floats = std::ranges::any_of(world.joints(), [](const Joint& j) { return j.kind == JointKind::free && j.robot >= 0; });
  if (floats) update(world, start.q, start.v, data);  // a free body's centre of mass is known without
  move(world, &data.M, 0.5 * h, v_path, at.q, at.v);
}

void finish_moreau(const World& world, double h, const BlockDiagonal& M, const PhasePoint& at, const GrowVector& v_plus, GrowVector& v_path,
                   PhasePoint& end) {
  end.q = at.q;
  end.v = v_plus;
  v_path = 2.0 * v_path - v_plus;  // the shift belongs to the whole step, v⁺ to its second half
  move(world, &M, 0.5 * h, v_path, end.q, end.v);
}

}  // namespace stiction
