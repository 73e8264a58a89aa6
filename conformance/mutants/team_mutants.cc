// SPDX-License-Identifier: Apache-2.0
//
// Trap 4: teams whose workers are not what they seem.
#include "conformance/mutants/broken_team.h"
#include "conformance/mutants/mutants.h"

namespace halyard::conformance {
namespace {

using mutants::TeamFault;

template <TeamFault fault>
void Break(hy_hal_api* table) {
  mutants::UseBrokenTeam(fault, table);
}

}  // namespace

MutantTable TeamMutants() {
  static constexpr Mutant kMutants[] = {
      {"HM17", 4, "team_run hands the workers to a pool that is smaller than the team", "linux",
       "HAL-TEAM-*", &Break<TeamFault::kArena>},
      {"HM18", 4, "team_run starts a worker when the one before has ended", "linux", "HAL-TEAM-*",
       &Break<TeamFault::kLazy>},
      {"HM19", 4, "workers get the id of their unit for an index", "linux", "HAL-TEAM-*",
       &Break<TeamFault::kIndexIsUnit>},
      {"HM20", 4, "a run inside a run of the same team is done in place", "linux", "HAL-TEAM-*",
       &Break<TeamFault::kNestedRuns>},
      {"HM21", 4, "team_create takes more workers than the budget without the flag", "linux",
       "HAL-TEAM-*", &Break<TeamFault::kNoBudget>},
      {"HM22", 4, "team_readback reports what was asked for", "linux", "HAL-TEAM-*",
       &Break<TeamFault::kEchoReadback>},
      {"HM23", 4, "every so often the last worker misses a run", "linux", "HAL-TEAM-*",
       &Break<TeamFault::kSkipsOneRun>},
  };
  return kMutants;
}

}  // namespace halyard::conformance
