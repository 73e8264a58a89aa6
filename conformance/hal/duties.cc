// SPDX-License-Identifier: Apache-2.0
#include "conformance/hal/areas.h"

namespace halyard::conformance {

std::vector<DutyTest> AllDutyTests() {
  std::vector<DutyTest> all;
  // In the order of hal.h.
  for (const DutyTable table :
       {AbiDuties(), AbiSizeDuties(), NullDuties(), ErrorDuties(), DisciplineDuties(),
        DeviceDuties(), QueryDuties(), TopologyDuties(), MemoryDuties(), ImportDuties(),
        MapDuties(), SyncDuties(), TeamDuties(), BindDuties(), QueueDuties(), FenceDuties(),
        TimeDuties(), ReleaseDuties()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

}  // namespace halyard::conformance
