#include "stiction/experiments/trot_setup.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

constexpr std::array kControllers{TrotController::pid,       TrotController::id_sensed_1, TrotController::id_sensed_2,
                                  TrotController::id_qp_mu,  TrotController::id_qp_inf,   TrotController::id_lcp_mu,
                                  TrotController::id_lcp_inf};
constexpr std::array<std::string_view, 7> kNames{"pid", "id-sensed-1", "id-sensed-2", "id-qp-mu", "id-qp-inf", "id-lcp-mu", "id-lcp-inf"};

}  // namespace

const std::vector<TrotSetup>& trot_setups() {
  // The cap of 1.5 is that of 2015; without one, 2014's id-qp-mu on ground of infinite friction would be id-qp-inf again.
  static const std::vector<TrotSetup> setups{
      {.name = "2014",
       .adds_torques = true,
       .kp = 0.0,
       .kv = 0.0,
       .damps_motion = false,
       .lookahead = 0.005,
       .torque_limit = 4.0,
       .plans_contacts = true,
       .friction_cap = 1.5,
       .tikhonov = 1e-3,
       .stabilises = true},
      {.name = "2015",
       .adds_torques = false,
       .kp = 5e4,
       .kv = 100.0,
       .damps_motion = true,
       .lookahead = 0.001,
       .torque_limit = 1e5,
       .plans_contacts = true,
       .friction_cap = 1.5,
       .tikhonov = 1e-3,
       .stabilises = true},
      {.name = "ours",
       .adds_torques = false,
       .kp = 1e4,
       .kv = 200.0,
       .damps_motion = false,
       .lookahead = 0.001,
       .torque_limit = 4.0,
       .plans_contacts = false,
       .friction_cap = 1.5,
       .tikhonov = 1e-3,
       .stabilises = false},
  };
  return setups;
}

const TrotSetup& trot_setup_from_string(std::string_view name) {
  std::vector<std::string_view> known;
  for (const TrotSetup& setup : trot_setups()) {
    if (setup.name == name) return setup;
    known.push_back(setup.name);
  }
  throw InvalidArgument("setup", fmt::format("one of {}", fmt::join(known, ", ")), fmt::format("'{}'", name));
}

std::string_view to_string(TrotController controller) { return kNames[static_cast<std::size_t>(controller)]; }

std::string_view to_string(QpObjective objective) { return objective == QpObjective::kinetic ? "kinetic" : "anitescu"; }

TrotController trot_controller_from_string(std::string_view name) {
  for (const TrotController c : kControllers) {
    if (to_string(c) == name) return c;
  }
  throw InvalidArgument("controller", fmt::format("one of {}", fmt::join(kNames, ", ")), fmt::format("'{}'", name));
}

QpObjective qp_objective_from_string(std::string_view name) {
  for (const QpObjective o : {QpObjective::kinetic, QpObjective::anitescu}) {
    if (to_string(o) == name) return o;
  }
  throw InvalidArgument("objective", "kinetic or anitescu", fmt::format("'{}'", name));
}

std::vector<TrotController> all_trot_controllers() { return {kControllers.begin(), kControllers.end()}; }

bool is_qp(TrotController c) { return c == TrotController::id_qp_mu || c == TrotController::id_qp_inf; }
bool predicts_forces(TrotController c) {
  return c != TrotController::pid && c != TrotController::id_sensed_1 && c != TrotController::id_sensed_2;
}
bool assumes_no_slip(TrotController c) { return c == TrotController::id_qp_inf || c == TrotController::id_lcp_inf; }

Law controller_law(TrotController controller, QpObjective objective) {
  if (is_qp(controller)) return objective == QpObjective::kinetic ? Law::max_dissipation : Law::anitescu;
  if (controller == TrotController::id_lcp_inf) return Law::no_slip;
  return controller == TrotController::id_lcp_mu ? Law::coulomb_pyramid : Law::frictionless;
}

double controller_friction(TrotController controller, const TrotSetup& setup, double mu) {
  if (assumes_no_slip(controller)) return kInfinity;
  return std::min(mu, controller == TrotController::id_qp_mu ? setup.friction_cap : kHighFriction);
}

}  // namespace stiction
