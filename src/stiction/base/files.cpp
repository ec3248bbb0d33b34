#include "stiction/base/files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace fs = std::filesystem;

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

}  // namespace stiction
