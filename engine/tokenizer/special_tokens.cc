// SPDX-License-Identifier: Apache-2.0
#include "engine/tokenizer/special_tokens.h"

namespace halyard::engine {

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) : nodes_(1) {
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const TokenKind kind = vocabulary.kinds[i];
    const bool control = kind == TokenKind::kControl || kind == TokenKind::kUnknown;
    if (control || kind == TokenKind::kUserDefined)
      Add(vocabulary.tokens[i], static_cast<TokenId>(i), control);
  }
}

void SpecialTokens::Add(absl::string_view text, TokenId id, bool control) {
  if (text.empty()) return;
  uint32_t at = 0;
  for (const char c : text) {
    const auto fresh = static_cast<uint32_t>(nodes_.size());
    const auto [next, is_new] = nodes_[at].next.try_emplace(static_cast<uint8_t>(c), fresh);
    at = next->second;
    if (is_new) nodes_.emplace_back();
  }
  nodes_[at].id = id;
  nodes_[at].control = control;
}

TextPart SpecialTokens::Longest(absl::string_view text, bool with_control) const {
  TextPart found;
  uint32_t at = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto next = nodes_[at].next.find(static_cast<uint8_t>(text[i]));
    if (next == nodes_[at].next.end()) break;
    at = next->second;
    if (nodes_[at].id != kNoToken && (with_control || !nodes_[at].control))
      found = {text.substr(0, i + 1), nodes_[at].id};
  }
  return found;
}

std::vector<TextPart> SpecialTokens::Split(absl::string_view text, bool with_control) const {
  std::vector<TextPart> parts;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const TextPart found = Longest(text.substr(at), with_control);
    if (found.id == kNoToken) {
      ++at;
      continue;
    }
    if (begin < at) parts.push_back({text.substr(begin, at - begin), kNoToken});
    parts.push_back(found);
    at += found.text.size();
    begin = at;
  }
  if (begin < text.size()) parts.push_back({text.substr(begin), kNoToken});
  return parts;
}

}  // namespace halyard::engine
