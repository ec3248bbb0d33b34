#include "stiction/experiments/model_path.hpp"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace fs = std::filesystem;

std::string model_path(const std::string& name) {
  std::vector<fs::path> places{fs::path(name)};
  if (const char* folder = std::getenv("STICTION_MODELS")) places.push_back(fs::path(folder) / name);
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    places.push_back(executable.parent_path().parent_path() / "share" / "stiction" / "models" / name);
    for (fs::path folder = executable.parent_path(); folder != folder.parent_path(); folder = folder.parent_path()) {
      places.push_back(folder / "models" / name);
    }
  }
  for (const fs::path& place : places) {
    if (fs::exists(place, error)) return place.string();
  }
  std::string looked;
  for (const fs::path& place : places) looked += (looked.empty() ? "" : ", ") + place.string();
  throw FileError(name, "", "no such model; looked at " + looked);
}

}  // namespace stiction
