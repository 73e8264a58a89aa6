// SPDX-License-Identifier: Apache-2.0
//
// Finds tokens that are taken out of text before it is cut into words.
#ifndef HALYARD_ENGINE_TOKENIZER_SPECIAL_TOKENS_H_
#define HALYARD_ENGINE_TOKENIZER_SPECIAL_TOKENS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "engine/tokenizer/vocabulary.h"

namespace halyard::engine {

/// A part of a text: a special token, or text.
struct TextPart {
  absl::string_view text;
  TokenId id = kNoToken;  ///< kNoToken: text
};

/// A trie. Threads: any, once it is made.
class SpecialTokens {
 public:
  SpecialTokens() : nodes_(1) {}
  explicit SpecialTokens(const Vocabulary& vocabulary);

  /// Parts in order, none empty. Of tokens that begin at one place the longest is taken.
  /// `with_control`: control tokens, too; else those alone that users may write.
  std::vector<TextPart> Split(absl::string_view text, bool with_control) const;

 private:
  struct Node {
    absl::flat_hash_map<uint8_t, uint32_t> next;
    TokenId id = kNoToken;
    bool control = false;
  };

  void Add(absl::string_view text, TokenId id, bool control);
  TextPart Longest(absl::string_view text, bool with_control) const;

  std::vector<Node> nodes_;  // the first is the root
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_TOKENIZER_SPECIAL_TOKENS_H_
