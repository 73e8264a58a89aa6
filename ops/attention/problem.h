// SPDX-License-Identifier: Apache-2.0
//
// How attention kernels cut their work. Included by kernel sources only, each of which so gets a copy
// of its own.
//
// A block is some rows of one sequence with all query heads of one KV head: its keys and values are
// read once. Keys are taken in chunks of kChunk from position 0 on, in each chunk in tiles of kTile.
// A row's result is always that of its chunks, merged in order; so it does not depend on which rows
// share its block, nor on which worker did which chunk. Blocks with many keys are split into parts,
// runs of chunks, whose states wait in scratch for the second phase.
#ifndef HALYARD_OPS_ATTENTION_PROBLEM_H_
#define HALYARD_OPS_ATTENTION_PROBLEM_H_

#include "base/simd/scalar.h"
#include "ops/attention/contract.h"

namespace {

constexpr int64_t kTile = 64;       // keys whose scores are made at a time
constexpr int64_t kChunk = 512;     // keys of a state
constexpr int64_t kBlockRows = 32;  // rows times query heads of a block, about

inline int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t Most(int64_t a, int64_t b) { return a > b ? a : b; }
inline int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t RoundUp(int64_t a, int64_t b) { return DivideUp(a, b) * b; }

// The args, in numbers that are often asked for.
struct Problem {
  const hy_attention_args* args;
  const int32_t* starts;
  const int32_t* lens;
  int64_t rows, heads, dim;
  int64_t kv_heads, group;  // group: query heads of one KV head
  int64_t pages, page, table_pages, sequences;
  int64_t pad;     // floats of a row in scratch
  int64_t tokens;  // rows of q in a full block
};

inline Problem ProblemOf(const hy_attention_args* args, int64_t lanes) {
  Problem p;
  p.args = args;
  p.starts = static_cast<const int32_t*>(args->q_start.data);
  p.lens = static_cast<const int32_t*>(args->kv_len.data);
  p.rows = args->q.shape[0];
  p.heads = args->q.shape[1];
  p.dim = args->q.shape[2];
  p.pages = args->k_pages.shape[0];
  p.kv_heads = args->k_pages.shape[1];
  p.page = args->k_pages.shape[2];
  p.group = p.kv_heads == 0 ? 0 : p.heads / p.kv_heads;
  p.table_pages = args->block_table.shape[1];
  p.sequences = args->block_table.shape[0];
  p.pad = RoundUp(p.dim, lanes);
  p.tokens = p.group == 0 ? 1 : Most(1, kBlockRows / p.group);
  return p;
}

// Whether q_start is as the contract demands.
inline bool StartsRise(const Problem& p) {
  int64_t last = 0;
  for (int64_t s = 0; s <= p.sequences; ++s) {
    if (p.starts[s] < last) return false;
    last = p.starts[s];
  }
  return last <= p.rows;
}

// Keys [first, end) that the row at a position sees, of `len`.
struct Range {
  int64_t first, end;
};

inline Range KeysSeen(const hy_attention_args* args, int64_t position, int64_t len) {
  Range r = {0, args->causal != 0 ? position + 1 : len};
  if (args->window > 0) {
    r.first = Most(0, position - args->window + 1);
    r.end = Least(r.end, position + args->window);
  }
  r.end = Most(r.end, r.first);
  return r;
}

struct Block {
  const int32_t* table;
  int64_t row;       // first row of q
  int64_t tokens;    // rows of q
  int64_t position;  // of the first
  int64_t len;       // keys of the sequence; negative: the data is wrong
  int64_t kv_head;
  Range keys;  // seen by any row
};

inline Range KeysOfToken(const Problem& p, const Block& b, int64_t token) {
  return KeysSeen(p.args, b.position + token, b.len);
}

// Sequence s as it is cut: blocks for each KV head, parts of each block.
struct Cut {
  int64_t row, rows, len;
  int64_t blocks, parts;
  int64_t chunk, chunks;  // the first chunk that any row sees, and how many follow
  int64_t state;          // floats: where states of its chunks begin, if there are several parts
};

inline int64_t StateFloats(const Problem& p, int64_t tokens) {
  const int64_t rows = tokens * p.group;
  return 2 * RoundUp(rows, 16) + RoundUp(rows * p.pad, 16);
}

inline Cut CutOf(const Problem& p, int64_t s) {
  Cut c;
  c.row = p.starts[s];
  c.rows = p.starts[s + 1] - p.starts[s];
  c.len = p.lens[s] > p.table_pages * p.page ? -1 : p.lens[s];
  c.blocks = DivideUp(c.rows, p.tokens);
  c.parts = 1;
  c.chunk = 0;
  c.chunks = 0;
  c.state = 0;
  if (c.rows == 0 || c.len < 0) return c;
  const int64_t first = KeysSeen(p.args, c.len - c.rows, c.len).first;
  const int64_t end = KeysSeen(p.args, c.len - 1, c.len).end;
  if (first >= end) return c;
  c.chunk = first / kChunk;
  c.chunks = (end - 1) / kChunk - c.chunk + 1;
  return c;
}

// Block `index` of a KV head.
inline Block BlockOf(const Problem& p, const Cut& c, int64_t s, int64_t kv_head, int64_t index) {
  Block b;
  b.table = static_cast<const int32_t*>(hy_tensor_row(&p.args->block_table, s));
  b.row = c.row + index * p.tokens;
  b.tokens = Least(p.tokens, c.rows - index * p.tokens);
  b.position = c.len - c.rows + index * p.tokens;
  b.len = c.len;
  b.kv_head = kv_head;
  b.keys.first = KeysOfToken(p, b, 0).first;
  b.keys.end = Most(b.keys.first, KeysOfToken(p, b, b.tokens - 1).end);
  return b;
}

}  // namespace

#endif  // HALYARD_OPS_ATTENTION_PROBLEM_H_
