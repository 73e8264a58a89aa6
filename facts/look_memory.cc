// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "facts/findings.h"

namespace halyard::facts {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

void LookAtPools(const hal::Topology& topology, std::vector<Finding>* findings) {
  uint64_t reserved_bytes = 0;
  for (const hy_page_pool& pool : topology.page_pools) {
    if (pool.node_id != HY_ID_NONE) continue;
    reserved_bytes += pool.total * pool.page_bytes;
    if (pool.total == 0) continue;
    findings->push_back({"memory.pool", Severity::kInfo,
                         absl::StrCat(pool.free, " of ", pool.total, " huge pages of ",
                                      pool.page_bytes / 1024, " KiB are free"),
                         ""});
  }
  if (reserved_bytes == 0) {
    findings->push_back({"memory.pool", Severity::kInfo, "no huge pages are reserved",
                         "For models of several GiB: write a number to vm.nr_hugepages, then "
                         "measure whether it pays here"});
  }
}

void LookAtPolicies(const hal::SystemView& view, const hal::Topology& topology,
                    std::vector<Finding>* findings) {
  if (const auto thp = view.Read("sys/kernel/mm/transparent_hugepage/enabled")) {
    const bool never = absl::StrContains(*thp, "[never]");
    findings->push_back({"memory.thp", never ? Severity::kWarning : Severity::kInfo,
                         absl::StrCat("transparent huge pages: ", *thp),
                         never ? "Allow them where asked for: echo madvise > "
                                 "/sys/kernel/mm/transparent_hugepage/enabled"
                               : ""});
  }
  const auto balancing = view.Read("proc/sys/kernel/numa_balancing");
  if (balancing && *balancing != "0" && topology.nodes.size() > 1) {
    findings->push_back({"memory.numa_balancing", Severity::kWarning,
                         "automatic NUMA balancing is on: the kernel moves placed pages",
                         "echo 0 > /proc/sys/kernel/numa_balancing while Halyard runs"});
  }
}

void LookAtNodes(const hal::Topology& topology, std::vector<Finding>* findings) {
  for (const hy_node& node : topology.nodes) {
    if ((node.flags & HY_NODE_HAS_MEMORY) == 0) {
      findings->push_back({"memory.node_empty", Severity::kWarning,
                           absl::StrCat("node ", node.os_id, " has CPUs and no memory"),
                           "Every access from there is remote: fill its channels, or keep workers "
                           "off it"});
    } else if (node.bytes_total != 0 && node.bytes_free * 20 < node.bytes_total) {
      findings->push_back({"memory.node_full", Severity::kWarning,
                           absl::StrCat("node ", node.os_id, " has ", node.bytes_free / kMiB,
                                        " MiB free of ", node.bytes_total / kMiB),
                           "Allocations will spill to other nodes: free memory first"});
    }
  }
}

/// Asks for memory and looks at what came: a policy that is accepted and ignored shows here.
void LookAtPlacement(const Machine& machine, std::vector<Finding>* findings) {
  const hal::Device& device = *machine.device;
  hal::AllocRequest request;
  request.bytes = 8 * kMiB;
  request.flags = HY_ALLOC_PREFAULT;
  request.pages = {HY_PAGE_TRANSPARENT, HY_PAGE_BASE};
  const absl::StatusOr<hal::Buffer> buffer = device.Allocate(request);
  if (!buffer.ok()) {
    findings->push_back({"memory.alloc", Severity::kError,
                         absl::StrCat("8 MiB cannot be allocated: ", buffer.status().message()),
                         "Raise the memory limit of the cgroup or ulimit -v"});
    return;
  }
  const absl::StatusOr<hal::Placement> placement = buffer->QueryPlacement();
  if (!placement.ok() || (placement->known & HY_KNOWN_PAGES) == 0) {
    findings->push_back({"memory.readback", Severity::kInfo,
                         "the system does not tell where pages lie",
                         "Placement cannot be proven here (an emulator, or a simulated device)"});
    return;
  }
  findings->push_back({"memory.readback", Severity::kInfo,
                       absl::StrCat(placement->huge_bytes / kMiB, " of 8 MiB came in huge pages"),
                       placement->huge_bytes == 0
                           ? "Transparent huge pages were asked for and not given"
                           : ""});
}

}  // namespace

std::vector<Finding> LookAtMemory(const Machine& machine) {
  std::vector<Finding> findings;
  LookAtPools(*machine.topology, &findings);
  LookAtPolicies(*machine.view, *machine.topology, &findings);
  LookAtNodes(*machine.topology, &findings);
  LookAtPlacement(machine, &findings);
  return findings;
}

}  // namespace halyard::facts
