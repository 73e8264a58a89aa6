// SPDX-License-Identifier: Apache-2.0
//
// Trap 2: placement that is accepted and ignored.
#include <map>
#include <mutex>
#include <vector>

#include "conformance/mutants/mutants.h"
#include "halyard/hal_port.h"

namespace halyard::conformance {
namespace {

using mutants::CopyOf;
using mutants::Good;
using mutants::Services;

uint32_t FirstNode(const hy_alloc_desc& desc) {
  return desc.nodes.count == 0 || desc.nodes.data == nullptr
             ? HY_ID_NONE
             : *static_cast<const uint32_t*>(desc.nodes.data);
}

// Asks for nothing, and says that it got what it was asked for.
hy_status AllocEchoesNodes(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                           hy_placement* out_placement) {
  if (desc == nullptr) return Good().alloc(device, desc, out_buffer, out_placement);
  hy_alloc_desc plain = CopyOf(desc);
  const uint32_t node = FirstNode(plain);
  if (plain.node_policy == HY_NODES_DEFAULT || node == HY_ID_NONE) {
    return Good().alloc(device, desc, out_buffer, out_placement);
  }
  plain.node_policy = HY_NODES_DEFAULT;
  plain.node_strength = HY_PREFER;
  plain.nodes = hy_array{};
  const hy_status status = Good().alloc(device, &plain, out_buffer, out_placement);
  if (status != HY_OK || out_placement == nullptr) return status;
  out_placement->known |= HY_KNOWN_NODES;
  const hy_node_bytes claimed = {node, 0, plain.bytes};
  hy_fill_array(&out_placement->nodes, &claimed, sizeof claimed, 1);
  return HY_OK;
}

hy_status AllocIgnoresNodes(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                            hy_placement* out_placement) {
  if (desc == nullptr) return Good().alloc(device, desc, out_buffer, out_placement);
  hy_alloc_desc plain = CopyOf(desc);
  if (plain.node_policy > HY_NODES_INTERLEAVE || plain.node_strength > HY_REQUIRE ||
      plain.node_policy == HY_NODES_DEFAULT) {
    return Good().alloc(device, desc, out_buffer, out_placement);
  }
  plain.node_policy = HY_NODES_DEFAULT;
  plain.node_strength = HY_PREFER;
  plain.nodes = hy_array{};
  return Good().alloc(device, &plain, out_buffer, out_placement);
}

// Binds nothing, and reports the unit that was asked for.
hy_status BindEchoes(hy_device* device, uint32_t pu, uint32_t mode,
                     hy_worker_report* inout_report) {
  if (device == nullptr || inout_report == nullptr) return HY_INVALID_ARGUMENT;
  if (mode != HY_BIND_ENTER && mode != HY_BIND_LEAVE) return HY_INVALID_ARGUMENT;
  if (pu >= 1024) return HY_NOT_FOUND;
  if (mode == HY_BIND_LEAVE) return HY_OK;
  inout_report->requested_pu = pu;
  inout_report->last_pu = pu;
  inout_report->bind_status = HY_OK;
  inout_report->flags = HY_WORKER_BOUND | HY_WORKER_MASK_KNOWN | HY_WORKER_PU_KNOWN;
  inout_report->mask_words = pu / 64 + 1;
  if (inout_report->mask != nullptr && inout_report->mask_capacity > pu / 64) {
    inout_report->mask[pu / 64] = UINT64_C(1) << (pu % 64);
  }
  return HY_OK;
}

// Lists every unit of the machine as usable.
hy_status TopologyIgnoresTheMask(hy_device* device, hy_topology* inout_topology) {
  const auto read = [&](hy_topology* topology) {
    return Good().topology != nullptr ? Good().topology(device, topology)
                                      : Services().topology_read(topology);
  };
  if (inout_topology == nullptr || inout_topology->struct_size < sizeof *inout_topology ||
      (inout_topology->flags & ~HY_TOPOLOGY_ALL) != 0) {
    return read(inout_topology);
  }
  const uint64_t flags = inout_topology->flags;
  inout_topology->flags = HY_TOPOLOGY_ALL;
  const hy_status status = read(inout_topology);
  inout_topology->flags = flags;
  inout_topology->budget_millicpus = UINT64_C(1000) * inout_topology->pus.count;
  if (status != HY_OK || inout_topology->pus.data == nullptr) return status;
  for (uint32_t i = 0; i < inout_topology->pus.count; ++i) {
    static_cast<hy_pu*>(hy_array_at(&inout_topology->pus, i))->flags |= HY_PU_ALLOWED;
  }
  return HY_OK;
}

}  // namespace

MutantTable PlacementMutants() {
  static constexpr Mutant kMutants[] = {
      {"HM07", 2, "alloc asks for no node and reports the one that was wished for", "linux",
       "HAL-MEM-*", [](hy_hal_api* table) { table->alloc = &AllocEchoesNodes; }},
      {"HM08", 2, "alloc takes node wishes, required ones too, and does nothing with them", "linux",
       "HAL-MEM-*", [](hy_hal_api* table) { table->alloc = &AllocIgnoresNodes; }},
      {"HM09", 2, "worker_bind binds nothing and echoes the request as the readback", "linux",
       "HAL-TEAM-0*:HAL-BND-*", [](hy_hal_api* table) { table->worker_bind = &BindEchoes; }},
      {"HM10", 2, "topology lists units beyond the affinity mask as usable", "linux", "HAL-TOP-*",
       [](hy_hal_api* table) { table->topology = &TopologyIgnoresTheMask; }},
  };
  return kMutants;
}

}  // namespace halyard::conformance
