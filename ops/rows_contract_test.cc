// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with an operand is refused with a reason that names it: each operand of each op on rows
// in turn, in each way that operands can be wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "absl/strings/ascii.h"
#include "ops/data/plain_builder.h"
#include "ops/test_builtin.h"

namespace halyard::ops {
namespace {

using testing::HasSubstr;

// Whether a text has a word, not only letters of it.
bool HasWord(const std::string& text, const std::string& word) {
  const auto is_letter = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_letter(text[at - 1]);
    const size_t end = at + word.size();
    if (begins && (end == text.size() || !is_letter(text[end]))) return true;
  }
  return false;
}

// Args of a case that has elements in all operands, with rank 2 or more where the op allows it.
class ValidArgs {
 public:
  explicit ValidArgs(const TestOp& op) : op_(op) {
    op.cases->enumerate(Tier::kQuick, &cases_);
    for (const Case& c : cases_) {
      builder_ = std::make_unique<PlainBuilder>(&c);
      memory_.assign(op.desc->args_bytes / 8 + 8, 0);
      if (op.cases->build(c, *builder_, memory_.data()).ok() && IsLarge()) return;
    }
    ADD_FAILURE() << "no case of " << op.desc->name << " will do";
  }
  // A copy with one thing changed.
  std::vector<uint64_t> With(uint32_t operand,
                             const std::function<void(hy_tensor*)>& change) const {
    std::vector<uint64_t> copy = memory_;
    change(Operand(operand, copy.data()));
    return copy;
  }
  hy_tensor* Operand(uint32_t i, void* args) const {
    return const_cast<hy_tensor*>(hy_operand_tensor(&op_.desc->operands[i], args));
  }
  hy_tensor Operand(uint32_t i) const {
    return *hy_operand_tensor(&op_.desc->operands[i], memory_.data());
  }
  const std::vector<uint64_t>& memory() const { return memory_; }

 private:
  bool IsLarge() const {
    for (uint32_t i = 0; i < op_.desc->operand_count; ++i) {
      const hy_tensor t = Operand(i);
      if (hy_tensor_present(&t) && hy_tensor_rows(&t) * hy_tensor_cols(&t) < 2) return false;
    }
    return true;
  }

  const TestOp op_;
  std::vector<Case> cases_;
  std::unique_ptr<PlainBuilder> builder_;
  std::vector<uint64_t> memory_;
};

class RowsContract : public testing::TestWithParam<std::string> {
 protected:
  RowsContract() : op_(FindOp(GetParam())), valid_(op_) {}

  void ExpectRefused(const std::vector<uint64_t>& args, const std::string& name, const char* what) {
    hy_why why = {};
    EXPECT_EQ(op_.desc->validate(args.data(), &why), HY_INVALID_ARGUMENT) << name << ": " << what;
    EXPECT_TRUE(HasWord(why.text, name))
        << what << ": the reason does not name " << name << ": " << why.text;
  }
  // Each operand that is there, changed.
  void EachRefused(const char* what, const std::function<bool(hy_tensor*)>& change) {
    for (uint32_t i = 0; i < op_.desc->operand_count; ++i) {
      const hy_tensor operand = valid_.Operand(i);
      if (!hy_tensor_present(&operand)) continue;
      bool changed = false;
      const auto args = valid_.With(i, [&](hy_tensor* t) { changed = change(t); });
      if (changed) ExpectRefused(args, op_.desc->operands[i].name, what);
    }
  }

