// SPDX-License-Identifier: Apache-2.0
//
// Files on disk: written, mapped, split, cut.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "engine/gguf/gguf_model_file.h"
#include "engine/gguf/gguf_writer.h"
#include "engine/gguf/test_gguf_bytes.h"

namespace halyard::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class GgufOnDisk : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "gguf.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string PathOf(const std::string& name) const { return (folder_ / name).string(); }
  void Put(const std::string& name, absl::string_view bytes) const {
    std::ofstream(PathOf(name), std::ios::binary) << bytes;
  }
  static GgufWriter Part(int32_t number, int32_t count, const std::string& tensor,
                         const std::vector<uint8_t>* bytes) {
    GgufWriter writer;
    writer.AddInt32("split.no", number);
    writer.AddInt32("split.count", count);
    writer.AddInt32("split.tensors.count", count);
    EXPECT_TRUE(writer
                    .AddTensor(tensor, HY_TYPE_I8, {static_cast<int64_t>(bytes->size())},
                               [bytes] { return absl::Span<const uint8_t>(*bytes); })
                    .ok());
    return writer;
  }

  std::filesystem::path folder_;
  const std::vector<uint8_t> some_ = {1, 2, 3, 4, 5};
};

TEST_F(GgufOnDisk, WhatIsWrittenIsRead) {
  GgufWriter writer;
  writer.AddString("general.architecture", "llama");
  writer.AddUint32("u", 7);
  writer.AddInt32("i", -7);
  writer.AddUint64("l", UINT64_C(1) << 33);
  writer.AddFloat("f", 0.25F);
  writer.AddBool("b", true);
  writer.AddStrings("s", {"x", "", "yz"});
  writer.AddFloats("fs", {1.5F, -2});
  writer.AddInts("is", {-1, 2});
  writer.AddBools("bs", {true, false});
  const GgufBytes other = SmallGguf();
  const GgufFile parsed = *GgufFile::Parse(other.span());
  ASSERT_TRUE(writer.Copy(parsed, *parsed.Find("tokens")).ok());
  const std::vector<uint8_t> rows(2 * 34, 9);
  ASSERT_TRUE(
      writer.AddTensor("w", HY_TYPE_Q8_0, {2, 32}, [&] { return absl::Span<const uint8_t>(rows); })
          .ok());
  ASSERT_TRUE(
      writer.AddTensor("v", HY_TYPE_I8, {5}, [&] { return absl::Span<const uint8_t>(some_); })
          .ok());
  uint64_t told = 0;
  ASSERT_TRUE(writer
                  .Write(PathOf("m.gguf"),
                         [&](uint64_t done, uint64_t total) {
                           EXPECT_LE(done, total);
                           told = done;
                         })
                  .ok());
  const auto model = GgufModelFile::Open(PathOf("m.gguf"));
  ASSERT_TRUE(model.ok()) << model.status();
  const GgufFile& file = (*model)->head();
  EXPECT_EQ((*model)->bytes(), told);
  EXPECT_EQ(*file.Int("u"), 7);
  EXPECT_EQ(*file.Int("i"), -7);
  EXPECT_EQ(*file.Int("l"), INT64_C(1) << 33);
  EXPECT_EQ(*file.Float("f"), 0.25);
  EXPECT_TRUE(*file.Bool("b"));
  EXPECT_THAT(*file.Strings("s"), ElementsAre("x", "", "yz"));
  EXPECT_THAT(*file.Floats("fs"), ElementsAre(1.5F, -2));
  EXPECT_THAT(*file.Ints("is"), ElementsAre(-1, 2));
  EXPECT_THAT(*file.Bools("bs"), ElementsAre(true, false));
  EXPECT_THAT(*file.Strings("tokens"), ElementsAre("a", "", "bcd"));
  EXPECT_EQ((*model)->BytesOf(*(*model)->FindTensor("w")), absl::MakeConstSpan(rows));
  (*model)->Forget(*(*model)->FindTensor("v"));
  EXPECT_EQ((*model)->BytesOf(*(*model)->FindTensor("v")), absl::MakeConstSpan(some_));
}

