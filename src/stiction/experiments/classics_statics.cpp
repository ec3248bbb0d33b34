#include <cmath>

#include <fmt/format.h>

#include "stiction/base/rotation.hpp"
#include "stiction/experiments/classics.hpp"
#include "stiction/problem/indeterminacy.hpp"
#include "stiction/sim/scene.hpp"
#include "stiction/sim/simulation.hpp"

namespace stiction {
namespace {

using Eigen::Vector3d;

// --- Box of w = 0.2 m, 0.4 m high, on an incline that grows steeper.
void add_tipping(ExperimentReport& report) {
  const Vector3d half(0.1, 0.1, 0.2);
  for (const double mu : {0.8, 0.3}) {
    const bool tips = mu > half.x() / half.z();
    for (const LawChoice& law : rigid_laws()) {
      add_solve(report, "box on a rising incline", law.name,
                {{fmt::format("{} at tan θ, μ = {}", tips ? "tips" : "slides", mu), "", std::min(mu, half.x() / half.z())}}, [&] {
                  const double slope = threshold(0.1, 0.9, [&](double angle) {
                    const Vector3d n(std::sin(angle), 0.0, std::cos(angle));
                    WorldBuilder builder;
                    builder.add_static_body(plane("incline", n));
                    builder.add_free_body(solid("box", Box{half}, 1.0, half.z() * n, rotation_of_z(n)));
                    RunSetting setting = law.setting;
                    setting.mu = mu;
                    Run run(builder.build(), setting);
                    run.until(0.02);
                    return run.state.v.norm() < kStill;
                  });
                  return std::vector<double>{std::tan(slope)};
                });
    }
  }
}

// --- Ladder: a slender rod on rough ground, leant on a smooth wall.
void add_ladder(ExperimentReport& report) {
  const double mu = 0.4, half = 1.0, ball = 0.02;
  const auto holds = [&](double angle, RunSetting setting) {
    const double x = half * std::cos(angle), z = half * std::sin(angle);
    StaticBody ground = plane("ground", Vector3d::UnitZ(), Vector3d(0.0, 0.0, -z)),
               wall = plane("wall", -Vector3d::UnitX(), Vector3d(x, 0.0, 0.0));
    ground.shapes.front().friction = mu;
    wall.shapes.front().friction = 0.0;
    WorldBuilder builder;
    builder.add_static_body(ground);
    builder.add_static_body(wall);
    // The ends are the points of small balls that are nearest to ground and wall.
    add_mjcf(builder, fmt::format(R"(<default><geom type="sphere" size="{0}" friction="10"/></default><worldbody><body name="ladder">
        <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/><joint name="turn" axis="0 1 0"/>
        <inertial pos="0 0 0" mass="1" diaginertia="{1} {1} {1}"/><geom pos="{2} 0 {3}"/><geom pos="{4} 0 {5}"/></body></worldbody>)",
                                  ball, half * half / 3.0, -x, ball - z, x - ball, z));
    setting.mu.reset();
    Run run(builder.build(), setting);
    run.until(0.02);
    return run.state.v.norm() < kStill;
  };
  for (const LawChoice& law : rigid_laws()) {
    add_solve(report, "ladder on a smooth wall", law.name, {{"flattest that holds, tan θ, μ = 0.4", "", 1.0 / (2.0 * mu)}},
              [&] { return std::vector<double>{std::tan(threshold(0.5, 1.4, [&](double angle) { return holds(angle, law.setting); }))}; });
  }
}

// --- Pinch: a box of 1 kg between two fingers that push with N along x.
Run pinch(const RunSetting& setting) {
  const double half = 0.05, finger = 0.02;
  WorldBuilder builder;
  builder.add_free_body(solid("box", Box{Vector3d::Constant(half)}, 1.0, Vector3d::Zero()));
  add_mjcf(builder, fmt::format(R"(<default><geom type="box" size="{0} {0} {0}"/><joint type="slide" axis="1 0 0"/></default><worldbody>
      <body name="left" pos="{1} 0 0"><joint name="left"/><inertial pos="0 0 0" mass="0.2" diaginertia="1 1 1"/><geom/></body>
      <body name="right" pos="{2} 0 0"><joint name="right"/><inertial pos="0 0 0" mass="0.2" diaginertia="1 1 1"/><geom/></body></worldbody>)",
                                finger, -half - finger, half + finger));
  return {builder.build(), setting};
}

