// SPDX-License-Identifier: Apache-2.0
//
// The phases of a run: blocks done whole, or in parts whose states are merged in the second phase.
// Included by kernel sources only, which give a struct Unit (chunk.h).
#ifndef HALYARD_OPS_ATTENTION_RUN_H_
#define HALYARD_OPS_ATTENTION_RUN_H_

#include "ops/attention/chunk.h"
#include "ops/attention/plan.h"

namespace {

inline int64_t RoomFloats(const Problem& p) {
  const int64_t rows = p.tokens * p.group;
  return RoundUp(rows * p.pad, 16) + rows * kTile + kTile * p.pad + 2 * StateFloats(p, p.tokens);
}

inline Room RoomOf(const Problem& p, const hy_kernel_context* context) {
  const int64_t rows = p.tokens * p.group;
  Room r;
  r.q = static_cast<float*>(context->scratch) + context->index * RoomFloats(p);
  r.s = r.q + RoundUp(rows * p.pad, 16);
  r.tile = r.s + rows * kTile;
  r.all = StateAt(p, r.tile + kTile * p.pad, p.tokens);
  r.part = StateAt(p, r.tile + kTile * p.pad + StateFloats(p, p.tokens), p.tokens);
  return r;
}

inline void Merge(const Problem& p, const Block& b, State all, State part) {
  for (int64_t m = 0; m < b.tokens * p.group; ++m) MergeRow(p, all, part, m);
}

inline void LoadQueries(const Problem& p, const Block& b, float* q) {
  const hy_tensor* t = &p.args->q;
  for (int64_t m = 0; m < b.tokens * p.group; ++m) {
    const unsigned char* row = static_cast<const unsigned char*>(t->data) +
                               (b.row + m / p.group) * t->stride[0] +
                               (b.kv_head * p.group + m % p.group) * t->stride[1];
    float* out = q + m * p.pad;
    hyk_load_f32(t->type, row, 0, p.dim, out);
    for (int64_t d = p.dim; d < p.pad; ++d) out[d] = 0;
  }
}

inline void StoreRow(const Problem& p, int64_t row, int64_t head, const float* y) {
  const hy_tensor* t = &p.args->y;
  unsigned char* at =
      static_cast<unsigned char*>(t->data) + row * t->stride[0] + head * t->stride[1];
  hyk_store_f32(t->type, at, 0, p.dim, y);
}

// Divides, stores, and says whether the data was right.
inline hy_status Finish(const Problem& p, const Block& b, State st) {
  hy_status status = b.len < 0 ? HY_OUT_OF_RANGE : HY_OK;
  for (int64_t m = 0; m < b.tokens * p.group; ++m) {
    float* acc = st.acc + m * p.pad;
    if (st.sum[m] < 0) status = HY_OUT_OF_RANGE;
    if (st.sum[m] <= 0) {
      for (int64_t d = 0; d < p.dim; ++d) acc[d] = 0;
    } else {
      const float inverse = 1.0f / st.sum[m];
      for (int64_t d = 0; d < p.dim; ++d) acc[d] *= inverse;
    }
    StoreRow(p, b.row + m / p.group, b.kv_head * p.group + m % p.group, acc);
  }
  return status;
}

// Rows that belong to no sequence; all, if the starts make no sense.
inline void ZeroRows(const Problem& p, const hy_kernel_context* context, int64_t first,
                     int64_t last, float* zeros) {
  int64_t begin;
  int64_t end;
  hy_split(first + p.rows - last, 1, context->index, context->count, &begin, &end);
  for (int64_t d = 0; d < p.dim; ++d) zeros[d] = 0;
  for (int64_t i = begin; i < end; ++i) {
    for (int64_t h = 0; h < p.heads; ++h) StoreRow(p, i < first ? i : last + i - first, h, zeros);
  }
}

inline Range ChunksOf(const Block& b) {
  const Range none = {0, 0};
  if (b.keys.first >= b.keys.end) return none;
  const Range r = {b.keys.first / kChunk, (b.keys.end - 1) / kChunk + 1};
  return r;
}

// Where the state of a chunk of a split block waits.
inline State WaitingState(const Problem& p, const Walk& w, const Block& b, int64_t block,
                          int64_t chunk, float* states) {
  const int64_t floats = StateFloats(p, Least(w.cut.rows, p.tokens));
  const int64_t index = block * w.cut.chunks + (chunk - w.cut.chunk);
  return StateAt(p, states + w.cut.state + index * floats, b.tokens);
}

template <class Unit>
hy_status DoBlock(const Problem& p, const Block& b, const Room& room) {
  const Range chunks = ChunksOf(b);
  for (int64_t m = 0; m < b.tokens * p.group; ++m) ClearRow(p, room.all, m);
  LoadQueries(p, b, room.q);
  for (int64_t c = chunks.first; c < chunks.end; ++c) {
    DoChunk<Unit>(p, b, room, c == chunks.first ? room.all : room.part, c);
    if (c != chunks.first) Merge(p, b, room.all, room.part);
  }
  return Finish(p, b, room.all);
}

// Item `item` of the sequence of a walk.
template <class Unit>
hy_status DoItem(const Problem& p, const Plan& plan, const Walk& w, int64_t item, const Room& room,
                 float* states) {
  const int64_t parts = plan.phase == 0 ? w.cut.parts : 1;
  const int64_t block = item / parts;  // over all KV heads
  const int64_t part = item % parts;
  const Block b = BlockOf(p, w.cut, w.sequence, block / w.cut.blocks, block % w.cut.blocks);
  const Range chunks = ChunksOf(b);
  if (w.cut.parts == 1) return DoBlock<Unit>(p, b, room);
  if (plan.phase == 1) {
    for (int64_t m = 0; m < b.tokens * p.group; ++m) ClearRow(p, room.all, m);
    for (int64_t c = chunks.first; c < chunks.end; ++c)
      Merge(p, b, room.all, WaitingState(p, w, b, block, c, states));
    return Finish(p, b, room.all);
  }
  LoadQueries(p, b, room.q);
  const int64_t begin = w.cut.chunk + w.cut.chunks * part / parts;
  const int64_t end = w.cut.chunk + w.cut.chunks * (part + 1) / parts;
  for (int64_t c = Most(begin, chunks.first); c < Least(end, chunks.end); ++c)
    DoChunk<Unit>(p, b, room, WaitingState(p, w, b, block, c, states), c);
  return HY_OK;
}

template <class Unit>
hy_status RunAttention(const void* raw, const hy_kernel_context* context) {
  const Problem p = ProblemOf(static_cast<const hy_attention_args*>(raw), Unit::kLanes);
  if (p.rows == 0 || p.heads == 0 || p.dim == 0) return HY_OK;
  const Room room = RoomOf(p, context);
  const bool rise = StartsRise(p);
  if (context->phase == 0) {
    ZeroRows(p, context, rise ? p.starts[0] : p.rows, rise ? p.starts[p.sequences] : p.rows,
             room.q);
  }
  if (!rise) return HY_OUT_OF_RANGE;
  const int64_t rooms = context->count * RoomFloats(p);
  float* states = static_cast<float*>(context->scratch) + rooms;
  const Plan plan =
      PlanOf(p, context, static_cast<int64_t>(context->scratch_bytes / sizeof(float)) - rooms);
  hy_status status = HY_OK;
  Walk w = WalkStart();
  int64_t item;
  int64_t end;
  while (hy_claim(context, plan.items, 1, &item, &end)) {
    while (item >= w.begin + w.items) WalkNext(p, plan, &w);
    const hy_status one = DoItem<Unit>(p, plan, w, item - w.begin, room, states);
    if (one != HY_OK) status = one;
  }
  return status;
}

template <class Unit>
uint64_t AttentionScratch(const void* raw, uint32_t workers) {
  const Problem p = ProblemOf(static_cast<const hy_attention_args*>(raw), Unit::kLanes);
  const int64_t floats = RoomFloats(p) * workers + StateFloatsWanted(p, workers);
  return static_cast<uint64_t>(floats) * sizeof(float);
}

}  // namespace

#endif  // HALYARD_OPS_ATTENTION_RUN_H_
