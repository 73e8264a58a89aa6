// SPDX-License-Identifier: Apache-2.0
//
// Conformance results as documents.
#ifndef HALYARD_CONFORMANCE_REPORT_REPORT_H_
#define HALYARD_CONFORMANCE_REPORT_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "conformance/result.h"
#include "nlohmann/json.hpp"

namespace halyard::conformance {

/// {"schema": "halyard-conformance/1", "summary": {passed, failed, weak, skipped, waived},
///  "cases": [{id, verdict, reason, ...}], ...}
nlohmann::json ToJson(const RunResult& result);

/// Reads what ToJson wrote. Errors: INVALID_ARGUMENT, with the member that is wrong.
absl::StatusOr<RunResult> FromJson(absl::string_view text);

/// One case as a line of JSON, and back: what a child process sends.
std::string CaseToJsonLine(const CaseResult& one);
absl::StatusOr<CaseResult> CaseFromJsonLine(absl::string_view line);

/// JUnit XML: a suite for each area of duties, a case for each id; the replay line is in a failure.
std::string ToJUnit(const RunResult& result);

/// A part of a page: heading, badge, table of areas, failures first with replay lines, then all
/// duties folded. No scripts are needed to read it. Used by `certify` and by --html.
std::string ToHtmlSection(const RunResult& result);

/// For the console: failures, skips with reasons, the summary line.
std::string ToText(const RunResult& result, bool verbose);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_REPORT_REPORT_H_
