// The biped of the inverse-dynamics benchmark: Talos' legs (18 velocities, 12 driven) standing with N contact points on its soles.
#pragma once

#include <fstream>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "stiction/assemble/assemble.hpp"
#include "stiction/laws/solve.hpp"
#include "test_paths.hpp"

namespace stiction::bench {

/// Talos with every joint but the legs' fixed.
inline std::string talos_legs_urdf() {
  std::ifstream file(EXAMPLE_ROBOT_DATA "/talos_data/robots/talos_reduced.urdf");
  std::stringstream text;
  text << file.rdbuf();
  std::string urdf = text.str();
  const std::regex joint("<joint name=\"(?!leg_)([^\"]*)\" type=\"(revolute|continuous|prismatic)\"");
  return std::regex_replace(urdf, joint, "<joint name=\"$1\" type=\"fixed\"");
}

/// Inverse-dynamics problems 2 ms apart along a slow motion: contact problem without torques, and desired joint velocities.
struct BipedProblem {
  ContactProblem problem;
  Eigen::VectorXd v_desired;
};

struct Biped {
  World world;
  std::vector<int> joints;
  std::vector<BipedProblem> problems;
};

inline std::vector<Eigen::Vector3d> sole_points(int count) {
  std::vector<Eigen::Vector3d> points;
  const int columns = count <= 2 ? 1 : 2 * static_cast<int>(std::lround(std::sqrt(count / 4.0))),
            rows = (count + columns - 1) / std::max(1, columns);
  for (int i = 0; i < count; ++i) {
    const int r = i / columns, c = i % columns;
    points.emplace_back(rows > 1 ? -0.1 + 0.2 * r / (rows - 1) : 0.0, columns > 1 ? -0.06 + 0.12 * c / (columns - 1) : 0.0, 0.0);
  }
  return points;
}

/// Joint velocities that planted feet can follow: those of a no-slip step under these torques.
inline void set_reachable_desire(BipedProblem& p, const std::vector<int>& joints, const Eigen::VectorXd& torques) {
  ContactProblem forward = p.problem;
  for (std::size_t i = 0; i < joints.size(); ++i) forward.impulse[joints[i]] += forward.dt * torques[static_cast<Eigen::Index>(i)];
  SolveOptions no_slip;
  no_slip.law = Law::no_slip;
  const Solution solution = solve(forward, no_slip);
  p.v_desired.resize(static_cast<Eigen::Index>(joints.size()));
  for (std::size_t i = 0; i < joints.size(); ++i) p.v_desired[static_cast<Eigen::Index>(i)] = solution.v[joints[i]];
}

inline Biped make_biped(int contacts, double mu, int count, double dt = 1e-3) {
  WorldBuilder builder;
  RobotOptions options;
  options.base = BaseKind::floating;
  options.package_dirs = {EXAMPLE_ROBOT_DATA "/../.."};
  builder.add_robot_text(talos_legs_urdf(), options);
  Biped biped{builder.build(), {}, {}};
  const World& world = biped.world;
  biped.joints.assign(world.actuated().begin(), world.actuated().end());
  Eigen::VectorXd q = neutral(world), v = Eigen::VectorXd::Zero(world.nv());
  for (const char* side : {"left", "right"}) {
    const double bend[3] = {-0.4, 0.8, -0.4};
    for (int k = 0; k < 3; ++k)
      q[world.joints()[world.joint("leg_" + std::string(side) + "_" + std::to_string(k + 3) + "_joint")].q] = bend[k];
  }
  std::mt19937 rng(1);
  std::normal_distribution<double> normal;
  WorldData data(world);
  const Eigen::VectorXd sway = Eigen::VectorXd::NullaryExpr(world.nv(), [&] { return 0.02 * normal(rng); });
  const Eigen::VectorXd torques =
      Eigen::VectorXd::NullaryExpr(static_cast<Eigen::Index>(biped.joints.size()), [&] { return 5.0 * normal(rng); });
  for (int k = 0; k < count; ++k) {
    const double phase = 2.0 * EIGEN_PI * k / count;
    v = std::cos(phase) * sway;
    update(world, q, v, data);
    std::vector<ContactPoint> points;
    for (int foot = 0; foot < 2; ++foot) {
      const int link = world.link(foot == 0 ? "left_sole_link" : "right_sole_link");
      const Eigen::Isometry3d X = link_pose(world, data, link);
      for (const Eigen::Vector3d& p : sole_points((contacts + 1 - foot) / 2)) {
        ContactPoint c;
        c.body_a = world.links()[link].body;
        c.p_WC = X * p;
        c.mu = mu;
        contact_tangents(c.n, c.t1, c.t2);
        points.push_back(c);
      }
    }
    AssembleOptions assemble_options;
    assemble_options.dt = dt;
    assemble_options.joint_limits = assemble_options.dry_friction = false;
    BipedProblem problem;
    assemble(world, data, q, v, Eigen::VectorXd::Zero(world.nv()), points, assemble_options, problem.problem);
    set_reachable_desire(problem, biped.joints, torques);
    biped.problems.push_back(std::move(problem));
    integrate(world, q, v, 2e-3, q);
  }
  return biped;
}

}  // namespace stiction::bench
