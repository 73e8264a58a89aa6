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

/// {"schema": "halyard-conformance/1", "summary": {passed, failed, weak, skipped, waived, fallback,
///  holds}, "cases": [{id, verdict, reason, ...}], ...} and, of level L1, "coverage": what its cases say
/// together, derived and not read back:
///   {"edges": {"X01": "row lengths around vector widths", ...},
///    "unshown": ["KERNEL on TYPES: 5 weak", ...],
///    "mutants": {"killed": "25/25", "reserve": "10/10"},
///    "kernels": [{"op", "types", "kernel",
///                 "passed", "failed", "weak", "waived", "skipped", "telling", "exact",
///                 "edges": {"X01": [passed, failed, weak, waived], ...},
///                 "worst": {"err_T", "ulp", "id", "replay"}}, ...]}
nlohmann::json ToJson(const RunResult& result);

/// Reads what ToJson wrote. Errors: INVALID_ARGUMENT, with the member that is wrong.
absl::StatusOr<RunResult> FromJson(absl::string_view text);

/// One case as a line of JSON, and back: what a child process sends.
std::string CaseToJsonLine(const CaseResult& one);
absl::StatusOr<CaseResult> CaseFromJsonLine(absl::string_view line);

/// JUnit XML: a suite for each area of duties, a case for each id; the replay line is in a failure.
std::string ToJUnit(const RunResult& result);

/// A part of a page: heading, badge, failures first with replay lines. Then of L0 the table of areas
/// and all duties folded; of L1 what nothing is shown of, the matrix of types and edges of each op, the
/// kernels folded with their worst cases. No scripts are needed to read it. Used by `certify` and by --html.
std::string ToHtmlSection(const RunResult& result);

/// For the console: failures, reasons of weak and skipped cases, the summary line.
std::string ToText(const RunResult& result, bool verbose);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_REPORT_REPORT_H_
