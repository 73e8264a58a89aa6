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
// What they make of one i and j may not depend on others. `rows` has the addresses to read, and those
// of the next tile, to be fetched on the way.
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

// Where keys [first, first + n) of a block lie; behind them the last one again.
inline void FindRows(const Problem& p, const Block& b, const hy_tensor* pages, int64_t first,
                     int64_t n, const void** rows) {
  int64_t page = first / p.page;
  int64_t slot = first % p.page;
  for (int64_t j = 0; j < n; ++page, slot = 0) {
    const unsigned char* at = SlotAt(pages, b.table[page], b.kv_head, slot);
    const int64_t end = Least(n, j + p.page - slot);
    for (; j < end; ++j, at += pages->stride[2]) rows[j] = at;
  }
  for (int64_t j = n; j < kTile; ++j) rows[j] = rows[n - 1];
}

// Keys of a range that a token sees, relative to its first.
inline Range SeenOf(const Problem& p, const Block& b, int64_t token, Range of) {
  const Range keys = KeysOfToken(p, b, token);
  const Range r = {Most(keys.first, of.first) - of.first, Least(keys.end, of.end) - of.first};
  return r;
}

inline bool SameRange(Range a, Range b) { return a.first == b.first && a.end == b.end; }

// Where keys of a tile and their values lie.
struct Tile {
  Range keys;
  const void* k[kTile];
  const void* v[kTile];
};

inline void FindTile(const Problem& p, const Block& b, Range keys, Tile* t) {
  t->keys = keys;
  if (keys.first >= keys.end) return;
  FindRows(p, b, &p.args->k_pages, keys.first, keys.end - keys.first, t->k);
  FindRows(p, b, &p.args->v_pages, keys.first, keys.end - keys.first, t->v);
}

// Addresses of a tile's rows, and of those that will be read next: NULL, if that is not known.
struct Rows {
  const void* const* at;
  const void* const* next;
};

inline Rows RowsFrom(Rows rows, int64_t first) {
  const Rows r = {rows.at + first, rows.next == nullptr ? nullptr : rows.next + first};
  return r;
}

// What is done with each tile.
struct Job {
  Range tokens;       // of a block
  bool direct;        // rows are read where they lie
  int64_t row_bytes;  // of a page
};

// Not left to the compiler: GCC drops calls of functions that only prefetch, as without effect.
#define HALYARD_ALWAYS_INLINE inline __attribute__((always_inline))

HALYARD_ALWAYS_INLINE void Prefetch(const void* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64)
    __builtin_prefetch(static_cast<const unsigned char*>(from) + i);
}

// Converts rows to f32 in scratch; `out` has their addresses there.
template <class Unit>
void ConvertRows(const Problem& p, const Job& job, Rows rows, int64_t n, float* tile,
                 const void** out) {
  for (int64_t j = 0; j < n; ++j) {
    float* row = tile + j * p.pad;
    if (rows.next != nullptr) Prefetch(rows.next[j], job.row_bytes);
    Unit::Convert(p.args->k_pages.type, rows.at[j], p.dim, row);
    for (int64_t d = p.dim; d < p.pad; ++d) row[d] = 0;
    out[j] = row;
  }
  for (int64_t j = n; j < kTile; ++j) out[j] = out[n - 1];
}

// Rows as they will be read: those of a page, or converted ones.
template <class Unit>
Rows ReadyRows(const Problem& p, const Job& job, Rows rows, int64_t n, float* tile,
               const void** converted) {
  if (job.direct) return rows;
  ConvertRows<Unit>(p, job, rows, n, tile, converted);
  const Rows r = {converted, nullptr};
  return r;
}