TEST_F(GgufOnDisk, NothingIsLeftOfAFileThatCannotBeWrittenWhole) {
  GgufWriter writer;
  ASSERT_TRUE(
      writer.AddTensor("v", HY_TYPE_I8, {9}, [&] { return absl::Span<const uint8_t>(some_); })
          .ok());
  EXPECT_THAT(std::string(writer.Write(PathOf("m.gguf")).message()),
              HasSubstr("5 bytes instead of 9"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_THAT(std::string(writer.Write(PathOf("none/m.gguf")).message()),
              HasSubstr("No such file"));
  EXPECT_FALSE(writer.AddTensor("x", HY_TYPE_Q8_0, {33}, {}).ok());
  EXPECT_FALSE(writer.AddTensor("x", HY_TYPE_W8A8, {32}, {}).ok());
}

TEST_F(GgufOnDisk, PartsAreOneModel) {
  const std::vector<uint8_t> others = {6, 7};
  ASSERT_TRUE(Part(0, 2, "a", &some_).Write(PathOf("m-00001-of-00002.gguf")).ok());
  ASSERT_TRUE(Part(1, 2, "b", &others).Write(PathOf("m-00002-of-00002.gguf")).ok());
  const auto model = GgufModelFile::Open(PathOf("m-00001-of-00002.gguf"));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->part_count(), 2u);
  EXPECT_EQ((*model)->tensors().size(), 2u);
  EXPECT_EQ((*model)->BytesOf(*(*model)->FindTensor("a")), absl::MakeConstSpan(some_));
  EXPECT_EQ((*model)->BytesOf(*(*model)->FindTensor("b")), absl::MakeConstSpan(others));
}

TEST_F(GgufOnDisk, PartsThatDoNotBelongTogether) {
  const auto why = [&](const std::string& name) {
    return std::string(GgufModelFile::Open(PathOf(name)).status().message());
  };
  ASSERT_TRUE(Part(0, 2, "a", &some_).Write(PathOf("m-00001-of-00002.gguf")).ok());
  EXPECT_THAT(why("m-00001-of-00002.gguf"), HasSubstr("m-00002-of-00002.gguf: No such file"));
  ASSERT_TRUE(Part(1, 2, "a", &some_).Write(PathOf("m-00002-of-00002.gguf")).ok());
  EXPECT_THAT(why("m-00001-of-00002.gguf"), HasSubstr("the tensor a, which an earlier part has"));
  ASSERT_TRUE(Part(1, 3, "b", &some_).Write(PathOf("m-00002-of-00002.gguf")).ok());
  EXPECT_THAT(why("m-00001-of-00002.gguf"), HasSubstr("part 1 (from 0) of 3"));
  EXPECT_THAT(why("m-00002-of-00002.gguf"), HasSubstr("was taken for part 0"));
  ASSERT_TRUE(Part(0, 2, "a", &some_).Write(PathOf("other.gguf")).ok());
  EXPECT_THAT(why("other.gguf"), HasSubstr("must end with -00001-of-00002.gguf"));
}

TEST_F(GgufOnDisk, FilesThatCannotBeRead) {
  const auto status = [&](const std::string& name) {
    return GgufModelFile::Open(PathOf(name)).status();
  };
  EXPECT_TRUE(absl::IsNotFound(status("none.gguf")));
  EXPECT_THAT(std::string(GgufModelFile::Open(folder_.string()).status().message()),
              HasSubstr("no regular file"));
  Put("empty.gguf", "");
  EXPECT_THAT(std::string(status("empty.gguf").message()), HasSubstr("is empty"));
  const std::string whole = SmallGguf().text();
  Put("cut.gguf", absl::string_view(whole).substr(0, whole.size() - 1));
  EXPECT_THAT(std::string(status("cut.gguf").message()), HasSubstr("cut.gguf: not a valid GGUF"));
}

// Vocabularies of real models, where they are at hand.
TEST(GgufOfOthers, IsRead) {
  const std::filesystem::path folder = std::filesystem::path(HALYARD_SHARED_DIR) / "models/vocab";
  if (!std::filesystem::is_directory(folder))
    GTEST_SKIP() << "no folder " << folder << ": files of other programs are not read";
  size_t read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".gguf") continue;
    const auto model = GgufModelFile::Open(entry.path().string());
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_GT((*model)->head().Strings("tokenizer.ggml.tokens")->size(), 1000u) << entry.path();
    ++read;
  }
  EXPECT_GT(read, 0u);
}

}  // namespace
}  // namespace halyard::engine
