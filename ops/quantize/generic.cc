// SPDX-License-Identifier: Apache-2.0
#include "base/simd/a8.h"
#include "base/simd/q8_0.h"
#include "base/simd/scalar.h"
#include "ops/kernel_table.h"
#include "ops/quantize/contract.h"

namespace {

void EncodeQ8(const hy_tensor* x, const void* in, void* out) {
  float values[HYK_Q8_0_BLOCK];
  uint8_t* block = static_cast<uint8_t*>(out);
  for (int64_t at = 0; at < x->shape[1]; at += HYK_Q8_0_BLOCK, block += HYK_Q8_0_BYTES) {
    hyk_load_f32(x->type, in, at, HYK_Q8_0_BLOCK, values);
    hyk_encode_q8_0(values, block);
  }
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_quantize_args* args = static_cast<const hy_quantize_args*>(raw);
  int64_t begin;
  int64_t end;
  hy_split(args->x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end && args->x.shape[1] > 0; ++row) {
    const hyk_a8_source source = {hy_tensor_row(&args->x, row), args->x.type, 0, args->x.shape[1]};
    void* out = hy_tensor_row(&args->y, row);
    if (args->y.type == HY_TYPE_Q8_0) {
      EncodeQ8(&args->x, source.x, out);
    } else {
      hyk_a8_write(args->y.type, args->asymmetric != 0, &source, out);
    }
  }
  return HY_OK;
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_QUANTIZE_VERSION,
    .id = "quantize/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "quantize",
    .types = {},
    .isa = HALYARD_LEVEL_ISA,
    .activation = HY_QA_ANY,
    .accumulator = HY_ACC_F32,
    .priority = HY_PRIORITY_GENERIC + HALYARD_LEVEL_RANK,
    .layout = HY_LAYOUT_CANONICAL,
    .phases = 1,
    .param_count = 0,
    .flags = HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT,
    .params = nullptr,
    .supports = nullptr,
    .scratch_bytes = nullptr,
    .run = Run,
};

}  // namespace

HALYARD_KERNELS(&kGeneric)
