#include "stiction/experiments/published.hpp"

namespace stiction {

namespace {

struct Ground {
  std::optional<double> position, velocity, share, newtons;  // Tables 3 and 5
};

struct Row {
  std::string_view controller;
  double torque_rate, torque_mean;  // Table 4
  Ground rigid_low, rigid_high, compliant_low, compliant_high;
};

constexpr std::optional<double> kNone;  // not reported, or the robot fell; of compliant ground of high friction our copy is garbled
constexpr Row kTrot[] = {
    {"id-qp-mu",
     52.57,
     0.2016,
     {0.0310, 1.9425, 0.1253, 3.8009},
     {0.0486, 2.2596, 0.2748, 13.8457},
     {0.0217, 2.0365, 0.1712, 7.83},
     {0.0342, 2.9360, 0.3086, 14.92}},
    {"id-qp-inf", 245.5, 0.4239, {0.0483, 2.6295, 0.2226, 8.4567}, {0.0654, 2.5737, 0.2526, 12.4153}, {}, {0.0446, 3.9779, 0.3066, 15.19}},
    {"id-lcp-mu",
     678.0,
     0.8351,
     {0.0239, 1.8386, 0.0194, 0.9371},
     {0.0259, 1.8784, 0.0155, 1.2768},
     {0.0219, 2.0786, 0.0637, 4.64},
     {0.0226, 2.1243, 0.2400, 12.49}},
    {"id-lcp-inf", 351.2, 0.4055, {}, {0.0260, 1.8950, 0.0116, 0.3572}, {}, {}},
    {"pid", 100.2, 0.3413, {0.0895, 1.5569, kNone, kNone}, {0.0916, 1.4653, kNone, kNone}, {0.0850, 1.5845, kNone, kNone}, {}},
    {"id-sensed-1", 974.3, 0.9918, {0.0325, 1.7952, kNone, kNone}, {0.1317, 2.5585, kNone, kNone}, {0.0265, 1.8858, kNone, kNone}, {}},
    {"id-sensed-2", 17528.0, 2.7416, {0.0328, 1.7830, kNone, kNone}, {0.1316, 2.5608, kNone, kNone}, {0.0267, 1.8742, kNone, kNone}, {}},
};

}  // namespace

PublishedTrot published_trot_results(std::string_view controller, std::string_view ground, bool high) {
  for (const Row& row : kTrot) {
    if (row.controller != controller) continue;
    const bool compliant = ground == "compliant";
    const Ground& g = compliant ? (high ? row.compliant_high : row.compliant_low) : (high ? row.rigid_high : row.rigid_low);
    return {g.position, g.velocity, row.torque_rate, row.torque_mean, g.share, g.newtons};
  }
  return {};
}

std::optional<double> published_prox_alpha(std::string_view name) {
  if (name == "HmJ" || name == "HmS" || name == "HEJD" || name == "HESD" || name == "HESP" || name == "HMSP") return 0.6;
  if (name == "HEJP") return 0.5;
  if (name == "HMJP") return 0.4;
  if (name == "HMJD" || name == "HMSD") return 1.0;
  return {};
}

}  // namespace stiction
