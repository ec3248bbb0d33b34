#include "stiction/problem/indeterminacy.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Geometry>
#include <Eigen/QR>

#include "stiction/base/errors.hpp"
#include "stiction/problem/cone_lp.hpp"
#include "stiction/problem/contact_checks.hpp"
#include "stiction/problem/standard_form.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Ref = Eigen::Ref<const VectorXd>;

constexpr double kGap = 1e-8;        // relative accuracy asked of the intervals (disc; pyramids are exact)
constexpr int kMostPivots = 2000;    // per linear program
constexpr double kMargin = 10.0;     // tolerances that what n impulses add up to may miss: rays along them, or the solution itself
constexpr double kExactRays = 1e-9;  // rays of one cone closer than this are one

// ---- the face that the law leaves to a contact ----

ContactCone single_ray(const Vector3d& ray) { return {.generators = {ray}, .facets = {Vector3d::UnitX()}}; }

ContactCone half_space() {
  return {.generators = {Vector3d::UnitX(), Vector3d::UnitY(), -Vector3d::UnitY(), Vector3d::UnitZ(), -Vector3d::UnitZ()},
          .facets = {Vector3d::UnitX()}};
}

// What no slip leaves to a contact that opens: u_T = 0 holds without a load too.
ContactCone tangents() {
  return {.generators = {Vector3d::UnitY(), -Vector3d::UnitY(), Vector3d::UnitZ(), -Vector3d::UnitZ()}, .facets = {}};
}

Vector3d vertex(double mu, double angle) { return {1.0, mu * std::cos(angle), mu * std::sin(angle)}; }

ContactCone pyramid(double mu, int edges) {
  ContactCone cone;
  const double side = 2.0 * std::numbers::pi / edges;
  for (int j = 0; j < edges; ++j) {
    cone.generators.push_back(vertex(mu, side * j));
    cone.facets.emplace_back(mu * std::cos(0.5 * side), -std::cos(side * (j + 0.5)), -std::sin(side * (j + 0.5)));
  }
  return cone;
}

// The vertices of the pyramid that dissipate most at this slip: one, or two neighbours.
ContactCone sliding_pyramid(double mu, int edges, const Vector3d& u, double tolerance) {
  const ContactCone all = pyramid(mu, edges);
  double most = -kInfinity;
  for (const Vector3d& g : all.generators) most = std::max(most, -g.tail<2>().dot(u.tail<2>()));
  ContactCone cone;
  for (const Vector3d& g : all.generators) {
    if (-g.tail<2>().dot(u.tail<2>()) >= most - mu * tolerance) cone.generators.push_back(g);
  }
  if (cone.generators.size() == 1) return single_ray(cone.generators[0]);
  if (cone.generators.size() > 2) return all;
  const Vector3d a = cone.generators[0], b = cone.generators[1], normal = a.cross(b);
  cone.facets = {normal.cross(a).normalized(), b.cross(normal).normalized()};
  for (std::size_t j = 0; j < 2; ++j) {
    if (cone.facets[j].dot(cone.generators[1 - j]) < 0.0) cone.facets[j] *= -1.0;
  }
  return cone;
}

// Infinite friction that slips bears no load and opposes slip, as much as keeps it from approaching.
ContactCone unloaded(const LawTerms& law, const Vector3d& u, double tolerance) {
  ContactCone cone = law.disc() ? single_ray(-u.normalized()) : sliding_pyramid(1.0, law.edges, u, tolerance);
  for (Vector3d& g : cone.generators) g[0] = 0.0;
  const Vector3d a = cone.generators.front(), b = cone.generators.back();
  cone.facets = {a};
  if (cone.generators.size() > 1) cone.facets = {a - a.dot(b) * b, b - a.dot(b) * a};
  return cone;
}

// Outside the dual cone's boundary, or moving away.
bool is_open(const LawTerms& law, const ContactTerms& t, const Vector3d& u, double tolerance) {
  if (t.coulomb || t.mu == 0.0 || std::isinf(t.mu)) return u[0] > tolerance;
  SectionShape section;
  section.reset(law.edges);
  return u[0] - t.mu * section.slip(u.tail<2>()) > tolerance * (1.0 + t.mu);
}

