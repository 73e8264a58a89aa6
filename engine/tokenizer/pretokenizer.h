// SPDX-License-Identifier: Apache-2.0
//
// Cuts text into the words within which byte-level BPE merges. Each rule stands for the regular
// expressions of a family of models, matched by hand: in linear time, without a stack.
#ifndef HALYARD_ENGINE_TOKENIZER_PRETOKENIZER_H_
#define HALYARD_ENGINE_TOKENIZER_PRETOKENIZER_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/tokenizer/text_classes.h"

namespace halyard::engine {

/// One of these classes, or with `negated` none of them (and then not the end either).
struct ClassSet {
  uint16_t mask = 0;
  bool negated = false;
};

/// One alternative of a regular expression.
struct Alternative {
  enum Kind : uint8_t {
    kRun,          ///< prefix? body{least,most} suffix*
    kContraction,  ///< 's 't 're 've 'm 'll 'd
    kContractionAnyCase,
    kSpacesToNewline,   ///< \s*[\r\n]+
    kSpacesBeforeWord,  ///< \s+(?!\S): all but the last space before a word
    kSpaces,            ///< \s+
    kSpacesAtEnd,       ///< \s+$
  };
  Kind kind = kRun;
  ClassSet prefix = {};
  ClassSet body = {};
  uint32_t least = 1;
  uint32_t most = UINT32_MAX;
  ClassSet suffix = {};
};

/// Alternatives are tried in their order at each place; what none takes is a piece of its own, up to
/// where one does.
using Stage = absl::Span<const Alternative>;

/// Stages cut the pieces of the one before.
struct PreRule {
  absl::string_view name;  ///< of the family
  absl::Span<const Stage> stages;
  bool whole_words_first = false;  ///< a word that is a token is taken as it is, without merging
  bool adds_bos = false;           ///< where the file does not say
};

/// The rule for `tokenizer.ggml.pre`; nullptr for a name that is not known.
const PreRule* FindPreRule(absl::string_view pre);
/// What is used for others.
const PreRule& FallbackPreRule();

/// Ends of the pieces, as byte offsets, in order; the last one is the end of the text.
std::vector<uint32_t> CutIntoWords(const PreRule& rule, absl::string_view text);

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_TOKENIZER_PRETOKENIZER_H_
