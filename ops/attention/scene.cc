// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/scene.h"

#include <algorithm>
#include <limits>

#include "ops/data/random.h"

namespace halyard::ops {
namespace {

// What entries of a table hold that no row sees.
constexpr int32_t kStray[] = {-1, std::numeric_limits<int32_t>::max(),
                              std::numeric_limits<int32_t>::min(), 1 << 20};

// Lengths: with mix, every other sequence has one row, and each is shorter than the one before.
void AddSequences(const Case& c, AttentionScene* scene) {
  const int64_t mix = c.dim("mix");
  scene->q_start.push_back(0);
  for (int64_t s = 0; s < c.dim("seqs", 1); ++s) {
    const int64_t rows = mix != 0 && s % 2 == 1 ? 1 : c.dim("rows", 1);
    const int64_t len = std::max<int64_t>(0, c.dim("ctx", 33) - mix * 5 * s);
    scene->rows += rows;
    scene->q_start.push_back(static_cast<int32_t>(scene->rows));
    scene->kv_len.push_back(static_cast<int32_t>(len));
    scene->max_pages =
        std::max(scene->max_pages, (len + scene->page - 1) / scene->page + c.dim("slack"));
    const int64_t window = c.dim("window");
    const int64_t first = window > 0 ? std::max<int64_t>(0, len - rows - window + 1) : 0;
    scene->seen.emplace_back(std::min(first, len), len);
  }
}

// Hands out pages in a shuffled order; the first `share` ones of the first sequence to all.
void GivePages(const Case& c, AttentionScene* scene) {
  std::vector<int32_t> order;
  const auto share = static_cast<size_t>(c.dim("share"));
  size_t needed = 0;
  for (const int32_t len : scene->kv_len) {
    const auto own = static_cast<size_t>((len + scene->page - 1) / scene->page);
    needed += own - (needed == 0 ? 0 : std::min(share, own));
  }
  scene->pages = static_cast<int64_t>(needed) + 2;
  for (int32_t id = 0; id < static_cast<int32_t>(scene->pages); ++id) order.push_back(id);
  const RandomKey key = KeyOf(c.seed, "pages");
  for (size_t i = order.size(); i > 1; --i) {
    const RandomWords words = Philox(key, {static_cast<uint32_t>(i), 0, 0, 0});
    std::swap(order[i - 1], order[words[0] % i]);
  }
  for (const int32_t len : scene->kv_len) {
    std::vector<int32_t> own;
    const auto count = static_cast<size_t>((len + scene->page - 1) / scene->page);
    if (!scene->held.empty()) own = scene->held.front();
    own.resize(std::min({own.size(), count, share}));
    while (own.size() < count) {
      own.push_back(order.back());
      order.pop_back();
    }
    scene->held.push_back(std::move(own));
  }
}

void FillTables(AttentionScene* scene) {
  scene->key_of_slot.assign(static_cast<size_t>(scene->pages * scene->page), -1);
  for (size_t s = 0; s < scene->held.size(); ++s) {
    const auto [first, end] = scene->seen[s];
    for (int64_t i = 0; i < scene->max_pages; ++i) {
      const bool read = first < end && i >= first / scene->page && i <= (end - 1) / scene->page;
      scene->block_table.push_back(read ? scene->held[s][static_cast<size_t>(i)] : kStray[i % 4]);
    }
    for (int64_t key = first; key < end; ++key) {
      const int64_t id = scene->held[s][static_cast<size_t>(key / scene->page)];
      scene->key_of_slot[static_cast<size_t>(id * scene->page + key % scene->page)] =
          static_cast<int32_t>(key);
    }
  }
}

// Wrong data, in the last sequence or in the starts.
void Spoil(int64_t fault, AttentionScene* scene) {
  if (scene->kv_len.empty()) return;
  const auto [first, end] = scene->seen.back();
  const auto table = static_cast<size_t>((scene->sequences() - 1) * scene->max_pages);
  const auto seen_page = table + static_cast<size_t>(first < end ? (end - 1) / scene->page : 0);
  switch (fault) {
    case 1:
      scene->block_table.at(seen_page) = static_cast<int32_t>(scene->pages);
      break;
    case 2:
      scene->block_table.at(seen_page) = std::numeric_limits<int32_t>::min();
      break;
    case 3:
      scene->kv_len.back() = static_cast<int32_t>(scene->max_pages * scene->page + 1);
      break;
    case 4:
      scene->kv_len.back() = -1;
      break;
    case 5:
      scene->q_start.front() = -1;
      break;
    case 6:
      scene->q_start.back() = static_cast<int32_t>(scene->rows) + 1;
      break;
    default:
      break;
  }
}

}  // namespace

AttentionScene MakeAttentionScene(const Case& c) {
  AttentionScene scene;
  scene.page = c.dim("page", 16);
  AddSequences(c, &scene);
  GivePages(c, &scene);
  FillTables(&scene);
  Spoil(c.dim("fault"), &scene);
  return scene;
}

}  // namespace halyard::ops
