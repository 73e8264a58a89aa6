// SPDX-License-Identifier: Apache-2.0
//
// What the parts of a page share. Classes are those of the program's style sheet.
#ifndef HALYARD_CONFORMANCE_REPORT_HTML_PARTS_H_
#define HALYARD_CONFORMANCE_REPORT_HTML_PARTS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "conformance/result.h"

namespace halyard::conformance {

std::string HtmlBadge(absl::string_view css_class, absl::string_view text);
std::string VerdictBadge(Verdict verdict);

/// Level L1: what the areas and the list of cases are for L0. What nothing is shown of, the ops as a
/// matrix of types and edges each, kernels with their worst cases, reasons of weak and skipped cases.
std::string OpsHtml(const RunResult& result);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_REPORT_HTML_PARTS_H_
