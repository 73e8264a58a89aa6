// SPDX-License-Identifier: Apache-2.0
//
// What moves rows and changes their type does: no arithmetic but one rounding to f32, then one to the
// type of the output.
#ifndef HALYARD_REFERENCE_MOVES_H_
#define HALYARD_REFERENCE_MOVES_H_

#include <cstdint>

#include "reference/reference.h"

namespace halyard::reference {

/// Writes row `from_row` of `from`, of any type but i8 and i32 unless the types are equal, to row
/// `to_row` of `to`, of a float type or that of `from`: equal types bit for bit. `room` holds a row
/// of floats.
void MoveRow(const hy_tensor& from, int64_t from_row, const hy_tensor& to, int64_t to_row,
             float* room);

/// Appends what MoveRow must leave in a row of `to`.
void ExpectMovedRow(const hy_tensor& from, int64_t from_row, const hy_tensor& to,
                    ExpectedOutput* out);

/// Adds an output of ExpectMovedRow to what is expected.
void ExpectMovedOutput(const hy_tensor& to, const Numerics& numerics, ExpectedOutput output,
                       Expected* out);

/// Scratch for `room` of each worker.
inline uint64_t MoveScratch(uint32_t workers, int64_t cols) {
  return ScratchBytes(workers, (cols + 1) / 2);
}
inline float* MoveRoom(const hy_kernel_context& context, int64_t cols) {
  return reinterpret_cast<float*>(ScratchSlice(context, (cols + 1) / 2));
}

}  // namespace halyard::reference

#endif  // HALYARD_REFERENCE_MOVES_H_
