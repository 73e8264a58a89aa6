// SPDX-License-Identifier: Apache-2.0
//
// What the pages and queries of a case of attention hold.
#ifndef HALYARD_OPS_ATTENTION_POOL_H_
#define HALYARD_OPS_ATTENTION_POOL_H_

#include <cstdint>
#include <vector>

#include "ops/attention/scene.h"
#include "ops/case.h"
#include "ops/data/distribution.h"

namespace halyard::ops {

struct AttentionPool {
  hy_tensor form;           ///< of both kinds of pages, without data
  std::vector<float> k, v;  ///< row after row
};

/// Values of a distribution, NaN in all slots that no row sees. With `onehot`, one key decides each
/// row; with `planted`, by the seed: a NaN in a key, an infinity in a value, or neither (then it is
/// for the queries to have one).
AttentionPool MakeAttentionPool(const Case& c, const AttentionScene& scene, Dist dist);

/// Queries for the keys of `onehot`, each in the direction of some key that its row sees.
std::vector<float> OnehotQueries(const Case& c, const AttentionScene& scene, int64_t heads,
                                 int64_t dim);

}  // namespace halyard::ops

#endif  // HALYARD_OPS_ATTENTION_POOL_H_
