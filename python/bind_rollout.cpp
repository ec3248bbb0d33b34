// rollout: a world from many states under many sequences of torques, on threads.
#include "stiction/sim/rollout.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "interrupts.hpp"
#include "step_settings.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/control/torque_limits.hpp"
#include "stiction/drive/effort_limits.hpp"
#include "world_handle.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;
using MaybeArray = std::optional<ArrayLike>;

/// An array with as many dimensions as it is given with, which shall be one of two numbers.
class PerRun {
 public:
  /// (size) for all runs or (k, size), of which the last dimensions may be several: `inner` of them belong to one run.
  PerRun(const MaybeArray& value, const char* argument, std::size_t inner) {
    if (!value) return;
    const auto dimensions = dimensions_of(*value, argument);
    if (dimensions != inner && dimensions != inner + 1) {
      throw InvalidArgument(argument, fmt::format("an array of {} dimensions, or {} with one entry per run", inner, inner + 1),
                            fmt::format("{} dimensions", dimensions));
    }
    per_run_ = dimensions == inner + 1;
    numbers_.emplace(*value, argument, dimensions);
    if (per_run_ && numbers_->size(0) == 0) throw InvalidArgument(argument, "one run or more", "none");
    numbers_->require_finite(argument);
  }
  bool given() const { return numbers_.has_value(); }
  /// Runs that it is about; 0: any number.
  Eigen::Index runs() const { return per_run_ ? static_cast<Eigen::Index>(numbers_->size(0)) : 0; }
  /// Of one run.
  std::size_t size(std::size_t dimension) const { return numbers_->size(dimension + (per_run_ ? 1 : 0)); }
  const double* of(Eigen::Index run, Eigen::Index size) const { return numbers_->vector().data() + (per_run_ ? run * size : 0); }

 private:
  std::optional<Numbers> numbers_;
  bool per_run_ = false;
};

RowMatrix starts(const PerRun& given, const char* argument, const Eigen::VectorXd& fallback, Eigen::Index runs) {
  RowMatrix out(runs, fallback.size());
  if (given.given() && static_cast<Eigen::Index>(given.size(0)) != fallback.size())
    throw InvalidArgument(argument, fmt::format("{} numbers for a run", fallback.size()), fmt::format("{}", given.size(0)));
  for (Eigen::Index i = 0; i < runs; ++i) {
    out.row(i) = given.given() ? Eigen::Map<const Eigen::VectorXd>(given.of(i, fallback.size()), fallback.size()) : fallback;
  }
  return out;
}

/// Torques of all runs, read where they lie.
class TorqueTable {
 public:
  TorqueTable(const MaybeArray& tau, const std::optional<int>& wanted, const World& world) : tau_(tau, "tau", 2), world_(world) {
    if (!tau_.given()) {
      if (!wanted) throw InvalidArgument("steps", "a number where tau is None", "None");
      steps = *wanted;
      return;
    }
    steps = static_cast<int>(tau_.size(0));
    columns_ = static_cast<Eigen::Index>(tau_.size(1));
    const auto driven = static_cast<Eigen::Index>(world.actuated().size());
    if (columns_ != world.nv() && columns_ != driven) {
      throw InvalidArgument("tau", fmt::format("{} generalised forces, or {} torques of the driven joints, per step", world.nv(), driven),
                            fmt::format("{} numbers", columns_));
    }
    if (wanted && *wanted != steps) throw InvalidArgument("steps", fmt::format("{}, as tau has", steps), fmt::format("{}", *wanted));
  }
  bool given() const { return tau_.given(); }
  Eigen::Index runs() const { return tau_.runs(); }
  void read(int run, long step, Eigen::VectorXd& out) const {
    const Eigen::Map<const Eigen::VectorXd> row(tau_.of(run, steps * columns_) + step * columns_, columns_);
    if (columns_ == out.size()) {
      out = row;
      return;
    }
    for (Eigen::Index i = 0; i < columns_; ++i) out[world_.actuated()[i]] = row[i];
  }

  int steps = 0;

 private:
  PerRun tau_;
  const World& world_;
  Eigen::Index columns_ = 0;
};

Eigen::Index number_of_runs(const PerRun& q, const PerRun& v, const TorqueTable& tau) {
  Eigen::Index runs = 0;
  for (const auto& [name, given] : {std::pair("q", q.runs()), std::pair("v", v.runs()), std::pair("tau", tau.runs())}) {
    if (given == 0) continue;
    if (runs != 0 && given != runs)
      throw InvalidArgument(name, fmt::format("{} runs, as those before it have", runs), fmt::format("{}", given));
    runs = given;
  }
  return std::max<Eigen::Index>(runs, 1);
}

struct Arguments {
  MaybeArray q, v, tau;
  std::optional<Integer> steps, threads;
  bool effort_limits = true;
};

struct RolloutResult : Rollout {
  std::size_t nq = 0, nv = 0;
};

