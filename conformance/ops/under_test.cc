// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/under_test.h"

#include "base/cpu_features.h"
#include "base/status_macros.h"
#include "registry/overrides.h"
#include "registry/plugin.h"
#include "registry/select.h"

namespace halyard::conformance {

absl::StatusOr<std::unique_ptr<UnderTest>> UnderTest::Make(const BuiltinOps& builtin,
                                                           const hy_kernel_table& builtin_kernels,
                                                           const std::vector<std::string>& plugins,
                                                           const hy_kernel_table* extra) {
  auto under_test = std::make_unique<UnderTest>();
  registry::Registry& registry = under_test->registry_;
  HY_RETURN_IF_ERROR(registry.Add(builtin_kernels, "built in", true));
  for (const std::string& path : plugins) {
    HY_RETURN_IF_ERROR(registry::AddPlugin(path, &registry));
  }
  // What the environment disables is not there for programs, and is not tested. A mutant is.
  registry::ApplyEnvironment(&registry);
  if (extra != nullptr) HY_RETURN_IF_ERROR(registry.Add(*extra, "mutant", false));
  for (size_t i = 0; i < builtin.ops.size(); ++i) {
    const registry::Op* const op = registry.FindOp(builtin.ops[i]->name);
    if (op == nullptr) continue;
    under_test->ops_.push_back({op, builtin.cases[i], builtin.references[i]});
  }
  return under_test;
}

const TestedOp* UnderTest::Find(absl::string_view op) const {
  for (const TestedOp& one : ops_) {
    if (one.op->name() == op) return &one;
  }
  return nullptr;
}

hy_kernel_target TargetHere(uint32_t workers) {
  return registry::MakeTarget(LiveIsa(), workers, LiveVectorBytes());
}

}  // namespace halyard::conformance
