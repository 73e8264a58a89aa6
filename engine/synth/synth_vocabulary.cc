// SPDX-License-Identifier: Apache-2.0
#include "engine/synth/synth_vocabulary.h"

#include <algorithm>
#include <bit>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/tokenizer/vocabulary.h"
#include "engine/tokenizer/word_encoder.h"

namespace halyard::engine {
namespace {

struct Words {
  std::vector<std::string> tokens;
  std::vector<int32_t> kinds;
  std::vector<std::string> merges;

  void Add(const std::string& token, TokenKind kind = TokenKind::kNormal) {
    tokens.push_back(token);
    kinds.push_back(static_cast<int32_t>(kind));
  }
};

// Merges of a left part with each byte, while there is room.
void AddMerges(const std::vector<std::string>& lefts, const std::vector<std::string>& bytes,
               size_t size, Words* out) {
  for (const std::string& left : lefts) {
    for (const std::string& right : bytes) {
      if (out->tokens.size() >= size) return;
      out->Add(left + right);
      out->merges.push_back(absl::StrCat(left, " ", right));
    }
  }
}

}  // namespace

void AddSynthVocabulary(int64_t size, GgufWriter* out) {
  constexpr size_t kBytes = 256;
  const auto count = static_cast<size_t>(size);
  std::vector<std::string> bytes;
  for (size_t byte = 0; byte < kBytes; ++byte)
    bytes.push_back(ByteLevelChar(static_cast<uint8_t>(byte)));
  // Those that text is made of come first, for vocabularies that have not room for all.
  std::rotate(bytes.begin(), bytes.begin() + ' ', bytes.end());
  Words words;
  for (size_t i = 0; i < std::min(count, kBytes); ++i) words.Add(bytes[i]);
  const bool has_ends = count >= kBytes + 2;
  if (has_ends) {
    words.Add("<|begin|>", TokenKind::kControl);
    words.Add("<|end|>", TokenKind::kControl);
  }
  const size_t first_pair = words.tokens.size();
  AddMerges(bytes, bytes, count, &words);
  const std::vector<std::string> pairs(
      words.tokens.begin() + static_cast<std::ptrdiff_t>(first_pair), words.tokens.end());
  AddMerges(pairs, bytes, count, &words);
  out->AddString("tokenizer.ggml.model", "gpt2");
  out->AddString("tokenizer.ggml.pre", "gpt-2");
  out->AddStrings("tokenizer.ggml.tokens", words.tokens);
  out->AddInts("tokenizer.ggml.token_type", words.kinds);
  out->AddStrings("tokenizer.ggml.merges", words.merges);
  if (has_ends) {
    out->AddUint32("tokenizer.ggml.bos_token_id", static_cast<uint32_t>(kBytes));
    out->AddUint32("tokenizer.ggml.eos_token_id", static_cast<uint32_t>(kBytes + 1));
  }
  out->AddBool("tokenizer.ggml.add_bos_token", has_ends);
}

void ToLittleEndian(uint32_t element_bytes, std::vector<uint8_t>* inout) {
  if (std::endian::native == std::endian::little) return;
  for (size_t at = 0; at + element_bytes <= inout->size(); at += element_bytes) {
    const auto begin = inout->begin() + static_cast<std::ptrdiff_t>(at);
    std::reverse(begin, begin + element_bytes);
  }
}

}  // namespace halyard::engine
