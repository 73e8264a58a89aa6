// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CONFORMANCE_REPORT_WAIVERS_JSON_H_
#define HALYARD_CONFORMANCE_REPORT_WAIVERS_JSON_H_

#include <vector>

#include "absl/status/statusor.h"
#include "conformance/waiver.h"
#include "nlohmann/json.hpp"

namespace halyard::conformance {

/// The member "waivers" of a document: the keys of the file, see waivers.h.
nlohmann::json WaiversToJson(const std::vector<Waiver>& waivers);
/// Errors   INVALID_ARGUMENT: a member is missing or of another type.
absl::StatusOr<std::vector<Waiver>> WaiversFromJson(const nlohmann::json& document);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_REPORT_WAIVERS_JSON_H_
