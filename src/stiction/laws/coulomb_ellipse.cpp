// Coulomb's law with anisotropic friction: the section of the cone is an ellipse, μ along an axis at material.friction_angle from the first
// tangent and μ material.friction_ratio across it (wheels, skates, treads, brushed surfaces):
//
//   λ_T in { T x : |x| <= μ λ_N },  T = rotation(angle) diag(1, ratio),   and it maximises -u_T·λ_T there (associated in the tangent plane)
// In the coordinates x and Tᵀu_T that is Coulomb's law over the disc, so T is all that the law says [Goyal, Ruina, Papadopoulos 1991].
#include <cmath>

#include "stiction/laws/lowering.hpp"

namespace stiction {

void lower_coulomb_ellipse(const ContactState& c, ContactTerms& t) {
  const double ratio = c.material->friction_ratio, angle = c.material->friction_angle;
  t.coulomb = true;
  t.mu = c.mu;
  t.turned = true;
  t.axes << std::cos(angle), -ratio * std::sin(angle), std::sin(angle), ratio * std::cos(angle);
}

}  // namespace stiction
