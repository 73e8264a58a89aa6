// SPDX-License-Identifier: Apache-2.0
#include "conformance/golden/golden_pack.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "conformance/bundle/sha256.h"

namespace halyard::conformance {
namespace {

constexpr size_t kDigestBytes = 32;

double FromBits(uint64_t bits) { return std::bit_cast<double>(bits); }

// One of every kind of field, with doubles that a conversion would change.
std::vector<GoldenExpectation> SomeExpectations() {
  GoldenExpectation sums;
  sums.numerics = {HY_QA_BLOCK32, HY_ACC_I32_F32, HY_KERNEL_FTZ};
  reference::ExpectedOutput output(3);
  output.value = {1.0 / 3, -0.0, FromBits(UINT64_C(0x7ff8dead0000beef)), -INFINITY, 5e-324};
  output.bound = {1e-9, 0, 0, 0, std::numeric_limits<double>::max()};
  output.untouched = {0, 1, 0, 0, 1};
  output.alternatives = {{}, {2, 3}, {}, {INFINITY}, {}};
  sums.expected.outputs = {output};
  sums.expected.terms_sampled = UINT64_C(1) << 40;
  sums.expected.terms_visible = 7;
  GoldenExpectation bytes;
  bytes.numerics.accumulator = HY_ACC_F64;
  bytes.expected.status = HY_OUT_OF_RANGE;
  reference::ExpectedOutput moved(1);
  moved.exact = true;
  moved.bytes = {0, 255, 7};
  bytes.expected.outputs = {moved, moved};
  return {sums, bytes};
}

GoldenKey KeyOf(int first) {
  GoldenKey key{};
  key[0] = static_cast<uint8_t>(first);
  return key;
}

std::string SomePack() {
  GoldenEntries entries;
  for (const int first : {9, 2, 200}) {
    std::vector<GoldenExpectation> all = SomeExpectations();
    all[0].expected.terms_visible = static_cast<uint64_t>(first);
    const std::string bytes = EncodeExpectations(all);
    entries[KeyOf(first)] = {static_cast<uint32_t>(bytes.size()), CompressEntry(bytes)};
  }
  return WriteGoldenPack({{"source_commit", "abc"}, {"tier", "quick"}}, entries);
}

std::string Signed(std::string pack) {
  pack.resize(pack.size() - kDigestBytes);
  Sha256Stream hash;
  hash.Add(pack);
  return pack + hash.Finish();
}

TEST(GoldenCodec, KeepsEveryBit) {
  const std::string bytes = EncodeExpectations(SomeExpectations());
  const absl::StatusOr<std::vector<GoldenExpectation>> read = DecodeExpectations(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ(EncodeExpectations(*read), bytes);
  const reference::ExpectedOutput& output = read->front().expected.outputs.front();
  EXPECT_EQ(output.operand, 3u);
  EXPECT_TRUE(std::signbit(output.value[1]));
  EXPECT_EQ(std::bit_cast<uint64_t>(output.value[2]), UINT64_C(0x7ff8dead0000beef));
  EXPECT_EQ(output.alternatives[1], (std::vector<double>{2, 3}));
  EXPECT_EQ(read->front().numerics.flags, HY_KERNEL_FTZ);
  EXPECT_EQ((*read)[1].expected.status, HY_OUT_OF_RANGE);
  EXPECT_EQ((*read)[1].expected.outputs[1].bytes, (std::vector<uint8_t>{0, 255, 7}));
}

TEST(GoldenCodec, TakesNoOtherBytes) {
  const std::string bytes = EncodeExpectations(SomeExpectations());
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(DecodeExpectations(absl::string_view(bytes).substr(0, length)).ok()) << length;
  }
  EXPECT_FALSE(DecodeExpectations(bytes + "x").ok());
  // Flipped bits may mean another number; they must not lead astray.
  for (size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string other = bytes;
    other[i / 8] = static_cast<char>(other[i / 8] ^ (1 << (i % 8)));
    const absl::StatusOr<std::vector<GoldenExpectation>> read = DecodeExpectations(other);
    if (!read.ok()) continue;
    EXPECT_EQ(EncodeExpectations(*read).size(), bytes.size()) << i;
  }
}

TEST(GoldenCodec, RefusesArraysOfUnequalLength) {
  std::vector<GoldenExpectation> all = SomeExpectations();
  all[0].expected.outputs[0].bound.pop_back();
  EXPECT_FALSE(DecodeExpectations(EncodeExpectations(all)).ok());
  all = SomeExpectations();
  all[0].expected.outputs[0].untouched.pop_back();
  EXPECT_FALSE(DecodeExpectations(EncodeExpectations(all)).ok());
}

TEST(GoldenCodec, DecompressesToTheLengthThatWasSaid) {
  const std::string compressed = CompressEntry("twelve bytes");
  EXPECT_EQ(*DecompressEntry(compressed, 12), "twelve bytes");
  EXPECT_FALSE(DecompressEntry(compressed, 11).ok());
  EXPECT_FALSE(DecompressEntry(compressed, size_t{1} << 31).ok());
  EXPECT_FALSE(DecompressEntry("", 0).ok());
}

TEST(GoldenPack, FindsWhatWasWritten) {
  const absl::StatusOr<std::unique_ptr<const GoldenPack>> pack = GoldenPack::Parse(SomePack());
  ASSERT_TRUE(pack.ok()) << pack.status();
  EXPECT_EQ((*pack)->size(), 3u);
  EXPECT_EQ((*pack)->Meta("source_commit"), "abc");
  EXPECT_EQ((*pack)->Meta("none"), "");
  EXPECT_EQ((*pack)->digest().size(), 64u);
  for (const int first : {2, 9, 200}) {
    const absl::StatusOr<std::vector<GoldenExpectation>> all = (*pack)->Find(KeyOf(first));
    ASSERT_TRUE(all.ok()) << all.status();
    ASSERT_EQ(all->size(), 2u);
    EXPECT_EQ(all->front().expected.terms_visible, static_cast<uint64_t>(first));
  }
  for (const int first : {0, 3, 255}) {
    const absl::StatusOr<std::vector<GoldenExpectation>> all = (*pack)->Find(KeyOf(first));
    EXPECT_TRUE(all.ok() && all->empty());
  }
}

TEST(GoldenPack, MayBeEmpty) {
  const absl::StatusOr<std::unique_ptr<const GoldenPack>> pack =
      GoldenPack::Parse(WriteGoldenPack({}, {}));
  ASSERT_TRUE(pack.ok()) << pack.status();
  EXPECT_TRUE((*pack)->Find(KeyOf(1))->empty());
}

TEST(GoldenPack, RefusesWhatIsCut) {
  const std::string bytes = SomePack();
  for (size_t length = 0; length < bytes.size(); ++length) {
    const absl::Status status = GoldenPack::Parse(bytes.substr(0, length)).status();
    ASSERT_TRUE(absl::IsInvalidArgument(status)) << length;
    EXPECT_TRUE(absl::StrContains(status.message(), "halyard conform golden --out")) << status;
  }
  EXPECT_FALSE(GoldenPack::Parse(bytes + "x").ok());
}

TEST(GoldenPack, RefusesWhatIsDamaged) {
  const std::string bytes = SomePack();
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] ^ 0x20);
    EXPECT_TRUE(absl::IsInvalidArgument(GoldenPack::Parse(other).status())) << i;
  }
}

