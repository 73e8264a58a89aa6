// SPDX-License-Identifier: Apache-2.0
#include "base/c_status.h"

#include "absl/strings/str_cat.h"

namespace halyard {

static_assert(HY_UNIMPLEMENTED == static_cast<int>(absl::StatusCode::kUnimplemented));
static_assert(HY_DATA_LOSS == static_cast<int>(absl::StatusCode::kDataLoss));
static_assert(HY_UNAUTHENTICATED == static_cast<int>(absl::StatusCode::kUnauthenticated));

absl::Status ToStatus(hy_status status, absl::string_view message) {
  if (status == HY_OK) return absl::OkStatus();
  if (status < 0 || status >= HY_STATUS_COUNT) {
    return absl::InternalError(
        absl::StrCat("returned ", status, ", which is no status: ", message));
  }
  return absl::Status(static_cast<absl::StatusCode>(status), message);
}

absl::Status WithContext(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(context, ": ", status.message()));
}

}  // namespace halyard
