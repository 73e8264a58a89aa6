// SPDX-License-Identifier: Apache-2.0
#include "registry/test_ops.h"

#include <cmath>
#include <cstring>

#include "registry/args.h"

namespace halyard::registry {
namespace {

const BlendArgs& Args(const void* raw) { return *static_cast<const BlendArgs*>(raw); }

hy_status ValidateBlend(const void* raw, hy_why* why) {
  const BlendArgs& args = Args(raw);
  if (args.struct_size != sizeof(BlendArgs)) {
    hy_refuse(why, "struct_size is wrong");
    return HY_INVALID_ARGUMENT;
  }
  for (const hy_tensor* t : {&args.x, &args.w, &args.y}) {
    if (t->rank == 2 && t->shape[0] == args.x.shape[0] && t->shape[1] == args.x.shape[1]) continue;
    hy_refuse(why, "x, w and y must have one shape");
    return HY_INVALID_ARGUMENT;
  }
  return HY_OK;
}

uint64_t BlendFlops(const void* raw) {
  return 2 * static_cast<uint64_t>(Args(raw).x.shape[0] * Args(raw).x.shape[1]);
}

constexpr hy_operand kBlendOperands[] = {
    {"x", offsetof(BlendArgs, x),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_IN_PLACE | HY_OPERAND_SLICE(0, 2)},
    {"w", offsetof(BlendArgs, w),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_WEIGHTS | HY_OPERAND_SLICE(0, 2)},
    {"y", offsetof(BlendArgs, y), HY_OPERAND_WRITE | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 2)},
};

hy_status BlendRow(const BlendArgs& args, int64_t row, bool reversed) {
  const int64_t cols = args.x.shape[1];
  const auto* x = static_cast<const float*>(hy_tensor_row(&args.x, row));
  const auto* w = reversed ? static_cast<const float*>(args.w.data) + row * cols
                           : static_cast<const float*>(hy_tensor_row(&args.w, row));
  auto* y = static_cast<float*>(hy_tensor_row(&args.y, row));
  bool wrong = false;
  for (int64_t c = 0; c < cols; ++c) wrong = wrong || std::isnan(x[c]);
  for (int64_t c = 0; c < cols; ++c)
    y[c] = wrong ? 0 : x[c] + args.factor * w[reversed ? cols - 1 - c : c];
  return wrong ? HY_OUT_OF_RANGE : HY_OK;
}

hy_status RunRows(const void* raw, const hy_kernel_context* context, bool reversed) {
  int64_t begin = 0;
  int64_t end = 0;
  hy_status status = HY_OK;
  hy_split(Args(raw).x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end; ++row) {
    const hy_status of_row = BlendRow(Args(raw), row, reversed);
    if (of_row != HY_OK) status = of_row;
  }
  return status;
}

hy_status RunBlend(const void* raw, const hy_kernel_context* context) {
  return RunRows(raw, context, false);
}

hy_status RunReversed(const void* raw, const hy_kernel_context* context) {
  return RunRows(raw, context, true);
}

// Rows by ticket, so that tickets are seen to be 0 at the start of each phase.
hy_status RunClaimed(const void* raw, const hy_kernel_context* context) {
  int64_t begin = 0;
  int64_t end = 0;
  hy_status status = HY_OK;
  while (hy_claim(context, Args(raw).x.shape[0], 1, &begin, &end)) {
    const hy_status of_row = BlendRow(Args(raw), begin, false);
    if (of_row != HY_OK) status = of_row;
  }
  return status;
}

// A counter that hashes to "now and then".
bool FailsNow(uint32_t one_in) {
  static std::atomic<uint64_t> runs{0};
  const uint64_t mixed = (runs.fetch_add(1) + 1) * UINT64_C(0x9E3779B97F4A7C15);
  return one_in != 0 && (mixed >> 40) % one_in == 0;
}

struct Rows {
  int64_t begin = 0;
  int64_t end = 0;
};
Rows OwnRows(const BlendArgs& args, const hy_kernel_context* context) {
  Rows rows;
  hy_split(args.x.shape[0], 1, context->index, context->count, &rows.begin, &rows.end);
  return rows;
}

// What the behaviour says for this worker and phase.
hy_status Told(const hy_kernel_context* context) {
  Behaviour& behaviour = TheBehaviour();
  if (context->phase == 0 && context->index == 0) ++behaviour.calls;
  if (context->phase != behaviour.phase) return HY_OK;
  if (context->index == 0 && FailsNow(behaviour.one_in)) return HY_INTERNAL;
  const uint32_t worker = behaviour.worker;
  const bool is_called = worker == UINT32_MAX || worker == context->index;
  return is_called ? behaviour.status.load() : HY_OK;
}

// Phase 0 copies own rows of x to scratch, phase 1 blends them from there.
hy_status RunTrickster(const void* raw, const hy_kernel_context* context) {
  const BlendArgs& args = Args(raw);
  const auto row_bytes = static_cast<size_t>(args.x.shape[1]) * sizeof(float);
  auto* scratch = static_cast<unsigned char*>(context->scratch);
  const Rows rows = OwnRows(args, context);
  const hy_status told = Told(context);
  BlendArgs from_copy = args;
  from_copy.x.data = scratch;
  from_copy.x.stride[0] = static_cast<int64_t>(row_bytes);
  hy_status status = told;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    if (told != HY_OK) {
      if (TheBehaviour().spoils) std::memset(hy_tensor_row(&args.y, row), 0xee, row_bytes);
    } else if (context->phase == 0) {
      std::memcpy(hy_tensor_row(&from_copy.x, row), hy_tensor_row(&args.x, row), row_bytes);
    } else if (BlendRow(from_copy, row, false) != HY_OK) {
      status = HY_OUT_OF_RANGE;
    }
  }
  return status;
}

