// SPDX-License-Identifier: Apache-2.0
//
// Traps 5 and 6: maps, and memory that is not coherent.
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "conformance/mutants/mutants.h"
#include "halyard/hal_port.h"

namespace halyard::conformance {
namespace {

using mutants::CopyOf;
using mutants::Good;

hy_status MapIgnoresOffset(hy_buffer* buffer, const hy_map_desc* desc, void** out_ptr) {
  const hy_status status = Good().map(buffer, desc, out_ptr);
  if (status == HY_OK) *out_ptr = static_cast<uint8_t*>(*out_ptr) - CopyOf(desc).offset;
  return status;
}

// Every map is one for writing: its bytes go back whatever was asked for.
hy_map_desc ForWriting(const hy_map_desc* desc) {
  hy_map_desc copy = CopyOf(desc);
  copy.access |= HY_MAP_WRITE;
  return copy;
}
hy_status MapForWriting(hy_buffer* buffer, const hy_map_desc* desc, void** out_ptr) {
  const hy_map_desc copy = ForWriting(desc);
  return Good().map(buffer, desc == nullptr ? nullptr : &copy, out_ptr);
}
hy_status UnmapWritesBack(hy_buffer* buffer, const hy_map_desc* desc, void* ptr) {
  const hy_map_desc copy = ForWriting(desc);
  return Good().unmap(buffer, desc == nullptr ? nullptr : &copy, ptr);
}

// DISCARD takes the bytes before the range along.
hy_status MapDiscardsMore(hy_buffer* buffer, const hy_map_desc* desc, void** out_ptr) {
  const hy_map_desc copy = CopyOf(desc);
  const hy_status status = Good().map(buffer, desc, out_ptr);
  if (status != HY_OK || (copy.access & HY_MAP_DISCARD) == 0) return status;
  const uint64_t before = copy.offset % 64;
  std::memset(static_cast<uint8_t*>(*out_ptr) - before, 0, static_cast<size_t>(before));
  return status;
}

// A READ map shows what the first one saw.
std::mutex g_views_mutex;
std::map<std::pair<hy_buffer*, uint64_t>, std::vector<uint8_t>>& Views() {
  static auto* const views = new std::map<std::pair<hy_buffer*, uint64_t>, std::vector<uint8_t>>;
  return *views;
}
hy_status MapShowsTheFirstView(hy_buffer* buffer, const hy_map_desc* desc, void** out_ptr) {
  const hy_status status = Good().map(buffer, desc, out_ptr);
  const hy_map_desc copy = CopyOf(desc);
  if (status != HY_OK || copy.access != HY_MAP_READ) return status;
  const std::lock_guard<std::mutex> lock(g_views_mutex);
  std::vector<uint8_t>& view = Views()[{buffer, copy.offset}];
  if (view.size() < copy.bytes) {
    const auto* const bytes = static_cast<const uint8_t*>(*out_ptr);
    view.assign(bytes, bytes + copy.bytes);
  }
  *out_ptr = view.data();
  return status;
}

hy_status MapTakesAnyRange(hy_buffer* buffer, const hy_map_desc* desc, void** out_ptr) {
  const hy_status status = Good().map(buffer, desc, out_ptr);
  if (status != HY_OUT_OF_RANGE) return status;
  hy_map_desc copy = CopyOf(desc);
  copy.offset = 0;
  copy.bytes = 1;
  return Good().map(buffer, &copy, out_ptr);
}

hy_status NoSync(hy_buffer* buffer, uint64_t offset, uint64_t bytes, uint32_t direction) {
  if (buffer == nullptr || (direction != HY_SYNC_TO_DEVICE && direction != HY_SYNC_FROM_DEVICE)) {
    return Good().sync_range(buffer, offset, bytes, direction);
  }
  return HY_OK;
}

// A cache that writes dirty lines back before it drops them makes a wrong direction harmless; half
// of a range left out is wrong on every machine.
hy_status SyncHalf(hy_buffer* buffer, uint64_t offset, uint64_t bytes, uint32_t direction) {
  if (direction == HY_SYNC_TO_DEVICE && bytes > 1) bytes /= 2;
  return Good().sync_range(buffer, offset, bytes, direction);
}

// Persistent maps of buffers, to reach the host's view in a hand-over.
struct HostView {
  uint8_t* data;
  uint64_t bytes;
};
std::map<hy_buffer*, HostView>& HostViews() {
  static auto* const views = new std::map<hy_buffer*, HostView>;
  return *views;
}
hy_status MapNotesTheView(hy_buffer* buffer, const hy_map_desc* desc, void** out_ptr) {
  const hy_status status = Good().map(buffer, desc, out_ptr);
  const hy_map_desc copy = CopyOf(desc);
  if (status == HY_OK && (copy.access & HY_MAP_PERSISTENT) != 0) {
    HostViews()[buffer] = {static_cast<uint8_t*>(*out_ptr) - copy.offset, copy.offset + copy.bytes};
  }
  return status;
}
hy_status SyncDropsNeighbours(hy_buffer* buffer, uint64_t offset, uint64_t bytes,
                              uint32_t direction) {
  const hy_status status = Good().sync_range(buffer, offset, bytes, direction);
  const auto view = HostViews().find(buffer);
  if (status != HY_OK || direction != HY_SYNC_FROM_DEVICE || view == HostViews().end()) {
    return status;
  }
  for (uint64_t at = offset + bytes; at < view->second.bytes && at % 128 != 0; ++at) {
    view->second.data[at] = 0xdd;
  }
  return status;
}

hy_status SaysCoherent(const hy_query_desc* desc, void* buffer, uint64_t* inout_bytes) {
  const hy_status status = Good().query(desc, buffer, inout_bytes);
  if (status == HY_OK && buffer != nullptr && desc->key == HY_QUERY_CAPS) {
    *static_cast<uint64_t*>(buffer) |= HY_CAP_COHERENT;
  }
  if (status == HY_OK && buffer != nullptr && desc->key == HY_QUERY_SYNC_GRANULE) {
    *static_cast<uint64_t*>(buffer) = 1;
  }
  if (status == HY_OK && buffer != nullptr && desc->key == HY_QUERY_MEMORY_CLASSES) {
    const uint32_t stride = desc->stride == 0 ? sizeof(hy_memory_class) : desc->stride;
    for (uint64_t at = 0; at + stride <= *inout_bytes; at += stride) {
      auto* const one = reinterpret_cast<hy_memory_class*>(static_cast<uint8_t*>(buffer) + at);
      one->flags |= HY_MEMORY_COHERENT;
    }
  }
  return status;
}

}  // namespace

MutantTable MapMutants() {
  static constexpr Mutant kMutants[] = {
      {"HM24", 5, "map gives the start of the buffer whatever the offset", "linux", "HAL-MAP-*",
       [](hy_hal_api* table) { table->map = &MapIgnoresOffset; }},
      {"HM25", 5, "unmap writes back what was mapped for reading", "sim_noncoherent", "HAL-MAP-*",
       [](hy_hal_api* table) {
         table->map = &MapForWriting;
         table->unmap = &UnmapWritesBack;
       }},
      {"HM26", 5, "a map with DISCARD clears bytes before its range", "linux", "HAL-MAP-*",
       [](hy_hal_api* table) { table->map = &MapDiscardsMore; }},
      {"HM27", 5, "a READ map shows again what the first one saw", "linux", "HAL-MAP-*",
       [](hy_hal_api* table) { table->map = &MapShowsTheFirstView; }},
      {"HM28", 5, "map takes ranges that leave the buffer", "linux", "HAL-MAP-*",
       [](hy_hal_api* table) { table->map = &MapTakesAnyRange; }},
  };
  return kMutants;
}

MutantTable CoherenceMutants() {
  static constexpr Mutant kMutants[] = {
      {"HM29", 6, "sync_range does nothing", "sim_noncoherent", "HAL-SYN-*",
       [](hy_hal_api* table) { table->sync_range = &NoSync; }},
      {"HM30", 6, "FROM_DEVICE drops what shares the granule", "sim_noncoherent", "HAL-SYN-*",
       [](hy_hal_api* table) {
         table->map = &MapNotesTheView;
         table->sync_range = &SyncDropsNeighbours;
       }},
      {"HM31", 6, "a device that is not coherent says that it is", "sim_noncoherent", "HAL-SYN-*",
       [](hy_hal_api* table) { table->query = &SaysCoherent; }},
      {"HM32", 6, "TO_DEVICE hands only the first half of the range over", "sim_noncoherent",
       "HAL-SYN-*", [](hy_hal_api* table) { table->sync_range = &SyncHalf; }},
  };
  return kMutants;
}

}  // namespace halyard::conformance
