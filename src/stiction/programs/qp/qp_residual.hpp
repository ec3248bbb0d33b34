// Residuals of the Karush-Kuhn-Tucker conditions of the two low-rank QPs, computed from the returned point alone.
//
//   primal            distance outside bounds and rows
//   dual              gradient of a sign that no bound allows
//   complementarity   min(|gradient|, distance to the bound or row that allows it)
// Each is scaled by the size of the terms it compares, with S = max(|t| + Σ|a_i||x_i|, |a||x|) (t is -y0 in KineticQp, and W_j are a_j in
// RangeQp):
//   a variable                  X = max(|x|, |t| / |a|), maxima over entries and rows
//   a gradient entry            |a_j| S + |c_j| + Σ_k |E_jk| max(|ν_k|, |W| S / |E_k|), or |a_j| (S + Σ μ_i |c_i|) + |c_j| in KineticQp
//   an equality, a row          max(Σ of its absolute terms, |E_k| X), or |c_i| S + |d_i|
//   the multiplier of a row     max(|μ|, S / |c|)
#pragma once

#include "stiction/base/grow.hpp"
#include "stiction/programs/qp/views.hpp"

namespace stiction {

struct RangeQp;
struct KineticQp;

struct QpResidual {
  double primal = 0.0, dual = 0.0, complementarity = 0.0;  ///< scaled; infinity when anything is not finite
  double worst() const;
  /// One variable (or multiplier) x of lo <= x <= hi with gradient g, and the sizes of the terms that they are made of.
  void add(double x, double lo, double hi, double x_scale, double g, double g_scale);
};

struct QpResidualScratch {
  GrowVector z, norms, gradient;
};

/// Residual at (x, multipliers). Allocates only when the scratch has to grow.
QpResidual qp_residual(const RangeQp& problem, VectorView x, VectorView nu, QpResidualScratch& scratch);
QpResidual qp_residual(const KineticQp& problem, VectorView x, VectorView mu, QpResidualScratch& scratch);

}  // namespace stiction
