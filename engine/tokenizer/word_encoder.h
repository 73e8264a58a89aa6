// SPDX-License-Identifier: Apache-2.0
//
// From text without special tokens to tokens: byte-level BPE and SPM. Both merge neighbours, the best
// pair first, with a heap: n log n for n bytes, whatever the text.
#ifndef HALYARD_ENGINE_TOKENIZER_WORD_ENCODER_H_
#define HALYARD_ENGINE_TOKENIZER_WORD_ENCODER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/tokenizer/vocabulary.h"

namespace halyard::engine {

/// Threads: any.
class WordEncoder {
 public:
  virtual ~WordEncoder() = default;
  /// Appends the tokens of `text`, of less than 2^31 bytes. `at_start`: nothing, or a special token, is
  /// before it.
  virtual void Encode(absl::string_view text, bool at_start, std::vector<TokenId>* out) const = 0;
  /// The bytes that a token stands for.
  virtual std::string BytesOf(TokenId id) const = 0;
  /// Merges that were looked at so far, for tests of its growth.
  virtual uint64_t steps() const = 0;
};

/// Both borrow the vocabulary.
/// Errors   INVALID_ARGUMENT: which entry is wrong.
absl::StatusOr<std::unique_ptr<WordEncoder>> MakeBpeEncoder(const Vocabulary* vocabulary);
absl::StatusOr<std::unique_ptr<WordEncoder>> MakeSpmEncoder(const Vocabulary* vocabulary);

/// The characters by which byte-level BPE writes bytes in its tokens.
std::string ByteLevelChar(uint8_t byte);

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_TOKENIZER_WORD_ENCODER_H_