// Each phase takes rows by ticket, and does nothing where the ticket does not begin at 0.
hy_status RunTicketed(const void* raw, const hy_kernel_context* context) {
  const BlendArgs& args = Args(raw);
  const int64_t cols = args.x.shape[1];
  int64_t begin = 0;
  int64_t end = 0;
  while (hy_claim(context, args.x.shape[0], 1, &begin, &end)) {
    float* sum = static_cast<float*>(context->scratch) + begin * cols;
    const auto* x = static_cast<const float*>(hy_tensor_row(&args.x, begin));
    const auto* w = static_cast<const float*>(hy_tensor_row(&args.w, begin));
    auto* y = static_cast<float*>(hy_tensor_row(&args.y, begin));
    for (int64_t c = 0; c < cols; ++c) {
      if (context->phase == 0) sum[c] = x[c];
      if (context->phase == 1) sum[c] += args.factor * w[c];
      if (context->phase == 2) y[c] = sum[c];
    }
  }
  return HY_OK;
}

uint64_t TricksterScratch(const void* raw, uint32_t) {
  return ExtentBytes(hy_tensor_dense(nullptr, HY_TYPE_F32, 2, Args(raw).x.shape));
}

hy_status ValidatePut(const void* raw, hy_why*) {
  const auto& args = *static_cast<const PutArgs*>(raw);
  return args.x.rank == 2 && args.pages.rank == 2 ? HY_OK : HY_INVALID_ARGUMENT;
}

constexpr hy_operand kPutOperands[] = {
    {"x", offsetof(PutArgs, x), HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 2)},
    {"slots", offsetof(PutArgs, slots), HY_OPERAND_READ | HY_OPERAND_SLICE(0, 1)},
    {"pages", offsetof(PutArgs, pages), HY_OPERAND_READ | HY_OPERAND_WRITE | HY_OPERAND_TYPED},
};

hy_status RunPut(const void* raw, const hy_kernel_context* context) {
  const auto& args = *static_cast<const PutArgs*>(raw);
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end; ++row) {
    const int32_t slot = static_cast<const int32_t*>(args.slots.data)[row];
    std::memcpy(hy_tensor_row(&args.pages, slot), hy_tensor_row(&args.x, row),
                static_cast<size_t>(args.x.shape[1]) * sizeof(float));
  }
  return HY_OK;
}

hy_status RunPutTrickster(const void* raw, const hy_kernel_context* context) {
  const hy_status status = RunPut(raw, context);
  Behaviour& behaviour = TheBehaviour();
  if (context->index == 0) ++behaviour.calls;
  return behaviour.status == HY_OK ? status : behaviour.status.load();
}

