// SPDX-License-Identifier: Apache-2.0
#include "engine/tokenizer/tokenizer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace halyard::engine {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;

absl::Status CheckIds(const Vocabulary& vocabulary) {
  if (vocabulary.tokens.empty()) return absl::InvalidArgumentError("the vocabulary is empty");
  if (vocabulary.kinds.size() != vocabulary.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the vocabulary has ", vocabulary.size(),
                                                   " tokens and kinds for ",
                                                   vocabulary.kinds.size()));
  }
  if (vocabulary.model == Vocabulary::Model::kSpm &&
      vocabulary.scores.size() != vocabulary.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the vocabulary has ", vocabulary.size(),
                                                   " tokens and scores for ",
                                                   vocabulary.scores.size()));
  }
  for (const TokenId id :
       {vocabulary.bos, vocabulary.eos, vocabulary.unknown, vocabulary.padding}) {
    if (id < kNoToken || id >= static_cast<int64_t>(vocabulary.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("a special token is ", id, "; there are ", vocabulary.size(), " tokens"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> Tokenizer::Create(Vocabulary vocabulary) {
  HY_RETURN_IF_ERROR(CheckIds(vocabulary));
  std::unique_ptr<Tokenizer> made(new Tokenizer(std::move(vocabulary)));
  const Vocabulary& own = made->vocabulary_;
  made->special_ = SpecialTokens(own);
  absl::StatusOr<std::unique_ptr<WordEncoder>> words =
      own.model == Vocabulary::Model::kSpm ? MakeSpmEncoder(&own) : MakeBpeEncoder(&own);
  if (!words.ok()) return words.status();
  made->words_ = *std::move(words);
  return made;
}

absl::StatusOr<std::vector<TokenId>> Tokenizer::Encode(absl::string_view text,
                                                       const EncodeOptions& options) const {
  if (text.size() >= kMostBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a text of ", text.size(), " bytes; less than ",
                                                   kMostBytes, " can be taken at once"));
  }
  std::vector<TokenId> ids;
  if (options.add_special && vocabulary_.add_bos && vocabulary_.bos != kNoToken)
    ids.push_back(vocabulary_.bos);
  bool at_start = true;
  bool strip = false;
  for (const TextPart& part : special_.Split(text, options.parse_special)) {
    if (part.id != kNoToken) {
      ids.push_back(part.id);
      at_start = true;
      strip = StripsAfter(part.text);
      continue;
    }
    words_->Encode(strip ? absl::StripLeadingAsciiWhitespace(part.text) : part.text, at_start,
                   &ids);
    at_start = strip = false;
  }
  if (options.add_special && vocabulary_.add_eos && vocabulary_.eos != kNoToken)
    ids.push_back(vocabulary_.eos);
  return ids;
}

bool Tokenizer::IsSpecial(TokenId id) const {
  const TokenKind kind = vocabulary_.kinds[static_cast<size_t>(id)];
  return kind == TokenKind::kControl;
}

std::string Tokenizer::Piece(TokenId id, bool show_special) const {
  if (id < 0 || static_cast<size_t>(id) >= vocabulary_.size()) return "";
  if (IsSpecial(id) && !show_special) return "";
  return words_->BytesOf(id);
}

bool Tokenizer::StripsAfter(absl::string_view special) const {
  return vocabulary_.strips_after_special && special != "<unk>" && special != "<s>" &&
         special != "<|endoftext|>";
}

absl::StatusOr<std::vector<TokenId>> Tokenizer::EncodeChat(absl::Span<const ChatPart> parts,
                                                           bool add_special) const {
  std::vector<TokenId> ids;
  if (add_special && vocabulary_.add_bos && vocabulary_.bos != kNoToken)
    ids.push_back(vocabulary_.bos);
  std::string text;
  bool strip = false;
  const auto flush = [&] {
    words_->Encode(strip ? absl::StripLeadingAsciiWhitespace(text) : text, true, &ids);
    text.clear();
  };
  for (const ChatPart& part : parts) {
    if (part.text.size() + text.size() >= kMostBytes)
      return absl::InvalidArgumentError("a conversation of a gigabyte or more");
    for (const TextPart& piece : special_.Split(part.text, part.trusted)) {
      if (piece.id == kNoToken) {
        text.append(piece.text.data(), piece.text.size());
        continue;
      }
      flush();
      ids.push_back(piece.id);
      strip = StripsAfter(piece.text);
    }
  }
  flush();
  return ids;
}

bool Tokenizer::strips_first_space() const {
  return vocabulary_.model == Vocabulary::Model::kSpm && vocabulary_.add_space_prefix;
}

absl::StatusOr<std::string> Tokenizer::Decode(absl::Span<const TokenId> ids,
                                              bool show_special) const {
  std::string text;
  bool at_start = true;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || static_cast<size_t>(ids[i]) >= vocabulary_.size()) {
      return absl::OutOfRangeError(
          absl::StrCat("token ", i, " is ", ids[i], "; there are ", vocabulary_.size(), " tokens"));
    }
    std::string piece = Piece(ids[i], show_special);
    if (IsSpecial(ids[i])) {
      text += piece;
      continue;
    }
    if (at_start && strips_first_space() && !piece.empty() && piece[0] == ' ') piece.erase(0, 1);
    at_start = false;
    text += piece;
  }
  return text;
}

bool Tokenizer::IsEnd(TokenId id) const {
  const std::vector<TokenId>& ends = vocabulary_.ends_of_generation;
  return std::binary_search(ends.begin(), ends.end(), id);
}

}  // namespace halyard::engine
