// SPDX-License-Identifier: Apache-2.0
//
// A thread team that can be broken in one way: the good ports leave teams to the core.
#ifndef HALYARD_CONFORMANCE_MUTANTS_BROKEN_TEAM_H_
#define HALYARD_CONFORMANCE_MUTANTS_BROKEN_TEAM_H_

#include <cstdint>

#include "halyard/hal.h"

namespace halyard::conformance::mutants {

enum class TeamFault {
  kNone,
  kArena,         ///< a pool smaller than the team runs the workers one after another
  kLazy,          ///< a worker's thread starts when the one before has ended
  kIndexIsUnit,   ///< workers get the id of their unit for an index
  kNestedRuns,    ///< a run inside a run is done in place
  kNoBudget,      ///< takes any number of workers without the flag
  kEchoReadback,  ///< reports what was asked for
  kSkipsOneRun,   ///< every so often the last worker misses a run
};

/// Puts the team verbs, broken so, into a table.
void UseBrokenTeam(TeamFault fault, hy_hal_api* table);

}  // namespace halyard::conformance::mutants

#endif  // HALYARD_CONFORMANCE_MUTANTS_BROKEN_TEAM_H_
