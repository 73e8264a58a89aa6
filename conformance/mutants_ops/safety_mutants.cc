// SPDX-License-Identifier: Apache-2.0
//
// A01, A02, A03: right numbers, by means that break something else.
#include <sched.h>

#include <cfenv>
#include <cmath>
#include <cstring>
#include <vector>

#include "conformance/mutants_ops/op_mutants.h"
#include "ops/matmul/contract.h"
#include "ops/rmsnorm/contract.h"
#include "reference/reference.h"

// A kernel that calls a good one, and then loses a register that its caller counts on.
#if defined(__x86_64__)
asm(R"(
  .text
  .type hy_mutant_lose_register, @function
hy_mutant_lose_register:
  subq $8, %rsp
  call hy_mutant_run_good
  addq $8, %rsp
  xorl %r12d, %r12d
  ret
  .size hy_mutant_lose_register, .-hy_mutant_lose_register
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .type hy_mutant_lose_register, %function
hy_mutant_lose_register:
  stp x29, x30, [sp, #-16]!
  bl hy_mutant_run_good
  ldp x29, x30, [sp], #16
  fmov d9, xzr
  ret
  .size hy_mutant_lose_register, .-hy_mutant_lose_register
)");
#endif

extern "C" hy_status hy_mutant_run_good(const void* args, const hy_kernel_context* context);
extern "C" __attribute__((used, visibility("hidden"))) hy_status hy_mutant_run_good(
    const void* args, const hy_kernel_context* context) {
  return halyard::conformance::op_mutants::RunGood(args, context);
}

namespace halyard::conformance {
namespace {

// A01.
hy_status RunReadingOn(const void* raw, const hy_kernel_context* context) {
  const auto& args = *static_cast<const hy_matmul_args*>(raw);
  const auto row_bytes = hy_type_row_bytes(args.w.type, hy_tensor_cols(&args.w));
  volatile unsigned char sink = 0;
  for (int64_t r = 0; r < hy_tensor_rows(&args.w) && row_bytes > 0; ++r) {
    const auto* row = static_cast<const volatile unsigned char*>(hy_tensor_row(&args.w, r));
    for (uint64_t i = 0; i < 16; ++i) sink = row[row_bytes + i];
  }
  static_cast<void>(sink);
  return op_mutants::RunGood(raw, context);
}

double SquaresOf(const hy_rmsnorm_args& args, int64_t row) {
  std::vector<double> x(static_cast<size_t>(hy_tensor_cols(&args.x)));
  reference::LoadRow(args.x, row, x.data());
  double squares = 0;
  for (const double value : x) squares += value * value;
  return squares;
}

void Normalise(const hy_rmsnorm_args& args, int64_t row, double squares) {
  std::vector<double> x(static_cast<size_t>(hy_tensor_cols(&args.x)));
  reference::LoadRow(args.x, row, x.data());
  const double n = static_cast<double>(x.size());
  const double scale = 1 / std::sqrt(squares / n + static_cast<double>(args.eps));
  for (size_t c = 0; c < x.size(); ++c) {
    const bool has_w = hy_tensor_present(&args.w) != 0;
    x[c] *= scale *
            (has_w ? reference::LoadElement(args.w, args.w.data, static_cast<int64_t>(c)) : 1.0);
  }
  reference::StoreRow(args.y, row, x.data());
}

int PlainNorm(const void* raw, const hy_kernel_target*, hy_why* why) {
  const auto& args = *static_cast<const hy_rmsnorm_args*>(raw);
  if (hy_tensor_present(&args.add)) return hy_refuse(why, "adds a residual");
  if (!hy_type_is_float(args.y.type)) return hy_refuse(why, "y is quantised");
  return 1;
}

// Room for the sums of every row, for each worker.
uint64_t SumsForEach(const void* raw, uint32_t workers) {
  const auto& args = *static_cast<const hy_rmsnorm_args*>(raw);
  return reference::ScratchBytes(workers, args.x.shape[0] + 1);
}

double* SharedSlice(const hy_rmsnorm_args& args, const hy_kernel_context& context) {
  hy_kernel_context shared = context;
  shared.index = context.index / 2;
  return reference::ScratchSlice(shared, args.x.shape[0] + 1);
}

// A02: phase 0 leaves the sums of a worker's rows in a slice that its neighbour uses as well.
hy_status RunSharingSlices(const void* raw, const hy_kernel_context* context) {
  const auto& args = *static_cast<const hy_rmsnorm_args*>(raw);
  if (hy_tensor_cols(&args.x) == 0) return HY_OK;
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.x.shape[0], 1, context->index, context->count, &begin, &end);
  double* const slice = SharedSlice(args, *context);
  for (int64_t r = begin; r < end; ++r) {
    if (context->phase == 0) {
      slice[r - begin] = SquaresOf(args, r);
    } else {
      Normalise(args, r, slice[r - begin]);
    }
  }
  return HY_OK;
}

// A02, within one phase: only workers that run at the same time get into each other's way.
hy_status RunRacing(const void* raw, const hy_kernel_context* context) {
  const auto& args = *static_cast<const hy_rmsnorm_args*>(raw);
  if (hy_tensor_cols(&args.x) == 0) return HY_OK;
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.x.shape[0], 1, context->index, context->count, &begin, &end);
  volatile double* const slot = SharedSlice(args, *context);
  for (int64_t r = begin; r < end; ++r) {
    *slot = SquaresOf(args, r);
    for (int i = 0; i < 20; ++i) sched_yield();
    Normalise(args, r, *slot);
  }
  return HY_OK;
}

// A03.
hy_status RunLeavingFlush(const void* raw, const hy_kernel_context* context) {
  const hy_status status = op_mutants::RunGood(raw, context);
#if defined(__x86_64__)
  uint32_t control = 0;
  asm volatile("stmxcsr %0" : "=m"(control));
  control |= 0x8040u;  // FTZ and DAZ
  asm volatile("ldmxcsr %0" : : "m"(control));
#elif defined(__aarch64__)
  uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("msr fpcr, %0" : : "r"(control | uint64_t{1} << 24));
#else
  std::fesetround(FE_TOWARDZERO);
#endif
  return status;
}

#if defined(__x86_64__) || defined(__aarch64__)
extern "C" hy_status hy_mutant_lose_register(const void* args, const hy_kernel_context* context);
#endif

hy_kernel_desc Wrapping(hy_status (*run)(const void*, const hy_kernel_context*)) {
  hy_kernel_desc desc = op_mutants::Plain(run);
  desc.scratch_bytes = op_mutants::GoodScratch;
  return desc;
}

hy_kernel_desc Sharing(hy_status (*run)(const void*, const hy_kernel_context*), uint32_t phases) {
  hy_kernel_desc desc = op_mutants::Plain(run);
  desc.supports = PlainNorm;
  desc.scratch_bytes = SumsForEach;
  desc.phases = phases;
  return desc;
}

}  // namespace

std::vector<OpMutant> SafetyMutants() {
  std::vector<OpMutant> all = {
      {"A01", "matmul: 16 bytes past the end of each weight row are read", "matmul", Trap::kKernel,
       Wrapping(RunReadingOn)},
      {"A02", "rmsnorm: two workers share a slice of scratch from phase to phase", "rmsnorm",
       Trap::kKernel, Sharing(RunSharingSlices, 2)},
      {"A02", "rmsnorm: two workers share a slice of scratch at the same time", "rmsnorm",
       Trap::kKernel, Sharing(RunRacing, 1)},
      {"A03", "scale: flush to zero is left on", "scale", Trap::kKernel, Wrapping(RunLeavingFlush)},
  };
#if defined(__x86_64__) || defined(__aarch64__)
  all.push_back({"A03", "scale: a callee-saved register is lost", "scale", Trap::kKernel,
                 Wrapping(hy_mutant_lose_register)});
#endif
  return all;
}

}  // namespace halyard::conformance
