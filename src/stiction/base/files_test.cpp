#include "stiction/base/files.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"

namespace stiction {
namespace {

namespace fs = std::filesystem;

std::string complaint(void (*require)(const std::string&), const fs::path& path) {
  try {
    require(path.string());
  } catch (const FileError& error) {
    return error.what();
  }
  return {};
}

TEST(Files, AreAskedForWhatIsThere) {
  const fs::path folder = fs::path(testing::TempDir()) / "stiction_files_test", file = folder / "file";
  fs::remove_all(folder);
  fs::create_directories(folder);
  EXPECT_NE(complaint(require_file, file).find("no such file"), std::string::npos);
  EXPECT_NE(complaint(require_file, folder).find("a folder, not a file"), std::string::npos);
  EXPECT_NE(complaint(require_file, "/dev/null").find("not a regular file"), std::string::npos);
  EXPECT_EQ(complaint(require_writable, file), "");
  EXPECT_FALSE(fs::exists(file));
  std::ofstream(file) << "kept";
  EXPECT_EQ(complaint(require_file, file), "");
  EXPECT_EQ(complaint(require_writable, file), "");
  EXPECT_EQ(fs::file_size(file), 4U);
  EXPECT_NE(complaint(require_writable, folder).find("a folder of that name"), std::string::npos);
  EXPECT_NE(complaint(require_writable, folder / "none" / "file").find("no folder"), std::string::npos);
  EXPECT_NE(complaint(require_writable, file / "file").find("no folder"), std::string::npos);
  EXPECT_EQ(complaint(require_writable, "in_the_working_folder"), "");
  EXPECT_EQ(complaint(require_writable, "/dev/null"), "");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace stiction
