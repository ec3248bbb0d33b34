#include "cli/command.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/files.hpp"

namespace stiction::cli {

namespace {

CLI::Validator number_check(const std::string& expected, bool (*is_valid)(double)) {
  const auto complaint = [expected, is_valid](const std::string& text) {
    double value = 0.0;
    if (CLI::detail::lexical_cast(text, value) && is_valid(value)) return std::string();
    return fmt::format("expected {}, got '{}'", expected, text);
  };
  return {complaint, ""};
}

/// What a scene file can hold too; without the check a sign wraps and what is too large is cut.
std::string seed_complaint(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end && value >= 0) return {};
  return fmt::format("expected an integer in [0, 2^63), got '{}'", text);
}

namespace fs = std::filesystem;

/// One path for all ways to name a file, whether there is one or not; empty where nothing can be destroyed.
fs::path path_of(const std::string& file) {
  std::error_code error;
  if (file.empty() || file == "-" || fs::is_other(file, error)) return {};
  const fs::path whole = fs::absolute(file, error);  // a relative name of what is not there would stay relative
  const fs::path found = fs::weakly_canonical(whole, error);
  return error ? whole.lexically_normal() : found;
}

}  // namespace

CLI::Validator writable_file(const std::vector<std::string>& endings) {
  const auto complaint = [endings](const std::string& file) -> std::string {
    const auto fits = [&](const std::string& ending) { return file.ends_with(ending); };
    if (!endings.empty() && std::ranges::none_of(endings, fits)) {
      return fmt::format("expected a file name that ends in {}, got '{}'", fmt::join(endings, " or "), file);
    }
    if (file.empty()) return "expected a file, got ''";
    if (file == "-") return "expected a file, got '-': --json alone writes to standard output";
    try {
      require_writable(file);
    } catch (const FileError& error) {
      return error.what();
    }
    return {};
  };
  return {complaint, ""};
}

const CLI::Validator& positive_number() {
  static const CLI::Validator check = number_check("a finite number > 0", [](double x) { return x > 0.0 && std::isfinite(x); });
  return check;
}

const CLI::Validator& nonnegative_number() {
  static const CLI::Validator check = number_check("a number >= 0 or inf", [](double x) { return x >= 0.0; });
  return check;
}

void require_distinct(const std::vector<NamedFile>& files) {
  std::vector<fs::path> before;
  for (const NamedFile& named : files) {
    const fs::path path = path_of(named.file);
    if (!path.empty() && std::ranges::find(before, path) != before.end()) {
      throw InvalidArgument(named.option, "a file that no other option names", "'" + named.file + "'");
    }
    before.push_back(path);
  }
}

CLI::App& add_subcommand(CLI::App& app, const std::string& name, const std::string& description, Session& session) {
  CLI::App& sub = *app.add_subcommand(name, description);
  const auto set_json = [&session](const std::string& file) { session.json = file; };
  const CLI::Validator is_writable = writable_file();
  const auto complaint = [is_writable](const std::string& file) { return file == "-" ? std::string() : is_writable(file); };
  sub.add_option_function<std::string>("--json", set_json, "Print JSON instead of a table; to FILE when one is named")
      ->expected(0, 1)
      ->check(CLI::Validator(complaint, ""))
      ->type_name("[FILE]")
      ->default_str("-");
  sub.add_option("--seed", session.seed, "Seed of everything random")->check(CLI::Validator(seed_complaint, ""))->capture_default_str();
  sub.add_flag("--quiet,-q", session.quiet, "No progress bar, no table and no warnings");
  return sub;
}

void write_text(const std::string& file, std::string_view text) {
  if (file == "-") {
    fmt::print("{}\n", text);
    return;
  }
  write_file(file, fmt::format("{}\n", text));
}

void tell(std::string_view text) { static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr)); }

void print_warnings(const World& world, const Session& session) { print_warnings(world.warnings(), session); }

void print_warnings(const std::vector<std::string>& warnings, const Session& session) {
  if (session.quiet) return;
  for (const std::string& warning : warnings) tell(fmt::format("warning: {}\n", warning));
}

}  // namespace stiction::cli
