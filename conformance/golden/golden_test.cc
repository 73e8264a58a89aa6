// SPDX-License-Identifier: Apache-2.0
//
// Keys, what is computed for them, and how it is found again.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "conformance/golden/byte_order.h"
#include "conformance/golden/expectation.h"
#include "conformance/golden/golden_compare.h"
#include "conformance/golden/golden_facts.h"
#include "conformance/ops/fixture.h"
#include "conformance/ops/op_facts.h"

namespace halyard::conformance {
namespace {

const UnderTest& TheTree() {
  static const auto* const under_test =
      new absl::StatusOr<std::unique_ptr<UnderTest>>(UnderTest::Make(TheBuiltinOps(), {}));
  return ***under_test;
}

ops::Case CaseOf(const std::string& text) {
  const absl::StatusOr<ops::Case> c = ops::ParseCase(text);
  EXPECT_TRUE(c.ok()) << c.status();
  return *c;
}

std::unique_ptr<Fixture> Build(const std::string& text, const hy_layout_desc* layout = nullptr,
                               uint8_t poison = kPoisonNan) {
  const ops::Case c = CaseOf(text);
  absl::StatusOr<std::unique_ptr<Fixture>> fixture =
      Fixture::Make(*TheTree().Find(c.op), c, layout, GuardSide::kAfter);
  EXPECT_TRUE(fixture.ok()) << fixture.status();
  (*fixture)->memory().Reset(poison);
  return *std::move(fixture);
}

GoldenKey KeyOfCase(const std::string& text, const hy_layout_desc* layout = nullptr,
                    uint8_t poison = kPoisonNan) {
  const std::unique_ptr<Fixture> fixture = Build(text, layout, poison);
  return KeyOf(*fixture->op().op, fixture->CanonicalArgs().data());
}

constexpr char kMatmul[] = "matmul/f32.q8_0.f32/M=2,N=19,K=64/dist=normal/lay=dense/seed=1";

TEST(GoldenKey, IsOfWhatAReferenceReads) {
  const GoldenKey key = KeyOfCase(kMatmul);
  EXPECT_EQ(KeyOfCase(kMatmul, nullptr, kPoisonNumber), key) << "outputs do not count";
  for (const char* lay : {"pad64+off4", "off2", "far"}) {
    if (sizeof(void*) == 4 && std::string(lay) == "far") continue;  // two gigabytes apart
    EXPECT_EQ(KeyOfCase(absl::StrCat("matmul/f32.q8_0.f32/M=2,N=19,K=64/dist=normal/lay=", lay,
                                     "/seed=1")),
              key)
        << lay;
  }
  for (const char* other :
       {"matmul/f32.q8_0.f32/M=2,N=19,K=64/dist=normal/lay=dense/seed=2",
        "matmul/f32.q8_0.f32/M=2,N=18,K=64/dist=normal/lay=dense/seed=1",
        "matmul/f32.q8_0.f32/M=2,N=19,K=64/dist=lossless/lay=dense/seed=1",
        "matmul/f32.q8_0.f16/M=2,N=19,K=64/dist=normal/lay=dense/seed=1",
        "matmul/f32.q8_0.f32/M=2,N=19,K=64,act=2/dist=normal/lay=dense/seed=1"}) {
    EXPECT_NE(KeyOfCase(other), key) << other;
  }
}

TEST(GoldenKey, IsOfCanonicalWeights) {
  const std::string packed = "matmul/f32.q8_0.f32/M=2,N=32,K=64/dist=normal/lay=packed/seed=1";
  const std::string dense = "matmul/f32.q8_0.f32/M=2,N=32,K=64/dist=normal/lay=dense/seed=1";
  for (const registry::Layout* layout : TheTree().registry().layouts()) {
    if (layout->desc.type != HY_TYPE_Q8_0) continue;
    EXPECT_EQ(KeyOfCase(packed, &layout->desc), KeyOfCase(dense)) << layout->desc.name;
  }
}

TEST(GoldenKey, SeesOneBitOfAnInputAndEachScalar) {
  const std::unique_ptr<Fixture> fixture =
      Build("rmsnorm/f32.f32/rows=3,cols=40/dist=normal/lay=dense/seed=1");
  const registry::Op& op = *fixture->op().op;
  std::vector<uint64_t> args = fixture->CanonicalArgs();
  const GoldenKey key = KeyOf(op, args.data());
  auto* const x = static_cast<uint8_t*>(op.tensor(0, args.data()).data);
  x[40 * 4 * 3 - 1] ^= 1;
  EXPECT_NE(KeyOf(op, args.data()), key);
  x[40 * 4 * 3 - 1] ^= 1;
  EXPECT_EQ(KeyOf(op, args.data()), key);
  int scalars = 0;
  auto* const bytes = reinterpret_cast<uint8_t*>(args.data());
  for (uint32_t at = 0; at < op.desc().args_bytes; at += 4) {
    bool in_tensor = false;
    for (const hy_operand& one : op.operands()) {
      in_tensor = in_tensor || (at >= one.offset && at < one.offset + sizeof(hy_tensor));
    }
    if (in_tensor) continue;
    bytes[at] ^= 1;
    EXPECT_NE(KeyOf(op, args.data()), key) << at;
    bytes[at] ^= 1;
    ++scalars;
  }
  EXPECT_GT(scalars, 0);
}

TEST(ByteOrder, TurnsFieldsOfRecords) {
  uint8_t row[64];
  for (uint8_t i = 0; i < 64; ++i) row[i] = i;
  SwapFields(HY_TYPE_A8_TOKEN, 5, row);
  EXPECT_EQ(row[4], 4);    // codes
  EXPECT_EQ(row[16], 19);  // scale
  EXPECT_EQ(row[20], 23);  // zero point
  EXPECT_EQ(row[27], 24);  // sum
  EXPECT_EQ(row[28], 28);  // padding
  for (uint8_t i = 0; i < 64; ++i) row[i] = i;
  SwapFields(HY_TYPE_A8_B32, 32, row);
  EXPECT_EQ(row[31], 31);
  EXPECT_EQ(row[32], 35);  // scale
  EXPECT_EQ(row[36], 37);  // sum
  EXPECT_EQ(row[38], 38);
}

TEST(ByteOrder, TurnsElements) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16, HY_TYPE_I32, HY_TYPE_I8}) {
    uint8_t row[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const uint32_t size = hy_type_facts(type)->block_bytes;
    SwapFields(type, 4 / size, row);
    EXPECT_EQ(row[0], size - 1) << type;
    EXPECT_EQ(row[4], 4) << type;
  }
  std::vector<uint8_t> block(hy_type_row_bytes(HY_TYPE_Q4_K, 256), 0);
  block[0] = 1;
  SwapFields(HY_TYPE_Q4_K, 256, block.data());
  EXPECT_EQ(block[0], 1);
}

