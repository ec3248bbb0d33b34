// One world from many states at once, on threads: what sampling planners and learners ask for.
//
// Every run starts as `Simulation::restart` does, so its bits are those of that run alone, whichever thread takes it and in whatever order.
// Cost: one copy of the stepper per thread; the world and the hulls are shared.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stiction/base/blocks.hpp"
#include "stiction/sim/simulation.hpp"

namespace stiction {

/// Fills tau (nv, zero when it is called) for the next step of run i. Called from several threads at a time, of each run in order.
using RolloutControl = std::function<void(int run, Simulation& simulation, Eigen::VectorXd& tau)>;

struct RolloutOptions {
  int threads = 1;                  ///< >= 1; no more than there are runs are used
  RolloutControl control = {};      ///< none: no forces
  std::function<void()> poll = {};  ///< called by the calling thread every 50 ms or so; what it throws ends the rollout
};

/// k runs of T steps. Rows of a run that ended early repeat its last state.
struct Rollout {
  int runs = 0, steps = 0;             ///< k, T
  std::vector<double> q, v;            ///< (k, T + 1, nq) and (k, T + 1, nv), row by row; the first of each run is its start
  std::vector<int> taken;              ///< (k) steps that were taken: fewer than T where one was refused
  std::vector<Status> status;          ///< (k) solved: every step met its tolerance; else that of the last step that missed it
  std::vector<double> worst_residual;  ///< (k) scaled, of the steps tried
  std::vector<std::string> errors;     ///< (k) what a step threw, which ended that run alone as `numerical_error`; empty: nothing
};

/// Starts: q (k x nq), v (k x nv). `stepper` is copied. Throws InvalidArgument on sizes that do not fit the world or numbers that are not
/// finite, and what the control or the poll throws, or a step of every run; on such an end all threads are joined first.
Rollout rollout(const Stepper& stepper, const Eigen::Ref<const RowMatrix>& q, const Eigen::Ref<const RowMatrix>& v, int steps,
                const RolloutOptions& options);

}  // namespace stiction
