// SPDX-License-Identifier: Apache-2.0
//
// Source   Linux Documentation/admin-guide/mm/{hugetlbpage,transhuge,numa_memory_policy}.rst.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/cpu_list.h"
#include "facts/findings.h"
#include "facts/memory_limits.h"
#include "hal/topology_draw.h"

namespace halyard::facts {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

void LookAtPools(const hal::Topology& topology, std::vector<Finding>* findings) {
  bool reserved = false;
  for (const hy_page_pool& pool : topology.page_pools) {
    if (pool.node_id != HY_ID_NONE || pool.total == 0) continue;
    reserved = true;
    findings->push_back({"memory.pool", Severity::kInfo,
                         absl::StrCat(pool.free, " of ", pool.total, " huge pages of ",
                                      hal::FormatBytes(pool.page_bytes), " are free"),
                         pool.free == 0 ? "All are taken: who holds them?" : ""});
  }
  if (!reserved) {
    findings->push_back({"memory.pool", Severity::kInfo, "no huge pages are reserved",
                         "For models of several GiB: set vm.nr_hugepages, then measure whether it "
                         "pays here"});
  }
}

void LookAtPolicies(const hal::SystemView& view, const hal::Topology& topology,
                    std::vector<Finding>* findings) {
  if (const auto thp = view.Read("sys/kernel/mm/transparent_hugepage/enabled")) {
    const bool never = absl::StrContains(*thp, "[never]");
    const bool always = absl::StrContains(*thp, "[always]");
    findings->push_back(
        {"memory.thp", never ? Severity::kWarning : Severity::kInfo,
         absl::StrCat("transparent huge pages are given ", never    ? "to nobody (never)"
                                                           : always ? "everywhere (always)"
                                                                    : "where asked for (madvise)"),
         never ? "Allow them where asked for, as root: echo madvise > "
                 "/sys/kernel/mm/transparent_hugepage/enabled"
               : ""});
  }
  const auto balancing = view.Read("proc/sys/kernel/numa_balancing");
  if (balancing && *balancing != "0" && topology.nodes.size() > 1) {
    findings->push_back({"memory.numa_balancing", Severity::kWarning,
                         "automatic NUMA balancing is on: the kernel moves placed pages",
                         "sysctl kernel.numa_balancing=0, as root, while Halyard runs"});
  }
}

/// A policy other than "only here" takes memory of other nodes before it drops caches of this one.
void LookAtSpill(const hal::SystemView& view, const hy_node& node, std::vector<Finding>* findings) {
  if (node.bytes_total == 0 || node.bytes_free >= node.bytes_total / 20) return;
  const std::string text =
      view.Read(absl::StrCat("sys/devices/system/node/node", node.os_id, "/meminfo")).value_or("");
  const uint64_t cached = MeminfoBytes(text, "FilePages").value_or(0);
  const bool by_caches = cached > node.bytes_total / 10;
  findings->push_back(
      {"memory.node_full", Severity::kWarning,
       absl::StrCat(
           "node ", node.os_id, " has ", hal::FormatBytes(node.bytes_free), " free of ",
           hal::FormatBytes(node.bytes_total),
           by_caches ? absl::StrCat("; caches of files hold ", hal::FormatBytes(cached)) : ""),
       absl::StrCat(
           "What is allocated there may land on another node: ",
           by_caches ? "sync; sysctl vm.drop_caches=1, as root" : "end what holds the memory")});
}

void LookAtNodes(const Machine& machine, std::vector<Finding>* findings) {
  const std::vector<hy_node>& nodes = machine.topology->nodes;
  std::vector<uint32_t> empty;
  for (const hy_node& node : nodes) {
    const bool memory = (node.flags & HY_NODE_HAS_MEMORY) != 0;
    if (!memory && (node.flags & HY_NODE_HAS_CPUS) != 0) empty.push_back(node.os_id);
    if (memory && nodes.size() > 1 && machine.view != nullptr) {
      LookAtSpill(*machine.view, node, findings);
    }
  }
  if (empty.empty()) return;
  findings->push_back(
      {"memory.node_empty", Severity::kWarning,
       absl::StrCat(empty.size() == 1 ? "node " : "nodes ", FormatCpuList(empty),
                    empty.size() == 1 ? " has" : " have", " CPUs and no memory"),
       "Every access from there is remote: fill the channels, or keep workers off"});
}

/// Asks for memory and looks at what came: a policy that is accepted and ignored shows here.
Finding TryPlacement(const hal::Device& device) {
  hal::AllocRequest request;
  request.bytes = 8 * kMiB;
  request.flags = HY_ALLOC_PREFAULT;
  if ((device.caps() & HY_CAP_PAGE_POLICY) != 0) {
    request.pages = {HY_PAGE_TRANSPARENT, HY_PAGE_BASE};
  }
  const absl::StatusOr<hal::Buffer> buffer = device.Allocate(request);
  if (!buffer.ok()) {
    return {"memory.alloc", Severity::kError,
            absl::StrCat("8 MiB cannot be allocated: ", buffer.status().message()),
            "Raise the memory limit of the cgroup, or ulimit -v"};
  }
  const absl::StatusOr<hal::Placement> placement = buffer->QueryPlacement();
  if (!placement.ok() || (placement->known & HY_KNOWN_PAGES) == 0) {
    return {"memory.readback", Severity::kInfo, "the system does not tell where pages lie",
            "Placement cannot be proven here (an emulator, or memory of a device)"};
  }
  const bool asked = !request.pages.empty();
  return {"memory.readback", Severity::kInfo,
          absl::StrCat("of 8 MiB allocated, ", hal::FormatBytes(placement->huge_bytes),
                       " came in huge pages"),
          asked && placement->huge_bytes == 0
              ? "Transparent huge pages were asked for and not given: see the lines on them here, "
                "or memory is fragmented"
              : ""};
}

}  // namespace

std::vector<Finding> LookAtMemory(const Machine& machine) {
  std::vector<Finding> findings;
  LookAtPools(*machine.topology, &findings);
  if (machine.view != nullptr) LookAtPolicies(*machine.view, *machine.topology, &findings);
  LookAtNodes(machine, &findings);
  if (machine.runs_here()) findings.push_back(TryPlacement(*machine.device));
  return findings;
}

}  // namespace halyard::facts