ContactCone face(const LawTerms& law, const ContactTerms& t, const Vector3d& u, double tolerance) {
  if (law.family != Family::energy && is_open(law, t, u, tolerance)) return t.is_half_space() ? tangents() : ContactCone{};
  if (t.mu == 0.0) return single_ray(Vector3d::UnitX());
  const double slip = std::hypot(u[1], u[2]);
  const bool sliding = law.family != Family::energy && slip > tolerance;
  if (std::isinf(t.mu)) return t.coulomb && sliding ? unloaded(law, u, tolerance) : half_space();
  if (!law.disc()) return sliding ? sliding_pyramid(t.mu, law.edges, u, tolerance) : pyramid(t.mu, law.edges);
  if (sliding) return single_ray({1.0, -t.mu * u[1] / slip, -t.mu * u[2] / slip});
  return {.disc = true, .mu = t.mu};
}

// ---- geometry of a cone at a point ----

// Facets that the point lies on; for the disc the supporting plane, or the normal at the apex.
std::vector<Vector3d> active_facets(const ContactCone& cone, const Vector3d& lambda, double tolerance) {
  std::vector<Vector3d> active;
  if (cone.disc) {
    const double t = std::hypot(lambda[1], lambda[2]);
    if (lambda[0] <= tolerance) return {Vector3d::UnitX()};
    if (cone.mu * lambda[0] - t <= tolerance * cone.mu) active.emplace_back(cone.mu, -lambda[1] / t, -lambda[2] / t);
    return active;
  }
  for (const Vector3d& f : cone.facets) {
    if (f.dot(lambda) <= tolerance * f.norm()) active.push_back(f);
  }
  return active;
}

// The smallest face of the cone that contains the point.
ContactCone smallest_face(const ContactCone& cone, const Vector3d& lambda, double tolerance) {
  const auto active = active_facets(cone, lambda, tolerance);
  if (active.empty()) return cone;
  if (cone.disc) {
    if (lambda[0] <= tolerance) return {};
    const double t = std::hypot(lambda[1], lambda[2]);
    return single_ray({1.0, cone.mu * lambda[1] / t, cone.mu * lambda[2] / t});
  }
  ContactCone face{.generators = {}, .facets = cone.facets};
  for (const Vector3d& g : cone.generators) {
    if (std::ranges::all_of(active, [&](const Vector3d& f) { return std::abs(f.dot(g)) <= 1e-9 * f.norm() * g.norm(); }))
      face.generators.push_back(g);
  }
  return face;
}

// Orthonormal basis of the columns' span; what is below `threshold` of the largest counts as none.
MatrixXd range(const MatrixXd& columns, double threshold) {
  if (columns.size() == 0) return MatrixXd(columns.rows(), 0);
  Eigen::ColPivHouseholderQR<MatrixXd> qr(columns);
  qr.setThreshold(threshold);
  MatrixXd basis = MatrixXd::Identity(columns.rows(), qr.rank());
  return qr.householderQ() * basis;
}

// Orthonormal basis (3 x d) of the directions of a cone.
MatrixXd span(const ContactCone& cone) {
  if (cone.disc) return Matrix3d::Identity();
  MatrixXd rays(3, static_cast<Index>(cone.generators.size()));
  for (Index j = 0; j < rays.cols(); ++j) rays.col(j) = cone.generators[j].normalized();
  return range(rays, kExactRays);
}

