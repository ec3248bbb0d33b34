// Iterations of JOR and SOR against the relaxation α [G14, Fig. 6], on the steps of a scene: a quadruped that lands and stands under a
// stiff joint hold, pushed sideways meanwhile. Motion and contact problems come from law moreau with the exact solver; each problem is then
// solved once per α, scheme and set of coordinates, so that all face the same problems.
//
//   minimal    joint coordinates: only contacts are iterated on                     HmJ, HmS
//   extended   limbs cut from the base: bilateral rows direct, or iterated on too   HEJD, HESD; HEJP, HESP
//   maximal    every body by itself, likewise                                       HMJD, HMSD; HMJP, HMSP
// The stopping test is the published one, T_rel = T_abs, on the impulses that are iterated on.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stiction {

struct AlphaSweepOptions {
  std::vector<double> alphas{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9};
  double tolerance = 1e-6;             ///< T_rel = T_abs [G14]
  int max_iterations = 2000;           ///< after which an iteration counts as not converging
  double push = 1.0;                   ///< N, sideways on the base during the middle fifth of the run
  int stride = 10;                     ///< every so many steps a problem is taken
  std::optional<double> duration, dt;  ///< s; absent: the scene's
  bool warm_start = false;             ///< from the impulses of the problem before; false: from zero
};

struct AlphaPoint {
  double alpha = 0.0;
  double mean_iterations = 0.0;  ///< over the problems that converged
  int most_iterations = 0;
  int failures = 0;  ///< problems that did not converge
};

struct AlphaCurve {
  std::string name;                       ///< as in [G14, Table 1]
  std::string coordinates;                ///< minimal, extended or maximal
  std::string scheme;                     ///< jor or sor
  std::optional<double> published_alpha;  ///< chosen in [G14, Table 1], half of the largest that converges
  std::vector<AlphaPoint> points;
  std::optional<double> largest;  ///< largest α of the list up to which every problem converges
  std::optional<double> fastest;  ///< α of the fewest mean iterations among those without failures
};

struct AlphaSweep {
  std::vector<AlphaCurve> curves;
  int problems = 0, steps = 0;
  double mean_contacts = 0.0;
};

/// `scene`: name of a file, or of a scene that comes with stiction, with one robot on a floating base. Throws InvalidArgument on options
/// out of range or a scene that does not fit.
AlphaSweep sweep_alpha(const std::string& scene, const AlphaSweepOptions& options);

}  // namespace stiction
