// Experiments whose result is rows (stiction/experiments/report.hpp): the table on standard output, the same rows as JSON.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/experiment.hpp"
#include "cli/python.hpp"
#include "stiction/base/errors.hpp"

namespace stiction::cli {
namespace {

using Json = nlohmann::ordered_json;

Json row_to_json(const ExperimentRow& row) {
  Json out{{"example", row.example}, {"setting", row.setting}, {"quantity", row.quantity}, {"unit", row.unit}};
  out["ours"] = row.ours.empty() ? Json() : Json(row.ours.back());
  const bool has_reference = row.source != Reference::none;
  out["published"] = row.source == Reference::published ? Json(row.reference) : Json();
  out["own"] = row.source == Reference::own ? Json(row.reference) : Json();
  out["exact"] = row.source == Reference::closed_form ? Json(row.reference) : Json();
  out["error"] = has_reference && !row.ours.empty() ? Json(row.last_error()) : Json();
  out["error_is_relative"] = row.reference != 0.0;
  out["ours_by_step"] = row.ours;
  out["order"] = row.order() ? Json(*row.order()) : Json();
  out["note"] = row.note;
  return out;
}

int print_report(const ExperimentReport& report, const Session& session) {
  if (session.prints_table()) fmt::print("{}", to_text(report));
  Json out{{"steps", report.steps}, {"rows", Json::array()}, {"figures", Json::array()}};
  for (const ExperimentRow& row : report.rows) out["rows"].push_back(row_to_json(row));
  for (const Figure& figure : report.figures) out["figures"].push_back(to_json(figure));
  write_result(session, out);
  return kOk;
}

}  // namespace

Json to_json(const Figure& figure) {
  Json out{{"title", figure.title}, {"x_label", figure.x_label}, {"y_label", figure.y_label}, {"log_x", figure.log_x},
           {"log_y", figure.log_y}, {"equal", figure.equal},     {"curves", Json::array()}};
  for (const Curve& curve : figure.curves) out["curves"].push_back({{"name", curve.name}, {"x", curve.x}, {"y", curve.y}});
  return out;
}

void write_result(const Session& session, const Json& result) {
  if (session.json) write_text(*session.json, result.dump(2));
  if (!session.plot) return;
  std::vector<std::string> arguments{*session.plot};
  if (session.narrow) arguments.emplace_back("--narrow");
  if (run_python("--plot", "stiction.plot", arguments, result.dump()) != 0) {
    throw FileError(*session.plot, "", "the figure was not drawn");
  }
}

void add_report(CLI::App& sub, Session& session, ExperimentReport (*run)(const ExperimentOptions&)) {
  auto quick = std::make_shared<bool>(false);
  sub.add_flag("--quick", *quick, "The same rows, shortened");
  sub.callback([quick, &session, run] {
    session.run = [quick, &session, run] { return print_report(run({.quick = *quick, .seed = session.seed}), session); };
  });
}

}  // namespace stiction::cli
