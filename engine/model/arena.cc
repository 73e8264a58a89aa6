// SPDX-License-Identifier: Apache-2.0
#include "engine/model/arena.h"

#include <algorithm>
#include <vector>

#include "base/status_macros.h"
#include "halyard/tensor.h"

namespace halyard::engine {
namespace {

// Rows of f32, or of any record of quantised activations.
uint64_t AnyRowBytes(int64_t columns) {
  uint64_t most = hy_type_row_bytes(HY_TYPE_F32, columns);
  for (const uint32_t type : {HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN})
    most = std::max(most, hy_type_row_bytes(type, static_cast<int64_t>(hy_round_up(
                                                      static_cast<uint64_t>(columns), 256))));
  return most;
}

}  // namespace

absl::Status Arena::Reserve(const ModelConfig& config, const StepLimits& limits) {
  struct Want {
    void** at;
    uint64_t bytes;
  };
  std::vector<Want> wants;
  const auto ints = [&](int32_t** at, int64_t count) {
    wants.push_back({reinterpret_cast<void**>(at), static_cast<uint64_t>(count) * sizeof(int32_t)});
  };
  const auto floats = [&](void** at, int64_t rows, int64_t columns) {
    wants.push_back(
        {at, static_cast<uint64_t>(rows) * static_cast<uint64_t>(columns) * sizeof(float)});
  };
  const auto any = [&](void** at, int64_t rows, int64_t columns) {
    wants.push_back({at, static_cast<uint64_t>(rows) * AnyRowBytes(columns)});
  };
  const int64_t rows = limits.rows;
  ints(&tokens, rows);
  ints(&positions, rows);
  ints(&slots, rows);
  ints(&q_start, limits.sequences + 1);
  ints(&kv_len, limits.sequences);
  ints(&block_table, limits.sequences * limits.max_pages);
  ints(&logit_rows, limits.logit_rows);
  floats(&hidden, rows, config.width);
  any(&normed, rows, config.width);
  floats(&q, rows, config.q_size());
  floats(&k, rows, config.kv_size());
  floats(&v, rows, config.kv_size());
  floats(&attended, rows, config.q_size());
  floats(&delta, rows, config.width);
  floats(&gate, rows, config.ffn);
  floats(&up, rows, config.ffn);
  any(&gated, rows, config.ffn);
  floats(&chosen, limits.logit_rows, config.width);
  floats(&logits, limits.logit_rows, config.vocabulary);
  uint64_t total = 0;
  for (const Want& want : wants) total += hy_round_up(want.bytes, 64);
  HY_RETURN_IF_ERROR(block_.Reserve(total));
  unsigned char* next = block_.data();
  for (const Want& want : wants) {
    *want.at = next;
    next += hy_round_up(want.bytes, 64);
  }
  return absl::OkStatus();
}

}  // namespace halyard::engine
