// SPDX-License-Identifier: Apache-2.0
//
// Digests of case ids: they deal the cases to shards and seed the cases' random numbers.
#ifndef HALYARD_CONFORMANCE_SHARD_H_
#define HALYARD_CONFORMANCE_SHARD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "conformance/result.h"

namespace halyard::conformance {

/// 64 bits of a text; the same on every machine and in every version.
/// Source   FNV-1a, with the finaliser of SplitMix64 for the low bits that a modulus looks at.
uint64_t Digest(absl::string_view text);

/// 1..shards.
uint32_t ShardOf(absl::string_view id, uint32_t shards);

/// Digest of a list of ids, whatever its order: shards of one run agree on it.
std::string ListDigest(const std::vector<std::string>& ids);

/// Facts of a RunResult that hold the length and the digest of the whole list, over all shards.
inline constexpr char kCaseCountFact[] = "case_list_count";
inline constexpr char kCaseDigestFact[] = "case_list_digest";

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_SHARD_H_