RolloutResult run(const Scene& scene, const StepOptions& options, const Arguments& arguments) {
  const World& world = scene.world;
  const PerRun q(arguments.q, "q", 1), v(arguments.v, "v", 1);
  const std::optional<int> steps = arguments.steps ? std::optional(read_integer(*arguments.steps, "steps")) : std::nullopt;
  const TorqueTable tau(arguments.tau, steps, world);
  const Eigen::Index runs = number_of_runs(q, v, tau);
  const RowMatrix q_start = starts(q, "q", scene.start.q, runs), v_start = starts(v, "v", scene.start.v, runs);
  const Eigen::VectorXd limits = arguments.effort_limits ? effort_limits(world) : Eigen::VectorXd::Constant(world.nv(), kInfinity).eval();
  RolloutOptions rolling;
  rolling.threads = read_threads(arguments.threads);
  rolling.control = [&](int i, const Simulation& simulation, Eigen::VectorXd& out) {
    if (tau.given()) {
      tau.read(i, simulation.steps(), out);
    } else {
      scene.held_torques(simulation.state(), out);
    }
    clamp_torques(limits, out);
  };
  rolling.poll = check_interrupt;
  const nb::gil_scoped_release released;
  RolloutResult out{rollout(scene.make_stepper(options), q_start, v_start, tau.steps, rolling)};
  out.nq = static_cast<std::size_t>(world.nq());
  out.nv = static_cast<std::size_t>(world.nv());
  return out;
}

using Table = nb::ndarray<nb::numpy, double, nb::ndim<3>>;

template <auto member, std::size_t RolloutResult::*columns>
Table table(nb::pointer_and_handle<RolloutResult> self) {
  RolloutResult& r = *self.p;
  const auto runs = static_cast<std::size_t>(r.runs), rows = static_cast<std::size_t>(r.steps) + 1;
  return view<Table>((r.*member).data(), {runs, rows, r.*columns}, self.h);
}

}  // namespace

void bind_rollout(nb::module_& m) {
  nb::class_<RolloutResult>(m, "Rollout",
                            "k runs of T steps. Rows after a step that was refused repeat the state before it. Arrays are views.")
      .def_prop_ro("q", &table<&RolloutResult::q, &RolloutResult::nq>, "(k, T + 1, nq) configurations, the starts first")
      .def_prop_ro("v", &table<&RolloutResult::v, &RolloutResult::nv>, "(k, T + 1, nv) velocities")
      .def_prop_ro(
          "taken",
          [](nb::pointer_and_handle<RolloutResult> self) {
            auto& x = self.p->taken;
            return view<nb::ndarray<nb::numpy, int, nb::ndim<1>>>(x.data(), {x.size()}, self.h);
          },
          "(k,) steps taken: T, or fewer where one was refused")
      .def_prop_ro(
          "worst_residual",
          [](nb::pointer_and_handle<RolloutResult> self) {
            auto& x = self.p->worst_residual;
            return view<Vector>(x.data(), {x.size()}, self.h);
          },
          "(k,) worst scaled residual of the steps tried")
      .def_prop_ro(
          "status",
          [](const RolloutResult& r) {
            std::vector<std::string> out;
            for (const Status status : r.status) out.emplace_back(to_string(status));
            return out;
          },
          "k words: 'solved' where every step met the tolerance, else that of the last step that missed it")
      .def_prop_ro(
          "errors", [](const RolloutResult& r) { return r.errors; },
          "k texts: what a step raised, which ended that run alone, as 'numerical_error'; empty where none did. A rollout raises it where "
          "every run's did")
      .def("__repr__", [](const RolloutResult& r) {
        const auto whole = std::ranges::count(r.taken, r.steps);
        return fmt::format("Rollout(runs={}, steps={}, whole={})", r.runs, r.steps, whole);
      });

  const auto roll = with_settings(
      Types<WorldHandle&, const MaybeArray&, const MaybeArray&, const MaybeArray&, std::optional<Integer>, std::optional<Integer>>{},
      Types<const Flag&>{},
      [](WorldHandle& world, const MaybeArray& q, const MaybeArray& v, const MaybeArray& tau, const std::optional<Integer>& steps,
         const std::optional<Integer>& threads, const StepSettings& settings, const Flag& effort_limits) {
        const Scene& scene = world.scene();
        const StepOptions options = read_step_options(settings, scene.options);
        return run(scene, options, {q, v, tau, steps, threads, read_flag(effort_limits, "effort_limits")});
      });
  with_setting_names([&](const auto&... settings) {
    m.def("rollout", roll, "world"_a, "q"_a = nb::none(), "v"_a = nb::none(), "tau"_a = nb::none(), "steps"_a = nb::none(),
          "threads"_a = nb::none(), settings..., "effort_limits"_a = true,
          R"(Runs a world from k states under k sequences of torques, on threads, without the interpreter's lock.

q: (nq,) or (k, nq) starts, v: (nv,) or (k, nv), None: the world's start. tau: (T, m) for all runs or (k, T, m), m = nv generalised forces
or one torque per driven joint (N, N m), cut to the effort limits unless effort_limits is False; None: the scene's held joints, for `steps`
steps. threads: None for as many as there are cores. The other arguments are those of `Stepper`.
Every run has the bits of a Stepper that is reset to its start and stepped alone, for any number of threads.)");
  });
}

}  // namespace stiction::python
