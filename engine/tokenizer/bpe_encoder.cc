// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/tokenizer/merge_list.h"
#include "engine/tokenizer/pretokenizer.h"
#include "engine/tokenizer/word_encoder.h"

namespace halyard::engine {
namespace {

// Printable bytes stand for themselves; the others for U+0100 and on, in their order (GPT-2).
bool StandsForItself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

std::string Utf8Of(uint32_t c) {
  if (c < 0x80) return std::string(1, static_cast<char>(c));
  return {static_cast<char>(0xc0 | (c >> 6)), static_cast<char>(0x80 | (c & 0x3f))};
}

const std::array<std::string, 256>& ByteChars() {
  static const auto* const table = [] {
    auto* const chars = new std::array<std::string, 256>;
    uint32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const uint32_t c = StandsForItself(byte) ? static_cast<uint32_t>(byte) : next++;
      (*chars)[static_cast<size_t>(byte)] = Utf8Of(c);
    }
    return chars;
  }();
  return *table;
}

class BpeEncoder : public WordEncoder {
 public:
  explicit BpeEncoder(const Vocabulary* vocabulary) : vocabulary_(*vocabulary) {
    const PreRule* const rule = FindPreRule(vocabulary->pre);
    rule_ = rule == nullptr ? &FallbackPreRule() : rule;
  }

  absl::Status Init() {
    for (size_t i = 0; i < vocabulary_.size(); ++i)
      token_of_[Intern(vocabulary_.tokens[i])] = static_cast<TokenId>(i);
    for (size_t i = 0; i < vocabulary_.merges.size(); ++i) {
      const std::string& merge = vocabulary_.merges[i];
      // The second word may begin with a blank's sign, never with a blank.
      const size_t gap = merge.find(' ', 1);
      if (gap == std::string::npos || gap + 1 == merge.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("merge ", i, " of the vocabulary, '", absl::CEscape(merge),
                         "', is not two symbols with a blank between"));
      }
      const uint32_t left = Intern(merge.substr(0, gap));
      const uint32_t right = Intern(merge.substr(gap + 1));
      const uint32_t merged = Intern(merge.substr(0, gap) + merge.substr(gap + 1));
      merge_of_.try_emplace(PairKey(left, right), static_cast<uint32_t>(i), merged);
    }
    for (size_t byte = 0; byte < 256; ++byte) byte_symbol_[byte] = Intern(ByteChars()[byte]);
    return absl::OkStatus();
  }

  void Encode(absl::string_view text, bool, std::vector<TokenId>* out) const override {
    uint32_t begin = 0;
    for (const uint32_t end : CutIntoWords(*rule_, text)) {
      EncodeWord(text.substr(begin, end - begin), out);
      begin = end;
    }
  }

  std::string BytesOf(TokenId id) const override {
    const std::string& token = vocabulary_.tokens[static_cast<size_t>(id)];
    const TokenKind kind = vocabulary_.kinds[static_cast<size_t>(id)];
    if (kind == TokenKind::kControl || kind == TokenKind::kUserDefined) return token;
    return ToBytes(token);
  }

  uint64_t steps() const override { return steps_.load(std::memory_order_relaxed); }

 private:
  static uint64_t PairKey(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }

  uint32_t Intern(const std::string& text) {
    const auto [at, is_new] = symbol_of_.try_emplace(text, static_cast<uint32_t>(texts_.size()));
    if (is_new) {
      texts_.push_back(text);
      token_of_.push_back(kNoToken);
    }
    return at->second;
  }

  void EncodeWord(absl::string_view word, std::vector<TokenId>* out) const {
    if (rule_->whole_words_first) {
      std::string chars;
      for (const char c : word) chars += ByteChars()[static_cast<uint8_t>(c)];
      const auto at = symbol_of_.find(chars);
      if (at != symbol_of_.end() && token_of_[at->second] != kNoToken) {
        out->push_back(token_of_[at->second]);
        return;
      }
    }
    MergeList<uint32_t, uint32_t> list;
    for (const char c : word) list.Add(byte_symbol_[static_cast<uint8_t>(c)]);
    const uint64_t steps =
        list.Merge([&](uint32_t left, uint32_t right, uint32_t* rank, uint32_t* merged) {
          const auto at = merge_of_.find(PairKey(left, right));
          if (at == merge_of_.end()) return false;
          std::tie(*rank, *merged) = at->second;
          return true;
        });
    steps_.fetch_add(steps, std::memory_order_relaxed);
    list.ForEach([&](uint32_t symbol) { PutSymbol(symbol, out); });
  }

  // A symbol that merges make and that is no token is taken apart again.
  void PutSymbol(uint32_t symbol, std::vector<TokenId>* out) const {
    if (token_of_[symbol] != kNoToken) {
      out->push_back(token_of_[symbol]);
      return;
    }
    for (const char c : ToBytes(texts_[symbol])) {
      const TokenId id = token_of_[byte_symbol_[static_cast<uint8_t>(c)]];
      if (id != kNoToken) {
        out->push_back(id);
      } else if (vocabulary_.unknown != kNoToken) {
        out->push_back(vocabulary_.unknown);
      }
    }
  }

  // Characters that stand for no byte are kept.
  static std::string ToBytes(const std::string& chars) {
    static const auto* const byte_of = [] {
      auto* const map = new absl::flat_hash_map<std::string, char>;
      for (size_t byte = 0; byte < 256; ++byte) (*map)[ByteChars()[byte]] = static_cast<char>(byte);
      return map;
    }();
    std::string bytes;
    for (size_t at = 0; at < chars.size();) {
      const uint32_t length = std::max(1u, Utf8Length(absl::string_view(chars).substr(at)));
      const std::string one = chars.substr(at, length);
      const auto found = byte_of->find(one);
      if (found == byte_of->end()) {
        bytes += one;
      } else {
        bytes.push_back(found->second);
      }
      at += length;
    }
    return bytes;
  }

  const Vocabulary& vocabulary_;
  const PreRule* rule_;
  absl::flat_hash_map<std::string, uint32_t> symbol_of_;
  std::vector<std::string> texts_;                                         // by symbol
  std::vector<TokenId> token_of_;                                          // by symbol
  absl::flat_hash_map<uint64_t, std::pair<uint32_t, uint32_t>> merge_of_;  // rank, what it makes
  std::array<uint32_t, 256> byte_symbol_{};
  mutable std::atomic<uint64_t> steps_{0};
};

}  // namespace

std::string ByteLevelChar(uint8_t byte) { return ByteChars()[byte]; }

absl::StatusOr<std::unique_ptr<WordEncoder>> MakeBpeEncoder(const Vocabulary* vocabulary) {
  auto encoder = std::make_unique<BpeEncoder>(vocabulary);
  if (absl::Status status = encoder->Init(); !status.ok()) return status;
  return encoder;
}

}  // namespace halyard::engine
