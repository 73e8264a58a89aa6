// SPDX-License-Identifier: Apache-2.0
//
// Between hy_status of the C boundary and absl::Status inside.
#ifndef HALYARD_BASE_C_STATUS_H_
#define HALYARD_BASE_C_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "halyard/status.h"

namespace halyard {

/// The status of a C call with a message. A number that is no status becomes INTERNAL and says so.
absl::Status ToStatus(hy_status status, absl::string_view message);

/// The number for the C side. The message is dropped: report it first.
inline hy_status FromStatus(const absl::Status& status) {
  return static_cast<hy_status>(status.code());
}

/// The same status with `context` and ": " before its message.
absl::Status WithContext(const absl::Status& status, absl::string_view context);

}  // namespace halyard

#endif  // HALYARD_BASE_C_STATUS_H_
