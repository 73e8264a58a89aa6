// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CONFORMANCE_REPORT_COVERAGE_JSON_H_
#define HALYARD_CONFORMANCE_REPORT_COVERAGE_JSON_H_

#include "conformance/result.h"
#include "nlohmann/json.hpp"

namespace halyard::conformance {

/// The member "coverage" of a document of level L1: see report.h.
nlohmann::json CoverageToJson(const RunResult& result);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_REPORT_COVERAGE_JSON_H_
