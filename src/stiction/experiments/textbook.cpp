#include "stiction/experiments/textbook.hpp"

#include <cmath>

#include "stiction/assemble/equality_rows.hpp"
#include "stiction/base/least_norm.hpp"
#include "stiction/experiments/small_world.hpp"
#include "stiction/inverse/inverse_dynamics.hpp"
#include "stiction/model/equality_error.hpp"

namespace stiction {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr const char* kTextbookLegend =
    "reference: the closed form of [T-UA] at the data of the example. error: relative; absolute, with its unit, where the reference is 0. "
    "Rows\n"
    "with one error are one solve, in which the step length plays no part. order: of the error in the step length, where it is above "
    "1e-9,\n"
    "the tolerance of the solves.";

// --- Double pendulum: two point masses, angles from hanging down.
constexpr double kMass1 = 1.3, kMass2 = 0.7, kLength1 = 0.8, kLength2 = 0.5;

World double_pendulum() {
  WorldBuilder builder;
  add_mjcf(builder, R"(<default><joint axis="0 -1 0"/></default><worldbody>
    <body name="upper"><joint name="q1"/><inertial pos="0 0 -0.8" mass="1.3" diaginertia="1e-15 1e-15 1e-15"/>
      <body name="lower" pos="0 0 -0.8"><joint name="q2"/><inertial pos="0 0 -0.5" mass="0.7" diaginertia="1e-15 1e-15 1e-15"/></body></body>
    </worldbody>)");
  return builder.build();
}

/// M and tau_g - C q̇ of the text.
void manipulator(const Vector2d& q, const Vector2d& v, Matrix2d& M, Vector2d& force) {
  const double c2 = std::cos(q[1]), s2 = std::sin(q[1]), coupled = kMass2 * kLength1 * kLength2, own = kMass2 * kLength2 * kLength2;
  const double lower_weight = kMass2 * kGravity * kLength2 * std::sin(q[0] + q[1]);
  M << (kMass1 + kMass2) * kLength1 * kLength1 + own + 2.0 * coupled * c2, own + coupled * c2, own + coupled * c2, own;
  force << coupled * (2.0 * v[0] + v[1]) * v[1] * s2 - (kMass1 + kMass2) * kLength1 * kGravity * std::sin(q[0]) - lower_weight,
      -coupled * v[0] * v[0] * s2 - lower_weight;
}

void add_double_pendulum(ExperimentReport& report) {
  const Vector2d q(0.7, -1.1), v(1.5, -2.0), torque(0.4, -0.3);
  Matrix2d M;
  Vector2d force;
  manipulator(q, v, M, force);
  const Vector2d a = M.ldlt().solve(force + torque);
  add_solve(report, "double pendulum", "one step", {{"acceleration, upper", "rad/s²", a[0]}, {"acceleration, lower", "rad/s²", a[1]}}, [&] {
    Run run(double_pendulum(), {});
    run.state.q = q;
    run.state.v = v;
    run.step(torque);
    return std::vector<double>{(run.state.v[0] - v[0]) / run.h(), (run.state.v[1] - v[1]) / run.h()};
  });

  // The upper joint is driven: q̇1 shall be w after the step.
  const double h = 1e-3, w = 1.2, a1 = (w - v[0]) / h;
  const double a2 = (force[1] - M(1, 0) * a1) / M(1, 1);
  const double driven = M(0, 0) * a1 + M(0, 1) * a2 - force[0];
  add_solve(report, "driven joint (velocity constraint)", "inverse dynamics",
            {{"torque on it", "N m", driven}, {"acceleration, lower", "rad/s²", a2}}, [&] {
              Run run(double_pendulum(), {.h = h});
              Stepper stepper = run.stepper();
              run.state.q = q;
              run.state.v = v;
              stepper.prepare(run.state, Vector2d::Zero());
              const std::vector<int> joints{0};
              const InverseSolution solution = inverse_dynamics(stepper.problem(), joints, vector({w}));
              if (solution.status != Status::solved) throw RunFailed(std::string(to_string(solution.status)));
              return std::vector<double>{solution.tau[0], (solution.v[1] - v[1]) / h};
            });
}

// --- Four-bar linkage: a crank of 1 m, a coupler of 2 m and a rocker from (1.4, 0) to the coupler's end, planes x and z; it starts with
// the crank hanging down and the coupler level, and swings.
constexpr double kCrankMass = 1.0, kCoupler = 2.0, kCouplerMass = 3.0, kCouplerInertia = 1.0, kCrankInertia = 1.0 / 3.0;
const Vector2d kRocker(0.6, -1.0);  // from the rocker's pivot to the joint with the coupler

World four_bar() {
  WorldBuilder builder;
  add_mjcf(builder, R"(<default><joint axis="0 1 0"/></default><worldbody>
    <body name="crank"><joint name="q1"/><inertial pos="0 0 -0.5" mass="1" diaginertia="0.0833333333333333333 0.0833333333333333333 1e-9"/>
      <body name="coupler" pos="0 0 -1"><joint name="q2"/><inertial pos="1 0 0" mass="3" diaginertia="1e-9 1 1"/></body></body>
    <body name="rocker" pos="1.4 0 0"><joint name="q3"/><inertial pos="0 0 -0.5" mass="1" diaginertia="0.0833333333333333333 0.0833333333333333333 1e-9"/></body>
    </worldbody><equality><connect body1="coupler" body2="rocker" anchor="2 0 0"/></equality>)");
  return builder.build();
}

/// A vector of the plane turned about +y by an angle, and its derivatives with respect to it.
struct Turned {
  Vector2d value, first, second;
  Turned(double angle, const Vector2d& v) {
    const double c = std::cos(angle), s = std::sin(angle);
    value << c * v.x() + s * v.y(), -s * v.x() + c * v.y();
    first << value.y(), -value.x();
    second = -value;
  }
};

/// The linkage as the text has it: H = ∂h/∂q, h the distance between the coupler's end and the rocker's (rows x, y, z), Ḣ q̇, M and the
/// forces of gravity and velocity, in closed form.
struct FourBar {
  MatrixXd H = MatrixXd::Zero(3, 3), M = MatrixXd::Zero(3, 3);
  Vector3d turning = Vector3d::Zero(), force = Vector3d::Zero();

