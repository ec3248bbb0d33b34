// Primal-dual interior point on the contacts' cones and the bounded rows: Mehrotra's predictor-corrector with one step length, the
// linear system in the r-space [ZD15, Eqs. 48-61 for the polygon]. Feasible in every equation but a = u_N + c - κ s and the bounded
// rows', whose residual shrinks by 1 - step length. Where the path of centres turns back (Coulomb's law is not monotone) steps become
// short; a short step is followed by one of pure centring. `follow` goes through such turns: of the curve z(m) of centres, m alone is no
// parameter there, its length is, and dm along the curve has the sign of -det of the Jacobian [Allgower and Georg 1990, ch. 2 and 3]. What
// is eliminated contact by contact has positive pivots, so the sign is that of the r-space matrix. Correction onto the curve and step along
// it are taken in one linear solve of three right-hand sides; a step along it that ends at the boundary is taken back and made shorter with
// the same factors, for what it cuts off is the correction, and away from the curve the sign of the determinant means nothing.
#pragma once

#include <algorithm>
#include <cmath>

#include "stiction/programs/cone/memory.hpp"

namespace stiction {

inline constexpr double kFraction = 0.995;      ///< of the way to the boundary of the cones
inline constexpr double kFractionEarly = 0.95;  ///< the same until the mean product has fallen to kEarly of its first value
inline constexpr double kEarly = 1e-4;          ///< points that hug the boundary this early jam later
inline constexpr double kShortStep = 0.1;       ///< a step shorter than this is followed by one of pure centring

inline constexpr double kFractionOfPath = 0.9;                        ///< of the way to the boundary, when the path is followed
inline constexpr double kShortestReach = 0.02, kLongestReach = 30.0;  ///< of one step along the path
inline constexpr double kSureStep = 0.5;                              ///< a shorter one is taken again with less reach,
inline constexpr double kLessReach = 0.4;                             ///< this part of it
inline constexpr double kSmallestProduct = 0.1;                       ///< over their mean, after a step along the path

template <class Cones>
class Interior {
 public:
  Interior(const ReducedProblem& problem, ConeMemory& memory, Cones& cones) : problem_(problem), m_(memory), cones_(cones) {}

  /// Impulses t / scale along the normals, every complementarity product about t².
  void start(double t) {
    m_.lambda.setZero();
    for (int i = 0; i < problem_.contacts(); ++i) m_.lambda[3 * i] = t / m_.start_scale[i];
    m_.boxes.start(m_.row_scale, t, m_.beta);
    place(problem_, m_);
    cones_.start(m_.start_scale, m_.offset, t, m_.u, m_.lambda);
    m_.dlambda.setZero();
    m_.dbeta.setZero();
    length_ = 1.0;
    mean_ = first_mean_ = mean_product(0.0);
  }

  /// Mean complementarity product (J): the parameter of the path.
  double mean() const { return mean_; }

  /// One step; its length, or a negative number when the linear system has no solution.
  double step() {
    cones_.eliminate(m_.u, m_.lambda, m_.D);
    m_.boxes.eliminate(m_.w, m_.beta, m_.Db);
    --m_.budget;
    if (!m_.space.factor(m_.D, m_.Db)) return -1.0;
    double sigma = 1.0;
    const bool centre = length_ < kShortStep;
    if (!centre) {
      const double affine = std::min(1.0, direction({0.0, false}));
      const double ratio = std::clamp(mean_product(affine) / mean_, 0.0, 1.0);
      sigma = ratio * ratio * ratio;
    }
    length_ = std::min(1.0, (mean_ > kEarly * first_mean_ ? kFractionEarly : kFraction) * direction({sigma * mean_, !centre}));
    if (!std::isfinite(length_) || !m_.dlambda.allFinite()) return -1.0;
    move();
    return length_;
  }