// Rays of the cone whose combination is the point, or the closest that the cone holds along the friction.
void decompose(const ContactCone& cone, const Vector3d& lambda, int contact, std::vector<WeightedRay>& out) {
  const auto add = [&](const Vector3d& ray, double weight) {
    if (weight > 0.0) out.push_back({contact, ray, weight});
  };
  if (cone.empty()) return;
  const double t = std::hypot(lambda[1], lambda[2]);
  if (cone.disc) {
    const double s = t > 0.0 ? lambda[1] / t : 1.0, c = t > 0.0 ? lambda[2] / t : 0.0;
    const double share = std::min(t / cone.mu, lambda[0]);
    add({1.0, cone.mu * s, cone.mu * c}, 0.5 * (lambda[0] + share));
    add({1.0, -cone.mu * s, -cone.mu * c}, 0.5 * (lambda[0] - share));
  } else if (cone.generators.size() == 1) {
    const Vector3d& g = cone.generators[0];
    add(g, g[0] > 0.0 ? lambda[0] : g.dot(lambda) / g.squaredNorm());
  } else if (cone.generators.size() == 2 && cone.generators[1][0] == 0.0) {
    for (std::size_t j = 0; j < cone.generators.size(); ++j)  // facet j is that of generator j alone
      add(cone.generators[j], cone.facets[j].dot(lambda) / cone.facets[j].dot(cone.generators[j]));
  } else if (cone.generators[1][0] == 0.0) {  // the half space, or its tangents
    for (const Vector3d& g : cone.generators) add(g, g.dot(lambda));
  } else if (cone.generators.size() == 2) {
    const Vector3d &a = cone.generators[0], &b = cone.generators[1];
    const double share = std::clamp((lambda / lambda[0] - b).dot(a - b) / (a - b).squaredNorm(), 0.0, 1.0);
    add(a, share * lambda[0]);
    add(b, (1.0 - share) * lambda[0]);
  } else {
    // Between the two neighbouring vertices, what they leave of λ_N spread over all.
    const int edges = static_cast<int>(cone.generators.size());
    const double side = 2.0 * std::numbers::pi / edges, angle = std::atan2(lambda[2], lambda[1]);
    const int j = static_cast<int>(std::floor(angle / side)) + edges;
    const Vector3d &a = cone.generators[j % edges], &b = cone.generators[(j + 1) % edges];
    const double area = a[1] * b[2] - a[2] * b[1];
    double alpha = std::max(0.0, (lambda[1] * b[2] - lambda[2] * b[1]) / area),
           beta = std::max(0.0, (a[1] * lambda[2] - a[2] * lambda[1]) / area);
    const double sum = alpha + beta, shrink = sum > lambda[0] ? lambda[0] / sum : 1.0;
    add(a, shrink * alpha);
    add(b, shrink * beta);
    for (const Vector3d& g : cone.generators) add(g, (lambda[0] - shrink * sum) / edges);
  }
}

// ---- the set F ----

struct Set {
  MatrixXd A;  // r x 3n
  std::vector<ContactCone> cones;
  std::vector<WeightedRay> start;
  double scale = 1.0;  // of the impulses: everything below is in units of it
};

// A times the directions of the cones: its columns are what can be moved, its rank what that moves.
MatrixXd times_spans(const Set& set) {
  MatrixXd out(set.A.rows(), 0);
  for (std::size_t i = 0; i < set.cones.size(); ++i) {
    const MatrixXd directions = span(set.cones[i]);
    out.conservativeResize(Eigen::NoChange, out.cols() + directions.cols());
    out.rightCols(directions.cols()) = set.A.middleCols(3 * static_cast<Index>(i), 3) * directions;
  }
  return out;
}

// `p` in standard form, compliance as columns; lambda in the coordinates of the cones.
Set describe(const ReducedProblem& p, const StandardForm& form, const LawTerms& law, const Ref& lambda, const Ref& beta, double tolerance) {
  VectorXd y = VectorXd::Zero(p.rank_bound()), u(lambda.size());
  p.Rt.add_transposed(lambda, y);
  p.Bt.add_transposed(beta, y);
  p.Rt.multiply(y, u);
  if (p.defect.size() > 0) u += p.defect * lambda;
  u += p.u_free;
  const double velocity = std::max({largest_entry(u), largest_entry(p.u_free), largest_push(p.offset)});
  Set set;
  set.A = p.Rt.to_dense().transpose();
  set.scale = largest_entry(lambda) > 0.0 ? largest_entry(lambda) : 1.0;
  for (int k = 0; k < p.contacts(); ++k) {
    Vector3d seen = u.segment<3>(3 * k);
    seen[0] += p.offset[k];
    set.cones.push_back(face(law, law.contacts[form.contacts[k]], seen, tolerance * velocity));
    decompose(set.cones.back(), lambda.segment<3>(3 * k) / set.scale, k, set.start);
  }
  return set;
}

