// SPDX-License-Identifier: Apache-2.0
//
// A plugin with kernels, one variant for each thing that a loader meets (TEST_*).
#include "registry/testdata/blend.h"

static hy_status Run(const void* raw, const hy_kernel_context* context) {
  const BlendArgs* args = (const BlendArgs*)raw;
  int64_t begin;
  int64_t end;
  int64_t row;
  int64_t c;
  hy_split(args->x.shape[0], 1, context->index, context->count, &begin, &end);
  for (row = begin; row < end; ++row) {
    const float* x = (const float*)hy_tensor_row(&args->x, row);
    const float* w = (const float*)hy_tensor_row(&args->w, row);
    float* y = (float*)hy_tensor_row(&args->y, row);
    for (c = 0; c < args->x.shape[1]; ++c) y[c] = x[c] + args->factor * w[c];
  }
  return HY_OK;
}

static const hy_kernel_desc kGood = {
    .struct_size = (uint32_t)sizeof(hy_kernel_desc),
    .contract_version = 1,
    .id = "blend/any/plugin@acme",
    .op = "blend",
    .priority = HY_PRIORITY_VENDOR,
    .phases = 1,
    .run = Run,
};

static const hy_kernel_desc kBad = {
    .struct_size = (uint32_t)sizeof(hy_kernel_desc),
    .contract_version = 7,
    .id = "blend/any/bad@acme",
    .op = "blend",
    .priority = HY_PRIORITY_VENDOR,
    .phases = 1,
    .run = Run,
};

static const hy_kernel_desc* const kKernels[] = {&kBad, &kGood};

static const hy_kernel_table kTable = {
    .struct_size = (uint32_t)sizeof(hy_kernel_table),
    .abi_major = HY_KERNEL_ABI_MAJOR,
    .abi_minor = HY_KERNEL_ABI_MINOR,
    .provider = "acme",
    .kernels = kKernels,
    .kernel_count = 2,
};

#if defined(TEST_GOOD)
HALYARD_KERNELS_DEFINE(kTable)
#elif defined(TEST_NO_ENTRY)
HY_KERNELS_EXPORT const hy_kernel_table* other_entry(void);
HY_KERNELS_EXPORT const hy_kernel_table* other_entry(void) { return &kTable; }
#else
HY_KERNELS_EXPORT const hy_kernel_table* halyard_kernels_get(uint32_t host_major,
                                                             uint32_t host_minor,
                                                             uint32_t* out_reason);
HY_KERNELS_EXPORT const hy_kernel_table* halyard_kernels_get(uint32_t host_major,
                                                             uint32_t host_minor,
                                                             uint32_t* out_reason) {
  *out_reason = TEST_REASON;
  return host_major + host_minor == UINT32_MAX ? &kTable : NULL;
}
#endif
