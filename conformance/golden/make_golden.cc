// SPDX-License-Identifier: Apache-2.0
#include "conformance/golden/make_golden.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/status_macros.h"
#include "conformance/child_process.h"
#include "conformance/golden/golden_bytes.h"
#include "conformance/golden/golden_compare.h"
#include "conformance/golden/golden_facts.h"
#include "conformance/golden/golden_walk.h"
#include "conformance/ops/op_child.h"
#include "conformance/ops/run_ops.h"

namespace halyard::conformance {
namespace {

constexpr uint64_t kLookNs = 50'000'000;
// Lines of a part: a group is done, it is at its end, or why it is not. Results go by a file.
constexpr char kGroupLine[] = "G";
constexpr char kEndLine[] = "E";

/// Writes what a part found of a group to its file.
using GroupFn = std::function<absl::StatusOr<std::string>(const std::vector<GoldenArgs>& found)>;

/// One process that takes every n-th group.
struct Part {
  Child child;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), &std::fclose};
  uint32_t groups_done = 0;
  bool done = false;

  absl::Status Read() {
    bool timed_out = false;
    const uint64_t deadline_ns = MonotonicNs() + kLookNs;
    while (!done) {
      const std::optional<std::string> line = child.ReadLine(deadline_ns, &timed_out);
      if (timed_out) return absl::OkStatus();
      if (!line.has_value()) {
        const std::string end = DescribeEnd(child.Wait(MonotonicNs() + kLookNs, &timed_out));
        return absl::InternalError(absl::StrCat("a reference cannot be computed: ", end));
      }
      if (*line == kGroupLine) {
        ++groups_done;
      } else if (*line == kEndLine) {
        done = true;
      } else {
        return absl::InvalidArgumentError(*line);
      }
    }
    return absl::OkStatus();
  }

  std::string Contents() const {
    std::string bytes;
    std::rewind(file.get());
    char buffer[1 << 16];
    for (size_t got; (got = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;) {
      bytes.append(buffer, got);
    }
    return bytes;
  }
};

using Parts = std::vector<std::unique_ptr<Part>>;

// In a child.
absl::Status WalkPart(const RunRequest& request, const std::vector<GoldenGroup>& groups,
                      size_t part, const GroupFn& on_group, std::FILE* file, int pipe_fd) {
  CaseResult trouble;
  const UnderTest* const under_test = LoadedHere(request, &trouble);
  if (under_test == nullptr) return absl::InvalidArgumentError(trouble.reason);
  for (size_t i = part; i < groups.size(); i += request.ops.jobs) {
    HY_ASSIGN_OR_RETURN(const std::string bytes, on_group(WalkGroup(*under_test, groups[i])));
    if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size()) {
      return absl::InternalError("a temporary file cannot be written; is there room?");
    }
    WriteLine(pipe_fd, kGroupLine);
  }
  if (std::fflush(file) != 0) {
    return absl::InternalError("a temporary file cannot be written; is there room?");
  }
  return absl::OkStatus();
}

void Tell(const Parts& parts, size_t groups, uint64_t start_ns,
          const std::function<void(const Progress&)>& on_progress) {
  if (!on_progress) return;
  Progress all;
  all.total = static_cast<uint32_t>(groups);
  for (const std::unique_ptr<Part>& part : parts) all.done += part->groups_done;
  all.current = "references";
  all.seconds = static_cast<double>(MonotonicNs() - start_ns) * 1e-9;
  if (all.done != 0) all.seconds_left = all.seconds / all.done * (all.total - all.done);
  on_progress(all);
}

