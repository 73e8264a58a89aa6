// SPDX-License-Identifier: Apache-2.0
//
// Broken HALs: a table around that of a good port, with one fault. The suite that passes one of
// them fails itself. Their ids say nothing of the fault, so that no test can know it by name.
#ifndef HALYARD_CONFORMANCE_MUTANTS_MUTANTS_H_
#define HALYARD_CONFORMANCE_MUTANTS_MUTANTS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "halyard/hal.h"

namespace halyard::conformance {

struct Mutant {
  const char* id;                    ///< "HM07"
  int trap;                          ///< 1..10: the contract trap that it falls into
  const char* description;           ///< what it does wrong
  const char* base;                  ///< word of the good port
  const char* filter;                ///< areas in which it must be found, for speed
  void (*spoil)(hy_hal_api* table);  ///< puts broken verbs into a copy of the good table
};

/// All of them, numbered without gaps.
std::vector<Mutant> AllMutants();

/// Tables of the files, put together by AllMutants.
using MutantTable = absl::Span<const Mutant>;
MutantTable AbiMutants();
MutantTable PlacementMutants();
MutantTable MemoryMutants();
MutantTable TeamMutants();
MutantTable MapMutants();
MutantTable CoherenceMutants();
MutantTable FenceMutants();
MutantTable LifetimeMutants();
MutantTable CapabilityMutants();
MutantTable DisciplineMutants();

/// Chooses what MutantEntry gives in this process; `spoil` NULL gives the good table, wrapped.
void ChooseMutant(hy_hal_get_fn base, void (*spoil)(hy_hal_api* table));

/// The entry of the chosen mutant.
const hy_hal_api* MutantEntry(uint32_t host_major, uint32_t host_minor,
                              const hy_host_services* services, uint32_t* out_reason);

namespace mutants {

/// The good table and its services, for the broken verbs.
const hy_hal_api& Good();
const hy_host_services& Services();

/// The good open and enumerate want the good table as self.
hy_status GoodOpen(const hy_hal_api*, const hy_open_desc* desc, hy_device** out_device);
hy_status GoodEnumerate(const hy_hal_api*, hy_array* inout_devices);

/// A copy of an input struct of the size that is known here.
template <typename T>
T CopyOf(const T* given) {
  T copy{};
  if (given == nullptr) return copy;
  const uint32_t bytes = given->struct_size < sizeof copy ? given->struct_size : sizeof copy;
  __builtin_memcpy(&copy, given, bytes);
  return copy;
}

}  // namespace mutants
}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_MUTANTS_MUTANTS_H_
