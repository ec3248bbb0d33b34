// What the subcommands of `stiction` share. Each subcommand is one file with one function
//
//   void add_NAME(CLI::App& app, Session& session)
//
// that registers its options and, in its callback, sets `session.run` to what main() shall run after parsing. `run` returns an exit
// code; it may throw InvalidArgument or FileError, which main() prints in one line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "stiction/base/errors.hpp"
#include "stiction/model/world.hpp"

namespace stiction::cli {

/// Exit codes, printed by `stiction --help`.
enum Exit : int { kOk = 0, kNumericalFailure = 1, kBadInput = 2, kInternalError = 3 };

/// Options that every subcommand takes, and the work that the command line asks for.
struct Session {
  std::optional<std::string> json;  ///< --json [FILE]: "-" is standard output
  std::optional<std::string> plot;  ///< --plot FILE, of experiments that have a figure
  bool narrow = false;              ///< --narrow: every plot of the figure by itself
  std::uint64_t seed = 1;           ///< --seed
  bool quiet = false;               ///< --quiet: no progress bar, no table, no warnings
  std::function<int()> run;

  /// Neither switched off nor mixed with JSON on standard output.
  bool prints_table() const { return !quiet && json != "-"; }
};

/// A subcommand with the common options; the caller adds its own.
CLI::App& add_subcommand(CLI::App& app, const std::string& name, const std::string& description, Session& session);

/// Checks of an option's number; what fails is refused in one line with the option's name.
const CLI::Validator& positive_number();     ///< finite, > 0
const CLI::Validator& nonnegative_number();  ///< >= 0, "inf" allowed

/// Check of a name that `read` throws InvalidArgument on where it is none.
template <class Read>
CLI::Validator name_read_by(Read read) {
  const auto complaint = [read](const std::string& text) -> std::string {
    try {
      static_cast<void>(read(text));
    } catch (const InvalidArgument& error) {
      const std::string said = error.what();
      return said.substr(said.find(": ") + 2);  // the option is named before it
    }
    return {};
  };
  return {complaint, ""};
}

/// Check of a file to write: what could not be written, or ends otherwise, is refused before the work whose result it takes. "-" is
/// refused as well: standard output is for --json.
CLI::Validator writable_file(const std::vector<std::string>& endings = {});

/// An option and the file that it names; empty where it names none.
struct NamedFile {
  std::string option, file;
};

/// Throws InvalidArgument where an option names the file of one before it: writing one would destroy the other. Standard output ("-")
/// and devices do not count.
void require_distinct(const std::vector<NamedFile>& files);

/// Writes `text` and a line end to the file, or to standard output for "-". Throws FileError when it cannot be written.
void write_text(const std::string& file, std::string_view text);

/// Text on standard error; what a terminal that is closed does not take is lost, and what runs goes on.
void tell(std::string_view text);

/// The world's warnings on standard error, one line each; nothing with --quiet.
void print_warnings(const World& world, const Session& session);
void print_warnings(const std::vector<std::string>& warnings, const Session& session);

void add_info(CLI::App& app, Session& session);
void add_simulate(CLI::App& app, Session& session);
void add_inverse(CLI::App& app, Session& session);
void add_solve(CLI::App& app, Session& session);
void add_compare(CLI::App& app, Session& session);
void add_experiment(CLI::App& app, Session& session);
/// What to say of a name in `stiction experiment NAME` that is none; empty where there is no such name.
std::string unknown_experiment(const CLI::App& experiment);
void add_scenes(CLI::App& app, Session& session);
void add_terrain(CLI::App& app, Session& session);
void add_view(CLI::App& app, Session& session);
void add_convert(CLI::App& app, Session& session);

}  // namespace stiction::cli
