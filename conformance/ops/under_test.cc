// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/under_test.h"

#include "base/cpu_features.h"
#include "base/status_macros.h"
#include "registry/plugin.h"
#include "registry/select.h"

namespace halyard::conformance {
namespace {

constexpr char kProvider[] = "halyard";

/// The built-in tables as one, with the arrays that it points to.
struct BuiltinTable {
  std::vector<const hy_kernel_desc*> kernels;
  std::vector<const hy_layout_desc*> layouts;
  hy_kernel_table table{};
};

const hy_kernel_table& TableOf(const BuiltinOps& builtin) {
  auto* const all = new BuiltinTable;  // descriptors live as long as the process
  for (const KernelTableFn get : builtin.kernels) {
    uint64_t count = 0;
    const hy_kernel_desc* const* const rows = get(&count);
    all->kernels.insert(all->kernels.end(), rows, rows + count);
  }
  for (const reference::ReferenceOp* one : builtin.references) {
    all->kernels.push_back(one->kernel);
  }
  for (const LayoutTableFn get : builtin.layouts) {
    uint64_t count = 0;
    const hy_layout_desc* const* const rows = get(&count);
    all->layouts.insert(all->layouts.end(), rows, rows + count);
  }
  hy_kernel_table& table = all->table;
  table.struct_size = sizeof table;
  table.abi_major = HY_KERNEL_ABI_MAJOR;
  table.abi_minor = HY_KERNEL_ABI_MINOR;
  table.provider = kProvider;
  table.kernels = all->kernels.data();
  table.kernel_count = all->kernels.size();
  table.layouts = all->layouts.data();
  table.layout_count = all->layouts.size();
  table.ops = builtin.ops.data();
  table.op_count = builtin.ops.size();
  return table;
}

}  // namespace

absl::StatusOr<std::unique_ptr<UnderTest>> UnderTest::Make(const BuiltinOps& builtin,
                                                           const std::vector<std::string>& plugins,
                                                           const hy_kernel_table* extra) {
  auto under_test = std::make_unique<UnderTest>();
  registry::Registry& registry = under_test->registry_;
  HY_RETURN_IF_ERROR(registry.Add(TableOf(builtin), "built in", true));
  for (const std::string& path : plugins) {
    HY_RETURN_IF_ERROR(registry::AddPlugin(path, &registry));
  }
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
