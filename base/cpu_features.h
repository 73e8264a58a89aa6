// SPDX-License-Identifier: Apache-2.0
//
// Which ISA extensions the running processor executes, and their names in text.
#ifndef HALYARD_BASE_CPU_FEATURES_H_
#define HALYARD_BASE_CPU_FEATURES_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "halyard/isa.h"

namespace halyard {

/// A set of HY_ISA_* bits.
using IsaMask = std::array<uint64_t, 2>;

/// What the processor under this thread executes and the system lets it use: by cpuid with the
/// system's saved state on x86, by the auxiliary vector elsewhere. Never by /proc/cpuinfo, which
/// emulators fake. Cached; on a machine with unlike units it is what all of them share.
/// Source   Intel SDM vol. 1 ch. 13 (XCR0), Linux Documentation/arch/arm64/elf_hwcaps.rst,
///          riscv_hwprobe, and the hwcap headers of the other architectures.
IsaMask LiveIsa();

/// Name of a bit, such as "avx2"; empty if the bit has none.
absl::string_view IsaName(uint32_t bit);

/// Names of all bits set, in the order of the numbers; vendor bits as "vendor118".
std::vector<std::string> IsaNames(const IsaMask& isa);

/// Bit of a word for an architecture as `uname -m` names it ("x86_64", "aarch64", "riscv64",
/// "ppc64le", "s390x", "armv7l", "loongarch64"); -1 if Halyard has no bit for it.
int IsaBit(absl::string_view arch, absl::string_view word);

/// Bits of words in Linux' spelling ("asimddp", "avx512_vnni"); words without a bit are passed
/// over.
IsaMask IsaFromWords(absl::string_view arch, absl::Span<const std::string> words);

/// Extensions that this very object was compiled to need, for `doctor`.
IsaMask BuildIsa();

/// The architecture that this program was built for, as `uname -m` names it.
absl::string_view BuildArch();

/// Vector length of SVE or RVV in bytes; 0 if there is neither.
uint32_t LiveVectorBytes();

}  // namespace halyard

#endif  // HALYARD_BASE_CPU_FEATURES_H_
