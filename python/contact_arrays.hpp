// Contacts of a step as plain numbers, taken from a stepper after the step.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "stiction/forward/step.hpp"

namespace stiction::python {

/// n contacts of one step, copied.
struct ContactArrays {
  World world;
  std::vector<double> points, impulses, velocities, forces;  ///< 3n each
  std::vector<double> frames;                                ///< 9n, R_WC row by row
  std::vector<double> gaps, mu;                              ///< n each
  std::vector<int> bodies;                                   ///< 2n
  std::vector<int> modes;                                    ///< n, of ContactMode
  std::vector<std::uint64_t> ids;                            ///< n

  std::size_t size() const { return gaps.size(); }
};

/// Of the last step that `stepper` took; it was accepted.
ContactArrays contacts_of(const Stepper& stepper);

void bind_contact_arrays(nb::module_& m);

}  // namespace stiction::python
