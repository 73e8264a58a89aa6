// SPDX-License-Identifier: Apache-2.0
//
// The 20 verbs as values, and which statuses hal.h documents for each.
#ifndef HALYARD_HAL_LAYERS_VERBS_H_
#define HALYARD_HAL_LAYERS_VERBS_H_

#include <cstdint>

#include "halyard/hal.h"

namespace halyard::hal {

/// In the order of the table.
enum class Verb : uint32_t {
  kEnumerate,
  kOpen,
  kQuery,
  kTopology,
  kAlloc,
  kImportHost,
  kMap,
  kUnmap,
  kSyncRange,
  kTeamCreate,
  kTeamRun,
  kTeamReadback,
  kWorkerBind,
  kQueueCreate,
  kSubmit,
  kFenceCreate,
  kFenceWait,
  kFenceSignal,
  kTimestamp,
  kRelease,
};
inline constexpr uint32_t kVerbCount = 20;

/// As the slot is called: "import_host".
const char* VerbName(Verb verb);

/// True if hal.h lists `status` among the errors of the verb itself.
bool IsDocumented(Verb verb, hy_status status);

/// True for what the verb may return by [HAL-ERR-02]: OK, what is documented for it, what the rules
/// for all verbs add (a NULL, no host memory, a newer struct), and a failure that it passes on.
bool MayReturn(Verb verb, hy_status status);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_LAYERS_VERBS_H_
