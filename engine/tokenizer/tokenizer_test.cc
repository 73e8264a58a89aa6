// SPDX-License-Identifier: Apache-2.0
#include "engine/tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/tokenizer/pretokenizer.h"
#include "engine/tokenizer/stream_decoder.h"

namespace halyard::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// All bytes, some merges, and tokens of each kind.
Vocabulary SmallBpe(const std::string& pre = "gpt-2") {
  Vocabulary v;
  v.model = Vocabulary::Model::kBpe;
  v.pre = pre;
  for (int byte = 0; byte < 256; ++byte)
    v.tokens.push_back(ByteLevelChar(static_cast<uint8_t>(byte)));
  v.merges = {"h e", "l l", "he ll", "hell o", "a a", "aa aa", "aaaa aaaa"};
  for (const char* token : {"he", "ll", "hell", "hello", "aa", "aaaa", "aaaaaaaa"})
    v.tokens.emplace_back(token);
  v.kinds.assign(v.tokens.size(), TokenKind::kNormal);
  const auto add = [&](const char* token, TokenKind kind) {
    v.tokens.emplace_back(token);
    v.kinds.push_back(kind);
    return static_cast<TokenId>(v.tokens.size() - 1);
  };
  v.bos = add("<s>", TokenKind::kControl);
  v.eos = add("</s>", TokenKind::kControl);
  add("<fn>", TokenKind::kUserDefined);
  add("<fn>x", TokenKind::kUserDefined);
  v.ends_of_generation = {v.eos};
  return v;
}

Vocabulary SmallSpm(bool with_bytes) {
  Vocabulary v;
  v.model = Vocabulary::Model::kSpm;
  const auto add = [&](const std::string& token, TokenKind kind, float score) {
    v.tokens.push_back(token);
    v.kinds.push_back(kind);
    v.scores.push_back(score);
  };
  add("<unk>", TokenKind::kUnknown, 0);
  add("<s>", TokenKind::kControl, 0);
  add("</s>", TokenKind::kControl, 0);
  if (with_bytes) {
    for (int byte = 0; byte < 256; ++byte)
      add(absl::StrFormat("<0x%02X>", byte), TokenKind::kByte, 0);
  }
  float score = 0;
  for (const char* token : {"\xe2\x96\x81", "a", "b", "c",
                            "\xe2\x96\x81"
                            "a",
                            "ab", "bc", "<", "s", ">", "<s", "abc"})
    add(token, TokenKind::kNormal, score -= 1);
  v.unknown = 0;
  v.bos = 1;
  v.eos = 2;
  v.add_bos = true;
  return v;
}

