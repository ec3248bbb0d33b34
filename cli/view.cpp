// stiction view, plot, report, convert, sweep: hand over to the Python package of the same environment (python -m stiction.view, ...).
#include "cli/command.hpp"
#include "cli/python.hpp"

namespace stiction::cli {
namespace {

void add(CLI::App& app, Session& session, const char* name, const char* about, const char* module) {
  CLI::App& sub = *app.add_subcommand(name, about);
  sub.set_help_flag();  // the program that takes over has its own
  sub.prefix_command();
  sub.callback([&sub, &session, module] { session.run = [&sub, module]() -> int { become_python("stiction", module, sub.remaining()); }; });
}

}  // namespace

void add_view(CLI::App& app, Session& session) {
  add(app, session, "view", "Scenes, robots and recorded runs in the browser, as a page, a picture or a film", "stiction.view");
  add(app, session, "plot", "Figures of a recorded run or of an experiment, as SVG and PNG", "stiction.figures");
  add(app, session, "report", "A web page about a recorded run: pictures, figures, residuals, the steps that were hard", "stiction.report");
}

void add_convert(CLI::App& app, Session& session) {
  add(app, session, "convert", "A recorded run in another format: .npz, .mcap, .rrd", "stiction.convert");
  add(app, session, "sweep", "An experiment at every point of a grid, on several processes or machines", "stiction.sweep");
}

}  // namespace stiction::cli
