#include <cmath>

#include <fmt/format.h>

#include "stiction/experiments/classics.hpp"

namespace stiction {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;

// Woodpecker toy: a sleeve with play on a pole, a bird on a spring, three contacts on the pole's right side. Data and a point of the cycle
// of Glocker 1995 (as used by Leine, Glocker and van Campen 2001), whose equations are linear in the angles. Coordinates: height, absolute
// angles of sleeve and bird, positive where the right side goes up.
constexpr double kPole = 0.0025, kHole = 0.0031, kSleeve = 0.0058, kToSpring = 0.010, kToBird = 0.015, kBeakHeight = 0.02,
                 kBeakBack = 0.0201;
constexpr double kSleeveMass = 0.0003, kSleeveInertia = 5e-9, kBirdMass = 0.0045, kBirdInertia = 7e-7, kSpring = 0.0056;
constexpr double kFriction = 0.3, kBeakRestitution = 0.5;
const Vector3d kStart(0.0, -0.1036, -0.2788), kStartVelocity(-0.3411, 0.0, -7.4583);

/// Means over some cycles, each from the bird's angle of the start, going down, to the next; after some that settle the motion on its
/// cycle.
class Cycles {
 public:
  bool done() const { return count_ >= kSettled + kCycles; }
  const std::vector<double>& means() const { return sum_; }
  void add(double time, double h, const Vector3d& q, const Vector3d& v) {
    if (time > 5.0) throw RunFailed(fmt::format("{} cycles in 5 s", count_));
    if (above_ && q[2] < kStart[2]) {
      const double crossed = time - h * (kStart[2] - q[2]) / (last_ - q[2]);
      const std::vector<double> now{v[2], q[1], v[0], crossed - begin_, height_ - q[0]};
      for (std::size_t i = 0; i < now.size() && count_ >= kSettled; ++i) sum_[i] += now[i] / kCycles;
      begin_ = crossed;
      height_ = q[0];
      above_ = false;
      ++count_;
    }
    above_ = above_ || q[2] > 0.0;
    last_ = q[2];
  }

