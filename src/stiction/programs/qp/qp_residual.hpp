// Residuals of the Karush-Kuhn-Tucker conditions of the three low-rank QPs, computed from the returned point alone.
//
//   primal            distance outside bounds and rows
//   dual              gradient of a sign that no bound allows
//   complementarity   min(|gradient|, distance to the bound or row that allows it)
// Each is scaled by the size of the terms it compares: a variable by max |x|, a gradient entry by |a_j| (|t| + Σ|a_i||x_i|) + |c_j|
// (multipliers included), a row by the sum of its absolute terms.
#pragma once

#include "stiction/programs/qp/bounded_qp.hpp"
#include "stiction/programs/qp/kinetic_qp.hpp"
#include "stiction/programs/qp/range_qp.hpp"

namespace stiction {

struct QpResidual {
  double primal = 0.0, dual = 0.0, complementarity = 0.0;  ///< scaled; infinity when anything is not finite
  double worst() const;
};

QpResidual qp_residual(const BoundedQp& problem, VectorView x);
QpResidual qp_residual(const RangeQp& problem, VectorView x, VectorView nu);
QpResidual qp_residual(const KineticQp& problem, VectorView x, VectorView mu);

}  // namespace stiction
