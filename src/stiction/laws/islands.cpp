#include "stiction/laws/islands.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "stiction/base/errors.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/problem/inertia_block.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Part = Islands::Part;

// Parts with a workspace of their own, which keeps the symbolic factorisation while their contact graph rests; what is smaller shares the
// workspaces of the threads.
constexpr int kOwnWorkspaces = 8;

// Marks the sets that a group touches.
void mark(const BlockRows& rows, Islands& s) {
  for (int g = 0; g < rows.groups(); ++g) {
    if (rows.entry_begin(g) < rows.entry_end(g)) s.local[s.sets.find(rows.entry_block(rows.entry_begin(g)))] = 1;
  }
}

// The part of a group of rows; of one without entries the last.
int part_of(const BlockRows& rows, int g, const Islands& s) {
  return rows.entry_begin(g) < rows.entry_end(g) ? s.part_of[rows.entry_block(rows.entry_begin(g))] : s.count - 1;
}

bool has_empty_group(const BlockRows& rows) {
  for (int g = 0; g < rows.groups(); ++g) {
    if (rows.entry_begin(g) == rows.entry_end(g)) return true;
  }
  return false;
}

// Numbers the sets of blocks by their first block; those that nothing touches share the last number.
void number_parts(const ProblemView& p, Islands& s) {
  const std::size_t blocks = static_cast<std::size_t>(p.M.blocks());
  s.sets.reset(p.M.blocks());
  join_blocks(p.J, s.sets);
  join_blocks(p.J_b, s.sets);
  s.local.assign(blocks, 0);
  mark(p.J, s);
  mark(p.J_b, s);
  s.part_of.assign(blocks, -1);
  s.count = 0;
  bool rest = has_empty_group(p.J) || has_empty_group(p.J_b);
  for (int k = 0; k < p.M.blocks(); ++k) {
    const int root = s.sets.find(k);
    if (s.local[root] == 0) {
      rest = true;
    } else if (root == k) {
      s.part_of[k] = s.count++;
    } else {
      s.part_of[k] = s.part_of[root];
    }
  }
  if (!rest) return;
  std::ranges::replace(s.part_of, -1, s.count);
  ++s.count;
}

void copy_group(const BlockRows& from, int g, const Islands& s, BlockRows& to) {
  to.add_group();
  for (int e = from.entry_begin(g); e < from.entry_end(g); ++e) to.add_entry(s.local[from.entry_block(e)]) = from.entry(e);
}

template <class T>
void select(const std::vector<T>& from, const std::vector<int>& which, std::vector<T>& to) {
  to.clear();
  if (from.empty()) return;
  for (const int i : which) to.push_back(from[i]);
}

void select(const GrowVector& from, const std::vector<int>& which, GrowVector& to) {
  to.resize(static_cast<Index>(which.size()));
  for (Index k = 0; k < to.size(); ++k) to[k] = from[which[k]];
}

// Three numbers per contact; empty stays empty.
void select_triples(const GrowVector& from, const std::vector<int>& which, GrowVector& to) {
  to.resize(from.size() == 0 ? 0 : 3 * static_cast<Index>(which.size()));
  for (Index k = 0; 3 * k < to.size(); ++k) to.segment<3>(3 * k) = from.segment<3>(3 * Index{which[k]});
}

void copy_bodies(const ProblemView& p, Islands& s, Part& part) {
  ContactProblem& to = part.problem;
  std::vector<int>& sizes = s.sizes;
  sizes.clear();
  for (const int k : part.blocks) {
    s.local[k] = static_cast<int>(sizes.size());
    sizes.push_back(p.M.block_size(k));
  }
  to.M.reset(sizes);
  to.v.resize(to.M.size());
  to.impulse.resize(to.M.size());
  for (int k = 0; k < to.M.blocks(); ++k) {
    const int from = part.blocks[k], first = p.M.offset(from), size = p.M.block_size(from);
    to.M.block(k) = p.M.block(from);
    to.v.segment(to.M.offset(k), size) = p.v.segment(first, size);
    to.impulse.segment(to.M.offset(k), size) = p.impulse.segment(first, size);
  }
}

