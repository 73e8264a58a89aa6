// SPDX-License-Identifier: Apache-2.0
#include "hal/layers/verbs.h"

namespace halyard::hal {
namespace {

constexpr uint32_t Bit(hy_status status) { return uint32_t{1} << status; }

constexpr uint32_t kInvalid = Bit(HY_INVALID_ARGUMENT);
constexpr uint32_t kRange = Bit(HY_OUT_OF_RANGE);
constexpr uint32_t kNone = Bit(HY_UNIMPLEMENTED);
constexpr uint32_t kMemory = Bit(HY_RESOURCE_EXHAUSTED);
constexpr uint32_t kLost = Bit(HY_DATA_LOSS);
constexpr uint32_t kDenied = Bit(HY_PERMISSION_DENIED);
constexpr uint32_t kAbsent = Bit(HY_NOT_FOUND);
constexpr uint32_t kState = Bit(HY_FAILED_PRECONDITION);
constexpr uint32_t kAll = (uint32_t{1} << HY_STATUS_COUNT) - 1;

struct Rules {
  const char* name;
  uint32_t documented;  // the Errors line of hal.h
  uint32_t general;     // what [HAL-ERR-01], [HAL-ERR-04] and [HAL-ABI-03] add
};

constexpr Rules kRules[kVerbCount] = {
    {"enumerate", kRange, kInvalid | kMemory},
    {"open",
     kAbsent | Bit(HY_ALREADY_EXISTS) | kInvalid | Bit(HY_UNAVAILABLE) | kDenied | kMemory | kLost |
         kNone,
     0},
    {"query", kNone | kRange | kInvalid, kMemory},
    {"topology", kRange | kNone | kInvalid, kMemory},
    {"alloc", kInvalid | kMemory | kNone | kDenied | kAbsent | kLost, 0},
    {"import_host", kNone | kInvalid | kMemory | kLost, 0},
    {"map", kRange | kInvalid | kMemory | kNone | kDenied | kLost, 0},
    {"unmap", kInvalid | kLost, kNone},
    {"sync_range", kRange | kInvalid | kLost, 0},
    {"team_create", kRange | kAbsent | kMemory | kInvalid | kNone, 0},
    {"team_run", kState | kInvalid, kMemory},
    {"team_readback", kRange | kInvalid | kNone, kMemory},
    {"worker_bind", kAbsent | kDenied | kInvalid | kNone, kMemory},
    {"queue_create", kMemory | kInvalid, kNone},
    // A queue of tier 0 passes on what a HOST_CALL returned, a wait the failure of its fence.
    {"submit", kInvalid | kRange | kNone | kMemory | kLost, kAll},
    {"fence_create", kMemory, kInvalid},
    {"fence_wait", Bit(HY_DEADLINE_EXCEEDED) | kInvalid, kAll},
    {"fence_signal", kInvalid | kState, 0},
    {"timestamp", kLost, kInvalid},
    {"release", kInvalid, 0},
};

bool Holds(uint32_t set, hy_status status) {
  return status >= 0 && status < HY_STATUS_COUNT && (set & Bit(status)) != 0;
}

}  // namespace

const char* VerbName(Verb verb) { return kRules[static_cast<uint32_t>(verb)].name; }

bool IsDocumented(Verb verb, hy_status status) {
  return Holds(kRules[static_cast<uint32_t>(verb)].documented, status);
}

bool MayReturn(Verb verb, hy_status status) {
  const Rules& rules = kRules[static_cast<uint32_t>(verb)];
  return status == HY_OK || Holds(rules.documented | rules.general, status);
}

}  // namespace halyard::hal
