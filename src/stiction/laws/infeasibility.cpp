#include "stiction/laws/infeasibility.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/errors.hpp"
#include "stiction/laws/lowering.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Vector3d;
using Row = Eigen::Matrix<double, 1, 1>;

constexpr double kProofWork = 1e11;     // pivots times the square of the free velocities after which no proof is sought among the contacts
constexpr double kRoundedWork = 1e-13;  // of the largest velocity along a generator, below which one is rounding
constexpr int kDiscVertices = 64;       // of the disc's, among which a proof is sought

const ContactTerms& term(const LawTerms& law, int i) { return law.contacts[i]; }

/// A sum and the sum of its terms' sizes, by which rounding is measured.
struct Work {
  double sum = 0.0, terms = 0.0;
  void add(double x) {
    sum += x;
    terms += std::abs(x);
  }
};

// ν̂·c of the contacts.
void add_contacts(const LawTerms& law, const InfeasibilityRay& ray, Work& work) {
  for (int i = 0; i < static_cast<int>(law.contacts.size()); ++i) {
    const ContactTerms rays = recession(term(law, i), law.family);
    if (!rays.bears) continue;
    const Vector3d nu = cone_impulse(rays, ray.impulses.segment<3>(3 * i));
    for (int k = 0; k < 3; ++k) work.add(nu[k] * rays.offset[k]);
  }
}

// ν̂·c - β·b - π·v_prescribed.
Work work_of(const ProblemView& p, const LawTerms& law, const InfeasibilityRay& ray) {
  Work work;
  add_contacts(law, ray, work);
  for (Index j = 0; j < p.b.size(); ++j) work.add(-ray.bounded_impulses[j] * p.b[j]);
  for (Index k = 0; k < ray.prescribed_impulses.size(); ++k) work.add(-ray.prescribed_impulses[k] * p.v_prescribed[k]);
  return work;
}

// ν·u_free + ν̂·c + β·w_free.
Work work_of(const ReducedProblem& p, const LawTerms& law, const InfeasibilityRay& ray) {
  Work work;
  add_contacts(law, ray, work);
  for (Index k = 0; k < p.u_free.size(); ++k) work.add(ray.impulses[k] * p.u_free[k]);
  for (Index j = 0; j < p.w_free.size(); ++j) work.add(ray.bounded_impulses[j] * p.w_free[j]);
  return work;
}

// Where all is at rest and no offset pushes, the work of no vector is negative. The program of the family energy has another work.
bool asks_for_motion(const ProblemView& p, const LawTerms& law) {
  if (law.family == Family::energy) return true;
  const auto moves = [](double velocity) { return velocity != 0.0; };
  if (std::ranges::any_of(p.b, moves) || std::ranges::any_of(p.v_prescribed, moves)) return true;
  return std::ranges::any_of(law.contacts, [&](const ContactTerms& t) {
    const ContactTerms rays = recession(t, law.family);
    return rays.bears && (rays.offset[0] < 0.0 || !rays.offset.tail<2>().isZero(0.0));
  });
}

bool takes_part(const InfeasibilityRay& ray, int contact) { return !ray.impulses.segment<3>(3 * contact).isZero(0.0); }

// Largest velocity that the problem's own data speak of (m/s). A gap is closed by no more than its step only where its contact takes part:
// of one that is open and far nothing has to move that fast.
double velocity_scale(const ProblemView& p, const InfeasibilityRay& ray) {
  double scale = std::max({largest_entry(p.v), largest_entry(p.b), largest_entry(p.v_prescribed)});
  for (int k = 0; k < p.M.blocks(); ++k) {
    for (int j = 0; j < p.M.block_size(k); ++j) scale = std::max(scale, std::abs(p.impulse[p.M.offset(k) + j]) / p.M.block(k)(j, j));
  }
  for (int i = 0; i < p.contacts(); ++i) {
    if (takes_part(ray, i)) scale = std::max(scale, p.gap[i] / p.dt);
  }
  return scale;
}

// The same in y (kg^½ m/s).
double motion_scale(const ReducedProblem& p, const InfeasibilityRay& ray) {
  double scale = largest_entry(p.y_free);
  const auto take = [&](double velocity, const BlockRows& rows, int group) {
    const double square = rows.group_square(group);
    if (square > 0.0) scale = std::max(scale, std::abs(velocity) / std::sqrt(square));
  };
  for (int i = 0; i < p.contacts(); ++i) {
    const double offset = takes_part(ray, i) ? std::abs(p.offset[i]) : 0.0;
    take(std::max(p.u_free.segment<3>(3 * i).lpNorm<Eigen::Infinity>(), offset), p.Rt, i);
  }
  for (int j = 0; j < p.bounded_rows(); ++j) take(p.w_free[j], p.Bt, j);
  return scale;
}

