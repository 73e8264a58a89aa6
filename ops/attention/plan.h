// SPDX-License-Identifier: Apache-2.0
//
// Which items the workers claim. Every worker makes the same plan from the data, so none needs to be
// stored. An item of phase 0 is a part of a block, one of phase 1 a block of several parts.
#ifndef HALYARD_OPS_ATTENTION_PLAN_H_
#define HALYARD_OPS_ATTENTION_PLAN_H_

#include "ops/attention/problem.h"

namespace {

constexpr int64_t kItemsPerWorker = 3;  // at least so many are aimed at, to balance
constexpr int64_t kMostStateFloats = int64_t{8} << 20;

struct Plan {
  uint32_t phase;
  int64_t split_above;   // rows times keys of a block that is worth splitting; 0: none is
  int64_t state_floats;  // room for states of parts
  int64_t items;
};

// Sequence after sequence: which items are its own.
struct Walk {
  int64_t sequence;
  int64_t begin, items;
  int64_t state;  // floats of states up to here
  Cut cut;
};

inline Walk WalkStart() {
  Walk w = {};
  w.sequence = -1;
  return w;
}

inline int64_t CostOf(const Problem& p, const Cut& c) {
  return Least(c.rows, p.tokens) * Least(c.len, c.chunks * kChunk);
}

inline int64_t StatesOf(const Problem& p, const Cut& c) {
  return p.kv_heads * c.blocks * c.chunks * StateFloats(p, Least(c.rows, p.tokens));
}

// Goes to the next sequence; 0 behind the last.
inline int WalkNext(const Problem& p, const Plan& plan, Walk* w) {
  w->begin += w->items;
  w->items = 0;
  if (++w->sequence >= p.sequences) return 0;
  w->cut = CutOf(p, w->sequence);
  const int64_t cost = CostOf(p, w->cut);
  const int64_t states = StatesOf(p, w->cut);
  if (plan.split_above > 0 && cost > plan.split_above && w->state + states <= plan.state_floats) {
    w->cut.parts = Least(w->cut.chunks, DivideUp(cost, plan.split_above));
  }
  if (w->cut.parts > 1) {
    w->cut.state = w->state;
    w->state += states;
  }
  w->items = w->cut.blocks * p.kv_heads;
  if (plan.phase == 0) w->items *= w->cut.parts;
  if (plan.phase == 1 && w->cut.parts == 1) w->items = 0;
  return 1;
}

inline Plan PlanOf(const Problem& p, const hy_kernel_context* context, int64_t state_floats) {
  Plan plan = {context->phase, 0, state_floats, 0};
  if (context->count > 1 && state_floats > 0) {
    int64_t all = 0;
    for (int64_t s = 0; s < p.sequences; ++s) {
      const Cut c = CutOf(p, s);
      all += c.blocks * p.kv_heads * CostOf(p, c);
    }
    plan.split_above = Most(1, all / (kItemsPerWorker * context->count));
  }
  for (Walk w = WalkStart(); WalkNext(p, plan, &w);) plan.items += w.items;
  return plan;
}

// Room for states that is worth having: splitting ends where there are items enough.
inline int64_t StateFloatsWanted(const Problem& p, uint32_t workers) {
  const int64_t chunks = DivideUp(p.table_pages * p.page, kChunk);
  if (workers < 2 || chunks < 2) return 0;
  const int64_t blocks = Least(p.rows * p.kv_heads, kItemsPerWorker * workers);
  const int64_t of_block = chunks * StateFloats(p, Least(p.rows, p.tokens));
  return of_block > kMostStateFloats ? 0 : Least(blocks * of_block, kMostStateFloats);
}

}  // namespace

#endif  // HALYARD_OPS_ATTENTION_PLAN_H_
