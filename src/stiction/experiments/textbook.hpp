// The worked examples of [T-UA] (Underactuated Robotics, appendix on multi-body dynamics), each with the closed form of the text and run
// through world -> stepper, or world -> contact problem -> solve.
#pragma once

#include "stiction/experiments/report.hpp"

namespace stiction {

/// A fraction of a second: `quick` changes nothing.
ExperimentReport run_textbook(const ExperimentOptions& options);

/// Parts, in the order of the text. Double pendulum, a velocity constraint, the four-bar linkage, Gauss's principle.
void add_textbook_mechanisms(ExperimentReport& report);
/// Compliant contact, the impact map without friction, the rolling ball, guards and resets.
void add_textbook_impacts(ExperimentReport& report);
/// Cart and wall, the sliding brick, Anitescu's step and its dual, Todorov's program.
void add_textbook_programs(ExperimentReport& report);

}  // namespace stiction
