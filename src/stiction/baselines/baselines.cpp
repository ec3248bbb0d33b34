#include "stiction/baselines/baselines.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/baselines/peer_solvers.hpp"
#include "stiction/laws/generators.hpp"
#include "stiction/laws/lowering.hpp"
#include "stiction/laws/pyramid_lcp.hpp"
#include "stiction/problem/standard_form.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

#ifdef STICTION_PINOCCHIO_SOLVERS
constexpr bool kPinocchio = true;
#else
constexpr bool kPinocchio = false;
#endif
#ifdef STICTION_SICONOS
constexpr bool kSiconos = true;
#else
constexpr bool kSiconos = false;
#endif

#ifdef STICTION_PROXSUITE
constexpr bool kProxsuite = true;
#else
constexpr bool kProxsuite = false;
#endif

void require_supported(Baseline baseline, const ReducedProblem& p) {
  if (!is_built(baseline)) throw InvalidArgument("baseline", "one that this build has", fmt::format("'{}'", to_string(baseline)));
  if (p.bounded_rows() > 0) throw InvalidArgument("problem", "no bounded rows", fmt::format("{}", p.bounded_rows()));
  require_nonnegative("mu", p.mu, false);
}

[[maybe_unused]] peers::DenseContacts dense(const ReducedProblem& p) {
  peers::DenseContacts out;
  const MatrixXd Rt = p.Rt.to_dense();
  out.W.noalias() = Rt * Rt.transpose();
  if (p.defect.size() > 0) out.W += p.defect;
  out.q = p.u_free;
  for (Index i = 0; i < p.contacts(); ++i) out.q[3 * i] += p.offset[i];
  out.mu = p.mu;
  return out;
}

// N S T -> S T N and back.
[[maybe_unused]] Eigen::PermutationMatrix<Eigen::Dynamic> tangents_first(Index n) {
  Eigen::PermutationMatrix<Eigen::Dynamic> P(3 * n);
  for (Index i = 0; i < n; ++i) {
    P.indices()[3 * i] = static_cast<int>(3 * i + 2);
    P.indices()[3 * i + 1] = static_cast<int>(3 * i);
    P.indices()[3 * i + 2] = static_cast<int>(3 * i + 1);
  }
  return P;
}

[[maybe_unused]] int iteration_limit(Index n, const BaselineOptions& options) {
  const double sweep = 18.0 * static_cast<double>(std::max<Index>(n * n, 1));
  return static_cast<int>(std::clamp(options.flops / sweep, 100.0, static_cast<double>(options.max_iterations)));
}

using PeerSolver = peers::Answer (*)(const peers::DenseContacts&, double, int);

[[maybe_unused]] peers::Answer by_pinocchio(const ReducedProblem& p, const BaselineOptions& options, PeerSolver solver) {
  peers::DenseContacts contacts = dense(p);
  const auto P = tangents_first(p.contacts());
  contacts.W = P * contacts.W * P.transpose();
  contacts.q = P * contacts.q;
  peers::Answer answer = solver(contacts, options.tolerance, iteration_limit(p.contacts(), options));
  answer.x = P.transpose() * answer.x;
  return answer;
}

using LcpSolver = peers::Answer (*)(const MatrixXd&, const VectorXd&, int);

[[maybe_unused]] peers::Answer by_lcp(const ReducedProblem& p, const BaselineOptions& options, LcpSolver solver) {
  PyramidLcpWorkspace lcp;
  build_pyramid_lcp(p, options.edges, lcp);
  peers::Answer answer = solver(lcp.M, lcp.q, options.max_iterations);
  const Index n = p.contacts(), k = options.edges;
  VectorXd lambda = VectorXd::Zero(3 * n);
  for (Index i = 0; i < n; ++i) {
    lambda[3 * i] = answer.x[i];
    for (Index j = 0; j < k; ++j) {
      const double angle = 2.0 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(k), f = answer.x[n + i * k + j];
      lambda.segment<2>(3 * i + 1) += f * Eigen::Vector2d(std::cos(angle), std::sin(angle));
    }
  }
  answer.x = lambda;
  return answer;
}

using QpSolver = peers::Answer (*)(const MatrixXd&, const VectorXd&, double, int);

[[maybe_unused]] peers::Answer by_qp(const ReducedProblem& p, const BaselineOptions& options, QpSolver solver) {
  if (p.defect.size() > 0) throw InvalidArgument("problem", "a symmetric positive semidefinite W for a convex QP", "another W");
  Generators g;
  StandardForm form;
  LawModel anitescu;
  anitescu.law = Law::anitescu;
  anitescu.edges = options.edges;
  make_standard_form(p, lowered(p, anitescu), form);
  make_generators(form.problem, GeneratorKind::cone, form.edges, g);
  const MatrixXd A = g.storage.transpose();
  peers::Answer answer = solver(A, g.c, options.tolerance, options.max_iterations);
  GrowVector lambda, beta;
  expand(p, g, answer.x, lambda, beta);
  answer.x = lambda;
  return answer;
}

// Branches that this build goes without are discarded before they ask for a symbol that is not there.
peers::Answer dispatch(Baseline baseline, const ReducedProblem& p, const BaselineOptions& options) {
  if constexpr (kPinocchio) {
    if (baseline == Baseline::pinocchio_admm) return by_pinocchio(p, options, peers::pinocchio_admm);
    if (baseline == Baseline::pinocchio_pgs) return by_pinocchio(p, options, peers::pinocchio_pgs);
  }
  if constexpr (kSiconos) {
    if (baseline == Baseline::siconos_nsgs) return peers::siconos_nsgs(dense(p), options.tolerance, iteration_limit(p.contacts(), options));
    if (baseline == Baseline::siconos_lexicolemke) return by_lcp(p, options, peers::siconos_lexicolemke);
  }
  if constexpr (kProxsuite) {
    if (baseline == Baseline::proxqp) return by_qp(p, options, peers::proxqp);
  }
  return {};
}

}  // namespace

std::string_view to_string(Baseline baseline) {
  constexpr std::array<std::string_view, kBaselines.size()> kNames{"pinocchio_admm", "pinocchio_pgs", "siconos_nsgs", "siconos_lexicolemke",
                                                                   "proxqp"};
  return kNames[static_cast<std::size_t>(baseline)];
}

bool is_built(Baseline baseline) {
  switch (baseline) {
    case Baseline::pinocchio_admm:
    case Baseline::pinocchio_pgs:
      return kPinocchio;
    case Baseline::siconos_nsgs:
    case Baseline::siconos_lexicolemke:
      return kSiconos;
    case Baseline::proxqp:
      return kProxsuite;
  }
  return false;
}

Law law_of(Baseline baseline) {
  if (baseline == Baseline::siconos_lexicolemke) return Law::coulomb_pyramid;
  return baseline == Baseline::proxqp ? Law::anitescu : Law::coulomb_cone;
}

BaselineSolution solve_by_baseline(Baseline baseline, const ReducedProblem& problem, const BaselineOptions& options) {
  require_supported(baseline, problem);
  if (problem.contacts() == 0) return {VectorXd(0), true, 0, 0.0};
  peers::Answer answer = dispatch(baseline, problem, options);
  if (!answer.x.allFinite()) {
    answer.x.setZero();
    answer.converged = false;
  }
  return {std::move(answer.x), answer.converged, answer.iterations, answer.seconds};
}

}  // namespace stiction
