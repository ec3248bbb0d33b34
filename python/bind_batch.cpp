// Batch: runs of one world side by side, a few steps at a time, as environments take them.
#include "stiction/sim/batch.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "contact_laws.hpp"
#include "interrupts.hpp"
#include "remember.hpp"
#include "step_settings.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/control/torque_limits.hpp"
#include "stiction/drive/effort_limits.hpp"
#include "stiction/laws/lowering.hpp"
#include "world_handle.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;
using MaybeArray = std::optional<ArrayLike>;

/// (mass, com (3,), inertia (3, 3)) per link, in the rows of an array: 1 + 3 + 9 numbers.
std::vector<LinkInertia> read_links(const MaybeArray& value) {
  std::vector<LinkInertia> out;
  if (!value) return out;
  constexpr Eigen::Index kColumns = 13;
  const Numbers numbers(*value, "links", 2);
  const ConstRowMap rows = numbers.matrix();
  if (rows.cols() != kColumns) throw InvalidArgument("links", "13 numbers a link: mass, com, inertia", fmt::format("{}", rows.cols()));
  numbers.require_finite("links");
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    LinkInertia link{rows(i, 0), rows.row(i).segment<3>(1).transpose(), Eigen::Matrix3d::Zero()};
    for (Eigen::Index k = 0; k < 9; ++k) link.inertia(k / 3, k % 3) = rows(i, 4 + k);
    out.push_back(link);
  }
  return out;
}

/// What the law asks of every contact that names neither law nor material is there: else a run would end at its first one.
void require_material(const World& world, const StepOptions& options) {
  const auto has_own = [](const PairMaterial& pair) { return pair.law || pair.material; };
  if (world.geometries().empty() || std::ranges::any_of(options.assemble.pairs, has_own)) return;
  const LawRow& row = row_of(options.contact.law);
  const ContactMaterial material = options.assemble.material.value_or(ContactMaterial{});
  ContactTerms terms;
  try {
    row.lower({.dt = options.assemble.dt, .material = &material, .family = row.family}, terms);
  } catch (const InvalidArgument& error) {
    throw std::invalid_argument(std::regex_replace(error.what(), std::regex(R"(^material\[0\])"), "material"));
  }
}

struct BatchHandle {
  BatchHandle(const Scene& scene, Stepper stepper, const BatchOptions& batch, const MaybeArray& kp, const MaybeArray& kd, bool limit)
      : start(scene.start), limits(effort_limits(scene.world)), runs(stepper, scene.start, batch) {
    const std::span<const int> driven = scene.world.actuated();
    const auto joints = static_cast<Eigen::Index>(driven.size());
    if (!limit) limits.setConstant(kInfinity);
    if (kd && !kp) throw InvalidArgument("kd", "None without kp", "an array");
    if (!kp) return;
    const Eigen::VectorXd p = for_each_item(kp, "kp", joints, 0.0), d = for_each_item(kd, "kd", joints, 0.0);
    require_nonnegative("kp", p);
    require_nonnegative("kd", d);
    servos.emplace();
    for (Eigen::Index i = 0; i < joints; ++i) servos->servos.push_back({driven[i], 0.0, 0.0, p[i], d[i], limits[driven[i]]});
    stepper.set_drives(*servos);  // throws where the scheme has none
  }

  void step(const ConstRowMap& command, int repeat) {
    const std::span<const int> driven = runs.world().actuated();
    const bool all = command.cols() == runs.world().nv() && !servos;
    const auto set_command = [&](int i, Simulation& simulation, Eigen::VectorXd& tau) {
      if (servos) {
        Drives drives = *servos;
        for (std::size_t k = 0; k < driven.size(); ++k) drives.servos[k].position = command(i, static_cast<Eigen::Index>(k));
        simulation.set_drives(drives);
      } else if (all) {
        tau = command.row(i).transpose();
      } else {
        for (std::size_t k = 0; k < driven.size(); ++k) tau[driven[k]] = command(i, static_cast<Eigen::Index>(k));
      }
      clamp_torques(limits, tau);
    };
    runs.step(repeat, set_command, check_interrupt);
  }

