// The command `stiction`. Parses, runs what the subcommand asks for, and turns errors into one line on standard error with a hint.
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "stiction/base/errors.hpp"

namespace stiction::cli {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 success; 1 a solve or an experiment failed numerically; 2 bad input or usage; 3 internal error;\n"
    "128 + a signal's number where it ended a simulation, whose files are written as far as it came.\n"
    "`stiction COMMAND --help` lists the options of a command.";

constexpr const char* kNoOutput = "standard output: cannot be written";
constexpr const char* kNoOutputHint = "is its disk full?";

int complain(int code, std::string_view message, std::string_view hint) {
  tell(fmt::format("stiction: {} ({})\n", message, hint));
  return code;
}

/// The exit code where standard output took not all; a run that its terminal's end interrupted is still one that a signal ended.
int without_output() { return Interrupt::signal() != 0 ? Interrupt::exit_code() : complain(kBadInput, kNoOutput, kNoOutputHint); }

/// The command that was chosen, or the experiment of it; `app` where none was.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

std::string usage_hint(const CLI::App& app) {
  std::string command;
  for (const CLI::App* at = &innermost(app); at != &app; at = at->get_parent()) command = at->get_name() + " " + command;
  return fmt::format("see stiction {}--help", command);
}

std::string command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(sub->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// What to expect of an option of integers that did not take a text: CLI11 refuses what its type cannot hold as it does words.
std::string integer_expected(const std::string& text, bool several) {
  const std::size_t digits = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  if (text.size() == digits || text.find_first_not_of("0123456789", digits) != std::string::npos)
    return several ? "integers" : "an integer";
  if (text.starts_with('-')) return fmt::format("an integer of at least {}", std::numeric_limits<int>::min());
  return fmt::format("an integer of at most {}", std::numeric_limits<int>::max());
}

/// "NAME: expected what, got 'value'" of CLI11's "Could not convert: NAME = value".
std::string named_value(const CLI::App& app, const std::string& text) {
  const std::string start = "Could not convert: ", middle = " = ";
  const std::size_t at = text.find(middle);
  if (!text.starts_with(start) || at == std::string::npos) return text;
  const std::string name = text.substr(start.size(), at - start.size());
  const CLI::Option* option = innermost(app).get_option_no_throw(name);
  if (option == nullptr) return text;
  const bool several = option->get_items_expected_max() > 1;
  const std::string value = text.substr(at + middle.size()), number = several ? "numbers" : "a number";
  return fmt::format("{}: expected {}, got '{}'", name, option->get_type_name() == "FLOAT" ? number : integer_expected(value, several),
                     value);
}

std::string said(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> left = app.remaining();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && app.get_subcommands().empty() && !left.empty() &&
      !left.front().starts_with('-'))
    return fmt::format("unknown command '{}': expected one of {}", left.front(), command_names(app));
  return named_value(app, error.what());
}

int run(int argc, char** argv) {
  CLI::App app("Rigid contact both ways: motion from torques, and torques and contact forces from motion.", "stiction");
  app.set_version_flag("--version", "stiction " STICTION_VERSION);
  app.footer(kFooter);
  app.require_subcommand(0, 1);
  Session session;
  add_info(app, session);
  add_simulate(app, session);
  add_inverse(app, session);
  add_solve(app, session);
  add_compare(app, session);
  add_experiment(app, session);
  add_scenes(app, session);
  add_terrain(app, session);
  add_view(app, session);
  add_convert(app, session);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {                       // --help, --version
    const std::vector<std::string> left = app.remaining(true);  // CLI11 looks for them later
    const std::string no = unknown_experiment(*app.get_subcommand("experiment"));
    if (!no.empty()) return complain(kBadInput, "experiment: " + no, usage_hint(app));
    if (!left.empty()) return complain(kBadInput, fmt::format("unknown argument '{}'", left.front()), usage_hint(app));
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return complain(kBadInput, said(app, error), usage_hint(app));
  }
  if (!session.run) return complain(kBadInput, "a command is needed: one of " + command_names(app), usage_hint(app));
  try {
    return session.run();
  } catch (const InvalidArgument& error) {
    return complain(kBadInput, error.what(), usage_hint(app));
  } catch (const FileError& error) {
    return complain(kBadInput, error.what(), usage_hint(app));
  }
}

}  // namespace
}  // namespace stiction::cli

int main(int argc, char** argv) {
  using namespace stiction::cli;
  try {
    const int code = run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return without_output();
    return code;
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return without_output();  // fmt throws what it cannot print
    return complain(kInternalError, error.what(), "this is a defect: please report it with the command line");
  }
}
