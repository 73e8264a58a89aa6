// SPDX-License-Identifier: Apache-2.0
#include "facts/bandwidth.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/status_macros.h"
#include "facts/stamps.h"
#include "facts/stream/select.h"
#include "hal/barrier.h"

namespace halyard::facts {
namespace {

/// What a read kernel takes at a time.
constexpr uint64_t kBlockBytes = 512;
constexpr uint8_t kSourceByte = 1;

/// Two buffers a worker, mapped, filled by the worker itself.
struct WorkerMemory {
  std::optional<hal::Buffer> source_buffer;
  std::optional<hal::Buffer> target_buffer;
  std::optional<hal::Mapping> source;
  std::optional<hal::Mapping> target;
};

struct Bench {
  const hal::Device* device;
  StreamKernel kernel;
  uint64_t bytes = 0;
  uint32_t runs = 0;
  uint32_t node_id = HY_ID_NONE;
};

absl::Status Allocate(const Bench& bench, std::optional<hal::Buffer>* buffer,
                      std::optional<hal::Mapping>* mapping) {
  hal::AllocRequest request;
  request.bytes = bench.bytes;
  request.flags = 0;  // not prefaulted: the worker's first touch decides where it lies
  const uint64_t caps = bench.device->caps();
  if ((caps & HY_CAP_PAGE_POLICY) != 0) request.pages = {HY_PAGE_TRANSPARENT, HY_PAGE_BASE};
  if (bench.node_id != HY_ID_NONE && (caps & HY_CAP_NODE_POLICY) != 0) {
    request.node_policy = HY_NODES_BIND;
    request.require_nodes = true;  // a figure of another node would be worse than none
    request.nodes = {bench.node_id};
  }
  HY_ASSIGN_OR_RETURN(hal::Buffer made, bench.device->Allocate(request));
  buffer->emplace(std::move(made));
  HY_ASSIGN_OR_RETURN(hal::Mapping mapped,
                      (*buffer)->Map(0, bench.bytes, HY_MAP_READ | HY_MAP_WRITE));
  mapping->emplace(std::move(mapped));
  return absl::OkStatus();
}

/// Rate of one run, in bytes a nanosecond.
double RateOf(const std::vector<Stamps>& stamps, uint64_t moved_bytes) {
  const uint64_t ns = SpanNs(stamps);
  return ns > 0 ? static_cast<double>(moved_bytes) / static_cast<double>(ns) : 0;
}

absl::StatusOr<double> RunOnce(const Bench& bench, const hal::Team& team,
                               std::vector<WorkerMemory>& memory, bool copy) {
  std::vector<Stamps> stamps(team.size());
  hal::Barrier start(team.size(), hal::ChooseWaitPolicy(team.size(), 1000u * team.size(), 0));
  HY_RETURN_IF_ERROR(team.Run([&](uint32_t index, uint32_t) {
    Stamps& mine = stamps[index];
    void* const source = memory[index].source->data();
    start.Arrive();
    mine.begin_ns = MonotonicRawNs();
    if (copy) {
      std::memcpy(memory[index].target->data(), source, static_cast<size_t>(bench.bytes));
    } else {
      mine.sum = bench.kernel.read(source, bench.bytes);
    }
    mine.end_ns = MonotonicRawNs();
  }));
  const uint64_t wanted = bench.bytes / 8 * (kSourceByte * UINT64_C(0x0101010101010101));
  for (const Stamps& stamp : stamps) {
    if (!copy && stamp.sum != wanted) {
      return absl::InternalError(
          absl::StrCat("the read kernel ", bench.kernel.name, " did not read what was written"));
    }
  }
  return RateOf(stamps, bench.bytes * team.size() * (copy ? 2 : 1));
}

absl::StatusOr<BandwidthRow> MeasureWork(const Bench& bench, const hal::Team& team,
                                         std::vector<WorkerMemory>& memory, bool copy) {
  std::vector<double> rates;
  HY_RETURN_IF_ERROR(RunOnce(bench, team, memory, copy).status());  // warm-up, not counted
  for (uint32_t run = 0; run < bench.runs; ++run) {
    HY_ASSIGN_OR_RETURN(const double rate, RunOnce(bench, team, memory, copy));
    rates.push_back(rate);
  }
  std::sort(rates.begin(), rates.end());
  BandwidthRow row;
  row.work = copy ? "copy" : "read";
  row.threads = team.size();
  row.node_id = bench.node_id;
  row.runs = bench.runs;
  row.median_gb_per_s = rates[rates.size() / 2];
  row.min_gb_per_s = rates.front();
  row.max_gb_per_s = rates.back();
  row.bytes_per_thread = bench.bytes;
  row.kernel = copy ? "memcpy" : bench.kernel.name;
  return row;
}

/// A read and a copy row of one team.
absl::StatusOr<std::vector<BandwidthRow>> MeasureTeam(const Bench& bench, const hal::Team& team) {
  std::vector<WorkerMemory> memory(team.size());
  for (WorkerMemory& one : memory) {
    HY_RETURN_IF_ERROR(Allocate(bench, &one.source_buffer, &one.source));
    HY_RETURN_IF_ERROR(Allocate(bench, &one.target_buffer, &one.target));
  }
  HY_RETURN_IF_ERROR(team.Run([&](uint32_t index, uint32_t) {
    std::memset(memory[index].source->data(), kSourceByte, static_cast<size_t>(bench.bytes));
    std::memset(memory[index].target->data(), 0, static_cast<size_t>(bench.bytes));
  }));
  HY_ASSIGN_OR_RETURN(const std::vector<hal::WorkerReport> reports, team.Readback());
  const auto bound = static_cast<uint32_t>(std::count_if(
      reports.begin(), reports.end(),
      [](const hal::WorkerReport& report) { return (report.flags & HY_WORKER_BOUND) != 0; }));
  std::vector<BandwidthRow> rows;
  for (const bool copy : {false, true}) {
    HY_ASSIGN_OR_RETURN(BandwidthRow row, MeasureWork(bench, team, memory, copy));
    row.workers_bound = bound;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// What one node has free bounds what is bound to it.
uint64_t HeadroomOf(const hal::Topology& topology, const BandwidthPlan& plan, uint64_t headroom) {
  const hy_node* const node = topology.FindNode(plan.node_id);
  if (node == nullptr || node->bytes_free == 0) return headroom;
  return headroom == 0 ? node->bytes_free : std::min(headroom, node->bytes_free);
}

}  // namespace

absl::StatusOr<std::vector<BandwidthRow>> MeasureBandwidth(
    const hal::Device& device, const BandwidthRequest& request,
    const std::function<void(const BandwidthRow&)>& on_row) {
  HY_ASSIGN_OR_RETURN(const hal::Topology topology, device.ReadTopology());
  std::vector<BandwidthRow> rows;
  for (const BandwidthPlan& plan : PlanBandwidth(topology, request)) {
    HY_ASSIGN_OR_RETURN(hal::Team team, device.CreateTeam(plan.team));
    Bench bench{&device, SelectStreamKernel(team.isa()), request.bytes_per_thread,
                std::max(1u, request.runs), plan.node_id};
    if (bench.bytes == 0) {
      const uint64_t headroom = HeadroomOf(topology, plan, request.headroom_bytes);
      bench.bytes = ChooseBytes(topology, team.size(), headroom);
    }
    bench.bytes = std::max(kBlockBytes, bench.bytes / kBlockBytes * kBlockBytes);
    HY_ASSIGN_OR_RETURN(std::vector<BandwidthRow> measured, MeasureTeam(bench, team));
    for (BandwidthRow& row : measured) {
      if (on_row) on_row(row);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace halyard::facts
