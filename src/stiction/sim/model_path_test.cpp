// Models that come with stiction: what is said where there are none.
#include "stiction/sim/model_path.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/sim/scene.hpp"

namespace stiction::model_path_test {
namespace {

namespace fs = std::filesystem;

const fs::path kElsewhere = "stiction_models_elsewhere";

std::string refusal(const std::string& name) {
  try {
    load_scene(name);
  } catch (const FileError& error) {
    return error.what();
  }
  return {};
}

/// Ends this program; run where no folder above it has models.
[[noreturn]] void look_from_elsewhere() {
  unsetenv("STICTION_MODELS");
  const std::string unnamed = refusal("quadruped");
  setenv("STICTION_MODELS", "/no/models", 1);
  const std::string named = refusal("quadruped");
  const std::string places =
      "and no folder above " + fs::read_symlink("/proc/self/exe").string() + " has them in share/stiction/models or models";
  const std::string said = "quadruped: no such file, and no models that come with stiction: STICTION_MODELS names ";
  fmt::print("{}\n{}\n", unnamed, named);
  std::exit(unnamed == said + "no folder, " + places && named == said + "'/no/models', which has none, " + places ? 0 : 1);
}

TEST(ModelPath, SaysWhereItLookedWhereThereAreNoModels) {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  if (self.filename() == kElsewhere) look_from_elsewhere();
  const fs::path copy = fs::path(testing::TempDir()) / kElsewhere;  // this program, away from the checkout and its models
  fs::copy_file(self, copy, fs::copy_options::overwrite_existing);
  const std::string command = fmt::format("'{}' --gtest_filter=ModelPath.SaysWhereItLookedWhereThereAreNoModels", copy.string());
  EXPECT_EQ(std::system(command.c_str()), 0);
  fs::remove(copy);
}

TEST(ModelPath, NamesFolderAndScenesWhereThereAreModels) {
  const std::string said = refusal("quadrupet");
  EXPECT_THAT(said, testing::HasSubstr("quadrupet: no such file, nor in " + shipped_folder()));
  EXPECT_THAT(said, testing::HasSubstr("quadruped"));
}

}  // namespace
}  // namespace stiction::model_path_test