// Contradicting bilateral rows: what is left of their least squares is orthogonal to their range in the coordinates that are free.
bool blame_bilateral_rows(const ProblemView& p, const Reduction& reduction, InfeasibilityWorkspace& w, InfeasibilityRay& ray) {
  for (const int row : reduction.bilateral) {
    Row left(-p.b[row]);
    p.J_b.add_group_product(row, reduction.v_free, left);
    ray.bounded_impulses[row] = -left[0];
  }
  w.beta.setZero(p.velocities());
  p.J_b.add_transposed(ray.bounded_impulses, w.beta);
  for (std::size_t k = 0; k < p.prescribed.size(); ++k) ray.prescribed_impulses[static_cast<Index>(k)] = -w.beta[p.prescribed[k]];
  return !reduction.bilateral.empty();
}

// Multipliers of the bilateral rows and of the prescribed coordinates that take up what ν and β leave of momentum.
void close_momentum(const ProblemView& p, Reduction& reduction, InfeasibilityWorkspace& w, InfeasibilityRay& ray) {
  w.zero.setZero(p.velocities());
  recover_bilateral(p.with_momentum(p.v, w.zero), reduction, p.v, ray.impulses, ray.bounded_impulses, ray.prescribed_impulses);
}

// The one-sided row whose fixed velocity is on the wrong side by most.
bool blame_fixed_row(const ProblemView& p, Reduction& reduction, InfeasibilityWorkspace& w, InfeasibilityRay& ray) {
  int worst = -1;
  double most = 0.0, impulse = 0.0;
  for (const int row : reduction.fixed) {
    Row velocity(-p.b[row]);
    p.J_b.add_group_product(row, reduction.v_free, velocity);
    const double unheld = velocity[0] < 0.0 ? p.hi[row] : p.lo[row];
    if (!std::isinf(unheld) || std::abs(velocity[0]) <= most) continue;
    worst = row;
    most = std::abs(velocity[0]);
    impulse = velocity[0] < 0.0 ? 1.0 : -1.0;
  }
  if (worst < 0) return false;
  ray.bounded_impulses[worst] = impulse;
  close_momentum(p, reduction, w, ray);
  return true;
}

// The ray (ν, β) along which min |Aᵀx|²/2 + cᵀx over w.generators falls without end, if there is one; β stays in w.beta.
bool follow_direction(const ReducedProblem& r, InfeasibilityWorkspace& w, GrowVector& nu) {
  Generators& g = w.generators;
  if (g.size() == 0) return false;
  // Along a generator that nothing resists, velocities of rounding would be a fall without end as good as any.
  const double rounding = kRoundedWork * largest_entry(g.c);
  for (double& c : g.c) c = std::abs(c) <= rounding ? 0.0 : c;
  KineticQp qp;
  qp.A = RowsView(g.storage.data(), g.size(), r.rank_bound(), r.rank_bound());
  qp.c = g.c;
  qp.lo = g.lo;
  qp.hi = g.hi;
  QpOptions options;
  const double columns = r.rank_bound();
  options.max_pivots = static_cast<int>(std::min(20.0 * (g.size() + columns) + 200.0, std::max(2000.0, kProofWork / (columns * columns))));
  if (kinetic_qp(qp, options, w.qp, w.solution) != Status::infeasible) return false;
  expand(r, g, w.solution.direction, nu, w.beta);
  return true;
}

void take_recession(const LawTerms& law, LawTerms& out) {
  out.family = law.family;
  out.edges = law.edges;
  out.contacts.resize(law.contacts.size());
  for (std::size_t i = 0; i < law.contacts.size(); ++i) out.contacts[i] = recession(law.contacts[i], law.family);
}

// The problem on the cones of `rays`, as generators; then the direction along which its dual falls without end.
bool blame_cones(const ReducedProblem& r, const LawTerms& rays, bool by_energy, InfeasibilityWorkspace& w, GrowVector& nu) {
  make_standard_form(r, rays, w.form);
  const ReducedProblem& p = w.form.problem;
  make_generators(p, GeneratorKind::cone, rays.disc() ? kDiscVertices : rays.edges, w.generators);
  if (by_energy) {
    w.left.resize(3 * p.contacts());
    p.Rt.multiply(p.y_free, w.left);
    for (int v = 0; v < w.generators.contact_variables; ++v) {
      const Generators::Variable& variable = w.generators.variables[v];
      w.generators.c[v] = variable.direction.dot(w.left.segment<3>(3 * variable.contact));
    }
  }
  if (!follow_direction(p, w, w.cone)) return false;
  expand_impulses(w.form, rays, w.cone, nu);
  return true;
}

bool blame_contacts(const ReducedProblem& r, const LawTerms& law, InfeasibilityWorkspace& w, GrowVector& nu) {
  take_recession(law, w.recession);
  return blame_cones(r, w.recession, false, w, nu);
}

