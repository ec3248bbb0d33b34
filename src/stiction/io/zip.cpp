#include "stiction/io/zip.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <zlib.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50, kDirectoryEntry = 0x02014b50, kDirectoryEnd = 0x06054b50;
constexpr std::uint32_t kZip64End = 0x06064b50, kZip64Locator = 0x07064b50, kUse64 = 0xffffffff;
constexpr std::uint16_t kStored = 0, kDeflated = 8;
constexpr std::uint64_t kDeflateRatio = 1100;  // deflate shrinks by 1032 at most

// Little-endian reads that never leave the archive.
class Bytes {
 public:
  Bytes(const std::string& file, std::string_view data) : file_(file), data_(data) {}

  [[noreturn]] void fail(std::string_view place, std::string_view reason) const { throw FileError(file_, place, reason); }
  std::string_view part(std::uint64_t begin, std::uint64_t size, std::string_view what) const {
    if (begin > data_.size() || size > data_.size() - begin) fail(what, "the archive is truncated or damaged");
    return data_.substr(begin, size);
  }
  std::uint64_t integer(std::uint64_t begin, int bytes, std::string_view what) const {
    const std::string_view raw = part(begin, static_cast<std::uint64_t>(bytes), what);
    std::uint64_t value = 0;
    for (int i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(raw[static_cast<std::size_t>(i)]);
    return value;
  }
  std::uint64_t u16(std::uint64_t at) const { return integer(at, 2, "zip directory"); }
  std::uint64_t u32(std::uint64_t at) const { return integer(at, 4, "zip directory"); }
  std::uint64_t u64(std::uint64_t at) const { return integer(at, 8, "zip directory"); }
  std::uint64_t size() const { return data_.size(); }

 private:
  std::string file_;
  std::string_view data_;
};

struct Directory {
  std::uint64_t entries, offset;
};

// The end record stands before a comment of at most 65535 bytes.
Directory find_directory(const Bytes& zip) {
  constexpr std::uint64_t kEndSize = 22;
  if (zip.size() < kEndSize) zip.fail("zip", "the archive is truncated");
  const std::uint64_t last = zip.size() - kEndSize, first = last > 65535 ? last - 65535 : 0;
  for (std::uint64_t at = last + 1; at-- > first;) {
    if (zip.u32(at) != kDirectoryEnd) continue;
    if (at >= 20 && zip.u32(at - 20) == kZip64Locator) {
      const std::uint64_t end64 = zip.u64(at - 12);
      if (zip.u32(end64) != kZip64End) zip.fail("zip", "the 64-bit end record is damaged");
      return {zip.u64(end64 + 32), zip.u64(end64 + 48)};
    }
    return {zip.u16(at + 10), zip.u32(at + 16)};
  }
  zip.fail("zip", "no end of the directory: not a zip archive, or a truncated one");
}

struct Entry {
  std::string name;
  std::uint64_t method, crc, packed, size, offset, next;
};

// Sizes of 0xffffffff are found, in this order, in the extra field with tag 1.
void read_zip64_sizes(const Bytes& zip, std::uint64_t begin, std::uint64_t end, Entry& entry) {
  for (std::uint64_t at = begin; at + 4 <= end; at += 4 + zip.u16(at + 2)) {
    if (zip.u16(at) != 1) continue;
    std::uint64_t field = at + 4;
    for (std::uint64_t* value : {&entry.size, &entry.packed, &entry.offset}) {
      if (*value != kUse64) continue;
      *value = zip.u64(field);
      field += 8;
    }
    return;
  }
}

Entry read_entry(const Bytes& zip, std::uint64_t at) {
  if (zip.u32(at) != kDirectoryEntry) zip.fail("zip directory", "damaged");
  const std::uint64_t name = zip.u16(at + 28), extra = zip.u16(at + 30), comment = zip.u16(at + 32);
  Entry entry{std::string(zip.part(at + 46, name, "zip directory")),
              zip.u16(at + 10),
              zip.u32(at + 16),
              zip.u32(at + 20),
              zip.u32(at + 24),
              zip.u32(at + 42),
              at + 46 + name + extra + comment};
  read_zip64_sizes(zip, at + 46 + name, at + 46 + name + extra, entry);
  if ((zip.u16(at + 8) & 1) != 0) zip.fail(entry.name, "encrypted members cannot be read");
  return entry;
}

std::string inflate_member(const Bytes& zip, const Entry& entry, std::string_view packed) {
  if (entry.size > kDeflateRatio * (entry.packed + 1)) zip.fail(entry.name, "the declared size is impossible");
  std::string out(entry.size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) zip.fail(entry.name, "cannot be inflated");
  std::size_t in = 0, made = 0;
  int status = Z_OK;
  while (status == Z_OK) {  // zlib counts in 32 bits
    const std::size_t give = std::min<std::size_t>(packed.size() - in, 1u << 30), room = std::min<std::size_t>(out.size() - made, 1u << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + in));
    stream.avail_in = static_cast<uInt>(give);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = static_cast<uInt>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    in += give - stream.avail_in;
    made += room - stream.avail_out;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || made != out.size()) zip.fail(entry.name, "the compressed data is damaged");
  return out;
}

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string read_member(const Bytes& zip, const Entry& entry) {
  if (zip.u32(entry.offset) != kLocalHeader) zip.fail(entry.name, "the archive is damaged");
  const std::uint64_t begin = entry.offset + 30 + zip.u16(entry.offset + 26) + zip.u16(entry.offset + 28);
  const std::string_view packed = zip.part(begin, entry.packed, entry.name);
  std::string bytes;
  if (entry.method == kStored) {
    if (entry.size != entry.packed) zip.fail(entry.name, "the declared size is wrong");
    bytes = packed;
  } else if (entry.method == kDeflated) {
    bytes = inflate_member(zip, entry, packed);
  } else {
    zip.fail(entry.name, fmt::format("compression method {} is not supported, only stored (0) and deflated (8)", entry.method));
  }
  if (checksum(bytes) != entry.crc) zip.fail(entry.name, "the checksum does not match");
  return bytes;
}

