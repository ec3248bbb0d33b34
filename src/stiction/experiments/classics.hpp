// Scenes whose motion or forces are known in closed form, with their error at three step lengths and its order of convergence; by law and
// scheme where these differ.
#pragma once

#include <string>
#include <vector>

#include "stiction/experiments/report.hpp"
#include "stiction/experiments/small_world.hpp"

namespace stiction {

/// `quick` leaves out the longest runs' length, no row.
ExperimentReport run_classics(const ExperimentOptions& options);

/// Incline, sliding stop.
void add_classics_sliding(ExperimentReport& report);
/// Sphere and disc on an incline, a ball that slides, then rolls.
void add_classics_rolling(ExperimentReport& report);
/// Bouncing ball, cradle, rocking block, Painlevé's rod.
void add_classics_impacts(ExperimentReport& report);
/// Tipping box, ladder, pinch, stack, penalty depth, quadruped.
void add_classics_statics(ExperimentReport& report);
/// Free body, double pendulum, by scheme.
void add_classics_free(ExperimentReport& report, const ExperimentOptions& options);

/// Euler's disc and tippe top, by scheme.
void add_classics_tops(ExperimentReport& report);
/// The woodpecker toy, as published and as bodies and shapes.
void add_classics_woodpecker(ExperimentReport& report);

/// A law as a row of a table of laws: name, and what the setting says beyond it.
struct LawChoice {
  std::string name;
  RunSetting setting;
};
/// The rigid laws with Coulomb friction or what stands for it.
std::vector<LawChoice> rigid_laws();
/// Laws that give way, on 1e6 N/m (todorov: 1e-3 of the inverse mass of 1 kg).
std::vector<LawChoice> soft_laws();

}  // namespace stiction
