// SPDX-License-Identifier: Apache-2.0
#include "registry/overrides.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "registry/test_table.h"

namespace halyard::registry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OverridesTest : public ::testing::Test {
 protected:
  OverridesTest() {
    Fill(&registry_,
         TestTable("acme").Kernel(BlendKernel("blend/any/fast@acme", HY_PRIORITY_VENDOR)));
  }
  const Kernel& Of(const char* id) { return *registry_.FindKernel(id); }
  Registry registry_;
};

TEST_F(OverridesTest, NothingSetChangesNothing) {
  EXPECT_THAT(ApplyOverrides("", "", &registry_), IsEmpty());
  EXPECT_THAT(ApplyOverrides(" , ", ",", &registry_), IsEmpty());
  for (const Kernel* kernel : registry_.kernels()) {
    EXPECT_FALSE(kernel->forced());
    EXPECT_FALSE(kernel->disabled());
  }
}

TEST_F(OverridesTest, ListsTakeIdsAndGlobs) {
  EXPECT_THAT(
      ApplyOverrides("blend=blend/any/fast@acme, put=put/*/reference@*", "*@acme", &registry_),
      IsEmpty());
  EXPECT_TRUE(Of("blend/any/fast@acme").forced());
  EXPECT_FALSE(Of("blend/any/fast@acme").disabled()) << "forced wins";
  EXPECT_TRUE(Of("put/any/reference@halyard").forced());
  EXPECT_FALSE(Of("blend/any/generic_base@halyard").forced());
  EXPECT_FALSE(Of("blend/any/generic_base@halyard").disabled());
}

TEST_F(OverridesTest, WhatSaysNothingIsReportedAndTheRestHolds) {
  EXPECT_THAT(
      ApplyOverrides("blend,blond=x,blend=gone*,blend=*fast*", "gone*,*generic*", &registry_),
      ElementsAre("HALYARD_DISABLE_KERNEL: no kernel matches gone*",
                  "HALYARD_FORCE_KERNEL: 'blend' is not op=kernel",
                  "HALYARD_FORCE_KERNEL: there is no op blond",
                  HasSubstr("blend has no kernel gone*; `halyard explain blend` lists")));
  EXPECT_TRUE(Of("blend/any/fast@acme").forced());
  EXPECT_TRUE(Of("blend/any/generic_base@halyard").disabled());
}

TEST_F(OverridesTest, AForceIsForItsOpOnly) {
  EXPECT_THAT(ApplyOverrides("put=*", "", &registry_), IsEmpty());
  EXPECT_FALSE(Of("blend/any/fast@acme").forced());
  EXPECT_TRUE(Of("put/any/reference@halyard").forced());
}

}  // namespace
}  // namespace halyard::registry
