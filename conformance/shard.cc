// SPDX-License-Identifier: Apache-2.0
#include "conformance/shard.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "conformance/golden/golden_facts.h"
#include "conformance/report/waivers_json.h"
#include "conformance/runner.h"

namespace halyard::conformance {
namespace {

// Facts on which the shards of one run agree; others, such as times, may differ.
constexpr const char* kCommonFacts[] = {kCaseCountFact, kCaseDigestFact, kScopeFact, "machine",
                                        "kernel",       "arch",          "compiler", "emulated",
                                        "tier",         kGoldenFact};

absl::Status CheckAgree(const RunResult& first, const RunResult& other) {
  const auto differ = [&](absl::string_view what, absl::string_view a, absl::string_view b) {
    return absl::InvalidArgumentError(absl::StrCat("shards ", first.shard, " and ", other.shard,
                                                   " differ in ", what, ": '", a, "' and '", b,
                                                   "'; merge only shards of one run"));
  };
  if (first.level != other.level) return differ("level", first.level, other.level);
  if (first.port != other.port) return differ("port", first.port, other.port);
  if (first.port_version != other.port_version) {
    return differ("port version", first.port_version, other.port_version);
  }
  if (first.device != other.device) return differ("device", first.device, other.device);
  if (first.shards != other.shards) {
    return differ("shard count", absl::StrCat(first.shards), absl::StrCat(other.shards));
  }
  if (WaiversToJson(first.waivers) != WaiversToJson(other.waivers)) {
    return differ("waivers", absl::StrCat(first.waivers.size()),
                  absl::StrCat(other.waivers.size()));
  }
  for (const char* fact : kCommonFacts) {
    if (first.Fact(fact) != other.Fact(fact)) {
      return differ(fact, first.Fact(fact), other.Fact(fact));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckComplete(const RunResult& merged) {
  std::vector<std::string> ids;
  std::set<std::string> seen;
  for (const CaseResult& one : merged.cases) {
    if (one.duty == "selftest") continue;  // of each shard, and of no list
    if (!seen.insert(one.id).second) {
      return absl::InvalidArgumentError(absl::StrCat("case is there twice: ", one.id));
    }
    ids.push_back(one.id);
  }
  const std::string count = merged.Fact(kCaseCountFact);
  if (count != absl::StrCat(ids.size())) {
    return absl::InvalidArgumentError(absl::StrCat("the run has ", count,
                                                   " cases, the shards have ", ids.size(),
                                                   ": a shard is missing or was cut"));
  }
  if (merged.Fact(kCaseDigestFact) != ListDigest(ids)) {
    return absl::InvalidArgumentError("the shards do not hold the cases of the run's list");
  }
  return absl::OkStatus();
}

}  // namespace

uint64_t Digest(absl::string_view text) {
  uint64_t digest = UINT64_C(0xcbf29ce484222325);
  for (const char c : text) {
    digest = (digest ^ static_cast<unsigned char>(c)) * UINT64_C(0x100000001b3);
  }
  digest = (digest ^ (digest >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  digest = (digest ^ (digest >> 27)) * UINT64_C(0x94d049bb133111eb);
  return digest ^ (digest >> 31);
}

uint32_t ShardOf(absl::string_view id, uint32_t shards) {
  return static_cast<uint32_t>(Digest(id) % shards) + 1;
}

std::string ListDigest(const std::vector<std::string>& ids) {
  uint64_t digest = 0;
  for (const std::string& id : ids) digest += Digest(id);
  return absl::StrFormat("%016x", digest);
}

absl::StatusOr<RunResult> MergeShards(const std::vector<RunResult>& shards) {
  if (shards.empty()) return absl::InvalidArgumentError("no shards to merge");
  RunResult merged = shards.front();
  merged.cases.clear();
  merged.seconds = 0;
  merged.shard = 1;
  merged.shards = 1;
  for (const RunResult& shard : shards) {
    absl::Status agree = CheckAgree(shards.front(), shard);
    if (!agree.ok()) return agree;
    merged.seconds += shard.seconds;
    merged.started_utc = std::min(merged.started_utc, shard.started_utc);
    merged.cases.insert(merged.cases.end(), shard.cases.begin(), shard.cases.end());
  }
  std::stable_sort(merged.cases.begin(), merged.cases.end(),
                   [](const CaseResult& a, const CaseResult& b) { return a.id < b.id; });
  absl::Status complete = CheckComplete(merged);
  if (!complete.ok()) return complete;
  CountGoldenCases(&merged);
  return merged;
}

}  // namespace halyard::conformance
