#include "stiction/base/files.hpp"

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

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

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Files, AreReplacedWhole) {
  const fs::path folder = fs::path(testing::TempDir()) / "stiction_files_replaced", file = folder / "file", link = folder / "link";
  fs::remove_all(folder);
  fs::create_directories(folder);
  write_file(file.string(), "first");
  EXPECT_EQ(text_of(file), "first");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(file, link);
  write_file(link.string(), "second");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(text_of(file), "second");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
  fs::remove_all(folder);
}

// What a full disk does to a write, a limit on the size of files does too.
TEST(Files, AWriteThatFailsLeavesWhatIsThere) {
  const fs::path folder = fs::path(testing::TempDir()) / "stiction_files_kept", file = folder / "file", other = folder / "new";
  fs::remove_all(folder);
  fs::create_directories(folder);
  write_file(file.string(), "kept");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto write = [](const std::string& path) { write_file(path, std::string(100'000, 'x')); };
  const std::string first = complaint(write, file), second = complaint(write, other);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(first, file.string() + ": cannot be written: File too large");
  EXPECT_EQ(second, other.string() + ": cannot be written: File too large");
  EXPECT_EQ(text_of(file), "kept");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace stiction
