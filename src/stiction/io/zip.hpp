// The part of the zip format that numpy's archives use: members stored or deflated, zip64 sizes. Internal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stiction {

struct ZipMember {
  std::string name;
  std::string bytes;
};

/// All members, in the order of the directory; sizes and CRC-32 are checked. Throws FileError.
std::vector<ZipMember> read_zip(const std::string& file, std::string_view archive);

/// An archive of these members, deflated where that saves space. Same members, same bytes. Throws InvalidArgument beyond 4 GiB.
std::string write_zip(const std::vector<ZipMember>& members);

}  // namespace stiction
