// SPDX-License-Identifier: Apache-2.0
//
// Text to tokens and back.
#ifndef HALYARD_ENGINE_TOKENIZER_TOKENIZER_H_
#define HALYARD_ENGINE_TOKENIZER_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/tokenizer/chat.h"
#include "engine/tokenizer/special_tokens.h"
#include "engine/tokenizer/vocabulary.h"
#include "engine/tokenizer/word_encoder.h"

namespace halyard::engine {

struct EncodeOptions {
  bool add_special = true;  ///< the tokens that the model wants at begin and end
  /// Control tokens that are written out in the text become those tokens. Never for text of users:
  /// they could end their turn and begin that of the system.
  bool parse_special = false;
};

/// Threads: any.
class Tokenizer {
 public:
  /// Errors   INVALID_ARGUMENT: the vocabulary is empty or not consistent, with the entry.
  static absl::StatusOr<std::unique_ptr<Tokenizer>> Create(Vocabulary vocabulary);

  /// Takes any bytes: those that are no UTF-8 become byte tokens, or the unknown token where there are
  /// none.
  /// Errors   INVALID_ARGUMENT: a gigabyte of text or more.
  absl::StatusOr<std::vector<TokenId>> Encode(absl::string_view text,
                                              const EncodeOptions& options = {}) const;

  /// Of a conversation. Words are cut as if the parts were one text; control tokens come of trusted parts
  /// alone. `add_special`: as in EncodeOptions, at the begin.
  absl::StatusOr<std::vector<TokenId>> EncodeChat(absl::Span<const ChatPart> parts,
                                                  bool add_special) const;

  /// The bytes of tokens. `show_special`: also those of control tokens.
  /// Errors   OUT_OF_RANGE: no such token.
  absl::StatusOr<std::string> Decode(absl::Span<const TokenId> ids,
                                     bool show_special = false) const;

  /// The bytes of one token in the middle of a text; empty for a number that is no token.
  std::string Piece(TokenId id, bool show_special = false) const;
  /// The blank that was put before the text does not come back.
  bool strips_first_space() const;

  bool IsEnd(TokenId id) const;
  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// Pairs that were looked at since it was made: its growth with text, for tests.
  uint64_t steps() const { return words_->steps(); }

 private:
  explicit Tokenizer(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}

  bool IsSpecial(TokenId id) const;
  bool StripsAfter(absl::string_view special) const;

  const Vocabulary vocabulary_;
  SpecialTokens special_;
  std::unique_ptr<WordEncoder> words_;
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_TOKENIZER_TOKENIZER_H_
