// SPDX-License-Identifier: Apache-2.0
#include "engine/tokenizer/vocabulary.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "engine/tokenizer/pretokenizer.h"

namespace halyard::engine {
namespace {

constexpr char kPrefix[] = "tokenizer.ggml.";
constexpr size_t kMostTokens = 2'000'000;

// Tokens that end an answer in one family or another. Files name one of them at most.
constexpr absl::string_view kEnds[] = {
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>",
    "<EOT>",      "<|EOT|>",    "_<EOT>",  "<|eom_id|>",    "<|endofturn|>"};

std::string Key(absl::string_view name) { return absl::StrCat(kPrefix, name); }

std::vector<std::string> Copies(const std::vector<absl::string_view>& views) {
  std::vector<std::string> copies;
  copies.reserve(views.size());
  for (const absl::string_view view : views) copies.emplace_back(view);
  return copies;
}

absl::Status ReadTokens(const GgufFile& file, Vocabulary* out) {
  HY_ASSIGN_OR_RETURN(const std::vector<absl::string_view> tokens, file.Strings(Key("tokens")));
  if (tokens.empty() || tokens.size() > kMostTokens) {
    return absl::InvalidArgumentError(absl::StrCat("the vocabulary has ", tokens.size(),
                                                   " tokens; 1 to ", kMostTokens, " are possible"));
  }
  out->tokens = Copies(tokens);
  return absl::OkStatus();
}

absl::Status CheckLength(absl::string_view name, size_t length, size_t tokens) {
  if (length == tokens) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(Key(name), " has ", length, " entries for ", tokens, " tokens"));
}

absl::Status ReadKinds(const GgufFile& file, Vocabulary* out) {
  out->kinds.assign(out->size(), TokenKind::kNormal);
  if (file.Find(Key("token_type")) == nullptr) return absl::OkStatus();
  HY_ASSIGN_OR_RETURN(const std::vector<int64_t> kinds, file.Ints(Key("token_type")));
  HY_RETURN_IF_ERROR(CheckLength("token_type", kinds.size(), out->size()));
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] >= 1 && kinds[i] <= 6) out->kinds[i] = static_cast<TokenKind>(kinds[i]);
  }
  return absl::OkStatus();
}

absl::Status ReadScores(const GgufFile& file, Vocabulary* out) {
  if (file.Find(Key("scores")) == nullptr) {
    out->scores.assign(out->size(), 0);
    return absl::OkStatus();
  }
  HY_ASSIGN_OR_RETURN(out->scores, file.Floats(Key("scores")));
  return CheckLength("scores", out->scores.size(), out->size());
}

absl::Status ReadId(const GgufFile& file, absl::string_view name, TokenId otherwise, TokenId* out,
                    const Vocabulary& vocabulary) {
  const bool usable = otherwise >= 0 && static_cast<size_t>(otherwise) < vocabulary.size();
  HY_ASSIGN_OR_RETURN(const int64_t id, file.IntOr(Key(name), usable ? otherwise : kNoToken));
  // Some files say "none" by the largest number.
  if (id == kNoToken || id == int64_t{UINT32_MAX}) {
    *out = kNoToken;
    return absl::OkStatus();
  }
  if (id < 0 || static_cast<uint64_t>(id) >= vocabulary.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Key(name), " is ", id, "; there are ", vocabulary.size(), " tokens"));
  }
  *out = static_cast<TokenId>(id);
  return absl::OkStatus();
}

absl::Status ReadIds(const GgufFile& file, Vocabulary* out) {
  // SPM models had these before files named them.
  const bool spm = out->model == Vocabulary::Model::kSpm;
  HY_RETURN_IF_ERROR(ReadId(file, "bos_token_id", spm ? 1 : kNoToken, &out->bos, *out));
  HY_RETURN_IF_ERROR(ReadId(file, "eos_token_id", spm ? 2 : kNoToken, &out->eos, *out));
  HY_RETURN_IF_ERROR(ReadId(file, "unknown_token_id", spm ? 0 : kNoToken, &out->unknown, *out));
  HY_RETURN_IF_ERROR(ReadId(file, "padding_token_id", kNoToken, &out->padding, *out));
  TokenId end_of_turn = kNoToken;
  HY_RETURN_IF_ERROR(ReadId(file, "eot_token_id", kNoToken, &end_of_turn, *out));
  for (const TokenId id : {out->eos, end_of_turn}) {
    if (id != kNoToken) out->ends_of_generation.push_back(id);
  }
  for (size_t i = 0; i < out->size(); ++i) {
    if (out->kinds[i] == TokenKind::kNormal) continue;
    if (std::find(std::begin(kEnds), std::end(kEnds), out->tokens[i]) != std::end(kEnds))
      out->ends_of_generation.push_back(static_cast<TokenId>(i));
  }
  std::vector<TokenId>& ends = out->ends_of_generation;
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return absl::OkStatus();
}

