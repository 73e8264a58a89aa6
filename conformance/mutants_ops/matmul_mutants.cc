// SPDX-License-Identifier: Apache-2.0
//
// K01..K08, K10, K17: a plain matmul over weights that are decoded wrongly, or summed wrongly.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/half.h"
#include "base/quant/format.h"
#include "base/quant/pack.h"
#include "conformance/mutants_ops/op_mutants.h"
#include "ops/matmul/contract.h"
#include "reference/reference.h"

namespace halyard::conformance {
namespace {

using Row = std::vector<double>;

const hy_matmul_args& Args(const void* raw) { return *static_cast<const hy_matmul_args*>(raw); }

/// One row of activations against one of weights.
struct Product {
  const hy_matmul_args& args;
  int64_t x_row;
  int64_t w_row;   // over all matrices
  int64_t column;  // of y
  int64_t columns;
};

using SumFn = double (*)(const Product& product);

// Every output by `Sum`, in f64, rounded once.
template <SumFn Sum>
hy_status RunSums(const void* raw, const hy_kernel_context* context) {
  const hy_matmul_args& args = Args(raw);
  const int64_t rows = hy_tensor_rows(&args.y);
  const int64_t columns = hy_tensor_cols(&args.y);
  const int64_t per_matrix = args.y.rank < 2 ? 1 : args.y.shape[args.y.rank - 2];
  const bool many = args.w.rank == 3 && args.w.shape[0] > 1;
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(rows, 1, context->index, context->count, &begin, &end);
  for (int64_t r = begin; r < end; ++r) {
    for (int64_t n = 0; n < columns; ++n) {
      const int64_t w_row = (many ? r / per_matrix * columns : 0) + n;
      double sum = Sum({args, r, w_row, n, columns});
      if (hy_tensor_present(&args.bias)) {
        sum += reference::LoadElement(args.bias, args.bias.data, n);
      }
      reference::StoreElement(args.y, hy_tensor_row(&args.y, r), n, sum);
    }
  }
  return HY_OK;
}

Row Load(const hy_tensor& tensor, int64_t row) {
  Row values(static_cast<size_t>(hy_tensor_cols(&tensor)));
  if (!values.empty()) reference::LoadRow(tensor, row, values.data());
  return values;
}

double Dot(const Row& x, const Row& w) {
  double sum = 0;
  for (size_t k = 0; k < x.size(); ++k) sum += x[k] * w[k];
  return sum;
}

double DotOf(const Product& p, const Row& w) { return Dot(Load(p.args.x, p.x_row), w); }

double Right(const Product& p) { return DotOf(p, Load(p.args.w, p.w_row)); }

// K01.
double TailIgnored(const Product& p) {
  Row w = Load(p.args.w, p.w_row);
  for (size_t k = w.size() / 8 * 8; k < w.size(); ++k) w[k] = 0;
  return DotOf(p, w);
}

// K02.
double OddBlockSkipped(const Product& p) {
  Row w = Load(p.args.w, p.w_row);
  if (w.size() / 32 % 2 != 0) std::fill(w.end() - 32, w.end(), 0.0);
  return DotOf(p, w);
}

// Weights whose fields are changed before they are decoded.
Row WithScales(const Product& p, void (*change)(quant::BlockScales* scales)) {
  const hy_tensor& w = p.args.w;
  const auto k = hy_tensor_cols(&w);
  const int64_t block = hy_type_facts(w.type)->block;
  const int64_t bytes = hy_type_facts(w.type)->block_bytes;
  const auto* row = static_cast<const uint8_t*>(hy_tensor_row(&w, p.w_row));
  Row values(static_cast<size_t>(k));
  quant::BlockScales scales;
  int8_t codes[quant::kMaxBlock];
  for (int64_t first = 0; first < k; first += block) {
    quant::UnpackBlock(w.type, row + first / block * bytes, block, &scales, codes);
    change(&scales);
    quant::ValuesOf(w.type, scales, codes, block, &values[static_cast<size_t>(first)]);
  }
  return values;
}

// K03.
double UpperBitsDropped(const Product& p) {
  return DotOf(p, WithScales(p, [](quant::BlockScales* scales) {
                 for (int s = 4; s < 8; ++s) scales->sub_scale[s] = scales->sub_scale[s] & 15;
               }));
}

// K04.
double LastMinimumOmitted(const Product& p) {
  return DotOf(p, WithScales(p, [](quant::BlockScales* scales) { scales->sub_min[7] = 0; }));
}

// K05: the scale of element k is that of group k / 64, as far as there is one.
double WrongGroup(const Product& p) {
  const hy_tensor& w = p.args.w;
  const Row right = Load(w, p.w_row);
  const auto* row = static_cast<const uint8_t*>(hy_tensor_row(&w, p.w_row));
  const int64_t groups = hy_tensor_cols(&w) / 128;
  std::vector<double> scale(static_cast<size_t>(groups));
  int8_t codes[128];
  Row values(right.size());
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t g = 0; g < groups; ++g) {
      quant::BlockScales scales;
      quant::UnpackBlock(w.type, row + g * 68, 128, &scales, codes);
      scale[static_cast<size_t>(g)] = static_cast<double>(scales.scale);
      for (int64_t j = 0; pass == 1 && j < 128; ++j) {
        const int64_t k = g * 128 + j;
        const int64_t wrong = std::min(k / 64, groups - 1);
        values[static_cast<size_t>(k)] = scale[static_cast<size_t>(wrong)] * codes[j];
      }
      if (pass == 0) continue;
    }
  }
  return DotOf(p, values);
}

