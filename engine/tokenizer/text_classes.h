// SPDX-License-Identifier: Apache-2.0
//
// Text as code points with the classes that pre-tokenizers tell apart.
#ifndef HALYARD_ENGINE_TOKENIZER_TEXT_CLASSES_H_
#define HALYARD_ENGINE_TOKENIZER_TEXT_CLASSES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace halyard::engine {

/// Bits; a code point has all that are true of it.
enum TextClass : uint16_t {
  kLetter = 1 << 0,
  kNumber = 1 << 1,
  kPunctuation = 1 << 2,
  kMark = 1 << 3,
  kSpace = 1 << 4,    ///< White_Space of Unicode
  kNewline = 1 << 5,  ///< CR, LF
  kBlank = 1 << 6,    ///< U+0020
  kCased = 1 << 7,    ///< letters of upper, lower or title case
  kAsciiDigit = 1 << 8,
  kAsciiMath = 1 << 9,   ///< $ + < = > ^ ~ | and the backquote
  kCjk = 1 << 10,        ///< U+0800..U+9FA5, U+AC00..U+D7FF
  kWideSigns = 1 << 11,  ///< ASCII but digits and blank, their wide forms, quotes, CJK stops
};

struct CodePoint {
  uint32_t offset = 0;   ///< of its first byte
  uint16_t classes = 0;  ///< TextClass; 0 for bytes that are no UTF-8
};

/// The classes of one code point.
uint16_t ClassesOf(int32_t code_point);

/// All code points of a text, and one at its end. A byte that is no part of a valid sequence stands
/// for itself. `text` has less than 2^32 bytes.
std::vector<CodePoint> CodePointsOf(absl::string_view text);

/// Bytes of the UTF-8 sequence that begins at `text`; 0 if none does (or it is cut).
uint32_t Utf8Length(absl::string_view text);

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_TOKENIZER_TEXT_CLASSES_H_
