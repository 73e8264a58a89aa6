// SPDX-License-Identifier: Apache-2.0
#include "ops/sample/contract.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "reference/ranking.h"
#include "reference/reference.h"

namespace halyard::reference {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

const hy_sample_args& Args(const void* raw) { return *static_cast<const hy_sample_args*>(raw); }

struct Settings {
  double temperature, u, top_k, top_p, min_p;
};

double SettingOf(const hy_tensor& tensor, int64_t row, double otherwise) {
  return hy_tensor_present(&tensor) ? LoadElement(tensor, tensor.data, row) : otherwise;
}

Settings SettingsOf(const hy_sample_args& args, int64_t row) {
  return {SettingOf(args.temperature, row, 0), SettingOf(args.u, row, 0),
          SettingOf(args.top_k, row, 0), SettingOf(args.top_p, row, 1),
          SettingOf(args.min_p, row, 0)};
}

bool AreValid(const Settings& s) {
  return s.temperature >= 0 && s.temperature < kInf && s.u >= 0 && !std::isnan(s.top_p) &&
         !std::isnan(s.min_p);
}

// A row in order, with running sums.
struct Order {
  int64_t n;
  double* logit;
  int64_t* column;
  double* weight;  // w_i of the contract, i from 0
  double* sum;     // w_0 + .. + w_i
};

// Doubles that an Order needs.
int64_t RoomOf(const hy_sample_args& args) { return 4 * args.logits.shape[1]; }

Order OrderIn(double* room, int64_t n) {
  static_assert(sizeof(int64_t) == sizeof(double));
  return {n, room, reinterpret_cast<int64_t*>(room + n), room + 2 * n, room + 3 * n};
}

double Largest(const Order& order) { return order.logit[order.column[0]]; }

// Loads and orders a row. false if nothing can be drawn.
bool Rank(const hy_sample_args& args, int64_t row, const Order& order) {
  LoadRow(args.logits, row, order.logit);
  return RankColumns(order.logit, order.n, order.column) && order.n > 0 && Largest(order) > -kInf;
}

bool IsCertain(const Settings& s, const Order& order) {
  return s.temperature == 0 || Largest(order) == kInf;
}

void Weigh(const Settings& s, const Order& order) {
  double sum = 0;
  for (int64_t i = 0; i < order.n; ++i) {
    const double below = order.logit[order.column[i]] - Largest(order);
    order.weight[i] = std::exp(below / s.temperature);
    sum += order.weight[i];
    order.sum[i] = sum;
  }
}

// How many stay, with sums and weights compared as if they were larger by a share: by `slack` of all,
// and by `weight_slack` of themselves.
int64_t Left(const Settings& s, const Order& order, double slack, double weight_slack) {
  const bool all = s.top_k <= 0 || s.top_k >= static_cast<double>(order.n);
  const int64_t k = all ? order.n : static_cast<int64_t>(s.top_k);
  const double total = order.sum[k - 1];
  int64_t left = 1;
  const double reach = s.top_p >= 1 ? kInf : s.top_p * total;
  while (left < k && !(order.sum[left - 1] + slack * total >= reach)) ++left;
  const double least = std::min(1.0, s.min_p);
  while (left > 1 && s.min_p > 0 && !(order.weight[left - 1] * (1 + weight_slack) >= least)) --left;
  return left;
}

// The place that a sum first passes `target`, among the first `left`.
int64_t Passes(const Order& order, int64_t left, double target) {
  int64_t i = 0;
  while (i + 1 < left && !(order.sum[i] > target)) ++i;
  // Behind the last weight that is not 0 nothing is drawn.
  while (i > 0 && order.weight[i] == 0) --i;
  return i;
}

double CappedU(const Settings& s) { return std::min(s.u, 1 - 0x1p-24); }

// -1 if nothing can be drawn.
int64_t Draw(const hy_sample_args& args, int64_t row, const Order& order) {
  const Settings s = SettingsOf(args, row);
  if (!AreValid(s) || !Rank(args, row, order)) return -1;
  if (IsCertain(s, order)) return order.column[0];
  Weigh(s, order);
  const int64_t left = Left(s, order, 0, 0);
  return order.column[Passes(order, left, CappedU(s) * order.sum[left - 1])];
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return ScratchBytes(workers, RoomOf(Args(raw)));
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_sample_args& args = Args(raw);
  const Order order = OrderIn(ScratchSlice(*context, RoomOf(args)), args.logits.shape[1]);
  hy_status status = HY_OK;
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.logits.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t id = Draw(args, row, order);
    if (id < 0) status = HY_INVALID_ARGUMENT;
    StoreElement(args.id, args.id.data, row, static_cast<double>(id));
  }
  return status;
}

// Columns that are as good as the one drawn, because a kernel's sums may lie to either side.
std::vector<double> AsGood(const Settings& s, const Order& order) {
  double mean_error = 0;
  for (int64_t i = 0; i < order.n; ++i) {
    if (order.weight[i] > 0) mean_error += order.weight[i] * (4 - 2 * std::log(order.weight[i]));
  }
  const double total = order.sum[order.n - 1];
  const double n = static_cast<double>(order.n);
  const double slack = 0x1p-23 * (4 * std::sqrt(n) + mean_error / total);
  const double weight_slack = 0x1p-23 * (4 + 2 * std::abs(std::log(std::max(s.min_p, 1e-30))));
  const int64_t fewest = Left(s, order, slack, -weight_slack);
  const int64_t most = Left(s, order, -slack, weight_slack);
  const double low = CappedU(s) * order.sum[fewest - 1];
  const double high = CappedU(s) * order.sum[most - 1];
  const double margin = slack * order.sum[most - 1];
  std::vector<double> ids;
  for (int64_t i = Passes(order, most, low - margin); i <= Passes(order, most, high + margin); ++i)
    ids.push_back(static_cast<double>(order.column[i]));
  return ids;
}

absl::Status Expect(const void* raw, const Numerics& /*numerics*/, Expected* out) {
  const hy_sample_args& args = Args(raw);
  ExpectedOutput id(6);
  id.exact = true;
  std::vector<double> room(static_cast<size_t>(RoomOf(args)));
  const Order order = OrderIn(room.data(), args.logits.shape[1]);
  for (int64_t row = 0; row < args.logits.shape[0]; ++row) {
    const int64_t drawn = Draw(args, row, order);
    const Settings s = SettingsOf(args, row);
    id.value.push_back(static_cast<double>(drawn));
    id.alternatives.emplace_back();
    if (drawn < 0) {
      out->status = HY_INVALID_ARGUMENT;
    } else if (!IsCertain(s, order)) {
      id.alternatives.back() = AsGood(s, order);
    }
  }
  id.bound.assign(id.value.size(), 0);
  out->outputs.push_back(std::move(id));
  return absl::OkStatus();
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_SAMPLE_VERSION,
    .id = "sample/any/reference@halyard",
    .op = "sample",
    .types = {},
    .isa = {},
    .activation = HY_QA_ANY,
    .accumulator = HY_ACC_F64,
    .priority = HY_PRIORITY_REFERENCE,
    .layout = HY_LAYOUT_CANONICAL,
    .phases = 1,
    .param_count = 0,
    .flags = HY_KERNEL_REFERENCE | HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT,
    .params = nullptr,
    .supports = nullptr,
    .scratch_bytes = Scratch,
    .run = Run,
};

}  // namespace
}  // namespace halyard::reference

HALYARD_REFERENCE(sample, halyard::reference::kKernel, halyard::reference::Expect)
