// SPDX-License-Identifier: Apache-2.0
//
// Vocabularies of real models against the tokens that llama.cpp gives, where the files are at hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/gguf/gguf_model_file.h"
#include "engine/tokenizer/tokenizer.h"

namespace halyard::engine {
namespace {

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class Vectors : public testing::TestWithParam<const char*> {
 protected:
  std::string PathOf(const char* suffix) const {
    return absl::StrCat(HALYARD_SHARED_DIR, "/models/vocab/ggml-vocab-", GetParam(), ".gguf",
                        suffix);
  }
};

TEST_P(Vectors, AreMet) {
  if (!std::filesystem::exists(PathOf("")))
    GTEST_SKIP() << "no " << PathOf("") << ": this vocabulary is not held to its vectors";
  const auto file = GgufModelFile::Open(PathOf(""));
  ASSERT_TRUE(file.ok()) << file.status();
  absl::StatusOr<Vocabulary> vocabulary = VocabularyFromGguf((*file)->head());
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_THAT(vocabulary->warnings, testing::IsEmpty());
  const auto tokenizer = Tokenizer::Create(*std::move(vocabulary));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const std::string input = Contents(PathOf(".inp"));
  const std::vector<std::string> texts = absl::StrSplit(input, "\n__ggml_vocab_test__\n");
  const std::vector<std::string> lines = absl::StrSplit(Contents(PathOf(".out")), '\n');
  ASSERT_GE(texts.size(), 40u);
  ASSERT_GE(lines.size(), texts.size() - 1);
  for (size_t i = 0; i + 1 < texts.size(); ++i) {
    std::vector<TokenId> wanted;
    for (const absl::string_view word : absl::StrSplit(lines[i], ' ', absl::SkipEmpty())) {
      wanted.emplace_back();
      ASSERT_TRUE(absl::SimpleAtoi(word, &wanted.back())) << lines[i];
    }
    const auto got = (*tokenizer)->Encode(texts[i], {.add_special = false});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(absl::StrJoin(*got, " "), absl::StrJoin(wanted, " "))
        << "text " << i << ": " << absl::CEscape(texts[i]);
    // SPM has no token for every byte of every text; byte-level BPE does.
    EXPECT_EQ(*(*tokenizer)->Decode(*got), texts[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Vectors,
                         testing::Values("llama-spm", "phi-3", "gpt-2", "refact", "starcoder",
                                         "mpt", "falcon", "deepseek-coder", "deepseek-llm",
                                         "command-r", "qwen2", "qwen35", "llama-bpe"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace halyard::engine
