// SPDX-License-Identifier: Apache-2.0
//
// Finding a place in the order of falling logits without sorting them: columns are dealt into buckets by
// the upper bits of a key that orders as logits do, with the number and the mass of each bucket; the
// bucket that the place lies in is dealt again by the bits below. Three deals reach a single logit, whose
// columns are gone through in turn. For kernel sources.
#ifndef HALYARD_OPS_SAMPLE_SELECT_H_
#define HALYARD_OPS_SAMPLE_SELECT_H_

#include <stdint.h>
#include <string.h>

#include "base/simd/scalar.h"

namespace {

constexpr int kBuckets = 2048;
constexpr int kShift[] = {21, 10, 0};  // of the bits that each deal goes by
constexpr int kDeals = 3;

struct Buckets {
  double mass[kBuckets];
  int64_t count[kBuckets];
};

// One row in scratch.
struct Ranked {
  int64_t n;
  float* weight;
  uint32_t* key;
  int32_t* member;  // columns of the bucket in hand
  Buckets* all;     // the first deal of all columns
  Buckets* some;    // of later deals
};

// What is looked for: the first place at which so many columns, or so much mass, is reached or passed.
struct Wanted {
  int64_t count;  // 0: by mass
  double mass;
  bool passed;  // more than the mass, else at least
};

// Where the order stands: columns and mass up to and with `column`.
struct Stand {
  int64_t count;
  double mass;
  int64_t column;
};

// Larger keys for larger numbers; -0 counts as +0.
inline uint32_t KeyOf(float logit) {
  const uint32_t bits = hyk_bits(logit + 0.0f);
  return bits ^ ((uint32_t)((int32_t)bits >> 31) | 0x80000000u);
}

inline bool IsReached(const Wanted* wanted, int64_t count, double mass) {
  if (wanted->count > 0) return count >= wanted->count;
  return wanted->passed ? mass > wanted->mass : mass >= wanted->mass;
}

inline void Deal(const Ranked* row, int deal, const int32_t* member, int64_t count,
                 Buckets* buckets) {
  const uint32_t bits = deal == 2 ? 0x3ffu : 0x7ffu;
  memset(buckets, 0, sizeof *buckets);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t column = member == nullptr ? i : member[i];
    const uint32_t bucket = row->key[column] >> kShift[deal] & bits;
    buckets->mass[bucket] += row->weight[column];
    ++buckets->count[bucket];
  }
}

// Passes over buckets before the place; gives the bucket it lies in. If rounding has it lie behind all
// mass, that is the last bucket with a mass.
inline int Walk(const Buckets* buckets, const Wanted* wanted, Stand* stand) {
  Stand last = *stand;
  int last_bucket = -1;
  for (int b = kBuckets; b-- > 0;) {
    if (buckets->count[b] == 0) continue;
    if (buckets->mass[b] > 0 || last_bucket < 0) {
      last = *stand;
      last_bucket = b;
    }
    const int64_t count = stand->count + buckets->count[b];
    const double mass = stand->mass + buckets->mass[b];
    if (IsReached(wanted, count, mass)) return b;
    stand->count = count;
    stand->mass = mass;
  }
  *stand = last;
  return last_bucket;
}

// Keeps the members of a bucket.
inline int64_t Gather(const Ranked* row, int deal, int bucket, const int32_t* member,
                      int64_t count) {
  const uint32_t bits = deal == 2 ? 0x3ffu : 0x7ffu;
  int64_t kept = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t column = member == nullptr ? (int32_t)i : member[i];
    row->member[kept] = column;
    kept += (int)(row->key[column] >> kShift[deal] & bits) == bucket;
  }
  return kept;
}

// The place looked for. The row has columns, and its first deal is done.
inline Stand Select(const Ranked* row, const Wanted* wanted) {
  Stand stand = {0, 0, -1};
  int64_t count = row->n;
  const int32_t* member = nullptr;
  for (int deal = 0; deal < kDeals; ++deal) {
    const Buckets* buckets = row->all;
    if (deal > 0) {
      Deal(row, deal, member, count, row->some);
      buckets = row->some;
    }
    const int bucket = Walk(buckets, wanted, &stand);
    count = Gather(row, deal, bucket, member, count);
    member = row->member;
  }
  for (int64_t i = 0; i < count; ++i) {
    stand.column = member[i];
    ++stand.count;
    stand.mass += row->weight[member[i]];
    if (IsReached(wanted, stand.count, stand.mass)) break;
  }
  return stand;
}

}  // namespace

#endif  // HALYARD_OPS_SAMPLE_SELECT_H_
