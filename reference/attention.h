// SPDX-License-Identifier: Apache-2.0
//
// What the reference of attention and its bound have in common: which keys a row sees, and scores.
#ifndef HALYARD_REFERENCE_ATTENTION_H_
#define HALYARD_REFERENCE_ATTENTION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "ops/attention/contract.h"
#include "reference/reference.h"

namespace halyard::reference {

/// What one row of q sees: keys [first, end) of a sequence.
struct AttentionView {
  int64_t sequence = -1;
  int64_t first = 0;
  int64_t end = 0;
  bool fault = false;  ///< its data is wrong; it sees nothing
};

AttentionView AttentionViewOf(const hy_attention_args& args, int64_t row);

/// Row `key` of one head's keys or values in a sequence.
void LoadSlot(const hy_attention_args& args, const hy_tensor& pages, int64_t sequence, int64_t key,
              int64_t kv_head, double* out);

struct AttentionScore {
  double value;
  // How far off a kernel's may be, in units of its roundoff: from rounding, which differs from key to
  // key, and from what may lean to one side for all keys.
  double slack;
  double lean;
};

AttentionScore AttentionScoreOf(const hy_attention_args& args, const double* q, const double* k);

/// The larger of two scores, to be begun with -Inf; NaN once one was NaN or +Inf.
double LargestScore(double largest, double score);

absl::Status ExpectAttention(const void* raw, const Numerics& numerics, Expected* out);

}  // namespace halyard::reference

#endif  // HALYARD_REFERENCE_ATTENTION_H_