std::string deflate_bytes(const std::string& bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) return bytes;
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(done ? stream.total_out : 0);
  deflateEnd(&stream);
  return done ? out : bytes;
}

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

// The fields that local header and directory entry share, from "version needed" to the lengths of name and extra field.
void put_common(std::string& out, std::uint16_t method, const ZipMember& member, std::uint64_t packed) {
  put(out, 20, 2);  // version needed
  put(out, 0, 2);   // flags
  put(out, method, 2);
  put(out, 0, 2);   // time
  put(out, 33, 2);  // date: 1 January 1980
  put(out, checksum(member.bytes), 4);
  put(out, packed, 4);
  put(out, member.bytes.size(), 4);
  put(out, member.name.size(), 2);
  put(out, 0, 2);
}

}  // namespace

std::vector<ZipMember> read_zip(const std::string& file, std::string_view archive) {
  const Bytes zip(file, archive);
  const Directory directory = find_directory(zip);
  std::vector<ZipMember> members;
  std::uint64_t at = directory.offset, total = 0;
  for (std::uint64_t k = 0; k < directory.entries; ++k) {
    const Entry entry = read_entry(zip, at);
    // Overlapping members could make a small file expand without end.
    total += entry.packed;
    if (total > zip.size()) zip.fail(entry.name, "members overlap");
    members.push_back({entry.name, read_member(zip, entry)});
    at = entry.next;
  }
  return members;
}

std::string write_zip(const std::vector<ZipMember>& members) {
  std::string out, directory;
  for (const ZipMember& member : members) {
    if (member.bytes.size() > std::numeric_limits<std::uint32_t>::max() / 2) {
      throw InvalidArgument(member.name, "at most 2 GiB", fmt::format("{} bytes", member.bytes.size()));
    }
    const std::string packed = deflate_bytes(member.bytes);
    const bool smaller = packed.size() < member.bytes.size();
    const std::string& bytes = smaller ? packed : member.bytes;
    const std::uint64_t offset = out.size();
    put(out, kLocalHeader, 4);
    put_common(out, smaller ? kDeflated : kStored, member, bytes.size());
    out += member.name + bytes;
    put(directory, kDirectoryEntry, 4);
    put(directory, 20, 2);  // version made by
    put_common(directory, smaller ? kDeflated : kStored, member, bytes.size());
    put(directory, 0, 8);  // comment, disk, attributes
    put(directory, 0, 2);
    put(directory, offset, 4);
    directory += member.name;
    if (out.size() > std::numeric_limits<std::uint32_t>::max()) throw InvalidArgument("problem", "an archive below 4 GiB", "a larger one");
  }
  const std::uint64_t offset = out.size();
  out += directory;
  put(out, kDirectoryEnd, 4);
  put(out, 0, 4);
  put(out, members.size(), 2);
  put(out, members.size(), 2);
  put(out, directory.size(), 4);
  put(out, offset, 4);
  put(out, 0, 2);
  return out;
}

}  // namespace stiction
