// SPDX-License-Identifier: Apache-2.0
//
// What was counted against what the sheet says. A part of the line may have fewer cores, and a
// hypervisor may show what it likes: so most differences are for information.
#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "facts/findings.h"
#include "facts/shape.h"
#include "hal/topology_draw.h"

namespace halyard::facts {
namespace {

void CompareCores(const Shape& shape, const ChipSheet& sheet, std::vector<Finding>* findings) {
  const std::optional<uint32_t> known = CoresPerSocket(sheet);
  if (!known) return;
  const std::string counted = absl::StrCat(
      hal::FormatCount(shape.cores_per_socket, "core"),
      shape.sockets > 1 ? absl::StrCat(" in each of ", shape.sockets, " sockets") : "");
  if (shape.cores_per_socket == *known) {
    findings->push_back({"sheet.cores", Severity::kInfo,
                         absl::StrCat(counted, ", as ", sheet.name, " has at most"), ""});
  } else if (shape.cores_per_socket < *known) {
    findings->push_back(
        {"sheet.cores", Severity::kInfo,
         absl::StrCat(counted, ", of ", *known, " that ", sheet.name, " has at most"),
         "A smaller part of the line, a virtual machine, or cores switched off"});
  } else {
    findings->push_back({"sheet.cores", Severity::kWarning,
                         absl::StrCat(counted, ", more than the ", *known, " of ", sheet.name),
                         "Is this the chip? Name the right sheet with --chip"});
  }
}

void CompareThreads(const Shape& shape, const ChipSheet& sheet, std::vector<Finding>* findings) {
  uint32_t most = 0;
  for (const CoreClass& cores : sheet.core_classes) most = std::max(most, cores.smt);
  if (most == 0 || shape.threads_per_core == most) return;
  const bool more = shape.threads_per_core > most;
  findings->push_back({"sheet.smt", more ? Severity::kWarning : Severity::kInfo,
                       absl::StrCat(hal::FormatCount(shape.threads_per_core, "thread"), " a core, ",
                                    most, " in the sheet"),
                       more ? "Is this the chip? Name the right sheet with --chip"
                            : "SMT is off, or hidden: no loss for workers that take a core each"});
}

void CompareCache(const SheetCache& cache, const hal::Topology& topology,
                  std::set<std::string>* told, std::vector<Finding>* findings) {
  std::set<uint64_t> sizes;
  std::set<uint32_t> lines;
  hy_cache shown{};
  for (const hy_cache& one : topology.caches) {
    if (one.level != cache.level || one.kind != cache.kind) continue;
    shown = one;
    if (one.bytes != 0) sizes.insert(one.bytes);
    if (one.line_bytes != 0) lines.insert(one.line_bytes);
  }
  shown.bytes = 0;
  const std::string name = hal::CacheName(shown);
  const uint64_t wanted = uint64_t{cache.kib.value_or(0)} << 10;
  if (wanted != 0 && !sizes.empty() && sizes.count(wanted) == 0 && told->insert(name).second) {
    std::vector<std::string> texts;
    for (const uint64_t bytes : sizes) texts.push_back(hal::FormatBytes(bytes));
    findings->push_back({"sheet.cache", Severity::kInfo,
                         absl::StrCat(name, " is ", absl::StrJoin(texts, " and "), ", ",
                                      hal::FormatBytes(wanted), " in the sheet"),
                         "Another part of the line, or a hypervisor that shows other caches"});
  }
  if (cache.line_bytes && !lines.empty() && lines.count(*cache.line_bytes) == 0 &&
      told->insert(name + " lines").second) {
    findings->push_back({"sheet.cache_line", Severity::kWarning,
                         absl::StrCat(name, " has lines of ", absl::StrJoin(lines, " and "),
                                      " bytes, ", *cache.line_bytes, " in the sheet"),
                         "Is this the chip? Name the right sheet with --chip"});
  }
}

/// A size that one of several classes has is right if one of the machine's caches has it.
void CompareCaches(const hal::Topology& topology, const ChipSheet& sheet,
                   std::vector<Finding>* findings) {
  const size_t before = findings->size();
  std::set<std::string> told;
  for (const SheetCache& cache : sheet.caches) CompareCache(cache, topology, &told, findings);
  const bool any = std::any_of(topology.caches.begin(), topology.caches.end(),
                               [](const hy_cache& cache) { return cache.bytes != 0; });
  if (findings->size() == before && any && !sheet.caches.empty()) {
    findings->push_back(
        {"sheet.cache", Severity::kInfo, "the caches shown are those of the sheet", ""});
  }
}

void CompareMemory(const Machine& machine, const Shape& shape, std::vector<Finding>* findings) {
  const std::vector<uint32_t>& pages = machine.sheet->base_page_bytes;
  if (machine.view != nullptr && !pages.empty() &&
      std::find(pages.begin(), pages.end(), machine.view->page_bytes()) == pages.end()) {
    findings->push_back(
        {"sheet.pages", Severity::kInfo,
         absl::StrCat("base pages of ", hal::FormatBytes(machine.view->page_bytes()),
                      ", which the sheet does not list"),
         "Fine if meant; huge page sizes follow from it"});
  }
  const std::vector<uint32_t>& nodes = machine.sheet->nodes_per_socket;
  if (nodes.empty() || shape.cpu_nodes == 0) return;
  const uint32_t each = shape.cpu_nodes / shape.sockets;
  if (each * shape.sockets == shape.cpu_nodes &&
      std::find(nodes.begin(), nodes.end(), each) != nodes.end()) {
    return;
  }
  findings->push_back(
      {"sheet.nodes", Severity::kInfo,
       absl::StrCat(hal::FormatCount(shape.cpu_nodes, "memory node"), " with CPUs in ",
                    hal::FormatCount(shape.sockets, "socket"), "; the sheet knows ",
                    absl::StrJoin(nodes, " or "), " a socket"),
       "Firmware may hide nodes (interleaving), or a virtual machine may: then memory cannot be "
       "placed near its cores"});
}

}  // namespace

std::vector<Finding> LookAtSheet(const Machine& machine) {
  std::vector<Finding> findings;
  if (machine.sheet == nullptr) return findings;
  const hal::Topology& topology = machine.whole != nullptr ? *machine.whole : *machine.topology;
  const Shape shape = CountShape(topology);
  CompareCores(shape, *machine.sheet, &findings);
  CompareThreads(shape, *machine.sheet, &findings);
  CompareCaches(topology, *machine.sheet, &findings);
  CompareMemory(machine, shape, &findings);
  return findings;
}

}  // namespace halyard::facts
