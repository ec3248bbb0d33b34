// Every classic under the laws that are Coulomb's comes out as its closed form; what other laws make of it is bounded where it is known.
#include "stiction/experiments/classics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <gtest/gtest.h>

namespace stiction::classics_test {
namespace {

using Predicate = std::function<bool(const ExperimentRow&)>;

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

using Rows = std::vector<ExperimentRow>;

/// Rows of these; at least `least`, so that a renamed row cannot go untested.
Rows select(const Rows& all, std::size_t least, const Predicate& wanted) {
  Rows out;
  std::copy_if(all.begin(), all.end(), std::back_inserter(out), wanted);
  EXPECT_GE(out.size(), least);
  return out;
}

void expect_within(const Rows& rows, double bound) {
  for (const ExperimentRow& row : rows) {
    SCOPED_TRACE(row.example + ", " + row.setting + ", " + row.quantity);
    ASSERT_FALSE(row.ours.empty()) << row.note;
    EXPECT_LE(row.last_error(), bound);
  }
}

bool is_coulomb(const ExperimentRow& row) {
  return row.setting.starts_with("coulomb_cone") || row.setting.starts_with("coulomb_pyramid") || row.setting.starts_with("moreau");
}
bool is_threshold(const ExperimentRow& row) {
  return has(row.quantity, "that holds") || has(row.quantity, "that rolls") || has(row.quantity, "at tan θ, μ");
}
bool is_between_vertices(const ExperimentRow& row) {
  return has(row.quantity, "two vertices") || (row.setting == "coulomb_pyramid, 4 edges" && has(row.quantity, "30°")) ||
         (row.setting == "coulomb_pyramid, 32 edges" && has(row.quantity, "30°"));
}

void check_one_solve_of_coulombs_laws_is_exact(const Rows& all) {
  expect_within(select(all, 60,
                       [](const ExperimentRow& r) {
                         return r.ours.size() == 1 && r.source != Reference::none && is_coulomb(r) && !is_threshold(r) &&
                                !is_between_vertices(r);
                       }),
                1e-9);  // the tolerance of the solves
}

// A threshold shows where 20 ms leave 1e-9 m/s: 1e-8 of g.
void check_thresholds_are_found_under_every_rigid_law(const Rows& all) { expect_within(select(all, 25, is_threshold), 1e-7); }

void check_a_pyramid_has_less_friction_between_its_vertices(const Rows& all) {
  for (const ExperimentRow& row : select(all, 2, [](const ExperimentRow& r) { return has(r.quantity, "two vertices"); })) {
    EXPECT_NEAR(row.last_error(), 1.0 - std::sqrt(0.5), 1e-6);
  }
  for (const ExperimentRow& row :
       select(all, 3, [](const ExperimentRow& r) { return r.setting == "coulomb_pyramid, 4 edges aligned" && has(r.quantity, "30°"); })) {
    EXPECT_LT(row.last_error(), has(row.quantity, "distance") ? 6e-3 : 1e-9)
        << row.quantity;  // h/2 of the speed: 5e-3 of the distance at 1 ms
  }
}

// Semi-implicit Euler: the distance is short by h v/2; times within the last step and speeds are exact. Midpoint: so is the distance.
void check_slides_converge_at_first_order(const Rows& all) {
  const auto of_coulomb = [](const ExperimentRow& r) {
    return (r.example == "sliding stop" || has(r.example, "slides, then rolls")) && is_coulomb(r) && !is_between_vertices(r);
  };
  for (const ExperimentRow& row : select(all, 20, of_coulomb)) {
    SCOPED_TRACE(row.example + ", " + row.setting + ", " + row.quantity);
    ASSERT_EQ(row.ours.size(), 3u) << row.note;
    if (has(row.setting, "event_driven")) {
      EXPECT_LE(row.last_error(), 1e-9);  // the end of the slide is an event
    } else if (has(row.setting, "energy_momentum")) {
      EXPECT_LE(row.last_error(), 1e-4);  // second order: a share of (h ω)² = 2e-4 at 14 rad/s
    } else if (has(row.quantity, "distance") && !has(row.setting, "midpoint")) {
      ASSERT_TRUE(row.order());
      EXPECT_NEAR(*row.order(), 1.0, 0.1);
    } else {
      EXPECT_LE(row.last_error(), 1e-9);
    }
  }
}

// An impact comes up to a step late or early: 3 mm of the fall at 1 ms and 4.4 m/s, and the share grows with every bounce.
void check_bounces_are_off_by_a_share_of_a_step(const Rows& all) {
  expect_within(select(all, 12, [](const ExperimentRow& r) { return r.example == "bouncing ball"; }), 3e-2);
  const auto located = [](const ExperimentRow& r) { return has(r.setting, "event_driven") && has(r.quantity, "Zeno"); };
  expect_within(select(all, 2, located), 1e-9);
  expect_within(select(all, 30, [](const ExperimentRow& r) { return r.example.starts_with("cradle"); }), 1e-9);
}

void check_a_rocking_block_loses_what_housner_says(const Rows& all) {
  expect_within(select(all, 6, [](const ExperimentRow& r) { return has(r.quantity, "impact alone"); }), 1e-9);
  expect_within(select(all, 3, [](const ExperimentRow& r) { return has(r.quantity, "tilt after it") && is_coulomb(r); }),
                5e-2);  // as the bounces
}

void check_creep_is_that_of_the_law(const Rows& all) {
  const auto creeps = [](const ExperimentRow& r) { return r.quantity.starts_with("creep"); };
  // stick_slip_spring holds by its spring, the rigid laws by their cone.
  expect_within(select(all, 12,
                       [&](const ExperimentRow& r) {
                         return creeps(r) && !has(r.setting, "todorov") && !has(r.setting, "sap") && !has(r.setting, "regularized");
                       }),
                1e-9);
  // Up to the 1 mm/s at which regularised friction reaches its limit.
  expect_within(select(all, 2, [&](const ExperimentRow& r) { return creeps(r) && has(r.setting, "regularized"); }), 1e-3);
}

void check_a_free_body_keeps_what_it_has(const Rows& all) {
  for (const ExperimentRow& row : select(all, 12, [](const ExperimentRow& r) { return r.example.starts_with("free body"); })) {
    SCOPED_TRACE(row.setting + ", " + row.quantity);
    if (row.setting == "event_driven") {
      EXPECT_LE(row.last_error(), 1e-8);  // h⁴ of rk4
    } else if (has(row.quantity, "direction") && row.setting != "energy_momentum") {
      EXPECT_NEAR(row.order().value_or(0.0), row.setting == "semi_implicit_euler" ? 1.0 : 2.0, 0.1);
    } else {
      EXPECT_LE(row.last_error(), 1e-10);  // rounding of 1e4 steps
    }
  }
  const auto keeps = [](const ExperimentRow& r) {
    return r.example.starts_with("double pendulum, 10 s") && r.setting == "energy_momentum";
  };
  expect_within(select(all, 2, keeps), 1e-10);
}

void check_tops_do_what_they_are_known_for(const Rows& all) {
  for (const ExperimentRow& row : select(all, 6, [](const ExperimentRow& r) { return r.example == "Euler's disc, tilt 40°"; })) {
    SCOPED_TRACE(row.setting + ", " + row.quantity);
    if (row.setting == "event_driven") {
      EXPECT_LE(row.last_error(), 1e-8);
      continue;
    }
    // The contact point moves on along the rim within a step, and what slips is stopped in the next: first order.
    EXPECT_NEAR(row.order().value_or(0.0), 1.0, 0.3);
    EXPECT_LE(row.last_error(), 2e-2);
  }
  expect_within(select(all, 3, [](const ExperimentRow& r) { return has(r.example, "tippe") && has(r.quantity, "tilt"); }),
                2e-2);  // it wobbles still
  const auto jellett = [&](std::string_view scheme) {
    return select(all, 1, [&](const ExperimentRow& r) { return has(r.quantity, "Jellett") && r.setting == scheme; });
  };
  expect_within(jellett("semi_implicit_euler"), 1e-10);
  expect_within(jellett("moreau_midpoint"), 1e-3);  // half a step's straight flight moves the ball's centre off its height
  expect_within(jellett("event_driven"), 1e-6);
  // Four digits of the period's point are published, and steps of 0.1 ms place its impacts to 1 % of its fastest phase.
  const auto published = [](const ExperimentRow& r) { return r.setting == "published equations" && r.source == Reference::published; };
  expect_within(select(all, 3, published), 1e-2);
}

void check_no_run_fails(const Rows& all) {
  for (const ExperimentRow& row : all) {
    EXPECT_FALSE(row.ours.empty()) << row.example << ", " << row.setting << ": " << row.note;
  }
}

TEST(Classics, EveryRowIsItsClosedFormOrOffByWhatItsLawOrSchemeExplains) {
  const Rows all = run_classics({.quick = true}).rows;
  check_one_solve_of_coulombs_laws_is_exact(all);
  check_thresholds_are_found_under_every_rigid_law(all);
  check_a_pyramid_has_less_friction_between_its_vertices(all);
  check_slides_converge_at_first_order(all);
  check_bounces_are_off_by_a_share_of_a_step(all);
  check_a_rocking_block_loses_what_housner_says(all);
  check_creep_is_that_of_the_law(all);
  check_a_free_body_keeps_what_it_has(all);
  check_tops_do_what_they_are_known_for(all);
  check_no_run_fails(all);
}

}  // namespace
}  // namespace stiction::classics_test