// The program of the family energy, whose objective falls without end.
bool blame_program(const ReducedProblem& r, const LawTerms& law, InfeasibilityWorkspace& w, GrowVector& nu) {
  return law.family == Family::energy && blame_cones(r, law, true, w, nu);
}

// ν̂ in the cone of these terms, to rounding.
bool in_cone(const SectionShape& section, const ContactTerms& t, const Vector3d& impulse) {
  constexpr double kRounding = 1e-14;
  if (!t.bears) return impulse.isZero(0.0);
  const Vector3d nu = cone_impulse(t, impulse);
  if (!(nu[0] >= 0.0)) return false;
  if (std::isinf(t.mu)) return true;
  const double reach = t.mu * nu[0] * (1.0 + kRounding);
  if (section.disc()) return std::hypot(nu[1], nu[2]) <= reach;
  return section.cos_half() * section.gauge(nu.tail<2>()) <= section.cos_half() * reach + kRounding * nu[0];
}

template <class Problem>
bool in_cones(const Problem& p, const LawTerms& law, const SectionShape& section, bool all_of_it, const InfeasibilityRay& ray) {
  for (int i = 0; i < p.contacts(); ++i) {
    if (!in_cone(section, all_of_it ? term(law, i) : recession(term(law, i), law.family), ray.impulses.segment<3>(3 * i))) return false;
  }
  for (int j = 0; j < p.bounded_rows(); ++j) {
    if (ray.bounded_impulses[j] > 0.0 && p.hi[j] != kInfinity) return false;
    if (ray.bounded_impulses[j] < 0.0 && p.lo[j] != -kInfinity) return false;
  }
  return true;
}

// Work of β at the motion of least energy that the bilateral rows and prescribed coordinates allow.
Work work_on_rows(const ProblemView& p, const InfeasibilityRay& ray, InfeasibilityWorkspace& w) {
  w.zero.setZero(p.velocities());
  reduce(p.with_momentum(w.zero, w.zero), w.still_reduction, {.velocity_before = false});
  Work work;
  for (int j = 0; j < p.bounded_rows(); ++j) {
    if (is_bilateral(p, j)) continue;
    Row velocity(0.0);
    p.J_b.add_group_product(j, w.still_reduction.v_free, velocity);
    work.add(ray.bounded_impulses[j] * velocity[0]);
    work.add(-ray.bounded_impulses[j] * p.b[j]);
  }
  return work;
}

// β·(w_free - B y_free).
Work work_on_rows(const ReducedProblem& p, const InfeasibilityRay& ray, InfeasibilityWorkspace&) {
  Work work;
  for (int j = 0; j < p.bounded_rows(); ++j) {
    Row free(0.0);
    p.Bt.add_group_product(j, p.y_free, free);
    work.add(ray.bounded_impulses[j] * p.w_free[j]);
    work.add(-ray.bounded_impulses[j] * free[0]);
  }
  return work;
}

// What the ray leaves of momentum (N s), times the largest velocity that the problem's data speak of.
double leftover(const ProblemView& p, const InfeasibilityRay& ray, InfeasibilityWorkspace& w) {
  w.left.setZero(p.velocities());
  p.J.add_transposed(ray.impulses, w.left);
  p.J_b.add_transposed(ray.bounded_impulses, w.left);
  for (std::size_t k = 0; k < p.prescribed.size(); ++k) w.left[p.prescribed[k]] += ray.prescribed_impulses[static_cast<Index>(k)];
  return w.left.lpNorm<1>() * velocity_scale(p, ray);
}

double leftover(const ReducedProblem& p, const InfeasibilityRay& ray, InfeasibilityWorkspace& w) {
  w.left.setZero(p.rank_bound());
  p.Rt.add_transposed(ray.impulses, w.left);
  p.Bt.add_transposed(ray.bounded_impulses, w.left);
  return w.left.lpNorm<1>() * motion_scale(p, ray);
}

// Work of a ray that proves something, otherwise zero.
template <class Problem>
double proven_work(const Problem& p, const LawTerms& law, const InfeasibilityRay& ray, InfeasibilityWorkspace& w) {
  constexpr double kRounding = 1e-13, kFarBeyond = 1e6;
  if (!ray.impulses.allFinite() || !ray.bounded_impulses.allFinite() || !ray.prescribed_impulses.allFinite()) return 0.0;
  w.section.reset(law.edges);
  const double left = kFarBeyond * leftover(p, ray, w);
  const auto decides = [&](const Work& work) { return -work.sum > kRounding * work.terms && left <= -work.sum; };
  if (in_cones(p, law, w.section, false, ray)) {
    const Work work = work_of(p, law, ray);
    if (decides(work)) return work.sum;
  }
  if (law.family == Family::energy && in_cones(p, law, w.section, true, ray)) {
    const Work work = work_on_rows(p, ray, w);
    if (decides(work)) return work.sum;
  }
  return 0.0;
}

