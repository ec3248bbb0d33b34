// Random contact problems of every shape a user could hand over, well behaved or not; all of them pass `validate`.
#pragma once

#include <cmath>
#include <random>

#include <Eigen/Core>

#include "stiction/problem/contact_problem.hpp"

namespace stiction::random_problems {

class Generator {
 public:
  explicit Generator(unsigned seed) : rng_(seed) {}

  double normal() { return normal_(rng_); }
  double uniform(double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(rng_); }
  int integer(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(rng_); }
  bool one_in(int k) { return integer(1, k) == 1; }

  ContactProblem problem() {
    ContactProblem p;
    p.dt = one_in(4) ? std::pow(10.0, uniform(-5.0, 0.0)) : 1e-3;
    add_inertia(p);
    add_contacts(p);
    add_rows(p);
    prescribe(p);
    return p;
  }

 private:
  // Mostly unit scale; now and then a beetle, a bridge, or both at once.
  double scale() { return one_in(5) ? std::pow(10.0, uniform(-3.0, 3.0)) : 1.0; }

  void add_inertia(ContactProblem& p) {
    std::vector<int> sizes;
    for (int k = integer(1, 4); k > 0; --k) sizes.push_back(integer(1, 7));
    p.M.reset(sizes);
    for (int k = 0; k < p.M.blocks(); ++k) {
      const int n = p.M.block_size(k);
      const Eigen::MatrixXd a = Eigen::MatrixXd::NullaryExpr(n, n, [&] { return normal(); });
      p.M.block(k) = scale() * (a * a.transpose() + Eigen::MatrixXd::Identity(n, n));
    }
    const double speed = one_in(6) ? 0.0 : scale(), push = one_in(6) ? 0.0 : scale();
    p.v = Eigen::VectorXd::NullaryExpr(p.velocities(), [&] { return speed * normal(); });
    p.impulse = Eigen::VectorXd::NullaryExpr(p.velocities(), [&] { return push * p.dt * normal(); });
  }

  void add_entry(BlockRows& rows, int block, double size) {
    RowMap entry = rows.add_entry(block);
    entry = Eigen::MatrixXd::NullaryExpr(entry.rows(), entry.cols(), [&] { return size * normal(); });
    if (one_in(8)) entry = entry.array().round().matrix();  // dependent rows, zeros
  }

  void add_contacts(ContactProblem& p) {
    const int n = integer(0, 8);
    p.J.reset(3, p.M.sizes());
    for (int i = 0; i < n; ++i) {
      p.J.add_group();
      const int a = integer(0, p.M.blocks() - 1), b = integer(0, p.M.blocks() - 1);
      if (i > 0 && one_in(6)) {
        copy_last_group(p.J);
        continue;
      }
      const double size = scale();
      add_entry(p.J, std::min(a, b), size);
      if (a != b) add_entry(p.J, std::max(a, b), size);
    }
    p.mu = Eigen::VectorXd::NullaryExpr(n, [&] { return one_in(6) ? 0.0 : one_in(8) ? kInfinity : std::abs(normal()); });
    p.restitution = Eigen::VectorXd::NullaryExpr(n, [&] { return one_in(3) ? uniform(0.0, 1.0) : 0.0; });
    p.gap = Eigen::VectorXd::NullaryExpr(n, [&] { return one_in(2) ? 0.0 : 1e-3 * normal(); });
    if (n > 0 && !one_in(3)) {
      for (int i = 0; i < n; ++i) p.material.push_back(material());
    }
  }

  // The same contact point twice: its forces cannot be told apart.
  void copy_last_group(BlockRows& rows) {
    const int last = rows.groups() - 1, from = last - 1;
    for (int e = rows.entry_begin(from); e < rows.entry_end(from); ++e) {
      const Eigen::MatrixXd copy = rows.entry(e);
      rows.add_entry(rows.entry_block(e)) = copy;
    }
  }

  ContactMaterial material() {
    ContactMaterial m;
    m.restitution_tangential = one_in(3) ? uniform(0.0, 1.0) : 0.0;
    m.viscosity = one_in(4) ? 0.0 : std::pow(10.0, uniform(-2.0, 4.0));
    m.stiffness = std::pow(10.0, uniform(1.0, 6.0));
    m.damping = one_in(3) ? 0.0 : std::pow(10.0, uniform(-1.0, 3.0));
    m.dissipation = one_in(3) ? 0.0 : uniform(0.0, 10.0);
    m.dissipation_time = one_in(3) ? 0.0 : uniform(0.0, 0.1);
    m.stiffness_tangential = std::pow(10.0, uniform(1.0, 6.0));
    m.damping_tangential = one_in(3) ? 0.0 : std::pow(10.0, uniform(-1.0, 3.0));
    m.stiction_speed = std::pow(10.0, uniform(-4.0, -1.0));
    m.regularization = std::pow(10.0, uniform(-6.0, 0.0));
    m.time_constant = one_in(3) ? 0.0 : uniform(0.001, 0.1);
    m.spring = {one_in(2) ? 0.0 : 1e-4 * normal(), one_in(2) ? 0.0 : 1e-4 * normal()};
    return m;
  }

  void add_rows(ContactProblem& p) {
    const int m = one_in(2) ? 0 : integer(1, 5);
    p.J_b.reset(1, p.M.sizes());
    p.b.resize(m);
    p.lo.resize(m);
    p.hi.resize(m);
    for (int j = 0; j < m; ++j) {
      p.J_b.add_group();
      if (!one_in(20)) add_entry(p.J_b, integer(0, p.M.blocks() - 1), 1.0);  // else a row of zeros
      p.b[j] = one_in(2) ? 0.0 : 0.1 * normal();
      const int kind = integer(0, 3);  // bilateral, joint limit, motor, held at a value
      p.lo[j] = kind == 0 ? -kInfinity : kind == 2 ? -std::abs(normal()) * p.dt : 0.0;
      p.hi[j] = kind == 0 || kind == 1 ? kInfinity : kind == 2 ? std::abs(normal()) * p.dt : 0.0;
    }
  }

  void prescribe(ContactProblem& p) {
    if (one_in(2)) return;
    for (int j = 0; j < p.velocities(); ++j) {
      if (one_in(4)) p.prescribed.push_back(j);
    }
    p.v_prescribed = Eigen::VectorXd::NullaryExpr(static_cast<Eigen::Index>(p.prescribed.size()), [&] { return normal(); });
  }

  std::mt19937 rng_;
  std::normal_distribution<double> normal_;
};

}  // namespace stiction::random_problems
