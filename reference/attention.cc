// SPDX-License-Identifier: Apache-2.0
#include "reference/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halyard::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const hy_attention_args& Args(const void* raw) {
  return *static_cast<const hy_attention_args*>(raw);
}

const int32_t* Ints(const hy_tensor& tensor, int64_t row = 0) {
  return static_cast<const int32_t*>(hy_tensor_row(&tensor, row));
}

bool StartsRise(const hy_attention_args& args) {
  const int32_t* start = Ints(args.q_start);
  int32_t last = 0;
  for (int64_t s = 0; s < args.q_start.shape[0]; ++s) {
    if (start[s] < last) return false;
    last = start[s];
  }
  return last <= args.q.shape[0];
}

bool PagesExist(const hy_attention_args& args, const AttentionView& view) {
  const int64_t page = args.k_pages.shape[2];
  const int32_t* table = Ints(args.block_table, view.sequence);
  for (int64_t j = view.first; j < view.end; ++j) {
    const int32_t id = table[j / page];
    if (id < 0 || id >= args.k_pages.shape[0]) return false;
  }
  return true;
}

// One row of one head. `room`: three rows of doubles; y is unrounded.
void Attend(const hy_attention_args& args, const AttentionView& view, int64_t row, int64_t head,
            double* room, double* y) {
  const int64_t dim = args.q.shape[2];
  const int64_t kv_head = head / (args.q.shape[1] / args.k_pages.shape[1]);
  double* q = room;
  double* k = room + dim;
  double* v = room + 2 * dim;
  LoadRow(args.q, row * args.q.shape[1] + head, q);
  double largest = -kInfinity;
  for (int64_t j = view.first; j < view.end; ++j) {
    LoadSlot(args, args.k_pages, view.sequence, j, kv_head, k);
    largest = LargestScore(largest, AttentionScoreOf(args, q, k).value);
  }
  std::fill_n(y, dim, 0.0);
  if (largest == -kInfinity) return;
  double sum = 0;
  for (int64_t j = view.first; j < view.end; ++j) {
    LoadSlot(args, args.k_pages, view.sequence, j, kv_head, k);
    LoadSlot(args, args.v_pages, view.sequence, j, kv_head, v);
    const double weight = std::exp(AttentionScoreOf(args, q, k).value - largest);
    sum += weight;
    for (int64_t d = 0; d < dim; ++d) y[d] += weight * v[d];
  }
  for (int64_t d = 0; d < dim; ++d) y[d] /= sum;
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return ScratchBytes(workers, 4 * Args(raw).q.shape[2]);
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_attention_args& args = Args(raw);
  const int64_t dim = args.q.shape[2];
  const int64_t heads = args.q.shape[1];
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.q.shape[0], 1, context->index, context->count, &begin, &end);
  hy_status status = HY_OK;
  for (int64_t row = begin; row < end && dim > 0 && heads > 0; ++row) {
    double* room = ScratchSlice(*context, 4 * dim);
    double* y = room + 3 * dim;
    const AttentionView view = AttentionViewOf(args, row);
    if (view.fault) status = HY_OUT_OF_RANGE;
    for (int64_t head = 0; head < heads; ++head) {
      Attend(args, view, row, head, room, y);
      StoreRow(args.y, row * heads + head, y);
    }
  }
  return status;
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_ATTENTION_VERSION,
    .id = "attention/any/reference@halyard",
    .op = "attention",
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

AttentionView AttentionViewOf(const hy_attention_args& args, int64_t row) {
  AttentionView view;
  const AttentionView faulty = {-1, 0, 0, true};
  if (!StartsRise(args)) return faulty;
  const int32_t* start = Ints(args.q_start);
  const int64_t sequences = args.kv_len.shape[0];
  int64_t s = 0;
  while (s < sequences && !(start[s] <= row && row < start[s + 1])) ++s;
  if (s == sequences) return view;
  view.sequence = s;
  const int64_t len = Ints(args.kv_len)[s];
  if (len < 0 || len > args.block_table.shape[1] * args.k_pages.shape[2]) return faulty;
  const int64_t position = len - start[s + 1] + row;
  view.end = args.causal != 0 ? position + 1 : len;
  if (args.window > 0) {
    view.first = std::max<int64_t>(0, position - args.window + 1);
    view.end = std::min(view.end, position + args.window);
  }
  view.end = std::max(view.end, view.first);
  return PagesExist(args, view) ? view : faulty;
}

void LoadSlot(const hy_attention_args& args, const hy_tensor& pages, int64_t sequence, int64_t key,
              int64_t kv_head, double* out) {
  const int64_t page = pages.shape[2];
  const int64_t id = Ints(args.block_table, sequence)[key / page];
  LoadRow(pages, (id * pages.shape[1] + kv_head) * page + key % page, out);
}

AttentionScore AttentionScoreOf(const hy_attention_args& args, const double* q, const double* k) {
  const int64_t dim = args.q.shape[2];
  double sum = 0;
  double squares = 0;
  for (int64_t d = 0; d < dim; ++d) {
    const double term = q[d] * k[d];
    sum += term;
    squares += term * term;
  }
  const double scale = double{args.scale};
  const double cap = double{args.soft_cap};
  const double scaled = scale * sum;
  const double value = cap > 0 ? cap * std::tanh(scaled / cap) : scaled;
  const double dot_slack =
      4 * std::sqrt(static_cast<double>(dim)) * (std::abs(sum) + 3 * std::sqrt(squares));
  return {value, std::abs(scale) * dot_slack + std::abs(value), cap > 0 ? 8 * std::abs(value) : 0};
}

double LargestScore(double largest, double score) {
  if (std::isnan(largest) || std::isnan(score) || score == kInfinity) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return std::max(largest, score);
}

}  // namespace halyard::reference

HALYARD_REFERENCE(attention, halyard::reference::kKernel, halyard::reference::ExpectAttention)
