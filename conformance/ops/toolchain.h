// SPDX-License-Identifier: Apache-2.0
//
// The first thing of a run: does the compiler that made the kernels, and the machine or emulator that
// runs them, get the basics right?
#ifndef HALYARD_CONFORMANCE_OPS_TOOLCHAIN_H_
#define HALYARD_CONFORMANCE_OPS_TOOLCHAIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "halyard/kernel.h"

namespace halyard::conformance {

/// One object: the flags of an ISA level.
struct ProbedLevel {
  std::string level;    ///< "base", "x86_avx2"
  uint64_t isa[2]{};    ///< what it needs
  bool runs = false;    ///< the machine has it
  uint32_t faults = 0;  ///< HY_PROBE_* bits
};

/// Runs every probe that this machine can.
std::vector<ProbedLevel> ProbeToolchain();

/// What is wrong and no emulator's doing; empty if nothing is.
std::string ToolchainFault(const std::vector<ProbedLevel>& levels);

/// Why a failure of a kernel with these instruction sets may be the emulator's; empty if not.
/// Only under an emulator, and only if its fault was seen by a probe in this very run.
std::string EmulatorSuspicion(const std::vector<ProbedLevel>& levels, const uint64_t isa[2]);

/// Bits in words, for messages.
std::string DescribeProbeFaults(uint32_t faults);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_TOOLCHAIN_H_
