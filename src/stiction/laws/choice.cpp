#include "stiction/laws/choice.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

namespace {

using Eigen::Vector3d;
using Ref = Eigen::Ref<const Eigen::VectorXd>;

constexpr double kMotion = 1e-13;   // of |R_i λ_i|: far below any certificate
constexpr double kEnough = 1e-11;   // accepted when rounding stops the rounds earlier
constexpr double kSoftness = 1e-4;  // ε over the mean of diag G: rounds gain four digits where G is well conditioned
constexpr double kResting = 1e-9;   // velocities below this share of the largest count as rest
constexpr int kRounds = 30;

double mean_diagonal(const ReducedProblem& p) {
  const double sum = p.Rt.square();
  return sum > 0.0 ? sum / (3.0 * p.contacts()) : 1.0;
}

// u of all contacts at (λ, β), offset included; returns the largest without it.
double contact_velocities(const ReducedProblem& p, const Ref& lambda, const Ref& beta, const Ref& motion, ChoiceWorkspace& w) {
  if (motion.size() > 0) {
    w.y = motion;
  } else {
    w.y.setZero(p.rank_bound());
    p.Rt.add_transposed(lambda, w.y);
    p.Bt.add_transposed(beta, w.y);
  }
  w.u.resize(lambda.size());
  p.Rt.multiply(w.y, w.u);
  if (p.defect.size() > 0) w.u.noalias() += p.defect * lambda;
  w.u += p.u_free;
  const double largest = largest_entry(w.u);
  for (int i = 0; i < p.contacts(); ++i) w.u[3 * i] += p.offset[i];
  return largest;
}

// Infinite friction that slips bears no load.
Vector3d ray(double mu, const Eigen::Vector2d& direction) {
  return mu == kInfinity ? Vector3d(0.0, direction[0], direction[1]) : Vector3d(1.0, mu * direction[0], mu * direction[1]);
}

void set_sliding_face(const SectionShape& shape, double mu, const Vector3d& u, double tolerance, SoftContact& c) {
  c.face = SoftContact::Face::ray;
  const Eigen::Vector2d slip = u.tail<2>();
  if (shape.disc()) {
    c.ray = ray(mu, -slip.normalized());
    return;
  }
  const Sector sector = shape.sector(-slip);
  const Eigen::Vector2d a = shape.vertex(sector.vertex), b = shape.vertex(sector.vertex + 1);
  const double lead = a.dot(-slip) - b.dot(-slip);
  c.ray = ray(mu, lead >= 0.0 ? a : b);
  if (std::abs(lead) > tolerance) return;
  c.face = SoftContact::Face::sector;
  c.ray = ray(mu, a);
  c.other_ray = ray(mu, b);
}

// The face that the law leaves to a contact at velocity u (offset included).
void set_face(const StandardForm& form, const SectionShape& shape, double mu, const Vector3d& u, double tolerance, SoftContact& c) {
  c.mu = mu;
  if (form.family == Family::energy) return;  // it leaves the whole cone
  const bool finite = mu > 0.0 && mu != kInfinity, dual = form.family == Family::associated && finite;
  const double lift = dual ? u[0] - mu * shape.slip(u.tail<2>()) : u[0];
  if (lift > tolerance * (1.0 + (finite ? mu : 0.0))) {
    // Friction without a load is part of the half space.
    c.face = form.family == Family::associated && mu == kInfinity ? SoftContact::Face::tangents : SoftContact::Face::apex;
  } else if ((finite || (mu > 0.0 && form.family == Family::coulomb)) && u.tail<2>().norm() > tolerance) {
    set_sliding_face(shape, mu, u, tolerance, c);
  }
}

void set_contacts(const StandardForm& form, const Ref& lambda, double softness, double tolerance, ChoiceWorkspace& w) {
  const ReducedProblem& p = form.problem;
  w.shape.reset(form.edges);
  w.contacts.assign(p.contacts(), {});
  for (int i = 0; i < p.contacts(); ++i) {
    SoftContact& c = w.contacts[i];
    c.normal = c.tangential = softness;
    set_face(form, w.shape, p.mu[i], w.u.segment<3>(3 * i), tolerance, c);
  }
  w.solution.lambda = lambda;
  w.solution.beta.setZero(p.bounded_rows());  // not of the program: a start of another size would be none
}

// w.free_rows: the problem in which bounded rows that do not move may take any impulse within their bounds. The others, whose impulses in
// `rows` become zero, are no part of the choice. w.y: the motion. Its w_free are the speeds of the rows.
void free_rows(const ReducedProblem& p, double tolerance, ChoiceWorkspace& w, GrowVector& rows) {
  ReducedProblem& out = w.free_rows;
  out = p;
  p.Bt.multiply(w.y, out.w_free);
  out.w_free += p.w_free;
  for (Eigen::Index j = 0; j < rows.size(); ++j) {
    if (std::abs(out.w_free[j]) > tolerance) out.lo[j] = out.hi[j] = rows[j] = 0.0;
  }
}

// û that makes the program ½|R λ' - t|² + ½ε|λ' - λ_ref|², with B β' in it where rows are free.
void set_target(const ReducedProblem& p, double softness, ChoiceWorkspace& w) {
  w.u.resize(3 * p.contacts());
  p.Rt.multiply(w.target, w.u);
  w.u += p.u_free;
  if (w.reference.size() > 0) w.u += softness * w.reference;
  for (int i = 0; i < p.contacts(); ++i) w.contacts[i].reference = w.u.segment<3>(3 * i);
}

// Largest |R_i λ_i|: the size of what must cancel.
double motion_scale(const ReducedProblem& p, const Ref& lambda) {
  double scale = 1e-300;
  for (int i = 0; i < p.contacts(); ++i) {
    scale = std::max(scale, std::sqrt(p.Rt.group_square(i)) * lambda.segment<3>(3 * i).cwiseAbs().maxCoeff());
  }
  return scale;
}

}  // namespace

