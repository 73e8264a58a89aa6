// SPDX-License-Identifier: Apache-2.0
//
// How generic kernels cut elementwise work: pieces of rows that stay in the first cache, shared out
// to the workers in order. Results of elementwise work do not depend on the cut. C11 and C++20.
#ifndef HALYARD_BASE_SIMD_PIECES_H_
#define HALYARD_BASE_SIMD_PIECES_H_

#include <stdint.h>

#include "halyard/kernel.h"

/// Most elements of a piece: a few arrays of so many floats lie on the stack. A multiple of each
/// block of quantised activations.
#define HYK_PIECE 512

/// Where one worker stands: the piece is elements [first, first + count) of row `row`.
typedef struct hyk_pieces {
  int64_t row;
  int64_t first;
  int64_t count;
  int64_t next;  ///< of the pieces of all rows, counted row by row
  int64_t end;
  int64_t per_row;
  int64_t cols;
} hyk_pieces;

static inline int64_t hyk_least(int64_t a, int64_t b) { return a < b ? a : b; }

/// This worker's share of `rows` rows of `cols` elements.
static inline hyk_pieces hyk_share(int64_t rows, int64_t cols, const hy_kernel_context* context) {
  hyk_pieces share;
  share.row = 0;
  share.first = 0;
  share.count = 0;
  share.per_row = (cols + HYK_PIECE - 1) / HYK_PIECE;
  share.cols = cols;
  hy_split(rows * share.per_row, 1, context->index, context->count, &share.next, &share.end);
  return share;
}

/// Steps to the worker's next piece; 0 when there is none.
static inline int hyk_next(hyk_pieces* share) {
  if (share->next >= share->end) return 0;
  share->row = share->next / share->per_row;
  share->first = share->next % share->per_row * HYK_PIECE;
  share->count = hyk_least(HYK_PIECE, share->cols - share->first);
  ++share->next;
  return 1;
}

#endif  // HALYARD_BASE_SIMD_PIECES_H_
