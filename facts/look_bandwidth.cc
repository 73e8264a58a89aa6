// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "facts/findings.h"
#include "facts/shape.h"
#include "hal/topology_draw.h"

namespace halyard::facts {
namespace {

/// Two cores of one machine should give at least this much more than one, or something is shared
/// that should not be; below it the machine is busy or throttled.
constexpr double kLeastScaling = 1.05;
constexpr double kMostSpread = 0.25;
/// Nodes of one machine with as many workers each should not differ by more.
constexpr double kLeastNodeShare = 0.7;

/// The row with most threads of those that are not of one node; nullptr if there is none.
const BandwidthRow* Largest(const std::vector<BandwidthRow>& rows) {
  const BandwidthRow* largest = nullptr;
  for (const BandwidthRow& row : rows) {
    if (row.work == "read" && row.node_id == HY_ID_NONE &&
        (largest == nullptr || row.threads > largest->threads)) {
      largest = &row;
    }
  }
  return largest;
}

/// Why a row says nothing about whole sockets; empty if it does.
std::string WhyNotWhole(const Machine& machine, const BandwidthRow& row, const Shape& shape) {
  const uint64_t limits = machine.topology->limits;
  if ((limits & HY_LIMIT_QUOTA) != 0) return "a CPU quota holds this process";
  if ((limits & (HY_LIMIT_AFFINITY | HY_LIMIT_CPUSET)) != 0) {
    return "this process may not use all CPUs";
  }
  if ((limits & HY_LIMIT_ONLINE) != 0) return "some CPUs are offline";
  if (row.threads < shape.cores) {
    return absl::StrCat(row.threads, " of ", hal::FormatCount(shape.cores, "core"), " were used");
  }
  const std::optional<uint32_t> cores = CoresPerSocket(*machine.sheet);
  if (machine.marks.is_virtual && (!cores || shape.cores_per_socket < *cores)) {
    return "a virtual machine may have a part of a socket";
  }
  return "";
}

Finding AgainstSheet(const Machine& machine, const BandwidthRow& row, const SheetMemory& memory) {
  const Shape shape = CountShape(machine.whole != nullptr ? *machine.whole : *machine.topology);
  const double roof = *memory.theoretical_gb_per_s * shape.sockets;
  const std::string seen = absl::StrFormat(
      "%s read %.1f GB/s", hal::FormatCount(row.threads, "thread"), row.median_gb_per_s);
  const std::string why = WhyNotWhole(machine, row, shape);
  if (!why.empty()) {
    return {"bandwidth.sheet", Severity::kInfo,
            absl::StrFormat("%s; not compared with the %.1f GB/s of %s: %s", seen, roof,
                            memory.name, why),
            ""};
  }
  const double share = row.median_gb_per_s / roof;
  const bool ok = share >= machine.sheet->min_ok_share;
  return {
      "bandwidth.sheet", ok ? Severity::kInfo : Severity::kWarning,
      absl::StrFormat("%s: %.0f %% of the %.1f GB/s of %s", seen, share * 100, roof, memory.name),
      ok ? ""
         : absl::StrFormat("A healthy one reaches %.0f %%: is every memory channel filled, the "
                           "DIMMs at full speed, other work ended?",
                           machine.sheet->min_ok_share * 100)};
}

void LookAtSpread(const std::vector<BandwidthRow>& rows, std::vector<Finding>* findings) {
  const BandwidthRow* worst = nullptr;
  double most = kMostSpread;
  for (const BandwidthRow& row : rows) {
    if (row.median_gb_per_s <= 0) continue;
    const double spread = (row.max_gb_per_s - row.min_gb_per_s) / row.median_gb_per_s;
    if (spread > most) {
      most = spread;
      worst = &row;
    }
  }
  if (worst == nullptr) return;
  findings->push_back({"bandwidth.noise", Severity::kWarning,
                       absl::StrFormat("%s with %s moved between %.1f and %.1f GB/s", worst->work,
                                       hal::FormatCount(worst->threads, "thread"),
                                       worst->min_gb_per_s, worst->max_gb_per_s),
                       "Other work shares this machine, or its clock moves: see the lines on both, "
                       "then repeat with more --runs"});
}

void LookAtScaling(const std::vector<BandwidthRow>& rows, const BandwidthRow& all,
                   std::vector<Finding>* findings) {
  for (const BandwidthRow& row : rows) {
    if (row.work != "read" || row.threads != 1 || row.node_id != HY_ID_NONE) continue;
    if (all.threads > 1 && all.median_gb_per_s < kLeastScaling * row.median_gb_per_s) {
      findings->push_back({"bandwidth.scaling", Severity::kInfo,
                           absl::StrCat(all.threads, " threads read no faster than one"),
                           "One core fills the memory channels, or the CPUs share a core"});
    }
    return;
  }
}

uint32_t KindOfNode(const Machine& machine, uint32_t node_id) {
  const hy_node* const node = machine.topology->FindNode(node_id);
  return node == nullptr ? 0 : node->kind;
}

/// The slowest node against the fastest one of its kind, with as many workers.
void LookAtNodes(const Machine& machine, const std::vector<BandwidthRow>& rows,
                 std::vector<Finding>* findings) {
  for (const BandwidthRow& slow : rows) {
    if (slow.work != "read" || slow.node_id == HY_ID_NONE) continue;
    for (const BandwidthRow& fast : rows) {
      const bool alike = fast.work == slow.work && fast.node_id != HY_ID_NONE &&
                         fast.threads == slow.threads &&
                         KindOfNode(machine, fast.node_id) == KindOfNode(machine, slow.node_id);
      if (!alike || slow.median_gb_per_s >= kLeastNodeShare * fast.median_gb_per_s) continue;
      findings->push_back(
          {"bandwidth.node", Severity::kWarning,
           absl::StrFormat("node %u reads %.1f GB/s, node %u %.1f", slow.node_id,
                           slow.median_gb_per_s, fast.node_id, fast.median_gb_per_s),
           "Are its memory channels filled like those of the other? Is other work "
           "bound there?"});
      break;
    }
  }
}

}  // namespace

std::vector<Finding> LookAtBandwidth(const Machine& machine,
                                     const std::vector<BandwidthRow>& rows) {
  std::vector<Finding> findings;
  const BandwidthRow* const all = Largest(rows);
  if (all == nullptr) return findings;
  LookAtSpread(rows, &findings);
  LookAtScaling(rows, *all, &findings);
  LookAtNodes(machine, rows, &findings);
  const SheetMemory* const memory =
      machine.sheet == nullptr ? nullptr : FittingMemory(*machine.sheet, machine.marks);
  if (memory != nullptr && memory->theoretical_gb_per_s) {
    findings.push_back(AgainstSheet(machine, *all, *memory));
  } else {
    findings.push_back(
        {"bandwidth.sheet", Severity::kInfo,
         absl::StrFormat("%s read %.1f GB/s; no chip sheet has a figure to compare "
                         "with",
                         hal::FormatCount(all->threads, "thread"), all->median_gb_per_s),
         ""});
  }
  return findings;
}

}  // namespace halyard::facts
