// SPDX-License-Identifier: Apache-2.0
//
// The suite is as good as the broken HALs that it finds.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>

#include "conformance/mutants/mutants.h"
#include "conformance/report/report.h"
#include "conformance/runner.h"

namespace halyard::conformance {
namespace {

TEST(MutantsTest, EachTrapHasAtLeastThree) {
  std::map<int, int> of_trap;
  std::set<std::string> descriptions;
  int number = 1;
  for (const Mutant& mutant : AllMutants()) {
    char id[16];
    std::snprintf(id, sizeof id, "HM%02d", number++);
    EXPECT_STREQ(mutant.id, id) << "ids have no gaps";
    ++of_trap[mutant.trap];
    EXPECT_TRUE(descriptions.insert(mutant.description).second) << mutant.description;
  }
  EXPECT_GE(number, 31);
  for (int trap = 1; trap <= 10; ++trap) EXPECT_GE(of_trap[trap], 3) << "trap " << trap;
  EXPECT_EQ(of_trap.size(), 10u);
}

TEST(SelfTest, EveryBrokenHalIsFound) {
  RunRequest request;
  request.load.builtins = hal::BuiltinPorts();
  const absl::StatusOr<RunResult> run = SelfTest(request);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->Summarise().failed, 0u) << ToText(*run, false);
  EXPECT_GT(run->Summarise().passed, 30u);
  for (const CaseResult& one : run->cases) {
    for (const auto& [name, value] : one.facts) {
      if (name != "case") continue;
      EXPECT_EQ(value.find("HM"), std::string::npos) << value;
    }
  }
}

}  // namespace
}  // namespace halyard::conformance
