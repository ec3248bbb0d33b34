#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "stiction/experiments/small_world.hpp"
#include "stiction/experiments/textbook.hpp"

namespace stiction {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

std::string with_solver(Law law, Solver solver) { return fmt::format("{}, {}", to_string(law), to_string(solver)); }

// --- Cart against a wall: m = 1 kg, h = 0.1 s, q >= 0, as plotted in the text.
constexpr double kCartStep = 0.1;

World cart() {
  WorldBuilder builder;
  builder.add_static_body(plane("wall", Vector3d::UnitX()));
  add_mjcf(builder, R"(<worldbody><body name="cart"><joint name="q" type="slide" axis="1 0 0"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="sphere" size="0.1" pos="0.1 0 0"/></body></worldbody>)");
  return builder.build();
}

struct CartState {
  const char* what;
  double q, v, u;
};

void add_cart(ExperimentReport& report) {
  for (const CartState& c : {CartState{"reaches the wall", 0.05, -1.0, 0.0}, CartState{"stays clear of it", 0.5, -1.0, 0.0},
                             CartState{"pressed against it", 0.0, 0.0, -2.0}}) {
    const double h = kCartStep, free = c.q + h * c.v + h * h * c.u, force = std::max(0.0, -free / (h * h));
    for (const Solver solver : {Solver::ppm, Solver::goldfarb_idnani, Solver::pgs}) {
      add_solve(report, "cart and wall (LCP)", with_solver(Law::frictionless, solver),
                {{fmt::format("f, {}", c.what), "N", force}, {"q after", "m", std::max(0.0, free)}}, [&] {
                  Run run(cart(), {.law = Law::frictionless, .h = h, .solver = solver});
                  run.state.q << c.q;
                  run.state.v << c.v;
                  run.step(vector({c.u}));
                  return std::vector<double>{run.normal_force(), run.state.q[0]};
                });
    }
  }
}

// --- Brick on a plane, one contact, m = 2 kg, μ = 0.4, h = 10 ms.
constexpr double kBrickMass = 2.0, kBrickMu = 0.4, kBrickStep = 1e-2;

World brick() {
  WorldBuilder builder;
  builder.add_static_body(plane("ground", Vector3d::UnitZ()));
  add_mjcf(builder, R"(<worldbody><body name="brick"><joint name="x" type="slide" axis="1 0 0"/>
      <joint name="z" type="slide" axis="0 0 1"/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>
      <geom type="sphere" size="0.1" pos="0 0 0.1"/></body></worldbody>)");
  return builder.build();
}

Run brick_run(RunSetting setting, double speed) {
  setting.h = kBrickStep;
  setting.mu = kBrickMu;
  Run run(brick(), setting);
  run.state.v << speed, 0.0;
  return run;
}

struct BrickState {
  const char* what;
  double v, u;
};

void add_brick(ExperimentReport& report) {
  const double limit = kBrickMu * kBrickMass * kGravity;
  for (const BrickState& c : {BrickState{"slides on", 1.0, 3.0}, BrickState{"slides back", -1.0, 3.0}, BrickState{"stops", 0.03, 0.0},
                              BrickState{"is held against a pull", 0.0, 7.0}, BrickState{"is pulled off", 0.0, 9.0}}) {
    const double stop = -(kBrickMass * c.v / kBrickStep + c.u);  // the force that leaves no velocity
    const double force = std::clamp(stop, -limit, limit), v = c.v + kBrickStep / kBrickMass * (c.u + force);
    for (const auto& [law, solver] : {std::pair{Law::coulomb_pyramid, Solver::lemke}, std::pair{Law::coulomb_pyramid, Solver::enumerate},
                                      std::pair{Law::coulomb_cone, Solver::interior_point}}) {
      add_solve(report, "sliding brick (LCP with friction)", with_solver(law, solver),
                {{fmt::format("friction, {}", c.what), "N", force}, {"v after", "m/s", std::abs(stop) <= limit ? 0.0 : v}}, [&] {
                  Run run = brick_run({.law = law, .solver = solver}, c.v);
                  run.step(Vector2d(c.u, 0.0));
                  return std::vector<double>{run.solution().impulses[1] / run.h(), run.state.v[0]};
                });
    }
  }
}

// --- Anitescu's step of the same brick at 1 m/s: φ + h (n - μ d) v' >= 0 is active, and nothing else.
void add_anitescu(ExperimentReport& report) {
  const double v = 1.0, h = kBrickStep, fall = kGravity * h;
  const double beta =
      kBrickMass * (kBrickMu * v + fall) / (1.0 + kBrickMu * kBrickMu);  // multiplier of the active constraint, λ = β (n - μ d)
  const double along = v - kBrickMu * beta / kBrickMass, up = beta / kBrickMass - fall;
  const double objective = 0.5 * beta * beta * (1.0 + kBrickMu * kBrickMu) / kBrickMass;  // of primal and dual
  for (const auto& [solver, edges, what] : {std::tuple{Solver::newton, 0, "primal, disc"}, std::tuple{Solver::newton, 4, "primal, pyramid"},
                                            std::tuple{Solver::active_set, 4, "dual, pyramid"}, std::tuple{Solver::pgs, 4, "dual, pyramid"},
                                            std::tuple{Solver::interior_point, 0, "dual, disc"}}) {
    add_solve(report, "Anitescu's convex step", fmt::format("{} ({})", to_string(solver), what),
              {{"v after", "m/s", along},
               {"rises at", "m/s", up, "μ v: the relaxation glides"},
               {"gap after", "m", h * kBrickMu * along},
               {"λ_N", "N s", beta},
               {"primal objective", "J", objective},
               {"dual objective", "J", -objective}},
              [&, solver = solver, edges = edges] {
                Run run = brick_run({.law = Law::anitescu, .solver = solver, .edges = edges}, v);
                run.step();
                const VectorXd lambda = run.solution().impulses.head(3);
                const Vector2d free(v, -fall), change = run.state.v - free;
                const double dual =
                    0.5 * (lambda[0] * lambda[0] + lambda[1] * lambda[1]) / kBrickMass + lambda[0] * free[1] + lambda[1] * free[0];
                return std::vector<double>{
                    run.state.v[0], run.state.v[1], run.state.q[1], lambda[0], 0.5 * kBrickMass * change.squaredNorm(), dual};
              });
  }
}

// --- Todorov's program: K ∋ λ ⊥ u + R λ - û ∈ K*.
void add_todorov(ExperimentReport& report) {
  const double R = 0.05, T = 0.02, h = kBrickStep;
  RunSetting setting{.law = Law::todorov, .h = h};
  setting.material.emplace();
  setting.material->regularization = R;
  setting.material->time_constant = T;
  const auto push = [&](double q, double v) {
    Run run(cart(), setting);
    run.state.q << q;
    run.state.v << v;
    run.step();
    return std::vector<double>{run.normal_force(), run.state.v[0]};
  };
  const auto rows = [&](double q, double v) {
    const double target = q < 0.0 ? -q / (h + T) : -q / h;  // û_N: a penetration decays, a gap may close
    const double lambda = std::max(0.0, (target - v) / (1.0 + R));
    return std::vector<Quantity>{{fmt::format("f at q = {:g} m, v = {:g} m/s", q, v), "N", lambda / h}, {"v after", "m/s", v + lambda}};
  };
  for (const auto& [q, v] : {std::pair{0.0, -1.0}, std::pair{-1e-3, 0.0}, std::pair{5e-3, -1.0}, std::pair{5e-3, -0.4}}) {
    add_solve(report, "Todorov's program: cart and wall", "newton", rows(q, v), [&, q = q, v = v] { return push(q, v); });
  }
  const double speed = 1.0, fall = kGravity * h;
  const double normal =
      (fall + kBrickMu * speed) / ((1.0 / kBrickMass + R) * (1.0 + kBrickMu * kBrickMu));  // along the cone's edge (1, -μ)
  add_solve(report, "Todorov's program: sliding brick", "newton",
            {{"λ_N", "N s", normal},
             {"λ_T", "N s", -kBrickMu * normal},
             {"v after", "m/s", speed - kBrickMu * normal / kBrickMass},
             {"rises at", "m/s", normal / kBrickMass - fall, "glides as Anitescu's step does, less R λ_N (1 + μ²)"}},
            [&] {
              Run run = brick_run(setting, speed);
              run.step();
              return std::vector<double>{run.solution().impulses[0], run.solution().impulses[1], run.state.v[0], run.state.v[1]};
            });
  const double load = fall / (1.0 / kBrickMass + R);
  add_solve(report, "Todorov's program: brick at rest", "newton", {{"λ_N", "N s", load}, {"sinks at", "m/s", -R * load, "softness: R λ_N"}},
            [&] {
              Run run = brick_run(setting, 0.0);
              run.step();
              return std::vector<double>{run.solution().impulses[0], run.state.v[1]};
            });
}

}  // namespace

void add_textbook_programs(ExperimentReport& report) {
  add_cart(report);
  add_brick(report);
  add_anitescu(report);
  add_todorov(report);
}

}  // namespace stiction
