#include "cli/python.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction::cli {
namespace {

namespace fs = std::filesystem;

/// The interpreter of the environment that this command is installed in.
std::string interpreter(const std::string& what) {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* name : {"python3", "python"}) {
    if (!error && access((folder / name).c_str(), X_OK) == 0) return folder / name;
  }
  throw InvalidArgument(what, "a Python interpreter beside the command", "none in " + folder.string());
}

void execute(std::string python, std::string module, std::vector<std::string> words) {
  std::string flag = "-m";
  std::vector<char*> argv{python.data(), flag.data(), module.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(python.c_str(), argv.data());
}

/// False where the reader has gone away.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

void become_python(const std::string& what, const std::string& module, const std::vector<std::string>& arguments) {
  const std::string python = interpreter(what);
  execute(python, module, arguments);
  throw FileError(python, "", fmt::format("cannot be run: {}", std::strerror(errno)));
}

int run_python(const std::string& what, const std::string& module, const std::vector<std::string>& arguments, std::string_view input) {
  const std::string python = interpreter(what);
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw FileError(python, "", fmt::format("no pipe to it: {}", std::strerror(errno)));
  const pid_t child = fork();
  if (child < 0) throw FileError(python, "", fmt::format("cannot be run: {}", std::strerror(errno)));
  if (child == 0) {
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    execute(python, module, arguments);
    _exit(127);  // what a shell says of a program that cannot be run
  }
  close(ends[0]);
  const auto before = std::signal(SIGPIPE, SIG_IGN);  // a child that ends early is told by its exit code
  write_all(ends[1], input);
  std::signal(SIGPIPE, before);  // whoever reads our output and goes ends this program without a word
  close(ends[1]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace stiction::cli
