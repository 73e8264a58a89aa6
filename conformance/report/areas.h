// SPDX-License-Identifier: Apache-2.0
//
// What the documents share: areas of duties, order of cases, replay lines, escaping.
#ifndef HALYARD_CONFORMANCE_REPORT_AREAS_H_
#define HALYARD_CONFORMANCE_REPORT_AREAS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "conformance/result.h"

namespace halyard::conformance {

/// Cases of one area ("MEM": memory), in the order of the run.
struct Area {
  std::string code;   ///< "MEM"
  std::string title;  ///< "Memory"
  std::vector<const CaseResult*> cases;
  Summary summary;
};

/// Areas in the order in which they first come.
std::vector<Area> AreasOf(const RunResult& result);

/// A reason, with the number of cases that give it and the first of them.
struct ReasonCount {
  std::string reason;
  uint32_t count = 0;
  const CaseResult* first = nullptr;
};

/// Reasons of the cases whose verdict is chosen, each once; of weak ones without the figure behind it.
std::vector<ReasonCount> ReasonsOf(const RunResult& result, bool (*chosen)(Verdict));

/// The command that runs one case again.
std::string ReplayLine(const RunResult& result, const CaseResult& one);

/// For XML and HTML text and attributes. Characters that XML does not have become '?'.
std::string EscapeMarkup(absl::string_view text);

/// "12 passed, 1 failed, 3 skipped": what is not zero, and always what passed and failed.
std::string SummaryText(const Summary& summary);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_REPORT_AREAS_H_
