// StarLETH under Moreau's time-stepping scheme [G14]: Table 1, all eleven configurations (starleth_run.hpp), Figs. 5 and 7, drift, sinking
// and the push-over. Fig. 6 is the experiment `alpha`.
#pragma once

#include "stiction/experiments/report.hpp"

namespace stiction {

/// `quick`: 1.2 s of trot in place of 20, drift over 2 s and, standing, 4 s in place of 60.
ExperimentReport run_starleth(const ExperimentOptions& options);

}  // namespace stiction
