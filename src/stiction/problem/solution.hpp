// What a solve returns: values, an honest status, and a certificate computed from the returned point alone.
#pragma once

#include <string_view>

#include "stiction/base/grow.hpp"
#include "stiction/problem/certificate.hpp"

namespace stiction {

/// Numerical outcome of a solve. Only `solved` means that the certificate meets the tolerance.
enum class Status {
  solved,
  inaccurate,       ///< a finite point whose certificate misses the tolerance
  ray_termination,  ///< Lemke's ray: no solution was found, and for copositive-plus data none exists
  infeasible,       ///< proved to have no solution
  iteration_limit,
  numerical_error,  ///< factorisation failed or a value overflowed; the returned impulses are zero
};
std::string_view to_string(Status status);

struct Solution {
  GrowVector v;                    ///< nv, velocity after the step
  GrowVector impulses;             ///< 3n, contact impulses λ, N S T per contact (N s)
  GrowVector bounded_impulses;     ///< m, impulses of the rows of J_b (N s)
  GrowVector prescribed_impulses;  ///< impulses on the prescribed coordinates (N s); tau = prescribed_impulses / dt
  Status status = Status::numerical_error;
  Certificate certificate;
  int iterations = 0;  ///< pivots or iterations of the solver
};

}  // namespace stiction
