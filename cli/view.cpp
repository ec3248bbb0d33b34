// stiction view, stiction convert: hand over to the Python package of the same environment (python -m stiction.view,
// stiction.convert).
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "stiction/base/errors.hpp"

namespace stiction::cli {
namespace {

namespace fs = std::filesystem;

/// The interpreter of the environment that this command is installed in.
std::string interpreter() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* name : {"python3", "python"}) {
    if (!error && access((folder / name).c_str(), X_OK) == 0) return folder / name;
  }
  throw InvalidArgument("stiction", "a Python interpreter beside the command", "none in " + folder.string());
}

int run(std::string module, const std::vector<std::string>& arguments) {
  std::string python = interpreter(), flag = "-m";
  std::vector<std::string> words = arguments;
  std::vector<char*> argv{python.data(), flag.data(), module.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(python.c_str(), argv.data());
  throw FileError(python, "", fmt::format("cannot be run: {}", std::strerror(errno)));
}

void add(CLI::App& app, Session& session, const char* name, const char* about, const char* module) {
  CLI::App& sub = *app.add_subcommand(name, about);
  sub.set_help_flag();  // the program that takes over has its own
  sub.prefix_command();
  sub.callback([&sub, &session, module] { session.run = [&sub, module] { return run(module, sub.remaining()); }; });
}

}  // namespace

void add_view(CLI::App& app, Session& session) {
  add(app, session, "view", "A scene, a robot or a recorded run in the browser, as a web page or as a picture", "stiction.view");
}

void add_convert(CLI::App& app, Session& session) {
  add(app, session, "convert", "A recorded run in another format: .npz, .mcap", "stiction.convert");
}

}  // namespace stiction::cli