  /// One step along the path of centres, which may lead back to larger products: dm changes its sign with the determinant. Minimal-norm
  /// correction onto the path and a predictor of length `reach` (changes of impulses, velocities and m over themselves); its length as in
  /// `step`.
  double follow(double& reach) {
    cones_.eliminate(m_.u, m_.lambda, m_.D);
    m_.boxes.eliminate(m_.w, m_.beta, m_.Db);
    --m_.budget;
    if (!m_.space.factor(m_.D, m_.Db)) return -1.0;
    direction({mean_, false});
    m_.path_lambda = m_.dlambda;
    m_.path_beta = m_.dbeta;
    relative_direction(m_.path_contacts, m_.path_rows);
    direction({0.0, false});
    relative_direction(m_.tangent_contacts, m_.tangent_rows);
    m_.dlambda = m_.path_lambda - m_.dlambda;  // dλ / d log m
    m_.dbeta = m_.path_beta - m_.dbeta;
    m_.tangent_contacts = m_.path_contacts - m_.tangent_contacts;  // and of the point over itself
    m_.tangent_rows = m_.path_rows - m_.tangent_rows;
    const double squared = 1.0 + m_.tangent_contacts.squaredNorm() + m_.tangent_rows.squaredNorm();
    const double across = (m_.path_contacts.dot(m_.tangent_contacts) + m_.path_rows.dot(m_.tangent_rows)) / squared;
    const double forward = m_.space.positive_determinant() ? -1.0 : 1.0;
    for (;; reach = std::max(kLessReach * reach, kShortestReach)) {
      const double change = std::max(forward * reach / std::sqrt(squared) - across, -0.95);
      length_ = std::min(1.0, kFractionOfPath * direction({(1.0 + change) * mean_, false}));
      if (!std::isfinite(length_) || !m_.dlambda.allFinite()) return -1.0;
      stay_near_path(change);
      if (length_ >= kSureStep || reach == kShortestReach) break;
    }
    if (length_ < kSureStep && last_reach_ > kShortestReach) {
      go_back();
      reach = last_reach_ = std::max(kLessReach * last_reach_, kShortestReach);
      return kSureStep;
    }
    last_reach_ = reach;
    keep_point();
    if (length_ == 1.0) reach = std::min(1.5 * reach, kLongestReach);
    move();
    return length_;
  }

 private:
  double smallest_product(double step) const {
    return std::min(cones_.smallest(step, m_.u, m_.lambda, m_.du, m_.dlambda), m_.boxes.smallest(step, m_.beta, m_.dbeta));
  }

  void keep_point() {
    m_.last_lambda = m_.lambda;
    m_.last_beta = m_.beta;
    m_.last(cones_) = cones_;
    m_.last_boxes = m_.boxes;
  }

  // To the point before the last step, which led too far from the path to come back to it.
  void go_back() {
    m_.lambda = m_.last_lambda;
    m_.beta = m_.last_beta;
    cones_ = m_.last(cones_);
    m_.boxes = m_.last_boxes;
    place(problem_, m_);
    mean_ = mean_product(0.0);
  }

  // Shortens the step, which changes m by this part of it, until no product has fallen far below the mean: it would take many steps back.
  void stay_near_path(double change) {
    const double floor = std::min(kSmallestProduct * mean_, 0.9 * smallest_product(0.0));
    for (int k = 0; k < 20 && smallest_product(length_) < (1.0 + length_ * std::min(change, 0.0)) * floor; ++k) length_ *= 0.7;
  }

  // The last direction over the point. Impulses alone would not do: where a contact is about to slip, the path turns within a hair of them.
  void relative_direction(GrowVector& contacts, GrowVector& rows) const {
    cones_.relative(m_.lambda, m_.dlambda, contacts);
    m_.boxes.relative(m_.beta, m_.dbeta, rows);
  }

  void move() {
    m_.lambda += length_ * m_.dlambda;
    m_.beta += length_ * m_.dbeta;
    cones_.advance(length_);
    m_.boxes.advance(length_);
    place(problem_, m_);
    mean_ = mean_product(0.0);
  }

  double mean_product(double step) const {
    const int count = cones_.count() + m_.boxes.count();
    if (count == 0) return 0.0;
    return (cones_.products(step, m_.u, m_.lambda, m_.du, m_.dlambda) + m_.boxes.products(step, m_.beta, m_.dbeta)) / count;
  }

  // Solves for the direction; returns the longest step that stays in the cones.
  double direction(const Target& target) {
    cones_.right_hand_side(target, m_.u, m_.lambda, m_.dlambda);
    m_.boxes.right_hand_side(target, m_.w, m_.beta, m_.dbeta);
    m_.space.gather(m_.dlambda, m_.dbeta, m_.dy);
    m_.space.solve(m_.dy);
    m_.space.velocities(m_.dy, m_.du, m_.dw);
    return std::min(cones_.recover(m_.D, m_.u, m_.lambda, m_.du, m_.dlambda), m_.boxes.recover(m_.Db, m_.beta, m_.dw, m_.dbeta));
  }

  const ReducedProblem& problem_;
  ConeMemory& m_;
  Cones& cones_;
  double mean_ = 0.0, first_mean_ = 0.0, length_ = 1.0;
  double last_reach_ = 0.0;  // of the last step along the path
};

}  // namespace stiction