constexpr reference::Numerics kPlain = {HY_QA_NONE, HY_ACC_F32, 0};

TEST(Expectation, RoundsBoundsUpByLittle) {
  const std::unique_ptr<Fixture> fixture = Build(kMatmul);
  const std::vector<uint64_t> args = fixture->CanonicalArgs();
  reference::Expected plain;
  ASSERT_TRUE(fixture->op().reference->expect(args.data(), kPlain, &plain).ok());
  const absl::StatusOr<reference::Expected> ours =
      ComputeExpectation(fixture->op(), args.data(), kPlain);
  ASSERT_TRUE(ours.ok());
  const std::vector<double>& before = plain.outputs[0].bound;
  const std::vector<double>& after = ours->outputs[0].bound;
  ASSERT_EQ(before.size(), after.size());
  ASSERT_EQ(before.size(), 38u);
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_GE(after[i], before[i]);
    EXPECT_LE(after[i], before[i] * (1 + 1.0 / 32768));
    const double scaled = std::ldexp(after[i], 15 - std::ilogb(after[i]));
    EXPECT_EQ(scaled, std::floor(scaled)) << "more than 16 significant bits";
  }
  EXPECT_EQ(plain.outputs[0].value, ours->outputs[0].value);
}

TEST(Expectation, HasOneNan) {
  const std::unique_ptr<Fixture> fixture =
      Build("layernorm/f32.f32/rows=3,cols=64/dist=planted/lay=dense/seed=1");
  const absl::StatusOr<reference::Expected> ours =
      ComputeExpectation(fixture->op(), fixture->CanonicalArgs().data(), kPlain);
  ASSERT_TRUE(ours.ok());
  size_t nans = 0;
  for (const double value : ours->outputs[0].value) {
    if (!std::isnan(value)) continue;
    ++nans;
    EXPECT_EQ(std::bit_cast<uint64_t>(value), UINT64_C(0x7ff8000000000000));
  }
  EXPECT_GT(nans, 0u);
}

TEST(Expectation, ComesFromThePackWhereThatHasIt) {
  const ops::Case c = CaseOf(kMatmul);
  const std::vector<GoldenArgs> found = WalkGroup(TheTree(), {c});
  ASSERT_GE(found.size(), 1u);
  ASSERT_EQ(found[0].case_text, kMatmul);
  GoldenEntries entries;
  const std::string bytes = EncodeExpectations(found[0].all);
  entries[found[0].key] = {static_cast<uint32_t>(bytes.size()), CompressEntry(bytes)};
  const auto pack = *GoldenPack::Parse(WriteGoldenPack({}, entries));

  const TestedOp& op = *TheTree().Find("matmul");
  FixtureCache with(pack.get());
  FixtureCache without;
  Fixture& fixture = **with.Get(op, c, nullptr, GuardSide::kAfter);
  fixture.memory().Reset(kPoisonNan);
  for (const GoldenExpectation& one : found[0].all) {
    const reference::Expected* const golden = *with.Expect(fixture, one.numerics);
    const reference::Expected* const computed = *without.Expect(fixture, one.numerics);
    EXPECT_TRUE(with.IsGolden(golden));
    EXPECT_FALSE(without.IsGolden(computed));
    EXPECT_EQ(EncodeExpectations({{one.numerics, *golden}}),
              EncodeExpectations({{one.numerics, *computed}}));
  }
  const reference::Numerics foreign = {HY_QA_NONE, HY_ACC_BF16, HY_KERNEL_FTZ};
  EXPECT_FALSE(with.IsGolden(*with.Expect(fixture, foreign)));
}