  const TestOp op_;
  const ValidArgs valid_;
};

TEST_P(RowsContract, TakesWhatIsRight) {
  hy_why why = {};
  EXPECT_EQ(op_.desc->validate(valid_.memory().data(), &why), HY_OK) << why.text;
  EXPECT_EQ(op_.desc->validate(valid_.memory().data(), nullptr), HY_OK);
  EXPECT_GT(op_.desc->flops(valid_.memory().data()) + 1, 0u);
}

TEST_P(RowsContract, TakesAPlanWithoutMemory) {
  std::vector<uint64_t> args = valid_.memory();
  for (uint32_t i = 0; i < op_.desc->operand_count; ++i)
    valid_.Operand(i, args.data())->data = nullptr;
  EXPECT_EQ(op_.desc->validate(args.data(), nullptr), HY_OK);
}

TEST_P(RowsContract, RefusesOtherVersionsOfTheArgs) {
  hy_why why = {};
  EXPECT_EQ(op_.desc->validate(nullptr, &why), HY_INVALID_ARGUMENT);
  std::vector<uint64_t> args = valid_.memory();
  auto* size = reinterpret_cast<uint32_t*>(args.data());
  *size = op_.desc->args_bytes - 1;
  EXPECT_EQ(op_.desc->validate(args.data(), &why), HY_INVALID_ARGUMENT);
  EXPECT_THAT(why.text, HasSubstr("struct_size"));
  *size = op_.desc->args_bytes + 8;
  EXPECT_EQ(op_.desc->validate(args.data(), &why), HY_OK) << "a tail of zeros: " << why.text;
  args[op_.desc->args_bytes / 8] = 1;
  EXPECT_EQ(op_.desc->validate(args.data(), &why), HY_INVALID_ARGUMENT) << "an unknown field";
}

TEST_P(RowsContract, RefusesMissingOperands) {
  for (uint32_t i = 0; i < op_.desc->operand_count; ++i) {
    if ((op_.desc->operands[i].flags & HY_OPERAND_OPTIONAL) != 0) continue;
    const auto args = valid_.With(i, [](hy_tensor* t) { *t = {}; });
    ExpectRefused(args, op_.desc->operands[i].name, "missing");
  }
}

TEST_P(RowsContract, RefusesRanksAndTypes) {
  EachRefused("rank 0", [](hy_tensor* t) { return t->rank = 0, true; });
  EachRefused("rank 5", [](hy_tensor* t) { return t->rank = 5, true; });
  EachRefused("type that is none", [](hy_tensor* t) { return t->type = 63, true; });
  EachRefused("type beyond all", [](hy_tensor* t) { return t->type = 0x80000000u, true; });
  EachRefused("type i8", [](hy_tensor* t) { return t->type = HY_TYPE_I8, true; });
  EachRefused("packed", [](hy_tensor* t) { return t->layout = 7, true; });
}

TEST_P(RowsContract, RefusesSizes) {
  EachRefused("negative", [](hy_tensor* t) { return t->shape[0] = -1, true; });
  EachRefused("least", [](hy_tensor* t) { return t->shape[0] = INT64_MIN, true; });
  EachRefused("negative columns", [](hy_tensor* t) { return t->shape[t->rank - 1] = -4, true; });
  EachRefused("huge", [](hy_tensor* t) { return t->shape[0] = INT64_MAX, true; });
  EachRefused("huge columns",
              [](hy_tensor* t) { return t->shape[t->rank - 1] = INT64_MAX / 256 * 256, true; });
}

TEST_P(RowsContract, RefusesStrides) {
  EachRefused("negative", [](hy_tensor* t) {
    t->stride[0] = -t->stride[0];
    return t->rank > 1 && t->shape[0] > 1;
  });
  EachRefused("rows that overlap", [](hy_tensor* t) {
    t->stride[0] = 0;
    return t->rank > 1 && t->shape[0] > 1;
  });
  EachRefused("not a multiple of the element", [](hy_tensor* t) {
    t->stride[0] += 1;
    return t->rank > 1 && t->shape[0] > 1 && !hy_type_is_weights(t->type);
  });
  EachRefused("beyond memory", [](hy_tensor* t) {
    t->stride[0] = INT64_MAX / 64 * 64;
    return t->rank > 1 && t->shape[0] > 1;
  });
}

TEST_P(RowsContract, RefusesAddresses) {
  EachRefused("NULL", [](hy_tensor* t) { return t->data = nullptr, true; });
  EachRefused("misaligned", [](hy_tensor* t) {
    t->data = static_cast<char*>(t->data) + 1;
    return !hy_type_is_weights(t->type);
  });
}

TEST_P(RowsContract, RefusesOutputsThatOverlap) {
  for (uint32_t out = 0; out < op_.desc->operand_count; ++out) {
    const hy_operand& operand = op_.desc->operands[out];
    const hy_tensor mine = valid_.Operand(out);
    if ((operand.flags & HY_OPERAND_WRITE) == 0 || !hy_tensor_present(&mine)) continue;
    for (uint32_t in = 0; in < op_.desc->operand_count; ++in) {
      const hy_tensor other = valid_.Operand(in);
      if (in == out || !hy_tensor_present(&other)) continue;
      const auto args =
          valid_.With(out, [&](hy_tensor* t) { t->data = static_cast<char*>(other.data) + 4; });
      ExpectRefused(args, operand.name, "overlaps in part");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, RowsContract, testing::Values("attention", "kv_append"),
                         [](const auto& one) { return one.param; });
INSTANTIATE_TEST_SUITE_P(Ops, RowsContract, testing::ValuesIn(OpsOnRows()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace halyard::ops
