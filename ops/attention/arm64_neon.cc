// SPDX-License-Identifier: Apache-2.0
//
// Advanced SIMD, which every AArch64 core has, conversions of halves included. Registers: 4 x 4 sums, 4
// queries, one key; 2 x 8 sums, 2 weights, one value.
#include <arm_neon.h>

#include "base/simd/q8_0.h"
#include "ops/attention/microkernel.h"
#include "ops/kernel_table.h"

namespace {

struct Neon {
  using Vec = float32x4_t;
  struct Aux {
    float scale;
  };
  static constexpr int kWidth = 4;
  static constexpr int kRows = 4;
  static constexpr int kSumRows = 3;

  static void Clear(Vec& out) { out = vdupq_n_f32(0); }
  static void Load(const float* at, Vec& out) { out = vld1q_f32(at); }
  static void Store(const Vec& v, float* at) { vst1q_f32(at, v); }
  static void Splat(float x, Vec& out) { out = vdupq_n_f32(x); }
  static void MulAdd(Vec& acc, const Vec& a, const Vec& b) { acc = vfmaq_f32(acc, a, b); }

  static void Sum4(const Vec* v, float* out) {
    vst1q_f32(out, vpaddq_f32(vpaddq_f32(v[0], v[1]), vpaddq_f32(v[2], v[3])));
  }

  template <uint32_t kType>
  static void Prepare(const void* row, int64_t d, Aux& aux) {
    if constexpr (kType == HY_TYPE_Q8_0) {
      aux.scale = hyk_load_q8_0_scale(static_cast<const uint8_t*>(row) + BytesTo<kType>(d));
    }
  }

  template <uint32_t kType>
  static void Read(const void* row, int64_t d, const Aux& aux, Vec& out) {
    if constexpr (kType == HY_TYPE_F32) {
      out = vld1q_f32(static_cast<const float*>(row) + d);
    } else if constexpr (kType == HY_TYPE_F16) {
      const uint16x4_t halves = vld1_u16(static_cast<const uint16_t*>(row) + d);
      out = vcvt_f32_f16(vreinterpret_f16_u16(halves));
    } else if constexpr (kType == HY_TYPE_BF16) {
      const uint16x4_t halves = vld1_u16(static_cast<const uint16_t*>(row) + d);
      out = vreinterpretq_f32_u32(vshll_n_u16(halves, 16));
    } else {
      const uint8_t* at = static_cast<const uint8_t*>(row) + BytesTo<kType>(d) + 2 + d % kSpan;
      int32_t four;
      memcpy(&four, at, sizeof four);
      const int8x8_t codes = vreinterpret_s8_s32(vdup_n_s32(four));
      const int32x4_t wide = vmovl_s16(vget_low_s16(vmovl_s8(codes)));
      out = vmulq_n_f32(vcvtq_f32_s32(wide), aux.scale);
    }
  }
};

using Unit = UnitOf<Neon>;

const hy_kernel_desc kNeon = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_ATTENTION_VERSION,
    .id = "attention/any/arm64_neon@halyard",
    .op = "attention",
    .types = {},
    .isa = HALYARD_ISA1(HY_ISA_ARM64_ASIMD),
    .activation = HY_QA_ANY,
    .accumulator = HY_ACC_F32,
    .priority = HY_PRIORITY_ISA,
    .layout = HY_LAYOUT_CANONICAL,
    .phases = 2,
    .param_count = 0,
    .flags = HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT,
    .params = nullptr,
    .supports = nullptr,
    .scratch_bytes = AttentionScratch<Unit>,
    .run = RunAttention<Unit>,
};

}  // namespace

HALYARD_KERNELS(&kNeon)
