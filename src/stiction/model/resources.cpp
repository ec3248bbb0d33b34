#include "stiction/model/resources.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "stiction/base/files.hpp"

namespace stiction {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> package_roots(const std::string& robot_file, const std::vector<std::string>& package_dirs) {
  std::vector<fs::path> roots(package_dirs.begin(), package_dirs.end());
  std::error_code ignored;
  for (fs::path up = fs::absolute(robot_file, ignored).parent_path();; up = up.parent_path()) {
    roots.push_back(up);
    if (up == up.parent_path()) break;
  }
  if (const char* variable = std::getenv("ROS_PACKAGE_PATH")) {
    std::string_view rest(variable);
    while (!rest.empty()) {
      const std::size_t colon = rest.find(':');
      if (colon != 0) roots.emplace_back(rest.substr(0, colon));
      rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    }
  }
  return roots;
}

std::string existing(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) ? tidy_path(fs::absolute(path, ignored)) : std::string();
}

/// `root` holds the package's folder, or is the package's folder.
std::string in_package(const fs::path& root, const fs::path& relative) {
  if (std::string found = existing(root / relative); !found.empty()) return found;
  const fs::path package = *relative.begin();
  return root.filename() == package ? existing(root.parent_path() / relative) : std::string();
}

}  // namespace

std::string find_resource(const std::string& uri, const std::string& robot_file, const std::vector<std::string>& package_dirs) {
  constexpr std::string_view package = "package://", file = "file://";
  if (uri.starts_with(package)) {
    const std::size_t begin = uri.find_first_not_of('/', package.size());
    if (begin == std::string::npos) return {};
    const fs::path relative = uri.substr(begin);
    for (const fs::path& root : package_roots(robot_file, package_dirs)) {
      if (std::string found = in_package(root, relative); !found.empty()) return found;
    }
    return {};
  }
  const fs::path path = uri.starts_with(file) ? uri.substr(file.size()) : uri;
  return existing(path.is_absolute() ? path : fs::path(robot_file).parent_path() / path);
}

}  // namespace stiction
