#include <cmath>

#include "stiction/problem/reduced.hpp"

namespace stiction {

void turn_to_edges(const ReducedProblem& p, ReducedProblem& turned) {
  turned = p;
  turned.edge_angle.resize(0);
  turned.defect.resize(0, 0);
  turned.delassus.reset(3, {});
  for (int i = 0; i < p.contacts(); ++i) {
    const double cosine = std::cos(p.edge_angle[i]), sine = std::sin(p.edge_angle[i]);
    const auto turn = [&](double& s, double& t) {
      const double first = cosine * s + sine * t;
      t = cosine * t - sine * s;
      s = first;
    };
    for (int e = p.Rt.entry_begin(i); e < p.Rt.entry_end(i); ++e) {
      RowMap rows = turned.Rt.entry(e);
      for (Eigen::Index j = 0; j < rows.cols(); ++j) turn(rows(1, j), rows(2, j));
    }
    turn(turned.u_free[3 * i + 1], turned.u_free[3 * i + 2]);
    if (p.u_before.size() > 0) turn(turned.u_before[3 * i + 1], turned.u_before[3 * i + 2]);
  }
}

void turn_to_edges(const ReducedProblem& p, Eigen::Ref<Eigen::VectorXd> lambda) {
  for (int i = 0; i < p.contacts(); ++i) {
    const double cosine = std::cos(p.edge_angle[i]), sine = std::sin(p.edge_angle[i]), s = lambda[3 * i + 1], t = lambda[3 * i + 2];
    lambda[3 * i + 1] = cosine * s + sine * t;
    lambda[3 * i + 2] = cosine * t - sine * s;
  }
}

void turn_from_edges(const ReducedProblem& p, Eigen::Ref<Eigen::VectorXd> lambda) {
  for (int i = 0; i < p.contacts(); ++i) {
    const double cosine = std::cos(p.edge_angle[i]), sine = std::sin(p.edge_angle[i]), s = lambda[3 * i + 1], t = lambda[3 * i + 2];
    lambda[3 * i + 1] = cosine * s - sine * t;
    lambda[3 * i + 2] = sine * s + cosine * t;
  }
}

}  // namespace stiction