TEST(Expectation, RefusesAnEntryOfOtherShapes) {
  const std::vector<GoldenArgs> found = WalkGroup(TheTree(), {CaseOf(kMatmul)});
  std::vector<GoldenExpectation> all = found[0].all;
  all[0].expected.outputs[0].value.push_back(0);
  all[0].expected.outputs[0].bound.push_back(0);
  const std::string bytes = EncodeExpectations(all);
  GoldenEntries entries;
  entries[found[0].key] = {static_cast<uint32_t>(bytes.size()), CompressEntry(bytes)};
  const auto pack = *GoldenPack::Parse(WriteGoldenPack({}, entries));
  const std::unique_ptr<Fixture> fixture = Build(kMatmul);
  FixtureCache cache(pack.get());
  EXPECT_TRUE(
      absl::StrContains(cache.Expect(*fixture, kPlain).status().message(), "does not fit matmul"));
}

TEST(Expectation, IsComputedForEachClassOfActivations) {
  const std::vector<GoldenArgs> found = WalkGroup(
      TheTree(), {CaseOf("matmul/f32.q8_0.f32/M=2,N=19,K=256/dist=normal/lay=dense/seed=1")});
  bool none = false;
  bool block32 = false;
  for (const GoldenExpectation& one : found.at(0).all) {
    none = none || SameNumerics(one.numerics, kPlain);
    block32 = block32 || SameNumerics(one.numerics, {HY_QA_BLOCK32, HY_ACC_I32_F32, 0});
  }
  EXPECT_TRUE(none && block32);
}

TEST(GoldenCompare, TellsBitsFromBoundsFromFaults) {
  GoldenArgs here;
  here.case_text = "a case";
  here.all = {{kPlain, {}}, {{HY_QA_NONE, HY_ACC_F64, 0}, {}}};
  for (GoldenExpectation& one : here.all) {
    reference::ExpectedOutput output(1);
    output.value = {1, 2};
    output.bound = {0.5, 0.5};
    one.expected.outputs = {output};
  }
  std::vector<GoldenExpectation> pack = {here.all[0]};
  GoldenCheck check;
  CompareExpectations(here, pack, &check);
  EXPECT_EQ(check.same, 1u);
  EXPECT_EQ(check.missing, 1u);
  EXPECT_EQ(check.lines.size(), 1u);
  pack = here.all;
  pack[0].expected.outputs[0].value[1] = std::nextafter(2.0, 3.0);
  pack[1].expected.outputs[0].value[0] = 1.25;
  check = {};
  CompareExpectations(here, pack, &check);
  EXPECT_EQ(check.close, 1u);
  EXPECT_EQ(check.differ, 1u);
  EXPECT_EQ(check.worst, 0.5);
  const absl::StatusOr<GoldenCheck> twice =
      GoldenCheckFromText(absl::StrCat(GoldenCheckToText(check), GoldenCheckToText(check)));
  ASSERT_TRUE(twice.ok());
  EXPECT_EQ(twice->differ, 2u);
  EXPECT_EQ(twice->worst, 0.5);
  EXPECT_EQ(twice->lines.size(), 2u);
  EXPECT_FALSE(GoldenCheckFromText("#1 2").ok());
}

TEST(GoldenFacts, SayWhatARunWasHeldAgainst) {
  RunResult run;
  run.facts = {{"source_commit", "new"}, {"source_dirty", "no"}};
  CaseResult one;
  for (const bool golden : {true, true, false}) {
    one.facts.clear();
    AddExpectedBy(golden, &one);
    run.cases.push_back(one);
  }
  CountGoldenCases(&run);
  EXPECT_EQ(GoldenText(run), "");
  const auto pack =
      *GoldenPack::Parse(WriteGoldenPack({{"source_commit", "old"}, {"source_dirty", "no"}}, {}));
  AddGoldenFacts(pack.get(), &run);
  CountGoldenCases(&run);
  EXPECT_EQ(run.Fact(kGoldenCasesFact), "2");
  EXPECT_EQ(run.Fact(kComputedCasesFact), "1");
  EXPECT_EQ(run.Fact(kGoldenFact), pack->digest());
  EXPECT_TRUE(absl::StrContains(GoldenText(run), "of source old, this program of new"));
  RunResult alike;
  alike.facts = {{"source_commit", "old"}, {"source_dirty", "no"}};
  AddGoldenFacts(pack.get(), &alike);
  EXPECT_EQ(alike.Fact(kGoldenNoteFact), "");
}

}  // namespace
}  // namespace halyard::conformance
