// SPDX-License-Identifier: Apache-2.0
#include "engine/gguf/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/gguf/test_gguf_bytes.h"

namespace halyard::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SmallFile : public testing::TestWithParam<bool> {};

TEST_P(SmallFile, IsReadWhole) {
  const GgufBytes bytes = SmallGguf(GetParam());
  const absl::StatusOr<GgufFile> file = GgufFile::Parse(bytes.span());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->version(), 3u);
  EXPECT_EQ(file->is_big_endian(), GetParam());
  EXPECT_EQ(*file->String("general.architecture"), "llama");
  EXPECT_EQ(*file->Int("llama.block_count"), 2);
  EXPECT_EQ(*file->Float("eps"), 0.5);
  EXPECT_THAT(*file->Strings("tokens"), ElementsAre("a", "", "bcd"));
  EXPECT_THAT(*file->Ints("types"), ElementsAre(-1, 7));
  ASSERT_EQ(file->tensors().size(), 2u);
  const GgufTensor& w = *file->FindTensor("w");
  EXPECT_EQ(w.type, static_cast<uint32_t>(HY_TYPE_Q8_0));
  EXPECT_EQ(w.rank, 2u);
  EXPECT_EQ(w.shape[0], 2);
  EXPECT_EQ(w.shape[1], 64);
  EXPECT_EQ(w.bytes, 4u * 34u);
  EXPECT_EQ(file->BytesOf(w).size(), w.bytes);
  EXPECT_EQ(w.offset, file->data_offset());
  EXPECT_EQ(file->FindTensor("norm")->offset, file->data_offset() + 160);
  EXPECT_EQ(file->FindTensor("none"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(ByteOrders, SmallFile, testing::Bool());

TEST(GgufFile, GivesIntegersOfEachWidth) {
  GgufBytes bytes;
  bytes.Header(0, 8)
      .Key("u8", GgufType::kUint8)
      .Put(200, 1)
      .Key("i8", GgufType::kInt8)
      .Put(200, 1)
      .Key("u16", GgufType::kUint16)
      .Put(60000, 2)
      .Key("i16", GgufType::kInt16)
      .Put(60000, 2)
      .Key("u64", GgufType::kUint64)
      .Put(UINT64_C(1) << 40, 8)
      .Key("i64", GgufType::kInt64)
      .Put(UINT64_MAX, 8)
      .Key("huge", GgufType::kUint64)
      .Put(UINT64_MAX, 8)
      .Key("yes", GgufType::kBool)
      .Put(1, 1);
  const absl::StatusOr<GgufFile> file = GgufFile::Parse(bytes.span());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*file->Int("u8"), 200);
  EXPECT_EQ(*file->Int("i8"), -56);
  EXPECT_EQ(*file->Int("u16"), 60000);
  EXPECT_EQ(*file->Int("i16"), -5536);
  EXPECT_EQ(*file->Int("u64"), INT64_C(1) << 40);
  EXPECT_EQ(*file->Int("i64"), -1);
  EXPECT_THAT(std::string(file->Int("huge").status().message()), HasSubstr("too large"));
  EXPECT_TRUE(*file->Bool("yes"));
}

TEST(GgufFile, SaysWhatIsMissingAndWhatHasAnotherType) {
  const GgufBytes bytes = SmallGguf();
  const GgufFile file = *GgufFile::Parse(bytes.span());
  const auto why = [](const absl::Status& status) { return std::string(status.message()); };
  EXPECT_TRUE(absl::IsNotFound(file.Int("none").status()));
  EXPECT_THAT(why(file.Int("none").status()), HasSubstr("no key none"));
  EXPECT_THAT(why(file.Int("eps").status()), HasSubstr("eps is of type float32"));
  EXPECT_THAT(why(file.String("types").status()), HasSubstr("types is an array of int32"));
  EXPECT_THAT(why(file.Strings("types").status()), HasSubstr("array of strings is needed"));
  EXPECT_EQ(*file.IntOr("none", 9), 9);
  EXPECT_EQ(*file.FloatOr("none", 0.25), 0.25);
  EXPECT_EQ(*file.StringOr("none", "x"), "x");
  EXPECT_TRUE(*file.BoolOr("none", true));
  EXPECT_FALSE(file.IntOr("eps", 1).ok()) << "a key of another type is no missing one";
}

TEST(GgufFile, KeepsTensorsOfTypesWithoutAnOp) {
  GgufBytes bytes;
  bytes.Header(2, 0).Tensor("a", {256}, 16, 0).Tensor("b", {10}, 99, 96).Pad();
  bytes.Zeros(96 + 40);
  const absl::StatusOr<GgufFile> file = GgufFile::Parse(bytes.span());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->FindTensor("a")->bytes, 66u);
  EXPECT_EQ(file->FindTensor("a")->type, static_cast<uint32_t>(HY_TYPE_NONE));
  EXPECT_EQ(file->FindTensor("b")->bytes, 40u) << "up to the end, since its size is not known";
  EXPECT_EQ(GgufTensorTypeOf(99).name, "type 99");
}

TEST(GgufFile, ReadsVersion2) {
  GgufBytes bytes;
  bytes.Header(0, 1, 2).Uint32("k", 5);
  const absl::StatusOr<GgufFile> file = GgufFile::Parse(bytes.span());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*file->Int("k"), 5);
}

TEST(GgufTypes, NumbersGoThereAndBack) {
  for (uint32_t type = 1; type < HY_TYPE_COUNT; ++type) {
    const uint32_t number = GgufNumberOf(type);
    if (number == UINT32_MAX) continue;
    const GgufTensorType facts = GgufTensorTypeOf(number);
    EXPECT_EQ(facts.type, type);
    EXPECT_EQ(facts.name, hy_type_name(type));
    EXPECT_EQ(facts.block, hy_type_facts(type)->block);
    EXPECT_EQ(facts.bytes, hy_type_facts(type)->block_bytes);
  }
  EXPECT_EQ(GgufNumberOf(HY_TYPE_W8A8), UINT32_MAX);
}

}  // namespace
}  // namespace halyard::engine
