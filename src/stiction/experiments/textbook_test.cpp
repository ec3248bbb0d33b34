// Every worked example of [T-UA] comes out as its closed form.
#include "stiction/experiments/textbook.hpp"

#include <set>

#include <gtest/gtest.h>

namespace stiction::textbook_test {
namespace {

TEST(Textbook, EveryRowIsItsClosedForm) {
  const ExperimentReport report = run_textbook({});
  std::set<std::string> examples;
  for (const ExperimentRow& row : report.rows) {
    SCOPED_TRACE(row.example + ", " + row.setting + ", " + row.quantity);
    examples.insert(row.example);
    ASSERT_FALSE(row.ours.empty()) << row.note;
    const bool is_trajectory = row.ours.size() > 1;
    // One solve: its tolerance. A trajectory of a scheme of first order: 5 ‰ at 1 ms, as far as 5 steps or 5 mm are of what is measured.
    EXPECT_LE(row.last_error(), is_trajectory ? 5e-3 : 1e-9);
    // First order, but for events, which are found to within a step.
    if (is_trajectory && row.order() && row.example != "hybrid model: falling ball") {
      EXPECT_GT(*row.order(), 0.9);
    }
  }
  EXPECT_EQ(examples.size(), 16u);
}

TEST(Report, ErrorsAreRelativeUnlessTheReferenceIsZero) {
  ExperimentRow row;
  row.reference = 2.0;
  row.ours = {2.4, 2.1, 2.025};
  EXPECT_NEAR(row.error(1), 0.05, 1e-15);
  EXPECT_NEAR(*row.order(), 2.0, 1e-12);  // a quarter of the error at half the step
  row.ours = {2.4, 2.01, 2.009};          // by 40, then by hardly anything
  EXPECT_FALSE(row.order());
  row.ours = {2.4, 2.1, 2.025};
  row.reference = 0.0;
  EXPECT_DOUBLE_EQ(row.last_error(), 2.025);
  row.ours = {1e-10};
  EXPECT_FALSE(row.order());
}

TEST(Report, ARunThatFailsLeavesItsRowsWithTheReason) {
  ExperimentReport report;
  report.steps = {2e-3, 1e-3};
  add_runs(report, "fall", "law", {{"time", "s", 1.0}, {"speed", "m/s", 2.0}}, [](double h) {
    if (h < 2e-3) throw RunFailed("refused at 0.5 s");
    return std::vector<double>{1.0, 2.0};
  });
  ASSERT_EQ(report.rows.size(), 2u);
  for (const ExperimentRow& row : report.rows) {
    EXPECT_TRUE(row.ours.empty());
    EXPECT_EQ(row.note, "refused at 0.5 s");
  }
  const std::string text = to_text(report);
  EXPECT_NE(text.find("failed"), std::string::npos);
  EXPECT_NE(text.find("refused at 0.5 s"), std::string::npos);
}

}  // namespace
}  // namespace stiction::textbook_test