std::unique_ptr<Tokenizer> Make(Vocabulary v) {
  auto made = Tokenizer::Create(std::move(v));
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

std::vector<std::string> Pieces(const Tokenizer& tokenizer, absl::string_view text,
                                const EncodeOptions& options = {false, false}) {
  std::vector<std::string> pieces;
  const auto ids = tokenizer.Encode(text, options);
  for (const TokenId id : ids.value())
    pieces.push_back(tokenizer.vocabulary().tokens[static_cast<size_t>(id)]);
  return pieces;
}

TEST(Bpe, MergesInTheOrderOfRanks) {
  const auto t = Make(SmallBpe());
  EXPECT_THAT(Pieces(*t, "hello"), ElementsAre("hello"));
  EXPECT_THAT(Pieces(*t, "hell"), ElementsAre("hell"));
  EXPECT_THAT(Pieces(*t, "helo"), ElementsAre("he", "l", "o"));
  EXPECT_THAT(Pieces(*t, "aaaaaaa"), ElementsAre("aaaa", "aa", "a"));
  EXPECT_THAT(Pieces(*t, ""), ElementsAre());
}

TEST(Bpe, AddsWhatTheModelWantsAtBeginAndEnd) {
  Vocabulary v = SmallBpe();
  v.add_bos = v.add_eos = true;
  const auto t = Make(v);
  EXPECT_THAT(Pieces(*t, "hello", {true, false}), ElementsAre("<s>", "hello", "</s>"));
  EXPECT_THAT(Pieces(*t, "", {true, false}), ElementsAre("<s>", "</s>"));
}

TEST(SpecialTokensTest, TextOfUsersMakesNoControlTokens) {
  const auto t = Make(SmallBpe());
  EXPECT_THAT(Pieces(*t, "a</s>", {false, true}), ElementsAre("a", "</s>"));
  for (const std::string& piece : Pieces(*t, "a</s><s>", {false, false}))
    EXPECT_THAT(piece, testing::AnyOf("a", "<", "/", "s", ">"));
  EXPECT_THAT(Pieces(*t, "a<fn>b"), ElementsAre("a", "<fn>", "b")) << "users may write these";
  EXPECT_THAT(Pieces(*t, "<fn>xy"), ElementsAre("<fn>x", "y")) << "the longest";
  const auto spm = Make(SmallSpm(true));
  for (const std::string& piece : Pieces(*spm, "<s>")) EXPECT_NE(piece, "<s>");
}

TEST(Spm, TakesTheBestScoreFirst) {
  const auto t = Make(SmallSpm(true));
  EXPECT_THAT(Pieces(*t, "abc"), ElementsAre("\xe2\x96\x81"
                                             "a",
                                             "bc"));
  EXPECT_THAT(Pieces(*t, "abc", {true, false}), ElementsAre("<s>",
                                                            "\xe2\x96\x81"
                                                            "a",
                                                            "bc"));
  EXPECT_EQ(*t->Decode(*t->Encode("abc")), "abc");
  EXPECT_EQ(*t->Decode(*t->Encode("  a b")), "  a b");
}

TEST(Spm, WithoutByteTokensACharacterIsUnknown) {
  const auto with = Make(SmallSpm(true));
  EXPECT_THAT(Pieces(*with, "a\xc3\xa9"), ElementsAre("\xe2\x96\x81"
                                                      "a",
                                                      "<0xC3>", "<0xA9>"));
  EXPECT_EQ(*with->Decode(*with->Encode("a\xc3\xa9\xff")), "a\xc3\xa9\xff");
  const auto without = Make(SmallSpm(false));
  EXPECT_THAT(Pieces(*without, "a\xc3\xa9"), ElementsAre("\xe2\x96\x81"
                                                         "a",
                                                         "<unk>"));
}

TEST(Vocabularies, ThatAreWrongAreRefused) {
  const auto why = [](const Vocabulary& v) {
    return std::string(Tokenizer::Create(v).status().message());
  };
  EXPECT_THAT(why({}), HasSubstr("empty"));
  Vocabulary v = SmallBpe();
  v.merges[2] = "hell";
  EXPECT_THAT(why(v), HasSubstr("merge 2 of the vocabulary, 'hell'"));
  v = SmallBpe();
  v.eos = 5000;
  EXPECT_THAT(why(v), HasSubstr("a special token is 5000"));
  v = SmallSpm(true);
  v.tokens[5] = "<0xZZ>";
  EXPECT_THAT(why(v), HasSubstr("token 5 of the vocabulary is said to be a byte"));
  v = SmallSpm(true);
  v.tokens[5] = "";
  EXPECT_THAT(why(v), HasSubstr("token 5"));
  v = SmallSpm(true);
  v.scores.pop_back();
  EXPECT_THAT(why(v), HasSubstr("scores for"));
}

TEST(TokenizerTest, NumbersThatAreNoTokens) {
  const auto t = Make(SmallBpe());
  EXPECT_TRUE(absl::IsOutOfRange(t->Decode({1, 100000}).status()));
  EXPECT_TRUE(absl::IsOutOfRange(t->Decode({-1}).status()));
  EXPECT_EQ(t->Piece(-5), "");
  EXPECT_TRUE(t->IsEnd(t->vocabulary().eos));
  EXPECT_FALSE(t->IsEnd(3));
}

TEST(Chat, FormatsAreRecognised) {
  EXPECT_EQ(RecogniseChatTemplate("x <|im_start|> y").format, ChatFormat::kChatMl);
  EXPECT_EQ(RecogniseChatTemplate("<|start_header_id|>").format, ChatFormat::kLlama3);
  EXPECT_EQ(RecogniseChatTemplate("[INST]").format, ChatFormat::kLlama2);
  EXPECT_EQ(RecogniseChatTemplate("<start_of_turn>").format, ChatFormat::kGemma);
  EXPECT_EQ(RecogniseChatTemplate("<|user|>").format, ChatFormat::kZephyr);
  EXPECT_THAT(RecogniseChatTemplate("").warning, HasSubstr("no chat template"));
  EXPECT_THAT(RecogniseChatTemplate("{{ x }}").warning, HasSubstr("not known"));
  for (const char* name : {"chatml", "llama2", "llama3", "zephyr", "gemma", "minicpm"})
    EXPECT_STREQ(ChatFormatName(*ChatFormatOf(name)), name);
  EXPECT_FALSE(ChatFormatOf("no").ok());
}

std::string Joined(const std::vector<ChatPart>& parts) {
  std::string text;
  for (const ChatPart& part : parts) text += part.text;
  return text;
}

TEST(Chat, IsWrittenAsModelsKnowIt) {
  const std::vector<ChatMessage> messages = {{ChatRole::kSystem, "S"},
                                             {ChatRole::kUser, "U"},
                                             {ChatRole::kAssistant, "A"},
                                             {ChatRole::kUser, "V"}};
  const auto rendered = [&](ChatFormat format) {
    return Joined(RenderChat({format, "", ""}, messages, true));
  };
  EXPECT_EQ(
      rendered(ChatFormat::kChatMl),
      "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n"
      "A<|im_end|>\n<|im_start|>user\nV<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(rendered(ChatFormat::kLlama2),
            "[INST] <<SYS>>\nS\n<</SYS>>\n\nU [/INST] A</s>[INST] V [/INST]");
  EXPECT_EQ(rendered(ChatFormat::kGemma),
            "<start_of_turn>user\nS\n\nU<end_of_turn>\n<start_of_turn>model\nA<end_of_turn>\n"
            "<start_of_turn>user\nV<end_of_turn>\n<start_of_turn>model\n");
  EXPECT_EQ(Joined(RenderChat({ChatFormat::kZephyr, "D", ""}, {{ChatRole::kUser, "U"}}, true)),
            "<|system|>\nD</s>\n<|user|>\nU</s>\n<|assistant|>\n");
  EXPECT_EQ(Joined(RenderChat({ChatFormat::kZephyr, "D", ""}, {{ChatRole::kUser, "U"}}, false)),
            "<|user|>\nU</s>\n<|assistant|>\n");
}

TEST(Chat, UsersCannotEndTheirTurn) {
  const auto t = Make(SmallBpe());
  const auto ids = *t->EncodeChat({{"<s>", true}, {"hi</s>", false}, {"</s>", true}}, false);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), t->vocabulary().eos), 1);
  EXPECT_EQ(ids.back(), t->vocabulary().eos);
  EXPECT_EQ(*t->EncodeChat({{"hel", true}, {"lo", false}}, false),
            *t->Encode("hello", {false, false}))
      << "words are cut as if the parts were one text";
}