  State start;
  Eigen::VectorXd limits;
  Batch runs;
  std::optional<Drives> servos;
  std::mutex mutex;
};

void step(BatchHandle& b, const ArrayLike& value, const Integer& repeat) {
  const Numbers numbers(value, "command", 2);
  const ConstRowMap command = numbers.matrix();
  const Eigen::Index driven = static_cast<Eigen::Index>(b.runs.world().actuated().size()), nv = b.runs.world().nv();
  if (command.rows() != b.runs.runs() || (command.cols() != driven && (command.cols() != nv || b.servos)))
    throw InvalidArgument("command", fmt::format("shape ({}, {})", b.runs.runs(), driven),
                          fmt::format("({}, {})", command.rows(), command.cols()));
  numbers.require_finite("command");
  const int times = read_integer(repeat, "repeat");
  const nb::gil_scoped_release released;
  const std::lock_guard lock(b.mutex);
  b.step(command, times);
}

void restart(BatchHandle& b, const Integer& run, const MaybeArray& q, const MaybeArray& v) {
  State state = b.start;
  state.q = read_coordinates(q, "q", b.start.q);
  state.v = read_coordinates(v, "v", b.start.v);
  const int which = read_integer(run, "run");
  const nb::gil_scoped_release released;  // who steps asks for it, the mutex in hand
  const std::lock_guard lock(b.mutex);
  b.runs.restart(which, state);
}

template <auto member>
ConstMatrix rows(nb::pointer_and_handle<BatchHandle> self) {
  const RowMatrix& x = self.p->runs.*member;
  return view<ConstMatrix>(x.data(), {static_cast<std::size_t>(x.rows()), static_cast<std::size_t>(x.cols())}, self.h);
}

/// `columns` numbers of every link.
template <auto member, std::size_t columns>
nb::ndarray<nb::numpy, const double, nb::ndim<3>> of_links(nb::pointer_and_handle<BatchHandle> self) {
  const RowMatrix& x = self.p->runs.*member;
  return view<nb::ndarray<nb::numpy, const double, nb::ndim<3>>>(
      x.data(), {static_cast<std::size_t>(x.rows()), static_cast<std::size_t>(x.cols()) / columns, columns}, self.h);
}

