// SPDX-License-Identifier: Apache-2.0
#include "facts/findings.h"

#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace halyard::facts {
namespace {

/// Two cores of one machine should give at least this much more than one, or something is shared
/// that should not be; below it the machine is busy or throttled.
constexpr double kLeastScaling = 1.05;
constexpr double kMostSpread = 0.25;

const BandwidthRow* Largest(const std::vector<BandwidthRow>& rows, absl::string_view work) {
  const BandwidthRow* largest = nullptr;
  for (const BandwidthRow& row : rows) {
    if (row.work == work && row.node_id == HY_ID_NONE &&
        (largest == nullptr || row.threads > largest->threads)) {
      largest = &row;
    }
  }
  return largest;
}

uint32_t Sockets(const hal::Topology& topology) {
  std::set<uint32_t> packages;
  for (const hy_pu& pu : topology.pus) packages.insert(pu.package_id);
  return packages.empty() ? 1 : static_cast<uint32_t>(packages.size());
}

Finding AgainstSheet(const Machine& machine, const BandwidthRow& row, double of_one_socket) {
  const double roof = of_one_socket * Sockets(*machine.topology);
  const double share = row.median_gb_per_s / roof;
  const bool ok = share >= machine.sheet->min_ok_share;
  return {"bandwidth.sheet", ok ? Severity::kInfo : Severity::kWarning,
          absl::StrFormat("%u threads read %.1f GB/s: %.0f %% of the %.1f GB/s of %s", row.threads,
                          row.median_gb_per_s, share * 100, roof, machine.sheet->name),
          ok ? ""
             : absl::StrFormat("At least %.0f %% is usual with all cores: are all cores allowed, "
                               "all memory channels filled, other work stopped?",
                               machine.sheet->min_ok_share * 100)};
}

}  // namespace

absl::string_view SeverityName(Severity severity) {
  static constexpr absl::string_view kNames[] = {"info", "warning", "error"};
  return kNames[static_cast<size_t>(severity)];
}

std::vector<Finding> LookAtBandwidth(const Machine& machine,
                                     const std::vector<BandwidthRow>& rows) {
  std::vector<Finding> findings;
  const BandwidthRow* const all = Largest(rows, "read");
  if (all == nullptr) return findings;
  for (const BandwidthRow& row : rows) {
    const double spread = (row.max_gb_per_s - row.min_gb_per_s) / row.median_gb_per_s;
    if (row.median_gb_per_s > 0 && spread > kMostSpread) {
      findings.push_back(
          {"bandwidth.noise", Severity::kWarning,
           absl::StrFormat("%s with %u threads ranged from %.1f to %.1f GB/s", row.work, row.threads,
                           row.min_gb_per_s, row.max_gb_per_s),
           "Other work shares this machine: stop it before measuring"});
      break;  // one line is enough; the table has all figures
    }
  }
  const BandwidthRow* one = nullptr;
  for (const BandwidthRow& row : rows) {
    if (row.work == "read" && row.threads == 1 && row.node_id == HY_ID_NONE) one = &row;
  }
  if (one != nullptr && all->threads > 1 &&
      all->median_gb_per_s < kLeastScaling * one->median_gb_per_s) {
    findings.push_back({"bandwidth.scaling", Severity::kInfo,
                        absl::StrFormat("%u threads read no faster than one", all->threads),
                        "One core fills the memory channels, or the units share a core"});
  }
  const SheetMemory* const memory =
      machine.sheet == nullptr ? nullptr : FittingMemory(*machine.sheet, machine.marks);
  if (memory != nullptr && memory->theoretical_gb_per_s) {
    findings.push_back(AgainstSheet(machine, *all, *memory->theoretical_gb_per_s));
  } else {
    findings.push_back({"bandwidth.sheet", Severity::kInfo,
                        absl::StrFormat("%u threads read %.1f GB/s; no sheet gives a figure to "
                                        "compare with",
                                        all->threads, all->median_gb_per_s),
                        ""});
  }
  return findings;
}

std::vector<Finding> LookAtAll(const Machine& machine) {
  std::vector<Finding> all;
  for (const auto look : {&LookAtIsa, &LookAtThreads, &LookAtClock, &LookAtMemory}) {
    std::vector<Finding> found = look(machine);
    all.insert(all.end(), std::make_move_iterator(found.begin()),
               std::make_move_iterator(found.end()));
  }
  return all;
}

}  // namespace halyard::facts