void copy_contacts(const ProblemView& p, const Islands& s, Part& part) {
  ContactProblem& to = part.problem;
  to.J.reset(3, to.M.sizes());
  for (const int i : part.contacts) copy_group(p.J, i, s, to.J);
  select(p.mu, part.contacts, to.mu);
  select(p.restitution, part.contacts, to.restitution);
  select(p.gap, part.contacts, to.gap);
  select(p.laws, part.contacts, to.laws);
  select(p.material, part.contacts, to.material);
  select(p.ids, part.contacts, to.ids);
}

void copy_rows(const ProblemView& p, const Islands& s, Part& part) {
  ContactProblem& to = part.problem;
  to.J_b.reset(1, to.M.sizes());
  for (const int j : part.rows) copy_group(p.J_b, j, s, to.J_b);
  select(p.b, part.rows, to.b);
  select(p.lo, part.rows, to.lo);
  select(p.hi, part.rows, to.hi);
  to.row_compliance.resize(0);
  if (p.row_compliance.size() > 0) select(p.row_compliance, part.rows, to.row_compliance);
  select(p.row_kinds, part.rows, to.row_kinds);
  to.row_ids.clear();
  if (std::ssize(p.row_ids) == p.bounded_rows()) select(p.row_ids, part.rows, to.row_ids);
}

void copy_prescribed(const ProblemView& p, const Islands& s, Part& part) {
  ContactProblem& to = part.problem;
  to.prescribed.clear();
  select(p.v_prescribed, part.prescribed, to.v_prescribed);
  for (const int i : part.prescribed) {
    const int coordinate = p.prescribed[i], block = inertia_block(p.M, coordinate);
    to.prescribed.push_back(to.M.offset(s.local[block]) + coordinate - p.M.offset(block));
  }
}

void copy_parts(const ProblemView& p, Islands& s) {
  for (int k = 0; k < s.count; ++k) {
    Part& part = s.parts[k];
    part.problem.dt = p.dt;
    copy_bodies(p, s, part);
    copy_contacts(p, s, part);
    copy_rows(p, s, part);
    copy_prescribed(p, s, part);
  }
  s.schedule.resize(s.count);
  std::iota(s.schedule.begin(), s.schedule.end(), 0);
  const auto contacts = [&](int k) { return s.parts[k].contacts.size(); };
  std::ranges::sort(s.schedule, [&](int a, int b) { return contacts(a) != contacts(b) ? contacts(a) > contacts(b) : a < b; });
}

// The i-th of the schedule in a workspace of its own or in the shared one of its thread, which must not show what it was used for before.
void solve_scheduled(int i, int thread, const SolveOptions& options, SolveWorkspace& w, SolvePart solve_part) {
  const bool own = i < kOwnWorkspaces;
  SolveWorkspace& mine = w.workers[own ? i : kOwnWorkspaces + thread];
  if (!own) forget_positions(mine);
  Part& part = w.islands.parts[w.islands.schedule[i]];
  select_triples(w.start.lambda, part.contacts, mine.start.lambda);
  mine.start.beta.resize(0);
  if (w.start.beta.size() > 0) select(w.start.beta, part.rows, mine.start.beta);
  select_triples(w.choice.last, part.contacts, mine.choice.last);
  try {
    mine.found.resize(0);
    solve_part(part.problem, options, mine, part.solution);
    part.found = mine.found;
    part.found_rows = mine.found_rows;
  } catch (...) {
    part.error = std::current_exception();
  }
}

void solve_parts(const SolveOptions& options, SolveWorkspace& w, SolvePart solve_part) {
  const int count = w.islands.count, threads = std::min(options.threads, count);
  for (Part& part : w.islands.parts) part.error = nullptr;
  const std::size_t workers = static_cast<std::size_t>(kOwnWorkspaces + threads);
  if (w.workers.size() < workers) w.workers.resize(workers);
  const auto work = [&](int i, int thread) { solve_scheduled(i, thread, options, w, solve_part); };
  if (threads > 1) return w.islands.team.of(threads - 1).run(count, std::cref(work));
  for (int i = 0; i < count; ++i) work(i, 0);
}

