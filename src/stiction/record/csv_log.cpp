#include "stiction/record/csv_log.hpp"

#include <iterator>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

/// Quoted where a comma, a quote or a line end would be taken for the table's own.
std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"\n\r") == std::string::npos) return name;
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

}  // namespace

CsvLog::CsvLog(const std::string& path, const std::vector<std::string>& columns) : path_(path), file_(path), columns_(columns.size()) {
  if (!file_) throw FileError(path, "", "cannot be written");
  for (std::size_t i = 0; i < columns.size(); ++i) file_ << (i == 0 ? "" : ",") << quoted(columns[i]);
  file_ << '\n';
}

void CsvLog::add(double value) {
  fmt::format_to(std::back_inserter(row_), "{}{}", filled_ == 0 ? "" : ",", value);
  ++filled_;
}

void CsvLog::add(const Eigen::Ref<const Eigen::VectorXd>& values) {
  for (Eigen::Index i = 0; i < values.size(); ++i) add(values[i]);
}

void CsvLog::end_row() {
  require_size(fmt::format("row of {}", path_), static_cast<Eigen::Index>(filled_), static_cast<Eigen::Index>(columns_));
  file_ << row_ << '\n' << std::flush;  // what is left for the end cannot be refused there
  if (!file_) throw FileError(path_, "", "write failed");
  row_.clear();
  filled_ = 0;
}

}  // namespace stiction
