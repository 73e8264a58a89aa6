// SPDX-License-Identifier: Apache-2.0
#include "conformance/graph/one_by_one.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "conformance/crumbs.h"
#include "conformance/ops/abi_call.h"

namespace halyard::conformance {
namespace {

std::vector<uint8_t> RowsOf(const hy_tensor& t) {
  std::vector<uint8_t> bytes;
  const uint64_t row_bytes = hy_type_row_bytes(t.type, hy_tensor_cols(&t));
  for (int64_t r = 0; row_bytes > 0 && r < hy_tensor_rows(&t); ++r) {
    const auto* row = static_cast<const uint8_t*>(hy_tensor_row(&t, r));
    bytes.insert(bytes.end(), row, row + row_bytes);
  }
  return bytes;
}

bool IsExact(const reference::Expected& expected) {
  return std::all_of(expected.outputs.begin(), expected.outputs.end(),
                     [](const reference::ExpectedOutput& out) {
                       return (out.exact || !out.bytes.empty()) && out.alternatives.empty();
                     });
}

}  // namespace

std::string StepText(const Graph& graph, size_t step, const registry::Kernel* kernel) {
  const GraphStep& one = graph.steps[step];
  return absl::StrCat("step ", one.label, " (", one.op,
                      kernel == nullptr ? "" : absl::StrCat(" by ", kernel->id()), ")");
}

OneByOne::OneByOne(GraphMemory* memory, const std::vector<StepKernel>* kernels, const RunMode& mode,
                   std::string what)
    : memory_(memory), kernels_(*kernels), mode_(mode), what_(std::move(what)) {}

bool OneByOne::Fail(size_t step, Verdict verdict, const std::string& reason,
                    CaseResult* out) const {
  out->verdict = verdict;
  out->reason = absl::StrCat(StepText(memory_->graph(), step, kernels_[step].kernel), ": ", reason,
                             " (", what_, ")");
  out->findings.push_back({out->reason, "", 0});
  return false;
}

bool OneByOne::Run(uint8_t poison, bool closely, CaseResult* out) {
  memory_->Reset(poison);
  records_.assign(memory_->graph().steps.size(), {});
  determined_.clear();
  for (const GraphTensor& t : memory_->graph().tensors) {
    determined_.push_back(t.origin != Origin::kValue);
  }
  bits_ = memory_->Bits();
  status_ = HY_OK;
  for (size_t step = 0; step < records_.size(); ++step) {
    if (RunStep(step, out)) continue;
    if (closely && !records_[step].judgement.holds()) LookAt(step, poison, out);
    return false;
  }
  return true;
}

KernelCall OneByOne::CallOf(size_t step) const {
  return {&kernels_[step].kernel->desc(), records_[step].args.data(), kernels_[step].params};
}

void OneByOne::KeepBefore(size_t step) {
  const registry::Op& op = *memory_->op(step).op;
  std::vector<std::vector<uint8_t>>& before = records_[step].before;
  before.assign(op.operands().size(), {});
  for (size_t i = 0; i < before.size(); ++i) {
    const hy_tensor& t = op.tensor(i, records_[step].args.data());
    if ((op.operands()[i].flags & HY_OPERAND_WRITE) != 0 && hy_tensor_present(&t)) {
      before[i] = RowsOf(t);
    }
  }
}

bool OneByOne::RunStep(size_t step, CaseResult* out) {
  const TestedOp& op = memory_->op(step);
  const hy_kernel_desc& desc = kernels_[step].kernel->desc();
  NoteStep(absl::StrCat(StepText(memory_->graph(), step, kernels_[step].kernel), ", ", what_));
  StepRecord& record = records_[step];
  record.args = memory_->ArgsFor(step, desc.layout);
  const std::vector<uint64_t> canonical = memory_->ArgsFor(step, HY_LAYOUT_CANONICAL);
  const absl::Status judged = op.reference->expect(
      canonical.data(), {desc.activation, desc.accumulator, desc.flags}, &record.expected);
  if (!judged.ok()) {
    return Fail(step, Verdict::kFail,
                absl::StrCat("the reference cannot judge: ", judged.ToString()), out);
  }
  KeepBefore(step);
  const RunOutcome outcome = RunSequentially(CallOf(step), mode_);
  if (!Judge(step, outcome, out) || !CheckOthers(step, out)) return false;
  NoteDetermined(step);
  return CheckEqualities(step, out);
}

RowBeforeFn OneByOne::BeforeFn(size_t step) const {
  return [this, step](const hy_tensor& tensor, int64_t row) {
    const registry::Op& op = *memory_->op(step).op;
    const std::vector<std::vector<uint8_t>>& before = records_[step].before;
    for (size_t i = 0; i < before.size(); ++i) {
      const hy_tensor& t = op.tensor(i, records_[step].args.data());
      if (before[i].empty() || t.data != tensor.data) continue;
      const auto row_bytes =
          static_cast<std::ptrdiff_t>(hy_type_row_bytes(tensor.type, hy_tensor_cols(&tensor)));
      const auto first = before[i].begin() + row_bytes * row;
      return std::vector<uint8_t>(first, first + row_bytes);
    }
    return std::vector<uint8_t>();
  };
}

bool OneByOne::Judge(size_t step, const RunOutcome& outcome, CaseResult* out) {
  if (!outcome.scratch_fault.empty()) {
    return Fail(step, Verdict::kMemoryViolation, outcome.scratch_fault, out);
  }
  const std::vector<std::string> damage = memory_->Damage();
  if (!damage.empty()) return Fail(step, Verdict::kMemoryViolation, damage.front(), out);
  if (outcome.abi_faults != 0) {
    return Fail(step, Verdict::kAbiViolation, DescribeAbiFaults(outcome.abi_faults), out);
  }
  StepRecord& record = records_[step];
  if (outcome.status != record.expected.status) {
    return Fail(step, Verdict::kFail,
                absl::StrCat("it returns ", hy_status_name(outcome.status), ", not ",
                             hy_status_name(record.expected.status)),
                out);
  }
  if (status_ == HY_OK) status_ = outcome.status;
  const hy_op_desc& op = memory_->op(step).op->desc();
  record.judgement =
      JudgeOutputs(op, record.args.data(), record.expected, BeforeFn(step), Gates::kWithoutBias);
  if (record.judgement.holds()) return true;
  return Fail(step, Verdict::kFail, record.judgement.Reason(op), out);
}

// What a step does not name as its output it must leave alone, wherever it knows it from.
bool OneByOne::CheckOthers(size_t step, CaseResult* out) {
  const std::vector<int> own = memory_->WrittenBy(step);
  for (const int number : memory_->written()) {
    std::vector<uint8_t>& known = bits_[static_cast<size_t>(number)];
    std::vector<uint8_t> now = memory_->BitsOf(number);
    if (std::find(own.begin(), own.end(), number) != own.end()) {
      records_[step].after.emplace_back(number, now);
      known = std::move(now);
    } else if (known != now) {
      return Fail(step, Verdict::kMemoryViolation,
                  absl::StrCat("it writes to ", memory_->graph().tensor(number).name,
                               ", which is none of its operands"),
                  out);
    }
  }
  return true;
}

bool OneByOne::IsPromised(const Equality& equality) const {
  for (const size_t step : equality.same_kernel) {
    const registry::Kernel* const kernel = kernels_[step].kernel;
    if (kernel != kernels_[equality.same_kernel.front()].kernel) return false;
    if ((kernel->desc().flags & equality.flags) != equality.flags) return false;
  }
  return true;
}

bool OneByOne::CheckEqualities(size_t step, CaseResult* out) {
  for (const Equality& equality : memory_->graph().equalities) {
    if (equality.after != step || !IsPromised(equality)) continue;
    const std::vector<uint8_t> a = memory_->BitsOf(equality.a);
    const std::vector<uint8_t> b = memory_->BitsOf(equality.b);
    if (a == b) continue;
    const auto at = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
    const hy_tensor& t = memory_->tensor(equality.a);
    const auto row = static_cast<std::ptrdiff_t>(hy_type_row_bytes(t.type, hy_tensor_cols(&t)));
    return Fail(
        step, Verdict::kFail,
        absl::StrCat(memory_->graph().tensor(equality.a).name, " and ",
                     memory_->graph().tensor(equality.b).name, " differ, first in row ", at / row,
                     ", byte ", at % row, ", though the contract says that ", equality.promise),
        out);
  }
  return true;
}

void OneByOne::NoteDetermined(size_t step) {
  const hy_kernel_desc& desc = kernels_[step].kernel->desc();
  bool all = IsExact(records_[step].expected) &&
             (desc.activation == HY_QA_ANY || desc.activation == HY_QA_NONE);
  const registry::Op& op = *memory_->op(step).op;
  const GraphStep& one = memory_->graph().steps[step];
  const auto owner = [&](const char* name) {
    return static_cast<size_t>(memory_->graph().Owner(one.operand(name)));
  };
  for (const hy_operand& operand : op.operands()) {
    if (one.operand(operand.name) < 0 || (operand.flags & HY_OPERAND_READ) == 0) continue;
    all = all && determined_[owner(operand.name)];
  }
  for (const hy_operand& operand : op.operands()) {
    if (one.operand(operand.name) < 0 || (operand.flags & HY_OPERAND_WRITE) == 0) continue;
    // A part of a tensor that was not determined does not make it so.
    const GraphTensor& t = memory_->graph().tensor(one.operand(operand.name));
    const bool whole = t.origin != Origin::kView;
    determined_[owner(operand.name)] = all && (whole || determined_[owner(operand.name)]);
  }
}

GraphBits OneByOne::BitsAfter(size_t steps) const {
  GraphBits bits(memory_->graph().tensors.size());
  for (size_t step = 0; step < steps; ++step) {
    for (const auto& [number, rows] : records_[step].after)
      bits[static_cast<size_t>(number)] = rows;
  }
  return bits;
}

Judgement OneByOne::JudgeAgain(const GraphMemory& memory, size_t step) const {
  const hy_op_desc& op = memory.op(step).op->desc();
  const std::vector<uint64_t> args = memory.ArgsFor(step, kernels_[step].kernel->desc().layout);
  const StepRecord& record = records_[step];
  const auto before = [&](const hy_tensor& tensor, int64_t row) {
    for (size_t i = 0; i < record.before.size(); ++i) {
      if (hy_operand_tensor(&op.operands[i], args.data())->data != tensor.data) continue;
      if (record.before[i].empty()) continue;
      return BeforeFn(step)(memory_->op(step).op->tensor(i, record.args.data()), row);
    }
    return std::vector<uint8_t>();
  };
  return JudgeOutputs(op, args.data(), record.expected, before, Gates::kWithoutBias);
}

// All steps run again up to this one, whose workers are watched.
void OneByOne::LookAt(size_t step, uint8_t poison, CaseResult* out) {
  Sight sight;
  sight.op = &memory_->op(step).op->desc();
  sight.kernel = &kernels_[step].kernel->desc();
  sight.args = records_[step].args.data();
  sight.workers = mode_.workers;
  sight.restore = [&] {
    memory_->Reset(poison);
    for (size_t i = 0; i < step; ++i) RunSequentially(CallOf(i), mode_);
  };
  sight.run_again = [&](const Sight::AfterWorkerFn& after_worker) {
    RunSequentially(CallOf(step), mode_, after_worker);
  };
  TellBadElements(sight, records_[step].judgement, records_[step].expected, out);
}

}  // namespace halyard::conformance
