// SPDX-License-Identifier: Apache-2.0
//
// Trap 1: growth of the ABI.
#include <cstring>
#include <vector>

#include "conformance/mutants/mutants.h"

namespace halyard::conformance {
namespace {

using mutants::CopyOf;
using mutants::Good;

// Takes only the size that it was built with.
hy_status AllocExactSize(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                         hy_placement* out_placement) {
  if (desc != nullptr && desc->struct_size != sizeof *desc) return HY_INVALID_ARGUMENT;
  return Good().alloc(device, desc, out_buffer, out_placement);
}

// Cuts what it does not know without looking at it.
hy_status AllocAnyTail(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                       hy_placement* out_placement) {
  if (desc == nullptr || desc->struct_size <= sizeof *desc) {
    return Good().alloc(device, desc, out_buffer, out_placement);
  }
  hy_alloc_desc known = CopyOf(desc);
  known.struct_size = sizeof known;
  return Good().alloc(device, &known, out_buffer, out_placement);
}

// Reads its own size, whatever the caller's.
hy_status QueryFullSize(const hy_query_desc* desc, void* buffer, uint64_t* inout_bytes) {
  if (desc == nullptr || desc->struct_size < 8) return Good().query(desc, buffer, inout_bytes);
  hy_query_desc whole;
  std::memcpy(&whole, desc, sizeof whole);
  whole.struct_size = desc->struct_size;
  return Good().query(desc->struct_size < sizeof whole ? &whole : desc, buffer, inout_bytes);
}

// Writes its own size, whatever the caller's.
hy_status TimestampFullSize(hy_device* device, hy_timestamp* out_timestamp) {
  if (device == nullptr || out_timestamp == nullptr) return HY_INVALID_ARGUMENT;
  hy_timestamp stamp{};
  stamp.struct_size = sizeof stamp;
  const hy_status status = Good().timestamp(device, &stamp);
  if (status == HY_OK) std::memcpy(out_timestamp, &stamp, sizeof stamp);
  return status;
}

// Packs records however far apart the caller wants them.
hy_status EnumeratePacked(const hy_hal_api*, hy_array* inout_devices) {
  if (inout_devices == nullptr) return HY_INVALID_ARGUMENT;
  hy_array packed = *inout_devices;
  packed.stride = sizeof(hy_device_info) + 8;
  const hy_status status = mutants::GoodEnumerate(nullptr, &packed);
  inout_devices->count = packed.count;
  if (packed.data != nullptr && packed.capacity != 0 && inout_devices->stride > packed.stride) {
    // The byte that a caller with longer records finds written between them.
    static_cast<unsigned char*>(packed.data)[sizeof(hy_device_info)] = 0;
  }
  return status;
}

// Zeroes nothing beyond what it knows.
hy_status TimestampNoZeroing(hy_device* device, hy_timestamp* out_timestamp) {
  if (out_timestamp == nullptr || out_timestamp->struct_size <= sizeof *out_timestamp) {
    return Good().timestamp(device, out_timestamp);
  }
  hy_timestamp stamp{};
  stamp.struct_size = sizeof stamp;
  const hy_status status = Good().timestamp(device, &stamp);
  stamp.struct_size = out_timestamp->struct_size;
  if (status == HY_OK) *out_timestamp = stamp;
  return status;
}

}  // namespace

MutantTable AbiMutants() {
  static constexpr Mutant kMutants[] = {
      {"HM01", 1, "alloc takes only a struct of the very size that it was built with", "linux",
       "HAL-ABI-*", [](hy_hal_api* table) { table->alloc = &AllocExactSize; }},
      {"HM02", 1, "alloc cuts an unknown tail without looking whether it is zero", "linux",
       "HAL-ABI-*", [](hy_hal_api* table) { table->alloc = &AllocAnyTail; }},
      {"HM03", 1, "query reads the size that it knows, beyond a shorter struct", "linux",
       "HAL-ABI-*", [](hy_hal_api* table) { table->query = &QueryFullSize; }},
      {"HM04", 1, "timestamp writes the size that it knows, beyond a shorter struct", "linux",
       "HAL-ABI-*", [](hy_hal_api* table) { table->timestamp = &TimestampFullSize; }},
      {"HM05", 1, "enumerate writes between records that lie further apart", "linux", "HAL-ABI-*",
       [](hy_hal_api* table) { table->enumerate = &EnumeratePacked; }},
      {"HM06", 1, "timestamp leaves what it does not know as it was", "linux", "HAL-ABI-*",
       [](hy_hal_api* table) { table->timestamp = &TimestampNoZeroing; }},
  };
  return kMutants;
}

}  // namespace halyard::conformance
