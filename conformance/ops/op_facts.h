// SPDX-License-Identifier: Apache-2.0
//
// Facts that cases of level L1 carry, for reports and for the rules on whole runs.
#ifndef HALYARD_CONFORMANCE_OPS_OP_FACTS_H_
#define HALYARD_CONFORMANCE_OPS_OP_FACTS_H_

#include "absl/strings/string_view.h"
#include "conformance/ops/judge.h"
#include "conformance/result.h"

namespace halyard::conformance {

/// How a case was judged: "E" exact, "B" by bounds, "S" for safety alone, "P" by properties.
inline constexpr char kModeFact[] = "mode";
/// Why a case that passed is one of an edge alone, and shows nothing of values.
inline constexpr char kEdgeOnlyFact[] = "edge_only";
/// There if a case failed by finite numbers that are off, and by nothing else: what may be waived.
inline constexpr char kOffByNumbersFact[] = "off_by_numbers";
/// Largest error in units of its bound, and in units of the last place.
inline constexpr char kErrorFact[] = "err_T";
inline constexpr char kUlpFact[] = "ulp";

/// With a golden pack: "pack" if all that the case was held against came from it, else "computed".
inline constexpr char kExpectedByFact[] = "expected_by";
inline constexpr char kByPack[] = "pack";
inline constexpr char kComputed[] = "computed";

/// Adds what a judgement measured.
void AddValueFacts(const Judgement& judgement, CaseResult* out);

void AddExpectedBy(bool golden, CaseResult* out);

/// A fact of a case, as a number: 0 if it is not there; "inf" is one.
double FactNumber(const CaseResult& one, absl::string_view name);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_OP_FACTS_H_
