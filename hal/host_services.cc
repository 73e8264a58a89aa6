// SPDX-License-Identifier: Apache-2.0
#include "hal/host_services.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/c_status.h"
#include "base/log.h"
#include "base/monotonic_clock.h"
#include "hal/bind.h"
#include "hal/pages.h"
#include "hal/topology.h"
#include "halyard/hal_port.h"

namespace halyard::hal {
namespace {

// Plain bytes: a port may report while memory is short, and while a thread or the process ends.
constexpr size_t kReportBytes = 1024;
thread_local char report_text[kReportBytes];

struct AllocationCounts {
  std::atomic<uint64_t> calls{0};    // since FailHostAllocation was last called
  std::atomic<uint64_t> fail_at{0};  // 0: none
  std::atomic<uint64_t> live{0};
  std::atomic<uint64_t> live_bytes{0};

  /// False if this call is the one to fail.
  bool Admit() { return calls.fetch_add(1) + 1 != fail_at.load(); }
  void Add(uint64_t bytes) {
    live.fetch_add(1);
    live_bytes.fetch_add(bytes);
  }
  void Remove(uint64_t bytes) {
    live.fetch_sub(1);
    live_bytes.fetch_sub(bytes);
  }
};
AllocationCounts counts;

// State that ports may use until the very end of the process, so it is never destroyed.
struct HostState {
  std::mutex mutex;  // guards the two below
  std::shared_ptr<const SystemView> system;
  absl::flat_hash_map<const void*, uint64_t> pages;
};

HostState& State() {
  static HostState* const state = new HostState;
  return *state;
}

hy_status Report(hy_status status, const char* message) {
  const char* text = message == nullptr ? "" : message;
  const size_t length = strnlen(text, kReportBytes - 1);
  std::memcpy(report_text, text, length);
  report_text[length] = '\0';
  return status;
}

hy_status ReportStatus(const absl::Status& status) {
  return Report(FromStatus(status), std::string(status.message()).c_str());
}

// No exception may cross into the C code of a port; only memory can run out here.
template <typename Call>
hy_status Guarded(Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Report(HY_RESOURCE_EXHAUSTED, "the host is out of memory");
  } catch (...) {
    return Report(HY_INTERNAL, "a host service failed");
  }
}

void WriteLog(uint32_t level, const char* message) {
  if (message == nullptr) return;
  const uint32_t known = std::min(level, static_cast<uint32_t>(LogLevel::kError));
  Guarded([&] {
    Log(static_cast<LogLevel>(known), message);
    return HY_OK;
  });
}

// Stands before each block of memory_alloc.
struct BlockHeader {
  uint64_t bytes;
  void* block;
};

void* MemoryAlloc(uint64_t bytes, uint64_t alignment) {
  constexpr uint64_t kLeastAlignment = 16;
  const uint64_t align = std::max(alignment, kLeastAlignment);
  if ((alignment & (alignment - 1)) != 0 || !counts.Admit()) return nullptr;
  const uint64_t lead = std::max<uint64_t>(align, (sizeof(BlockHeader) + 15) / 16 * 16);
  constexpr uint64_t kMost = std::numeric_limits<size_t>::max() / 2;
  if (lead > kMost || bytes > kMost - lead) return nullptr;
  void* block = nullptr;
  if (posix_memalign(&block, static_cast<size_t>(align), static_cast<size_t>(lead + bytes)) != 0) {
    return nullptr;
  }
  unsigned char* data = static_cast<unsigned char*>(block) + lead;
  const BlockHeader header{bytes, block};
  std::memcpy(data - sizeof header, &header, sizeof header);
  counts.Add(bytes);
  return data;
}

void MemoryFree(void* ptr) {
  if (ptr == nullptr) return;
  BlockHeader header;
  std::memcpy(&header, static_cast<unsigned char*>(ptr) - sizeof header, sizeof header);
  counts.Remove(header.bytes);
  std::free(header.block);
}

hy_status PagesAlloc(const hy_alloc_desc* desc, void** out_ptr, hy_placement* out_placement) {
  return Guarded([&]() -> hy_status {
    if (out_ptr == nullptr) return Report(HY_INVALID_ARGUMENT, "pages_alloc: out_ptr is NULL");
    *out_ptr = nullptr;
    hy_alloc_desc known;
    const hy_status read = hy_read_struct(&known, sizeof known, desc);
    if (read != HY_OK) return Report(read, "pages_alloc: desc is NULL or of a newer ABI");
    if (out_placement != nullptr && out_placement->struct_size < sizeof(uint32_t)) {
      return Report(HY_INVALID_ARGUMENT, "pages_alloc: out_placement has no struct_size");
    }
    if (!counts.Admit()) return Report(HY_RESOURCE_EXHAUSTED, "a failure was asked for");
    Placement placement;
    absl::StatusOr<void*> ptr = AllocatePages(known, &placement);
    if (!ptr.ok()) return ReportStatus(ptr.status());
    {
      HostState& state = State();
      const std::lock_guard<std::mutex> lock(state.mutex);
      state.pages[*ptr] = known.bytes;
    }
    counts.Add(known.bytes);
    *out_ptr = *ptr;
    // A node list that is too short says so by its count; the memory is there all the same.
    if (out_placement != nullptr) ExportPlacement(placement, out_placement);
    return HY_OK;
  });
}

hy_status PagesFree(void* ptr) {
  return Guarded([&]() -> hy_status {
    if (ptr == nullptr) return HY_OK;
    {
      HostState& state = State();
      const std::lock_guard<std::mutex> lock(state.mutex);
      const auto found = state.pages.find(ptr);
      if (found == state.pages.end()) {
        return Report(HY_INVALID_ARGUMENT, "pages_free: not from pages_alloc, or freed before");
      }
      counts.Remove(found->second);
      state.pages.erase(found);
    }
    // A success leaves the report alone: ports free on their way out of a failure.
    const absl::Status freed = FreePages(ptr);
    return freed.ok() ? HY_OK : ReportStatus(freed);
  });
}

hy_status PagesQuery(const void* ptr, uint64_t bytes, hy_placement* out_placement) {
  return Guarded([&]() -> hy_status {
    if (out_placement == nullptr || (ptr == nullptr && bytes != 0)) {
      return Report(HY_INVALID_ARGUMENT, "pages_query: a pointer is NULL");
    }
    return ExportPlacement(QueryPages(ptr, bytes), out_placement);
  });
}

hy_status TopologyRead(hy_topology* inout_topology) {
  return Guarded([&]() -> hy_status {
    hy_topology known;
    const hy_status read = hy_read_struct(&known, sizeof known, inout_topology);
    if (read != HY_OK) return Report(read, "topology_read: NULL or of a newer ABI");
    if ((known.flags & ~HY_TOPOLOGY_ALL) != 0) {
      return Report(HY_INVALID_ARGUMENT, "topology_read: unknown flags");
    }
    const bool all = (known.flags & HY_TOPOLOGY_ALL) != 0;
    known.struct_size = sizeof known;
    const hy_status status = ExportTopology(ReadTopology(*HostSystem(), all), &known);
    const hy_status written = hy_write_struct(inout_topology, &known, sizeof known);
    return status != HY_OK ? status : written;
  });
}

hy_status WorkerBind(uint32_t pu, uint32_t mode, hy_worker_report* out_report) {
  return Guarded([&] { return BindThisThread(pu, mode, out_report); });
}

hy_status ReadTimestamp(hy_timestamp* out_timestamp) {
  hy_timestamp now{};
  now.struct_size = sizeof now;
  now.host_ns = MonotonicRawNs();
  now.ticks = now.host_ns;  // one read serves as both clocks, so nothing lies between them
  now.hz = 1'000'000'000;
  return hy_write_struct(out_timestamp, &now, sizeof now);
}

constexpr hy_host_services kServices = {
    sizeof(hy_host_services),
    HY_HAL_ABI_MAJOR,
    HY_HAL_ABI_MINOR,
    0,
    &Report,
    &WriteLog,
    &MemoryAlloc,
    &MemoryFree,
    &PagesAlloc,
    &PagesFree,
    &PagesQuery,
    &TopologyRead,
    &WorkerBind,
    &ReadTimestamp,
};

}  // namespace

const hy_host_services* HostServices() { return &kServices; }

std::string TakeReport() {
  std::string text(report_text);
  report_text[0] = '\0';
  return text;
}

void SetHostSystem(std::shared_ptr<const SystemView> view) {
  HostState& state = State();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.system = std::move(view);
}

std::shared_ptr<const SystemView> HostSystem() {
  HostState& state = State();
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (state.system == nullptr) state.system = RealSystem();
  return state.system;
}

uint64_t FailHostAllocation(uint64_t nth) {
  counts.fail_at.store(0);
  const uint64_t calls = counts.calls.exchange(0);
  counts.fail_at.store(nth);
  return calls;
}

HostMemoryUse CurrentHostMemoryUse() { return {counts.live.load(), counts.live_bytes.load()}; }

}  // namespace halyard::hal
