#include "stiction/sim/rollout.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/poll_clock.hpp"

namespace stiction {

namespace {

using Starts = Eigen::Ref<const RowMatrix>;

void validate(const World& world, const Starts& q, const Starts& v, int steps, const RolloutOptions& options) {
  const auto require_shape = [](const char* name, const Starts& x, Eigen::Index rows, Eigen::Index columns) {
    if (x.rows() != rows || x.cols() != columns)
      throw InvalidArgument(name, fmt::format("shape ({}, {})", rows, columns), fmt::format("({}, {})", x.rows(), x.cols()));
    if (!x.allFinite()) throw InvalidArgument(name, "finite numbers", "nan or infinity");
  };
  require_shape("q", q, q.rows(), world.nq());
  require_shape("v", v, q.rows(), world.nv());
  if (steps < 0) throw InvalidArgument("steps", "a number >= 0", fmt::format("{}", steps));
  if (options.threads < 1) throw InvalidArgument("threads", "a number >= 1", fmt::format("{}", options.threads));
}

/// The runs of one rollout, handed out one by one.
class Runs {
 public:
  Runs(const Starts& q, const Starts& v, const RolloutOptions& options, Rollout& out) : q_(q), v_(v), options_(options), out_(out) {}

  /// Takes runs until none is left or some thread has failed.
  void work(Simulation& simulation, bool polls) {
    try {
      for (int i = next_++; i < out_.runs && !failed_; i = next_++) run(i, simulation, polls);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      failed_ = true;
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void run(int i, Simulation& simulation, bool polls) {
    const std::size_t at = static_cast<std::size_t>(i);
    simulation.restart({q_.row(i).transpose(), v_.row(i).transpose(), 0.0});
    out_.status[at] = Status::solved;
    keep(i, 0, simulation.state());
    Eigen::VectorXd tau;
    bool goes_on = true;
    for (int k = 0; k < out_.steps && !failed_; ++k) {
      if (polls && options_.poll && clock_.due()) options_.poll();
      if (goes_on) {
        tau.setZero(simulation.world().nv());
        if (options_.control) options_.control(i, simulation, tau);
        const StepReport report = simulation.step(tau);
        out_.worst_residual[at] = std::max(out_.worst_residual[at], report.residual);
        if (report.status != Status::solved) out_.status[at] = report.status;
        goes_on = report.accepted;
        out_.taken[at] += goes_on ? 1 : 0;
      }
      keep(i, k + 1, simulation.state());
    }
  }
  void keep(int i, int k, const State& state) {
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(i) * (out_.steps + 1) + k;
    std::ranges::copy(state.q, out_.q.begin() + row * state.q.size());
    std::ranges::copy(state.v, out_.v.begin() + row * state.v.size());
  }

  const Starts &q_, &v_;
  const RolloutOptions& options_;
  Rollout& out_;
  std::atomic<int> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;
  PollClock clock_;  ///< of the thread that polls
};

}  // namespace

Rollout rollout(const Stepper& stepper, const Starts& q, const Starts& v, int steps, const RolloutOptions& options) {
  const World& world = stepper.world();
  validate(world, q, v, steps, options);
  Rollout out;
  out.runs = static_cast<int>(q.rows());
  out.steps = steps;
  const std::size_t runs = static_cast<std::size_t>(out.runs), rows = runs * static_cast<std::size_t>(steps + 1);
  out.q.resize(rows * static_cast<std::size_t>(world.nq()));
  out.v.resize(rows * static_cast<std::size_t>(world.nv()));
  out.taken.resize(runs);
  out.status.resize(runs);
  out.worst_residual.resize(runs);
  Runs queue(q, v, options, out);
  const State start = initial_state(world);
  const Stepper prototype = untimed(stepper);
  {
    std::vector<std::jthread> others;
    for (int thread = 1; thread < std::min(options.threads, out.runs); ++thread) {
      others.emplace_back([&queue, simulation = Simulation(prototype, start)]() mutable { queue.work(simulation, false); });
    }
    Simulation own(prototype, start);
    queue.work(own, true);
  }
  queue.rethrow();
  return out;
}

}  // namespace stiction
