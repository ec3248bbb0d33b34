// What an experiment yields: rows, each with our figure beside a closed form or a published one, at one step length or at several.
//
//   error = |ours - reference| / |reference|, or |ours - reference| in the row's unit where the reference is 0
//   order = slope of log(error) over log(step)
// A run that cannot be taken to its end leaves a row without figures, whose note says why.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace stiction {

struct ExperimentOptions {
  bool quick = false;      ///< the same rows, shortened
  std::uint64_t seed = 1;  ///< of everything random
};

/// Where the figure beside ours comes from. own: a run of ours at a shorter step. none: it stands alone, as what the note says it is.
enum class Reference { closed_form, published, own, none };

struct ExperimentRow {
  std::string example;         ///< which experiment of several: "rolling ball"
  std::string setting;         ///< law, solver and the like
  std::string quantity, unit;  ///< the unit of ours and reference
  double reference = 0.0;
  Reference source = Reference::closed_form;
  std::vector<double> ours;  ///< one per step of the report, or a single one that no step length enters; empty: the run failed
  std::string note;

  /// Of ours[k].
  double error(std::size_t k) const;
  double last_error() const { return error(ours.size() - 1); }
  /// Absent where there is one step length alone, where an error is below 1e-9, the tolerance of the solves, or where the halvings disagree
  /// (events, whose error jumps with the step). Step lengths are halved from one to the next.
  std::optional<double> order() const;
};

struct Curve {
  std::string name;
  std::vector<double> x, y;  ///< as many of each
};

/// What --plot draws beside the rows: a published figure, redone.
struct Figure {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  bool equal = false;  ///< one unit of x is as long as one of y
  std::vector<Curve> curves;
};

struct ExperimentReport {
  std::vector<double> steps;  ///< s, descending; empty: no row has more than one figure
  std::vector<ExperimentRow> rows;
  std::vector<Figure> figures;
  std::string legend;  ///< printed below the table
};

/// Ends a run that cannot go on; what() becomes the note of its rows.
class RunFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a run measures, in the order of its figures.
struct Quantity {
  std::string name, unit;
  double reference = 0.0;
  std::string note = {};
  Reference source = Reference::closed_form;
};

/// Rows of one run that no step length enters.
void add_solve(ExperimentReport& report, const std::string& example, const std::string& setting, const std::vector<Quantity>& quantities,
               const std::function<std::vector<double>()>& run);
/// Rows of one run at each of the report's step lengths.
void add_runs(ExperimentReport& report, const std::string& example, const std::string& setting, const std::vector<Quantity>& quantities,
              const std::function<std::vector<double>(double h)>& run);

/// Columns as wide as they need to be, one line per row, the legend below.
std::string to_text(const ExperimentReport& report);

}  // namespace stiction
