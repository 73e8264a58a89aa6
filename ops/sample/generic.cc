// SPDX-License-Identifier: Apache-2.0
//
// A row's weights and keys go to scratch in vectors; then each limit, and the draw, is a place in the
// order (select.h). Sums are in f64, since there may be as many as there are words.
#include "base/simd/pieces.h"
#include "base/simd/softmax.h"
#include "ops/kernel_table.h"
#include "ops/sample/contract.h"
#include "ops/sample/select.h"

namespace {

struct Settings {
  float temperature;
  float u;
  float top_p;
  float min_p;
  int64_t top_k;
};

float SettingOf(const hy_tensor* setting, int64_t row, float otherwise) {
  return hy_tensor_present(setting) ? static_cast<const float*>(setting->data)[row] : otherwise;
}

Settings SettingsOf(const hy_sample_args* args, int64_t row) {
  Settings s;
  s.temperature = SettingOf(&args->temperature, row, 0.0f);
  s.u = SettingOf(&args->u, row, 0.0f);
  s.top_p = SettingOf(&args->top_p, row, 1.0f);
  s.min_p = SettingOf(&args->min_p, row, 0.0f);
  s.top_k =
      hy_tensor_present(&args->top_k) ? static_cast<const int32_t*>(args->top_k.data)[row] : 0;
  return s;
}

// Comparisons with NaN are false.
bool AreValid(const Settings* s) {
  return s->temperature >= 0.0f && s->temperature < -hyk_lowest() && s->u >= 0.0f &&
         s->top_p == s->top_p && s->min_p == s->min_p;
}

// Column of the largest logit, or -1 if there is none, or a NaN.
int64_t First(uint32_t type, const void* logits, int64_t n, float* most) {
  float v[HYK_PIECE];
  int64_t best = -1;
  *most = hyk_lowest();
  for (int64_t first = 0; first < n; first += HYK_PIECE) {
    const int64_t count = hyk_least(HYK_PIECE, n - first);
    hyk_load_f32(type, logits, first, count, v);
    if (hyk_has_nan(v, count)) return -1;
    if (!(hyk_max_of(v, count) > *most)) continue;
    *most = hyk_max_of(v, count);
    for (best = first; v[best - first] != *most;) ++best;
  }
  return best;
}

void Weigh(uint32_t type, const void* logits, float most, float temperature, const Ranked* row) {
  float v[HYK_PIECE];
  for (int64_t first = 0; first < row->n; first += HYK_PIECE) {
    const int64_t count = hyk_least(HYK_PIECE, row->n - first);
    float* weight = row->weight + first;
    hyk_load_f32(type, logits, first, count, v);
    for (int64_t i = 0; i < count; ++i) row->key[first + i] = KeyOf(v[i]);
    for (int64_t i = 0; i < count; ++i) weight[i] = hyk_exp((v[i] - most) / temperature);
  }
  Deal(row, 0, nullptr, row->n, row->all);
}

double MassAbove(const Ranked* row, float min_p) {
  const float least = min_p > 1.0f ? 1.0f : min_p;
  double mass = 0;
  for (int64_t c = 0; c < row->n; ++c) mass += row->weight[c] >= least ? row->weight[c] : 0.0f;
  return mass;
}

// Each limit leaves a beginning of the order, so the least mass that one of them leaves is left.
double MassLeft(const Ranked* row, const Settings* s) {
  double left = 0;
  for (int b = kBuckets; b-- > 0;) left += row->all->mass[b];
  if (s->top_k > 0 && s->top_k < row->n) {
    const Wanted wanted = {s->top_k, 0, false};
    left = Select(row, &wanted).mass;
  }
  const double before_min_p = left;
  if (s->top_p < 1.0f) {
    const Wanted wanted = {0, (double)s->top_p * left, false};
    const double mass = Select(row, &wanted).mass;
    left = mass < left ? mass : left;
  }
  if (s->min_p > 0.0f && before_min_p > 0) {
    const double mass = MassAbove(row, s->min_p);
    left = mass < left ? mass : left;
  }
  return left;
}

int64_t Draw(uint32_t type, const void* logits, const Settings* s, const Ranked* row) {
  float most;
  const int64_t first = First(type, logits, row->n, &most);
  if (!AreValid(s) || first < 0) return -1;
  if (s->temperature == 0.0f || most == -hyk_lowest()) return first;
  Weigh(type, logits, most, s->temperature, row);
  const float u = s->u < 1.0f ? s->u : 0x1.fffffep-1f;
  const Wanted wanted = {0, (double)u * MassLeft(row, s), true};
  return Select(row, &wanted).column;
}

uint64_t PartBytes(int64_t n) { return hy_round_up((uint64_t)n * 4u, 64); }

uint64_t WorkerBytes(int64_t n) { return 3 * PartBytes(n) + 2 * hy_round_up(sizeof(Buckets), 64); }

uint64_t Scratch(const void* raw, uint32_t workers) {
  return workers * WorkerBytes(static_cast<const hy_sample_args*>(raw)->logits.shape[1]);
}

Ranked RowIn(unsigned char* scratch, int64_t n) {
  const uint64_t part = PartBytes(n);
  unsigned char* buckets = scratch + 3 * part;
  return {n,
          reinterpret_cast<float*>(scratch),
          reinterpret_cast<uint32_t*>(scratch + part),
          reinterpret_cast<int32_t*>(scratch + 2 * part),
          reinterpret_cast<Buckets*>(buckets),
          reinterpret_cast<Buckets*>(buckets + hy_round_up(sizeof(Buckets), 64))};
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_sample_args* args = static_cast<const hy_sample_args*>(raw);
  const int64_t n = args->logits.shape[1];
  const Ranked ranked =
      RowIn(static_cast<unsigned char*>(context->scratch) + context->index * WorkerBytes(n), n);
  int32_t* id = static_cast<int32_t*>(args->id.data);
  hy_status status = HY_OK;
  int64_t begin;
  int64_t end;
  hy_split(args->logits.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end; ++row) {
    const Settings settings = SettingsOf(args, row);
    id[row] =
        (int32_t)Draw(args->logits.type, hy_tensor_row(&args->logits, row), &settings, &ranked);
    if (id[row] < 0) status = HY_INVALID_ARGUMENT;
  }
  return status;
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_SAMPLE_VERSION,
    .id = "sample/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "sample",
    .types = {},
    .isa = HALYARD_LEVEL_ISA,
    .activation = HY_QA_ANY,
    .accumulator = HY_ACC_F32,
    .priority = HY_PRIORITY_GENERIC + HALYARD_LEVEL_RANK,
    .layout = HY_LAYOUT_CANONICAL,
    .phases = 1,
    .param_count = 0,
    .flags = HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT,
    .params = nullptr,
    .supports = nullptr,
    .scratch_bytes = Scratch,
    .run = Run,
};

}  // namespace

HALYARD_KERNELS(&kGeneric)
