// SPDX-License-Identifier: Apache-2.0
//
// For tests of contracts, kernels and references: tensors with memory of their own, a run of one
// kernel without a team (its workers one after the other, phase by phase), and a plain verdict.
// Conformance has guarded memory, real workers and better reports.
#ifndef HALYARD_OPS_TEST_RUN_H_
#define HALYARD_OPS_TEST_RUN_H_

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "halyard/kernel.h"
#include "reference/reference.h"

namespace halyard::ops {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();

/// A tensor with memory of its own, its rows `gap_bytes` apart.
class TestTensor {
 public:
  /// Poisoned with NaNs.
  TestTensor(uint32_t type, std::vector<int64_t> shape, int64_t gap_bytes = 0) {
    tensor_ = hy_tensor_dense(nullptr, type, static_cast<uint32_t>(shape.size()), shape.data());
    int64_t inner = static_cast<int64_t>(hy_type_row_bytes(type, shape.back())) + gap_bytes;
    for (size_t i = shape.size() - 1; i-- > 0;) {
      tensor_.stride[i] = inner;
      inner *= shape[i];
    }
    memory_.assign(static_cast<size_t>(inner) / 4 + 16, 0xffffffffu);
    tensor_.data = memory_.data();
  }
  /// Holds `values`, row after row.
  TestTensor(uint32_t type, std::vector<int64_t> shape, const std::vector<double>& values,
             int64_t gap_bytes = 0)
      : TestTensor(type, std::move(shape), gap_bytes) {
    Set(values);
  }
  TestTensor(TestTensor&&) = default;

  void Set(std::vector<double> values) {
    const auto cols = static_cast<size_t>(hy_tensor_cols(&tensor_));
    for (size_t i = 0; cols > 0 && i + cols <= values.size(); i += cols)
      reference::StoreRow(tensor_, static_cast<int64_t>(i / cols), &values[i]);
  }
  std::vector<double> Get() const {
    const auto cols = static_cast<size_t>(hy_tensor_cols(&tensor_));
    std::vector<double> values(cols * static_cast<size_t>(hy_tensor_rows(&tensor_)));
    for (size_t i = 0; i < values.size(); i += cols)
      reference::LoadRow(tensor_, static_cast<int64_t>(i / cols), &values[i]);
    return values;
  }
  const hy_tensor& view() const { return tensor_; }
  /// All bytes, gaps too.
  const std::vector<uint32_t>& memory() const { return memory_; }

 private:
  std::vector<uint32_t> memory_;
  hy_tensor tensor_;
};

/// Runs a kernel with dirty scratch. Gives the first status that is not OK, as the runtime does.
inline hy_status RunKernel(const hy_kernel_desc& kernel, const void* args, uint32_t workers) {
  const uint64_t bytes = kernel.scratch_bytes == nullptr ? 0 : kernel.scratch_bytes(args, workers);
  std::vector<unsigned char> memory(bytes + 64, 0xff);
  const auto gap = static_cast<size_t>(64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
  std::vector<int64_t> params;
  for (uint32_t i = 0; i < kernel.param_count; ++i) params.push_back(kernel.params[i].values[0]);
  hy_status status = HY_OK;
  for (uint32_t phase = 0; phase < kernel.phases; ++phase) {
    uint64_t ticket = 0;
    for (uint32_t index = 0; index < workers; ++index) {
      const hy_kernel_context context = {sizeof context,      index, workers, phase,
                                         memory.data() + gap, bytes, &ticket, params.data()};
      const hy_status one = kernel.run(args, &context);
      if (status == HY_OK) status = one;
    }
  }
  return status;
}

/// Whether a stored value is what is expected at place `i`.
inline bool Fits(const reference::ExpectedOutput& want, uint32_t type, size_t i, double got) {
  const bool rounds = want.exact && hy_type_is_float(type);
  const double value = rounds ? reference::RoundTo(type, want.value[i]) : want.value[i];
  if (std::isnan(value)) return std::isnan(got);
  if (got == value) return !want.exact || std::signbit(got) == std::signbit(value);
  if (i < want.alternatives.size()) {
    for (const double other : want.alternatives[i]) {
      if (got == other) return true;
    }
  }
  return !want.exact && std::abs(got - value) <= want.bound[i];
}

/// What is wrong with an output that is compared byte by byte; empty if nothing is.
inline std::string ByteFault(const char* name, const hy_tensor& tensor,
                             const std::vector<uint8_t>& want) {
  const uint64_t row_bytes = hy_type_row_bytes(tensor.type, hy_tensor_cols(&tensor));
  if (want.size() != static_cast<uint64_t>(hy_tensor_rows(&tensor)) * row_bytes)
    return absl::StrCat(name, " is expected to have ", want.size(), " bytes");
  for (uint64_t i = 0; i < want.size(); ++i) {
    const auto* row =
        static_cast<const uint8_t*>(hy_tensor_row(&tensor, static_cast<int64_t>(i / row_bytes)));
    if (row[i % row_bytes] == want[i]) continue;
    return absl::StrCat(name, "[", i / row_bytes, "] byte ", i % row_bytes, " is ",
                        row[i % row_bytes], ", expected ", want[i]);
  }
  return "";
}

/// What is wrong with the outputs of args; empty if nothing is.
inline std::string FaultOf(const hy_op_desc& op, const void* args,
                           const reference::Expected& expected) {
  for (const reference::ExpectedOutput& want : expected.outputs) {
    const hy_operand& operand = op.operands[want.operand];
    const hy_tensor& tensor = *hy_operand_tensor(&operand, args);
    const auto cols = static_cast<size_t>(hy_tensor_cols(&tensor));
    if (!want.bytes.empty()) {
      const std::string fault = ByteFault(operand.name, tensor, want.bytes);
      if (!fault.empty()) return fault;
    }
    std::vector<double> got(cols);
    for (size_t i = 0; i < want.value.size(); ++i) {
      if (i % cols == 0) reference::LoadRow(tensor, static_cast<int64_t>(i / cols), got.data());
      if (Fits(want, tensor.type, i, got[i % cols])) continue;
      return absl::StrCat(operand.name, "[", i / cols, "][", i % cols, "] is ", got[i % cols],
                          ", expected ", want.value[i], " +- ",
                          want.bound.empty() ? 0.0 : want.bound[i]);
    }
  }
  return "";
}

}  // namespace halyard::ops

#endif  // HALYARD_OPS_TEST_RUN_H_
