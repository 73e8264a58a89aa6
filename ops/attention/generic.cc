// SPDX-License-Identifier: Apache-2.0
//
// For every ISA level, with vectors that the compiler splits or joins as the level has them: 8 floats
// at a time. Each tile of a page is converted to f32 once, in plain loops; so all dimensions and types
// go the same way.
#include "base/simd/q8_0.h"
#include "ops/attention/microkernel.h"
#include "ops/kernel_table.h"

namespace {

struct Plain {
  typedef float Vec __attribute__((vector_size(32)));
  struct Aux {};
  static constexpr int kWidth = 8;
  static constexpr int kRows = 1;
  static constexpr int kSumRows = 1;

  static void Clear(Vec& out) { out = Vec{}; }
  static void Load(const float* at, Vec& out) { memcpy(&out, at, sizeof out); }
  static void Store(const Vec& v, float* at) { memcpy(at, &v, sizeof v); }
  static void Splat(float x, Vec& out) { out = Vec{} + x; }
  static void MulAdd(Vec& acc, const Vec& a, const Vec& b) { acc += a * b; }
  static void Sum4(const Vec* v, float* out) {
    for (int i = 0; i < 4; ++i) {
      out[i] =
          ((v[i][0] + v[i][4]) + (v[i][2] + v[i][6])) + ((v[i][1] + v[i][5]) + (v[i][3] + v[i][7]));
    }
  }
  template <uint32_t kType>
  static void Prepare(const void*, int64_t, Aux&) {}
  template <uint32_t kType>
  static void Read(const void* row, int64_t d, const Aux&, Vec& out) {
    Load(static_cast<const float*>(row) + d, out);
  }
};

struct Unit {
  static constexpr int64_t kLanes = Plain::kWidth;

  static bool Direct(const Problem&, int64_t) { return false; }

  static void Convert(uint32_t type, const void* row, int64_t dim, float* out) {
    if (type != HY_TYPE_Q8_0) return hyk_load_f32(type, row, 0, dim, out);
    const uint8_t* block = static_cast<const uint8_t*>(row);
    for (int64_t d = 0; d < dim; d += HYK_Q8_0_BLOCK, block += HYK_Q8_0_BYTES)
      hyk_decode_q8_0(block, out + d);
  }

  static void Scores(uint32_t, const float* q, int64_t m, Rows rows, int64_t n, int64_t pad,
                     float* s) {
    ScoresOf<Plain, HY_TYPE_F32>(q, m, rows, n, pad, s);
  }

  static void Accumulate(uint32_t, const float* w, int64_t m, Rows rows, int64_t n, int64_t pad,
                         float* acc) {
    SumRows<Plain, HY_TYPE_F32, Plain::kSumRows>(w, m, rows, n, pad, acc);
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
