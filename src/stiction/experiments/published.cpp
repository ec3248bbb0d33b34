#include "stiction/experiments/published.hpp"

namespace stiction {

PublishedTrot published_trot_results(std::string_view controller, bool high) {
  if (controller == "id-qp-mu") {
    return high ? PublishedTrot{0.0486, 2.2596, 52.57, 0.2016, 0.2748, 13.8457}
                : PublishedTrot{0.0310, 1.9425, 52.57, 0.2016, 0.1253, 3.8009};
  }
  if (controller == "id-qp-inf") {
    return high ? PublishedTrot{0.0654, 2.5737, 245.5, 0.4239, 0.2526, 12.4153}
                : PublishedTrot{0.0483, 2.6295, 245.5, 0.4239, 0.2226, 8.4567};
  }
  if (controller == "id-lcp-mu") {
    return high ? PublishedTrot{0.0259, 1.8784, 678.0, 0.8351, 0.0155, 1.2768}
                : PublishedTrot{0.0239, 1.8386, 678.0, 0.8351, 0.0194, 0.9371};
  }
  if (controller == "id-lcp-inf") {
    return high ? PublishedTrot{0.0260, 1.8950, 351.2, 0.4055, 0.0116, 0.3572} : PublishedTrot{{}, {}, 351.2, 0.4055, {}, {}};
  }
  if (controller == "pid") {
    return high ? PublishedTrot{0.0916, 1.4653, 100.2, 0.3413, {}, {}} : PublishedTrot{0.0895, 1.5569, 100.2, 0.3413, {}, {}};
  }
  if (controller == "id-sensed-1") {
    return high ? PublishedTrot{0.1317, 2.5585, 974.3, 0.9918, {}, {}} : PublishedTrot{0.0325, 1.7952, 974.3, 0.9918, {}, {}};
  }
  if (controller == "id-sensed-2") {
    return high ? PublishedTrot{0.1316, 2.5608, 17528.0, 2.7416, {}, {}} : PublishedTrot{0.0328, 1.7830, 17528.0, 2.7416, {}, {}};
  }
  return {};
}

std::optional<double> published_prox_alpha(std::string_view name) {
  if (name == "HmJ" || name == "HmS" || name == "HESP" || name == "HMSP") return 0.6;
  if (name == "HEJP") return 0.5;
  if (name == "HMJP") return 0.4;
  return {};
}

}  // namespace stiction
