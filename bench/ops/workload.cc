// SPDX-License-Identifier: Apache-2.0
#include "bench/ops/workload.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "conformance/ops/judge.h"
#include "ops/contract_check.h"
#include "registry/select.h"

namespace halyard::bench {
namespace {

constexpr size_t kMostCopies = 256;

// Bytes from the data of a tensor to its end.
uint64_t SpanBytes(const hy_tensor& tensor, const hy_layout_desc* layout) {
  if (hy_tensor_rows(&tensor) == 0 || hy_tensor_cols(&tensor) == 0) return 0;
  if (tensor.layout != HY_LAYOUT_CANONICAL) {
    int64_t matrices = 1;
    for (uint32_t axis = 0; axis + 2 < tensor.rank; ++axis) matrices *= tensor.shape[axis];
    const uint64_t each =
        layout->packed_bytes(tensor.shape[tensor.rank - 2], hy_tensor_cols(&tensor));
    return static_cast<uint64_t>(matrices) * hy_round_up(each, 64);
  }
  const auto* begin = static_cast<const unsigned char*>(tensor.data);
  const auto* last =
      static_cast<const unsigned char*>(hy_tensor_row(&tensor, hy_tensor_rows(&tensor) - 1));
  return static_cast<uint64_t>(last - begin) +
         hy_type_row_bytes(tensor.type, hy_tensor_cols(&tensor));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Workload>> Workload::Make(const conformance::TestedOp& op,
                                                         const ops::Case& c,
                                                         const hy_layout_desc* layout,
                                                         uint64_t cold_bytes) {
  std::unique_ptr<Workload> made(new Workload(op, c));
  HY_RETURN_IF_ERROR(made->Build(layout));
  const uint64_t each = std::max<uint64_t>(1, made->bytes_);
  const uint64_t wanted = std::clamp<uint64_t>((cold_bytes + each - 1) / each, 1, kMostCopies);
  while (made->args_.size() < wanted) HY_RETURN_IF_ERROR(made->AddCopy(layout));
  return made;
}

absl::Status Workload::Build(const hy_layout_desc* layout) {
  const hy_op_desc& desc = op_.op->desc();
  const size_t words = desc.args_bytes / sizeof(uint64_t) + 1;
  canonical_args_.resize(words);
  canonical_ = std::make_unique<ops::PlainBuilder>(&case_);
  HY_RETURN_IF_ERROR(op_.cases->build(case_, *canonical_, canonical_args_.data()));
  HY_RETURN_IF_ERROR(canonical_->status());
  HY_RETURN_IF_ERROR(registry::Validate(*op_.op, canonical_args_.data()));
  ops::Case packed = case_;
  if (layout != nullptr) packed.lay = packed.lay == "dense" ? "packed" : packed.lay + "+packed";
  first_ = std::make_unique<ops::PlainBuilder>(&packed, layout);
  args_.emplace_back(words);
  HY_RETURN_IF_ERROR(op_.cases->build(packed, *first_, args_[0].data()));
  HY_RETURN_IF_ERROR(first_->status());
  bytes_ = desc.bytes != nullptr ? desc.bytes(canonical_args_.data())
                                 : ops::OperandBytes(desc, canonical_args_.data());
  flops_ = desc.flops(canonical_args_.data());
  return absl::OkStatus();
}

absl::Status Workload::AddCopy(const hy_layout_desc* layout) {
  args_.push_back(args_[0]);
  for (const hy_operand& operand : op_.op->operands()) {
    hy_tensor& tensor = *const_cast<hy_tensor*>(hy_operand_tensor(&operand, args_.back().data()));
    if (!hy_tensor_present(&tensor) || tensor.data == nullptr) continue;
    const uint64_t bytes = SpanBytes(tensor, layout);
    auto block = std::make_unique<registry::AlignedBlock>();
    HY_RETURN_IF_ERROR(block->Reserve(std::max<uint64_t>(64, bytes)));
    std::memcpy(block->data(), tensor.data, static_cast<size_t>(bytes));
    tensor.data = block->data();
    memory_.push_back(std::move(block));
  }
  return absl::OkStatus();
}

absl::Status Workload::Check(const reference::Numerics& numerics) {
  reference::Expected expected;
  HY_RETURN_IF_ERROR(op_.reference->expect(canonical_args_.data(), numerics, &expected));
  // Outputs lie where the first copy has them; rows before the run are those of the canonical ones.
  const auto before = [this](const hy_tensor& tensor, int64_t row) {
    for (const hy_operand& operand : op_.op->operands()) {
      if (hy_operand_tensor(&operand, args_[0].data())->data != tensor.data) continue;
      const hy_tensor& untouched = *hy_operand_tensor(&operand, canonical_args_.data());
      const auto* at = static_cast<const uint8_t*>(hy_tensor_row(&untouched, row));
      return std::vector<uint8_t>(at, at + hy_type_row_bytes(tensor.type, hy_tensor_cols(&tensor)));
    }
    return std::vector<uint8_t>();
  };
  const conformance::Judgement judgement =
      conformance::JudgeOutputs(op_.op->desc(), args_[0].data(), expected, before);
  if (judgement.holds()) return absl::OkStatus();
  return absl::DataLossError(judgement.Reason(op_.op->desc()));
}

}  // namespace halyard::bench
