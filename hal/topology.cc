// SPDX-License-Identifier: Apache-2.0
#include "hal/topology.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/c_status.h"
#include "halyard/hal_port.h"

namespace halyard::hal {
namespace {

// Capacities of the first try: enough for most machines, so that the verb runs once.
constexpr size_t kFirstCapacity = 256;
constexpr size_t kMaxRecords = size_t{1} << 20;
constexpr int kMaxTries = 8;

template <typename Record>
hy_status Export(const std::vector<Record>& records, hy_array* out) {
  if (out->data != nullptr && out->capacity > 0 && out->stride == 0) return HY_INVALID_ARGUMENT;
  return hy_fill_array(out, records.data(), sizeof(Record), static_cast<uint32_t>(records.size()));
}

template <typename Record>
void Prepare(std::vector<Record>* records, hy_array* array) {
  // Records that an older port shortens keep zeros in what it does not know.
  records->assign(records->size(), Record{});
  *array = {};
  array->data = records->data();
  array->capacity = static_cast<uint32_t>(records->size());
  array->stride = sizeof(Record);
}

// False if the array has to grow for a next try.
template <typename Record>
bool Accept(const hy_array& array, std::vector<Record>* records) {
  const bool fits = array.count <= records->size();
  // Room for a few more, should units come online in between.
  records->resize(fits ? array.count : array.count + array.count / 8 + 1);
  return fits;
}

struct Arrays {
  hy_topology c{};

  void PrepareAll(Topology* topology) {
    Prepare(&topology->pus, &c.pus);
    Prepare(&topology->nodes, &c.nodes);
    Prepare(&topology->caches, &c.caches);
    Prepare(&topology->distances, &c.distances);
    Prepare(&topology->page_pools, &c.page_pools);
  }

  uint32_t MaxCount() const {
    return std::max(
        {c.pus.count, c.nodes.count, c.caches.count, c.distances.count, c.page_pools.count});
  }

  bool AcceptAll(Topology* topology) const {
    bool fits = Accept(c.pus, &topology->pus);
    fits &= Accept(c.nodes, &topology->nodes);
    fits &= Accept(c.caches, &topology->caches);
    fits &= Accept(c.distances, &topology->distances);
    fits &= Accept(c.page_pools, &topology->page_pools);
    return fits;
  }
};

// A try that fitted in some arrays has cut those to size; what they hold is read anew next time.
void Restore(Topology* topology) {
  auto at_least = [](auto* records) { records->resize(std::max(records->size(), kFirstCapacity)); };
  at_least(&topology->pus);
  at_least(&topology->nodes);
  at_least(&topology->caches);
  at_least(&topology->distances);
  at_least(&topology->page_pools);
}

}  // namespace

const hy_pu* Topology::FindPu(uint32_t os_id) const {
  const auto found =
      std::lower_bound(pus.begin(), pus.end(), os_id,
                       [](const hy_pu& pu, uint32_t wanted) { return pu.os_id < wanted; });
  return found != pus.end() && found->os_id == os_id ? &*found : nullptr;
}

const hy_node* Topology::FindNode(uint32_t os_id) const {
  for (const hy_node& node : nodes) {
    if (node.os_id == os_id) return &node;
  }
  return nullptr;
}

uint32_t Topology::budget_workers() const {
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(budget_millicpus / 1000, 1, uint64_t{UINT32_MAX}));
}

hy_status ExportTopology(const Topology& topology, hy_topology* out) {
  hy_topology known;
  const hy_status given = hy_read_struct(&known, sizeof known, out);
  if (given != HY_OK) return given;
  if ((known.flags & ~HY_TOPOLOGY_ALL) != 0) return HY_INVALID_ARGUMENT;
  known.source = topology.source;
  known.budget_millicpus = topology.budget_millicpus;
  known.quota_millicpus = topology.quota_millicpus;
  known.limits = topology.limits;
  hy_status worst = HY_OK;
  for (hy_status status :
       {Export(topology.pus, &known.pus), Export(topology.nodes, &known.nodes),
        Export(topology.caches, &known.caches), Export(topology.distances, &known.distances),
        Export(topology.page_pools, &known.page_pools)}) {
    if (status == HY_INVALID_ARGUMENT) return status;
    if (status != HY_OK) worst = status;
  }
  const hy_status written = hy_write_struct(out, &known, sizeof known);
  return written != HY_OK ? written : worst;
}

absl::StatusOr<Topology> ImportTopology(bool all, absl::FunctionRef<hy_status(hy_topology*)> verb) {
  Topology topology;
  for (int attempt = 0; attempt < kMaxTries; ++attempt) {
    Restore(&topology);
    Arrays arrays;
    arrays.c.struct_size = sizeof(hy_topology);
    arrays.c.flags = all ? HY_TOPOLOGY_ALL : 0;
    arrays.PrepareAll(&topology);
    const hy_status status = verb(&arrays.c);
    if (status != HY_OK && status != HY_OUT_OF_RANGE) {
      return ToStatus(status, "the port's topology failed");
    }
    if (arrays.MaxCount() > kMaxRecords) {
      return absl::InternalError(
          absl::StrCat("the port's topology lists ", arrays.MaxCount(), " records"));
    }
    if (!arrays.AcceptAll(&topology)) continue;
    if (status != HY_OK) {
      return absl::InternalError("the port's topology says OUT_OF_RANGE though all fits");
    }
    topology.source = arrays.c.source;
    topology.budget_millicpus = arrays.c.budget_millicpus;
    topology.quota_millicpus = arrays.c.quota_millicpus;
    topology.limits = arrays.c.limits;
    std::sort(topology.pus.begin(), topology.pus.end(),
              [](const hy_pu& a, const hy_pu& b) { return a.os_id < b.os_id; });
    return topology;
  }
  return absl::InternalError("the port's topology kept growing");
}

}  // namespace halyard::hal
