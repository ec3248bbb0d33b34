#include "stiction/base/utf8.hpp"

#include <fmt/format.h>

namespace stiction {

namespace {

constexpr char32_t kInvalid = 0xffffffff;

/// The code point at the front of `bytes`, or kInvalid; `used` is its length, 1 when invalid.
char32_t front(std::string_view bytes, std::size_t& used) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  used = 1;
  if (byte(0) < 0x80) return byte(0);
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // shorter forms exist below
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || length > bytes.size()) return kInvalid;
  char32_t code = byte(0) & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return kInvalid;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  if (code < kLeast[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return kInvalid;
  used = length;
  return code;
}

template <class Take>
void for_each_code_point(std::string_view bytes, Take&& take) {
  std::size_t used = 0;
  for (; !bytes.empty(); bytes.remove_prefix(used)) {
    const char32_t code = front(bytes, used);
    take(code, bytes.substr(0, used));
  }
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  bool valid = true;
  for_each_code_point(bytes, [&](char32_t code, std::string_view) { valid &= code != kInvalid; });
  return valid;
}

std::string printable(std::string_view bytes) {
  std::string out;
  for_each_code_point(bytes, [&](char32_t code, std::string_view part) {
    const bool control = code < 0x20 ? code != '\t' : code >= 0x7f && code < 0xa0;
    if (code == kInvalid || control) {
      for (const char c : part) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += part;
    }
  });
  return out;
}

std::u32string code_points(std::string_view bytes) {
  std::u32string out;
  for_each_code_point(bytes, [&](char32_t code, std::string_view) { out += code == kInvalid ? U'\xfffd' : code; });
  return out;
}

}  // namespace stiction
