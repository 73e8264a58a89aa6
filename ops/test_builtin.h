// SPDX-License-Identifier: Apache-2.0
//
// For tests: an op of the tree by its name, and the kernels of it that this processor runs.
#ifndef HALYARD_OPS_TEST_BUILTIN_H_
#define HALYARD_OPS_TEST_BUILTIN_H_

#include <set>
#include <string>
#include <vector>

#include "base/cpu_features.h"
#include "ops/builtin.h"

namespace halyard::ops {

struct TestOp {
  const hy_op_desc* desc = nullptr;
  const OpCases* cases = nullptr;
  const reference::ReferenceOp* reference = nullptr;
};

/// Nothing if there is none of that name.
inline TestOp FindOp(const std::string& name) {
  const BuiltinOps& all = TheBuiltinOps();
  for (size_t i = 0; i < all.ops.size(); ++i) {
    if (name == all.ops[i]->name) return {all.ops[i], all.cases[i], all.references[i]};
  }
  return {};
}

/// The reference first.
inline std::vector<const hy_kernel_desc*> KernelsOf(const TestOp& op) {
  const IsaMask live = LiveIsa();
  std::vector<const hy_kernel_desc*> kernels = {op.reference->kernel};
  for (const KernelTableFn table : TheBuiltinOps().kernels) {
    uint64_t count = 0;
    const hy_kernel_desc* const* list = table(&count);
    for (uint64_t i = 0; i < count; ++i) {
      const bool runs = (list[i]->isa[0] & ~live[0]) == 0 && (list[i]->isa[1] & ~live[1]) == 0;
      if (runs && std::string(list[i]->op) == op.desc->name) kernels.push_back(list[i]);
    }
  }
  return kernels;
}

/// Products and attention have tests of their own.
inline std::vector<std::string> OpsOnRows() {
  const std::set<std::string> others = {"matmul", "matmul_id", "attention", "kv_append"};
  std::vector<std::string> names;
  for (const hy_op_desc* op : TheBuiltinOps().ops) {
    if (others.count(op->name) == 0) names.emplace_back(op->name);
  }
  return names;
}

}  // namespace halyard::ops

#endif  // HALYARD_OPS_TEST_BUILTIN_H_
