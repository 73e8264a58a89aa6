// SPDX-License-Identifier: Apache-2.0
//
// References: what each op must give, in f64, and how far from it a kernel may be.
//
// Plain loops, built without vectoriser, contraction or ISA flags, and apart from every kernel, so
// that both cannot be wrong in the same way. Each reference is used twice: as the kernel of last
// resort (halyard_reference_<op>, HY_PRIORITY_REFERENCE, split over workers by whole rows), and as
// the judge of all others (Expect).
#ifndef HALYARD_REFERENCE_REFERENCE_H_
#define HALYARD_REFERENCE_REFERENCE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "halyard/kernel.h"

namespace halyard::reference {

/// What a kernel under judgement declares.
struct Numerics {
  uint32_t activation = HY_QA_ANY;  ///< ANY: as HY_QA_NONE
  uint32_t accumulator = HY_ACC_F32;
  uint64_t flags = 0;  ///< HY_KERNEL_*
};

/// What one output operand must hold. Elements in the order of rows and columns; records and block
/// formats by `bytes`.
struct ExpectedOutput {
  explicit ExpectedOutput(uint32_t which) : operand(which) {}

  uint32_t operand;  ///< index into hy_op_desc::operands
  /// f64 result, unrounded; what the output may differ from by `bound`. NaN expects a NaN, an
  /// infinity the same infinity.
  std::vector<double> value;
  /// Largest accepted |out - value|, that of storing included (AddStorageBound). Not looked at with
  /// `exact`: then out is the value rounded once to the output's type, bit for bit.
  std::vector<double> bound;
  bool exact = false;
  /// Rows of an output that is bytes (a8 records, block formats, pure moves): compared bit for bit,
  /// row after row without gaps. Then value and bound are empty.
  std::vector<uint8_t> bytes;
  /// For outputs that are choices: further values that are as good, by element; may be empty.
  std::vector<std::vector<double>> alternatives;
  /// Elements that the op must leave as they were (rows of an expert without tokens, free slots of
  /// a page): 1 for each such element, or empty.
  std::vector<uint8_t> untouched;
};

struct Expected {
  std::vector<ExpectedOutput> outputs;
  /// What run must return: OK, or the status for wrong data.
  hy_status status = HY_OK;
  /// Of products (or terms) sampled over all outputs, how many exceed twice the bound of their
  /// output: a kernel that drops such a one is seen. See "power" in docs/conformance.md. 0 and 0
  /// where the op has no sums.
  uint64_t terms_sampled = 0;
  uint64_t terms_visible = 0;
};

/// One op's reference.
struct ReferenceOp {
  const char* op;
  const hy_kernel_desc* kernel;
  /// Computes what a kernel of those numerics must give for args, which passed validate. Reads
  /// inputs only. Threads: any.
  absl::Status (*expect)(const void* args, const Numerics& numerics, Expected* out);
};

/// Roundoff and such of an output type.
double UnitRoundoff(uint32_t type);  ///< f32 2^-24, f16 2^-11, bf16 2^-8
/// Value of the element `col` of a row, of any float or integer type.
double LoadElement(const hy_tensor& tensor, const void* row, int64_t col);
/// A row of any type as doubles: weights decoded exactly, a8 records as scale * (code - zero).
void LoadRow(const hy_tensor& tensor, int64_t row, double* out);
/// `value` rounded once, nearest-even, to a float type.
double RoundTo(uint32_t type, double value);
/// Rounds once and stores one element of a float or integer type; integers must be exact.
void StoreElement(const hy_tensor& tensor, void* row, int64_t col, double value);
/// Rounds each value once and stores it; a row of i32 must hold integers. For a8 types the row is
/// rounded to f32 and quantised (a8_token symmetric), which uses up `values`.
void StoreRow(const hy_tensor& tensor, int64_t row, double* values);

/// Worker's slice of a scratch that holds `doubles` doubles for each worker: reference kernels keep
/// OP-RUN-10 like all others.
double* ScratchSlice(const hy_kernel_context& context, int64_t doubles);
inline uint64_t ScratchBytes(uint32_t workers, int64_t doubles) {
  return static_cast<uint64_t>(workers) * hy_round_up(static_cast<uint64_t>(doubles) * 8, 64);
}

/// Adds what storing costs to the bounds of an output whose bounds are of the arithmetic alone: half
/// an ulp of the output's type at value, its smallest subnormal; for a8 types half a step of the
/// row's (block's) own scale. Values beyond a float type's range become infinities; where only the
/// bound reaches beyond, infinity is an alternative.
void AddStorageBound(const hy_tensor& tensor, ExpectedOutput* out);
/// Allows subnormal results to be 0, for kernels that declare HY_KERNEL_FTZ.
void AllowFlush(const hy_tensor& tensor, ExpectedOutput* out);

}  // namespace halyard::reference

/// Defines `halyard_reference_NAME`, which the generated table lists.
#define HALYARD_REFERENCE(NAME, KERNEL, EXPECT)                          \
  extern const halyard::reference::ReferenceOp halyard_reference_##NAME; \
  const halyard::reference::ReferenceOp halyard_reference_##NAME = {#NAME, &KERNEL, EXPECT};

#endif  // HALYARD_REFERENCE_REFERENCE_H_
