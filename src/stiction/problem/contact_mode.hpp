// Whether a contact of a solved problem is open, sticks or slips.
#pragma once

#include <array>
#include <string_view>

#include "stiction/problem/solution.hpp"

namespace stiction {

enum class ContactMode : char { open, stick, slip };
inline constexpr std::array kContactModes{ContactMode::open, ContactMode::stick, ContactMode::slip};
std::string_view to_string(ContactMode mode);

/// open: no impulse; stick: an impulse and no sliding; else slip. Nothing is what is below a millionth of the problem's own impulse and
/// velocity (the certificate's scales): a solved point is a thousand times closer to zero where it should be zero.
ContactMode contact_mode(const Solution& solution, int contact);

}  // namespace stiction