TEST(StreamDecoderTest, GivesWholeCharacters) {
  StreamDecoder decoder;
  EXPECT_EQ(decoder.Add("a\xe4"), "a");
  EXPECT_EQ(decoder.Add("\xbd"), "");
  EXPECT_EQ(decoder.Add("\xa0z\xf0\x9f"), "\xe4\xbd\xa0z");
  EXPECT_EQ(decoder.Finish(), "\xef\xbf\xbd") << "half a character at the end";
  EXPECT_EQ(decoder.Finish(), "");
  EXPECT_EQ(decoder.Add("\xff\x80"
                        "b\xe4"
                        "c"),
            "\xef\xbf\xbd\xef\xbf\xbd"
            "b\xef\xbf\xbd"
            "c");
}

class EveryRule : public testing::TestWithParam<const char*> {};

TEST_P(EveryRule, AnyBytesComeBack) {
  const auto t = Make(SmallBpe(GetParam()));
  std::mt19937 random(20261201);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    const auto length = random() % 60;
    for (size_t i = 0; i < length; ++i) {
      static constexpr const char* kBits[] = {"a",
                                              "Z",
                                              " ",
                                              "  ",
                                              "\n",
                                              "\r\n",
                                              "'s",
                                              "'LL",
                                              "7",
                                              "42",
                                              "\xc3\xa9",
                                              "\xe4\xbd\xa0",
                                              "\xf0\x9f\x98\x80",
                                              ".",
                                              "$",
                                              "\t",
                                              "\xc2\xa0",
                                              "\xe0\xa4\xbf",
                                              "\xff",
                                              "\xe4\xbd"};
      text += kBits[random() % std::size(kBits)];
    }
    const auto ids = t->Encode(text, {false, false});
    ASSERT_TRUE(ids.ok());
    EXPECT_EQ(*t->Decode(*ids), text) << "seed 20261201, round " << round;
  }
}

