// SPDX-License-Identifier: Apache-2.0
//
// X33 and X09: args that break a contract in every way that any op has.
#include <cstring>
#include <functional>

#include "absl/strings/str_cat.h"
#include "conformance/ops/op_check.h"
#include "ops/data/plain_builder.h"

namespace halyard::conformance {
namespace {

/// Good args of an op, and what becomes of them when something is changed.
class Spoiler {
 public:
  Spoiler(const TestedOp& op, const void* good) : op_(op), good_(good) {}

  /// `spoil` gets a copy of the args, with room behind them.
  void Try(const std::string& what, const std::function<void(unsigned char*)>& spoil) {
    const uint32_t bytes = op_.op->desc().args_bytes;
    std::vector<uint64_t> words(bytes / 8 + 4, 0);
    std::memcpy(words.data(), good_, bytes);
    spoil(reinterpret_cast<unsigned char*>(words.data()));
    hy_why why = {};
    const hy_status status = op_.op->desc().validate(words.data(), &why);
    if (status != HY_INVALID_ARGUMENT) {
      taken_.push_back(absl::StrCat(what, " is not refused: ", hy_status_name(status)));
    } else if (why.text[0] == '\0') {
      taken_.push_back(absl::StrCat(what, " is refused without a reason"));
    }
  }

  void TryTensor(size_t operand, const std::string& what,
                 const std::function<void(hy_tensor&)>& spoil) {
    Try(absl::StrCat(op_.op->operands()[operand].name, ": ", what),
        [&](unsigned char* args) { spoil(op_.op->tensor(operand, args)); });
  }

  void TrySize() {
    const uint32_t bytes = op_.op->desc().args_bytes;
    const auto set_size = [](unsigned char* args, uint32_t size) {
      std::memcpy(args, &size, sizeof size);
    };
    Try("struct_size 0", [&](unsigned char* args) { set_size(args, 0); });
    Try("a struct_size that cuts the args",
        [&](unsigned char* args) { set_size(args, bytes - 4); });
    Try("a longer struct with something in the part that is not known", [&](unsigned char* args) {
      set_size(args, bytes + 8);
      args[bytes + 1] = 1;
    });
  }

  void TryOperand(size_t i) {
    const hy_operand& operand = op_.op->operands()[i];
    const hy_tensor& good = op_.op->tensor(i, good_);
    if (!hy_tensor_present(&good)) return;
    TryTensor(i, "rank 0", [](hy_tensor& t) { t.rank = 0; });
    TryTensor(i, "rank 5", [](hy_tensor& t) { t.rank = HY_MAX_RANK + 1; });
    TryTensor(i, "a type that does not exist", [](hy_tensor& t) { t.type = HY_TYPE_COUNT - 1; });
    TryTensor(i, "a negative size", [](hy_tensor& t) { t.shape[0] = -1; });
    TryTensor(i, "a size beyond memory", [](hy_tensor& t) { t.shape[0] = int64_t{1} << 62; });
    TryTensor(i, "NULL among others that are not", [](hy_tensor& t) { t.data = nullptr; });
    if ((operand.flags & HY_OPERAND_OPTIONAL) == 0) {
      TryTensor(i, "absent", [](hy_tensor& t) { std::memset(&t, 0, sizeof t); });
    }
    if (good.rank > 1 && good.shape[0] > 1) {
      TryTensor(i, "a negative stride", [](hy_tensor& t) { t.stride[0] = -t.stride[0]; });
      if ((operand.flags & HY_OPERAND_WRITE) != 0) {
        TryTensor(i, "rows of an output that overlap", [](hy_tensor& t) {
          for (uint32_t axis = 0; axis + 1 < t.rank; ++axis) t.stride[axis] = 0;
        });
      }
    }
    if ((operand.flags & HY_OPERAND_WEIGHTS) == 0) {
      TryTensor(i, "a packed layout of what is no weights", [](hy_tensor& t) { t.layout = 77; });
    }
    const int64_t alignment = ops::TypeAlignment(good.type);
    if (alignment > 1) {
      TryTensor(i, "data off the element's alignment",
                [](hy_tensor& t) { t.data = static_cast<unsigned char*>(t.data) + 1; });
    }
  }

  // An output that begins inside an input, or the other way round, is never in place.
  void TryOverlap(size_t output, size_t input) {
    const hy_tensor& in = op_.op->tensor(input, good_);
    if (!hy_tensor_present(&in) || ops::SpanBytes(in) < 8) return;
    const auto step = static_cast<int64_t>(ops::TypeAlignment(op_.op->tensor(output, good_).type));
    TryTensor(output, absl::StrCat("in part in the memory of ", op_.op->operands()[input].name),
              [&](hy_tensor& t) { t.data = static_cast<unsigned char*>(in.data) + step; });
  }

  std::vector<std::string> Take() { return std::move(taken_); }

 private:
  const TestedOp& op_;
  const void* const good_;
  std::vector<std::string> taken_;
};

// A case whose operands all have elements, so that every change breaks something.
bool HasElements(const registry::Op& op, const void* args) {
  for (size_t i = 0; i < op.operands().size(); ++i) {
    const hy_tensor& t = op.tensor(i, args);
    if (hy_tensor_present(&t) && ops::SpanBytes(t) == 0) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> TakenWrongArgs(const TestedOp& op) {
  std::vector<ops::Case> cases;
  op.cases->enumerate(ops::Tier::kQuick, &cases);
  for (const ops::Case& c : cases) {
    if (c.lay != "dense") continue;
    ops::PlainBuilder builder(&c);
    std::vector<uint64_t> words((op.op->desc().args_bytes + 7) / 8, 0);
    if (!op.cases->build(c, builder, words.data()).ok() || !builder.status().ok()) continue;
    hy_why why = {};
    if (op.op->desc().validate(words.data(), &why) != HY_OK) continue;
    if (!HasElements(*op.op, words.data())) continue;
    Spoiler spoiler(op, words.data());
    spoiler.TrySize();
    for (size_t i = 0; i < op.op->operands().size(); ++i) {
      spoiler.TryOperand(i);
      if ((op.op->operands()[i].flags & HY_OPERAND_WRITE) == 0) continue;
      if (!hy_tensor_present(&op.op->tensor(i, words.data()))) continue;
      for (size_t j = 0; j < op.op->operands().size(); ++j) {
        if (j != i) spoiler.TryOverlap(i, j);
      }
    }
    return spoiler.Take();
  }
  return {"no case of the op has elements in every operand"};
}

}  // namespace halyard::conformance