// Takes a tile into the state of the tokens.
template <class Unit>
void DoTile(const Problem& p, const Block& b, const Job& job, const Room& room, State st,
            const Tile& t, const Tile& next) {
  const void* converted[kTile];
  const int64_t n = t.keys.end - t.keys.first;
  const bool more = next.keys.first < next.keys.end;
  const uint32_t type = job.direct ? p.args->k_pages.type : uint32_t{HY_TYPE_F32};
  const int64_t m0 = job.tokens.first * p.group;
  const Rows k = {t.k, more ? next.k : nullptr};
  const Rows v = {t.v, more ? next.v : nullptr};
  Unit::Scores(type, room.q + m0 * p.pad, job.tokens.end * p.group - m0,
               ReadyRows<Unit>(p, job, k, n, room.tile, converted), RoundUp(n, 4), p.pad,
               room.s + m0 * kTile);
  for (int64_t i = job.tokens.first; i < job.tokens.end; ++i) {
    const Range seen = SeenOf(p, b, i, t.keys);
    for (int64_t m = i * p.group; m < (i + 1) * p.group && seen.first < seen.end; ++m)
      Weigh(p, st, m, room.s + m * kTile + seen.first, seen.end - seen.first);
  }
  const Rows values = ReadyRows<Unit>(p, job, v, n, room.tile, converted);
  for (int64_t i = job.tokens.first; i < job.tokens.end;) {
    const Range seen = SeenOf(p, b, i, t.keys);
    int64_t same = i + 1;
    while (same < job.tokens.end && SameRange(seen, SeenOf(p, b, same, t.keys))) ++same;
    const int64_t m = i * p.group;
    if (seen.first < seen.end) {
      Unit::Accumulate(type, room.s + m * kTile + seen.first, (same - i) * p.group,
                       RowsFrom(values, seen.first), seen.end - seen.first, p.pad,
                       st.acc + m * p.pad);
    }
    i = same;
  }
}

inline bool PagesExist(const Problem& p, const Block& b, Range keys) {
  bool good = true;
  if (keys.first >= keys.end) return true;
  for (int64_t i = keys.first / p.page; i <= (keys.end - 1) / p.page; ++i)
    good = good && b.table[i] >= 0 && b.table[i] < p.pages;
  return good;
}

// Tile of a range from `at` on.
inline Range TileFrom(int64_t at, int64_t end) {
  const Range r = {at, Least(end, RoundUp(at + 1, kTile))};
  return r;
}

// Takes keys into the state of tokens, tile by tile; `ahead`: what is fetched at the end.
template <class Unit>
void DoTiles(const Problem& p, const Block& b, const Room& room, State st, Range tokens, Range keys,
             Range ahead) {
  Tile tiles[2];
  const Job job = {tokens, Unit::Direct(p, (tokens.end - tokens.first) * p.group),
                   static_cast<int64_t>(hy_type_row_bytes(p.args->k_pages.type, p.dim))};
  int now = 0;
  FindTile(p, b, TileFrom(keys.first, keys.end), &tiles[0]);
  for (int64_t at = keys.first; at < keys.end; now = 1 - now) {
    at = tiles[now].keys.end;
    FindTile(p, b, at < keys.end ? TileFrom(at, keys.end) : ahead, &tiles[1 - now]);
    DoTile<Unit>(p, b, job, room, st, tiles[now], tiles[1 - now]);
  }
}

// State of a chunk. Where one of its pages does not exist, row by row: some may not see that page.
template <class Unit>
void DoChunk(const Problem& p, const Block& b, const Room& room, State st, int64_t chunk) {
  const Range keys = {Most(b.keys.first, chunk * kChunk), Least(b.keys.end, (chunk + 1) * kChunk)};
  const Range tokens = {0, b.tokens};
  const Range none = {0, 0};
  for (int64_t m = 0; m < b.tokens * p.group; ++m) ClearRow(p, st, m);
  if (PagesExist(p, b, keys)) {
    const Range more = {keys.end, Least(b.keys.end, keys.end + kTile)};
    DoTiles<Unit>(p, b, room, st, tokens, keys, PagesExist(p, b, more) ? more : none);
    return;
  }
  for (int64_t t = 0; t < b.tokens; ++t) {
    const Range own = KeysOfToken(p, b, t);
    const Range seen = {Most(own.first, keys.first), Least(own.end, keys.end)};
    const Range token = {t, t + 1};
    if (PagesExist(p, b, seen)) {
      DoTiles<Unit>(p, b, room, st, token, seen, none);
    } else {
      for (int64_t g = 0; g < p.group; ++g) st.sum[t * p.group + g] = kBadData;
    }
  }
}

}  // namespace

#endif  // HALYARD_OPS_ATTENTION_CHUNK_H_