// K06: only in the columns behind whole runs of 4.
double NibblesSwapped(const Product& p) {
  Row w = Load(p.args.w, p.w_row);
  if (p.column < p.columns / 4 * 4) return DotOf(p, w);
  for (size_t run = 0; run < w.size(); run += 32) {
    std::swap_ranges(w.begin() + static_cast<std::ptrdiff_t>(run),
                     w.begin() + static_cast<std::ptrdiff_t>(run) + 16,
                     w.begin() + static_cast<std::ptrdiff_t>(run) + 16);
  }
  return DotOf(p, w);
}

/// A row of x as codes.
struct Codes {
  std::vector<uint8_t> record;
  const int8_t* code;
  double scale;
  int32_t zero;
};

Codes Quantised(const hy_tensor& x, int64_t row, uint32_t type, bool asymmetric) {
  const Row values = Load(x, row);
  const std::vector<float> narrow(values.begin(), values.end());
  const auto k = static_cast<int64_t>(narrow.size());
  Codes codes;
  codes.record.resize(hy_type_row_bytes(type, k) + 8);
  quant::QuantizeActivations(type, asymmetric, narrow.data(), k, codes.record.data());
  codes.code = reinterpret_cast<const int8_t*>(codes.record.data());
  float scale = 0;
  std::memcpy(&scale, &codes.record[hy_a8_scale_offset(type, k)], sizeof scale);
  codes.scale = static_cast<double>(scale);
  codes.zero = 0;
  if (type == HY_TYPE_A8_TOKEN) {
    std::memcpy(&codes.zero, &codes.record[hy_a8_sum_offset(type, k)], sizeof codes.zero);
  }
  return codes;
}

// K07.
double ZeroPointForgotten(const Product& p) {
  const Row w = Load(p.args.w, p.w_row);
  const Codes x = Quantised(p.args.x, p.x_row, HY_TYPE_A8_TOKEN, true);
  const int32_t zero = p.column + 1 == p.columns ? 0 : x.zero;
  double sum = 0;
  for (size_t k = 0; k < w.size(); ++k) sum += w[k] * (x.code[k] - zero);
  return sum * x.scale;
}

int32_t Saturated(int32_t sum) { return std::clamp(sum, -32768, 32767); }

// K08: codes of x made unsigned by adding 128, as an instruction for unsigned times signed wants
// them, and pairs of products kept in 16 bits.
double PairsSaturate(const Product& p) {
  const hy_tensor& w = p.args.w;
  const int64_t k = hy_tensor_cols(&w);
  const Codes x = Quantised(p.args.x, p.x_row, HY_TYPE_A8_B32, false);
  const auto* row = static_cast<const uint8_t*>(hy_tensor_row(&w, p.w_row));
  double total = 0;
  for (int64_t b = 0; b < k / 32; ++b) {
    quant::BlockScales scales;
    int8_t codes[32];
    quant::UnpackBlock(w.type, row + b * 34, 32, &scales, codes);
    float x_scale = 0;
    std::memcpy(&x_scale,
                &x.record[hy_a8_scale_offset(HY_TYPE_A8_B32, k) + static_cast<uint64_t>(b) * 4],
                sizeof x_scale);
    int32_t sum = 0;
    int32_t w_sum = 0;
    for (int j = 0; j < 32; j += 2) {
      sum += Saturated((x.code[b * 32 + j] + 128) * codes[j] +
                       (x.code[b * 32 + j + 1] + 128) * codes[j + 1]);
      w_sum += codes[j] + codes[j + 1];
    }
    total += static_cast<double>(scales.scale) * static_cast<double>(x_scale) * (sum - 128 * w_sum);
  }
  return total;
}

