// SPDX-License-Identifier: Apache-2.0
//
// Status numbers shared by every C interface of Halyard. C11 and C++20.
#ifndef HALYARD_STATUS_H_
#define HALYARD_STATUS_H_

#include <stdint.h>

/// Result of a call that crosses the C boundary. The numbers equal those of `absl::StatusCode`, so
/// both sides translate by a cast. A message travels beside it through `hy_host_services::report`.
typedef int32_t hy_status;

enum {
  HY_OK = 0,
  HY_CANCELLED = 1,            ///< The caller asked for the work to stop.
  HY_UNKNOWN = 2,              ///< Never returned by Halyard; here to complete the numbering.
  HY_INVALID_ARGUMENT = 3,     ///< Wrong whatever the state of the system: fix the call.
  HY_DEADLINE_EXCEEDED = 4,    ///< The wait ended before its condition held.
  HY_NOT_FOUND = 5,            ///< No such device, unit or file.
  HY_ALREADY_EXISTS = 6,       ///< The device is open and cannot be opened twice.
  HY_PERMISSION_DENIED = 7,    ///< The operating system refused.
  HY_RESOURCE_EXHAUSTED = 8,   ///< Out of memory, pages, handles or slots; may work later.
  HY_FAILED_PRECONDITION = 9,  ///< Wrong in the present state: a busy object, a nested run.
  HY_ABORTED = 10,             ///< A concurrent change won.
  HY_OUT_OF_RANGE = 11,        ///< Beyond the end, or a buffer too short for the answer.
  HY_UNIMPLEMENTED = 12,       ///< Normal: the core's default or a fallback takes over.
  HY_INTERNAL = 13,            ///< A broken invariant of the callee.
  HY_UNAVAILABLE = 14,         ///< The device is absent; tests skip.
  HY_DATA_LOSS = 15,           ///< The device is lost. Sticky until it is opened anew.
  HY_UNAUTHENTICATED = 16,     ///< Never returned by Halyard; here to complete the numbering.
  HY_STATUS_COUNT = 17
};

/// Name of a status for messages, such as "OUT_OF_RANGE". Never NULL; static storage.
static inline const char* hy_status_name(hy_status status) {
  static const char* const names[HY_STATUS_COUNT] = {"OK",
                                                     "CANCELLED",
                                                     "UNKNOWN",
                                                     "INVALID_ARGUMENT",
                                                     "DEADLINE_EXCEEDED",
                                                     "NOT_FOUND",
                                                     "ALREADY_EXISTS",
                                                     "PERMISSION_DENIED",
                                                     "RESOURCE_EXHAUSTED",
                                                     "FAILED_PRECONDITION",
                                                     "ABORTED",
                                                     "OUT_OF_RANGE",
                                                     "UNIMPLEMENTED",
                                                     "INTERNAL",
                                                     "UNAVAILABLE",
                                                     "DATA_LOSS",
                                                     "UNAUTHENTICATED"};
  return (status >= 0 && status < HY_STATUS_COUNT) ? names[status] : "INVALID_STATUS";
}

#endif  // HALYARD_STATUS_H_
