// UTF-8, which names and messages are in wherever they go: terminals, JSON, Python.
#pragma once

#include <string>
#include <string_view>

namespace stiction {

/// Whether all bytes are well-formed UTF-8 (no surrogates, no overlong forms).
bool is_utf8(std::string_view bytes);
/// The same text with every byte that is not part of UTF-8, and every control character but tab, written as \xNN.
std::string printable(std::string_view bytes);
/// Code points; a byte that is not part of UTF-8 becomes U+FFFD.
std::u32string code_points(std::string_view bytes);

}  // namespace stiction
