// SPDX-License-Identifier: Apache-2.0
#include "reference/binary.h"

namespace halyard::reference {

void LoadRepeatedRow(const hy_tensor& b, const hy_tensor& y, int64_t row, double* out) {
  // The row's index along each axis, from the innermost outwards, is its index in b, or 0.
  const auto* at = static_cast<const unsigned char*>(b.data);
  int64_t rest = row;
  for (uint32_t i = y.rank - 1; i-- > 0;) {
    const int64_t index = rest % y.shape[i];
    rest /= y.shape[i];
    if (b.shape[i] != 1) at += index * b.stride[i];
  }
  const bool repeats = hy_tensor_cols(&b) == 1;
  for (int64_t c = 0; c < hy_tensor_cols(&y); ++c) out[c] = LoadElement(b, at, repeats ? 0 : c);
}

void ExpectExact(const hy_tensor& tensor, const Numerics& numerics, ExpectedOutput output,
                 Expected* out) {
  output.bound.assign(output.value.size(), 0);
  output.exact = (numerics.flags & HY_KERNEL_FTZ) == 0;
  if (!output.exact) {
    AddStorageBound(tensor, &output);
    AllowFlush(tensor, &output);
  }
  out->outputs.push_back(std::move(output));
}

}  // namespace halyard::reference
