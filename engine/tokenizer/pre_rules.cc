// SPDX-License-Identifier: Apache-2.0
//
// The rules as data. Each line beside an alternative is the part of the expression that it stands
// for; the expressions are those of the models' tokenizer.json, and of llama.cpp (llama-vocab.cpp)
// where files made for it are read.
#include <algorithm>
#include <iterator>

#include "engine/tokenizer/pretokenizer.h"

namespace halyard::engine {
namespace {

using A = Alternative;

constexpr ClassSet kNone = {};
constexpr ClassSet Any(uint32_t mask) { return {static_cast<uint16_t>(mask), false}; }
constexpr ClassSet Not(uint32_t mask) { return {static_cast<uint16_t>(mask), true}; }

constexpr A Run(ClassSet prefix, ClassSet body, uint32_t least = 1, uint32_t most = UINT32_MAX,
                ClassSet suffix = kNone) {
  return {A::kRun, prefix, body, least, most, suffix};
}
constexpr A Kind(A::Kind kind) { return {kind, kNone, kNone, 1, UINT32_MAX, kNone}; }

constexpr ClassSet kSigns = Not(kSpace | kLetter | kNumber);

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
constexpr A kGpt2Words[] = {Kind(A::kContraction),          Run(Any(kBlank), Any(kLetter)),
                            Run(Any(kBlank), Any(kNumber)), Run(Any(kBlank), kSigns),
                            Kind(A::kSpacesBeforeWord),     Kind(A::kSpaces)};
// \p{N}
constexpr A kOneNumber[] = {Run(kNone, Any(kNumber), 1, 1)};
// [0-9][0-9][0-9]
constexpr A kThreeDigits[] = {Run(kNone, Any(kAsciiDigit), 3, 3)};
// [\p{P}\$\+<=>\^~\|`]+
constexpr A kPunctuationRuns[] = {Run(kNone, Any(kPunctuation | kAsciiMath))};
// \p{N}+
constexpr A kNumberRuns[] = {Run(kNone, Any(kNumber))};

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+
// |\s+(?!\S)|\s+
constexpr A kLlama3Words[] = {Kind(A::kContractionAnyCase),
                              Run(Not(kNewline | kLetter | kNumber), Any(kLetter)),
                              Run(kNone, Any(kNumber), 1, 3),
                              Run(Any(kBlank), kSigns, 1, UINT32_MAX, Any(kNewline)),
                              Kind(A::kSpacesToNewline),
                              Kind(A::kSpacesBeforeWord),
                              Kind(A::kSpaces)};
// As llama 3, numbers one by one.
constexpr A kQwen2Words[] = {kLlama3Words[0], kLlama3Words[1], Run(kNone, Any(kNumber), 1, 1),
                             kLlama3Words[3], kLlama3Words[4], kLlama3Words[5],
                             kLlama3Words[6]};
// As qwen 2, marks being parts of words.
constexpr A kQwen35Words[] = {
    kLlama3Words[0],
    Run(Not(kNewline | kLetter | kNumber), Any(kLetter | kMark)),
    Run(kNone, Any(kNumber), 1, 1),
    Run(Any(kBlank), Not(kSpace | kLetter | kMark | kNumber), 1, UINT32_MAX, Any(kNewline)),
    kLlama3Words[4],
    kLlama3Words[5],
    kLlama3Words[6]};

constexpr A kOneNewline[] = {Run(kNone, Any(kNewline), 1, 1)};
constexpr A kSpaceAndLetters[] = {Run(Any(kSpace), Any(kLetter))};
constexpr A kSpaceAndPunctuation[] = {Run(Any(kSpace), Any(kPunctuation))};
constexpr A kCjkRuns[] = {Run(kNone, Any(kCjk))};
constexpr A kSpaceAndCased[] = {Run(Any(kSpace), Any(kCased))};
constexpr A kSpaceAndWideSigns[] = {Run(Any(kSpace), Any(kWideSigns))};
constexpr A kTrailingSpaces[] = {Kind(A::kSpacesAtEnd)};

constexpr Stage kGpt2[] = {kGpt2Words};
constexpr Stage kStarcoder[] = {kOneNumber, kGpt2Words};
constexpr Stage kFalcon[] = {kPunctuationRuns, kGpt2Words, kThreeDigits};
constexpr Stage kDefault[] = {kPunctuationRuns, kGpt2Words, kNumberRuns, kThreeDigits};
constexpr Stage kLlama3[] = {kLlama3Words};
constexpr Stage kQwen2[] = {kQwen2Words};
constexpr Stage kQwen35[] = {kQwen35Words};
constexpr Stage kDeepseekCoder[] = {kOneNewline, kSpaceAndLetters, kSpaceAndPunctuation, kCjkRuns,
                                    kOneNumber};
constexpr Stage kDeepseekLlm[] = {kOneNewline,     kSpaceAndCased, kSpaceAndWideSigns,
                                  kTrailingSpaces, kCjkRuns,       kNumberRuns};

constexpr PreRule kRules[] = {
    {"gpt-2", kGpt2, false, false},
    {"starcoder", kStarcoder, false, false},
    {"falcon", kFalcon, false, false},
    {"default", kDefault, false, false},
    {"llama-bpe", kLlama3, true, true},
    {"dbrx", kLlama3, false, false},
    {"qwen2", kQwen2, false, false},
    {"qwen35", kQwen35, false, false},
    {"deepseek-coder", kDeepseekCoder, false, false},
    {"deepseek-llm", kDeepseekLlm, false, false},
};

struct Alias {
  absl::string_view pre;
  absl::string_view rule;
};

// Names in files that share a rule.
constexpr Alias kAliases[] = {
    {"mpt", "gpt-2"},
    {"olmo", "gpt-2"},
    {"jais", "gpt-2"},
    {"phi-2", "gpt-2"},
    {"jina-es", "gpt-2"},
    {"jina-de", "gpt-2"},
    {"refact", "starcoder"},
    {"command-r", "starcoder"},
    {"smollm", "starcoder"},
    {"codeshell", "starcoder"},
    {"llama3", "llama-bpe"},
    {"llama-v3", "llama-bpe"},
    {"falcon3", "llama-bpe"},
    {"pixtral", "llama-bpe"},
    {"smaug-bpe", "dbrx"},
    {"stablelm2", "qwen2"},
    {"deepseek-r1-qwen", "qwen2"},
    {"megrez", "qwen2"},
};

}  // namespace

const PreRule* FindPreRule(absl::string_view pre) {
  const auto* const alias = std::find_if(std::begin(kAliases), std::end(kAliases),
                                         [&](const Alias& one) { return one.pre == pre; });
  const absl::string_view name = alias == std::end(kAliases) ? pre : alias->rule;
  const auto* const rule = std::find_if(std::begin(kRules), std::end(kRules),
                                        [&](const PreRule& one) { return one.name == name; });
  return rule == std::end(kRules) ? nullptr : rule;
}

const PreRule& FallbackPreRule() { return kRules[0]; }

}  // namespace halyard::engine
