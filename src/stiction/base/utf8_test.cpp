#include "stiction/base/utf8.hpp"

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"

namespace stiction::utf8_test {
namespace {

TEST(Utf8, AcceptsWhatTheStandardCallsWellFormed) {
  for (const char* text : {"", "plain", "μ ≥ 0", "\xf0\x9f\xa4\x96", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(text)) << text;
  // A lone continuation, a cut sequence, overlong '/', a surrogate, beyond U+10FFFF, and bytes that never occur.
  for (const char* text : {"\x80", "\xe2\x89", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xfe", "a\xff"})
    EXPECT_FALSE(is_utf8(text)) << text;
}

TEST(Utf8, WhatIsPrintedIsUtf8OnOneLine) {
  EXPECT_EQ(printable("μ\tx"), "μ\tx");
  EXPECT_EQ(printable("foot\xff\n\x1b[2J"), "foot\\xff\\x0a\\x1b[2J");
  EXPECT_EQ(printable("\xe2\x89x"), "\\xe2\\x89x");
  EXPECT_EQ(printable("\xc2\x85"), "\\xc2\\x85");
}

TEST(Utf8, CodePoints) { EXPECT_EQ(code_points("aμ≥\xf0\x9f\xa4\x96\xff"), U"aμ≥\U0001f916\xfffd"); }

TEST(Errors, MessagesAreUtf8WhateverTheFileHolds) {
  EXPECT_STREQ(InvalidArgument("joint", "a name", "'\xff\x01'").what(), "joint: expected a name, got '\\xff\\x01'");
  EXPECT_STREQ(FileError("a.urdf", "line 2, link 'x\xe9'", "mass is missing").what(), "a.urdf: line 2, link 'x\\xe9': mass is missing");
}

}  // namespace
}  // namespace stiction::utf8_test
