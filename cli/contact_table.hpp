// Contacts of a solution, one line each, in words that need no solver's knowledge.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stiction/problem/indeterminacy.hpp"
#include "stiction/problem/solution.hpp"

namespace stiction::cli {

struct ContactScales {
  double impulse = 0.0;   ///< N s, what is a millionth of it is none
  double velocity = 0.0;  ///< m/s, likewise
};
/// The largest of the impulses, and of the contact velocities before and after the solve (`u_free`, 3n).
ContactScales scales_of(const Solution& solution, const Eigen::Ref<const Eigen::VectorXd>& u_free);

/// "open" (no impulse), "sticks" (no slip) or "slides", per contact.
std::vector<std::string_view> contact_states(const Solution& solution, const ContactScales& scales);

/// At most `most` contacts; the intervals of the normal impulses where `indeterminacy` has them.
std::string contact_table(const Solution& solution, const ContactScales& scales, const Indeterminacy& indeterminacy, Eigen::Index most);

}  // namespace stiction::cli
