// Nothing ends a run, forces are those of statics, and what sticks stays.
#include "stiction/experiments/endurance.hpp"

#include <gtest/gtest.h>

namespace stiction::endurance_test {
namespace {

TEST(Endurance, NoRunEndsAndWhatIsKnownInClosedFormHolds) {
  const ExperimentReport report = run_endurance({.quick = true});
  int closed_forms = 0;
  for (const ExperimentRow& row : report.rows) {
    SCOPED_TRACE(row.example + ", " + row.setting + ", " + row.quantity);
    ASSERT_EQ(row.ours.size(), 1u) << row.note;
    if (row.source == Reference::closed_form) {
      EXPECT_LE(row.last_error(), 1e-9);
      ++closed_forms;
    }
    if (row.quantity == "deepest overlap") {
      EXPECT_LT(row.ours[0], 5.0);
    }
    if (row.quantity == "lowest body at the end") {
      EXPECT_GT(row.ours[0], 0.0);
    }
    if (row.quantity == "energy gained, over the fall's") {
      EXPECT_LT(row.ours[0], 1e-2);
    }
  }
  EXPECT_EQ(closed_forms, 24);
}

}  // namespace
}  // namespace stiction::endurance_test
