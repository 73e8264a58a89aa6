// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/quant/format.h"
#include "ops/data/random.h"

namespace halyard::ops {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Values of a distribution in pages; NaN in all slots that no row sees.
std::vector<float> Pages(const Case& c, const AttentionScene& scene, const hy_tensor& shape,
                         const char* name, Dist dist) {
  hy_tensor pages = shape;
  std::vector<uint8_t> bytes(static_cast<size_t>(hy_tensor_rows(&pages)) *
                             hy_type_row_bytes(pages.type, hy_tensor_cols(&pages)));
  pages.data = bytes.data();
  Fill({dist, c.seed, name, Role::kWeights}, pages);
  const int64_t cols = hy_tensor_cols(&pages);
  std::vector<float> values(static_cast<size_t>(hy_tensor_rows(&pages) * cols));
  for (int64_t row = 0; row < hy_tensor_rows(&pages); ++row) {
    float* out = values.data() + row * cols;
    const int64_t slot = row / scene.page / pages.shape[1] * scene.page + row % scene.page;
    if (scene.key_of_slot[static_cast<size_t>(slot)] < 0) {
      std::fill_n(out, cols, kNan);
    } else {
      quant::DecodeRowF32(pages.type, hy_tensor_row(&pages, row), cols, out);
    }
  }
  return values;
}

// Row of pages where key `key` of a sequence lies.
int64_t PageRow(const AttentionScene& scene, int64_t kv_heads, size_t sequence, int64_t head,
                int64_t key) {
  const int64_t id = scene.held[sequence][static_cast<size_t>(key / scene.page)];
  return (id * kv_heads + head) * scene.page + key % scene.page;
}

// Keys whose product with a query in the direction of key % D is 128 or more apart: of all that a row
// sees, one decides. Odd seeds let later keys win, so that one of the future would show; even ones
// earlier keys, so that one before the window would.
void SetOnehotKeys(const Case& c, const AttentionScene& scene, const hy_tensor& pages,
                   std::vector<float>* values) {
  const int64_t dim = pages.shape[3];
  const float step = pages.type == HY_TYPE_Q8_0 ? 192.0f : 128.0f;
  const int64_t levels = c.dim("ctx", 33) / dim + 1;
  for (int64_t row = 0; row < hy_tensor_rows(&pages); ++row) {
    const int64_t slot = row / scene.page / pages.shape[1] * scene.page + row % scene.page;
    const int64_t key = scene.key_of_slot[static_cast<size_t>(slot)];
    if (key < 0) continue;
    float* out = values->data() + row * dim;
    std::fill_n(out, dim, 0.0f);
    const int64_t level = c.seed % 2 != 0 ? key / dim + 1 : levels - key / dim;
    out[key % dim] = step * static_cast<float>(level);
  }
}

void Plant(const Case& c, const AttentionScene& scene, AttentionPool* pool) {
  if (scene.kv_len.empty() || c.seed % 3 == 2) return;
  const int64_t heads = pool->form.shape[1];
  const int64_t dim = pool->form.shape[3];
  const size_t last = scene.kv_len.size() - 1;
  if (c.seed % 3 == 0) {
    const int64_t row = PageRow(scene, heads, 0, 0, scene.kv_len[0] - 1);
    pool->k[static_cast<size_t>(row * dim + dim - 1)] = kNan;
  } else {
    const int64_t row = PageRow(scene, heads, last, heads - 1, scene.seen[last].first);
    pool->v[static_cast<size_t>(row * dim + dim / 2)] = std::numeric_limits<float>::infinity();
  }
}

}  // namespace

std::vector<float> OnehotQueries(const Case& c, const AttentionScene& scene, int64_t heads,
                                 int64_t dim) {
  std::vector<float> q(static_cast<size_t>(scene.rows * heads * dim), 0.0f);
  const RandomKey random = KeyOf(c.seed, "q");
  const int64_t window = c.dim("window");
  for (size_t s = 0; s < scene.kv_len.size(); ++s) {
    for (int64_t row = scene.q_start[s]; row < scene.q_start[s + 1]; ++row) {
      const int64_t position = scene.kv_len[s] - scene.q_start[s + 1] + row;
      const int64_t first = window > 0 ? std::max<int64_t>(0, position - window + 1) : 0;
      for (int64_t h = 0; h < heads && first <= position; ++h) {
        const auto at = static_cast<size_t>(row * heads + h);
        const uint32_t word = Philox(random, {static_cast<uint32_t>(at), 0, 0, 0})[0];
        const int64_t key = first + static_cast<int64_t>(word) % (position + 1 - first);
        q[at * static_cast<size_t>(dim) + static_cast<size_t>(key % dim)] = 1.0f;
      }
    }
  }
  return q;
}

AttentionPool MakeAttentionPool(const Case& c, const AttentionScene& scene, Dist dist) {
  AttentionPool pool;
  const int64_t shape[] = {scene.pages, c.dim("hkv", 2), scene.page, c.dim("d", 64)};
  pool.form = hy_tensor_dense(nullptr, c.types[1], 4, shape);
  const bool onehot = dist == Dist::kOnehot;
  const bool own = onehot || dist == Dist::kPlanted;
  const Dist of_keys = own || dist == Dist::kExtreme ? Dist::kUniform : dist;
  pool.k = Pages(c, scene, pool.form, "k_pages", of_keys);
  pool.v = Pages(c, scene, pool.form, "v_pages", own ? Dist::kUniform : dist);
  if (dist == Dist::kPlanted) Plant(c, scene, &pool);
  if (onehot) {
    SetOnehotKeys(c, scene, pool.form, &pool.k);
    for (float& v : pool.v) v += std::copysign(1.0f, v);  // none is 0, nor near it
  }
  return pool;
}

}  // namespace halyard::ops
