// SPDX-License-Identifier: Apache-2.0
//
// Compares the layout of the kernel interface with the golden file of the data model. After a change
// that the ABI rules allow, write the file anew with
//   HALYARD_WRITE_ABI=1 kernel_abi_test
// on an LP64 and on an ILP32 target.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "hal/abi/test_golden.h"
#include "halyard/kernel.h"
#include "registry/abi/layout.h"

namespace halyard::registry {
namespace {

using ::testing::IsEmpty;

TEST(KernelAbiTest, TheLayoutIsThatOfTheGoldenFile) {
  const std::string title =
      absl::StrCat("kernel ABI ", HY_KERNEL_ABI_MAJOR, ".", HY_KERNEL_ABI_MINOR);
  EXPECT_EQ(
      hal::GoldenDifference(hal::LayoutText(title, KernelStructs(), KernelConstants()),
                            absl::StrCat("registry/abi/kernel_v1.", hal::DataModel(), ".txt")),
      "");
}

TEST(KernelAbiTest, FieldsLeaveNoHolesButForAlignment) {
  EXPECT_THAT(hal::Holes(KernelStructs()), IsEmpty());
}

TEST(KernelAbiTest, EveryStructThatGrowsBeginsWithItsSize) {
  const std::set<std::string> fixed = {"hy_type_info", "hy_tensor", "hy_why", "hy_operand",
                                       "hy_tuning_param"};
  for (const hal::StructLayout& type : KernelStructs()) {
    if (fixed.count(type.name) != 0) continue;
    EXPECT_EQ(type.fields[0].name, "struct_size") << type.name;
    EXPECT_EQ(type.fields[0].size_bytes, sizeof(uint32_t)) << type.name;
  }
}

TEST(KernelAbiTest, NoStructAndNoConstantOfTheHeadersIsLeftOut) {
  EXPECT_THAT(
      hal::LeftOut({"registry/include/halyard/tensor.h", "registry/include/halyard/kernel.h"},
                   KernelStructs(), KernelConstants(),
                   {"HY_KERNELS_GET_NAME", "HY_KERNELS_LINKAGE", "HY_KERNELS_EXPORT"}),
      IsEmpty());
}

}  // namespace
}  // namespace halyard::registry
