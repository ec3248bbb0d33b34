// A comma-separated log: one header line, one row per step, numbers with 17 digits (exact round trip).
#pragma once

#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

namespace stiction {

class CsvLog {
 public:
  /// Opens the file and writes the header. Throws FileError when it cannot be written.
  CsvLog(const std::string& path, const std::vector<std::string>& columns);

  /// Appends to the row being built.
  void add(double value);
  void add(const Eigen::Ref<const Eigen::VectorXd>& values);
  /// Ends the row; throws FileError when the disk is full, InvalidArgument when the row's width is not the header's.
  void end_row();

 private:
  std::string path_;
  std::ofstream file_;
  std::size_t columns_ = 0, filled_ = 0;
  std::string row_;
};

}  // namespace stiction
