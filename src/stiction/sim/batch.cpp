#include "stiction/sim/batch.hpp"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "stiction/base/archive.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/base/team.hpp"

namespace stiction {

using Eigen::Matrix3d;
using Eigen::Vector3d;

struct Batch::Run {
  Run(const Stepper& stepper, const State& start) : simulation(untimed(stepper), start), data(stepper.world()) {}
  Simulation simulation;
  WorldData data;  ///< at the state
  StepForces forces;
  Eigen::VectorXd tau;
  std::exception_ptr thrown;  ///< by the last step
};

Batch::Batch(const Stepper& stepper, const State& start, const BatchOptions& options) : links_(options.links) {
  const World& of = stepper.world();
  if (options.runs < 1) throw InvalidArgument("runs", "a number >= 1", fmt::format("{}", options.runs));
  if (options.threads < 1) throw InvalidArgument("threads", "a number >= 1", fmt::format("{}", options.threads));
  if (!links_.empty() && links_.size() != of.links().size())
    throw InvalidArgument("links", fmt::format("{} inertias, one per link", of.links().size()), fmt::format("{}", links_.size()));
  const auto columns = static_cast<Eigen::Index>(of.links().size());
  const bool with_links = !links_.empty();
  q.resize(options.runs, of.nq());
  v.resize(options.runs, of.nv());
  v_world.resize(options.runs, of.nv());
  com.resize(options.runs, 3);
  wrenches.setZero(options.runs, 6 * columns);
  inertias.setZero(options.runs, with_links ? 10 * columns : 0);
  velocities.setZero(options.runs, with_links ? 6 * columns : 0);
  taken.assign(options.runs, 0);
  errors.resize(options.runs);
  for (int i = 0; i < options.runs; ++i) {
    all_.push_back(std::make_unique<Run>(stepper, start));
    restart(i, start);
  }
  team_ = std::make_unique<Team>(std::min(options.threads, options.runs) - 1);
}

Batch::~Batch() = default;

const World& Batch::world() const { return all_.front()->simulation.world(); }

void Batch::restart(int run, const State& state) {
  if (run < 0 || run >= runs()) throw InvalidArgument("run", fmt::format("a number in [0, {})", runs()), fmt::format("{}", run));
  all_[run]->simulation.restart(state);
  taken[run] = 0;
  errors[run].clear();
  look(run, false);
}

void Batch::step(int repeat, const Command& command, const std::function<void()>& poll) {
  if (repeat < 1) throw InvalidArgument("repeat", "a number >= 1", fmt::format("{}", repeat));
  if (!command) throw InvalidArgument("command", "a function", "none");
  const auto work = [&](int i, int /*worker*/) {
    Run& run = *all_[i];
    int& count = taken[i];
    count = 0;  // also where the command throws
    errors[i].clear();
    run.thrown = nullptr;
    run.tau.setZero(world().nv());
    command(i, run.simulation, run.tau);
    bool accepted = false;
    while (count < repeat && team_->goes_on() && (accepted = take_step(i))) ++count;
    look(i, accepted);
  };
  team_->run(runs(), work, poll);
  std::vector<std::exception_ptr> thrown;
  for (const std::unique_ptr<Run>& run : all_) thrown.push_back(run->thrown);
  rethrow_if_all(thrown);
}

bool Batch::take_step(int run) {
  Run& r = *all_[run];
  try {
    return r.simulation.step(r.tau).accepted;
  } catch (const std::exception& error) {  // of this run alone
    errors[run] = error.what();
    r.thrown = std::current_exception();
    return false;
  }
}

template <class Archive>
void Batch::carry(Archive& archive) {
  for (const std::unique_ptr<Run>& run : all_) run->simulation.carry(archive);
  Eigen::VectorXd forces = Eigen::Map<const Eigen::VectorXd>(wrenches.data(), wrenches.size());  // of steps that a stepper does not keep
  archive(taken, forces);
  if constexpr (Archive::kReads) {
    const auto fits = [&](const std::unique_ptr<Run>& run) {
      return run->simulation.state().q.size() == world().nq() && run->simulation.state().v.size() == world().nv();
    };
    if (!archive.at_end() || std::ssize(taken) != runs() || forces.size() != wrenches.size() || !std::ranges::all_of(all_, fits))
      throw InvalidArgument("bytes", "those of as many runs of this world", "others");
    for (int i = 0; i < runs(); ++i) look(i, false);
    std::ranges::copy(forces, wrenches.data());
  }
}

std::string Batch::memory() {
  ByteWriter out;
  carry(out);
  return out.written;
}

void Batch::remember(std::string_view bytes) {
  ByteReader in(bytes);
  carry(in);
}

void Batch::look(int run, bool stepped) {
  Run& r = *all_[run];
  const World& of = world();
  const State& state = r.simulation.state();
  update_kinematics(of, state.q, r.data);
  q.row(run) = state.q.transpose();
  v.row(run) = state.v.transpose();
  v_world.row(run) = v.row(run);
  for (const Joint& joint : of.joints()) {
    if (joint.kind != JointKind::free) continue;
    v_world.row(run).segment<3>(joint.v) = (r.data.X_WB[joint.body].linear() * state.v.segment<3>(joint.v)).transpose();
  }
  const Vector3d p_WC = of.nv() > 0 ? center_of_mass(of, r.data) : Vector3d::Zero().eval();
  com.row(run) = p_WC.transpose();
  wrenches.row(run).setZero();
  if (stepped) add_contacts(run, p_WC);
  if (!links_.empty()) look_at_links(run, p_WC);
}

void Batch::add_contacts(int run, const Vector3d& p_WC) {
  StepForces& forces = all_[run]->forces;
  all_[run]->simulation.stepper().contact_forces(forces);
  const std::span<const CollisionGeometry> geometries = world().geometries();
  const auto add = [&](int geometry, const Vector3d& force, const Vector3d& p_W) {
    const int link = geometries[geometry].link;
    if (link < 0) return;
    wrenches.row(run).segment<3>(6 * link) += (p_W - p_WC).cross(force).transpose();
    wrenches.row(run).segment<3>(6 * link + 3) += force.transpose();
  };
  for (std::size_t i = 0; i < forces.points.size(); ++i) {
    const ContactPoint& contact = forces.points[i];
    const Vector3d force = forces.force(i);
    add(contact.geometry_a, force, contact.p_WC);
    add(contact.geometry_b, -force, contact.p_WC);
  }
}

void Batch::look_at_links(int run, const Vector3d& p_WC) {
  const Run& r = *all_[run];
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = world().links()[i];
    const LinkInertia& own = links_[i];
    const auto column = static_cast<Eigen::Index>(i);
    const Eigen::Isometry3d X_WL = r.data.X_WB[link.body] * link.X_BL;
    const Vector3d c = X_WL * own.com - p_WC;
    const Matrix3d I =
        X_WL.linear() * own.inertia * X_WL.linear().transpose() + own.mass * (c.squaredNorm() * Matrix3d::Identity() - c * c.transpose());
    auto inertia = inertias.row(run).segment<10>(10 * column);
    inertia << I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2), own.mass * c.x(), own.mass * c.y(), own.mass * c.z(), own.mass;
    const Vector6d V = body_velocity(world(), r.data, link.body, r.simulation.state().v);
    const Vector3d w = V.tail<3>(), p_CB = r.data.X_WB[link.body].translation() - p_WC;
    velocities.row(run).segment<3>(6 * column) = w.transpose();
    velocities.row(run).segment<3>(6 * column + 3) = (V.head<3>() - w.cross(p_CB)).transpose();
  }
}

}  // namespace stiction
