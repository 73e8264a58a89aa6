// SPDX-License-Identifier: Apache-2.0
//
// The references of add and mul.
#ifndef HALYARD_REFERENCE_BINARY_H_
#define HALYARD_REFERENCE_BINARY_H_

#include <utility>
#include <vector>

#include "reference/reference.h"

namespace halyard::reference {

/// Row `row` of y's shape, of a `b` whose axes of size 1 are repeated.
void LoadRepeatedRow(const hy_tensor& b, const hy_tensor& y, int64_t row, double* out);

/// One row in f64, rounded to f32. `b` has room for a row.
template <typename Args, double (*kCombine)(double, double)>
void CombineRow(const Args& args, int64_t row, double* y, double* b) {
  LoadRow(args.a, row, y);
  LoadRepeatedRow(args.b, args.y, row, b);
  for (int64_t c = 0; c < hy_tensor_cols(&args.y); ++c)
    y[c] = RoundTo(HY_TYPE_F32, kCombine(y[c], b[c]));
}

template <typename Args>
uint64_t ScratchOfBinary(const void* raw, uint32_t workers) {
  return ScratchBytes(workers, 2 * hy_tensor_cols(&static_cast<const Args*>(raw)->y));
}

template <typename Args, double (*kCombine)(double, double)>
hy_status RunBinary(const void* raw, const hy_kernel_context* context) {
  const auto& args = *static_cast<const Args*>(raw);
  const int64_t cols = hy_tensor_cols(&args.y);
  double* y = ScratchSlice(*context, 2 * cols);
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(hy_tensor_rows(&args.y), 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end && cols > 0; ++row) {
    CombineRow<Args, kCombine>(args, row, y, y + cols);
    StoreRow(args.y, row, y);
  }
  return HY_OK;
}

/// Values that must be met bit for bit, but by kernels that flush subnormals.
void ExpectExact(const hy_tensor& tensor, const Numerics& numerics, ExpectedOutput output,
                 Expected* out);

template <typename Args, double (*kCombine)(double, double)>
absl::Status ExpectBinary(const void* raw, const Numerics& numerics, Expected* out) {
  const auto& args = *static_cast<const Args*>(raw);
  const auto cols = static_cast<size_t>(hy_tensor_cols(&args.y));
  ExpectedOutput y(2);
  std::vector<double> row_y(cols);
  std::vector<double> b(cols);
  for (int64_t row = 0; row < hy_tensor_rows(&args.y) && cols > 0; ++row) {
    CombineRow<Args, kCombine>(args, row, row_y.data(), b.data());
    y.value.insert(y.value.end(), row_y.begin(), row_y.end());
  }
  ExpectExact(args.y, numerics, std::move(y), out);
  return absl::OkStatus();
}

}  // namespace halyard::reference

#endif  // HALYARD_REFERENCE_BINARY_H_
