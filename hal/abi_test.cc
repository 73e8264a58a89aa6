// SPDX-License-Identifier: Apache-2.0
//
// Compares the layout of the HAL boundary with the golden file of the data model. After a change
// that the ABI rules allow, write the file anew with
//   HALYARD_WRITE_ABI=1 abi_test
// on an LP64 and on an ILP32 target.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hal/abi/layout.h"
#include "hal/abi/test_golden.h"
#include "halyard/hal.h"

namespace halyard::hal {
namespace {

TEST(AbiTest, TheLayoutIsThatOfTheGoldenFile) {
  EXPECT_EQ(GoldenDifference(HalLayoutText(), absl::StrCat("hal/abi/hal_v1.", DataModel(), ".txt")),
            "");
}

// A field that is missing from the list would leave a hole that no alignment asks for.
TEST(AbiTest, FieldsLeaveNoHolesButForAlignment) {
  EXPECT_THAT(Holes(HalStructs()), ::testing::IsEmpty());
}

TEST(AbiTest, EveryStructThatGrowsBeginsWithItsSize) {
  const std::set<std::string> fixed = {"hy_array", "hy_fence_point", "hy_node_bytes"};
  for (const StructLayout& type : HalStructs()) {
    if (fixed.count(type.name) != 0) continue;
    EXPECT_EQ(type.fields[0].name, "struct_size") << type.name;
    EXPECT_EQ(type.fields[0].size_bytes, sizeof(uint32_t)) << type.name;
  }
}

TEST(AbiTest, TheTableHasTwentyVerbsInTheirOrder) {
  const StructLayout table = HalStructs().back();
  ASSERT_EQ(table.name, "hy_hal_api");
  constexpr size_t kHead = 7;  // struct_size to vendor
  ASSERT_EQ(table.fields.size(), kHead + 20);
  for (size_t i = kHead; i < table.fields.size(); ++i) {
    EXPECT_EQ(table.fields[i].offset_bytes,
              offsetof(hy_hal_api, enumerate) + (i - kHead) * sizeof(void*));
  }
  EXPECT_EQ(table.fields[kHead].name, "enumerate");
  EXPECT_EQ(table.fields.back().name, "release");
  EXPECT_EQ(HY_HAL_API_SIZE_V1_0, sizeof(hy_hal_api));
}

TEST(AbiTest, NoStructAndNoConstantOfTheHeadersIsLeftOut) {
  std::vector<std::string> headers;
  for (const char* name : {"status.h", "hal_types.h", "hal.h", "isa.h"})
    headers.push_back(absl::StrCat("hal/include/halyard/", name));
  EXPECT_THAT(LeftOut(headers, HalStructs(), HalConstants(), {"HY_HAL_GET_NAME"}),
              ::testing::IsEmpty());
}

}  // namespace
}  // namespace halyard::hal
