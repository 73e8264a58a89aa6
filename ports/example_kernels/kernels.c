// SPDX-License-Identifier: Apache-2.0
//
// A plugin with one kernel of its own: matmul of f32 by q8_0 weights as they lie in the file, without
// rounding x. Plain C, so that it runs on any chip; a vendor's would use the chip's own instructions
// here, and change nothing around it.
#include <string.h>

#include "halyard/kernel.h"
#include "ops/matmul/contract.h"

enum { kBlock = 32, kBlockBytes = 34, kLanes = 8, kColumns = 16 };

// Half to float, exactly, as q8_0 stores its scales: two bytes, the lower first.
static float Scale(const uint8_t* block) {
  const uint32_t half = (uint32_t)block[0] | (uint32_t)block[1] << 8;
  const uint32_t body = (half & 0x7fffu) << 13;
  uint32_t bits;
  float value;
  memcpy(&value, &body, sizeof value);
  value *= 0x1p112f;  // moves the exponent; right for subnormals, too
  memcpy(&bits, &value, sizeof bits);
  if (body >= 0x0f800000u) bits = body | 0x7f800000u;  // infinity or NaN
  bits |= (half & 0x8000u) << 16;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// One element of y. Eight sums side by side, always in the same order.
static float Dot(const float* x, const uint8_t* w, int64_t k) {
  float lane[kLanes] = {0};
  for (int64_t at = 0; at < k; at += kBlock, x += kBlock, w += kBlockBytes) {
    const float scale = Scale(w);
    const int8_t* code = (const int8_t*)w + 2;
    for (int i = 0; i < kBlock; i += kLanes) {
      for (int j = 0; j < kLanes; ++j) lane[j] += x[i + j] * (scale * (float)code[i + j]);
    }
  }
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int j = 0; j < width; ++j) lane[j] += lane[j + width];
  }
  return lane[0];
}

// Everything that Run relies on and that types and ISA do not say.
static int Supports(const void* raw, const hy_kernel_target* target, hy_why* why) {
  const hy_matmul_args* args = (const hy_matmul_args*)raw;
  (void)target;
  if (args->x.rank != 2) return hy_refuse(why, "takes one matrix of x, not a batch of them");
  if (args->w.rank != 2) return hy_refuse(why, "takes one matrix of weights");
  return 1;
}

static hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_matmul_args* args = (const hy_matmul_args*)raw;
  const int64_t rows = args->x.shape[0];
  const float* bias = (const float*)args->bias.data;
  int64_t begin;
  int64_t end;
#ifdef EXAMPLE_FAIL_EVERY
  // For the test of what the runtime does with a kernel that fails: after some writes, too.
  static uint32_t calls;
  const int fail = __atomic_add_fetch(&calls, 1u, __ATOMIC_RELAXED) % EXAMPLE_FAIL_EVERY == 0;
#endif
  while (hy_claim(context, args->w.shape[0], kColumns, &begin, &end)) {
    for (int64_t m = 0; m < rows; ++m) {
      float* y = (float*)hy_tensor_row(&args->y, m);
      for (int64_t n = begin; n < end; ++n) {
        y[n] = Dot((const float*)hy_tensor_row(&args->x, m),
                   (const uint8_t*)hy_tensor_row(&args->w, n), args->x.shape[1]);
        if (bias != NULL) y[n] += bias[n];
      }
    }
#ifdef EXAMPLE_FAIL_EVERY
    if (fail) return HY_INTERNAL;
#endif
  }
  return HY_OK;
}

static const hy_kernel_desc kMatmul = {
    .struct_size = (uint32_t)sizeof(hy_kernel_desc),
    .contract_version = HY_MATMUL_VERSION,
    .id = "matmul/f32.q8_0.f32/example@example",
    .op = "matmul",
    .types = {HY_TYPE_F32, HY_TYPE_Q8_0, HY_TYPE_F32},
    .activation = HY_QA_NONE,
    .accumulator = HY_ACC_F32,
    .priority = HY_PRIORITY_VENDOR,
    .phases = 1,
    .flags = HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT,
    .supports = Supports,
    .run = Run,
};

static const hy_kernel_desc* const kKernels[] = {&kMatmul};

static const hy_kernel_table kTable = {
    .struct_size = (uint32_t)sizeof(hy_kernel_table),
    .abi_major = HY_KERNEL_ABI_MAJOR,
    .abi_minor = HY_KERNEL_ABI_MINOR,
    .provider = "example",
    .kernels = kKernels,
    .kernel_count = sizeof kKernels / sizeof kKernels[0],
};

HALYARD_KERNELS_DEFINE(kTable)
