// SPDX-License-Identifier: Apache-2.0
#include "facts/bandwidth.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/status_macros.h"
#include "facts/stream/select.h"
#include "hal/barrier.h"

namespace halyard::facts {
namespace {

constexpr uint64_t kBlockBytes = 4096;
constexpr uint64_t kLeastBytes = uint64_t{8} << 20;
constexpr uint64_t kMostBytes = uint64_t{256} << 20;

/// Two buffers a worker, mapped, filled by the worker itself.
struct WorkerMemory {
  std::optional<hal::Buffer> source_buffer;
  std::optional<hal::Buffer> target_buffer;
  std::optional<hal::Mapping> source;
  std::optional<hal::Mapping> target;
};

/// A worker's stamps of one run, on a line of its own.
struct alignas(64) Stamps {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  uint64_t sum = 0;
};

struct Bench {
  const hal::Device* device;
  StreamKernel kernel;
  uint64_t bytes = 0;
  uint32_t runs = 0;
};

/// Four times the last-level caches shared out over the workers, within what memory is free.
uint64_t ChooseBytes(const hal::Topology& topology, uint32_t threads) {
  uint64_t cache_bytes = 0;
  uint32_t last_level = 0;
  for (const hy_cache& cache : topology.caches) last_level = std::max(last_level, cache.level);
  for (const hy_cache& cache : topology.caches) {
    if (cache.level == last_level) cache_bytes += cache.bytes;
  }
  uint64_t bytes = std::max(uint64_t{64} << 20, 4 * cache_bytes / std::max(1u, threads));
  uint64_t free_bytes = 0;
  for (const hy_node& node : topology.nodes) free_bytes += node.bytes_free;
  if (free_bytes != 0) bytes = std::min(bytes, free_bytes / (uint64_t{4} * std::max(1u, threads)));
  bytes = std::clamp(bytes, kLeastBytes, kMostBytes);
  return bytes / kBlockBytes * kBlockBytes;
}

absl::Status AllocateFor(const Bench& bench, uint32_t node_id, WorkerMemory* memory) {
  hal::AllocRequest request;
  request.bytes = bench.bytes;
  request.flags = 0;  // not prefaulted: the worker's first touch decides where it lies
  request.pages = {HY_PAGE_TRANSPARENT, HY_PAGE_BASE};
  if (node_id != HY_ID_NONE && (bench.device->caps() & HY_CAP_NODE_POLICY) != 0) {
    request.node_policy = HY_NODES_BIND;
    request.nodes = {node_id};
  }
  constexpr uint64_t kAccess = HY_MAP_READ | HY_MAP_WRITE;
  for (auto [buffer, mapping] : {std::pair{&memory->source_buffer, &memory->source},
                                 std::pair{&memory->target_buffer, &memory->target}}) {
    HY_ASSIGN_OR_RETURN(hal::Buffer made, bench.device->Allocate(request));
    HY_ASSIGN_OR_RETURN(hal::Mapping mapped, made.Map(0, bench.bytes, kAccess));
    buffer->emplace(std::move(made));
    mapping->emplace(std::move(mapped));
  }
  return absl::OkStatus();
}

double RunOnce(const Bench& bench, const hal::Team& team, std::vector<WorkerMemory>& memory,
               std::vector<Stamps>& stamps, bool copy) {
  hal::Barrier start(team.size(), hal::ChooseWaitPolicy(team.size(), 1000u * team.size(), 0));
  const absl::Status status = team.Run([&](uint32_t index, uint32_t) {
    Stamps& mine = stamps[index];
    void* const source = memory[index].source->data();
    start.Arrive();
    mine.begin_ns = MonotonicRawNs();
    if (copy) {
      std::memcpy(memory[index].target->data(), source, bench.bytes);
    } else {
      mine.sum += bench.kernel.read(source, bench.bytes);
    }
    mine.end_ns = MonotonicRawNs();
  });
  if (!status.ok()) return 0;
  uint64_t begin = UINT64_MAX;
  uint64_t end = 0;
  for (const Stamps& stamp : stamps) {
    begin = std::min(begin, stamp.begin_ns);
    end = std::max(end, stamp.end_ns);
  }
  const double moved = static_cast<double>(bench.bytes) * team.size() * (copy ? 2 : 1);
  return end > begin ? moved / static_cast<double>(end - begin) : 0;
}

BandwidthRow Summarise(std::vector<double> rates) {
  std::sort(rates.begin(), rates.end());
  BandwidthRow row;
  row.runs = static_cast<uint32_t>(rates.size());
  row.median_gb_per_s = rates[rates.size() / 2];
  row.min_gb_per_s = rates.front();
  row.max_gb_per_s = rates.back();
  return row;
}

/// Read and copy rows of one team.
absl::StatusOr<std::vector<BandwidthRow>> MeasureTeam(const Bench& bench, const hal::Team& team,
                                                      uint32_t node_id) {
  std::vector<WorkerMemory> memory(team.size());
  for (WorkerMemory& one : memory) HY_RETURN_IF_ERROR(AllocateFor(bench, node_id, &one));
  std::vector<Stamps> stamps(team.size());
  HY_RETURN_IF_ERROR(team.Run([&](uint32_t index, uint32_t) {
    std::memset(memory[index].source->data(), 1, bench.bytes);
    std::memset(memory[index].target->data(), 2, bench.bytes);
  }));
  HY_ASSIGN_OR_RETURN(const std::vector<hal::WorkerReport> reports, team.Readback());
  std::vector<BandwidthRow> rows;
  for (const bool copy : {false, true}) {
    std::vector<double> rates;
    RunOnce(bench, team, memory, stamps, copy);  // warm-up, not counted
    for (uint32_t run = 0; run < bench.runs; ++run) {
      rates.push_back(RunOnce(bench, team, memory, stamps, copy));
    }
    BandwidthRow row = Summarise(std::move(rates));
    row.work = copy ? "copy" : "read";
    row.threads = team.size();
    row.node_id = node_id;
    row.bytes_per_thread = bench.bytes;
    row.kernel = bench.kernel.name;
    for (const hal::WorkerReport& report : reports) {
      if ((report.flags & HY_WORKER_BOUND) != 0) ++row.workers_bound;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Team requests to measure, each with the node it is for.
std::vector<std::pair<hal::TeamRequest, uint32_t>> PlanTeams(const hal::Topology& topology,
                                                             const BandwidthRequest& request) {
  uint32_t most = topology.budget_workers();
  if (request.max_threads != 0) most = std::min(most, request.max_threads);
  std::vector<std::pair<hal::TeamRequest, uint32_t>> plans;
  const auto add = [&plans](uint32_t count) {
    hal::TeamRequest team;
    team.count = count;
    team.name = "bandwidth";
    plans.emplace_back(std::move(team), HY_ID_NONE);
  };
  for (uint32_t count = 1; count < most; count *= 2) add(count);
  add(most);
  if (!request.per_node || topology.nodes.size() < 2) return plans;
  for (const hy_node& node : topology.nodes) {
    hal::TeamRequest team;
    team.name = absl::StrCat("node", node.os_id);
    for (const hy_pu& pu : topology.pus) {
      if (pu.node_id == node.os_id && pu.smt_index == 0 && team.pus.size() < most) {
        team.pus.push_back(pu.os_id);
      }
    }
    if (!team.pus.empty() && (node.flags & HY_NODE_HAS_MEMORY) != 0) {
      plans.emplace_back(std::move(team), node.os_id);
    }
  }
  return plans;
}

}  // namespace

absl::StatusOr<std::vector<BandwidthRow>> MeasureBandwidth(
    const hal::Device& device, const BandwidthRequest& request,
    const std::function<void(const BandwidthRow&)>& on_row) {
  HY_ASSIGN_OR_RETURN(const hal::Topology topology, device.ReadTopology());
  std::vector<BandwidthRow> rows;
  for (const auto& [team_request, node_id] : PlanTeams(topology, request)) {
    HY_ASSIGN_OR_RETURN(hal::Team team, device.CreateTeam(team_request));
    Bench bench{&device, SelectStreamKernel(team.isa()), request.bytes_per_thread,
                std::max(1u, request.runs)};
    if (bench.bytes == 0) bench.bytes = ChooseBytes(topology, team.size());
    bench.bytes = std::max(kBlockBytes, bench.bytes / kBlockBytes * kBlockBytes);
    HY_ASSIGN_OR_RETURN(std::vector<BandwidthRow> measured, MeasureTeam(bench, team, node_id));
    for (BandwidthRow& row : measured) {
      if (on_row) on_row(row);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace halyard::facts
