#include "stiction/programs/cone/working_set.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

namespace {

constexpr int kFewest = 16;         // contacts from which a part of them is cheaper,
constexpr double kRedundancy = 8;   // and contacts' equations per freedom: cold, 16 on 6 take 0.7 of the time, 64 on 18 a seventh
constexpr int kSizePerFreedom = 4;  // contacts of the sets that memory is sized for
constexpr int kRounds = 20;
constexpr int kAddedPerRound = 3;
constexpr int kOneBody = 6;       // freedoms of a body on three points: contacts join those one by one, and Newton has one change to find
constexpr int kWarmMembers = 16;  // most contacts of the last solve that are taken up
constexpr int kWarmSteps = 6;     // a right active set takes three, and every change of it one more
constexpr int kPartIterations = 80;
constexpr int kUnsolved = 3;  // rounds that may leave the part unsolved: the next set is another problem

void begin(const ReducedProblem& problem, const ConeMemory& memory, WorkingSet& set) {
  set.part.Rt.reset(3, problem.Rt.block_sizes());
  set.part.Bt = problem.Bt;
  set.part.w_free = problem.w_free;
  set.part.lo = problem.lo;
  set.part.hi = problem.hi;
  set.part.velocity = memory.velocity;
  set.members.clear();
  set.inside.assign(problem.contacts(), 0);
  set.solution.lambda.resize(0);
  set.solution.beta = memory.beta;
}

void add(const ReducedProblem& problem, int contact, WorkingSet& set) {
  ReducedProblem& part = set.part;
  const Eigen::Index k = static_cast<Eigen::Index>(set.members.size());
  part.Rt.add_group();
  part.Rt.add_entry(0) = problem.Rt.entry(problem.Rt.entry_begin(contact));
  for (GrowVector* v : {&part.offset, &part.mu}) v->resize(k + 1);  // keeps its entries
  part.u_free.resize(3 * k + 3);
  set.solution.lambda.resize(3 * k + 3);
  part.offset[k] = problem.offset[contact];
  part.mu[k] = problem.mu[contact];
  part.u_free.segment<3>(3 * k) = problem.u_free.segment<3>(3 * contact);
  set.solution.lambda.segment<3>(3 * k).setZero();
  set.members.push_back(contact);
  set.inside[contact] = 1;
}

// Sizes all memory for sets that are seldom outgrown: which sets a solve passes through depends on its warm start.
void grow(const ReducedProblem& problem, const ConeOptions& options, const ConeMemory& memory, WorkingSet& set) {
  const int size = std::min(problem.contacts(), kSizePerFreedom * problem.rank_bound());
  if (size <= set.grown && options.edges <= set.grown_edges) return;
  set.grown = std::max(size, set.grown);
  set.grown_edges = std::max(options.edges, set.grown_edges);
  begin(problem, memory, set);
  for (int i = 0; i < size; ++i) add(problem, i, set);
  ConeOptions nothing = options;
  nothing.max_iterations = 0;
  solve_whole(set.part, nothing, set.memory, set.solution);
}

// Contacts outside at the velocities in `memory`; returns the largest violation.
double measure(const ReducedProblem& problem, const ConeMemory& memory, WorkingSet& set) {
  set.violation.resize(problem.contacts());
  double worst = 0.0;
  for (int i = 0; i < problem.contacts(); ++i) {
    set.violation[i] = set.inside[i] != 0 ? 0.0
                                          : contact_natural_map(memory.shape, memory.relaxed, problem.mu[i], problem.offset[i], memory.rho,
                                                                Eigen::Vector3d::Zero(), memory.u.segment<3>(3 * i));
    worst = std::max(worst, set.violation[i]);
  }
  return worst;
}

// Part of a contact's normal row that the rows added in this round leave.
double distance(const ReducedProblem& problem, int contact, int count, WorkingSet& set) {
  const auto entry = problem.Rt.entry(problem.Rt.entry_begin(contact));
  const Eigen::Index r = entry.cols();
  set.row = entry.row(0).transpose();
  for (int k = 0; k < count; ++k) {
    const auto basis = set.added.segment(k * r, r);
    set.row -= basis.dot(set.row) * basis;
  }
  return set.row.norm();
}

// The worst violators, each weighed by what its normal row adds to those before it.
void add_violators(const ReducedProblem& problem, double least, WorkingSet& set) {
  const Eigen::Index r = problem.rank_bound();
  const int most = set.members.empty() || r > kOneBody ? kAddedPerRound : 1;
  set.added.resize(kAddedPerRound * r);
  for (int k = 0; k < most; ++k) {
    int best = -1;
    double best_value = 0.0;
    for (int i = 0; i < problem.contacts(); ++i) {
      if (set.inside[i] != 0 || set.violation[i] <= least) continue;
      const double value = k == 0 ? set.violation[i] : set.violation[i] * distance(problem, i, k, set);
      if (value > best_value) best_value = value, best = i;
    }
    if (best < 0) return;
    const double length = distance(problem, best, k, set);
    if (length > 0.0) set.row /= length;
    set.added.segment(k * r, r) = set.row;
    add(problem, best, set);
  }
}

void scatter(const WorkingSet& set, ConeMemory& memory) {
  memory.lambda.setZero();
  for (std::size_t k = 0; k < set.members.size(); ++k) {
    memory.lambda.segment<3>(3 * set.members[k]) = set.solution.lambda.segment<3>(3 * static_cast<Eigen::Index>(k));
  }
  memory.beta = set.solution.beta;
}

// The contacts that bore something in the last solve; false when there are none, or so many that they are the whole problem's own answer.
bool take_members(const ReducedProblem& problem, const ConeMemory& memory, WorkingSet& set) {
  begin(problem, memory, set);
  for (int i = 0; i < problem.contacts(); ++i) {
    if (memory.lambda.segment<3>(3 * i).cwiseAbs().maxCoeff() == 0.0) continue;
    if (static_cast<int>(set.members.size()) == kWarmMembers) return false;
    add(problem, i, set);
    set.solution.lambda.tail<3>() = memory.lambda.segment<3>(3 * i);
  }
  return !set.members.empty();
}

void start_cold(const ReducedProblem& problem, ConeMemory& memory, WorkingSet& set) {
  memory.lambda.setZero();
  memory.beta.setZero();
  begin(problem, memory, set);
}

// `warm`: by a few steps of Newton alone, for a motion that has changed by more than that is found faster from rest.
bool solve_part(const ConeOptions& options, bool warm, ConeMemory& memory, WorkingSet& set) {
  ConeOptions part = options;
  part.warm_start = true;
  part.max_iterations = std::min(memory.budget, kPartIterations);
  if (warm) {
    refine(set.part, part, set.memory, kWarmSteps, set.solution);
  } else {
    solve_whole(set.part, part, set.memory, set.solution);
  }
  memory.budget -= set.solution.iterations;
  return set.solution.status == Status::solved;
}

}  // namespace

