// SPDX-License-Identifier: Apache-2.0
#include "engine/tokenizer/text_classes.h"

#include <utf8proc.h>

#include <array>

namespace halyard::engine {
namespace {

bool IsIn(int32_t c, int32_t first, int32_t last) { return c >= first && c <= last; }

uint16_t ClassOfCategory(int32_t c) {
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
      return kLetter | kCased;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return kLetter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return kMark;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return kNumber;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return kPunctuation;
    default:
      return 0;
  }
}

bool IsSpace(int32_t c) {
  return IsIn(c, 0x09, 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         IsIn(c, 0x2000, 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

bool IsWideSign(int32_t c) {
  return IsIn(c, '!', '/') || IsIn(c, ':', '~') || IsIn(c, 0xff01, 0xff0f) ||
         IsIn(c, 0xff1a, 0xff5e) || IsIn(c, 0x2018, 0x201f) || IsIn(c, 0x3000, 0x3002);
}

uint16_t Compute(int32_t c) {
  unsigned classes = ClassOfCategory(c);
  if (IsSpace(c)) classes |= kSpace;
  if (c == '\r' || c == '\n') classes |= kNewline;
  if (c == ' ') classes |= kBlank;
  if (IsIn(c, '0', '9')) classes |= kAsciiDigit;
  for (const char sign : {'$', '+', '<', '=', '>', '^', '~', '|', '`'}) {
    if (c == sign) classes |= kAsciiMath;
  }
  if (IsIn(c, 0x800, 0x9fa5) || IsIn(c, 0xac00, 0xd7ff)) classes |= kCjk;
  if (IsWideSign(c)) classes |= kWideSigns;
  return static_cast<uint16_t>(classes);
}

}  // namespace

uint16_t ClassesOf(int32_t code_point) {
  static const auto* const ascii = [] {
    auto* const table = new std::array<uint16_t, 128>;
    for (int32_t c = 0; c < 128; ++c) (*table)[static_cast<size_t>(c)] = Compute(c);
    return table;
  }();
  if (code_point < 0) return 0;
  return code_point < 128 ? (*ascii)[static_cast<size_t>(code_point)] : Compute(code_point);
}

uint32_t Utf8Length(absl::string_view text) {
  if (text.empty()) return 0;
  utf8proc_int32_t c = -1;
  const utf8proc_ssize_t length =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(text.size()), &c);
  return length > 0 ? static_cast<uint32_t>(length) : 0;
}

std::vector<CodePoint> CodePointsOf(absl::string_view text) {
  std::vector<CodePoint> points;
  points.reserve(text.size() + 1);
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (size_t at = 0; at < text.size();) {
    utf8proc_int32_t c = -1;
    const utf8proc_ssize_t length =
        utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &c);
    points.push_back({static_cast<uint32_t>(at), ClassesOf(length > 0 ? c : -1)});
    at += length > 0 ? static_cast<size_t>(length) : 1;
  }
  points.push_back({static_cast<uint32_t>(text.size()), 0});
  return points;
}

}  // namespace halyard::engine
