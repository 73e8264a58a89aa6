// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/abi_call.h"

#include <cfenv>
#include <cstring>

#include "absl/strings/str_cat.h"

// hy_abi_call(run, args, context, lost): run(args, context) with known values in the callee-saved
// registers; *lost says in bits which of them came back changed.
#if defined(__x86_64__)
asm(R"(
  .text
  .type hy_abi_call, @function
hy_abi_call:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  pushq %rcx
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsi
  movabsq $0x5a5a5a5a00000001, %rbx
  movabsq $0x5a5a5a5a00000002, %rbp
  movabsq $0x5a5a5a5a00000003, %r12
  movabsq $0x5a5a5a5a00000004, %r13
  movabsq $0x5a5a5a5a00000005, %r14
  movabsq $0x5a5a5a5a00000006, %r15
  call *%rax
  popq %rcx
  movabsq $0x5a5a5a5a00000000, %rdx
  subq %rdx, %rbx
  subq %rdx, %rbp
  subq %rdx, %r12
  subq %rdx, %r13
  subq %rdx, %r14
  subq %rdx, %r15
  xorq $1, %rbx
  xorq $2, %rbp
  xorq $3, %r12
  xorq $4, %r13
  xorq $5, %r14
  xorq $6, %r15
  orq %rbx, %rbp
  orq %r12, %rbp
  orq %r13, %rbp
  orq %r14, %rbp
  orq %r15, %rbp
  movq %rbp, (%rcx)
  cld
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size hy_abi_call, .-hy_abi_call
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .type hy_abi_call, %function
hy_abi_call:
  stp x29, x30, [sp, #-176]!
  mov x29, sp
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  str x3, [sp, #160]
  mov x9, x0
  mov x0, x1
  mov x1, x2
  mov x19, #19
  mov x20, #20
  mov x21, #21
  mov x22, #22
  mov x23, #23
  mov x24, #24
  mov x25, #25
  mov x26, #26
  mov x27, #27
  mov x28, #28
  fmov d8, x19
  fmov d9, x20
  fmov d10, x21
  fmov d11, x22
  fmov d12, x23
  fmov d13, x24
  fmov d14, x25
  fmov d15, x26
  blr x9
  mov x9, #0
  mov x11, #19
  eor x10, x19, x11
  orr x9, x9, x10
  fmov x12, d8
  eor x10, x12, x11
  orr x9, x9, x10
  mov x11, #20
  eor x10, x20, x11
  orr x9, x9, x10
  fmov x12, d9
  eor x10, x12, x11
  orr x9, x9, x10
  mov x11, #21
  eor x10, x21, x11
  orr x9, x9, x10
  fmov x12, d10
  eor x10, x12, x11
  orr x9, x9, x10
  mov x11, #22
  eor x10, x22, x11
  orr x9, x9, x10
  fmov x12, d11
  eor x10, x12, x11
  orr x9, x9, x10
  mov x11, #23
  eor x10, x23, x11
  orr x9, x9, x10
  fmov x12, d12
  eor x10, x12, x11
  orr x9, x9, x10
  mov x11, #24
  eor x10, x24, x11
  orr x9, x9, x10
  fmov x12, d13
  eor x10, x12, x11
  orr x9, x9, x10
  mov x11, #25
  eor x10, x25, x11
  orr x9, x9, x10
  fmov x12, d14
  eor x10, x12, x11
  orr x9, x9, x10
  mov x11, #26
  eor x10, x26, x11
  orr x9, x9, x10
  fmov x12, d15
  eor x10, x12, x11
  orr x9, x9, x10
  mov x11, #27
  eor x10, x27, x11
  orr x9, x9, x10
  mov x11, #28
  eor x10, x28, x11
  orr x9, x9, x10
  ldr x3, [sp, #160]
  str x9, [x3]
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #176
  ret
  .size hy_abi_call, .-hy_abi_call
)");
#endif

namespace halyard::conformance {
namespace {

using RunFn = hy_status (*)(const void* args, const hy_kernel_context* context);

#if defined(__x86_64__) || defined(__aarch64__)
extern "C" hy_status hy_abi_call(RunFn run, const void* args, const hy_kernel_context* context,
                                 uint64_t* lost);
constexpr bool kChecksRegisters = true;
#else
hy_status hy_abi_call(RunFn run, const void* args, const hy_kernel_context* context,
                      uint64_t* lost) {
  *lost = 0;
  return run(args, context);
}
constexpr bool kChecksRegisters = false;
#endif

// The product of a subnormal and one, which a unit that flushes makes zero.
bool Flushes() {
  volatile float tiny = 0x1p-140f;
  volatile float one = 1.0f;
  volatile float product = tiny * one;
  uint32_t bits;
  const float copy = product;
  std::memcpy(&bits, &copy, sizeof bits);
  return bits == 0;
}

constexpr uint64_t kFlushBit = uint64_t{1} << 63;

uint64_t ControlWord() {
#if defined(__x86_64__)
  uint32_t mxcsr = 0;
  uint16_t x87 = 0;
  asm volatile("stmxcsr %0" : "=m"(mxcsr));
  asm volatile("fnstcw %0" : "=m"(x87));
  return (mxcsr & 0xffc0u) | static_cast<uint64_t>(x87) << 16;
#elif defined(__aarch64__)
  uint64_t fpcr = 0;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  return fpcr;
#else
  return static_cast<uint64_t>(static_cast<uint32_t>(std::fegetround()));
#endif
}

}  // namespace

bool ChecksRegisters() { return kChecksRegisters; }

uint64_t FpControl() { return ControlWord() | (Flushes() ? kFlushBit : 0); }

hy_status CallChecked(const hy_kernel_desc& kernel, const void* args,
                      const hy_kernel_context& context, uint32_t* inout_faults) {
  std::fenv_t environment;
  std::fegetenv(&environment);
  const uint64_t before = FpControl();
  uint64_t lost = 0;
  const hy_status status = hy_abi_call(kernel.run, args, &context, &lost);
  const uint64_t after = FpControl();
  if (lost != 0) *inout_faults |= kAbiRegister;
  if (after != before) {
    *inout_faults |= ((after ^ before) & kFlushBit) != 0 ? kAbiFlush : kAbiRounding;
    std::fesetenv(&environment);
  }
  return status;
}

std::string DescribeAbiFaults(uint32_t faults) {
  std::string text;
  const auto add = [&](AbiFault fault, absl::string_view what) {
    if ((faults & fault) != 0) absl::StrAppend(&text, text.empty() ? "" : "; ", what);
  };
  add(kAbiFlush, "leaves the floating-point unit flushing subnormals to zero");
  add(kAbiRounding, "leaves the floating-point control word changed");
  add(kAbiRegister, "leaves a callee-saved register changed");
  return text;
}

}  // namespace halyard::conformance
