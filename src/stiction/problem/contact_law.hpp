// The contact laws by name (the table laws.def), and what a contact may say of itself beyond its friction coefficient. What each law
// promises is in laws/law.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stiction {

enum class Law {
#define STICTION_LAW(name, ...) name,
#include "stiction/problem/laws.def"
#undef STICTION_LAW
};

/// Every law, in the order of the table.
inline constexpr std::array kLaws{
#define STICTION_LAW(name, ...) Law::name,
#include "stiction/problem/laws.def"
#undef STICTION_LAW
};

std::string_view to_string(Law law);
/// Throws InvalidArgument that lists the names known.
Law law_from_string(std::string_view name);
/// Names for help texts, separated by ", ".
std::string law_names();

/// Physical parameters of one contact; each law reads its own. All finite, in the ranges of kMaterialFields.
struct ContactMaterial {
  double restitution_tangential = 0.0;  ///< Newton restitution of the tangential velocity, in [0, 1] (moreau)
  double viscosity = 0.0;               ///< N s/m, friction force per slip velocity (viscous)
  double stiffness = 0.0;               ///< N/m along the normal (sap, compliant laws)
  double damping = 0.0;                 ///< N s/m along the normal (linear_penalty, stick_slip_spring, regularized_stiction)
  double dissipation = 0.0;             ///< s/m, Hunt-Crossley (hunt_crossley)
  double exponent = 1.0;                ///< of the penetration, >= 1; 1.5 is Hertz's, then stiffness is in N/m^1.5 (hunt_crossley)
  double dissipation_time = 0.0;        ///< s, Rayleigh-type damping over stiffness (sap)
  double stiffness_tangential = 0.0;    ///< N/m (stick_slip_spring)
  double damping_tangential = 0.0;      ///< N s/m (stick_slip_spring, linear_penalty)
  double stiction_speed = 1e-3;  ///< m/s, slip below which friction is only a part of its limit (regularized_stiction, hunt_crossley), > 0
  double regularization = 0.0;   ///< 1/kg, softness R added to the Delassus diagonal (todorov; tangential part of sap)
  double time_constant = 0.0;    ///< s, in which a penetration decays; 0 leaves it alone (todorov)
  double friction_ratio = 1.0;   ///< of the friction coefficient across the axis to that along it, > 0 (coulomb_ellipse)
  double friction_angle = 0.0;   ///< rad, of the axis from the first tangent (coulomb_ellipse)
  std::array<double, 2> spring{};  ///< m, elongation of the tangential spring before the step, S and T (stick_slip_spring)
};

/// The scalar members of ContactMaterial by name, for files, Python and error messages, and what they may be; `spring` is the only other
/// one.
struct MaterialField {
  enum class Range { nonnegative, positive, share, at_least_one, any };
  std::string_view name;
  double ContactMaterial::*member;
  Range range = Range::nonnegative;
};
inline constexpr std::array kMaterialFields{
    MaterialField{"restitution_tangential", &ContactMaterial::restitution_tangential, MaterialField::Range::share},
    MaterialField{"viscosity", &ContactMaterial::viscosity},
    MaterialField{"stiffness", &ContactMaterial::stiffness},
    MaterialField{"damping", &ContactMaterial::damping},
    MaterialField{"dissipation", &ContactMaterial::dissipation},
    MaterialField{"exponent", &ContactMaterial::exponent, MaterialField::Range::at_least_one},
    MaterialField{"dissipation_time", &ContactMaterial::dissipation_time},
    MaterialField{"stiffness_tangential", &ContactMaterial::stiffness_tangential},
    MaterialField{"damping_tangential", &ContactMaterial::damping_tangential},
    MaterialField{"stiction_speed", &ContactMaterial::stiction_speed, MaterialField::Range::positive},
    MaterialField{"regularization", &ContactMaterial::regularization},
    MaterialField{"time_constant", &ContactMaterial::time_constant},
    MaterialField{"friction_ratio", &ContactMaterial::friction_ratio, MaterialField::Range::positive},
    MaterialField{"friction_angle", &ContactMaterial::friction_angle, MaterialField::Range::any}};
static_assert(sizeof(ContactMaterial) == (kMaterialFields.size() + 2) * sizeof(double), "kMaterialFields names every member");

/// Material of contact i; the default where no contact has any. The vector outlives the result.
const ContactMaterial& material_of(const std::vector<ContactMaterial>& material, int i);

/// In range. Throws InvalidArgument naming the field of `argument`.
void validate(const ContactMaterial& material, std::string_view argument);
/// Throws InvalidArgument on a number that names none.
void require_law(std::string_view argument, Law law);

/// One entry per contact or none, materials in range. Throws InvalidArgument naming contact and field.
void validate_contact_laws(std::span<const Law> laws, std::span<const ContactMaterial> material, std::ptrdiff_t contacts);

}  // namespace stiction
