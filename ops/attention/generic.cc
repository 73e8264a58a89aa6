// SPDX-License-Identifier: Apache-2.0
//
// Plain loops: each tile of a page is converted to f32 once; scores are dots of 8 lanes for 4 keys at
// a time, so that their sums across lanes cost little; values are added 4 keys at a time.
#include "base/simd/q8_0.h"
#include "ops/attention/run.h"
#include "ops/kernel_table.h"

namespace {

inline float SumOf8(const float* lane) {
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

inline const float* Floats(const void* row) { return static_cast<const float*>(row); }

struct Unit {
  static constexpr int64_t kLanes = 8;

  static bool Direct(const Problem&, int64_t) { return false; }

  static void Convert(uint32_t type, const void* row, int64_t dim, float* out) {
    if (type == HY_TYPE_Q8_0) {
      const uint8_t* block = static_cast<const uint8_t*>(row);
      for (int64_t d = 0; d < dim; d += HYK_Q8_0_BLOCK, block += HYK_Q8_0_BYTES)
        hyk_decode_q8_0(block, out + d);
    } else {
      hyk_load_f32(type, row, 0, dim, out);
    }
  }

  static void Dots4(const float* q, const void* const* rows, int64_t pad, float* s) {
    float lane[4][8] = {{0}};
    const float* k0 = Floats(rows[0]);
    const float* k1 = Floats(rows[1]);
    const float* k2 = Floats(rows[2]);
    const float* k3 = Floats(rows[3]);
    for (int64_t d = 0; d < pad; d += 8) {
      for (int i = 0; i < 8; ++i) {
        const float x = q[d + i];
        lane[0][i] += x * k0[d + i];
        lane[1][i] += x * k1[d + i];
        lane[2][i] += x * k2[d + i];
        lane[3][i] += x * k3[d + i];
      }
    }
    for (int j = 0; j < 4; ++j) s[j] = SumOf8(lane[j]);
  }

  static void Scores(uint32_t, const float* q, int64_t m, const void* const* rows, int64_t n,
                     int64_t pad, float* s) {
    for (int64_t j = 0; j < n; j += 4) {
      for (int64_t i = 0; i < m; ++i) Dots4(q + i * pad, rows + j, pad, s + i * kTile + j);
    }
  }

  static void Accumulate(uint32_t, const float* w, int64_t m, const void* const* rows, int64_t n,
                         int64_t pad, float* acc) {
    for (int64_t i = 0; i < m; ++i, w += kTile, acc += pad) {
      int64_t j = 0;
      for (; j + 4 <= n; j += 4) {
        const float* v0 = Floats(rows[j]);
        const float* v1 = Floats(rows[j + 1]);
        const float* v2 = Floats(rows[j + 2]);
        const float* v3 = Floats(rows[j + 3]);
        for (int64_t d = 0; d < pad; ++d) {
          const float two = acc[d] + w[j] * v0[d] + w[j + 1] * v1[d];
          acc[d] = two + w[j + 2] * v2[d] + w[j + 3] * v3[d];
        }
      }
      for (; j < n; ++j) {
        const float* v = Floats(rows[j]);
        for (int64_t d = 0; d < pad; ++d) acc[d] += w[j] * v[d];
      }
    }
  }
};

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_ATTENTION_VERSION,
    .id = "attention/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "attention",
    .types = {},
    .isa = HALYARD_LEVEL_ISA,
    .activation = HY_QA_ANY,
    .accumulator = HY_ACC_F32,
    .priority = HY_PRIORITY_GENERIC + HALYARD_LEVEL_RANK,
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

HALYARD_KERNELS(&kGeneric)