hy_kernel_desc Desc(const char* id, const char* op, int32_t priority,
                    hy_status (*run)(const void*, const hy_kernel_context*)) {
  hy_kernel_desc desc{};
  desc.struct_size = sizeof desc;
  desc.contract_version = 1;
  desc.id = id;
  desc.op = op;
  desc.priority = priority;
  desc.phases = 1;
  desc.run = run;
  if (priority < HY_PRIORITY_GENERIC) desc.flags = HY_KERNEL_REFERENCE;
  return desc;
}

void Reverse(const hy_tensor& matrix, float* packed, bool packs, uint32_t index, uint32_t count) {
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(matrix.shape[0], 1, index, count, &begin, &end);
  const int64_t cols = matrix.shape[1];
  for (int64_t row = begin; row < end; ++row) {
    auto* canonical = static_cast<float*>(hy_tensor_row(&matrix, row));
    for (int64_t c = 0; c < cols; ++c) {
      float& reversed = packed[row * cols + cols - 1 - c];
      if (packs) {
        reversed = canonical[c];
      } else {
        canonical[c] = reversed;
      }
    }
  }
}

}  // namespace

const hy_op_desc kBlend = {sizeof(hy_op_desc),
                           1,
                           "blend",
                           sizeof(BlendArgs),
                           3,
                           kBlendOperands,
                           ValidateBlend,
                           BlendFlops,
                           nullptr,
                           offsetof(BlendArgs, activation),
                           0};
const hy_op_desc kPut = {sizeof(hy_op_desc),
                         1,
                         "put",
                         sizeof(PutArgs),
                         3,
                         kPutOperands,
                         ValidatePut,
                         [](const void*) -> uint64_t { return 0; },
                         nullptr,
                         0,
                         0};

const hy_layout_desc kReversed = {
    sizeof(hy_layout_desc),
    kReversedId,
    "f32/reversed@acme",
    HY_TYPE_F32,
    0,
    [](int64_t, int64_t cols, hy_why* why) {
      return cols % 4 == 0 ? 1 : hy_refuse(why, "rows are not whole fours");
    },
    [](int64_t rows, int64_t cols) { return static_cast<uint64_t>(rows * cols) * sizeof(float); },
    [](const hy_tensor* canonical, void* packed, uint32_t index, uint32_t count) {
      Reverse(*canonical, static_cast<float*>(packed), true, index, count);
    },
    [](const void* packed, const hy_tensor* canonical, uint32_t index, uint32_t count) {
      Reverse(*canonical, static_cast<float*>(const_cast<void*>(packed)), false, index, count);
    }};

Behaviour& TheBehaviour() {
  static Behaviour behaviour;
  return behaviour;
}

void ResetBehaviour() {
  Behaviour& behaviour = TheBehaviour();
  behaviour.status = HY_OK;
  behaviour.phase = 0;
  behaviour.worker = UINT32_MAX;
  behaviour.spoils = false;
  behaviour.one_in = 0;
  behaviour.calls = 0;
}

hy_kernel_desc BlendReference() {
  return Desc("blend/any/reference@halyard", "blend", HY_PRIORITY_REFERENCE, RunBlend);
}

hy_kernel_desc PutReference() {
  return Desc("put/any/reference@halyard", "put", HY_PRIORITY_REFERENCE, RunPut);
}

hy_kernel_desc BlendKernel(const char* id, int32_t priority) {
  return Desc(id, "blend", priority, RunClaimed);
}

hy_kernel_desc Trickster(const char* id, int32_t priority) {
  hy_kernel_desc desc = Desc(id, "blend", priority, RunTrickster);
  desc.phases = 2;
  desc.scratch_bytes = TricksterScratch;
  return desc;
}

hy_kernel_desc Ticketed(const char* id, int32_t priority) {
  hy_kernel_desc desc = Desc(id, "blend", priority, RunTicketed);
  desc.phases = 3;
  desc.scratch_bytes = TricksterScratch;
  return desc;
}

hy_kernel_desc ReversedKernel(const char* id, int32_t priority) {
  hy_kernel_desc desc = Desc(id, "blend", priority, RunReversed);
  desc.layout = kReversedId;
  return desc;
}

hy_kernel_desc PutTrickster(const char* id, int32_t priority) {
  return Desc(id, "put", priority, RunPutTrickster);
}

}  // namespace halyard::registry
