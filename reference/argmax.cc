// SPDX-License-Identifier: Apache-2.0
#include "ops/argmax/contract.h"

#include <cmath>
#include <utility>

#include "reference/reference.h"

namespace halyard::reference {
namespace {

const hy_argmax_args& Args(const void* raw) { return *static_cast<const hy_argmax_args*>(raw); }

// -1 for a row with a NaN, or without elements.
int64_t Argmax(const hy_tensor& x, int64_t row) {
  const void* at = hy_tensor_row(&x, row);
  int64_t best = -1;
  for (int64_t c = 0; c < x.shape[1]; ++c) {
    const double value = LoadElement(x, at, c);
    if (std::isnan(value)) return -1;
    if (best < 0 || value > LoadElement(x, at, best)) best = c;
  }
  return best;
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_argmax_args& args = Args(raw);
  hy_status status = HY_OK;
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t id = Argmax(args.x, row);
    if (id < 0 && args.x.shape[1] > 0) status = HY_INVALID_ARGUMENT;
    StoreElement(args.y, args.y.data, row, static_cast<double>(id));
  }
  return status;
}

absl::Status Expect(const void* raw, const Numerics& /*numerics*/, Expected* out) {
  const hy_argmax_args& args = Args(raw);
  ExpectedOutput y(1);
  y.exact = true;
  for (int64_t row = 0; row < args.x.shape[0]; ++row) {
    y.value.push_back(static_cast<double>(Argmax(args.x, row)));
    if (y.value.back() < 0 && args.x.shape[1] > 0) out->status = HY_INVALID_ARGUMENT;
  }
  y.bound.assign(y.value.size(), 0);
  out->outputs.push_back(std::move(y));
  return absl::OkStatus();
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_ARGMAX_VERSION,
    .id = "argmax/any/reference@halyard",
    .op = "argmax",
    .types = {},
    .isa = {},
    .activation = HY_QA_ANY,
    .accumulator = HY_ACC_F64,
    .priority = HY_PRIORITY_REFERENCE,
    .layout = HY_LAYOUT_CANONICAL,
    .phases = 1,
    .param_count = 0,
    .flags = HY_KERNEL_REFERENCE | HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT,
    .params = nullptr,
    .supports = nullptr,
    .scratch_bytes = nullptr,
    .run = Run,
};

}  // namespace
}  // namespace halyard::reference

HALYARD_REFERENCE(argmax, halyard::reference::kKernel, halyard::reference::Expect)