void squeeze(Run& run, double force, double until) {
  const Eigen::VectorXd tau = vector({0.0, 0.0, 0.0, 0.0, 0.0, 0.0, force, -force});
  while (run.state.time < until - 0.5 * run.h()) run.step(tau);
}

void add_pinch(ExperimentReport& report) {
  const double mu = 0.5, least = kGravity / (2.0 * mu);
  std::vector<LawChoice> laws = rigid_laws();
  for (LawChoice& law : soft_laws()) laws.push_back(std::move(law));
  for (const LawChoice& law : laws) {
    RunSetting setting = law.setting;
    setting.mu = mu;
    if (!law.setting.material) {
      add_solve(report, "two-finger pinch", law.name, {{"least force that holds", "N", least}}, [&] {
        return std::vector<double>{threshold(0.5 * least, 2.0 * least, [&](double force) {
          Run run = pinch(setting);
          squeeze(run, force, 0.02);
          return run.velocity(0).norm() < kStill;
        })};
      });
    }
    add_solve(report, "two-finger pinch", law.name,
              {{"creep in 1 s at twice that force", "m", 0.0}, {"acceleration at half of it", "m/s²", -0.5 * kGravity}}, [&] {
                Run held = pinch(setting);
                squeeze(held, 2.0 * least, 1.0);  // what is soft settles
                const Vector3d settled = held.position(0);
                squeeze(held, 2.0 * least, 2.0);
                Run slides = pinch(setting);
                squeeze(slides, 0.5 * least, 0.01);
                const double before = slides.velocity(0).z();
                squeeze(slides, 0.5 * least, 0.05);
                return std::vector<double>{(held.position(0) - settled).norm(), (slides.velocity(0).z() - before) / 0.04};
              });
  }
}

// --- Stack of ten boxes of 1 kg.
void add_stack(ExperimentReport& report) {
  constexpr int kBoxes = 10;
  std::vector<LawChoice> laws = rigid_laws();
  laws.insert(laws.begin(), LawChoice{"frictionless", {.law = Law::frictionless}});
  for (const LawChoice& law : laws) {
    add_solve(
        report, "stack of 10 boxes", law.name,
        {{"lowest interface", "N", kBoxes * kGravity}, {"highest interface", "N", kGravity}, {"worst interface: share off", "", 0.0}}, [&] {
          WorldBuilder builder;
          builder.add_static_body(plane("ground", Vector3d::UnitZ()));
          for (int k = 0; k < kBoxes; ++k) {
            builder.add_free_body(solid(fmt::format("box {}", k), Box{Vector3d(0.1, 0.1, 0.05)}, 1.0, Vector3d(0.0, 0.0, 0.05 + 0.1 * k)));
          }
          Run run(builder.build(), law.setting);
          run.until(0.1);
          std::vector<double> force(kBoxes, 0.0);  // below box k, which is body k + 1
          const std::vector<ContactPoint>& contacts = run.stepper().contacts();
          for (std::size_t i = 0; i < contacts.size(); ++i) {
            const int upper = std::max(contacts[i].body_a, contacts[i].body_b);
            force.at(static_cast<std::size_t>(upper - 1)) += run.solution().impulses[3 * static_cast<Eigen::Index>(i)] / run.h();
          }
          double worst = 0.0;
          for (int k = 0; k < kBoxes; ++k) {
            const double load = (kBoxes - k) * kGravity;
            worst = std::max(worst, std::abs(force[k] - load) / load);
          }
          return std::vector<double>{force.front(), force.back(), worst};
        });
  }
}

