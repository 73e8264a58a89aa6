// SPDX-License-Identifier: Apache-2.0
//
// Symbols of a word in a linked list, and the pairs that may become one, best first.
#ifndef HALYARD_ENGINE_TOKENIZER_MERGE_LIST_H_
#define HALYARD_ENGINE_TOKENIZER_MERGE_LIST_H_

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

namespace halyard::engine {

/// `Rank` orders pairs: the least is merged first, and of equal ones the leftmost.
template <typename Symbol, typename Rank>
class MergeList {
 public:
  void Add(const Symbol& symbol) {
    const auto at = static_cast<int32_t>(nodes_.size());
    nodes_.push_back({symbol, at - 1, -1, true});
    if (at > 0) nodes_[static_cast<size_t>(at - 1)].next = at;
  }

  /// Merges until no pair is left that can be. `find(left, right, &rank, &merged)` says whether a pair
  /// can; `merged` is what it becomes. Gives the number of pairs that were looked at.
  template <typename Find>
  uint64_t Merge(const Find& find) {
    uint64_t steps = 0;
    for (int32_t i = 0; i + 1 < static_cast<int32_t>(nodes_.size()); ++i) Push(i, find, &steps);
    while (!heap_.empty()) {
      const Pair pair = heap_.top();
      heap_.pop();
      ++steps;
      Node& left = At(pair.left);
      // A pair of which a part was merged meanwhile.
      if (!left.alive || left.next != pair.right || left.version != pair.left_version ||
          At(pair.right).version != pair.right_version) {
        continue;
      }
      Node& right = At(pair.right);
      left.symbol = pair.merged;
      ++left.version;
      right.alive = false;
      left.next = right.next;
      if (left.next >= 0) At(left.next).previous = pair.left;
      if (left.previous >= 0) Push(left.previous, find, &steps);
      if (left.next >= 0) Push(pair.left, find, &steps);
    }
    return steps;
  }

  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (int32_t at = nodes_.empty() ? -1 : 0; at >= 0; at = nodes_[static_cast<size_t>(at)].next)
      visit(nodes_[static_cast<size_t>(at)].symbol);
  }

 private:
  struct Node {
    Symbol symbol;
    int32_t previous;
    int32_t next;
    bool alive;
    uint32_t version = 0;
  };
  struct Pair {
    Rank rank;
    int32_t left;
    int32_t right;
    uint32_t left_version;
    uint32_t right_version;
    Symbol merged;
    bool operator<(const Pair& other) const {  // The heap's top is the largest.
      return rank != other.rank ? other.rank < rank : other.left < left;
    }
  };

  Node& At(int32_t at) { return nodes_[static_cast<size_t>(at)]; }

  template <typename Find>
  void Push(int32_t at, const Find& find, uint64_t* steps) {
    const Node& left = At(at);
    const Node& right = At(left.next);
    Pair pair{{}, at, left.next, left.version, right.version, {}};
    ++*steps;
    if (find(left.symbol, right.symbol, &pair.rank, &pair.merged)) heap_.push(std::move(pair));
  }

  std::vector<Node> nodes_;
  std::priority_queue<Pair> heap_;
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_TOKENIZER_MERGE_LIST_H_
