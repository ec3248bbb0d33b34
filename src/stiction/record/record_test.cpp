#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/record/csv_log.hpp"
#include "stiction/record/metrics.hpp"

namespace stiction::record_test {
namespace {

TEST(CsvLog, RoundTripsNumbersAndChecksWidth) {
  const std::string path = testing::TempDir() + "stiction_csv_test.csv";
  {
    CsvLog log(path, {"time", "q_0", "q_1"});
    log.add(0.1);
    log.add(Eigen::Vector2d(1.0 / 3.0, -2e-300));
    log.end_row();
    log.add(1.0);
    EXPECT_THROW(log.end_row(), InvalidArgument);
  }
  std::ifstream file(path);
  std::string header, row;
  std::getline(file, header);
  std::getline(file, row);
  EXPECT_EQ(header, "time,q_0,q_1");
  double a = 0, b = 0, c = 0;
  ASSERT_EQ(std::sscanf(row.c_str(), "%lf,%lf,%lf", &a, &b, &c), 3);
  EXPECT_EQ(b, 1.0 / 3.0);
  EXPECT_EQ(c, -2e-300);
  std::filesystem::remove(path);
  EXPECT_THROW(CsvLog("/no/such/folder/log.csv", {"a"}), FileError);
}

// A row that is in a buffer when the log goes would be lost without a word.
TEST(CsvLog, ARowThatCannotBeWrittenIsRefusedAtItsEnd) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  CsvLog log("/dev/full", {"a"});
  log.add(1.0);
  EXPECT_THROW(log.end_row(), FileError);
}

TEST(TrackingMetrics, MeansOverJointsAndTime) {
  TrackingMetrics m;
  const Eigen::Vector2d zero = Eigen::Vector2d::Zero();
  m.add(Eigen::Vector2d(1, -3), zero, Eigen::Vector2d(2, 0), zero, Eigen::Vector2d(1, 1), 0.5);
  m.add(Eigen::Vector2d(0, 0), zero, Eigen::Vector2d(0, 0), zero, Eigen::Vector2d(2, -1), 0.5);
  EXPECT_DOUBLE_EQ(m.position.mean(), 1.0);
  EXPECT_DOUBLE_EQ(m.velocity.mean(), 0.5);
  EXPECT_DOUBLE_EQ(m.torque.mean(), 1.25);
  EXPECT_DOUBLE_EQ(m.torque_rate.mean(), 3.0);
}

TEST(ForceMetrics, RelativeToTheMeanForce) {
  ForceMetrics f;
  f.add(11.0, 10.0);
  f.add(29.0, 30.0);
  EXPECT_DOUBLE_EQ(f.relative(), 1.0 / 20.0);
}

}  // namespace
}  // namespace stiction::record_test
