// SPDX-License-Identifier: Apache-2.0
//
// G01..G04: kernels that are right each time they are run alone, and wrong among others: in a plan
// that runs again, next to one that reads the same memory, or in the place of two ops.
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "conformance/mutants_ops/op_mutants.h"
#include "ops/matmul/contract.h"
#include "ops/rmsnorm/contract.h"
#include "ops/scale/contract.h"
#include "reference/reference.h"

namespace halyard::conformance {
namespace {

struct Rows {
  int64_t begin = 0;
  int64_t end = 0;
};

Rows ShareOf(int64_t total, const hy_kernel_context& context) {
  Rows rows;
  hy_split(total, 1, context.index, context.count, &rows.begin, &rows.end);
  return rows;
}

// ------------------------------------------------------------------------------------------- G01 ---

int PlainNorm(const void* raw, const hy_kernel_target*, hy_why* why) {
  const auto& args = *static_cast<const hy_rmsnorm_args*>(raw);
  if (hy_tensor_present(&args.add)) return hy_refuse(why, "adds a residual");
  if (!hy_type_is_float(args.y.type)) return hy_refuse(why, "y is quantised");
  return 1;
}

/// What stands at the beginning of scratch once there are sums behind it.
struct Mark {
  uint64_t word;
  int64_t rows;
  int64_t cols;
  uint64_t unused[5];
};
static_assert(sizeof(Mark) == 64);
constexpr uint64_t kMarkWord = 0x5ca1e5e7;

uint64_t MarkedSums(const void* raw, uint32_t) {
  const auto& args = *static_cast<const hy_rmsnorm_args*>(raw);
  return sizeof(Mark) + 8 * static_cast<uint64_t>(args.x.shape[0]);
}

void Normalise(const hy_rmsnorm_args& args, int64_t row, double squares) {
  std::vector<double> x(static_cast<size_t>(hy_tensor_cols(&args.x)));
  reference::LoadRow(args.x, row, x.data());
  const double mean = squares / static_cast<double>(x.size());
  const double scale = 1 / std::sqrt(mean + static_cast<double>(args.eps));
  for (size_t c = 0; c < x.size(); ++c) {
    const auto col = static_cast<int64_t>(c);
    const bool has_w = hy_tensor_present(&args.w) != 0;
    x[c] *= scale * (has_w ? reference::LoadElement(args.w, args.w.data, col) : 1.0);
  }
  reference::StoreRow(args.y, row, x.data());
}

// Phase 0 leaves the sums of all rows in scratch; with kTrusts not where it finds its own mark there.
template <bool kTrusts>
hy_status RunMarked(const void* raw, const hy_kernel_context* context) {
  const auto& args = *static_cast<const hy_rmsnorm_args*>(raw);
  const int64_t cols = hy_tensor_cols(&args.x);
  if (cols == 0 || args.x.shape[0] == 0) return HY_OK;
  auto* const mark = static_cast<Mark*>(context->scratch);
  auto* const sums = reinterpret_cast<double*>(mark + 1);
  const Rows rows = ShareOf(args.x.shape[0], *context);
  const bool known = mark->word == kMarkWord && mark->rows == args.x.shape[0] && mark->cols == cols;
  if (context->phase == 0) {
    std::vector<double> x(static_cast<size_t>(cols));
    for (int64_t r = rows.begin; r < rows.end && !(kTrusts && known); ++r) {
      reference::LoadRow(args.x, r, x.data());
      sums[r] = 0;
      for (const double value : x) sums[r] += value * value;
    }
    return HY_OK;
  }
  for (int64_t r = rows.begin; r < rows.end; ++r) Normalise(args, r, sums[r]);
  if (context->index == 0) *mark = {kMarkWord, args.x.shape[0], cols, {}};
  return HY_OK;
}

// ------------------------------------------------------------------------------------------- G02 ---

int NoBias(const void* raw, const hy_kernel_target*, hy_why* why) {
  const auto& args = *static_cast<const hy_matmul_args*>(raw);
  return hy_tensor_present(&args.bias) ? hy_refuse(why, "adds a bias") : 1;
}

// Turns the signs of some rows of floats; zeros stay as they are if wanted.
void TurnSigns(const hy_tensor& t, const Rows& rows, bool zeros) {
  const bool wide = t.type == HY_TYPE_F32;
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    auto* const row = static_cast<uint8_t*>(hy_tensor_row(&t, r));
    for (int64_t c = 0; c < hy_tensor_cols(&t); ++c) {
      if (!zeros && reference::LoadElement(t, row, c) == 0) continue;
      if (wide) {
        reinterpret_cast<uint32_t*>(row)[c] ^= 0x80000000u;
      } else {
        reinterpret_cast<uint16_t*>(row)[c] ^= uint16_t{0x8000};
      }
    }
  }
}

// The weights are turned over for the time of the run, and put back.
hy_status RunTurningWeights(const void* raw, const hy_kernel_context* context) {
  const auto& args = *static_cast<const hy_matmul_args*>(raw);
  const Rows own = ShareOf(hy_tensor_rows(&args.w), *context);
  if (hy_tensor_cols(&args.w) == 0) {
    return context->phase == 1 ? op_mutants::RunGood(raw, context) : HY_OK;
  }
  if (context->phase != 1) TurnSigns(args.w, own, true);
  if (context->phase == 2) {
    TurnSigns(args.y, ShareOf(hy_tensor_rows(&args.y), *context), false);
  }
  return context->phase == 1 ? op_mutants::RunGood(raw, context) : HY_OK;
}

// ------------------------------------------------------------------------------------------- G03 ---

int QuantisesBlocks(const void* raw, const hy_kernel_target*, hy_why* why) {
  const auto& args = *static_cast<const hy_rmsnorm_args*>(raw);
  return args.y.type == HY_TYPE_A8_TOKEN ? hy_refuse(why, "y has one scale a row") : 1;
}

// Scales one unit in the last place above those of quantize, as a product with 1/127 may give them.
hy_status RunOtherScales(const void* raw, const hy_kernel_context* context) {
  const auto& args = *static_cast<const hy_rmsnorm_args*>(raw);
  const hy_status status = op_mutants::RunGood(raw, context);
  if (!hy_type_is_a8(args.y.type)) return status;
  const int64_t cols = hy_tensor_cols(&args.y);
  const Rows rows = ShareOf(hy_tensor_rows(&args.y), *context);
  const int64_t blocks = cols / hy_type_facts(args.y.type)->block;
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    auto* const scales =
        static_cast<uint8_t*>(hy_tensor_row(&args.y, r)) + hy_a8_scale_offset(args.y.type, cols);
    for (int64_t b = 0; b < blocks; ++b) {
      float scale = 0;
      std::memcpy(&scale, scales + 4 * b, sizeof scale);
      if (scale != 0) scale = std::nextafter(scale, std::numeric_limits<float>::infinity());
      std::memcpy(scales + 4 * b, &scale, sizeof scale);
    }
  }
  return status;
}

