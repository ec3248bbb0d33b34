#include "stiction/io/zip.hpp"

#include <cstdint>
#include <memory>

#include <fmt/format.h>
#include <zip.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

constexpr std::uint64_t kDeflateRatio = 1100;  // deflate shrinks by 1032 at most
constexpr std::uint32_t kDeflateLevel = 1;     // numbers of a run shrink by a tenth more at 9, libzip's own, which takes ten times as long

/// What libzip says went wrong.
class ZipError {
 public:
  ZipError() { zip_error_init(&error_); }
  ~ZipError() { zip_error_fini(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  zip_error_t* get() { return &error_; }
  std::string text() { return zip_error_strerror(&error_); }

 private:
  zip_error_t error_;
};

using Source = std::unique_ptr<zip_source_t, decltype(&zip_source_free)>;
using Archive = std::unique_ptr<zip_t, decltype(&zip_discard)>;
using OpenMember = std::unique_ptr<zip_file_t, decltype(&zip_fclose)>;

/// An archive in memory; `source` stays the caller's, too.
Archive open_archive(zip_source_t* source, int flags, ZipError& error) {
  if (source == nullptr) return {nullptr, &zip_discard};
  zip_source_keep(source);
  Archive archive(zip_open_from_source(source, flags, error.get()), &zip_discard);
  if (!archive) zip_source_free(source);
  return archive;
}

std::string read_member(const std::string& file, zip_t* zip, const zip_stat_t& stat) {
  const auto fail = [&](std::string_view reason) { throw FileError(file, stat.name, reason); };
  if (stat.encryption_method != ZIP_EM_NONE) fail("encrypted members cannot be read");
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    fail(fmt::format("compression method {} is not supported, only stored (0) and deflated (8)", stat.comp_method));
  }
  if (stat.size > kDeflateRatio * (stat.comp_size + 1)) fail("the declared size is impossible");
  const OpenMember member(zip_fopen_index(zip, stat.index, 0), &zip_fclose);
  if (!member) fail(zip_strerror(zip));
  std::string bytes(stat.size, '\0');
  if (zip_fread(member.get(), bytes.data(), bytes.size()) != static_cast<zip_int64_t>(bytes.size())) fail("the compressed data is damaged");
  char beyond = 0;
  const zip_int64_t more = zip_fread(member.get(), &beyond, 1);  // where the member ends the checksum is looked at
  if (more != 0) fail(more < 0 ? zip_file_strerror(member.get()) : "the declared size is wrong");
  return bytes;
}

}  // namespace

std::vector<ZipMember> read_zip(const std::string& file, std::string_view archive) {
  ZipError error;
  const Source source(zip_source_buffer_create(archive.data(), archive.size(), 0, error.get()), &zip_source_free);
  const Archive zip = open_archive(source.get(), ZIP_RDONLY | ZIP_CHECKCONS, error);
  if (!zip) throw FileError(file, "zip", error.text());
  std::vector<ZipMember> members;
  std::uint64_t total = 0;
  const zip_int64_t count = zip_get_num_entries(zip.get(), 0);
  for (zip_int64_t k = 0; k < count; ++k) {
    zip_stat_t stat;
    if (zip_stat_index(zip.get(), static_cast<zip_uint64_t>(k), 0, &stat) != 0) throw FileError(file, "zip", zip_strerror(zip.get()));
    // Overlapping members could make a small file expand without end.
    total += stat.comp_size;
    if (total > archive.size()) throw FileError(file, stat.name, "members overlap");
    members.push_back({stat.name, read_member(file, zip.get(), stat)});
  }
  return members;
}

std::string write_zip(const std::vector<ZipMember>& members) {
  constexpr std::uint16_t kNoTime = 0, kFirstDay = 33;  // 1 January 1980, whenever it is written
  ZipError error;
  const Source source(zip_source_buffer_create(nullptr, 0, 0, error.get()), &zip_source_free);
  Archive zip = open_archive(source.get(), ZIP_CREATE, error);
  if (!zip) throw std::runtime_error("no zip archive in memory: " + error.text());
  for (const ZipMember& member : members) {
    zip_source_t* bytes = zip_source_buffer(zip.get(), member.bytes.data(), member.bytes.size(), 0);
    const zip_int64_t at = zip_file_add(zip.get(), member.name.c_str(), bytes, ZIP_FL_ENC_UTF_8);
    if (at < 0) {
      zip_source_free(bytes);
      throw InvalidArgument("members", "names of a zip archive, each once", fmt::format("'{}': {}", member.name, zip_strerror(zip.get())));
    }
    zip_set_file_compression(zip.get(), static_cast<zip_uint64_t>(at), ZIP_CM_DEFLATE, kDeflateLevel);
    zip_file_set_dostime(zip.get(), static_cast<zip_uint64_t>(at), kNoTime, kFirstDay, 0);
  }
  if (zip_close(zip.get()) != 0) throw std::runtime_error(fmt::format("no zip archive in memory: {}", zip_strerror(zip.get())));
  (void)zip.release();  // closed
  zip_stat_t stat;
  zip_source_stat(source.get(), &stat);
  std::string out(stat.size, '\0');
  zip_source_open(source.get());
  zip_source_read(source.get(), out.data(), out.size());
  zip_source_close(source.get());
  return out;
}

}  // namespace stiction
