// SPDX-License-Identifier: Apache-2.0
//
// What a tokenizer is made of, as files say it.
#ifndef HALYARD_ENGINE_TOKENIZER_VOCABULARY_H_
#define HALYARD_ENGINE_TOKENIZER_VOCABULARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/gguf/gguf.h"

namespace halyard::engine {

/// Number of a token.
using TokenId = int32_t;
inline constexpr TokenId kNoToken = -1;

/// What a token is; the numbers are those of GGUF files.
enum class TokenKind : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,      ///< never made from text of users, unless asked for
  kUserDefined = 4,  ///< found in text before it is cut into words
  kUnused = 5,
  kByte = 6,  ///< "<0x41>"
};

struct Vocabulary {
  enum class Model { kSpm, kBpe };
  Model model = Model::kBpe;
  std::string pre;  ///< of BPE: name of the rule that cuts text into words
  std::vector<std::string> tokens;
  std::vector<float> scores;        ///< of SPM, one a token
  std::vector<TokenKind> kinds;     ///< one a token
  std::vector<std::string> merges;  ///< of BPE, "left right", the first is the first to be made
  TokenId bos = kNoToken;
  TokenId eos = kNoToken;
  TokenId unknown = kNoToken;
  TokenId padding = kNoToken;
  std::vector<TokenId> ends_of_generation;  ///< eos, and others that end an answer; sorted
  bool add_bos = false;
  bool add_eos = false;
  bool add_space_prefix = true;       ///< of SPM
  bool strips_after_special = false;  ///< spaces behind control tokens are no text (Phi-3)
  std::string chat_template;          ///< empty: none
  /// What a user should know, such as a rule that is not known.
  std::vector<std::string> warnings;

  size_t size() const { return tokens.size(); }
};

/// Errors   NOT_FOUND: the file has no vocabulary, or lacks a part of it; INVALID_ARGUMENT: a part of
///          another type or length, an id out of range; UNIMPLEMENTED: another kind of tokenizer.
absl::StatusOr<Vocabulary> VocabularyFromGguf(const GgufFile& file);

/// The byte that a token such as "<0x0A>" stands for; -1 if it is no such token.
int ByteOfToken(const std::string& token);

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_TOKENIZER_VOCABULARY_H_
