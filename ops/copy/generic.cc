// SPDX-License-Identifier: Apache-2.0
#include "base/simd/pieces.h"
#include "ops/copy/contract.h"
#include "ops/kernel_table.h"

namespace {

constexpr int64_t kBytes = 4096;  // that one worker moves at a time

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_copy_args* args = static_cast<const hy_copy_args*>(raw);
  const int64_t rows = hy_tensor_rows(&args->x);
  const int64_t bytes = (int64_t)hy_type_row_bytes(args->x.type, hy_tensor_cols(&args->x));
  const int64_t pieces = (bytes + kBytes - 1) / kBytes;
  int64_t begin;
  int64_t end;
  if (args->x.data == args->y.data) return HY_OK;
  hy_split(rows * pieces, 1, context->index, context->count, &begin, &end);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t first = i % pieces * kBytes;
    const int64_t count = hyk_least(kBytes, bytes - first);
    memcpy(static_cast<unsigned char*>(hy_tensor_row(&args->y, i / pieces)) + first,
           static_cast<const unsigned char*>(hy_tensor_row(&args->x, i / pieces)) + first,
           (uint64_t)count);
  }
  return HY_OK;
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_COPY_VERSION,
    .id = "copy/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "copy",
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
