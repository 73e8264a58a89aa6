// SPDX-License-Identifier: Apache-2.0
//
// Rows of any bytes are taken apart, put together and decoded; any numbers are packed. What was packed
// once is the same when it is packed again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/quant/format.h"
#include "base/quant/pack.h"
#include "base/simd/blocks.h"
#include "halyard/tensor.h"

namespace {

using halyard::quant::BlockScales;

void Demand(bool holds) {
  if (!holds) __builtin_trap();
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::memcmp(&a[i], &b[i], sizeof a[i]) != 0) return false;
  }
  return true;
}

// Decoders of kernels and of the library agree on any bytes.
std::vector<float> Decoded(uint32_t type, const std::vector<uint8_t>& row, int64_t k) {
  std::vector<float> values(static_cast<size_t>(k));
  std::vector<float> by_kernels(values.size());
  halyard::quant::DecodeRowF32(type, row.data(), k, values.data());
  hyk_values(type, row.data(), k, 0, k, by_kernels.data());
  Demand(SameBits(values, by_kernels));
  return values;
}

void CheckBytes(uint32_t type, const std::vector<uint8_t>& row, int64_t k) {
  Decoded(type, row, k);
  const auto block = type == HY_TYPE_W8A8 ? k : int64_t{hy_type_facts(type)->block};
  std::vector<int8_t> codes(static_cast<size_t>(block));
  std::vector<uint8_t> again(hy_type_row_bytes(type, block));
  for (size_t at = 0; at + again.size() <= row.size(); at += again.size()) {
    BlockScales scales;
    halyard::quant::UnpackBlock(type, row.data() + at, block, &scales, codes.data());
    halyard::quant::PackBlock(type, scales, codes.data(), block, again.data());
    const bool is_nan = std::isnan(scales.scale) || std::isnan(scales.min);
    Demand(is_nan || std::memcmp(again.data(), row.data() + at, again.size()) == 0);
  }
}

void CheckNumbers(uint32_t type, const std::vector<float>& x) {
  const auto k = static_cast<int64_t>(x.size());
  std::vector<uint8_t> row(hy_type_row_bytes(type, k));
  std::vector<uint8_t> again(row.size(), 0xff);
  halyard::quant::EncodeRow(type, x.data(), k, row.data());
  halyard::quant::EncodeRow(type, x.data(), k, again.data());
  Demand(row == again);
  const std::vector<float> values = Decoded(type, row, k);
  for (size_t i = 0; i < x.size(); ++i) Demand(std::isfinite(x[i]) || std::isnan(values[i]));
}

// `count` bytes of the input, the last ones over and over.
std::vector<uint8_t> Take(const uint8_t* data, size_t size, size_t count) {
  std::vector<uint8_t> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = data[i % size];
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const uint32_t types = HY_TYPE_W4A8_G128 - HY_TYPE_Q8_0 + 1;
  const uint32_t type = HY_TYPE_Q8_0 + data[0] % types;
  const int64_t blocks = 1 + data[0] / types % 3;
  const int64_t k = blocks * (type == HY_TYPE_W8A8 ? 19 : int64_t{hy_type_facts(type)->block});
  CheckBytes(type, Take(data + 1, size - 1, hy_type_row_bytes(type, k)), k);
  const std::vector<uint8_t> bytes = Take(data + 1, size - 1, 4 * static_cast<size_t>(k));
  std::vector<float> x(static_cast<size_t>(k));
  std::memcpy(x.data(), bytes.data(), bytes.size());
  CheckNumbers(type, x);
  return 0;
}
