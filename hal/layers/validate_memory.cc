// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hal/layers/validate_layer.h"

namespace halyard::hal {
namespace {

constexpr uint64_t kAllocFlags = HY_ALLOC_PREFAULT | HY_ALLOC_ZERO | HY_ALLOC_IMMUTABLE;
constexpr uint64_t kMapFlags = HY_MAP_READ | HY_MAP_WRITE | HY_MAP_DISCARD | HY_MAP_PERSISTENT;
constexpr uint64_t kReasons = (HY_REASON_FELL_BACK << 1) - 1;
constexpr uint64_t kPlacementKnown = HY_KNOWN_PAGES | HY_KNOWN_NODES;

bool Overlap(const LiveMap& a, const LiveMap& b) {
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

bool IsSame(const LiveMap& a, const LiveMap& b) {
  return a.offset == b.offset && a.bytes == b.bytes && a.access == b.access && a.ptr == b.ptr;
}

std::string PlacementFault(const hy_placement* placement) {
  const hy_placement known = Known(placement);
  if ((known.known & ~kPlacementKnown) != 0 || (known.reasons & ~kReasons) != 0) {
    return "gave a placement with bits that ABI 1.0 does not know";
  }
  const bool is_power = (known.page_bytes & (known.page_bytes - 1)) == 0;
  if ((known.known & HY_KNOWN_PAGES) != 0 && !is_power) {
    return absl::StrCat("gave a page size of ", known.page_bytes, " bytes");
  }
  return "";
}

}  // namespace

hy_status ValidateLayer::Alloc(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                               hy_placement* out_placement) {
  const Verb verb = Verb::kAlloc;
  if (!IsLive(verb, HY_KIND_DEVICE, device)) return HY_INVALID_ARGUMENT;
  const hy_alloc_desc known = Known(desc);
  LiveObject object;
  object.device = device;
  object.bytes = known.bytes;
  ShadowStruct shadow(out_placement);
  hy_placement* const copy = static_cast<hy_placement*>(shadow.data());
  const bool has_nodes = copy != nullptr && copy->struct_size >= sizeof(hy_placement);
  ShadowArray nodes(has_nodes ? &copy->nodes : nullptr, sizeof(hy_node_bytes));
  const hy_status status =
      Create(verb, HY_KIND_BUFFER, out_buffer, std::move(object),
             [&](hy_buffer** out) { return inner().api().alloc(device, desc, out, copy); });
  // The memory is there even if the list of its nodes was cut, so that is no fault here.
  CheckFault("HAL-ABI-06", verb, nodes.Finish(HY_OUT_OF_RANGE));
  CheckFault("HAL-ABI-05", verb, shadow.Finish());
  if (out_buffer != nullptr) CheckNull(verb, device == nullptr || desc == nullptr, status);
  CheckAllocated(known, status);
  if (status == HY_OK) CheckFault("HAL-MEM-05", verb, PlacementFault(out_placement));
  return status;
}

void ValidateLayer::CheckAllocated(const hy_alloc_desc& known, hy_status status) {
  const Verb verb = Verb::kAlloc;
  CheckKnown(verb, (known.flags & ~kAllocFlags) == 0, status, "flags");
  CheckKnown(verb, known.node_policy <= HY_NODES_INTERLEAVE, status, "a node policy");
  CheckKnown(verb, known.node_strength <= HY_REQUIRE && known.page_strength <= HY_REQUIRE, status,
             "a strength");
  if (status != HY_OK) return;
  if (known.bytes == 0) Report("HAL-MEM-01", verb, "allocated 0 bytes");
  if ((known.alignment & (known.alignment - 1)) != 0) {
    Report("HAL-MEM-01", verb, absl::StrCat("accepted the alignment ", known.alignment));
  }
}

void ValidateLayer::OnImportReleased(void* context) {
  ImportWatch* watch = static_cast<ImportWatch*>(context);
  if (watch->calls.fetch_add(1) == 0) {
    watch->on_release(watch->context);
  } else {
    watch->layer->Report("HAL-IMP-02", Verb::kImportHost, "called on_release again");
  }
}

hy_status ValidateLayer::ImportHost(hy_device* device, const hy_import_desc* desc,
                                    hy_buffer** out_buffer) {
  const Verb verb = Verb::kImportHost;
  if (!IsLive(verb, HY_KIND_DEVICE, device)) return HY_INVALID_ARGUMENT;
  const hy_import_desc known = Known(desc);
  LiveObject object;
  object.device = device;
  object.bytes = known.bytes;
  object.read_only = (known.flags & HY_IMPORT_READ_ONLY) != 0;
  // The caller's struct may be longer than the one known here, so a copy of all of it is changed.
  ShadowStruct shadow(const_cast<hy_import_desc*>(desc));
  hy_import_desc* const copy = static_cast<hy_import_desc*>(shadow.data());
  ImportWatch* watch = nullptr;
  if (known.on_release != nullptr && copy != desc &&
      copy->struct_size >= offsetof(hy_import_desc, context) + sizeof(void*)) {
    const std::lock_guard<std::mutex> lock(watch_mutex_);
    imports_.push_back(std::make_unique<ImportWatch>());
    watch = imports_.back().get();
    watch->layer = this;
    watch->on_release = known.on_release;
    watch->context = known.context;
    copy->on_release = &OnImportReleased;
    copy->context = watch;
  }
  const hy_status status =
      Create(verb, HY_KIND_BUFFER, out_buffer, std::move(object),
             [&](hy_buffer** out) { return inner().api().import_host(device, copy, out); });
  if (out_buffer != nullptr) CheckNull(verb, device == nullptr || desc == nullptr, status);
  CheckKnown(verb, (known.flags & ~HY_IMPORT_READ_ONLY) == 0, status, "flags");
  if (status != HY_OK && watch != nullptr && watch->calls.load() != 0) {
    Report("HAL-IMP-02", verb, "failed, and called on_release");
  }
  return status;
}

// Notes a map before it is made, so that two threads cannot both find the range free. Returns the
// guarantee that the caller breaks, or "".
std::string ValidateLayer::ClaimMap(hy_buffer* buffer, const LiveMap& map) {
  std::string complaint;
  // A port without submit has its copies made by maps, also beside a persistent one.
  const bool copies_by_map = inner().api().submit == nullptr;
  objects_.With(HY_KIND_BUFFER, buffer, [&](LiveObject& object) {
    for (const LiveMap& other : object.maps) {
      const uint64_t access = map.access | other.access;
      if (copies_by_map && (access & HY_MAP_PERSISTENT) != 0) continue;
      if ((access & HY_MAP_WRITE) != 0 && Overlap(map, other)) {
        complaint = absl::StrCat("would map [", map.offset, ", +", map.bytes,
                                 "), which overlaps the live map [", other.offset, ", +",
                                 other.bytes, ") and one of them writes");
        return;
      }
    }
    object.maps.push_back(map);
  });
  return complaint;
}

void ValidateLayer::DropMap(hy_buffer* buffer, const LiveMap& map) {
  objects_.With(HY_KIND_BUFFER, buffer, [&](LiveObject& object) {
    const auto found = std::find_if(object.maps.begin(), object.maps.end(),
                                    [&](const LiveMap& other) { return IsSame(map, other); });
    if (found != object.maps.end()) object.maps.erase(found);
  });
}

hy_status ValidateLayer::Map(hy_buffer* buffer, const hy_map_desc* desc, void** out_ptr) {
  const Verb verb = Verb::kMap;
  if (!IsLive(verb, HY_KIND_BUFFER, buffer)) return HY_INVALID_ARGUMENT;
  const hy_map_desc known = Known(desc);
  LiveObject object;
  objects_.With(HY_KIND_BUFFER, buffer, [&](LiveObject& live) { object = live; });
  LiveMap map{known.offset, known.bytes, known.access, nullptr};
  // A range that the port must refuse overlaps nothing.
  const bool in_range = known.bytes != 0 && hy_range_ok(known.offset, known.bytes, object.bytes);
  // Of a port without unmap nobody hears when a map ends.
  const bool is_tracked = inner().api().unmap != nullptr && buffer != nullptr;
  if (in_range && is_tracked) {
    std::string complaint = ClaimMap(buffer, map);
    if (!complaint.empty()) return Refuse(verb, std::move(complaint));
  }
  const hy_status status = inner().api().map(buffer, desc, out_ptr);
  CheckStatus(verb, status);
  CheckNull(verb, buffer == nullptr || desc == nullptr || out_ptr == nullptr, status);
  if (buffer == nullptr || desc == nullptr || out_ptr == nullptr) return status;
  if (in_range && is_tracked) DropMap(buffer, map);
  CheckMapped(known, object, status);
  if (status == HY_OK && *out_ptr == nullptr) {
    Report("HAL-MAP-01", verb, "returned OK without a pointer");
  } else if (status == HY_OK && is_tracked) {
    map.ptr = *out_ptr;
    // Without an unmap of the port there is no call by which the end of a map could be seen.
    if (inner().api().unmap == nullptr) return status;
    objects_.With(HY_KIND_BUFFER, buffer, [&](LiveObject& live) { live.maps.push_back(map); });
  }
  return status;
}

void ValidateLayer::CheckMapped(const hy_map_desc& known, const LiveObject& buffer,
                                hy_status status) {
  const Verb verb = Verb::kMap;
  const std::string range =
      absl::StrCat("[", known.offset, ", +", known.bytes, ") of ", buffer.bytes, " bytes");
  CheckKnown(verb, (known.access & ~kMapFlags) == 0, status, "access flags");
  const bool in_range = hy_range_ok(known.offset, known.bytes, buffer.bytes);
  if (status == HY_OK && (known.bytes == 0 || !in_range)) {
    Report("HAL-MAP-02", verb, absl::StrCat("mapped ", range));
  }
  const bool is_confused = in_range ? status == HY_OUT_OF_RANGE
                                    : known.bytes != 0 && status == HY_INVALID_ARGUMENT &&
                                          (known.access & ~kMapFlags) == 0;
  if (is_confused) {
    Report("HAL-MAP-02", verb, absl::StrCat("returned ", hy_status_name(status), " for ", range));
  }
  if (status == HY_OK && buffer.read_only && (known.access & HY_MAP_WRITE) != 0) {
    Report("HAL-IMP-04", verb, "mapped a read-only import for writing");
  }
}

hy_status ValidateLayer::Unmap(hy_buffer* buffer, const hy_map_desc* desc, void* ptr) {
  const Verb verb = Verb::kUnmap;
  if (!IsLive(verb, HY_KIND_BUFFER, buffer)) return HY_INVALID_ARGUMENT;
  const bool had_null = buffer == nullptr || desc == nullptr || ptr == nullptr;
  const hy_map_desc known = Known(desc);
  const LiveMap map{known.offset, known.bytes, known.access, ptr};
  bool is_live = false;
  objects_.With(HY_KIND_BUFFER, buffer, [&](LiveObject& object) {
    for (const LiveMap& other : object.maps) is_live = is_live || IsSame(map, other);
  });
  if (!had_null && !is_live) return Refuse(verb, "would end a map that is not live");
  // Before the call, as with release.
  if (!had_null) DropMap(buffer, map);
  const hy_status status = inner().api().unmap(buffer, desc, ptr);
  CheckStatus(verb, status);
  CheckNull(verb, had_null, status);
  if (!had_null && status != HY_OK && status != HY_DATA_LOSS) {
    Report("HAL-MAP-07", verb,
           absl::StrCat("returned ", hy_status_name(status), " for a live map"));
  }
  return status;
}

hy_status ValidateLayer::SyncRange(hy_buffer* buffer, uint64_t offset, uint64_t bytes,
                                   uint32_t direction) {
  const Verb verb = Verb::kSyncRange;
  if (!IsLive(verb, HY_KIND_BUFFER, buffer)) return HY_INVALID_ARGUMENT;
  uint64_t buffer_bytes = 0;
  objects_.With(HY_KIND_BUFFER, buffer, [&](LiveObject& object) { buffer_bytes = object.bytes; });
  const hy_status status = inner().api().sync_range(buffer, offset, bytes, direction);
  CheckStatus(verb, status);
  CheckNull(verb, buffer == nullptr, status);
  CheckKnown(verb, direction == HY_SYNC_TO_DEVICE || direction == HY_SYNC_FROM_DEVICE, status,
             "a direction");
  if (status == HY_OK && buffer != nullptr && !hy_range_ok(offset, bytes, buffer_bytes)) {
    Report("HAL-ERR-07", verb,
           absl::StrCat("accepted [", offset, ", +", bytes, ") of ", buffer_bytes, " bytes"));
  }
  return status;
}

}  // namespace halyard::hal
