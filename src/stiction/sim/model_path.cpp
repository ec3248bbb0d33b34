#include "stiction/sim/model_path.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/files.hpp"

namespace stiction {

namespace fs = std::filesystem;

namespace {

constexpr const char* kModelsVariable = "STICTION_MODELS";

/// The running executable, and the shared library that this code is in where that is another file, as in Python.
std::vector<fs::path> programs() {
  std::error_code error;
  std::vector<fs::path> out{fs::read_symlink("/proc/self/exe", error)};
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&model_path), &info) != 0 && info.dli_fname != nullptr) {
    out.push_back(fs::weakly_canonical(info.dli_fname, error));
  }
  return out;
}

std::vector<fs::path> folders() {
  std::vector<fs::path> out;
  if (const char* folder = std::getenv(kModelsVariable)) out.emplace_back(folder);
  for (const fs::path& program : programs()) {
    for (fs::path folder = program.parent_path(); folder != folder.parent_path(); folder = folder.parent_path()) {
      out.push_back(folder / "share" / "stiction" / "models");
      out.push_back(folder / "models");
    }
  }
  return out;
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::string first_comment(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  if (!line.starts_with("# ")) return {};
  return line.substr(2);
}

std::string where_none_are() {
  const char* named = std::getenv(kModelsVariable);
  std::vector<std::string> above;
  for (const fs::path& program : programs()) {
    if (std::ranges::find(above, program.string()) == above.end()) above.push_back(program.string());
  }
  return fmt::format("{} names {}, and no folder above {} has them in share/stiction/models or models", kModelsVariable,
                     named == nullptr ? "no folder" : fmt::format("'{}', which has none", named), fmt::join(above, " or "));
}

[[noreturn]] void fail(const std::string& name) {
  std::string scenes;
  for (const ShippedScene& scene : shipped_scenes()) scenes += (scenes.empty() ? "" : ", ") + scene.name;
  const std::string folder = shipped_folder();
  throw FileError(name, "",
                  folder.empty() ? "no such file, and no models that come with stiction: " + where_none_are()
                                 : fmt::format("no such file, nor in {}; scenes that come with stiction: {}", folder, scenes));
}

}  // namespace

std::string model_path(const std::string& name) {
  if (is_file(name)) return name;
  for (const fs::path& folder : folders()) {
    for (const fs::path& place : {folder / name, folder / "scenes" / (name + ".toml")}) {
      if (is_file(place)) return place.string();
    }
  }
  std::error_code error;
  if (fs::exists(name, error)) require_file(name);
  fail(name);
}

std::string shipped_folder() {
  for (const fs::path& folder : folders()) {
    std::error_code error;
    if (fs::is_directory(folder / "scenes", error)) return folder.lexically_normal().string();
  }
  return {};
}

std::vector<ShippedScene> shipped_scenes() {
  std::vector<ShippedScene> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(shipped_folder()) / "scenes", error)) {
    if (entry.path().extension() != ".toml") continue;
    out.push_back({entry.path().stem().string(), entry.path().string(), first_comment(entry.path())});
  }
  std::ranges::sort(out, {}, &ShippedScene::name);
  return out;
}

}  // namespace stiction
