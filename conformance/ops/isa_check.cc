// SPDX-License-Identifier: Apache-2.0
//
// X34: little cores and older machines lack what a kernel needs; selection must pass it over there.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/cpu_features.h"
#include "conformance/ops/op_check.h"
#include "conformance/ops/shape_builder.h"
#include "ops/kernel_table.h"
#include "registry/fit.h"
#include "registry/select.h"

namespace halyard::conformance {
namespace {

struct Level {
  const char* name;
  uint64_t isa[2];
};

// Longer names first, since one level's name may begin with another's.
constexpr Level kLevels[] = {
    {"x86_avx512vnni", HALYARD_LEVEL_ISA_x86_avx512vnni},
    {"x86_avx512", HALYARD_LEVEL_ISA_x86_avx512},
    {"x86_avx2", HALYARD_LEVEL_ISA_x86_avx2},
    {"arm64_dotprod", HALYARD_LEVEL_ISA_arm64_dotprod},
    {"arm64_i8mm", HALYARD_LEVEL_ISA_arm64_i8mm},
    {"arm64_sve", HALYARD_LEVEL_ISA_arm64_sve},
    {"riscv64_rvv", HALYARD_LEVEL_ISA_riscv64_rvv},
    {"ppc64le_p9", HALYARD_LEVEL_ISA_ppc64le_p9},
    {"s390x_z14", HALYARD_LEVEL_ISA_s390x_z14},
};

std::string NameFault(const registry::Kernel& kernel) {
  for (const Level& level : kLevels) {
    if (!absl::StrContains(kernel.id(), level.name)) continue;
    for (int word = 0; word < 2; ++word) {
      if ((level.isa[word] & ~kernel.desc().isa[word]) != 0) {
        const IsaMask missing = {word == 0 ? level.isa[0] & ~kernel.desc().isa[0] : 0,
                                 word == 1 ? level.isa[1] & ~kernel.desc().isa[1] : 0};
        return absl::StrCat("its name says ", level.name, ", but it does not ask for ",
                            IsaNames(missing).front(),
                            ": a machine without it would run into an illegal instruction");
      }
    }
    return "";
  }
  return "";
}

}  // namespace

std::vector<std::string> IsaFaults(const UnderTest& under_test, const TestedOp& op,
                                   const registry::Kernel& kernel) {
  std::vector<std::string> faults;
  const std::string name_fault = NameFault(kernel);
  if (!name_fault.empty()) faults.push_back(name_fault);
  std::vector<ops::Case> cases;
  op.cases->enumerate(ops::Tier::kQuick, &cases);
  if (cases.empty()) return faults;
  std::vector<uint64_t> words((op.op->desc().args_bytes + 7) / 8, 0);
  ShapeBuilder builder(&cases.front(), nullptr);
  if (!op.cases->build(cases.front(), builder, words.data()).ok()) return faults;
  for (uint32_t bit = 0; bit < 128; ++bit) {
    if ((kernel.desc().isa[bit / 64] >> (bit % 64) & 1) == 0) continue;
    IsaMask all = {~uint64_t{0}, ~uint64_t{0}};
    all[bit / 64] &= ~(uint64_t{1} << (bit % 64));
    registry::Request request{op.op, words.data(), registry::MakeTarget(all, 2, 64)};
    request.only = &kernel;
    const registry::Fit fit = registry::FitKernel(under_test.registry(), request, kernel, false);
    // Types are looked at first, and refuse as well.
    if (fit.verdict == registry::Verdict::kPassedOver) {
      faults.push_back(absl::StrCat("a team without ", IsaName(bit), " is not refused"));
    }
  }
  return faults;
}

}  // namespace halyard::conformance
