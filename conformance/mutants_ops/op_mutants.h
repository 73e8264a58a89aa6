// SPDX-License-Identifier: Apache-2.0
//
// Kernels that are broken on purpose, each with a fault that real ones had. A suite that passes one
// of them fails itself. Their kernel ids say nothing of the fault, so that no test can know it by
// name.
#ifndef HALYARD_CONFORMANCE_MUTANTS_OPS_OP_MUTANTS_H_
#define HALYARD_CONFORMANCE_MUTANTS_OPS_OP_MUTANTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "halyard/kernel.h"
#include "ops/builtin.h"

namespace halyard::conformance {

/// How a mutant shows.
enum class Trap {
  kKernel,      ///< a case of its kernel fails
  kDescriptor,  ///< a check of its descriptor fails
  kPretender,   ///< what ran in its place is not reported as its own pass
  kPacked,      ///< as kKernel; it takes weights in the first layout of its second type
};

struct OpMutant {
  const char* id;           ///< "K07"; variants of one fault share it
  const char* description;  ///< what it does wrong
  const char* op;
  Trap trap = Trap::kKernel;
  /// types, flags, phases and functions; op, id, priority and contract version are filled in.
  hy_kernel_desc desc{};
};

/// All of them: K01..K17, A01..A03, then the reserves R1, ...
std::vector<OpMutant> AllOpMutants();

/// The same code without the faults: these must survive, or what kills the mutants is not the fault.
std::vector<OpMutant> ControlKernels();

/// Broken kernels that are right alone and wrong among others: G01, ... Level L2 must find them.
std::vector<OpMutant> GraphMutants();
std::vector<OpMutant> GraphControls();

/// HAL mutants (conformance/mutants) that stand for A04..A08 and R9: "HM05, HM06".
struct MappedMutant {
  const char* id;
  const char* hal_mutants;
  const char* description;
};
absl::Span<const MappedMutant> MappedHalMutants();

/// The mutant as a table with one kernel, of the provider "mutants". Valid until the next call; the
/// chosen one's kernel runs the op's reference for what it does right. NULL: it needs what is not here.
const hy_kernel_table* ChooseOpMutant(const OpMutant& mutant, const BuiltinOps& builtin);

/// Tables of the files.
std::vector<OpMutant> MatmulMutants();
std::vector<OpMutant> StoreMutants();
std::vector<OpMutant> RowsMutants();
std::vector<OpMutant> AttentionMutants();
std::vector<OpMutant> SafetyMutants();
std::vector<OpMutant> ReserveMutants();
std::vector<OpMutant> MatmulControls();
std::vector<OpMutant> RowsControls();
std::vector<OpMutant> AttentionControls();
std::vector<OpMutant> ReserveControls();

namespace op_mutants {

/// The reference of the chosen mutant's op.
const hy_kernel_desc& Good();
/// Good().run and Good().scratch_bytes, for mutants that do right first.
hy_status RunGood(const void* args, const hy_kernel_context* context);
uint64_t GoodScratch(const void* args, uint32_t workers);

/// A descriptor to begin with: one phase, f32 sums, no promises.
hy_kernel_desc Plain(hy_status (*run)(const void*, const hy_kernel_context*));
/// The same for given types of the op's tuple; HY_TYPE_NONE is any.
hy_kernel_desc Typed(hy_status (*run)(const void*, const hy_kernel_context*), uint32_t a,
                     uint32_t b = HY_TYPE_NONE, uint32_t c = HY_TYPE_NONE);

}  // namespace op_mutants
}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_MUTANTS_OPS_OP_MUTANTS_H_