// --- Penalty contact at rest.
void add_penalty(ExperimentReport& report) {
  const double mass = 3.0, stiffness = 1e5;
  const auto add = [&](Law law, double exponent, const std::string& name, double depth) {
    add_solve(report, "penalty contact at rest", name, {{"depth, 3 kg on 1e5 N/m", "m", depth}}, [&] {
      RunSetting setting{.law = law};
      setting.material.emplace();
      setting.material->stiffness = setting.material->stiffness_tangential = stiffness;
      setting.material->damping = 2.0 * std::sqrt(stiffness * mass);
      setting.material->dissipation = 5.0;
      setting.material->dissipation_time = 1e-2;
      setting.material->exponent = exponent;
      Run run(on_ground(solid("ball", Sphere{0.1}, mass, Vector3d(0.0, 0.0, 0.1))), setting);
      run.until(3.0);
      return std::vector<double>{0.1 - run.position(0).z()};
    });
  };
  const double depth = mass * kGravity / stiffness;
  for (const Law law : {Law::linear_penalty, Law::stick_slip_spring, Law::regularized_stiction, Law::sap}) {
    add(law, 1.0, std::string(to_string(law)), depth);
  }
  add(Law::hunt_crossley, 1.5, "hunt_crossley, 1e5 N/m^1.5", std::pow(depth, 2.0 / 3.0));
}

// --- Four feet: the sum of their forces is known, their split is not where legs are rigid.
void add_table(ExperimentReport& report) {
  const double mass = 4.0, foot = 0.02, weight = mass * kGravity;
  for (const LawChoice& law : {LawChoice{"coulomb_cone", {}}, LawChoice{"coulomb_pyramid, 4 edges", {.law = Law::coulomb_pyramid}}}) {
    add_solve(report, "rigid table on four feet", law.name,
              {{"sum of normal forces", "N", weight},
               {"dimensions that the law leaves open", "", 6.0, "12 forces, 6 equations"},
               {"a foot's force, least", "N", 0.0},
               {"a foot's force, most", "N", 0.5 * weight, "the diagonal bears"}},
              [&] {
                FreeBody table = solid("table", Box{Vector3d(0.3, 0.2, 0.02)}, mass, Vector3d(0.0, 0.0, 0.5));
                for (const double x : {-0.3, 0.3}) {
                  for (const double y : {-0.2, 0.2}) {
                    Eigen::Isometry3d place = Eigen::Isometry3d::Identity();
                    place.translation() = Vector3d(x, y, foot - 0.5);
                    table.shapes.push_back({Sphere{foot}, place});
                  }
                }
                Run run(on_ground(table), law.setting);
                run.until(0.1);
                Reduction reduction;
                reduce(run.problem(), reduction);
                const Indeterminacy open = indeterminacy(reduction.reduced, lowered(reduction.reduced, step_options(law.setting).contact),
                                                         run.solution().impulses, Eigen::VectorXd(), {.normal_intervals = true});
                return std::vector<double>{run.normal_force(), static_cast<double>(open.dimension), open.normal_min.minCoeff() / run.h(),
                                           open.normal_max.maxCoeff() / run.h()};
              });
  }
}

void add_quadruped(ExperimentReport& report) {
  const Scene scene = load_scene("scenes/quadruped.toml");
  const double weight = scene.world.robots().front().mass * kGravity;
  for (const LawChoice& law : rigid_laws()) {
    add_solve(report, "quadruped stands, joints held", law.name,
              {{"sum of normal forces", "N", weight}, {"drift of the trunk in 1 s", "m", 0.0}}, [&] {
                StepOptions options = scene.options;
                options.contact.law = law.setting.law;
                Simulation simulation(scene.make_stepper(options), scene.start);
                const auto stand = [&](double duration) {
                  const RunSummary summary = simulation.run({.duration = duration, .control = hold_joints(scene)});
                  if (summary.stop != Stop::duration) throw RunFailed(fmt::format("refused at {:.4g} s", simulation.state().time));
                  return Vector3d(simulation.state().q.head<3>());
                };
                const Vector3d settled = stand(4.0), after = stand(1.0);  // the springs of the hold come to rest
                const Solution& solution = simulation.stepper().solution();
                double force = 0.0;
                for (Eigen::Index i = 0; i < solution.impulses.size(); i += 3) force += solution.impulses[i];
                return std::vector<double>{force / simulation.stepper().problem().dt, (after - settled).norm()};
              });
  }
}

}  // namespace

void add_classics_statics(ExperimentReport& report) {
  add_tipping(report);
  add_ladder(report);
  add_pinch(report);
  add_stack(report);
  add_penalty(report);
  add_table(report);
  add_quadruped(report);
}

}  // namespace stiction
