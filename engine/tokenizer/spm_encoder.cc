// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/tokenizer/merge_list.h"
#include "engine/tokenizer/text_classes.h"
#include "engine/tokenizer/word_encoder.h"

namespace halyard::engine {
namespace {

constexpr char kSpaceSign[] = "\xe2\x96\x81";  // U+2581, which stands for a blank
constexpr char kReplacement[] = "\xef\xbf\xbd";

class SpmEncoder : public WordEncoder {
 public:
  explicit SpmEncoder(const Vocabulary* vocabulary) : vocabulary_(*vocabulary) {}

  absl::Status Init() {
    byte_token_.fill(kNoToken);
    for (size_t i = 0; i < vocabulary_.size(); ++i) {
      const auto id = static_cast<TokenId>(i);
      const TokenKind kind = vocabulary_.kinds[i];
      if (std::isnan(vocabulary_.scores[i])) {
        return absl::InvalidArgumentError(
            absl::StrCat("the score of token ", i, " of the vocabulary is not a number"));
      }
      const int byte = ByteOfToken(vocabulary_.tokens[i]);
      if (kind == TokenKind::kByte) {
        if (byte < 0) {
          return absl::InvalidArgumentError(
              absl::StrCat("token ", i, " of the vocabulary is said to be a byte, and is called '",
                           vocabulary_.tokens[i], "' instead of <0x00> to <0xFF>"));
        }
        byte_token_[static_cast<size_t>(byte)] = id;
      } else if (kind == TokenKind::kNormal || kind == TokenKind::kUserDefined) {
        id_of_.try_emplace(vocabulary_.tokens[i], id);
      }
    }
    return absl::OkStatus();
  }

  void Encode(absl::string_view text, bool at_start, std::vector<TokenId>* out) const override {
    if (text.empty()) return;
    const std::string normal =
        absl::StrReplaceAll(absl::StrCat(at_start && vocabulary_.add_space_prefix ? " " : "", text),
                            {{" ", kSpaceSign}});
    MergeList<Piece, float> list;
    for (size_t at = 0; at < normal.size();) {
      const uint32_t length = std::max(1u, Utf8Length(absl::string_view(normal).substr(at)));
      list.Add({static_cast<uint32_t>(at), length});
      at += length;
    }
    const auto view = [&](const Piece& piece) {
      return absl::string_view(normal).substr(piece.begin, piece.length);
    };
    const uint64_t steps =
        list.Merge([&](const Piece& left, const Piece& right, float* rank, Piece* merged) {
          *merged = {left.begin, left.length + right.length};
          const auto at = id_of_.find(view(*merged));
          if (at == id_of_.end()) return false;
          *rank = -vocabulary_.scores[static_cast<size_t>(at->second)];
          return true;
        });
    steps_.fetch_add(steps, std::memory_order_relaxed);
    list.ForEach([&](const Piece& piece) { Put(view(piece), out); });
  }

  std::string BytesOf(TokenId id) const override {
    const auto at = static_cast<size_t>(id);
    switch (vocabulary_.kinds[at]) {
      case TokenKind::kByte:
        return std::string(1, static_cast<char>(ByteOfToken(vocabulary_.tokens[at])));
      case TokenKind::kUnknown:
        return kReplacement;
      case TokenKind::kControl:
        return vocabulary_.tokens[at];
      default:
        return absl::StrReplaceAll(vocabulary_.tokens[at], {{kSpaceSign, " "}});
    }
  }

  uint64_t steps() const override { return steps_.load(std::memory_order_relaxed); }

 private:
  struct Piece {
    uint32_t begin = 0;
    uint32_t length = 0;
  };

  void Put(absl::string_view piece, std::vector<TokenId>* out) const {
    const auto at = id_of_.find(piece);
    if (at != id_of_.end()) {
      out->push_back(at->second);
      return;
    }
    for (const char c : piece) {
      const TokenId id = byte_token_[static_cast<uint8_t>(c)];
      if (id != kNoToken) {
        out->push_back(id);
      } else if (vocabulary_.unknown != kNoToken) {
        // One for a character, not for each of its bytes.
        out->push_back(vocabulary_.unknown);
        return;
      }
    }
  }

  const Vocabulary& vocabulary_;
  absl::flat_hash_map<absl::string_view, TokenId> id_of_;  // views of the vocabulary
  std::array<TokenId, 256> byte_token_{};
  mutable std::atomic<uint64_t> steps_{0};
};

}  // namespace

absl::StatusOr<std::unique_ptr<WordEncoder>> MakeSpmEncoder(const Vocabulary* vocabulary) {
  auto encoder = std::make_unique<SpmEncoder>(vocabulary);
  if (absl::Status status = encoder->Init(); !status.ok()) return status;
  return encoder;
}

}  // namespace halyard::engine
