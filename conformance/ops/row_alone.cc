// SPDX-License-Identifier: Apache-2.0
//
// OP-RUN-08: with HY_KERNEL_ROW_INVARIANT a row alone has the bits that it has in its batch. Which
// operands have rows is said by the op's slices.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "conformance/crumbs.h"
#include "conformance/ops/op_case_run.h"
#include "registry/args.h"
#include "registry/fit.h"
#include "registry/select.h"

namespace halyard::conformance {
namespace {

// Axis of a tensor along which group 0 is cut; -1 if it stays whole.
int RowAxis(const hy_operand& operand, const hy_tensor& tensor) {
  const uint32_t from_last = HY_OPERAND_SLICE_AXIS(operand.flags, 0);
  if (from_last == 0 || from_last > tensor.rank || !hy_tensor_present(&tensor)) return -1;
  return static_cast<int>(tensor.rank - from_last);
}

int64_t Step(const hy_tensor& tensor, int axis) {
  const bool last = static_cast<uint32_t>(axis) + 1 == tensor.rank;
  return last ? static_cast<int64_t>(hy_type_facts(tensor.type)->block_bytes) : tensor.stride[axis];
}

// Bytes of the outputs of args, row after row.
std::vector<uint8_t> OutputBytes(const registry::Op& op, const void* args) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < op.operands().size(); ++i) {
    const hy_tensor& tensor = op.tensor(i, args);
    if ((op.operands()[i].flags & HY_OPERAND_WRITE) == 0 || !hy_tensor_present(&tensor)) continue;
    if (ops::SpanBytes(tensor) == 0) continue;
    for (int64_t r = 0; r < hy_tensor_rows(&tensor); ++r) AppendRow(tensor, r, &bytes);
  }
  return bytes;
}

void CutToRow(const registry::Op& op, int64_t row, int64_t rows, registry::ArgsCopy* args) {
  for (size_t i = 0; i < op.operands().size(); ++i) {
    hy_tensor& tensor = args->tensor(i);
    const int axis = RowAxis(op.operands()[i], tensor);
    if (axis < 0 || tensor.shape[axis] != rows) continue;
    tensor.data = static_cast<unsigned char*>(tensor.data) + row * Step(tensor, axis);
    tensor.shape[axis] = 1;
  }
}

}  // namespace

int64_t OpCaseRun::RowsToCut() const {
  int64_t rows = 0;
  for (size_t i = 0; i < op_->op->operands().size(); ++i) {
    const hy_operand& operand = op_->op->operands()[i];
    const hy_tensor& tensor = op_->op->tensor(i, after_->args());
    const int axis = RowAxis(operand, tensor);
    if (axis < 0) continue;
    // In place, a second run of a row would read what the first one wrote.
    if (registry::IsInPlace(*op_->op, after_->args(), i)) return 0;
    if ((operand.flags & HY_OPERAND_WRITE) != 0) rows = tensor.shape[axis];
  }
  return expected_ != nullptr && expected_->status != HY_OK ? 0 : rows;
}

bool OpCaseRun::OneRowAlone(int64_t row, int64_t rows, const std::vector<uint8_t>& want) {
  registry::ArgsCopy sliced(*op_->op, after_->args());
  CutToRow(*op_->op, row, rows, &sliced);
  hy_why why = {};
  if (op_->op->desc().validate(sliced.data(), &why) != HY_OK) {
    return Fail(Verdict::kFail,
                absl::StrCat("the op says it can be cut into rows, but its contract refuses row ",
                             row, " alone: ", why.text));
  }
  registry::Request request{op_->op, sliced.data(), TargetHere(1)};
  request.only = kernel_;
  const registry::Fit fit = registry::FitKernel(under_test_.registry(), request, *kernel_, false);
  if (fit.verdict != registry::Verdict::kPassedOver) return true;  // it is for many rows only
  const std::string step = absl::StrCat("row ", row, " of ", rows, " alone");
  NoteStep(step);
  after_->memory().Reset(kPoisonNan);
  RunMode mode = Mode();
  mode.workers = 1;
  KernelCall call = Call(*after_);
  call.args = sliced.data();
  if (!CheckOutcome(*after_, RunSequentially(call, mode), step)) return false;
  const std::vector<uint8_t> got = OutputBytes(*op_->op, sliced.data());
  if (got == want) return true;
  const auto at = std::mismatch(got.begin(), got.end(), want.begin()).first - got.begin();
  return Fail(Verdict::kNondeterministic,
              absl::StrCat("other bits at byte ", at, " of ", step,
                           "; the kernel declares that a row does not depend on others"));
}

bool OpCaseRun::RowsAlone() {
  if ((kernel_->desc().flags & HY_KERNEL_ROW_INVARIANT) == 0 || work_ > kHeavyWork) return true;
  const int64_t rows = RowsToCut();
  if (rows < 2) return true;
  if (!Execute(*after_, Mode(), kPoisonNan, false, "running once more")) return false;
  const int64_t chosen[] = {0, rows / 2, rows - 1};
  std::vector<std::vector<uint8_t>> want;
  for (const int64_t row : chosen) {
    registry::ArgsCopy sliced(*op_->op, after_->args());
    CutToRow(*op_->op, row, rows, &sliced);
    want.push_back(OutputBytes(*op_->op, sliced.data()));
  }
  for (size_t i = 0; i < want.size(); ++i) {
    if (!OneRowAlone(chosen[i], rows, want[i])) return false;
  }
  return true;
}

}  // namespace halyard::conformance
