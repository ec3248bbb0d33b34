// Zip archives in memory, through libzip: members stored or deflated, as numpy's archives have them. Internal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stiction {

struct ZipMember {
  std::string name;
  std::string bytes;
};

/// All members, in the order of the directory; sizes and checksums are checked before memory is asked for or bytes are given. Throws
/// FileError.
std::vector<ZipMember> read_zip(const std::string& file, std::string_view archive);

/// An archive of these members. Same members, same bytes. Throws InvalidArgument on a name that comes twice.
std::string write_zip(const std::vector<ZipMember>& members);

}  // namespace stiction