// Independent combinations of the rows: A becomes k x 3n of full rank over the cones, entries of order one.
void reduce_rows(Set& set, double tolerance) {
  set.A = (range(times_spans(set), kMargin * tolerance).transpose() * set.A).eval();
  const double largest = set.A.size() == 0 ? 0.0 : set.A.cwiseAbs().maxCoeff();
  if (largest > 0.0) set.A /= largest;
}

// Cones become the smallest faces around a point in the relative interior: then F has an interior within them, without which a
// program over circular cones has no multipliers.
Set restrict_to_faces(const Set& set, const VectorXd& point, double tolerance) {
  Set out;
  out.A = set.A;
  out.scale = set.scale;
  for (std::size_t i = 0; i < set.cones.size(); ++i) {
    const Vector3d lambda = point.segment<3>(3 * static_cast<Index>(i));
    out.cones.push_back(smallest_face(set.cones[i], lambda, tolerance));
    decompose(out.cones.back(), lambda, static_cast<int>(i), out.start);
  }
  return out;
}

VectorXd combine(const std::vector<WeightedRay>& rays, Index size) {
  VectorXd out = VectorXd::Zero(size);
  for (const WeightedRay& w : rays) out.segment<3>(3 * w.contact) += w.weight * w.ray;
  return out;
}

// Pushes `point` into the relative interior: as long as a program moves something into a larger face, the mean of all points found.
// Returns their number m: what any of them moved off a boundary by the tolerance is off it by 1/m of that in the mean.
double grow_interior(const Set& set, double tolerance, ConeLp& lp, VectorXd& point, bool& complete) {
  Index largest = -1;
  for (double found = 1.0;; found += 1.0) {
    VectorXd cost = VectorXd::Zero(point.size());
    Index dimension = 0;  // of the faces: a disc has one facet at its apex and one on its mantle, so facets do not count
    for (std::size_t i = 0; i < set.cones.size(); ++i) {
      const Index first = 3 * static_cast<Index>(i);
      const Vector3d lambda = point.segment<3>(first);
      dimension += span(smallest_face(set.cones[i], lambda, tolerance / found)).cols();
      if (set.cones[i].empty()) continue;
      for (const Vector3d& f : active_facets(set.cones[i], lambda, tolerance / found)) cost.segment<3>(first) += f.normalized();
    }
    if (dimension <= largest) return found;
    largest = dimension;
    const ConeLp::Outcome outcome = lp.maximise(cost, 0.1 * tolerance, kMostPivots);
    complete = complete && outcome != ConeLp::Outcome::pivot_limit && lp.is_exact();
    VectorXd next = lp.point();
    if (outcome == ConeLp::Outcome::unbounded) next += lp.ray() / lp.ray().cwiseAbs().maxCoeff();
    if (cost.dot(next - point) <= tolerance) return found;
    point = (found * point + next) / (found + 1.0);
  }
}

void find_intervals(Set set, const VectorXd& point, double tolerance, Indeterminacy& out) {
  reduce_rows(set, tolerance);
  ConeLp lp(set.A, set.cones, set.start);
  const Index n = static_cast<Index>(set.cones.size());
  out.normal_min.resize(n);
  out.normal_max.resize(n);
  VectorXd cost = VectorXd::Zero(3 * n);
  for (Index i = 0; i < n; ++i) cost[3 * i] = 1.0;
  // Σ λ_N over F turns reduced costs into an error; when F is unbounded, the sum at hand is an estimate.
  const bool bounded = lp.maximise(cost, kGap, kMostPivots) == ConeLp::Outcome::optimal;
  const double sum = cost.dot(lp.point());
  const VectorXd normals = cost;
  double error = 0.0;
  cost.setZero();
  for (Index i = 0; i < n; ++i) {
    out.normal_min[i] = out.normal_max[i] = point[3 * i];
    if (out.dimension == 0 || out.face_dimension[i] == 0) continue;
    for (const double sign : {-1.0, 1.0}) {
      cost[3 * i] = sign;
      const ConeLp::Outcome outcome = lp.maximise(cost, kGap, kMostPivots);
      out.complete = out.complete && outcome != ConeLp::Outcome::pivot_limit && lp.is_exact();
      const VectorXd found = lp.point();
      error = std::max(error, lp.reduced_cost() * (bounded ? sum : std::max(sum, normals.dot(found))));
      (sign < 0.0 ? out.normal_min : out.normal_max)[i] = outcome == ConeLp::Outcome::unbounded ? kInfinity : std::max(found[3 * i], 0.0);
    }
    cost[3 * i] = 0.0;
  }
  out.pivots += lp.pivots();
  out.normal_min *= set.scale;
  out.normal_max *= set.scale;
  out.interval_error = error * set.scale;
}

