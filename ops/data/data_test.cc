// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/quant/format.h"
#include "ops/data/code_rows.h"
#include "ops/data/distribution.h"
#include "ops/data/exact_range.h"
#include "ops/data/plain_builder.h"
#include "ops/data/random.h"

namespace halyard::ops {
namespace {

constexpr uint32_t kFloatTypes[] = {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16};

std::vector<uint32_t> AllTypes() {
  std::vector<uint32_t> types;
  for (uint32_t type = 1; type < HY_TYPE_COUNT; ++type) {
    if (hy_type_facts(type)->block != 0) types.push_back(type);
  }
  return types;
}

// A tensor with memory of its own.
struct Owned {
  std::vector<uint8_t> bytes;
  hy_tensor tensor;
};

Owned Make(const FillSpec& spec, uint32_t type, int64_t rows, int64_t cols) {
  Owned owned;
  const int64_t shape[] = {rows, cols};
  owned.bytes.assign(hy_type_row_bytes(type, cols) * static_cast<uint64_t>(rows) + 64, 0x55);
  owned.tensor = hy_tensor_dense(owned.bytes.data(), type, 2, shape);
  Fill(spec, owned.tensor);
  return owned;
}

std::vector<double> Decoded(const hy_tensor& tensor) {
  const auto cols = static_cast<size_t>(hy_tensor_cols(&tensor));
  std::vector<double> values(cols * static_cast<size_t>(hy_tensor_rows(&tensor)));
  for (int64_t r = 0; r < hy_tensor_rows(&tensor); ++r) {
    quant::DecodeRow(tensor.type, hy_tensor_row(&tensor, r), hy_tensor_cols(&tensor),
                     &values[static_cast<size_t>(r) * cols]);
  }
  return values;
}

// Source   kat_vectors of Random123 1.14.
TEST(RandomTest, PhiloxGivesThePublishedVectors) {
  EXPECT_EQ(Philox({{0, 0}}, {0, 0, 0, 0}),
            (RandomWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox({{0xffffffff, 0xffffffff}}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}),
            (RandomWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox({{0xa4093822, 0x299f31d0}}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (RandomWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomTest, KeysDifferBySeedNameAndStream) {
  const RandomKey base = KeyOf(1, "x");
  for (const RandomKey& other : {KeyOf(2, "x"), KeyOf(1, "w"), KeyOf(1, "x", 1)}) {
    EXPECT_FALSE(base.word[0] == other.word[0] && base.word[1] == other.word[1]);
  }
}

TEST(FillTest, EveryTypeTakesEveryDistributionTwiceTheSame) {
  for (const uint32_t type : AllTypes()) {
    for (const Dist dist : AllDists()) {
      for (const Role role : {Role::kInput, Role::kWeights}) {
        SCOPED_TRACE(testing::Message() << hy_type_name(type) << " " << DistName(dist));
        const Owned one = Make({dist, 7, "t", role}, type, 3, 256);
        const Owned two = Make({dist, 7, "t", role}, type, 3, 256);
        EXPECT_EQ(one.bytes, two.bytes);
        const std::vector<uint8_t> behind(one.bytes.end() - 64, one.bytes.end());
        EXPECT_EQ(behind, std::vector<uint8_t>(64, 0x55)) << "written behind the last row";
      }
    }
  }
}

// What every machine must give: a digest of the bits of f32 and of all bytes of chosen blocks.
TEST(FillTest, BitsAreThoseOfEveryOtherMachine) {
  uint64_t digest = UINT64_C(0xcbf29ce484222325);
  const auto add = [&](uint32_t word) { digest = (digest ^ word) * UINT64_C(0x100000001b3); };
  for (const Dist dist : AllDists()) {
    const Owned x = Make({dist, 17, "x", Role::kInput}, HY_TYPE_F32, 5, 512);
    for (size_t i = 0; i < 5 * 512; ++i) {
      uint32_t bits;
      std::memcpy(&bits, &x.bytes[4 * i], sizeof bits);
      add(bits);
    }
    for (const uint32_t type : AllTypes()) {
      if (!hy_type_is_weights(type) || !ChoosesCodes(dist)) continue;
      for (const uint8_t byte : Make({dist, 17, "w", Role::kWeights}, type, 5, 512).bytes)
        add(byte);
    }
  }
  EXPECT_EQ(digest, UINT64_C(0x45521cc0830ce2c6)) << std::hex << digest;
}

TEST(FillTest, ASmallerTensorHoldsTheSameNumbers) {
  for (const Dist dist : {Dist::kUniform, Dist::kNormal, Dist::kLlm, Dist::kPositive,
                          Dist::kExtreme, Dist::kSubnormal, Dist::kCancel}) {
    const Owned large = Make({dist, 3, "x", Role::kInput}, HY_TYPE_F32, 9, 130);
    const Owned small = Make({dist, 3, "x", Role::kInput}, HY_TYPE_F32, 4, 34);
    for (int64_t r = 0; r < 4; ++r) {
      EXPECT_EQ(0, std::memcmp(hy_tensor_row(&large.tensor, r), hy_tensor_row(&small.tensor, r),
                               34 * sizeof(float)))
          << DistName(dist) << " row " << r;
    }
  }
}

// The integers that a sum works on must fit; orders are tried on top.
void ExpectExactSums(const std::vector<double>& x, const std::vector<double>& w, size_t k) {
  for (size_t i = 0; i + k <= x.size(); i += k) {
    for (size_t j = 0; j + k <= w.size(); j += k) {
      double exact = 0;
      float forward = 0;
      float backward = 0;
      float lane[16] = {};
      for (size_t c = 0; c < k; ++c) {
        exact += x[i + c] * w[j + c];
        forward += static_cast<float>(x[i + c]) * static_cast<float>(w[j + c]);
        lane[c % 16] += static_cast<float>(x[i + c] * w[j + c]);
        backward += static_cast<float>(x[i + k - 1 - c] * w[j + k - 1 - c]);
      }
      float lanes = 0;
      for (const float part : lane) lanes += part;
      ASSERT_EQ(exact, static_cast<double>(forward)) << "row " << i / k << " of x, " << j / k;
      ASSERT_EQ(exact, static_cast<double>(backward));
      ASSERT_EQ(exact, static_cast<double>(lanes));
    }
  }
}

TEST(LosslessTest, SumsAreTheSameInAnyOrder) {
  for (const Dist dist : {Dist::kLossless, Dist::kLosslessAsym, Dist::kWalking}) {
    for (const int64_t k : {256, 768, 4096, 14336}) {
      const Owned x = Make({dist, 5, "x", Role::kInput}, HY_TYPE_BF16, 3, k);
      for (const uint32_t type : AllTypes()) {
        if (!hy_type_is_weights(type) && !hy_type_is_float(type)) continue;
        SCOPED_TRACE(testing::Message() << DistName(dist) << " " << hy_type_name(type) << " " << k);
        const Owned w = Make({dist, 5, "w", Role::kWeights}, type, 5, k);
        ExpectExactSums(Decoded(x.tensor), Decoded(w.tensor), static_cast<size_t>(k));
      }
    }
  }
}

TEST(LosslessTest, QuantisingAnInputChangesNothing) {
  for (const int64_t k : {256, 768}) {
    for (const uint32_t type : kFloatTypes) {
      for (const Dist dist : {Dist::kLossless, Dist::kWalking, Dist::kLosslessAsym}) {
        const Owned x = Make({dist, 11, "x", Role::kInput}, type, 4, k);
        const std::vector<double> exact = Decoded(x.tensor);
        const std::vector<float> narrow(exact.begin(), exact.end());
        for (const uint32_t a8 : {HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN}) {
          const bool asym = dist == Dist::kLosslessAsym;
          if (asym && a8 != HY_TYPE_A8_TOKEN) continue;
          std::vector<uint8_t> record(hy_type_row_bytes(a8, k));
          std::vector<double> back(static_cast<size_t>(k));
          for (size_t row = 0; row < 4; ++row) {
            quant::QuantizeActivations(a8, asym, &narrow[row * static_cast<size_t>(k)], k,
                                       record.data());
            quant::DecodeRow(a8, record.data(), k, back.data());
            for (size_t c = 0; c < back.size(); ++c) {
              ASSERT_EQ(back[c], exact[row * back.size() + c]) << hy_type_name(a8) << " " << c;
            }
          }
        }
      }
    }
  }
}

TEST(LosslessTest, EveryFieldOfABlockIsUsed) {
  for (const uint32_t type : AllTypes()) {
    if (!hy_type_is_weights(type)) continue;
    const Owned w = Make({Dist::kLossless, 2, "w", Role::kWeights}, type, 64, 256);
    std::vector<uint8_t> seen_one(hy_type_row_bytes(type, 256), 0);
    const size_t stride = seen_one.size();
    for (size_t i = 0; i < stride * 64; ++i) seen_one[i % stride] |= w.bytes[i];
    int unused = 0;
    for (const uint8_t byte : seen_one) unused += byte == 0 ? 1 : 0;
    // Low bytes of scales that are powers of two.
    EXPECT_LE(unused, 8) << hy_type_name(type);
  }
}

TEST(WalkingTest, EveryPlaceOfABlockHasItsTurn) {
  for (const uint32_t type : {HY_TYPE_Q4_0, HY_TYPE_Q4_K, HY_TYPE_Q6_K, HY_TYPE_W4A8_G128}) {
    const Owned w = Make({Dist::kWalking, 2, "w", Role::kWeights}, type, 32, 256);
    const std::vector<double> values = Decoded(w.tensor);
    for (size_t c = 0; c < 256; ++c) {
      double least = values[c];
      double most = values[c];
      for (size_t r = 0; r < 32; ++r) {
        least = std::min(least, values[r * 256 + c]);
        most = std::max(most, values[r * 256 + c]);
      }
      EXPECT_NE(least, most) << hy_type_name(type) << " column " << c;
    }
  }
}

TEST(DistributionTest, NormalHasItsMoments) {
  const Owned x = Make({Dist::kNormal, 1, "x", Role::kInput}, HY_TYPE_F32, 64, 1024);
  double sum = 0;
  double squares = 0;
  for (const double value : Decoded(x.tensor)) {
    sum += value;
    squares += value * value;
    ASSERT_LT(std::abs(value), 6.01);
  }
  const double n = 64 * 1024;
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 0.03);
}

TEST(DistributionTest, CancelPairsCancel) {
  const Owned x = Make({Dist::kCancel, 1, "x", Role::kInput}, HY_TYPE_F32, 1, 256);
  const Owned w = Make({Dist::kCancel, 1, "w", Role::kWeights}, HY_TYPE_F32, 1, 256);
  const std::vector<double> a = Decoded(x.tensor);
  const std::vector<double> b = Decoded(w.tensor);
  for (size_t c = 0; c < 256; c += 2) {
    const double first = a[c] * b[c];
    EXPECT_LE(std::abs(first + a[c + 1] * b[c + 1]), std::abs(first) * 0x1p-8 + 0x1p-30);
  }
}

TEST(DistributionTest, SpecialValuesAreWhereTheyShouldBe) {
  for (const uint32_t type : kFloatTypes) {
    int wrong = 0;
    for (const double v : Decoded(Make({Dist::kOnehot, 1, "x", Role::kInput}, type, 8, 40).tensor))
      wrong += v == 1 ? 1 : v == 0 ? 0 : 1000;
    EXPECT_EQ(wrong, 8);
    int planted = 0;
    for (const double v : Decoded(Make({Dist::kPlanted, 1, "x", Role::kInput}, type, 8, 40).tensor))
      planted += std::isfinite(v) ? 0 : 1;
    EXPECT_EQ(planted, 1);
    const double normal = type == HY_TYPE_F16 ? 0x1p-14 : 0x1p-126;
    int subnormal = 0;
    for (const double v :
         Decoded(Make({Dist::kSubnormal, 1, "x", Role::kInput}, type, 8, 40).tensor)) {
      subnormal += std::abs(v) < normal && v != 0 ? 1 : 0;
    }
    EXPECT_GT(subnormal, 150) << hy_type_name(type);
    const std::vector<double> same =
        Decoded(Make({Dist::kEqual, 1, "x", Role::kInput}, type, 8, 40).tensor);
    for (const double v : same) EXPECT_EQ(v, same[0]);
    EXPECT_NE(same[0], 0);
  }
}

TEST(DistributionTest, NamesGoThereAndBack) {
  for (const Dist dist : AllDists()) {
    const absl::StatusOr<Dist> parsed = ParseDist(DistName(dist));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, dist);
  }
  EXPECT_EQ(ParseDist("gaussian").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(LayTest, SaysWhereRowsLie) {
  const int64_t shape[] = {2, 3, 5};
  const absl::StatusOr<Lay> lay = ParseLay("pad6+off2");
  ASSERT_TRUE(lay.ok()) << lay.status();
  const hy_tensor f32 = PlaceTensor(HY_TYPE_F32, shape, *lay);
  EXPECT_EQ(f32.stride[1], 28);  // 20 and 6, rounded up to whole elements
  EXPECT_EQ(f32.stride[0], 92);
  EXPECT_EQ(SpanBytes(f32), 92u + 2 * 28 + 20);
  EXPECT_EQ(BaseOffset(HY_TYPE_F32, *lay), 4);
  EXPECT_EQ(BaseOffset(HY_TYPE_F16, *lay), 2);
  EXPECT_EQ(PlaceTensor(HY_TYPE_F16, shape, *lay).stride[1], 16);
  const absl::StatusOr<Lay> far = ParseLay("far+inplace");
  ASSERT_TRUE(far.ok());
  EXPECT_EQ(PlaceTensor(HY_TYPE_F32, shape, *far).stride[0], kFarStride);
  EXPECT_TRUE(far->in_place);
  for (const char* wrong : {"", "pad", "pad-4", "dense+pad4", "near"}) {
    EXPECT_FALSE(ParseLay(wrong).ok()) << wrong;
  }
}

TEST(PlainBuilderTest, BuildsByTheCase) {
  Case c;
  c.op = "none";
  c.dist = "uniform";
  c.lay = "pad64+off4";
  PlainBuilder builder(&c);
  const hy_tensor x = builder.Input("x", HY_TYPE_F32, {3, 10});
  const hy_tensor y = builder.Output("y", HY_TYPE_F16, {3, 10});
  const hy_tensor ids = builder.Ints("ids", {2, 2}, {1, 2, 3, 4});
  const hy_tensor f = builder.Floats("f", HY_TYPE_BF16, {1, 2}, {0.5f, -2.0f});
  ASSERT_TRUE(builder.status().ok()) << builder.status();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(x.data) % 64, 4u);
  EXPECT_EQ(x.stride[0], 104);
  EXPECT_EQ(*static_cast<const uint16_t*>(hy_tensor_row(&y, 2)), 0xffff);
  EXPECT_EQ(static_cast<const int32_t*>(hy_tensor_row(&ids, 1))[1], 4);
  EXPECT_EQ(static_cast<const uint16_t*>(f.data)[1], 0xc000);
  EXPECT_EQ(builder.InPlace("z", x).data, x.data);
  builder.Input("bad", HY_TYPE_F32, {1, 1}, "no such");
  EXPECT_EQ(builder.status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace halyard::ops