absl::Status ReadBpe(const GgufFile& file, Vocabulary* out) {
  HY_ASSIGN_OR_RETURN(const absl::string_view pre, file.StringOr(Key("pre"), ""));
  out->pre = std::string(pre);
  if (FindPreRule(pre) == nullptr) {
    out->warnings.push_back(absl::StrCat(
        pre.empty() ? "the file does not say how text is cut into words (tokenizer.ggml.pre)"
                    : absl::StrCat("the rule '", pre, "' that cuts text into words is not known"),
        "; that of gpt-2 is used, and tokens may differ from those of training"));
  }
  HY_ASSIGN_OR_RETURN(const std::vector<absl::string_view> merges, file.Strings(Key("merges")));
  out->merges = Copies(merges);
  return absl::OkStatus();
}

absl::Status ReadFlags(const GgufFile& file, Vocabulary* out) {
  const PreRule* const rule = FindPreRule(out->pre);
  const bool spm = out->model == Vocabulary::Model::kSpm;
  const bool adds_bos = spm || (rule != nullptr && rule->adds_bos);
  HY_ASSIGN_OR_RETURN(out->add_bos, file.BoolOr(Key("add_bos_token"), adds_bos));
  HY_ASSIGN_OR_RETURN(out->add_eos, file.BoolOr(Key("add_eos_token"), false));
  HY_ASSIGN_OR_RETURN(out->add_space_prefix, file.BoolOr(Key("add_space_prefix"), spm));
  HY_ASSIGN_OR_RETURN(const absl::string_view chat, file.StringOr("tokenizer.chat_template", ""));
  out->chat_template = std::string(chat);
  HY_ASSIGN_OR_RETURN(const absl::string_view arch, file.StringOr("general.architecture", ""));
  HY_ASSIGN_OR_RETURN(const absl::string_view name, file.StringOr("general.name", ""));
  const std::string lower = absl::AsciiStrToLower(name);
  out->strips_after_special =
      arch == "phi3" || absl::StrContains(lower, "phi-3") || absl::StrContains(lower, "phi3");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Vocabulary> VocabularyFromGguf(const GgufFile& file) {
  Vocabulary vocabulary;
  HY_ASSIGN_OR_RETURN(const absl::string_view model, file.String(Key("model")));
  if (model != "llama" && model != "gpt2") {
    return absl::UnimplementedError(absl::StrCat(
        "tokenizers of the kind '", model, "' are not supported; llama (SPM) and gpt2 (BPE) are"));
  }
  vocabulary.model = model == "llama" ? Vocabulary::Model::kSpm : Vocabulary::Model::kBpe;
  HY_RETURN_IF_ERROR(ReadTokens(file, &vocabulary));
  HY_RETURN_IF_ERROR(ReadKinds(file, &vocabulary));
  HY_RETURN_IF_ERROR(ReadScores(file, &vocabulary));
  if (vocabulary.model == Vocabulary::Model::kBpe) HY_RETURN_IF_ERROR(ReadBpe(file, &vocabulary));
  HY_RETURN_IF_ERROR(ReadIds(file, &vocabulary));
  HY_RETURN_IF_ERROR(ReadFlags(file, &vocabulary));
  return vocabulary;
}

int ByteOfToken(const std::string& token) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  if (token.size() != 6 || token.compare(0, 3, "<0x") != 0 || token[5] != '>') return -1;
  const int high = digit(token[3]);
  const int low = digit(token[4]);
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

}  // namespace halyard::engine
