// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hal/layers/validate_layer.h"

namespace halyard::hal {
namespace {

bool IsPowerOfTwo(uint64_t number) { return number != 0 && (number & (number - 1)) == 0; }

uint32_t Filled(const hy_array& array) {
  return array.data == nullptr ? 0 : std::min(array.count, array.capacity);
}

// Reads record `index` whatever its stride; fields beyond the stride are zero.
template <typename Record>
Record RecordAt(const hy_array& array, uint32_t index) {
  Record record{};
  std::memcpy(&record, hy_array_at(&array, index), std::min<size_t>(array.stride, sizeof record));
  return record;
}

// What is wrong with the ids that enumerate gave, or "".
std::string IdFault(const hy_array& devices) {
  std::set<std::string> ids;
  for (uint32_t i = 0; i < Filled(devices); ++i) {
    const auto info = RecordAt<hy_device_info>(devices, i);
    const size_t length = strnlen(info.id, sizeof info.id);
    if (length == 0) return "gave a device without an id";
    if (length == sizeof info.id) return "gave an id that does not end";
    if (!ids.insert(info.id).second) return absl::StrCat("gave the id '", info.id, "' twice");
  }
  return "";
}

// The keys that every device answers: [HAL-QRY-01].
bool IsNeededKey(uint32_t key) {
  return key == HY_QUERY_CAPS || key == HY_QUERY_MEMORY_CLASSES || key == HY_QUERY_MIN_ALIGNMENT ||
         key == HY_QUERY_MAX_ALLOC || key == HY_QUERY_VENDOR;
}

}  // namespace

hy_status ValidateLayer::Enumerate(hy_array* devices) {
  const Verb verb = Verb::kEnumerate;
  ShadowArray shadow(devices, sizeof(hy_device_info));
  const hy_status status = inner().api().enumerate(inner().self(), devices);
  CheckFault("HAL-ABI-06", verb, shadow.Finish(status));
  CheckStatus(verb, status);
  CheckNull(verb, devices == nullptr, status);
  if (status == HY_OK && devices != nullptr && devices->stride >= sizeof(hy_device_info)) {
    CheckFault("HAL-DEV-02", verb, IdFault(*devices));
  }
  return status;
}

hy_status ValidateLayer::Open(const hy_open_desc* desc, hy_device** out_device) {
  const hy_status status =
      Create(Verb::kOpen, HY_KIND_DEVICE, out_device, LiveObject{},
             [&](hy_device** out) { return inner().api().open(inner().self(), desc, out); });
  if (out_device != nullptr) CheckNull(Verb::kOpen, desc == nullptr, status);
  return status;
}

hy_status ValidateLayer::Query(const hy_query_desc* desc, void* buffer, uint64_t* inout_bytes) {
  const hy_query_desc known = Known(desc);
  const bool is_kind = known.kind >= HY_KIND_DEVICE && known.kind < HY_KIND_COUNT;
  if (is_kind && !IsLive(Verb::kQuery, known.kind, known.handle)) return HY_INVALID_ARGUMENT;
  if (desc != nullptr && inout_bytes != nullptr) {
    return QueryShadowed(known, desc, buffer, inout_bytes);
  }
  const hy_status status = inner().api().query(desc, buffer, inout_bytes);
  CheckStatus(Verb::kQuery, status);
  CheckNull(Verb::kQuery, true, status);
  return status;
}

hy_status ValidateLayer::QueryShadowed(const hy_query_desc& known, const hy_query_desc* desc,
                                       void* buffer, uint64_t* inout_bytes) {
  const Verb verb = Verb::kQuery;
  const uint64_t room_bytes = buffer == nullptr ? 0 : *inout_bytes;
  Shadow shadow(buffer, room_bytes);
  const hy_status status =
      inner().api().query(desc, buffer == nullptr ? nullptr : shadow.data(), inout_bytes);
  CheckStatus(verb, status);
  if (!shadow.IsGuardWhole()) Report("HAL-QRY-03", verb, "wrote beyond the caller's buffer");
  // A placement has a list of its own, whose count is told on OUT_OF_RANGE.
  if (status != HY_OK && known.key != HY_QUERY_PLACEMENT && shadow.IsChanged()) {
    Report(status == HY_UNIMPLEMENTED ? "HAL-QRY-02" : "HAL-QRY-03", verb,
           absl::StrCat("returned ", hy_status_name(status), " and wrote into the buffer"));
  }
  shadow.CopyBack();
  if (status == HY_OUT_OF_RANGE && (buffer == nullptr || *inout_bytes <= room_bytes)) {
    Report("HAL-QRY-03", verb, "returned OUT_OF_RANGE, though the buffer is not short");
  }
  if (status == HY_OK && buffer != nullptr && *inout_bytes > room_bytes) {
    Report("HAL-QRY-03", verb, "returned OK, though the answer does not fit");
  } else if (known.kind == HY_KIND_DEVICE && known.handle != nullptr) {
    CheckAnswer(known, status, buffer, *inout_bytes);
  }
  return status;
}

void ValidateLayer::CheckAnswer(const hy_query_desc& known, hy_status status, const void* buffer,
                                uint64_t bytes) {
  const Verb verb = Verb::kQuery;
  if (status == HY_UNIMPLEMENTED && IsNeededKey(known.key)) {
    Report("HAL-QRY-01", verb, absl::StrCat("does not answer the key ", known.key));
  }
  if (status != HY_OK || buffer == nullptr) return;
  if (known.key == HY_QUERY_MIN_ALIGNMENT) {
    uint64_t alignment = 0;
    if (bytes == sizeof alignment) std::memcpy(&alignment, buffer, sizeof alignment);
    if (!IsPowerOfTwo(alignment)) {
      Report("HAL-QRY-05", verb, "answers a least alignment that is no power of two");
    }
  }
  const bool is_text = known.key == HY_QUERY_VENDOR || known.key == HY_QUERY_DRIVER;
  if (is_text && (bytes == 0 || static_cast<const char*>(buffer)[bytes - 1] != '\0')) {
    Report("HAL-QRY-05", verb, "answers a text without its NUL");
  }
}

hy_status ValidateLayer::Topology(hy_device* device, hy_topology* inout_topology) {
  const Verb verb = Verb::kTopology;
  if (!IsLive(verb, HY_KIND_DEVICE, device)) return HY_INVALID_ARGUMENT;
  hy_topology known = Known(inout_topology);
  const bool is_whole =
      inout_topology != nullptr && inout_topology->struct_size >= sizeof(hy_topology);
  if (!is_whole) {
    const hy_status status = inner().api().topology(device, inout_topology);
    CheckStatus(verb, status);
    CheckNull(verb, inout_topology == nullptr, status);
    return status;
  }
  ShadowStruct shadow(inout_topology);
  hy_topology* const copy = static_cast<hy_topology*>(shadow.data());
  ShadowArray pus(&copy->pus, sizeof(hy_pu));
  ShadowArray nodes(&copy->nodes, sizeof(hy_node));
  ShadowArray caches(&copy->caches, sizeof(hy_cache));
  ShadowArray distances(&copy->distances, sizeof(hy_distance));
  ShadowArray pools(&copy->page_pools, sizeof(hy_page_pool));
  const hy_status status = inner().api().topology(device, copy);
  for (ShadowArray* array : {&pus, &nodes, &caches, &distances, &pools}) {
    CheckFault("HAL-ABI-06", verb, array->Finish(status));
  }
  CheckFault("HAL-ABI-05", verb, shadow.Finish());
  CheckStatus(verb, status);
  CheckNull(verb, device == nullptr, status);
  CheckKnown(verb, (known.flags & ~HY_TOPOLOGY_ALL) == 0, status, "flags");
  if (status == HY_OK) CheckTopology(*inout_topology);
  return status;
}

void ValidateLayer::CheckTopology(const hy_topology& topology) {
  const Verb verb = Verb::kTopology;
  const uint64_t budget = topology.budget_millicpus;
  if (budget == 0 || (topology.quota_millicpus != 0 && budget > topology.quota_millicpus)) {
    Report("HAL-TOP-03", verb,
           absl::StrCat("gave a budget of ", budget, " and a quota of ", topology.quota_millicpus,
                        " millicpus"));
  }
  const uint32_t count = Filled(topology.pus);
  uint64_t allowed = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const auto pu = RecordAt<hy_pu>(topology.pus, i);
    const bool is_allowed = (pu.flags & HY_PU_ALLOWED) != 0;
    allowed += is_allowed ? 1 : 0;
    if (!is_allowed && (topology.flags & HY_TOPOLOGY_ALL) == 0) {
      Report("HAL-TOP-06", verb, absl::StrCat("listed unit ", pu.os_id, ", which is not allowed"));
    }
    if (pu.capacity < 1 || pu.capacity > 1024) {
      Report("HAL-TOP-04", verb,
             absl::StrCat("gave unit ", pu.os_id, " the capacity ", pu.capacity));
    }
  }
  if (count > 0 && count == topology.pus.count && budget > allowed * 1000) {
    Report("HAL-TOP-03", verb,
           absl::StrCat("gave a budget of ", budget, " millicpus for ", allowed, " allowed units"));
  }
}

}  // namespace halyard::hal
