#include "stiction/programs/cone/search.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "stiction/programs/cone/interior.hpp"

namespace stiction {

namespace {

// How the interior phase is started. Steps that stay short mean that the path of centres turns back: it is then followed through its
// turns, and where that fails the other starts are tried.
struct Start {
  double size;      // of the first impulses, over the natural one
  double coupling;  // > 0: the relaxation's coupling κ = μ (m / m_0)^coupling fades out on the way; 0: the law's own from the beginning
};
// In the order of what each solves of the problems that the first one leaves (1 in 100): a fading coupling serves one body on many
// points, whose motion hangs on how they share the load; large first impulses serve stacks, where the coupling only lifts every contact.
constexpr Start kOneBody[] = {{0.3, 0.0}, {0.1, 1.0},  {1.0, 0.25}, {1.0, 0.5}, {10.0, 0.0},
                              {0.1, 0.5}, {30.0, 0.0}, {1.0, 0.0},  {0.1, 0.0}, {100.0, 0.0}};
constexpr Start kStack[] = {{0.3, 0.0}, {10.0, 0.0}, {1.0, 0.0},   {100.0, 0.0},  {30.0, 0.0}, {3.0, 0.0},
                            {0.1, 0.0}, {1.0, 0.5},  {300.0, 0.0}, {1000.0, 0.0}, {0.1, 1.0},  {1.0, 0.25}};
constexpr int kMaxShort = 5;           // short steps before a start is given up
constexpr int kMaxSteps = 60;          // of the interior point per start
constexpr double kStalled = 1e-6;      // step length at which it has stalled
constexpr double kFirstPolish = 1e-6;  // m / t² at which the pattern is first tried
constexpr double kPolishAgain = 1e-3;  // and again whenever m has fallen by this
constexpr double kPathStart = 10.0;    // of the first impulses, over the natural one, where the path is followed
constexpr int kMaxPathSteps = 1000;
// m / t² of the first impulses: contacts that carry and slip next to nothing are apart by the square root of it, 1e-10 of the velocities.
constexpr double kPathEnd = 1e-22;
constexpr int kPaths = 3;           // with other weights each: where one ends in rounding or in a knot, another passes
constexpr int kStuck = 60;          // steps in succession that end at the boundary however short: off the path, or led by rounding
constexpr double kNearAgain = 0.1;  // as kPolishAgain, near a solution
constexpr double kNear = 1e-3;      // natural map over the largest velocity from which the slower polish is tried
constexpr int kSettleSteps = 60;    // of it
constexpr int kFewContacts = 16;
constexpr int kRounds = 60;  // of the fixed point

// Largest free velocity over the contact's own scale (sqrt of an energy).
double start_size(const ReducedProblem& problem, const ConeMemory& memory) {
  double t = 0.0;
  for (int i = 0; i < problem.contacts(); ++i) {
    Eigen::Vector3d u = problem.u_free.segment<3>(3 * i);
    u[0] += problem.offset[i];
    t = std::max(t, u.lpNorm<Eigen::Infinity>() / memory.start_scale[i]);
  }
  for (int j = 0; j < problem.bounded_rows(); ++j) t = std::max(t, std::abs(problem.w_free[j]) / memory.row_scale[j]);
  return t > 0.0 ? t : 1.0;
}

// The polish from an interior point of mean product m, which stays when that fails; `next` becomes the m of the next try.
bool try_pattern(const ReducedProblem& problem, ConeMemory& memory, double mean, double& next) {
  next = kPolishAgain * mean;
  hold(memory);
  if (polish(problem, memory, 8)) return true;
  resume(problem, memory);
  return false;
}

template <class Cones>
bool attempt(const ReducedProblem& problem, ConeMemory& memory, Cones& cones, double t, const Start& how) {
  Interior<Cones> interior(problem, memory, cones);
  t *= how.size;
  cones.weigh(0);
  if (problem.defect.size() > 0) update_shift(problem, memory.best_lambda, memory);
  interior.start(t);
  const bool fade = !memory.relaxed && how.coupling > 0.0;
  cones.couple(memory.relaxed || fade ? 1.0 : 0.0);
  double next_polish = kFirstPolish * t * t;
  int short_steps = 0;
  for (int k = 0; k < kMaxSteps && memory.budget > 0; ++k) {
    if (fade) cones.couple(std::clamp(std::pow(interior.mean() / (t * t), how.coupling), 0.0, 1.0));
    const double length = interior.step();
    if (length < kShortStep) ++short_steps;
    const bool over = length < kStalled || !(interior.mean() > 0.0) || short_steps >= kMaxShort;
    if (!over && interior.mean() > next_polish) continue;
    if (try_pattern(problem, memory, interior.mean(), next_polish)) return true;
    if (over) break;
  }
  return memory.convex() && proximal_newton(problem, memory);
}

// `try_pattern`, and near a solution the slower polish too.
bool try_pattern_twice(const ReducedProblem& problem, ConeMemory& memory, double mean, double& next) {
  if (try_pattern(problem, memory, mean, next)) return true;
  if (memory.budget <= 0 || evaluate(problem, memory) > kNear * memory.velocity) return false;
  next = kNearAgain * mean;
  if (settle(problem, memory, kSettleSteps)) return true;
  memory.lambda = memory.best_lambda;
  memory.beta = memory.best_beta;
  if (polish(problem, memory, 8)) return true;
  resume(problem, memory);
  return false;
}

// Follows the path of centres with these weights through its turns: twice the steps of `attempt`, and next to never in vain.
template <class Cones>
bool follow_path(const ReducedProblem& problem, ConeMemory& memory, Cones& cones, double t, int path) {
  Interior<Cones> interior(problem, memory, cones);
  if (problem.defect.size() > 0) update_shift(problem, memory.best_lambda, memory);
  interior.start(t);
  cones.couple(0.0);
  cones.weigh(path);
  double next_polish = kFirstPolish * t * t, reach = 1.0;
  int stuck = 0;
  for (int k = 0; k < kMaxPathSteps && memory.budget > 0; ++k) {
    const double length = interior.follow(reach);
    stuck = length < kSureStep ? stuck + 1 : 0;
    const bool over = length < kStalled || !(interior.mean() > kPathEnd * t * t) || stuck == kStuck;
    if (!over && interior.mean() > next_polish) continue;
    if (try_pattern_twice(problem, memory, interior.mean(), next_polish)) return true;
    if (over) break;
  }
  return false;
}

// Solves the convex problem with the offsets of the memory, from the current impulses when `warm`.
template <class Cones>
void solve_lagged(const ReducedProblem& problem, ConeMemory& memory, Cones& cones, double t, bool warm) {
  if (warm && polish(problem, memory, 6)) return;
  Interior<Cones> interior(problem, memory, cones);
  cones.couple(1.0);
  cones.weigh(0);
  interior.start(t);
  while (memory.budget > 0 && interior.mean() > 1e-9 * t * t) {
    if (interior.step() < kStalled) break;
  }
  if (!polish(problem, memory, 6)) proximal_newton(problem, memory);
}

// Fixed point on s: every round solves the convex problem in which μ s of the last point has moved the offsets [De Saxce and Feng 1998;
// Acary, Cadoux, Lemarechal and Malick 2011], then tries the exact polish.
template <class Cones>
bool fixed_point(const ReducedProblem& problem, ConeMemory& memory, Cones& cones, double t) {
  bool solved = false;
  for (int round = 0; round < kRounds && memory.budget > 0 && !solved; ++round) {
    memory.lagged = true;
    solve_lagged(problem, memory, cones, t, round > 0);
    hold(memory);
    memory.lagged = false;
    memory.offset = problem.offset;
    solved = polish(problem, memory, 4);
    resume(problem, memory);
    for (int i = 0; i < problem.contacts(); ++i) {
      memory.offset[i] = problem.offset[i] + std::min(problem.mu[i], kInteriorInfinity) * memory.shape.slip(memory.u.segment<2>(3 * i + 1));
    }
  }
  memory.offset = problem.offset;
  return solved;
}

std::span<const Start> starts(const ReducedProblem& problem) {
  return problem.Rt.blocks() > 1 || problem.delassus.groups() > 0 ? std::span<const Start>(kStack) : std::span<const Start>(kOneBody);
}

template <class Cones>
bool search_in_order(const ReducedProblem& problem, ConeMemory& memory, Cones& cones, bool warm) {
  // From rest, Newton alone finds the pattern of a few contacts nine times out of ten in half the time, and of many hardly ever. What a
  // warm start leaves open goes the way of a cold one from here on: it costs its own polish and no more.
  if (warm) {
    if (polish(problem, memory, 8)) return true;
    memory.lambda.setZero();
    memory.beta.setZero();
  }
  if (polish(problem, memory, problem.contacts() <= kFewContacts ? 8 : 0)) return true;
  const double t = start_size(problem, memory);
  const std::span<const Start> all = starts(problem);
  if (attempt(problem, memory, cones, t, all.front())) return true;
  for (int path = 0; !memory.relaxed && path < kPaths; ++path) {
    if (follow_path(problem, memory, cones, kPathStart * t, path)) return true;
  }
  for (const Start& how : all.subspan(1)) {
    if (memory.relaxed && how.coupling > 0.0) continue;
    if (attempt(problem, memory, cones, t, how)) return true;
  }
  if (memory.relaxed) return false;
  if (fixed_point(problem, memory, cones, t)) return true;
  memory.lambda = memory.best_lambda;
  memory.beta = memory.best_beta;
  place(problem, memory);
  return proximal_newton(problem, memory);
}

}  // namespace

bool search(const ReducedProblem& problem, ConeMemory& memory, DiscCones& cones, bool warm) {
  return search_in_order(problem, memory, cones, warm);
}

bool search(const ReducedProblem& problem, ConeMemory& memory, PolygonCones& cones, bool warm) {
  return search_in_order(problem, memory, cones, warm);
}

}  // namespace stiction