// What all parts wrote, one after the other.
absl::StatusOr<std::string> InParts(const RunRequest& request, const GroupFn& on_group,
                                    const std::function<void(const Progress&)>& on_progress) {
  HY_ASSIGN_OR_RETURN(const std::vector<ListedCase> plan, PlanOps(request));
  HY_ASSIGN_OR_RETURN(const std::vector<GoldenGroup> groups, GroupsOf(plan));
  const uint64_t start_ns = MonotonicNs();
  Parts parts;
  for (size_t i = 0; i < request.ops.jobs; ++i) {
    Part& part = *parts.emplace_back(std::make_unique<Part>());
    if (part.file == nullptr) return absl::InternalError("no temporary file can be made");
    HY_RETURN_IF_ERROR(part.child.Start([&](int fd, int) {
      const absl::Status status = WalkPart(request, groups, i, on_group, part.file.get(), fd);
      WriteLine(fd, status.ok() ? kEndLine : std::string(status.message()));
    }));
  }
  const auto all_done = [&] {
    return std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part->done; });
  };
  while (!all_done()) {
    for (const std::unique_ptr<Part>& part : parts) HY_RETURN_IF_ERROR(part->Read());
    Tell(parts, groups.size(), start_ns, on_progress);
  }
  std::string bytes;
  for (const std::unique_ptr<Part>& part : parts) bytes += part->Contents();
  return bytes;
}

std::string Record(const std::vector<GoldenArgs>& found) {
  std::string out;
  for (const GoldenArgs& one : found) {
    if (one.all.empty()) continue;
    const std::string entry = EncodeExpectations(one.all);
    const std::string compressed = CompressEntry(entry);
    out.append(one.key.begin(), one.key.end());
    PutInteger(entry.size(), 4, &out);
    PutInteger(compressed.size(), 4, &out);
    out += compressed;
  }
  return out;
}

// Two groups may come to the same args: one with the data that another asks for in addition.
absl::Status AddEntry(const GoldenKey& key, GoldenEntry entry, GoldenEntries* inout) {
  const auto at = inout->find(key);
  if (at == inout->end()) {
    inout->emplace(key, std::move(entry));
    return absl::OkStatus();
  }
  std::vector<GoldenExpectation> all;
  for (const GoldenEntry* one : {&at->second, &entry}) {
    HY_ASSIGN_OR_RETURN(const std::string bytes, DecompressEntry(one->compressed, one->size));
    HY_ASSIGN_OR_RETURN(std::vector<GoldenExpectation> some, DecodeExpectations(bytes));
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  SortExpectations(&all);
  const std::string bytes = EncodeExpectations(all);
  at->second = {static_cast<uint32_t>(bytes.size()), CompressEntry(bytes)};
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> MakeGolden(const RunRequest& request,
                                       const std::function<void(const Progress&)>& on_progress) {
  const auto on_group = [](const std::vector<GoldenArgs>& found) -> absl::StatusOr<std::string> {
    return Record(found);
  };
  HY_ASSIGN_OR_RETURN(const std::string records, InParts(request, on_group, on_progress));
  GoldenEntries entries;
  ByteReader reader(records);
  while (reader.ok() && !reader.at_end()) {
    GoldenKey key;
    const absl::string_view key_bytes = reader.Take(key.size());
    std::copy(key_bytes.begin(), key_bytes.end(), key.begin());
    GoldenEntry entry;
    entry.size = reader.Word();
    entry.compressed = std::string(reader.Take(reader.Word()));
    HY_RETURN_IF_ERROR(AddEntry(key, std::move(entry), &entries));
  }
  if (!reader.ok()) return absl::InternalError("what the references gave is cut; is there room?");
  return WriteGoldenPack(GoldenMetaHere(std::string(TierName(request.ops.tier))), entries);
}

absl::StatusOr<GoldenCheck> CheckGolden(const RunRequest& request,
                                        const std::function<void(const Progress&)>& on_progress) {
  const auto on_group = [&](const std::vector<GoldenArgs>& found) -> absl::StatusOr<std::string> {
    GoldenCheck check;
    for (const GoldenArgs& one : found) {
      HY_ASSIGN_OR_RETURN(const std::vector<GoldenExpectation> has,
                          request.ops.golden->Find(one.key));
      CompareExpectations(one, has, &check);
    }
    return GoldenCheckToText(check);
  };
  HY_ASSIGN_OR_RETURN(const std::string text, InParts(request, on_group, on_progress));
  return GoldenCheckFromText(text);
}

}  // namespace halyard::conformance
