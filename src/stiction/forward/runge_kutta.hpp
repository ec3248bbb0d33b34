// Explicit integration of (q, v) over a time s with a slope (q, v) -> v̇ between events.
//
//   symplectic_euler   v⁺ = v + s v̇(q, v), q⁺ = q ⊕ s v⁺, free origins straight (free_motion.hpp)
//   rk4                the classical tableau; rk45: Dormand and Prince's, order 5, error by the embedded one of order 4 [Hairer, Nørsett,
//                      Wanner, Solving Ordinary Differential Equations I, II.5]
// Free joints' linear velocities are integrated in the axes of the world, so a thrown body is on its parabola whatever its spin. The
// tableaus act on the coordinates q themselves; a unit quaternion p has the rate p (0, ω)/2. A stage normalises its quaternions before they
// are used, so the field is smooth around the unit sphere and the order is that of the tableau.
#pragma once

#include <array>

#include "stiction/forward/events.hpp"
#include "stiction/forward/free_motion.hpp"
#include "stiction/forward/scheme.hpp"
#include "stiction/model/dynamics.hpp"

namespace stiction {

/// dq/dt at (q, v), q with unit quaternions.
void configuration_rate(const World& world, const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Ref<const Eigen::VectorXd>& v,
                        Eigen::Ref<Eigen::VectorXd> rate);
void normalize(const World& world, Eigen::Ref<Eigen::VectorXd> q);

inline constexpr int kMostStages = 7;
struct Tableau {
  int stages;
  std::array<std::array<double, kMostStages>, kMostStages> a;
  std::array<double, kMostStages> b, error;
};
/// symplectic_euler has one stage of weight 1, so that sums over stages need no case for it.
const Tableau& tableau_of(Integrator integrator);

struct RungeKuttaWorkspace {
  std::array<Eigen::VectorXd, kMostStages> q_rate, v_rate;
  PhasePoint stage;
  Eigen::VectorXd start_v;  ///< nv, linear velocities of free joints in the axes of the world
  GrowVector path;
};

/// Linear velocities of free joints from their own axes to the world's, or back.
void turn_to_world(const World& world, const Eigen::Ref<const Eigen::VectorXd>& q, Eigen::Ref<Eigen::VectorXd> v);
void turn_to_body(const World& world, const Eigen::Ref<const Eigen::VectorXd>& q, Eigen::Ref<Eigen::VectorXd> v);
/// v̇ + ω × v of the free joints' linear velocities: the acceleration of their origins, in their axes.
void add_turning(const World& world, const Eigen::Ref<const Eigen::VectorXd>& v, Eigen::Ref<Eigen::VectorXd> v_rate);

/// From `start` over s. slope(stage, q, v, v̇) writes v̇; where it returns false, as no forces exist there, so does this. `error`: by rk45's
/// embedded method, the largest |error|/(1 + |x|) over coordinates and velocities x.
template <class Slope>
bool runge_kutta(Integrator integrator, const World& world, double s, const PhasePoint& start, const Slope& slope, RungeKuttaWorkspace& w,
                 PhasePoint& end, double& error) {
  const Tableau& t = tableau_of(integrator);
  const std::size_t stages = static_cast<std::size_t>(t.stages);
  w.start_v = start.v;
  turn_to_world(world, start.q, w.start_v);
  for (std::size_t k = 0; k < stages; ++k) {
    w.stage.q = start.q;
    w.stage.v = w.start_v;
    for (std::size_t j = 0; j < k; ++j) {
      if (t.a[k][j] == 0.0) continue;
      w.stage.q += s * t.a[k][j] * w.q_rate[j];
      w.stage.v += s * t.a[k][j] * w.v_rate[j];
    }
    if (!within_reach(w.stage.q) || !w.stage.v.allFinite()) return false;
    if (k > 0) normalize(world, w.stage.q);
    turn_to_body(world, w.stage.q, w.stage.v);
    w.q_rate[k].resize(world.nq());
    w.v_rate[k].resize(world.nv());
    configuration_rate(world, w.stage.q, w.stage.v, w.q_rate[k]);
    if (!slope(static_cast<int>(k), w.stage.q, w.stage.v, w.v_rate[k])) return false;
    add_turning(world, w.stage.v, w.v_rate[k]);
    if (integrator != Integrator::symplectic_euler) turn_to_world(world, w.stage.q, w.v_rate[k]);
  }
  error = 0.0;
  end = start;
  if (integrator == Integrator::symplectic_euler) {
    end.v += s * w.v_rate[0];
    w.path = end.v;
    move(world, nullptr, s, w.path, end.q, end.v);  // `add_turning` is the acceleration of origins
    return within_reach(end.q) && end.v.allFinite();
  }
  end.v = w.start_v;
  for (std::size_t k = 0; k < stages; ++k) {
    end.q += s * t.b[k] * w.q_rate[k];
    end.v += s * t.b[k] * w.v_rate[k];
  }
  if (integrator == Integrator::rk45) {
    const auto worst = [&](const std::array<Eigen::VectorXd, kMostStages>& rates, const Eigen::VectorXd& values) {
      for (Eigen::Index j = 0; j < values.size(); ++j) {
        double sum = 0.0;
        for (std::size_t k = 0; k < stages; ++k) sum += t.error[k] * rates[k][j];
        error = std::max(error, s * std::abs(sum) / (1.0 + std::abs(values[j])));
      }
    };
    worst(w.q_rate, end.q);
    worst(w.v_rate, end.v);
  }
  if (!within_reach(end.q) || !end.v.allFinite()) return false;
  normalize(world, end.q);
  turn_to_body(world, end.q, end.v);
  return true;
}

}  // namespace stiction