void bind_arrays(nb::class_<BatchHandle>& batch) {
  batch.def_prop_ro("q", &rows<&Batch::q>, "(k, nq) configurations")
      .def_prop_ro("v", &rows<&Batch::v>, "(k, nv) velocities")
      .def_prop_ro("v_world", &rows<&Batch::v_world>, "(k, nv) the same with linear velocities of free joints in world axes")
      .def_prop_ro("com", &rows<&Batch::com>, "(k, 3) centre of mass of all that moves, world (m)")
      .def_prop_ro("wrenches", &of_links<&Batch::wrenches, 6>,
                   "(k, links, 6) of contacts in the last step: moment about com (N m), force (N), world axes")
      .def_prop_ro("inertias", &of_links<&Batch::inertias, 10>,
                   "(k, links, 10) about com: Ixx Iyy Izz Ixy Ixz Iyz (kg m²), m c (kg m), m (kg), world axes; none without `links`")
      .def_prop_ro("velocities", &of_links<&Batch::velocities, 6>,
                   "(k, links, 6) angular (rad/s), and linear at com (m/s), world axes; none without `links`")
      .def_prop_ro(
          "taken",
          [](nb::pointer_and_handle<BatchHandle> self) {
            return view<Indices>(std::as_const(self.p->runs.taken).data(), {self.p->runs.taken.size()}, self.h);
          },
          "(k,) steps that the last `step` took: fewer than asked for where one was refused")
      .def_prop_ro(
          "errors", [](const BatchHandle& b) { return b.runs.errors; },
          "k texts: what a step of the last `step` raised, which ended that run's part alone; empty where none did. `step` raises it where "
          "every run's did")
      .def("_memory",
           [](BatchHandle& b) {
             const std::lock_guard lock(b.mutex);
             const std::string bytes = b.runs.memory();
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("_remember",
           [](BatchHandle& b, const nb::bytes& bytes) {
             const std::lock_guard lock(b.mutex);
             b.runs.remember({bytes.c_str(), bytes.size()});
           })
      .def("__len__", [](const BatchHandle& b) { return b.runs.runs(); })
      .def("__repr__", [](const BatchHandle& b) { return fmt::format("Batch(runs={}, nq={})", b.runs.runs(), b.runs.q.cols()); });
}

}  // namespace

void bind_batch(nb::module_& m) {
  nb::class_<BatchHandle> batch(m, "Batch", nb::dynamic_attr(),
                                R"(k runs of a world side by side, on threads that stay, without the interpreter's lock.

Arrays are read-only views that `step` and `restart` fill anew. Every run has the bits of a Stepper that is reset to its start and stepped alone, for
any number of threads. One call at a time: a second thread waits.)");
  const auto make = with_settings(
      Types<nb::pointer_and_handle<BatchHandle>, nb::pointer_and_handle<WorldHandle>, const Integer&, const std::optional<Integer>&,
            const MaybeArray&, const MaybeArray&, const MaybeArray&>{},
      Types<const Flag&>{},
      [](nb::pointer_and_handle<BatchHandle> self, nb::pointer_and_handle<WorldHandle> world, const Integer& runs,
         const std::optional<Integer>& threads, const MaybeArray& kp, const MaybeArray& kd, const MaybeArray& links,
         const StepSettings& settings, const Flag& effort_limits) {
        const Scene& scene = world.p->scene();
        const BatchOptions options{read_integer(runs, "runs"), read_threads(threads), read_links(links)};
        const StepOptions stepping = read_step_options(settings, scene.options);
        require_material(scene.world, stepping);
        new (self.p) BatchHandle(scene, scene.make_stepper(stepping), options, kp, kd, read_flag(effort_limits, "effort_limits"));
        nb::dict start = given(settings);  // for copies and pickles
        const auto add = [&start](const char* name, const auto& value) {
          if (value) start[name] = *value;
        };
        start["runs"] = runs;
        start["effort_limits"] = effort_limits;
        add("threads", threads), add("kp", kp), add("kd", kd), add("links", links);
        remember_world(self.h, world.h, kept(start));
        self.h.attr("_made_of") = nb::cast(new WorldHandle(scene), nb::rv_policy::take_ownership);  // for copies: with what it has read
      });
  with_setting_names([&](const auto&... settings) {
    batch.def("__init__", make, "world"_a, "runs"_a, "threads"_a = nb::none(), "kp"_a = nb::none(), "kd"_a = nb::none(),
              "links"_a = nb::none(), settings..., "effort_limits"_a = true,
              R"(threads: None for as many as there are cores. kp, kd: one number for all driven joints or one each; with them commands are
positions of servos (`Stepper.drive`), without them torques, both within the effort limits unless effort_limits is False. links: (links, 13) mass (kg), centre of mass (m) and
inertia about it (kg m²), in the frame of each of World.link_names, for `inertias` and `velocities`. The rest: as of
`Stepper`. `copy` and pickles go on bit for bit.)");
  });
  batch
      .def("step", &step, "command"_a, "repeat"_a = 1,
           R"(Advances every run by `repeat` steps under one command.

command: (k, len(World.actuated)) torques (N m or N) or positions of servos (rad or m); torques may be (k, nv) generalised forces. A step
that is refused ends that run's part of the call and leaves it where it was, as one that raises does: look at `taken` and `errors`. Ctrl-C ends all parts after a step.)")
      .def("restart", &restart, "run"_a, "q"_a = nb::none(), "v"_a = nb::none(),
           "Starts one run from (q, v), None for the world's start: nothing of its past enters what follows.");
  bind_arrays(batch);
}

}  // namespace stiction::python