bool choose_impulses(const StandardForm& form, const Ref& lambda, const Ref& beta, const Ref& motion, ChoiceWorkspace& w,
                     GrowVector* rows) {
  w.rounds = 0;
  const ReducedProblem& p = form.problem;
  if (rows != nullptr) *rows = beta;
  if (p.contacts() == 0 || form.compliance.size() > 0) {
    w.chosen = lambda;
    return true;
  }
  const double softness = kSoftness * mean_diagonal(p), scale = motion_scale(p, lambda);
  const double tolerance = kResting * std::max({1e-300, contact_velocities(p, lambda, beta, motion, w), largest_entry(p.u_free)});
  if (rows != nullptr) free_rows(p, tolerance, w, *rows);
  set_contacts(form, lambda, softness, tolerance, w);
  w.y.setZero();
  p.Rt.add_transposed(lambda, w.y);
  if (rows != nullptr) p.Bt.add_transposed(*rows, w.y);
  w.target = w.y;
  const double enough = rows != nullptr ? std::min(scale, w.y.norm()) : scale;  // of large ones that cancel a small motion is left
  SoftConeOptions program;
  program.edges = form.edges;
  program.proximity = rows != nullptr ? kSoftness : 0.0;  // every contact is soft, and rows are as hard as that
  program.bounded_rows = rows != nullptr;
  program.warm_start = true;
  double best = kInfinity;
  w.best_rows.resize(0);
  for (int stalled = 0; w.rounds < kRounds && stalled < 3; ++w.rounds) {
    set_target(p, softness, w);
    if (rows != nullptr) {
      p.Bt.multiply(w.target, w.free_rows.w_free);
      w.free_rows.w_free *= -1.0;
    }
    soft_cone(rows != nullptr ? w.free_rows : p, w.contacts, program, w.program, w.solution);
    if (w.solution.status == Status::numerical_error) return false;
    w.reached = w.y;
    w.reached *= -1.0;
    p.Rt.add_transposed(w.solution.lambda, w.reached);
    if (rows != nullptr) p.Bt.add_transposed(w.solution.beta, w.reached);
    const double miss = w.reached.norm();
    stalled = miss < 0.5 * best ? 0 : stalled + 1;
    if (miss < best && w.solution.status == Status::solved) {
      best = miss;
      w.chosen = w.solution.lambda;
      if (rows != nullptr) w.best_rows = w.solution.beta;
    }
    if (best <= kMotion * enough) break;
    w.target -= w.reached;
  }
  for (Eigen::Index j = 0; j < w.best_rows.size(); ++j) (*rows)[j] = w.free_rows.lo[j] == w.free_rows.hi[j] ? beta[j] : w.best_rows[j];
  return best <= kEnough * scale;
}

}  // namespace stiction
