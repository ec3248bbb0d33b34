#include "stiction/programs/cone/search.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "stiction/programs/cone/central_path.hpp"
#include "stiction/programs/cone/smoothing_newton.hpp"

namespace stiction {

namespace {

constexpr int kNewtonSteps = 8;  // a right active set takes three, and every change of it one more
// From rest, Newton alone finds the active set of a few contacts nine times out of ten in half the time, and of many hardly ever.
constexpr int kFewContacts = 16;
// Paths of a law that is not monotone turn back where contacts creep, some hundreds of times, and are lost on the way; whether they do is
// the luck of where they begin. So a path that is lost is followed by one from elsewhere: of 14 problems of a dense pile that the first
// does not solve, each of the others solves 8 to 10, all three 13. A width of 2 halves the steps that 1/2 takes where paths are straight;
// wider still, crooked ones are left more often than is saved.
constexpr PathStart kPaths[] = {{1.0, 2.0}, {0.3, 0.5}, {30.0, 0.2}, {3.0, 0.2}};
constexpr int kLongestPath = 500;                // steps; of 467 piles, walls and files the longest that led to a solution took 350
constexpr int kBeyondAcceptable = kLongestPath;  // factorisations that an acceptable point is given to become a solution: of 1000 steps
                                                 // of a robot that creeps 56 need more than 80, and one more than 250
constexpr int kPatience = 16;                    // steps of the smoothing in which |r| halves, or it leads nowhere
constexpr double kPathEnd = 1e-14;               // ν over the size of the problem: rounding
constexpr double kFirstNewton = 1e-6;            // `wide` over the largest velocity from which Newton is tried,
constexpr double kNewtonAgain = 0.1;             // and again whenever it has fallen to this part

// Divisors of the proximal term for wedges: of 40000 steps of boxes that tumble with infinite friction 51 miss the tolerance without them,
// 30 with.
constexpr double kWedges[] = {1e7, 1e5, 1e3};

// Largest free velocity over the contact's own scale (sqrt of an energy).
double problem_size(const ReducedProblem& problem, const ConeMemory& memory) {
  double t = 0.0;
  for (int i = 0; i < problem.contacts(); ++i) {
    Eigen::Vector3d u = problem.u_free.segment<3>(3 * i);
    u[0] += problem.offset[i];
    t = std::max(t, u.lpNorm<Eigen::Infinity>() / memory.path_scale[i]);
  }
  for (int j = 0; j < problem.bounded_rows(); ++j) t = std::max(t, std::abs(problem.w_free[j]) / memory.row_scale[j]);
  return t > 0.0 ? t : 1.0;
}

template <class Cones>
class Search {
 public:
  Search(const ReducedProblem& problem, ConeMemory& memory, Cones& cones) : problem_(problem), m_(memory), cones_(cones) {}

  bool run(bool warm) {
    if (!solve(warm)) return false;
    refine(problem_, m_);
    return true;
  }

 private:
  bool solve(bool warm) {
    if (try_newton(problem_.contacts() <= kFewContacts ? kNewtonSteps : 0)) return true;
    // A start further from the law than the largest velocity leads nowhere.
    if (warm && judge(problem_, m_) <= m_.velocity && smooth()) return true;
    // A convex problem has one path, which does not turn.
    for (const PathStart& start : std::span(kPaths).first(m_.relaxed ? 1 : std::size(kPaths))) {
      if (follow(start)) return true;
      if (over()) return false;
    }
    return false;
  }

  bool over() {
    if (m_.budget <= 0) return true;
    if (m_.best > m_.acceptable) return false;
    if (patience_ < 0) patience_ = m_.budget;
    return patience_ - m_.budget >= kBeyondAcceptable;
  }

  bool is_infinite() const { return !m_.relaxed && std::ranges::find(problem_.mu, kInfinity) != problem_.mu.end(); }

  // Paths of cones that stand for infinite friction circle where loads vanish, and lead no nearer to its law than they are wide.
  double first_newton() const { return (is_infinite() ? 1.0 / kInteriorInfinity : kFirstNewton) * m_.velocity; }

  // Contacts that hold a body between them wedge it by impulses as large as their lever is small, which the proximal term keeps from
  // growing. With next to none the active set is found, with more of it rounding goes.
  bool try_wedges() {
    return is_infinite() && std::ranges::any_of(kWedges, [&](double sharper) { return newton(problem_, m_, kNewtonSteps, sharper); });
  }

  // Newton from the current point, which stays when that fails.
  bool try_newton(int steps = kNewtonSteps) {
    m_.path_lambda = m_.lambda;
    m_.path_beta = m_.beta;
    m_.path_shift = m_.shift;
    if (newton(problem_, m_, steps)) return true;
    m_.lambda = m_.path_lambda;
    m_.beta = m_.path_beta;
    m_.shift = m_.path_shift;
    place(problem_, m_);
    return false;
  }

  // From the warm start.
  bool smooth() {
    SmoothingNewton<Cones> method(problem_, m_, cones_);
    double next_try = first_newton(), wanted = 0.5 * method.error();
    for (int since = 0; since < kPatience && !over() && method.step(); ++since) {
      const double now = judge(problem_, m_);
      record(m_, ConePhase::smoothing, method.nu() * method.nu(), now, method.part());
      if (m_.best <= m_.target) return true;
      if (method.error() < wanted) {
        wanted = 0.5 * method.error();
        since = -1;
      }
      if (m_.wide >= next_try) continue;
      next_try = kNewtonAgain * m_.wide;
      if (try_newton()) return true;
    }
    return false;
  }

  bool follow(const PathStart& start) {
    const double size = problem_size(problem_, m_);
    CentralPath<Cones> path(problem_, m_, cones_, start.size * size, start.width);
    ++m_.paths;
    double next_try = first_newton();
    for (int k = 0; k < kLongestPath; ++k) {
      const double now = judge(problem_, m_);
      record(m_, ConePhase::path, path.nu() * path.nu(), now, path.last_step());
      if (m_.best <= m_.target) return true;
      if (m_.wide < next_try) {
        next_try = kNewtonAgain * m_.wide;
        if (try_newton()) return true;
      }
      if (over() || path.nu() < kPathEnd * size || !path.step()) break;
    }
    return m_.best <= m_.accept || try_newton() || try_wedges();
  }

  const ReducedProblem& problem_;
  ConeMemory& m_;
  Cones& cones_;
  int patience_ = -1;  // budget when a point was acceptable for the first time
};

}  // namespace

bool search(const ReducedProblem& problem, ConeMemory& memory, DiscCones& cones, bool warm) {
  return Search(problem, memory, cones).run(warm);
}

bool search(const ReducedProblem& problem, ConeMemory& memory, PolygonCones& cones, bool warm) {
  return Search(problem, memory, cones).run(warm);
}

}  // namespace stiction