  FourBar(const Vector3d& q, const Vector3d& v) {
    const double va = v[0], vb = v[0] + v[1], vc = v[2];
    const Turned a(q[0], -Vector2d::UnitY()), b(q[0] + q[1], Vector2d::UnitX()), c(q[2], kRocker), hanging(q[2], -Vector2d::UnitY());
    const auto set = [&](int column, const Vector2d& d) {
      H(0, column) = d.x();
      H(2, column) = d.y();
    };
    set(0, a.first + kCoupler * b.first);
    set(1, kCoupler * b.first);
    set(2, -c.first);
    const Vector2d turn = va * va * a.second + kCoupler * vb * vb * b.second - vc * vc * c.second;
    turning << turn.x(), 0.0, turn.y();
    MatrixXd J(2, 3);  // of the coupler's centre, 1 m along it
    J << a.first + b.first, b.first, Vector2d::Zero();
    const Vector3d rows(1.0, 1.0, 0.0);  // its angular velocity
    M = kCouplerMass * J.transpose() * J + kCouplerInertia * rows * rows.transpose();
    M(0, 0) += kCrankInertia;
    M(2, 2) += kCrankInertia;
    const Vector2d fall(0.0, -kGravity), centripetal = va * va * a.second + vb * vb * b.second;
    force = kCouplerMass * J.transpose() * (fall - centripetal);
    force[0] += 0.5 * kCrankMass * fall.dot(a.first);
    force[2] += 0.5 * kCrankMass * fall.dot(hanging.first);
  }
  Vector3d free() const { return M.ldlt().solve(force); }
  /// λ = -(H M⁻¹ Hᵀ)⁺ (H M⁻¹ tau + Ḣ q̇)
  Vector3d loop_force() const {
    const MatrixXd G = H * M.ldlt().solve(H.transpose());
    const VectorXd closing = H * free() + turning;
    return -least_norm_solution(G, closing);
  }
  Vector3d acceleration() const { return M.ldlt().solve(force + H.transpose() * loop_force()); }
  /// What Gauss's principle makes least: (a - a_free)ᵀ M (a - a_free) / 2.
  double deviation(const Vector3d& a) const { return 0.5 * (a - free()).dot(M * (a - free())); }
};

/// Force of the three rows of the loop in the last step (N).
Vector3d loop_force(const Run& run) { return run.solution().bounded_impulses.head<3>() / run.h(); }

double loop_error(const Run& run) {
  WorldData data(run.world());
  update_kinematics(run.world(), run.state.q, data);
  return equality_error(run.world(), data, run.world().equalities().front(), run.state.q).position.norm();
}

void add_four_bar(ExperimentReport& report) {
  const FourBar rest(Vector3d::Zero(), Vector3d::Zero());
  const Vector3d a = rest.acceleration(), force = rest.loop_force();
  add_solve(report, "four-bar linkage at rest", "pseudo-inverse",
            {{"acceleration, crank", "rad/s²", a[0]},
             {"acceleration, coupler", "rad/s²", a[1]},
             {"loop force, x", "N", force.x()},
             {"loop force, y", "N", force.y(), "redundant row: least norm leaves it 0"},
             {"loop force, z", "N", force.z()}},
            [] {
              Run run(four_bar(), {});
              run.step();
              const Vector3d ours = loop_force(run);
              return std::vector<double>{run.state.v[0] / run.h(), run.state.v[1] / run.h(), ours.x(), ours.y(), ours.z()};
            });
  const std::string note = "against the formula at the run's own state";
  add_runs(report, "four-bar linkage swinging", "closed by b = -h(q)/dt",
           {{"loop force, x: share off after 0.5 s", "", 0.0, note},
            {"loop force, z: share off after 0.5 s", "", 0.0, note},
            {"loop error, worst of 10 s", "m", 0.0, "no drift: all of it is closed in the next step"}},
           [&](double h) {
             Run run(four_bar(), {.h = h});
             run.until(0.5);
             const Vector3d expected = FourBar(run.state.q, run.state.v).loop_force();
             run.step();
             const Vector3d off = loop_force(run) - expected;
             double worst = 0.0;
             while (run.state.time < 10.0) {
               run.step();
               worst = std::max(worst, loop_error(run));
             }
             return std::vector<double>{off.x() / expected.x(), off.z() / expected.z(), worst};
           });
}

/// The deviation, and that it is the least: its slope along the motion that the loop allows is 0, and it rises as the square of a step.
void add_gauss(ExperimentReport& report) {
  const FourBar bar(Vector3d::Zero(), Vector3d::Zero());
  const Vector3d motion = bar.acceleration().normalized();  // from rest, the one that the loop allows
  add_solve(
      report, "Gauss's principle, four-bar linkage", "one step",
      {{"deviation (a - a_free)ᵀM(a - a_free)/2", "N²/kg", bar.deviation(bar.acceleration())},
       {"its slope along the free motion", "N m", 0.0},
       {"its rise at 1 % more acceleration", "N²/kg", 0.5e-4 * bar.acceleration().dot(bar.M * bar.acceleration())}},
      [&] {
        Run run(four_bar(), {});
        run.step();
        const Vector3d a = run.state.v / run.h();
        return std::vector<double>{bar.deviation(a), motion.dot(bar.M * (a - bar.free())), bar.deviation(1.01 * a) - bar.deviation(a)};
      });
}

}  // namespace

void add_textbook_mechanisms(ExperimentReport& report) {
  add_double_pendulum(report);
  add_four_bar(report);
  add_gauss(report);
}

ExperimentReport run_textbook(const ExperimentOptions& /*options*/) {
  ExperimentReport report;
  report.steps = {4e-3, 2e-3, 1e-3};
  report.legend = kTextbookLegend;
  add_textbook_mechanisms(report);
  add_textbook_impacts(report);
  add_textbook_programs(report);
  return report;
}

}  // namespace stiction