int severity(Status status) {
  constexpr std::array severities{0, 1, 3, 5, 2, 4};  // in the order of Status
  const std::size_t k = static_cast<std::size_t>(status);
  return k < severities.size() ? severities[k] : 5;
}

void add(const Certificate& part, Certificate& whole) {
  for (const NamedResidual& r : kResiduals) {
    Residual& worst = whole.*r.member;
    worst.raw = std::max(worst.raw, (part.*r.member).raw);
    worst.scaled = std::max(worst.scaled, (part.*r.member).scaled);
  }
  whole.dissipation_angle = std::max(whole.dissipation_angle, part.dissipation_angle);
  whole.energy.kinetic += part.energy.kinetic;
  whole.energy.known += part.energy.known;
  whole.energy.bilateral += part.energy.bilateral;
  whole.energy.bounded += part.energy.bounded;
  whole.energy.contacts += part.energy.contacts;
  whole.energy_change += part.energy_change;
  whole.finite = whole.finite && part.finite;
  whole.velocity_scale = std::max(whole.velocity_scale, part.velocity_scale);
  whole.impulse_scale = std::max(whole.impulse_scale, part.impulse_scale);
}

// Where it has numbers, one per entry or three.
void scatter(const GrowVector& from, const std::vector<int>& which, GrowVector& to) {
  for (Index k = 0; k < from.size(); ++k) to[which[k]] = from[k];
}

void scatter_triples(const GrowVector& from, const std::vector<int>& which, GrowVector& to) {
  for (Index k = 0; 3 * k < from.size(); ++k) to.segment<3>(3 * Index{which[k]}) = from.segment<3>(3 * k);
}

// A ray of one part is one of the whole. That of a part without solution comes first.
void add_ray(const ProblemView& p, const Part& part, InfeasibilityRay& whole) {
  const InfeasibilityRay& ray = part.solution.ray;
  if (ray.impulses.size() + ray.bounded_impulses.size() + ray.prescribed_impulses.size() == 0) return;
  if (whole.impulses.size() + whole.bounded_impulses.size() > 0 && (whole.proof || !ray.proof)) return;
  whole.impulses.setZero(3 * p.contacts());
  whole.bounded_impulses.setZero(p.bounded_rows());
  whole.prescribed_impulses.setZero(static_cast<Index>(p.prescribed.size()));
  scatter_triples(ray.impulses, part.contacts, whole.impulses);
  scatter(ray.bounded_impulses, part.rows, whole.bounded_impulses);
  scatter(ray.prescribed_impulses, part.prescribed, whole.prescribed_impulses);
  whole.work = ray.work;
  whole.proof = ray.proof;
}

// What the parts found before a choice; of those without, their answers.
void put_found_together(const ProblemView& p, const Islands& s, SolveWorkspace& w) {
  const auto chosen = [](const Part& part) { return part.found.size() > 0; };
  if (std::none_of(s.parts.begin(), s.parts.begin() + s.count, chosen)) return;
  w.found.resize(3 * Index{p.contacts()});
  w.found_rows.resize(p.bounded_rows());
  for (int k = 0; k < s.count; ++k) {
    const Part& part = s.parts[k];
    scatter_triples(chosen(part) ? part.found : part.solution.impulses, part.contacts, w.found);
    scatter(chosen(part) ? part.found_rows : part.solution.bounded_impulses, part.rows, w.found_rows);
  }
}

