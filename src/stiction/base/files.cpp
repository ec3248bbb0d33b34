#include "stiction/base/files.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace fs = std::filesystem;

namespace {

/// The error that ended it, 0 for none.
int write_bytes(const fs::path& path, std::string_view bytes) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return out ? 0 : errno != 0 ? errno : EIO;
}

/// A name in the file's own folder that no other thread or process writes to.
fs::path name_beside(const fs::path& file) {
  static std::atomic<int> written = 0;
  return file.parent_path() / fmt::format(".stiction-{}-{}", getpid(), written++);
}

/// Whether a file of another name can take its place: not that of a device, nor in a folder where nothing can be made.
bool is_replaceable(const fs::path& file) {
  std::error_code error;
  return (!fs::exists(file, error) || fs::is_regular_file(file, error)) && access(file.parent_path().c_str(), W_OK | X_OK) == 0;
}

}  // namespace

std::string tidy_path(const fs::path& path) {
  std::error_code error;
  const fs::path normal = path.lexically_normal();
  return (fs::equivalent(path, normal, error) ? normal : path).string();
}

void require_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw FileError(path, "", "no such file");
  if (fs::is_directory(status)) throw FileError(path, "", "a folder, not a file");
  if (!fs::is_regular_file(status)) throw FileError(path, "", "not a regular file");
}

void require_writable(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) throw FileError(path, "", "cannot be written: a folder of that name is there");
  const fs::path parent = fs::path(path).parent_path(), folder = parent.empty() ? fs::path(".") : parent;
  if (!fs::is_directory(folder, error)) throw FileError(path, "", fmt::format("cannot be written: no folder {}", folder.string()));
  const bool allowed = fs::exists(status) ? access(path.c_str(), W_OK) == 0 : access(folder.c_str(), W_OK | X_OK) == 0;
  if (!allowed) throw FileError(path, "", fmt::format("cannot be written: {}", std::strerror(errno)));
}

void write_file(const std::string& path, std::string_view bytes) {
  require_writable(path);
  std::error_code error;
  const fs::path target = fs::weakly_canonical(fs::absolute(path), error);  // a link stays one
  if (error) throw FileError(path, "", fmt::format("cannot be written: {}", error.message()));
  const bool beside = is_replaceable(target);
  const fs::path file = beside ? name_beside(target) : target;
  const int failure = write_bytes(file, bytes);
  if (failure != 0) error.assign(failure, std::generic_category());
  if (beside && !error && fs::exists(target)) fs::permissions(file, fs::status(target).permissions(), error);
  if (beside && !error) fs::rename(file, target, error);
  if (!error) return;
  std::error_code ignored;
  if (beside) fs::remove(file, ignored);
  throw FileError(path, "", fmt::format("cannot be written: {}", error.message()));
}

}  // namespace stiction
