// Whether files can be read and written, asked before the work that needs them.
#pragma once

#include <string>

namespace stiction {

/// Throws FileError that says whether there is nothing at `path`, or something that is not a file.
void require_file(const std::string& path);

/// Throws FileError that says why a file at `path` could not be written: a folder of that name, no folder for it, no permission. The file
/// is neither made nor changed.
void require_writable(const std::string& path);

}  // namespace stiction
