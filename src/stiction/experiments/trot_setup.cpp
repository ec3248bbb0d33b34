#include "stiction/experiments/trot_setup.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/names.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

namespace {

struct Controller {
  TrotController id;
  std::string_view name;
  Law law;        // of its inverse dynamics; frictionless, without contacts, where it senses the forces or needs none
  bool no_slip;   // takes every ground for infinitely rough
  bool predicts;  // contact forces
};
constexpr std::array kControllers{
    Controller{TrotController::pid, "pid", Law::frictionless, false, false},
    Controller{TrotController::id_sensed_1, "id-sensed-1", Law::frictionless, false, false},
    Controller{TrotController::id_sensed_2, "id-sensed-2", Law::frictionless, false, false},
    Controller{TrotController::id_qp_mu, "id-qp-mu", Law::max_dissipation, false, true},
    Controller{TrotController::id_qp_inf, "id-qp-inf", Law::max_dissipation, true, true},
    Controller{TrotController::id_lcp_mu, "id-lcp-mu", Law::coulomb_pyramid, false, true},
    Controller{TrotController::id_lcp_inf, "id-lcp-inf", Law::no_slip, true, true},
};

constexpr std::array<std::string_view, 3> kGrounds{"rigid", "compliant", "hills"};  // in the order of TrotGround

const Controller& row(TrotController id) { return *std::ranges::find(kControllers, id, &Controller::id); }

}  // namespace

const std::vector<TrotSetup>& trot_setups() {
  static const std::vector<TrotSetup> setups{
      // name, adds torques, kp, kd, damps motion, look-ahead, torque limit, plans contacts, stabilises
      {"2014", true, 0.0, 0.0, false, 0.005, 4.0, true, true},
      {"2015", false, 5e4, 100.0, true, 0.001, 1e5, true, true},
      {"paper", false, 5e4, 100.0, true, 0.005, 1e5, false, true},
      {"ours", false, 1e4, 200.0, false, 0.001, 4.0, false, false},
  };
  return setups;
}

const TrotSetup& trot_setup_from_string(std::string_view name) {
  return trot_setups()[find_named("setup", trot_setups(), name, &TrotSetup::name)];
}

std::string_view to_string(TrotController controller) { return row(controller).name; }

std::string_view to_string(QpObjective objective) { return objective == QpObjective::kinetic ? "kinetic" : "anitescu"; }

std::string_view to_string(TrotGround ground) { return kGrounds[static_cast<std::size_t>(ground)]; }

TrotGround trot_ground_from_string(std::string_view name) { return value_named<TrotGround>("ground", kGrounds, name); }

TrotController trot_controller_from_string(std::string_view name) {
  return kControllers[find_named("controller", kControllers, name, &Controller::name)].id;
}

QpObjective qp_objective_from_string(std::string_view name) {
  for (const QpObjective o : {QpObjective::kinetic, QpObjective::anitescu}) {
    if (to_string(o) == name) return o;
  }
  throw InvalidArgument("objective", "kinetic or anitescu", fmt::format("'{}'", name));
}

std::vector<TrotController> all_trot_controllers() {
  std::vector<TrotController> all;
  for (const Controller& c : kControllers) all.push_back(c.id);
  return all;
}

std::vector<TrotGround> all_trot_grounds() { return {TrotGround::rigid, TrotGround::compliant, TrotGround::hills}; }

bool is_qp(TrotController c) { return row(c).law == Law::max_dissipation; }
bool predicts_forces(TrotController c) { return row(c).predicts; }
bool assumes_no_slip(TrotController c) { return row(c).no_slip; }

Law controller_law(TrotController controller, QpObjective objective) {
  return is_qp(controller) && objective == QpObjective::anitescu ? Law::anitescu : row(controller).law;
}

double ground_friction(double mu) { return std::isinf(mu) ? kHighFriction : mu; }

double controller_friction(TrotController controller, double mu) {
  if (assumes_no_slip(controller)) return kInfinity;
  return controller == TrotController::id_qp_mu ? std::min(mu, kFrictionCap) : ground_friction(mu);
}

}  // namespace stiction