// One number per contact that bears to one per contact, 0 for the others.
template <class Numbers>
void spread(const StandardForm& form, std::size_t contacts, Numbers& x) {
  const std::vector<typename Numbers::value_type> part(x.begin(), x.end());
  x.resize(static_cast<decltype(x.size())>(contacts));
  std::fill(x.begin(), x.end(), 0);
  for (std::size_t k = 0; k < form.contacts.size(); ++k) *(x.begin() + form.contacts[k]) = part[k];
}

// F = {λ} where impulses are a function of the motion.
Indeterminacy determined(const Ref& lambda, bool intervals) {
  Indeterminacy out;
  out.interior = lambda;
  const Index n = lambda.size() / 3;
  for (Index i = 0; i < n; ++i) out.face_dimension.push_back(lambda.segment<3>(3 * i).isZero(0.0) ? 0 : 1);
  if (!intervals) return out;
  out.normal_min = lambda(Eigen::seqN(0, n, 3));
  out.normal_max = out.normal_min;
  return out;
}

// The solution's own impulses lie in F.
bool encloses(const Indeterminacy& found, const Ref& lambda, double tolerance) {
  const double allowed = tolerance + found.interval_error;
  for (Index i = 0; i < found.normal_min.size(); ++i) {
    if (lambda[3 * i] < found.normal_min[i] - allowed || lambda[3 * i] > found.normal_max[i] + allowed) return false;
  }
  return true;
}

}  // namespace

Indeterminacy indeterminacy(const ReducedProblem& problem, const LawTerms& law, const Ref& lambda, const Ref& beta,
                            const IndeterminacyOptions& options) {
  require_size("lambda", lambda.size(), 3 * problem.contacts());
  require_size("beta", beta.size(), problem.bounded_rows());
  require_finite("lambda", lambda);
  require_finite("beta", beta);
  require_positive("tolerance", options.tolerance);
  if (law.family == Family::constitutive) return determined(lambda, options.normal_intervals);
  StandardForm form;
  make_standard_form(problem, law, form);
  GrowVector cone_impulses;
  collect_impulses(form, law, lambda, cone_impulses);
  ReducedProblem wide;
  std::vector<int> sizes;
  if (form.compliance.size() > 0) widen(form, wide, sizes);
  Set set = describe(form.compliance.size() > 0 ? wide : form.problem, form, law, cone_impulses, beta, options.tolerance);
  reduce_rows(set, options.tolerance);
  ConeLp lp(set.A, set.cones, set.start);

  Indeterminacy out;
  VectorXd point = combine(set.start, cone_impulses.size());
  const double found = grow_interior(set, options.tolerance, lp, point, out.complete);
  out.pivots = lp.pivots();
  const Set faces = restrict_to_faces(set, point, options.tolerance / found);
  for (const ContactCone& cone : faces.cones) out.face_dimension.push_back(static_cast<int>(span(cone).cols()));
  const MatrixXd columns = times_spans(faces);
  out.dimension = static_cast<int>(columns.cols() - range(columns, kMargin * options.tolerance).cols());
  if (options.normal_intervals) {
    find_intervals(faces, point, options.tolerance, out);
    spread(form, law.contacts.size(), out.normal_min);
    spread(form, law.contacts.size(), out.normal_max);
    out.complete = out.complete && encloses(out, lambda, kMargin * options.tolerance * set.scale);
  }
  spread(form, law.contacts.size(), out.face_dimension);
  expand_impulses(form, law, point * set.scale, out.interior);
  return out;
}

}  // namespace stiction