// ------------------------------------------------------------------------------------------- G04 ---

/// Where the input was when args were seen first.
struct Known {
  std::atomic<const void*> args{nullptr};
  std::atomic<void*> x{nullptr};
};
std::array<Known, 256> g_known;

hy_status RunOldAddress(const void* raw, const hy_kernel_context* context) {
  hy_scale_args args = *static_cast<const hy_scale_args*>(raw);
  Known& known = g_known[reinterpret_cast<uintptr_t>(raw) / 16 % g_known.size()];
  if (context->phase == 0) {
    if (context->index == 0 && known.args.load() != raw) {
      known.args = raw;
      known.x = args.x.data;
    }
    return HY_OK;
  }
  // In place the address is that of the output, which is not kept.
  if (args.x.data != args.y.data && known.args.load() == raw) args.x.data = known.x.load();
  return op_mutants::RunGood(&args, context);
}

hy_kernel_desc Of(hy_status (*run)(const void*, const hy_kernel_context*), uint32_t phases,
                  int (*supports)(const void*, const hy_kernel_target*, hy_why*),
                  uint64_t (*scratch)(const void*, uint32_t) = op_mutants::GoodScratch) {
  hy_kernel_desc desc = op_mutants::Plain(run);
  desc.phases = phases;
  desc.supports = supports;
  desc.scratch_bytes = scratch;
  return desc;
}

}  // namespace

std::vector<OpMutant> GraphMutants() {
  hy_kernel_desc turning = Of(RunTurningWeights, 3, NoBias);
  turning.types[1] = HY_TYPE_F32;
  return {
      {"G01", "rmsnorm: sums that scratch holds from a run before are taken for its own", "rmsnorm",
       Trap::kKernel, Of(RunMarked<true>, 2, PlainNorm, MarkedSums)},
      {"G02", "matmul: weights are changed for the time of a run", "matmul", Trap::kKernel,
       turning},
      {"G03", "rmsnorm: quantised rows are not quite what quantize gives", "rmsnorm", Trap::kKernel,
       Of(RunOtherScales, 1, QuantisesBlocks)},
      {"G04", "scale: the address of the input is kept from run to run", "scale", Trap::kKernel,
       Of(RunOldAddress, 2, nullptr)},
  };
}

std::vector<OpMutant> GraphControls() {
  return {
      {"C6", "rmsnorm", "rmsnorm", Trap::kKernel, Of(RunMarked<false>, 2, PlainNorm, MarkedSums)},
      {"C7", "matmul", "matmul", Trap::kKernel, Of(op_mutants::RunGood, 1, NoBias)}};
}

}  // namespace halyard::conformance
