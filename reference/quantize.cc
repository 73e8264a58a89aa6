// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/contract.h"

#include <utility>
#include <vector>

#include "base/quant/format.h"
#include "reference/moves.h"
#include "reference/reference.h"

namespace halyard::reference {
namespace {

const hy_quantize_args& Args(const void* raw) { return *static_cast<const hy_quantize_args*>(raw); }

void QuantizeRow(const hy_quantize_args& args, int64_t row, float* room, void* out) {
  const int64_t cols = args.x.shape[1];
  quant::DecodeRowF32(args.x.type, hy_tensor_row(&args.x, row), cols, room);
  if (hy_type_is_a8(args.y.type)) {
    quant::QuantizeActivations(args.y.type, args.asymmetric != 0, room, cols, out);
  } else {
    quant::EncodeRow(args.y.type, room, cols, out);
  }
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return MoveScratch(workers, Args(raw).x.shape[1]);
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_quantize_args& args = Args(raw);
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end && args.x.shape[1] > 0; ++row) {
    QuantizeRow(args, row, MoveRoom(*context, args.x.shape[1]), hy_tensor_row(&args.y, row));
  }
  return HY_OK;
}

absl::Status Expect(const void* raw, const Numerics&, Expected* out) {
  const hy_quantize_args& args = Args(raw);
  const size_t row_bytes = hy_type_row_bytes(args.y.type, args.y.shape[1]);
  ExpectedOutput y(1);
  y.bytes.resize(static_cast<size_t>(args.y.shape[0]) * row_bytes);
  std::vector<float> room(static_cast<size_t>(args.x.shape[1]));
  for (int64_t row = 0; row < args.y.shape[0] && row_bytes > 0; ++row)
    QuantizeRow(args, row, room.data(), &y.bytes[static_cast<size_t>(row) * row_bytes]);
  out->outputs.push_back(std::move(y));
  return absl::OkStatus();
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_QUANTIZE_VERSION,
    .id = "quantize/any/reference@halyard",
    .op = "quantize",
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
    .scratch_bytes = Scratch,
    .run = Run,
};

}  // namespace
}  // namespace halyard::reference

HALYARD_REFERENCE(quantize, halyard::reference::kKernel, halyard::reference::Expect)
