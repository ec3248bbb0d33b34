// Whether files can be read and written, asked before the work that needs them; and how they are written.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace stiction {

/// Throws FileError that says whether there is nothing at `path`, or something that is not a file.
void require_file(const std::string& path);

/// Throws FileError that says why a file at `path` could not be written: a folder of that name, no folder for it, no permission. The file
/// is neither made nor changed.
void require_writable(const std::string& path);

/// `path` without "." and "..", where that names the same file: not where ".." follows a link to a folder.
std::string tidy_path(const std::filesystem::path& path);

/// Writes a file. One that is there is replaced when all is written; where that fails it stays as it was, and FileError says why.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace stiction
