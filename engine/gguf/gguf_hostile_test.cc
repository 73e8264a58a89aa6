// SPDX-License-Identifier: Apache-2.0
//
// Files that are cut, lie about lengths, or repeat public reports against other readers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "engine/gguf/gguf.h"
#include "engine/gguf/test_gguf_bytes.h"

namespace halyard::engine {
namespace {

using testing::HasSubstr;

std::string WhyNot(const GgufBytes& bytes) {
  const absl::StatusOr<GgufFile> file = GgufFile::Parse(bytes.span());
  EXPECT_FALSE(file.ok());
  return std::string(file.status().message());
}

TEST(HostileGguf, EveryCutIsAnError) {
  for (const bool big_endian : {false, true}) {
    const GgufBytes whole = SmallGguf(big_endian);
    ASSERT_TRUE(GgufFile::Parse(whole.span()).ok());
    for (size_t size = 0; size < whole.span().size(); ++size) {
      // Memory of its own, so that a checker sees one byte read too far.
      const std::unique_ptr<uint8_t[]> cut(new uint8_t[size]);
      std::copy_n(whole.span().begin(), size, cut.get());
      EXPECT_FALSE(GgufFile::Parse({cut.get(), size}).ok()) << size;
    }
  }
}

TEST(HostileGguf, EveryChangedByteIsReadOrRefused) {
  const GgufBytes whole = SmallGguf();
  for (size_t at = 0; at < whole.span().size(); ++at) {
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::string changed = whole.text();
      changed[at] = static_cast<char>(value);
      const absl::StatusOr<GgufFile> file =
          GgufFile::Parse({reinterpret_cast<const uint8_t*>(changed.data()), changed.size()});
      if (!file.ok()) continue;
      for (const GgufTensor& tensor : file->tensors())
        EXPECT_LE(tensor.offset + tensor.bytes, changed.size()) << at;
    }
  }
}

TEST(HostileGguf, OtherFilesAreNamed) {
  EXPECT_THAT(WhyNot(GgufBytes().Raw("PK\3\4 something")), HasSubstr("begins with 'PK\\003\\004'"));
  EXPECT_THAT(WhyNot(GgufBytes()), HasSubstr("not a GGUF file"));
  EXPECT_THAT(WhyNot(GgufBytes().Header(0, 0, 1)), HasSubstr("version 1"));
  EXPECT_THAT(WhyNot(GgufBytes(true).Header(0, 0, 2)), HasSubstr("version 2, big-endian"));
}

// CVE-2024-23496: the length of a string.
TEST(HostileGguf, StringsThatClaimMoreThanThereIs) {
  for (const uint64_t length : {UINT64_C(100), UINT64_MAX, UINT64_MAX - 7, UINT64_C(1) << 63}) {
    GgufBytes bytes;
    bytes.Header(0, 1).Put(length, 8).Raw("key").Put(4, 4).Put(1, 4).Zeros(64);
    EXPECT_THAT(WhyNot(bytes), HasSubstr("a key claims"));
  }
}

// CVE-2025-53630, CVE-2026-27940: sums and products of sizes that wrap.
TEST(HostileGguf, ShapesWhoseProductsWrap) {
  const uint64_t big = UINT64_C(1) << 32;
  for (const std::vector<uint64_t>& shape : {std::vector<uint64_t>{big, big},
                                             {big, big, big, big},
                                             {UINT64_MAX},
                                             {2, UINT64_C(1) << 62},
                                             {32, UINT64_MAX / 32 + 1},
                                             {0}}) {
    GgufBytes bytes;
    bytes.Header(1, 0).Tensor("t", shape, 8, 0).Pad().Zeros(4096);
    EXPECT_THAT(WhyNot(bytes), HasSubstr("elements along axis"));
  }
  GgufBytes bytes;
  bytes.Header(1, 0).Tensor("t", {UINT64_C(1) << 40}, 0, 0).Pad().Zeros(4096);
  EXPECT_THAT(WhyNot(bytes), HasSubstr("the file has"));
}

// GHSA-96jg-mvhq-q7q7: rounding up by a huge alignment; an alignment of 0, or of no power of two.
TEST(HostileGguf, Alignments) {
  for (const uint32_t alignment : {0u, 3u, 48u, 1u << 17, 0x80000000u, 0xffffffffu}) {
    GgufBytes bytes;
    bytes.Header(1, 1).Uint32("general.alignment", alignment).Tensor("t", {4}, 0, 0).Zeros(4096);
    EXPECT_THAT(WhyNot(bytes), HasSubstr("general.alignment is"));
  }
}

// CVE-2026-7482: a tensor that lies beyond the file; also one whose offset wraps.
TEST(HostileGguf, TensorsOutsideTheFile) {
  for (const uint64_t offset : {UINT64_C(4096), UINT64_MAX - 31, UINT64_C(1) << 63}) {
    GgufBytes bytes;
    bytes.Header(1, 0).Tensor("t", {8}, 0, offset).Pad().Zeros(64);
    EXPECT_THAT(WhyNot(bytes), HasSubstr("the file is cut: tensor 't'"));
  }
}

TEST(HostileGguf, TensorsThatOverlapAndThatAreThereTwice) {
  GgufBytes overlap;
  overlap.Header(2, 0).Tensor("a", {16}, 0, 0).Tensor("b", {16}, 0, 32).Pad().Zeros(128);
  EXPECT_THAT(WhyNot(overlap), HasSubstr("'a' and 'b' overlap"));
  GgufBytes twice;
  twice.Header(2, 0).Tensor("a", {8}, 0, 0).Tensor("a", {8}, 0, 32).Pad().Zeros(64);
  EXPECT_THAT(WhyNot(twice), HasSubstr("the tensor 'a' is there twice"));
  GgufBytes skewed;
  skewed.Header(1, 0).Tensor("a", {8}, 0, 4).Pad().Zeros(64);
  EXPECT_THAT(WhyNot(skewed), HasSubstr("not a multiple of the alignment"));
}

// ggml PR 1516: 160 bytes that ask for gigabytes. The counts are held against the bytes that are left.
TEST(HostileGguf, CountsThatTheFileCannotHold) {
  EXPECT_THAT(WhyNot(GgufBytes().Header(0, UINT64_C(1) << 60).Zeros(160)), HasSubstr("keys in"));
  EXPECT_THAT(WhyNot(GgufBytes().Header(UINT64_MAX, 0).Zeros(160)), HasSubstr("tensors in"));
  EXPECT_THAT(WhyNot(GgufBytes().Header(0, 60000).Zeros(160)), HasSubstr("keys in"));
  GgufBytes numbers;
  numbers.Header(0, 1).Array("k", GgufType::kUint64, UINT64_C(1) << 61).Zeros(64);
  EXPECT_THAT(WhyNot(numbers), HasSubstr("'k' claims"));
  GgufBytes strings;
  strings.Header(0, 1).Array("k", GgufType::kString, UINT64_C(1) << 40).Zeros(64);
  EXPECT_THAT(WhyNot(strings), HasSubstr("'k' claims"));
}

// llama.cpp PR 26690: types of arrays. An array of arrays could be nested as deep as a stack.
TEST(HostileGguf, Types) {
  GgufBytes nested;
  nested.Header(0, 1).Array("k", GgufType::kArray, 1).Put(4, 4).Put(1, 8).Put(0, 4);
  EXPECT_THAT(WhyNot(nested), HasSubstr("array of arrays"));
  for (const uint32_t type : {13u, 0xffffffffu}) {
    GgufBytes bytes;
    bytes.Header(0, 1).String("k").Put(type, 4).Zeros(64);
    EXPECT_THAT(WhyNot(bytes), HasSubstr("there is no such type"));
    GgufBytes array;
    array.Header(0, 1).Key("k", GgufType::kArray).Put(type, 4).Put(1, 8).Zeros(64);
    EXPECT_THAT(WhyNot(array), HasSubstr("there is no such type"));
  }
}

TEST(HostileGguf, RanksAndRows) {
  for (const uint32_t rank : {0u, 5u, 0xffffffffu}) {
    GgufBytes bytes;
    bytes.Header(1, 0).String("t").Put(rank, 4).Zeros(128);
    EXPECT_THAT(WhyNot(bytes), HasSubstr("has rank"));
  }
  GgufBytes rows;
  rows.Header(1, 0).Tensor("t", {33, 2}, 8, 0).Pad().Zeros(256);
  EXPECT_THAT(WhyNot(rows), HasSubstr("needs a multiple of 32"));
}

TEST(HostileGguf, KeysThatAreThereTwiceOrHaveNoName) {
  EXPECT_THAT(WhyNot(GgufBytes().Header(0, 2).Uint32("k", 1).Uint32("k", 2)),
              HasSubstr("the key 'k' is there twice"));
  EXPECT_THAT(WhyNot(GgufBytes().Header(0, 1).Uint32("", 1)), HasSubstr("a key without a name"));
}

// llama.cpp PR 27188: 43 bytes that kept a reader busy.
TEST(HostileGguf, ManyEmptyStringsAreBoundedByTheFile) {
  GgufBytes bytes;
  bytes.Header(0, 1).Array("k", GgufType::kString, 1 << 20);
  bytes.Zeros(8 << 20);
  const absl::StatusOr<GgufFile> file = GgufFile::Parse(bytes.span());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->Strings("k")->size(), size_t{1} << 20);
}

}  // namespace
}  // namespace halyard::engine
