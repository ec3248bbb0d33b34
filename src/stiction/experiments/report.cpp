#include "stiction/experiments/report.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace stiction {
namespace {

constexpr double kSolveTolerance = 1e-9;  // SolverOptions::tolerance: what is below it says nothing of the scheme

constexpr double kSteady = 0.5;  // halvings whose slopes differ by more show no order: what is measured jumps with the step

using Line = std::vector<std::string>;

bool has_steps(const ExperimentReport& report) { return !report.steps.empty(); }

/// "4 ms"
std::string step_name(double h) { return fmt::format("{:g} ms", 1e3 * h); }

std::string figure(double value) { return fmt::format("{:.7g}", value == 0.0 ? 0.0 : value); }

/// What shall be 0 is rounding or an error, of which two digits say enough.
std::string ours_text(const ExperimentRow& row) {
  if (row.ours.empty()) return "failed";
  const double value = row.ours.back();
  return row.source != Reference::none && row.reference == 0.0 && value != 0.0 ? fmt::format("{:.1e}", value) : figure(value);
}

/// With its unit where it is absolute.
std::string error_text(const ExperimentRow& row, std::size_t k) {
  if (row.source == Reference::none) return "";
  const double error = row.error(k);
  const std::string number = error == 0.0 ? "0" : fmt::format("{:.1e}", error);
  return row.reference != 0.0 || row.unit.empty() ? number : number + " " + row.unit;
}

Line header(const ExperimentReport& report) {
  Line line{"example", "setting", "quantity", "unit", "ours", "reference"};
  if (!has_steps(report)) line.insert(line.end(), {"error", "note"});
  if (has_steps(report)) {
    for (const double h : report.steps) line.push_back("error, " + step_name(h));
    line.insert(line.end(), {"order", "note"});
  }
  return line;
}

/// Example and setting are named where they change.
Line cells(const ExperimentReport& report, const ExperimentRow& row, const ExperimentRow* last) {
  const bool new_example = last == nullptr || last->example != row.example, new_setting = new_example || last->setting != row.setting;
  Line line{new_example ? row.example : "",
            new_setting ? row.setting : "",
            row.quantity,
            row.unit,
            ours_text(row),
            row.source == Reference::none ? "" : figure(row.reference)};
  const std::size_t columns = std::max<std::size_t>(report.steps.size(), 1), missing = columns - std::min(columns, row.ours.size());
  for (std::size_t k = 0; k < columns; ++k) line.push_back(k < missing ? "" : error_text(row, k - missing));
  if (has_steps(report)) line.push_back(row.order() ? fmt::format("{:.2f}", *row.order()) : "");
  line.push_back(row.note);
  return line;
}

/// Characters, of which some take several bytes.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string aligned(const Line& line, const std::vector<std::size_t>& widths) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string padding(widths[i] - width(line[i]), ' ');
    const bool is_number = i >= 4 && i + 1 < line.size();
    out += is_number ? padding + line[i] : line[i] + padding;
    out += "  ";
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

void add(ExperimentReport& report, const std::string& example, const std::string& setting, const std::vector<Quantity>& quantities,
         const std::vector<std::vector<double>>& figures, const std::string& failure) {
  for (std::size_t i = 0; i < quantities.size(); ++i) {
    const Quantity& q = quantities[i];
    ExperimentRow row{example, setting, q.name, q.unit, q.reference, q.source, {}, q.note};
    for (const std::vector<double>& f : figures) row.ours.push_back(f.at(i));
    if (!failure.empty()) {
      row.ours.clear();
      row.note = failure;
    }
    report.rows.push_back(std::move(row));
  }
}

}  // namespace

double ExperimentRow::error(std::size_t k) const {
  const double difference = std::abs(ours.at(k) - reference);
  return reference == 0.0 ? difference : difference / std::abs(reference);
}

std::optional<double> ExperimentRow::order() const {
  if (source == Reference::none || ours.size() < 2) return {};
  std::vector<double> slopes;  // of each halving of the step
  for (std::size_t k = 0; k < ours.size(); ++k) {
    if (!(error(k) > kSolveTolerance)) return {};
    if (k > 0) slopes.push_back(std::log2(error(k - 1) / error(k)));
  }
  const auto [least, most] = std::minmax_element(slopes.begin(), slopes.end());
  if (*most - *least > kSteady) return {};
  return std::accumulate(slopes.begin(), slopes.end(), 0.0) / static_cast<double>(slopes.size());
}

void add_solve(ExperimentReport& report, const std::string& example, const std::string& setting, const std::vector<Quantity>& quantities,
               const std::function<std::vector<double>()>& run) {
  std::vector<std::vector<double>> figures;
  std::string failure;
  try {
    figures.push_back(run());
  } catch (const RunFailed& failed) {
    failure = failed.what();
  }
  add(report, example, setting, quantities, figures, failure);
}

void add_runs(ExperimentReport& report, const std::string& example, const std::string& setting, const std::vector<Quantity>& quantities,
              const std::function<std::vector<double>(double h)>& run) {
  std::vector<std::vector<double>> figures;
  std::string failure;
  try {
    for (const double h : report.steps) figures.push_back(run(h));
  } catch (const RunFailed& failed) {
    failure = failed.what();
  }
  add(report, example, setting, quantities, figures, failure);
}

std::string to_text(const ExperimentReport& report) {
  std::vector<Line> lines{header(report)};
  const ExperimentRow* last = nullptr;
  for (const ExperimentRow& row : report.rows) {
    lines.push_back(cells(report, row, last));
    last = &row;
  }
  std::vector<std::size_t> widths(lines.front().size(), 0);
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  }
  std::string out;
  for (const Line& line : lines) out += aligned(line, widths);
  return report.legend.empty() ? out : out + report.legend + "\n";
}

}  // namespace stiction
