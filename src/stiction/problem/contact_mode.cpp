#include "stiction/problem/contact_mode.hpp"

namespace stiction {

std::string_view to_string(ContactMode mode) {
  constexpr std::array<std::string_view, kContactModes.size()> names{"open", "stick", "slip"};
  return names[static_cast<std::size_t>(mode)];
}

ContactMode contact_mode(const Solution& s, int contact) {
  constexpr double kNothing = 1e-6;
  const Eigen::Index at = 3 * static_cast<Eigen::Index>(contact);
  if (s.impulses.segment<3>(at).norm() <= kNothing * s.certificate.impulse_scale) return ContactMode::open;
  return s.u.segment<2>(at + 1).norm() <= kNothing * s.certificate.velocity_scale ? ContactMode::stick : ContactMode::slip;
}

}  // namespace stiction