// Whoever signs nonsense gets an error or other numbers, never an access beyond the file.
TEST(GoldenPack, SurvivesNonsenseWithAGoodDigest) {
  const std::string bytes = SomePack();
  for (size_t i = 0; i + kDigestBytes < bytes.size(); ++i) {
    for (const int bits : {0x01, 0x80, 0xff}) {
      std::string other = bytes;
      other[i] = static_cast<char>(other[i] ^ bits);
      const absl::StatusOr<std::unique_ptr<const GoldenPack>> pack =
          GoldenPack::Parse(Signed(other));
      if (!pack.ok()) continue;
      for (const int first : {2, 9, 200}) {
        const absl::StatusOr<std::vector<GoldenExpectation>> all = (*pack)->Find(KeyOf(first));
        EXPECT_TRUE(all.ok() || absl::IsInvalidArgument(all.status()));
      }
    }
  }
}

TEST(GoldenPack, TellsAnotherVersionApart) {
  std::string other = SomePack();
  other[8] = 2;
  const absl::Status status = GoldenPack::Parse(Signed(other)).status();
  EXPECT_TRUE(absl::StrContains(status.message(), "has version 2 of its format")) << status;
  EXPECT_TRUE(absl::StrContains(GoldenPack::Parse("%PDF-1.7 and more").status().message(),
                                "no golden pack"));
}

TEST(GoldenPack, NamesTheFile) {
  const absl::Status missing = GoldenPack::Open("/no/such.pack").status();
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_TRUE(absl::StrContains(missing.message(), "/no/such.pack")) << missing;
  const std::string path = absl::StrCat(testing::TempDir(), "/cut.pack");
  std::ofstream(path, std::ios::binary) << SomePack().substr(0, 50);
  const absl::Status cut = GoldenPack::Open(path).status();
  EXPECT_TRUE(absl::StrContains(cut.message(), "cut.pack")) << cut;
}

}  // namespace
}  // namespace halyard::conformance
