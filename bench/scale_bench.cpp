// Time against the number of contacts N, for every law under its default solver: inverse dynamics of a robot on flat feet (6 free
// velocities whatever N), its forward dynamics (18), and a wall of bricks (6 per brick, 4 contacts each). Cold, from M and J to the
// certificate. Prints the exponent e of time ~ N^e, fitted by least squares to the logarithms from 64 contacts on. Then what `reduce` takes
// per contact of walls of 100, 1000 and 10000 bricks, loose or joined in pairs by a bilateral row: linear means that it stays.
//
// scale_bench [LARGEST N] [SECONDS PER ROW]: sizes are 16, 64, ... up to LARGEST (4096). A row stops where the next size would take
// longer than its seconds (4), if time grew at least with the cube of N.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/generated_problems.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/laws/solve.hpp"

namespace stiction::bench {
namespace {

enum class Kind { inverse, forward, wall };

const char* name_of(Kind kind) {
  return kind == Kind::inverse ? "inverse r=6" : kind == Kind::forward ? "forward r=18" : "wall r=6 bodies";
}

ContactProblem make_problem(Kind kind, int n, int seed) {
  std::mt19937_64 rng(static_cast<std::uint64_t>(1000 * n + seed));
  ContactProblem p = kind == Kind::wall ? brick_wall(n / 4, 10.0, rng) : standing_robot(n, kind == Kind::inverse, rng);
  ContactMaterial material;  // what the laws with parameters read
  material.viscosity = 50.0;
  material.stiffness = material.stiffness_tangential = 1e6;
  material.damping = material.damping_tangential = 1e2;
  material.dissipation = 1.0;
  material.dissipation_time = 1e-3;
  material.regularization = 1e-4;
  p.material.assign(n, material);
  return p;
}

struct Point {
  int n;
  double microseconds;
};

struct Row {
  std::vector<Point> points;
  int solved = 0, tried = 0;
  double worst = 0.0;
  std::string refusal;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Median over a few problems, each repeated while that is cheap.
Point measure(Law law, Kind kind, int n, Row& row) {
  SolveOptions options;
  options.law = law;
  options.warm_start = false;
  SolveWorkspace workspace;
  Solution solution;
  std::vector<double> times;
  const auto begin = std::chrono::steady_clock::now();
  for (int seed = 0; seed < 5 && (seed == 0 || seconds_since(begin) < 0.3); ++seed) {
    const ContactProblem problem = make_problem(kind, n, seed);
    const auto start = std::chrono::steady_clock::now();
    solve(problem, options, workspace, solution);
    double best = seconds_since(start);
    for (int k = 0; k < 3 && best < 0.03; ++k) {
      const auto again = std::chrono::steady_clock::now();
      solve(problem, options, workspace, solution);
      best = std::min(best, seconds_since(again));
    }
    times.push_back(best);
    ++row.tried;
    row.solved += solution.status == Status::solved;
    row.worst = std::max(row.worst, solution.certificate.worst());
  }
  std::ranges::sort(times);
  return {n, 1e6 * times[times.size() / 2]};
}

Row run(Law law, Kind kind, int largest, double seconds) {
  Row row;
  try {
    for (int n = 16; n <= largest; n *= 4) {
      if (!row.points.empty() && 64e-6 * row.points.back().microseconds > seconds) break;
      row.points.push_back(measure(law, kind, n, row));
    }
  } catch (const InvalidArgument& error) {
    row.refusal = error.what();
  }
  return row;
}

/// NaN below two points.
double fitted_exponent(const std::vector<Point>& points) {
  double count = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (const Point& p : points) {
    if (p.n < 64) continue;
    const double a = std::log(p.n), b = std::log(p.microseconds);
    count += 1.0;
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
  }
  return (count * xy - x * y) / (count * xx - x * x);
}

void print(Law law, Kind kind, const Row& row, int largest) {
  fmt::print("{:<21} {:<16}", to_string(law), name_of(kind));
  for (int n = 16; n <= largest; n *= 4) {
    const auto found = std::ranges::find(row.points, n, &Point::n);
    fmt::print(" {:>10}", found == row.points.end() ? "-" : fmt::format("{:.1f}", found->microseconds));
  }
  const double exponent = fitted_exponent(row.points);
  fmt::print(" {:>8} {:>9} {:>9.1e} {}\n", std::isfinite(exponent) ? fmt::format("{:.2f}", exponent) : "-",
             fmt::format("{}/{}", row.solved, row.tried), row.worst, row.refusal);
  std::fflush(stdout);
}

/// Each brick of an even number held by one bilateral row to the next.
void join_pairs(ContactProblem& p) {
  for (int k = 0; k + 1 < p.M.blocks(); k += 2) {
    p.J_b.add_group();
    for (const int body : {k, k + 1}) p.J_b.add_entry(body).setConstant(body == k ? 1.0 : -1.0);
  }
  const int rows = p.bounded_rows();
  p.b.setZero(rows);
  p.hi = Eigen::VectorXd::Constant(rows, kInfinity);
  p.lo = -p.hi;
}

/// Nanoseconds per contact, the best of a few.
double measure_reduce(int bodies, bool joined) {
  std::mt19937_64 rng(static_cast<std::uint64_t>(bodies));
  ContactProblem p = brick_wall(bodies, 10.0, rng);
  if (joined) join_pairs(p);
  Reduction reduction;
  double best = kInfinity;
  for (int k = 0; k < 20; ++k) {
    const auto start = std::chrono::steady_clock::now();
    reduce(p, reduction);
    best = std::min(best, seconds_since(start));
  }
  return 1e9 * best / p.contacts();
}

void print_reduce() {
  for (const bool joined : {false, true}) {
    fmt::print("reduce, ns per contact, {:<16}", joined ? "joined in pairs" : "loose");
    for (const int bodies : {100, 1000, 10000}) fmt::print(" {:>10}", fmt::format("{}: {:.0f}", bodies, measure_reduce(bodies, joined)));
    fmt::print("\n");
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace stiction::bench

int main(int argc, char** argv) {
  using namespace stiction;
  using namespace stiction::bench;
  const int largest = argc > 1 ? std::atoi(argv[1]) : 4096;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 4.0;
  fmt::print("{:<21} {:<16}", "law (microseconds)", "problem");
  for (int n = 16; n <= largest; n *= 4) fmt::print(" {:>10}", fmt::format("N={}", n));
  fmt::print(" {:>8} {:>9} {:>9}\n", "exponent", "solved", "residual");
  for (const Law law : kLaws) {
    if (!can_solve(law, Solver::automatic)) continue;
    for (const Kind kind : {Kind::inverse, Kind::forward, Kind::wall}) print(law, kind, run(law, kind, largest, seconds), largest);
  }
  print_reduce();
  return 0;
}
