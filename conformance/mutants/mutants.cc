// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/mutants.h"

namespace halyard::conformance {
namespace {

hy_hal_get_fn g_base_entry = nullptr;
void (*g_spoil)(hy_hal_api*) = nullptr;
const hy_hal_api* g_good = nullptr;
const hy_host_services* g_services = nullptr;
hy_hal_api g_table;

}  // namespace

namespace mutants {

const hy_hal_api& Good() { return *g_good; }
const hy_host_services& Services() { return *g_services; }

hy_status GoodOpen(const hy_hal_api*, const hy_open_desc* desc, hy_device** out_device) {
  return g_good->open(g_good, desc, out_device);
}
hy_status GoodEnumerate(const hy_hal_api*, hy_array* inout_devices) {
  return g_good->enumerate(g_good, inout_devices);
}

}  // namespace mutants

std::vector<Mutant> AllMutants() {
  std::vector<Mutant> all;
  for (const MutantTable table : {AbiMutants(), PlacementMutants(), MemoryMutants(), TeamMutants(),
                                  MapMutants(), CoherenceMutants(), FenceMutants(),
                                  LifetimeMutants(), CapabilityMutants(), DisciplineMutants()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

void ChooseMutant(hy_hal_get_fn base, void (*spoil)(hy_hal_api* table)) {
  g_base_entry = base;
  g_spoil = spoil;
  g_good = nullptr;
}

const hy_hal_api* MutantEntry(uint32_t host_major, uint32_t host_minor,
                              const hy_host_services* services, uint32_t* out_reason) {
  const hy_hal_api* const good = g_base_entry(host_major, host_minor, services, out_reason);
  if (good == nullptr || g_good != nullptr) return good == nullptr ? nullptr : &g_table;
  g_good = good;
  g_services = services;
  g_table = *good;
  g_table.struct_size = sizeof g_table;
  g_table.open = &mutants::GoodOpen;
  g_table.enumerate = &mutants::GoodEnumerate;
  if (g_spoil != nullptr) g_spoil(&g_table);
  return &g_table;
}

}  // namespace halyard::conformance