bool suits_working_set(const ReducedProblem& problem) {
  return problem.contacts() >= kFewest && problem.Rt.is_single_block() && problem.defect.size() == 0 &&
         3.0 * problem.contacts() >= kRedundancy * problem.rank_bound();
}

bool solve_on_working_set(const ReducedProblem& problem, const ConeOptions& options, ConeMemory& memory, WorkingSet& set) {
  grow(problem, options, memory, set);
  if (evaluate(problem, memory) <= memory.target) return true;
  bool warm = take_members(problem, memory, set) && solve_part(options, true, memory, set);
  if (warm) {
    scatter(set, memory);
  } else {
    start_cold(problem, memory, set);
  }
  int unsolved = 0;
  for (int round = 0; round < kRounds && memory.budget > 0 && 2 * static_cast<int>(set.members.size()) < problem.contacts(); ++round) {
    if (evaluate(problem, memory) <= memory.accept) return true;
    const double worst = measure(problem, memory, set);
    if (!set.members.empty() && worst <= memory.target) return false;
    add_violators(problem, memory.target, set);
    const bool solved = solve_part(options, warm, memory, set);
    if (!solved && warm) {
      warm = false;
      start_cold(problem, memory, set);
      continue;
    }
    if (!solved && ++unsolved > kUnsolved) return false;
    scatter(set, memory);
  }
  return evaluate(problem, memory) <= memory.accept;
}

}  // namespace stiction
