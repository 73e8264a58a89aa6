// SPDX-License-Identifier: Apache-2.0
//
// Calls a kernel as its runtime would, and looks at what it left of the state that its ABI says it
// must restore: callee-saved registers and floating-point control. [OP-RUN-06]
#ifndef HALYARD_CONFORMANCE_OPS_ABI_CALL_H_
#define HALYARD_CONFORMANCE_OPS_ABI_CALL_H_

#include <cstdint>
#include <string>

#include "halyard/kernel.h"

namespace halyard::conformance {

/// What was wrong after a call.
enum AbiFault : uint32_t {
  kAbiRegister = 1,  ///< a callee-saved register has another value
  kAbiRounding = 2,  ///< rounding mode, exception masks or the like
  kAbiFlush = 4,     ///< subnormals are taken for zero
};

/// Control bits of the floating-point unit of this thread (MXCSR and x87, FPCR, ...), and whether it
/// flushes subnormals.
uint64_t FpControl();

/// Runs `run`; *inout_faults gains AbiFault bits. Floating-point control is put back afterwards.
hy_status CallChecked(const hy_kernel_desc& kernel, const void* args,
                      const hy_kernel_context& context, uint32_t* inout_faults);

/// True if registers are looked at on this architecture; floating-point control always is.
bool ChecksRegisters();

/// "flushes subnormals to zero; loses a callee-saved register".
std::string DescribeAbiFaults(uint32_t faults);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_ABI_CALL_H_