 private:
  static constexpr int kSettled = 10, kCycles = 10;
  std::vector<double> sum_ = std::vector<double>(5, 0.0);
  double last_ = kStart[2], begin_ = 0.0, height_ = 0.0;
  bool above_ = false;
  int count_ = 0;
};

/// The published equations: constant M, gaps and slips linear in the angles; each step's contact problem is solved under law moreau, M,
/// forces and gaps at the midpoint.
std::vector<double> published_model(double h) {
  Eigen::Matrix3d M;
  M << kSleeveMass + kBirdMass, kBirdMass * kToSpring, kBirdMass * kToBird,                                        //
      kBirdMass * kToSpring, kSleeveInertia + kBirdMass * kToSpring * kToSpring, kBirdMass * kToSpring * kToBird,  //
      kBirdMass * kToBird, kBirdMass * kToSpring * kToBird, kBirdInertia + kBirdMass * kToBird * kToBird;
  MatrixXd J = MatrixXd::Zero(9, 3);  // beak, lower and upper corner of the sleeve: normal, tangent up, and one that nothing moves
  J.row(0) << 0.0, 0.0, -kBeakHeight;
  J.row(1) << 1.0, kToSpring, kToBird - kBeakBack;
  J.row(3) << 0.0, kSleeve, 0.0;
  J.row(4) << 1.0, kHole, 0.0;
  J.row(6) << 0.0, -kSleeve, 0.0;
  J.row(7) << 1.0, kHole, 0.0;
  const Vector3d open(kToSpring + kToBird - kBeakBack - kPole, kHole - kPole, kHole - kPole);
  Vector3d q = kStart, v = kStartVelocity;
  SolveOptions options;
  options.law = Law::moreau;
  Cycles cycles;
  for (long k = 1; !cycles.done(); ++k) {
    const Vector3d middle = q + 0.5 * h * v;
    const double twist = kSpring * (middle[1] - middle[2]);
    ContactProblem problem = make_contact_problem(M, v, J, Vector3d::Constant(kFriction), h);
    problem.impulse = -h * Vector3d((kSleeveMass + kBirdMass) * kGravity, kBirdMass * kGravity * kToSpring + twist,
                                    kBirdMass * kGravity * kToBird - twist);
    problem.restitution = Vector3d(kBeakRestitution, 0.0, 0.0);
    for (int i = 0; i < 3; ++i) problem.gap[i] = open[i] + J.row(3 * i).dot(q);
    const Solution solution = solve(problem, options);
    if (solution.status != Status::solved) throw RunFailed(fmt::format("refused at {:.4g} s: {}", k * h, to_string(solution.status)));
    v = solution.v;
    q = middle + 0.5 * h * v;
    cycles.add(k * h, h, q, v);
  }
  return cycles.means();
}

/// The same toy as bodies and shapes.
std::vector<double> geometry(double h) {
  const double ball = 1e-5;  // m: corners are the leftmost points of small balls
  WorldBuilder builder;
  builder.add_static_body(plane("pole", Vector3d::UnitX(), Vector3d(kPole, 0.0, 0.0)));
  add_mjcf(
      builder,
      fmt::format(
          R"(<default><geom type="sphere" size="{0}"/></default><worldbody><body name="sleeve"><joint name="y" type="slide" axis="0 0 1"/>
      <joint name="sleeve" axis="0 -1 0"/><inertial pos="0 0 0" mass="{1}" diaginertia="{2} {2} {2}"/>
      <geom pos="{3} 0 -{4}"/><geom pos="{3} 0 {4}"/>
      <body name="bird" pos="{5} 0 0"><joint name="bird" axis="0 -1 0" stiffness="{6}"/>
        <inertial pos="{7} 0 0" mass="{8}" diaginertia="{9} {9} {9}"/><geom pos="{10} 0 {11}"/></body></body></worldbody>)",
          ball, kSleeveMass, kSleeveInertia, kHole + ball, kSleeve, kToSpring, kSpring, kToBird, kBirdMass, kBirdInertia,
          kToBird - kBeakBack + ball, kBeakHeight));
  const World world = builder.build();
  StepOptions options = step_options({.law = Law::moreau, .h = h, .mu = kFriction, .scheme = Scheme::moreau_midpoint});
  PairMaterial beak;
  beak.body_a = world.body("bird");
  beak.body_b = kAnyBody;
  beak.restitution = kBeakRestitution;
  options.assemble.pairs.push_back(beak);
  Run run(world, options, 0.0);
  run.state.q << kStart[0], kStart[1], kStart[2] - kStart[1];
  run.state.v << kStartVelocity[0], kStartVelocity[1], kStartVelocity[2] - kStartVelocity[1];
  Cycles cycles;
  while (!cycles.done()) {
    run.step();
    const Eigen::VectorXd &q = run.state.q, &v = run.state.v;
    cycles.add(run.state.time, h, Vector3d(q[0], q[1], q[1] + q[2]), Vector3d(v[0], v[1], v[1] + v[2]));
  }
  return cycles.means();
}

}  // namespace

void add_classics_woodpecker(ExperimentReport& report) {
  constexpr double kShare = 0.1;  // of the report's steps: the beak's blow takes 10 ms
  const auto quantities = [](const std::string& note) {
    return std::vector<Quantity>{{"bird's angular velocity", "rad/s", kStartVelocity[2], note, Reference::published},
                                 {"sleeve's angle", "rad", kStart[1], "", Reference::published},
                                 {"falls at", "m/s", kStartVelocity[0], "", Reference::published},
                                 {"period", "s", 0.0, "", Reference::none},
                                 {"falls per cycle", "m", 0.0, "", Reference::none}};
  };
  add_runs(report, "woodpecker toy, limit cycle", "published equations",
           quantities("law moreau, a tenth of the step; at the published angle of the bird, going down"),
           [](double h) { return published_model(kShare * h); });
  add_runs(report, "woodpecker toy, limit cycle", "bodies and shapes",
           quantities("the same; sines and cosines where the paper is linear in angles"), [](double h) { return geometry(kShare * h); });
}

}  // namespace stiction
