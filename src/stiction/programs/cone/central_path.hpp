// The central path, followed by its length from an easy point to the solution.
//
// `smooth_cones.hpp` leaves the equations r(w, ν) = 0 between pairs whose products are ν² exactly. At the start w_0, ν_0 they hold up to
// r_0, and the path is the curve
//     G(w, ν) = r(w, ν) - (ν/ν_0)² r_0 = 0,                       ν from ν_0 to 0
// the infeasible central path of interior points [Kojima, Megiddo and Mizuno 1993]: at ν = 0 the contact law holds. Coulomb's law is not
// monotone, so the path may turn back to larger ν on its way; its length is a parameter even there, and dν along it has the sign of -det of
// the Jacobian [Allgower and Georg 1990, ch. 2 and 3], which is that of the r-space matrix: what is eliminated contact by contact has
// positive pivots. One factorisation a step, and with it
//     correction  G_w dw = -G              Newton to the path
//     tangent     G_w dw/dν = -G_ν         along the path
// A step is both together, the longest that ends within the neighbourhood |G|_inf <= β ν of the path, found by evaluating G alone. If none
// is found and Newton cannot return to the path, the last step is repeated with a smaller β, and the ones before it if that fails: where
// contacts creep, a point with a residual below ν may lie thousands of ν away from the path, and Newton from there creeps too.
// Newton's correction tells: a point that it moves by more than its own size is not near the path, whatever |G| is. The correction grows
// with G, so β narrows to where it would be as long as the point [an affine-invariant neighbourhood: Deuflhard 2004, ch. 5].
// Why w and not (x, z): products are exact, so nothing ever leaves the cones, and friction may turn by any angle in one step. Near the
// boundary of a second-order cone an interior point may turn it by √(ν²/(x_0 s)) at most, which made paths of 700 steps.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "stiction/programs/cone/smooth_equations.hpp"

namespace stiction {

/// Where a path begins, and how closely it is followed.
struct PathStart {
  double size;   ///< ν_0 over the size of the problem
  double width;  ///< largest β
};

template <class Cones>
class CentralPath {
 public:
  /// Starts from the point whose impulses and velocities are all `size` (sqrt of an energy).
  CentralPath(const ReducedProblem& problem, ConeMemory& memory, Cones& cones, double size, double width)
      : m_(memory), equations_(problem, memory, cones), first_nu_(size), width_(width), beta_(width), nu_(size) {
    equations_.start(size, m_.point);
    evaluate(m_.point, nu_);
    m_.first_residual = m_.residual;
  }

  double nu() const { return nu_; }
  /// dν of the last step over ν before it: negative forwards.
  double last_step() const { return last_step_; }

  /// One factorisation and a step, or the way back to the last point. False when no step leads on.
  bool step() {
    if (!equations_.factor()) return false;
    set_residual(nu_, m_.wanted);
    equations_.direction(0.0, m_.correction);
    m_.wanted = (-2.0 * nu_ / (first_nu_ * first_nu_)) * m_.first_residual;
    equations_.direction(2.0 * nu_, m_.tangent);
    square_ = 1.0 + m_.tangent.squaredNorm();
    if (!std::isfinite(square_) || !m_.correction.allFinite()) return false;
    narrow_by_correction();
    const bool forward = m_.space.positive_determinant();
    if (forward != forward_) level_ = std::max(level_, kCautious);
    forward_ = forward;
    const double nu = nu_;
    const bool moved = go_on() || correct() || go_back() || approach();
    last_step_ = nu_ / nu - 1.0;
    return moved;
  }

 private:
  struct Way {
    double correction;  ///< part of it
    bool shortest;      ///< to the nearest point of the path, not to that with the same ν
  };
  struct Trial {
    double nu, error;
  };
  /// dν/ν of the steps that are tried, from bold to timid, then kTimid times less each.
  static constexpr double kParts[] = {0.999, 0.99, 0.96, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1};
  static constexpr int kListed = static_cast<int>(std::size(kParts)), kLevels = kListed + 12;
  static constexpr double kTimid = 0.4;
  static constexpr int kCautious = 6;     // level after a turn: 0.5
  static constexpr double kBack = 8.0;    // longest step backwards, over ν: a path that turns back seldom goes far
  static constexpr double kLeast = 1e-3;  // of ν in one step: the boldest one
  static constexpr int kPatience = 40;    // of ten problems of a dense pile 12 leave seven unsolved, 40 and 100 four
  // Changes of β, and where it ends: 1e-4 leaves 2 of 480 requests of a robot whose feet creep unsolved, 1e-2 20.
  static constexpr double kNarrower = 0.25, kWider = 2.0, kNarrowest = 1e-8;

  double length(int level) const {
    const double whole = nu_ * std::sqrt(square_);
    if (!forward_) return whole * kBack * std::pow(0.5, level);
    return whole * (level < kListed ? kParts[level] : kParts[kListed - 1] * std::pow(kTimid, level - kListed + 1));
  }

  Trial attempt(const Way& way, double length) {
    const double nearest = way.shortest ? -way.correction * m_.correction.dot(m_.tangent) / square_ : 0.0;
    const double along = (forward_ ? -length : length) / std::sqrt(square_);
    const double nu = std::max(nu_ + nearest + along, kLeast * nu_);
    m_.trial = m_.point + way.correction * m_.correction + (nu - nu_) * m_.tangent;
    return {nu, evaluate(m_.trial, nu)};
  }

  bool near(const Trial& t) const { return t.error <= beta_ * t.nu; }

  void accept(const Trial& t) {
    std::swap(m_.point, m_.trial);
    nu_ = t.nu;
    error_ = t.error;
  }

