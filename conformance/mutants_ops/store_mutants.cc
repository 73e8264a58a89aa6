// SPDX-License-Identifier: Apache-2.0
//
// K09: what goes wrong when a result is stored.
#include <cmath>
#include <vector>

#include "base/half.h"
#include "conformance/mutants_ops/op_mutants.h"
#include "ops/silu_mul/contract.h"
#include "reference/reference.h"

namespace halyard::conformance {
namespace {

uint16_t Truncated(double value) {
  return static_cast<uint16_t>(FloatBits(static_cast<float>(value)) >> 16);
}

// silu(gate) * up in f64, then cut to its upper half instead of rounded.
hy_status RunTruncating(const void* raw, const hy_kernel_context* context) {
  const auto& args = *static_cast<const hy_silu_mul_args*>(raw);
  const auto cols = static_cast<size_t>(hy_tensor_cols(&args.y));
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(hy_tensor_rows(&args.y), 1, context->index, context->count, &begin, &end);
  std::vector<double> gate(cols);
  std::vector<double> up(cols);
  for (int64_t r = begin; r < end && cols > 0; ++r) {
    reference::LoadRow(args.gate, r, gate.data());
    reference::LoadRow(args.up, r, up.data());
    auto* y = static_cast<uint16_t*>(hy_tensor_row(&args.y, r));
    for (size_t c = 0; c < cols; ++c) {
      y[c] = Truncated(gate[c] / (1 + std::exp(-gate[c])) * up[c]);
    }
  }
  return HY_OK;
}

}  // namespace

std::vector<OpMutant> StoreMutants() {
  return {{"K09", "silu_mul: a result is cut to bf16 instead of rounded", "silu_mul", Trap::kKernel,
           op_mutants::Typed(RunTruncating, HY_TYPE_NONE, HY_TYPE_BF16)}};
}

}  // namespace halyard::conformance
