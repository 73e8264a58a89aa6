// SPDX-License-Identifier: Apache-2.0
//
// The sequences of a case of attention: who has which pages, and which slots a row sees. All that no
// row sees is meant to hold what must not be read.
#ifndef HALYARD_OPS_ATTENTION_SCENE_H_
#define HALYARD_OPS_ATTENTION_SCENE_H_

#include <cstdint>
#include <vector>

#include "ops/case.h"

namespace halyard::ops {

struct AttentionScene {
  int64_t rows = 0;       // of q
  int64_t pages = 0;      // of the pool
  int64_t max_pages = 0;  // of a table
  int64_t page = 1;
  std::vector<int32_t> q_start, kv_len, block_table;
  /// Of each sequence, the pages that its keys lie in, whatever its table says.
  std::vector<std::vector<int32_t>> held;
  /// Keys [first, end) that any row of a sequence sees.
  std::vector<std::pair<int64_t, int64_t>> seen;
  /// Of each slot of the pool: the key it holds for a row that sees it; -1: none sees it.
  std::vector<int32_t> key_of_slot;

  int64_t sequences() const { return static_cast<int64_t>(kv_len.size()); }
};

/// Dims that count: seqs, rows, ctx, page, causal, window, mix, share, slack, fault.
AttentionScene MakeAttentionScene(const Case& c);

}  // namespace halyard::ops

#endif  // HALYARD_OPS_ATTENTION_SCENE_H_
