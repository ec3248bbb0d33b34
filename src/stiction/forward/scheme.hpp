// Time-integration schemes: where the matrices, forces and gaps of a step are evaluated, and how positions follow from its velocities.
// One file each, named after the scheme; this is the table of them.
//
//   semi_implicit_euler   at the start; q⁺ = q ⊕ h v⁺                           first order
//   moreau_midpoint       at half a step with v; q⁺ = q_M ⊕ (h/2) v⁺           first order, free bodies second [G14, Eqs. 6-8]
//   energy_momentum       at half a step, with w = (v + v⁺)/2; q⁺ = q ⊕ h w     second order, implicit (energy_momentum.hpp)
//   event_driven          from event to event by an integrator of order 1, 4, 5  impacts at events (event_driven.hpp)
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "stiction/model/dynamics.hpp"
#include "stiction/model/world.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

enum class Scheme { semi_implicit_euler, moreau_midpoint, energy_momentum, event_driven };
inline constexpr std::array kSchemes{Scheme::semi_implicit_euler, Scheme::moreau_midpoint, Scheme::energy_momentum, Scheme::event_driven};

std::string_view to_string(Scheme scheme);
/// Throws InvalidArgument that lists the names known.
Scheme scheme_from_string(std::string_view name);
/// Names separated by commas.
std::string scheme_names();

/// A configuration (nq) and a velocity (nv) in its axes.
struct PhasePoint {
  Eigen::VectorXd q, v;
};

/// What the stepper asks of a scheme; of event_driven, for what is left of a step at velocity level. v_path (nv) is scratch.
struct SchemeRow {
  std::string_view name;
  double spring_ahead;   ///< joint springs are taken where this many h v⁺ lead from the configuration at which all else is
  double damping_share;  ///< joint damping is taken at v + this share of v⁺ - v
  bool midpoint;         ///< gaps are those of half a step ahead
  /// From the start of a step of length h to where everything is evaluated. data is scratch. Null where the scheme is implicit
  /// (EnergyMomentum), as the next.
  void (*begin)(const World& world, double h, const PhasePoint& start, WorldData& data, GrowVector& v_path, PhasePoint& at);
  /// The end of the step; M is that at `at`. v_plus (nv): velocity after it, in the axes of `at`; v_path: v_plus + δ, where h δ is the
  /// shift of positions.
  void (*finish)(const World& world, double h, const BlockDiagonal& M, const PhasePoint& at, const GrowVector& v_plus, GrowVector& v_path,
                 PhasePoint& end);
};
const SchemeRow& row_of(Scheme scheme);

void begin_euler(const World& world, double h, const PhasePoint& start, WorldData& data, GrowVector& v_path, PhasePoint& at);
void finish_euler(const World& world, double h, const BlockDiagonal& M, const PhasePoint& at, const GrowVector& v_plus, GrowVector& v_path,
                  PhasePoint& end);
void begin_moreau(const World& world, double h, const PhasePoint& start, WorldData& data, GrowVector& v_path, PhasePoint& at);
void finish_moreau(const World& world, double h, const BlockDiagonal& M, const PhasePoint& at, const GrowVector& v_plus, GrowVector& v_path,
                   PhasePoint& end);

}  // namespace stiction