void put_together(const ProblemView& p, const Islands& s, Solution& out) {
  const Index n = p.contacts(), m = p.bounded_rows();
  out.v.resize(p.velocities());
  out.u.resize(3 * n);
  out.impulses.resize(3 * n);
  out.bounded_impulses.resize(m);
  out.prescribed_impulses.resize(static_cast<Index>(p.prescribed.size()));
  out.multipliers.resize(0);
  out.status = Status::solved;
  out.certificate = {};
  out.ray.clear();
  out.iterations = out.fallbacks = 0;
  out.choice_met = true;
  for (int k = 0; k < s.count; ++k) {
    const Part& part = s.parts[k];
    const Solution& from = part.solution;
    for (int b = 0; b < part.problem.M.blocks(); ++b) {
      const int size = part.problem.M.block_size(b);
      out.v.segment(p.M.offset(part.blocks[b]), size) = from.v.segment(part.problem.M.offset(b), size);
    }
    scatter_triples(from.u, part.contacts, out.u);
    scatter_triples(from.impulses, part.contacts, out.impulses);
    scatter(from.bounded_impulses, part.rows, out.bounded_impulses);
    scatter(from.prescribed_impulses, part.prescribed, out.prescribed_impulses);
    if (from.multipliers.size() > 0) {
      if (out.multipliers.size() == 0) out.multipliers.setZero(n + m);
      const Index own = static_cast<Index>(part.contacts.size());
      for (Index i = 0; i < from.multipliers.size(); ++i) {
        const Index to = i < own ? Index{part.contacts[static_cast<int>(i)]} : n + part.rows[static_cast<int>(i - own)];
        out.multipliers[to] = from.multipliers[i];
      }
    }
    if (severity(from.status) > severity(out.status)) out.status = from.status;
    add(from.certificate, out.certificate);
    add_ray(p, part, out.ray);
    out.iterations += from.iterations;
    out.fallbacks += from.fallbacks;
    out.choice_met = out.choice_met && from.choice_met;
  }
}

}  // namespace

void join_blocks(const BlockRows& rows, DisjointSets& sets) {
  for (int g = 0; g < rows.groups(); ++g) {
    for (int e = rows.entry_begin(g) + 1; e < rows.entry_end(g); ++e) sets.join(rows.entry_block(e - 1), rows.entry_block(e));
  }
}

int find_islands(const ProblemView& p, Islands& s) {
  number_parts(p, s);
  if (s.count <= 1) return s.count;
  if (s.parts.size() < static_cast<std::size_t>(s.count)) s.parts.resize(s.count);
  const auto part = [&](int k) -> Part& { return s.parts[k]; };
  for (int k = 0; k < s.count; ++k) {
    for (std::vector<int>* list : {&part(k).blocks, &part(k).contacts, &part(k).rows, &part(k).prescribed}) list->clear();
  }
  for (int b = 0; b < p.M.blocks(); ++b) part(s.part_of[b]).blocks.push_back(b);
  for (int i = 0; i < p.contacts(); ++i) part(part_of(p.J, i, s)).contacts.push_back(i);
  for (int j = 0; j < p.bounded_rows(); ++j) part(part_of(p.J_b, j, s)).rows.push_back(j);
  for (int i = 0; i < static_cast<int>(p.prescribed.size()); ++i) {
    part(s.part_of[inertia_block(p.M, p.prescribed[i])]).prescribed.push_back(i);
  }
  return s.count;
}

bool solve_by_islands(const ProblemView& p, const SolveOptions& options, SolveWorkspace& w, Solution& solution, SolvePart solve_part) {
  if (p.M.blocks() <= 1 || options.solver == Solver::enumerate) return false;
  Islands& s = w.islands;
  if (find_islands(p, s) <= 1) return false;
  if (w.choice.last.size() != 3 * p.contacts()) w.choice.last.resize(0);
  copy_parts(p, s);
  solve_parts(options, w, solve_part);
  // An error names a contact of its part: solved whole, the problem names its own.
  if (std::ranges::any_of(s.parts, [](const Part& part) { return part.error != nullptr; })) return false;
  put_together(p, s, solution);
  put_found_together(p, s, w);
  w.choice.last = solution.impulses;
  w.reduced_whole = false;
  return true;
}

}  // namespace stiction