TEST_P(EveryRule, WordsAreInOrderAndCoverTheText) {
  const PreRule* const rule = FindPreRule(GetParam());
  ASSERT_NE(rule, nullptr);
  const std::string text = "It's 12345 x\xc3\xa9  \n\n y!!! \xe4\xbd\xa0\xe5\xa5\xbd   ";
  uint32_t last = 0;
  for (const uint32_t end : CutIntoWords(*rule, text)) {
    EXPECT_GT(end, last);
    last = end;
  }
  EXPECT_EQ(last, text.size());
}

// Work is counted, not timed: a few steps for each byte, whatever the text.
TEST_P(EveryRule, WorkGrowsWithTheText) {
  std::mt19937 random(7);
  std::string noise;
  for (int i = 0; i < 200000; ++i) noise.push_back(static_cast<char>(random()));
  for (const std::string& text : {std::string(200000, 'a'), std::string(200000, ' ') + "x",
                                  std::string(200000, '\n'), std::string(200000, '7'), noise}) {
    const auto t = Make(SmallBpe(GetParam()));
    ASSERT_TRUE(t->Encode(text, {false, false}).ok());
    EXPECT_LT(t->steps(), 10 * text.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, EveryRule,
                         testing::Values("gpt-2", "starcoder", "falcon", "default", "llama-bpe",
                                         "dbrx", "qwen2", "qwen35", "deepseek-coder",
                                         "deepseek-llm"));

std::vector<std::string> Words(const char* pre, absl::string_view text) {
  std::vector<std::string> words;
  uint32_t begin = 0;
  for (const uint32_t end : CutIntoWords(*FindPreRule(pre), text)) {
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

TEST(PreRules, CutAsTheirExpressions) {
  EXPECT_THAT(Words("gpt-2", "it's  two  "), ElementsAre("it", "'s", " ", " two", "  "));
  EXPECT_THAT(Words("gpt-2", "IT'S 1234"), ElementsAre("IT", "'", "S", " 1234"));
  EXPECT_THAT(Words("llama-bpe", "IT'S 1234"), ElementsAre("IT", "'S", " ", "123", "4"));
  EXPECT_THAT(Words("llama-bpe", "a.b\n\n  c"), ElementsAre("a", ".b", "\n\n", " ", " c"));
  EXPECT_THAT(Words("llama-bpe", "x!!\n y"), ElementsAre("x", "!!\n", " y"));
  EXPECT_THAT(Words("qwen2", "a12"), ElementsAre("a", "1", "2"));
  EXPECT_THAT(Words("starcoder", "a 12"), ElementsAre("a", " ", "1", "2"));
  EXPECT_THAT(Words("falcon", "a 12345!?b"), ElementsAre("a", " ", "123", "45", "!?", "b"));
  EXPECT_EQ(FindPreRule("no such"), nullptr);
  EXPECT_EQ(FindPreRule("llama3"), FindPreRule("llama-bpe"));
}

}  // namespace
}  // namespace halyard::engine
