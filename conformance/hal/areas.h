// SPDX-License-Identifier: Apache-2.0
//
// The tables of duty tests, one an area; duties.cc puts them together.
#ifndef HALYARD_CONFORMANCE_HAL_AREAS_H_
#define HALYARD_CONFORMANCE_HAL_AREAS_H_

#include "conformance/hal/duty.h"

namespace halyard::conformance {

DutyTable AbiDuties();
DutyTable AbiSizeDuties();
DutyTable NullDuties();
DutyTable ErrorDuties();
DutyTable DisciplineDuties();
DutyTable DeviceDuties();
DutyTable QueryDuties();
DutyTable TopologyDuties();
DutyTable MemoryDuties();
DutyTable ImportDuties();
DutyTable MapDuties();
DutyTable SyncDuties();
DutyTable TeamDuties();
DutyTable BindDuties();
DutyTable QueueDuties();
DutyTable FenceDuties();
DutyTable TimeDuties();
DutyTable ReleaseDuties();

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_HAL_AREAS_H_
