// The figures of [ZD15] that the trot has beside its tables, and what the text says of them in one number.
//
//   Fig. 11   largest torque rate of id-qp-mu over time, with stage II and without
//   Fig. 12   joint error over time on the height map
//   Fig. 13   path of the base between the way-points on rigid ground
// The text has no numbers of the curves; ours are of the first start.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stiction/experiments/report.hpp"
#include "stiction/experiments/trot.hpp"

namespace stiction {

/// id-qp-mu on slippery rigid ground with stage II and without.
struct TrotSmoothing {
  TrotResult with, without;
};
/// `run`: set-up, duration and the like.
TrotSmoothing run_smoothing(TrotRun run, std::uint64_t seed);

using TrotRows = std::span<const std::vector<TrotResult>>;  ///< starts of each row

/// A ratio that the text states.
struct TrotClaim {
  std::string quantity;
  double ours, published;
};
/// Those that the rows allow.
std::vector<TrotClaim> trot_claims(TrotRows rows, const std::optional<TrotSmoothing>& smoothing);

/// Those that have curves.
std::vector<Figure> trot_figures(TrotRows rows, const std::optional<TrotSmoothing>& smoothing);

}  // namespace stiction
