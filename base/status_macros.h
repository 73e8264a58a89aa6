// SPDX-License-Identifier: Apache-2.0
//
// Early return on a status. Debian 12's Abseil has no such macros.
#ifndef HALYARD_BASE_STATUS_MACROS_H_
#define HALYARD_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define HY_CONCAT_INNER_(a, b) a##b
#define HY_CONCAT_(a, b) HY_CONCAT_INNER_(a, b)

/// Returns the status of `expression` from this function unless it is OK.
#define HY_RETURN_IF_ERROR(expression)       \
  do {                                       \
    absl::Status hy_status_ = (expression);  \
    if (!hy_status_.ok()) return hy_status_; \
  } while (false)

/// Assigns the value of a StatusOr to `target` (which may be a declaration) or returns its status.
#define HY_ASSIGN_OR_RETURN(target, expression) \
  HY_ASSIGN_OR_RETURN_IMPL_(HY_CONCAT_(hy_or_, __LINE__), target, expression)
#define HY_ASSIGN_OR_RETURN_IMPL_(temporary, target, expression) \
  auto temporary = (expression);                                 \
  if (!temporary.ok()) return std::move(temporary).status();     \
  target = *std::move(temporary)

#endif  // HALYARD_BASE_STATUS_MACROS_H_