// K10.
double SumInHalf(const Product& p) {
  const Row x = Load(p.args.x, p.x_row);
  const Row w = Load(p.args.w, p.w_row);
  float sum = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    sum = HalfToFloat(FloatToHalf(sum + static_cast<float>(x[k] * w[k])));
  }
  return static_cast<double>(sum);
}

// K17: y = 0 y + x w, in the columns behind whole runs of 4.
double OutputRead(const Product& p) {
  const double sum = DotOf(p, Load(p.args.w, p.w_row));
  if (p.column < p.columns / 4 * 4) return sum;
  const void* y = hy_tensor_row(&p.args.y, p.x_row);
  return sum + 0.0 * reference::LoadElement(p.args.y, y, p.column);
}

int TakesFloats(const void* raw, const hy_kernel_target*, hy_why* why) {
  return hy_type_is_float(Args(raw).x.type) ? 1 : hy_refuse(why, "x is quantised");
}

// Activations as they are, whatever the args would allow.
hy_kernel_desc Exact(hy_kernel_desc desc) {
  desc.activation = HY_QA_NONE;
  return desc;
}

hy_kernel_desc InClass(hy_kernel_desc desc, uint32_t activation) {
  desc.activation = activation;
  desc.accumulator = HY_ACC_I32_F32;
  desc.supports = TakesFloats;
  return desc;
}

}  // namespace

std::vector<OpMutant> MatmulMutants() {
  using op_mutants::Typed;
  constexpr uint32_t kAny = HY_TYPE_NONE;
  return {
      {"K01", "bf16 weights: what lies behind the last whole vector is left out", "matmul",
       Trap::kKernel, Exact(Typed(RunSums<TailIgnored>, kAny, HY_TYPE_BF16))},
      {"K02", "q8_0: the last block is left out where the number of blocks is odd", "matmul",
       Trap::kKernel, Exact(Typed(RunSums<OddBlockSkipped>, kAny, HY_TYPE_Q8_0))},
      {"K03", "q4_k: the upper two bits of the scales of sub-blocks 4 to 7 are dropped", "matmul",
       Trap::kKernel, Exact(Typed(RunSums<UpperBitsDropped>, kAny, HY_TYPE_Q4_K))},
      {"K04", "q4_k: the minimum of the last sub-block is left out", "matmul", Trap::kKernel,
       Exact(Typed(RunSums<LastMinimumOmitted>, kAny, HY_TYPE_Q4_K))},
      {"K05", "w4a8_g128: the scale is looked up by k / 64", "matmul", Trap::kKernel,
       Exact(Typed(RunSums<WrongGroup>, kAny, HY_TYPE_W4A8_G128))},
      {"K06", "w4a8_g128: low and high nibbles are swapped in the tail columns", "matmul",
       Trap::kKernel, Exact(Typed(RunSums<NibblesSwapped>, kAny, HY_TYPE_W4A8_G128))},
      {"K07", "w8a8: the zero point is forgotten in the last column", "matmul", Trap::kKernel,
       InClass(Typed(RunSums<ZeroPointForgotten>, kAny, HY_TYPE_W8A8), HY_QA_TOKEN_ASYM)},
      {"K08", "q8_0: pairs of products are added with 16-bit saturation", "matmul", Trap::kKernel,
       InClass(Typed(RunSums<PairsSaturate>, kAny, HY_TYPE_Q8_0), HY_QA_BLOCK32)},
      {"K10", "f16 weights: sums are kept in f16", "matmul", Trap::kKernel,
       Exact(Typed(RunSums<SumInHalf>, kAny, HY_TYPE_F16))},
      {"K17", "the output is read in the tail columns, as if it were to be added to", "matmul",
       Trap::kKernel, Exact(Typed(RunSums<OutputRead>, kAny, HY_TYPE_F32))},
  };
}

std::vector<OpMutant> MatmulControls() {
  return {{"C1", "matmul", "matmul", Trap::kKernel, Exact(op_mutants::Plain(RunSums<Right>))}};
}

}  // namespace halyard::conformance
