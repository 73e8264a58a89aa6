// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/toolchain.h"

#include "absl/strings/str_cat.h"
#include "base/cpu_features.h"
#include "conformance/machine.h"
#include "conformance/ops/toolchain_probe.h"
#include "ops/kernel_table.h"

// One row for each level that the build made an object for; see CMakeLists.txt.
#define HALYARD_PROBE_ROW(level) extern "C" uint32_t halyard_toolchain_probe_##level(void);
#include "toolchain_levels.inc"
#undef HALYARD_PROBE_ROW

namespace halyard::conformance {
namespace {

struct Row {
  const char* level;
  uint64_t isa[2];
  uint32_t (*probe)();
};

constexpr Row kRows[] = {
#define HALYARD_PROBE_ROW(level) \
  {#level, HALYARD_LEVEL_ISA_##level, &halyard_toolchain_probe_##level},
#include "toolchain_levels.inc"
#undef HALYARD_PROBE_ROW
};

constexpr uint32_t kOfEmulators = HY_PROBE_SVE_LANE_DOT;

struct Named {
  uint32_t bit;
  const char* text;
};
constexpr Named kNames[] = {
    {HY_PROBE_MIXED_DOT, "dots of int8 made of u8 - 16 are wrong (GCC 12 with i8mm or AVX-VNNI)"},
    {HY_PROBE_SIGNED_DOT, "dots of int8 are wrong"},
    {HY_PROBE_NAN, "comparisons with NaN are folded: -ffast-math?"},
    {HY_PROBE_CONTRACTION, "a product and a sum are rounded once: -ffp-contract=off is missing"},
    {HY_PROBE_FLUSH, "subnormals are flushed from the start: -ffast-math at link time?"},
    {HY_PROBE_ASSOCIATION, "sums are reordered: -fassociative-math?"},
    {HY_PROBE_INFINITY, "infinities are assumed away: -ffinite-math-only?"},
    {HY_PROBE_USDOT, "operands of the mixed-sign dot are swapped"},
    {HY_PROBE_SVE_LANE_DOT, "the indexed SVE dot is wrong"},
};

bool Runs(const uint64_t isa[2]) {
  const IsaMask live = LiveIsa();
  return (isa[0] & ~live[0]) == 0 && (isa[1] & ~live[1]) == 0;
}

}  // namespace

std::vector<ProbedLevel> ProbeToolchain() {
  std::vector<ProbedLevel> levels;
  for (const Row& row : kRows) {
    ProbedLevel level;
    level.level = row.level;
    level.isa[0] = row.isa[0];
    level.isa[1] = row.isa[1];
    level.runs = Runs(row.isa);
    if (level.runs) level.faults = row.probe();
    levels.push_back(level);
  }
  return levels;
}

std::string DescribeProbeFaults(uint32_t faults) {
  std::string text;
  for (const Named& named : kNames) {
    if ((faults & named.bit) != 0) absl::StrAppend(&text, text.empty() ? "" : "; ", named.text);
  }
  return text;
}

std::string ToolchainFault(const std::vector<ProbedLevel>& levels) {
  for (const ProbedLevel& level : levels) {
    const uint32_t faults = IsEmulated() ? level.faults & ~kOfEmulators : level.faults;
    if (faults != 0) return absl::StrCat("level ", level.level, ": ", DescribeProbeFaults(faults));
  }
  return "";
}

std::string EmulatorSuspicion(const std::vector<ProbedLevel>& levels, const uint64_t isa[2]) {
  if (!IsEmulated()) return "";
  for (const ProbedLevel& level : levels) {
    const bool used = (level.isa[0] & isa[0]) != 0 || (level.isa[1] & isa[1]) != 0;
    if (used && (level.faults & kOfEmulators) != 0) {
      return absl::StrCat("the emulator is wrong here: ",
                          DescribeProbeFaults(level.faults & kOfEmulators));
    }
  }
  return "";
}

}  // namespace halyard::conformance