  // |w| + 2 ν is a bound of x + z, the size of the pairs.
  void narrow_by_correction() {
    const double size = m_.point.template lpNorm<Eigen::Infinity>() + 2.0 * nu_;
    const double correction = m_.correction.template lpNorm<Eigen::Infinity>();
    if (correction > size) narrow(error_ / nu_ * (size / correction));
  }

  void narrow(double to) { beta_ = std::min(beta_, std::max(kNarrowest, to)); }

  // The longest step that stays near the path.
  bool go_on() {
    static constexpr Way kWays[] = {{1.0, false}, {1.0, true}, {0.0, false}};  // the last where the point is near enough as it is
    const int first = std::clamp(level_ - 1, 0, kLevels / 2);
    for (const Way& way : kWays) {
      if (way.correction == 0.0 && error_ > 0.5 * beta_ * nu_) continue;
      level_ = first;
      Trial t = attempt(way, length(level_));
      const bool long_enough = near(t);
      if (!long_enough && !shorten(way, t)) continue;
      remember();
      wanted_error_ = kInfinity;
      if (long_enough) lengthen(way, t);
      accept(t);
      beta_ = std::min(kWider * beta_, width_);
      return true;
    }
    return false;
  }

  // An evaluation costs as much as a factorisation where bodies are many, so lengths that the error's growth so far forbids are not tried,
  // and none where a step of no length is too far from the path already.
  bool shorten(const Way& way, Trial& t) {
    const Trial none = way.correction == 0.0 ? Trial{nu_, error_} : attempt(way, 0.0);
    if (!near(none)) return false;
    do {
      const Trial longer = t;
      const double from = length(level_);
      double part = 1.0;
      do {
        if (++level_ == kLevels) return false;
        part = length(level_) / from;
      } while (!near({nu_ + part * (longer.nu - nu_), none.error + cube(part) * std::max(0.0, longer.error - none.error)}));
      t = attempt(way, length(level_));
    } while (!near(t));
    return true;
  }

  void lengthen(const Way& way, Trial& best) {
    while (level_ > 0) {
      const double part = length(level_ - 1) / length(level_);
      if (!near({std::max(kLeast * nu_, nu_ + part * (best.nu - nu_)), part * part * best.error})) return;
      std::swap(m_.kept, m_.trial);
      const Trial t = attempt(way, length(level_ - 1));
      if (!near(t)) {
        std::swap(m_.kept, m_.trial);
        evaluate(m_.trial, best.nu);
        return;
      }
      --level_;
      best = t;
    }
  }

  // How the error grows with a step's length, found by counting: with the square, which Newton's remainder is, steps end too short.
  static double cube(double x) { return x * x * x; }

  // Newton to the path from a point outside of the neighbourhood that has become narrower, where Newton converges.
  bool correct() {
    constexpr double kConverges = 0.7;  // part of the error that is left
    if (near({nu_, error_})) return false;
    for (const bool shortest : {false, true}) {
      const Trial t = attempt({1.0, shortest}, 0.0);
      if (!(t.error * nu_ < kConverges * error_ * t.nu)) continue;
      accept(t);
      return true;
    }
    return false;
  }

  void remember() {
    newest_ = (newest_ + 1) % m_.last.size();
    remembered_ = std::min(remembered_ + 1, m_.last.size());
    m_.last[newest_] = m_.point;
    last_nu_[newest_] = nu_;
  }

  // The step that led too far from the path is to be taken again in a narrower neighbourhood.
  bool go_back() {
    if (remembered_ == 0) return false;
    narrow(kNarrower * std::min(beta_, error_ / nu_));
    std::swap(m_.point, m_.last[newest_]);
    nu_ = last_nu_[newest_];
    newest_ = (newest_ + m_.last.size() - 1) % m_.last.size();
    --remembered_;
    error_ = evaluate(m_.point, nu_);
    level_ += 2;
    return true;
  }

  // Damped Newton to the path at this ν, as long as that halves the error in so many steps: where it creeps, the path is lost.
  bool approach() {
    constexpr int kHalvings = 12;
    constexpr double kDecrease = 0.2;  // of what Newton promises
    if (error_ < wanted_error_) {
      wanted_error_ = 0.5 * error_;
      approaches_ = 0;
    }
    if (++approaches_ > kPatience) return false;
    double part = 1.0;
    for (int k = 0; k < kHalvings; ++k, part *= 0.5) {
      const Trial t = attempt({part, false}, 0.0);
      if (!(t.error < (1.0 - kDecrease * part) * error_)) continue;
      accept(t);
      return true;
    }
    return false;
  }

  // G at w, and its largest entry.
  double evaluate(const GrowVector& w, double nu) {
    equations_.evaluate(w, nu);
    set_residual(nu, m_.wanted);
    return m_.wanted.size() > 0 ? m_.wanted.lpNorm<Eigen::Infinity>() : 0.0;
  }

  void set_residual(double nu, GrowVector& G) const {
    const double part = nu / first_nu_;
    G = m_.residual - (part * part) * m_.first_residual;
  }

  ConeMemory& m_;
  SmoothEquations<Cones> equations_;
  const double first_nu_, width_;
  double beta_, nu_, error_ = 0.0, last_step_ = 0.0;
  std::array<double, kPathPoints> last_nu_{};
  std::size_t newest_ = 0, remembered_ = 0;  // of the points before
  double square_ = 1.0;                      // 1 + |tangent|²
  int level_ = 4;                            // of the last step
  bool forward_ = true;
  double wanted_error_ = kInfinity;  // of `approach`, since the last step along the path
  int approaches_ = 0;
};

}  // namespace stiction
