// SPDX-License-Identifier: Apache-2.0
//
// What a run says of the golden pack that it was given.
#ifndef HALYARD_CONFORMANCE_GOLDEN_GOLDEN_FACTS_H_
#define HALYARD_CONFORMANCE_GOLDEN_GOLDEN_FACTS_H_

#include <string>

#include "conformance/golden/golden_pack.h"
#include "conformance/result.h"

namespace halyard::conformance {

/// Facts of a run: the pack's digest; who wrote it; how many cases were held against what it has, and
/// how many against what was computed; why what it has could differ from what would be computed.
inline constexpr char kGoldenFact[] = "golden_sha256";
inline constexpr char kGoldenByFact[] = "golden_written_by";
inline constexpr char kGoldenCasesFact[] = "golden_cases";
inline constexpr char kComputedCasesFact[] = "golden_computed_cases";
inline constexpr char kGoldenNoteFact[] = "golden_note";

/// What a pack says of who wrote it: suite, source, compiler, arch, and the tier of its cases.
GoldenMeta GoldenMetaHere(const std::string& tier);

/// Adds what is known before the run; nothing without a pack.
void AddGoldenFacts(const GoldenPack* pack, RunResult* run);
/// Counts cases by their kExpectedByFact; nothing in a run without a pack.
void CountGoldenCases(RunResult* run);
/// For people; empty for a run without a pack.
std::string GoldenText(const RunResult& run);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GOLDEN_GOLDEN_FACTS_H_
