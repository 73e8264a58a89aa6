// SPDX-License-Identifier: Apache-2.0
//
// Trap 9: capabilities that are claimed, and refusals that come too late.
#include <algorithm>
#include <cstring>

#include "conformance/mutants/mutants.h"
#include "halyard/hal_port.h"

namespace halyard::conformance {
namespace {

using mutants::CopyOf;
using mutants::Good;
using mutants::Services;

hy_status NoImport(hy_device*, const hy_import_desc*, hy_buffer**) { return HY_UNIMPLEMENTED; }

// Takes the operations one by one, and refuses when it comes to one that it cannot do.
hy_status SubmitStepByStep(hy_device* device, hy_queue* queue, const hy_submission* submission) {
  hy_submission copy = CopyOf(submission);
  if (submission == nullptr || copy.ops.data == nullptr || copy.ops.count < 2) {
    return Good().submit(device, queue, submission);
  }
  copy.struct_size = sizeof copy;
  const hy_array all = copy.ops;
  for (uint32_t i = 0; i < all.count; ++i) {
    copy.ops = {hy_array_at(&all, i), 1, 1, all.stride, 0};
    const hy_status status = Good().submit(device, queue, &copy);
    if (status != HY_OK) return status;
  }
  return HY_OK;
}

void ClaimEverything(uint64_t isa[2]) { isa[0] = isa[1] = UINT64_MAX; }

hy_status BindClaimsTheBestIsa(hy_device* device, uint32_t pu, uint32_t mode,
                               hy_worker_report* inout_report) {
  const hy_status status = Good().worker_bind != nullptr
                               ? Good().worker_bind(device, pu, mode, inout_report)
                               : Services().worker_bind(pu, mode, inout_report);
  if (status == HY_OK && mode == HY_BIND_ENTER) ClaimEverything(inout_report->isa);
  return status;
}

hy_status TopologyClaimsTheBestIsa(hy_device* device, hy_topology* inout_topology) {
  const hy_status status = Good().topology != nullptr ? Good().topology(device, inout_topology)
                                                      : Services().topology_read(inout_topology);
  if (status != HY_OK || inout_topology->pus.data == nullptr) return status;
  for (uint32_t i = 0; i < inout_topology->pus.count; ++i) {
    ClaimEverything(static_cast<hy_pu*>(hy_array_at(&inout_topology->pus, i))->isa);
  }
  return status;
}

int g_open_devices = 0;
hy_status OpenOnlyOnce(const hy_hal_api*, const hy_open_desc* desc, hy_device** out_device) {
  if (out_device != nullptr && g_open_devices > 0) {
    *out_device = nullptr;
    return HY_ALREADY_EXISTS;
  }
  const hy_status status = mutants::GoodOpen(nullptr, desc, out_device);
  if (status == HY_OK) ++g_open_devices;
  return status;
}
hy_status ReleaseCountsDevices(uint32_t kind, void* handle) {
  if (kind == HY_KIND_DEVICE && handle != nullptr) --g_open_devices;
  return Good().release(kind, handle);
}

// A short buffer gets as much as fits.
hy_status QueryWritesAPart(const hy_query_desc* desc, void* buffer, uint64_t* inout_bytes) {
  const uint64_t room = inout_bytes == nullptr ? 0 : *inout_bytes;
  const hy_status status = Good().query(desc, buffer, inout_bytes);
  if (status == HY_OUT_OF_RANGE && buffer != nullptr) {
    std::memset(buffer, 0, static_cast<size_t>(room));
  }
  return status;
}

// Any key has the answer 0.
hy_status QueryAnswersAnything(const hy_query_desc* desc, void* buffer, uint64_t* inout_bytes) {
  const hy_status status = Good().query(desc, buffer, inout_bytes);
  if (status != HY_UNIMPLEMENTED || CopyOf(desc).key < 1000) return status;
  return hy_answer_u64(0, buffer, inout_bytes);
}

// Tells fewer bytes free at each call.
hy_status QueryDrifts(const hy_query_desc* desc, void* buffer, uint64_t* inout_bytes) {
  const hy_status status = Good().query(desc, buffer, inout_bytes);
  static uint64_t less = 0;
  if (status == HY_OK && buffer != nullptr && desc->key == HY_QUERY_MAX_ALLOC) {
    *static_cast<uint64_t*>(buffer) -= ++less;
  }
  return status;
}

}  // namespace

MutantTable CapabilityMutants() {
  static constexpr Mutant kMutants[] = {
      {"HM55", 9, "says that it imports host memory, and refuses to", "linux", "HAL-IMP-*",
       [](hy_hal_api* table) { table->import_host = &NoImport; }},
      {"HM56", 9, "submit does the first operations and then refuses", "sim_discrete", "HAL-QUE-*",
       [](hy_hal_api* table) { table->submit = &SubmitStepByStep; }},
      {"HM57", 9, "worker_bind claims every instruction set", "linux", "HAL-TEAM-0*",
       [](hy_hal_api* table) { table->worker_bind = &BindClaimsTheBestIsa; }},
      {"HM58", 9, "topology claims every instruction set", "linux", "HAL-TOP-*",
       [](hy_hal_api* table) { table->topology = &TopologyClaimsTheBestIsa; }},
      {"HM59", 9, "says that it opens twice, and refuses to", "linux", "HAL-DEV-*",
       [](hy_hal_api* table) {
         table->open = &OpenOnlyOnce;
         table->release = &ReleaseCountsDevices;
       }},
      {"HM60", 9, "query fills a short buffer with a part of the answer", "linux", "HAL-QRY-*",
       [](hy_hal_api* table) { table->query = &QueryWritesAPart; }},
      {"HM61", 9, "query answers keys that it does not know", "linux", "HAL-QRY-*",
       [](hy_hal_api* table) { table->query = &QueryAnswersAnything; }},
      {"HM62", 9, "the largest allocation shrinks at each question", "linux", "HAL-QRY-*",
       [](hy_hal_api* table) { table->query = &QueryDrifts; }},
  };
  return kMutants;
}

}  // namespace halyard::conformance