// True when `blame` leaves a proof in the ray.
template <class Problem, class Blame>
bool attempt(const Problem& p, const LawTerms& law, InfeasibilityWorkspace& w, InfeasibilityRay& ray, Blame blame) {
  ray.impulses.setZero(3 * p.contacts());
  ray.bounded_impulses.setZero(p.bounded_rows());
  ray.prescribed_impulses.setZero(ray.prescribed_impulses.size());
  ray.work = blame() ? proven_work(p, law, ray, w) : 0.0;
  ray.proof = ray.work < 0.0;
  return ray.proof;
}

template <class Problem>
void require_sizes(const Problem& p, std::size_t prescribed, const InfeasibilityRay& ray) {
  require_size("ray.impulses", ray.impulses.size(), 3 * p.contacts());
  require_size("ray.bounded_impulses", ray.bounded_impulses.size(), p.bounded_rows());
  require_size("ray.prescribed_impulses", ray.prescribed_impulses.size(), static_cast<Index>(prescribed));
}

}  // namespace

bool proves_infeasible(const ProblemView& p, const LawModel& law, const InfeasibilityRay& ray) {
  const LawTerms terms = lowered(p, law);
  require_sizes(p, p.prescribed.size(), ray);
  InfeasibilityWorkspace workspace;
  return proven_work(p, terms, ray, workspace) < 0.0;
}

bool proves_infeasible(const ReducedProblem& p, const LawModel& law, const InfeasibilityRay& ray) {
  const LawTerms terms = lowered(p, law);
  require_sizes(p, 0, ray);
  InfeasibilityWorkspace workspace;
  return p.defect.size() == 0 && proven_work(p, terms, ray, workspace) < 0.0;
}

bool complete_proof(const ProblemView& p, Reduction& reduction, const LawTerms& law, const Eigen::Ref<const Eigen::VectorXd>& impulses,
                    InfeasibilityWorkspace& w, InfeasibilityRay& ray) {
  ray.prescribed_impulses.resize(static_cast<Index>(p.prescribed.size()));
  if (attempt(p, law, w, ray, [&] {
        ray.impulses = impulses;
        close_momentum(p, reduction, w, ray);
        return true;
      }))
    return true;
  ray.clear();
  return false;
}

bool complete_proof(const ReducedProblem& p, const LawTerms& law, const Eigen::Ref<const Eigen::VectorXd>& impulses,
                    InfeasibilityWorkspace& w, InfeasibilityRay& ray) {
  ray.prescribed_impulses.resize(0);
  if (p.defect.size() == 0 && attempt(p, law, w, ray, [&] {
        ray.impulses = impulses;
        return true;
      }))
    return true;
  ray.clear();
  return false;
}

bool find_infeasibility(const ProblemView& p, Reduction& reduction, const LawTerms& law, InfeasibilityWorkspace& w, InfeasibilityRay& ray) {
  const ReducedProblem& r = reduction.reduced;
  ray.clear();
  if (!asks_for_motion(p, law)) return false;
  ray.prescribed_impulses.resize(static_cast<Index>(p.prescribed.size()));
  const auto lift = [&](bool found) {
    for (std::size_t j = 0; found && j < reduction.bounded.size(); ++j)
      ray.bounded_impulses[reduction.bounded[j]] = w.beta[static_cast<Index>(j)];
    if (found) close_momentum(p, reduction, w, ray);
    return found;
  };
  const bool found = attempt(p, law, w, ray, [&] { return lift(blame_contacts(r, law, w, ray.impulses)); }) ||
                     attempt(p, law, w, ray, [&] { return blame_fixed_row(p, reduction, w, ray); }) ||
                     attempt(p, law, w, ray, [&] { return blame_bilateral_rows(p, reduction, w, ray); }) ||
                     attempt(p, law, w, ray, [&] { return lift(blame_program(r, law, w, ray.impulses)); });
  if (!found) ray.clear();
  return found;
}

bool find_infeasibility(const ReducedProblem& p, const LawTerms& law, InfeasibilityWorkspace& w, InfeasibilityRay& ray) {
  ray.clear();
  ray.prescribed_impulses.resize(0);
  if (p.defect.size() > 0) return false;
  const auto take = [&](bool found) {
    if (found) ray.bounded_impulses = w.beta;
    return found;
  };
  const bool found = attempt(p, law, w, ray, [&] { return take(blame_contacts(p, law, w, ray.impulses)); }) ||
                     attempt(p, law, w, ray, [&] { return take(blame_program(p, law, w, ray.impulses)); });
  if (!found) ray.clear();
  return found;
}

}  // namespace stiction
