// stiction inverse FILE: torques and contact impulses that bring driven joints to desired velocities.
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.hpp"
#include "cli/problem_options.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"
#include "stiction/io/problem_file.hpp"

namespace stiction::cli {
namespace {

struct InverseCommand : ProblemOptions {
  std::vector<int> joints;
  std::vector<double> velocities;
  double torque_limit = kInfinity;
  bool least_torque = false;
};

std::vector<double> list(const Eigen::Ref<const Eigen::VectorXd>& x) { return {x.data(), x.data() + x.size()}; }

/// What inverse_dynamics would refuse, by the names of the options.
void require_fit(const InverseCommand& command, const ContactProblem& problem) {
  for (std::size_t i = 0; i < command.joints.size(); ++i) {
    const int joint = command.joints[i];
    if (joint < 0 || joint >= problem.velocities())
      throw InvalidArgument("--joints", fmt::format("indices in [0, {})", problem.velocities()), fmt::format("{}", joint));
    if (std::count(command.joints.begin(), command.joints.end(), joint) > 1)
      throw InvalidArgument("--joints", "each joint once", fmt::format("{} again", joint));
  }
  if (command.velocities.size() != command.joints.size())
    throw InvalidArgument("--velocities", fmt::format("one for each of {} joints", command.joints.size()),
                          command.velocities.empty() ? "none" : fmt::format("{}", command.velocities.size()));
  for (const double velocity : command.velocities) {
    if (!std::isfinite(velocity)) throw InvalidArgument("--velocities", "finite numbers", fmt::format("{}", velocity));
  }
}

/// Joints and velocities of the command line, or the prescribed coordinates of the file.
ContactProblem take_joints(InverseCommand& command) {
  AnyProblem any = load_problem(command.file);
  if (!std::holds_alternative<ContactProblem>(any))
    throw FileError(command.file, "M", "inverse dynamics needs the inertia M, and this file has none");
  ContactProblem problem = std::get<ContactProblem>(std::move(any));
  if (command.joints.empty()) {
    command.joints = problem.prescribed;
    if (command.velocities.empty()) command.velocities = list(problem.v_prescribed);
  } else if (const std::set<int> file(problem.prescribed.begin(), problem.prescribed.end());
             !file.empty() && file != std::set<int>(command.joints.begin(), command.joints.end())) {
    throw InvalidArgument("--joints", fmt::format("the coordinates that the file prescribes: {}", fmt::join(file, ", ")),
                          fmt::format("{}", fmt::join(command.joints, ", ")));
  }
  if (command.joints.empty()) throw InvalidArgument("--joints", "at least one index into v", "none, and the file prescribes none");
  require_fit(command, problem);
  problem.prescribed.clear();
  problem.v_prescribed.resize(0);
  return problem;
}

void print(const InverseCommand& command, const InverseSolution& s) {
  fmt::print("{}: law {}: {} after {} iterations{}\n", command.file, command.law, to_string(s.status), s.iterations,
             s.repaired ? ", desired velocities replaced by the nearest that the contacts allow" : "");
  fmt::print("{:>8} {:>14} {:>14} {:>14}\n", "joint", "desired", "reached", "torque");
  for (std::size_t i = 0; i < command.joints.size(); ++i) {
    fmt::print("{:>8} {:>14.6e} {:>14.6e} {:>14.6e}\n", command.joints[i], command.velocities[i], s.v[command.joints[i]],
               s.tau[static_cast<Eigen::Index>(i)]);
  }
  if (command.least_torque)
    fmt::print("{}\n", s.choice_met ? "of all contact impulses with this motion those of least torque"
                                    : "no contact impulses of less torque were found: these are the solver's");
  if (!s.proof.empty()) fmt::print("proved: no impulses within the limits reach the desired velocities\n");
  fmt::print("{}\n", certificate_text(s.certificate));
}

std::string inverse_to_json(const InverseCommand& command, const InverseSolution& s) {
  nlohmann::ordered_json out;
  out["status"] = to_string(s.status);
  out["law"] = command.law;
  out["iterations"] = s.iterations;
  out["joints"] = command.joints;
  out["tau"] = list(s.tau);
  out["velocity"] = list(s.v);
  out["impulses"] = list(s.impulses);
  out["repaired"] = s.repaired;
  if (command.least_torque) out["least_torque"] = s.choice_met;
  if (!s.proof.empty()) {
    out["proof"] = {{"contacts", list(s.proof.contacts)}, {"rows", list(s.proof.rows)}, {"joints", list(s.proof.joints)}};
  }
  out["shortfall"] = s.shortfall;
  out["certificate"] = certificate_json(s.certificate);
  return out.dump(2);
}

int run(InverseCommand command, const Session& session) {
  if (command.least_torque && std::isfinite(command.torque_limit))
    throw InvalidArgument("--least-torque", "no --torque-limit beside it", fmt::format("{}", command.torque_limit));
  require_distinct({{"FILE", command.file}, {"--json", session.json.value_or("")}});
  const ContactProblem problem = take_joints(command);
  InverseOptions options;
  options.choice = command.least_torque ? Choice::least_torque : Choice::warm_start;
  options.contact = command.to_solve_options(problem.laws, options.choice);
  command.law = command.obeyed(problem.laws);
  const std::vector<double> limits(std::isfinite(command.torque_limit) ? command.joints.size() : 0, command.torque_limit);
  const Eigen::Map<const Eigen::VectorXd> desired(command.velocities.data(), static_cast<Eigen::Index>(command.velocities.size()));
  const InverseSolution solution = inverse_dynamics(problem, command.joints, desired, limits, options);
  if (session.json) write_text(*session.json, inverse_to_json(command, solution));
  if (session.prints_table()) print(command, solution);
  return solution.status == Status::solved ? kOk : kNumericalFailure;
}

}  // namespace

void add_inverse(CLI::App& app, Session& session) {
  CLI::App& sub = add_subcommand(app, "inverse", "Torques and contact impulses for desired joint velocities", session);
  auto command = std::make_shared<InverseCommand>();
  add_problem_options(sub, *command);
  sub.add_option("--joints", command->joints, "Indices into v, separated by commas (default: those the file prescribes)")->delimiter(',');
  sub.add_option("--velocities", command->velocities, "Desired velocities, one per joint (rad/s or m/s)")->delimiter(',');
  sub.add_option("--torque-limit", command->torque_limit, "Largest |torque| of every joint (N m)")->check(nonnegative_number());
  sub.add_flag("--least-torque", command->least_torque,
               "Of all contact impulses with this motion, those of least torque (without --torque-limit)");
  sub.callback([command, &session] { session.run = [command, &session] { return run(*command, session); }; });
}

}  // namespace stiction::cli
