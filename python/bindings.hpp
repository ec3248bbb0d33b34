// The parts of the Python module, one per file, and the types that they share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "stiction/geometry/contact_point.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction::python {

/// The contact problem of a world's state, with where its contacts are.
struct WorldProblem : ContactProblem {
  std::vector<ContactPoint> points;
  std::vector<std::pair<std::string, std::string>> bodies;  ///< per contact, names of A and B
};

void bind_problem(nanobind::module_& m);
void bind_proofs(nanobind::module_& m);
void bind_solution(nanobind::module_& m);
void bind_solve(nanobind::module_& m);
void bind_compare(nanobind::module_& m);
void bind_stepper(nanobind::module_& m);
void bind_shapes(nanobind::module_& m);
void bind_terrain(nanobind::module_& m);  ///< before the world
void bind_world(nanobind::module_& m);
void bind_drawn_shapes(nanobind::module_& m);  ///< after the world
void bind_simulate(nanobind::module_& m);
void bind_rollout(nanobind::module_& m);
void bind_batch(nanobind::module_& m);
void bind_motion(nanobind::module_& m);

}  // namespace stiction::python
