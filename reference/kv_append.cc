// SPDX-License-Identifier: Apache-2.0
#include "ops/kv_append/contract.h"

#include <cstring>
#include <vector>

#include "base/quant/format.h"
#include "reference/reference.h"

namespace halyard::reference {
namespace {

const hy_kv_append_args& Args(const void* raw) {
  return *static_cast<const hy_kv_append_args*>(raw);
}

// Row of `pages` that slot and head name, counted over all axes but the last.
int64_t PageRow(const hy_tensor& pages, int64_t slot, int64_t head) {
  const int64_t page = pages.shape[2];
  return (slot / page * pages.shape[1] + head) * page + slot % page;
}

// One row of one head, rounded once from its exact values. `room`: a row of doubles.
void Convert(const hy_tensor& from, int64_t row, const hy_tensor& pages, double* room, void* to) {
  const int64_t dim = hy_tensor_cols(&from);
  if (from.type == pages.type) {
    std::memcpy(to, hy_tensor_row(&from, row), hy_type_row_bytes(from.type, dim));
    return;
  }
  // Every value of a float type of the contract is an f32.
  auto* values = reinterpret_cast<float*>(room);
  quant::DecodeRowF32(from.type, hy_tensor_row(&from, row), dim, values);
  quant::EncodeRow(pages.type, values, dim, to);
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return ScratchBytes(workers, Args(raw).k.shape[2]);
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_kv_append_args& args = Args(raw);
  const auto* slots = static_cast<const int32_t*>(args.slots.data);
  const int64_t heads = args.k.shape[1];
  const int64_t slot_count = args.k_pages.shape[0] * args.k_pages.shape[2];
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.k.shape[0], 1, context->index, context->count, &begin, &end);
  hy_status status = HY_OK;
  for (int64_t row = begin; row < end && heads > 0 && args.k.shape[2] > 0; ++row) {
    if (slots[row] >= slot_count) status = HY_OUT_OF_RANGE;
    if (slots[row] < 0 || slots[row] >= slot_count) continue;
    double* room = ScratchSlice(*context, args.k.shape[2]);
    for (int64_t head = 0; head < heads; ++head) {
      const int64_t at = PageRow(args.k_pages, slots[row], head);
      Convert(args.k, row * heads + head, args.k_pages, room, hy_tensor_row(&args.k_pages, at));
      Convert(args.v, row * heads + head, args.v_pages, room, hy_tensor_row(&args.v_pages, at));
    }
  }
  return status;
}

// All of one operand's pages, as they must be afterwards.
ExpectedOutput ExpectPages(const hy_kv_append_args& args, uint32_t operand, const hy_tensor& from,
                           const hy_tensor& pages) {
  ExpectedOutput out(operand);
  const auto* slots = static_cast<const int32_t*>(args.slots.data);
  const auto rows = static_cast<size_t>(hy_tensor_rows(&pages));
  const auto row_bytes = static_cast<size_t>(hy_type_row_bytes(pages.type, from.shape[2]));
  out.bytes.resize(rows * row_bytes);
  for (size_t row = 0; row < rows && row_bytes > 0; ++row) {
    std::memcpy(&out.bytes[row * row_bytes], hy_tensor_row(&pages, static_cast<int64_t>(row)),
                row_bytes);
  }
  std::vector<double> room(static_cast<size_t>(from.shape[2]));
  for (int64_t row = 0; row < from.shape[0] && row_bytes > 0; ++row) {
    if (slots[row] < 0 || slots[row] >= pages.shape[0] * pages.shape[2]) continue;
    for (int64_t head = 0; head < from.shape[1]; ++head) {
      const auto at = static_cast<size_t>(PageRow(pages, slots[row], head));
      Convert(from, row * from.shape[1] + head, pages, room.data(), &out.bytes[at * row_bytes]);
    }
  }
  return out;
}

absl::Status Expect(const void* raw, const Numerics&, Expected* out) {
  const hy_kv_append_args& args = Args(raw);
  const auto* slots = static_cast<const int32_t*>(args.slots.data);
  const int64_t slot_count = args.k_pages.shape[0] * args.k_pages.shape[2];
  const bool empty = args.k.shape[1] == 0 || args.k.shape[2] == 0;
  for (int64_t row = 0; row < args.k.shape[0] && !empty; ++row) {
    if (slots[row] >= slot_count) out->status = HY_OUT_OF_RANGE;
  }
  out->outputs.push_back(ExpectPages(args, 3, args.k, args.k_pages));
  out->outputs.push_back(ExpectPages(args, 4, args.v, args.v_pages));
  return absl::OkStatus();
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_KV_APPEND_VERSION,
    .id = "kv_append/any/reference@halyard",
    .op = "kv_append",
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

HALYARD_REFERENCE(kv_append, halyard::reference::kKernel, halyard::reference::Expect)
