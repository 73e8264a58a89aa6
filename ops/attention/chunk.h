// SPDX-License-Identifier: Apache-2.0
//
// From keys and values in pages to the state of a chunk. Included by kernel sources only.
//
// The inner loops are given by a kernel source as a struct Unit of static functions:
//   kLanes               rows in scratch are a multiple of so many floats, zeros behind the dimension
//   Direct(p, m)         whether Scores and Accumulate read the pages for m rows (token * head); if
//                        not, a tile is converted to f32 first. Both ways must give the same bits.
//   Convert(type, row, dim, out)              one row of a page to f32
//   Scores(type, q, m, rows, n, pad, s)       s[i * kTile + j] = q[i] . rows[j], n a multiple of 4
//   Accumulate(type, w, m, rows, n, pad, acc) acc[i] += sum over j in order of w[i * kTile + j] rows[j]
// What they make of one i and j may not depend on others.
#ifndef HALYARD_OPS_ATTENTION_CHUNK_H_
#define HALYARD_OPS_ATTENTION_CHUNK_H_

#include "ops/attention/tile.h"

namespace {

// One worker's scratch.
struct Room {
  float* q;     // [m][pad]
  float* s;     // [m][kTile]
  float* tile;  // [kTile][pad]
  State all;
  State part;
};

inline const unsigned char* SlotAt(const hy_tensor* pages, int64_t id, int64_t head, int64_t slot) {
  return static_cast<const unsigned char*>(pages->data) + id * pages->stride[0] +
         head * pages->stride[1] + slot * pages->stride[2];
}

// Where keys [first, first + n) of a block lie; up to the next multiple of 4 the last one again.
inline void FindRows(const Problem& p, const Block& b, const hy_tensor* pages, int64_t first,
                     int64_t n, const void** rows) {
  int64_t page = first / p.page;
  int64_t slot = first % p.page;
  for (int64_t j = 0; j < n; ++page, slot = 0) {
    const unsigned char* at = SlotAt(pages, b.table[page], b.kv_head, slot);
    const int64_t end = Least(n, j + p.page - slot);
    for (; j < end; ++j, at += pages->stride[2]) rows[j] = at;
  }
  for (int64_t j = n; j % 4 != 0; ++j) rows[j] = rows[n - 1];
}

template <class Unit>
void ConvertRows(const Problem& p, uint32_t type, float* tile, int64_t n, const void** rows) {
  for (int64_t j = 0; j < n; ++j) {
    float* out = tile + j * p.pad;
    Unit::Convert(type, rows[j], p.dim, out);
    for (int64_t d = p.dim; d < p.pad; ++d) out[d] = 0;
    rows[j] = out;
  }
  for (int64_t j = n; j % 4 != 0; ++j) rows[j] = rows[n - 1];
}

// Keys of [first, end) that a token sees, relative to first.
inline Range SeenOf(const Problem& p, const Block& b, int64_t token, int64_t first, int64_t end) {
  const Range keys = KeysOfToken(p, b, token);
  const Range r = {Most(keys.first, first) - first, Least(keys.end, end) - first};
  return r;
}

// Tokens from `token` on that see the same of these keys.
inline int64_t SameRange(const Problem& p, const Block& b, int64_t token, int64_t last,
                         int64_t first, int64_t end, Range seen) {
  int64_t next = token + 1;
  for (; next < last; ++next) {
    const Range r = SeenOf(p, b, next, first, end);
    if (r.first != seen.first || r.end != seen.end) break;
  }
  return next;
}

// Takes keys [first, end), at most a tile, into the state of tokens [token, last) of a block.
template <class Unit>
void DoTile(const Problem& p, const Block& b, const Room& room, State st, Range tokens,
            Range keys) {
  const hy_attention_args* args = p.args;
  const int64_t m0 = tokens.first * p.group;
  const int64_t m = tokens.end * p.group - m0;
  const int64_t n = keys.end - keys.first;
  const bool direct = Unit::Direct(p, m);
  const uint32_t type = direct ? args->k_pages.type : uint32_t{HY_TYPE_F32};
  const void* rows[kTile];
  FindRows(p, b, &args->k_pages, keys.first, n, rows);
  if (!direct) ConvertRows<Unit>(p, args->k_pages.type, room.tile, n, rows);
  float* s = room.s + m0 * kTile;
  Unit::Scores(type, room.q + m0 * p.pad, m, rows, RoundUp(n, 4), p.pad, s);
  for (int64_t t = tokens.first; t < tokens.end; ++t) {
    const Range seen = SeenOf(p, b, t, keys.first, keys.end);
    for (int64_t i = t * p.group; i < (t + 1) * p.group && seen.first < seen.end; ++i)
      Weigh(p, st, i, room.s + i * kTile + seen.first, seen.end - seen.first);
  }
  FindRows(p, b, &args->v_pages, keys.first, n, rows);
  if (!direct) ConvertRows<Unit>(p, args->v_pages.type, room.tile, n, rows);
  for (int64_t t = tokens.first; t < tokens.end;) {
    const Range seen = SeenOf(p, b, t, keys.first, keys.end);
    const int64_t next = SameRange(p, b, t, tokens.end, keys.first, keys.end, seen);
    const int64_t i = t * p.group;
    if (seen.first < seen.end) {
      Unit::Accumulate(type, room.s + i * kTile + seen.first, (next - t) * p.group,
                       rows + seen.first, seen.end - seen.first, p.pad, st.acc + i * p.pad);
    }
    t = next;
  }
}

inline bool PagesExist(const Problem& p, const Block& b, Range keys) {
  bool good = true;
  if (keys.first >= keys.end) return true;
  for (int64_t i = keys.first / p.page; i <= (keys.end - 1) / p.page; ++i)
    good = good && b.table[i] >= 0 && b.table[i] < p.pages;
  return good;
}

template <class Unit>
void DoTiles(const Problem& p, const Block& b, const Room& room, State st, Range tokens,
             Range keys) {
  for (int64_t at = keys.first; at < keys.end;) {
    const Range tile = {at, Least(keys.end, RoundUp(at + 1, kTile))};
    DoTile<Unit>(p, b, room, st, tokens, tile);
    at = tile.end;
  }
}

// State of a chunk. Where one of its pages does not exist, row by row: some may not see that page.
template <class Unit>
void DoChunk(const Problem& p, const Block& b, const Room& room, State st, int64_t chunk) {
  const Range keys = {Most(b.keys.first, chunk * kChunk), Least(b.keys.end, (chunk + 1) * kChunk)};
  const Range tokens = {0, b.tokens};
  for (int64_t m = 0; m < b.tokens * p.group; ++m) ClearRow(p, st, m);
  if (PagesExist(p, b, keys)) {
    DoTiles<Unit>(p, b, room, st, tokens, keys);
    return;
  }
  for (int64_t t = 0; t < b.tokens; ++t) {
    const Range own = KeysOfToken(p, b, t);
    const Range seen = {Most(own.first, keys.first), Least(own.end, keys.end)};
    const Range token = {t, t + 1};
    if (PagesExist(p, b, seen)) {
      DoTiles<Unit>(p, b, room, st, token, seen);
    } else {
      for (int64_t g = 0; g < p.group; ++g) st.sum[t * p.group + g] = kBadData;
    }
  }
}

}  // namespace

#endif  // HALYARD_OPS_ATTENTION_CHUNK_H_
