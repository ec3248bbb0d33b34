// Contacts of a solution, one line each, in words that need no solver's knowledge.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stiction/problem/indeterminacy.hpp"
#include "stiction/problem/solution.hpp"

namespace stiction::cli {

/// open, stick or slip, per contact (problem/contact_mode.hpp).
std::vector<std::string_view> contact_modes(const Solution& solution);

/// At most `most` contacts; the intervals of the normal impulses where `indeterminacy` has them.
std::string contact_table(const Solution& solution, const Indeterminacy& indeterminacy, Eigen::Index most);

}  // namespace stiction::cli
