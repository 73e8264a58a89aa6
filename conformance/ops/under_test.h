// SPDX-License-Identifier: Apache-2.0
//
// What a run of level L1 tests: ops with cases and references, and every kernel that is there.
#ifndef HALYARD_CONFORMANCE_OPS_UNDER_TEST_H_
#define HALYARD_CONFORMANCE_OPS_UNDER_TEST_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/builtin.h"
#include "registry/registry.h"

namespace halyard::conformance {

/// One op, with what the tree knows of it.
struct TestedOp {
  const registry::Op* op = nullptr;
  const ops::OpCases* cases = nullptr;
  const reference::ReferenceOp* reference = nullptr;
};

/// A registry filled from the built-in tables and from plugins, one in a process.
class UnderTest {
 public:
  /// `extra`: a table that comes last and wins by its priorities, such as a mutant; may be NULL. All
  /// are borrowed for the life of the process.
  /// Errors   NOT_FOUND, INVALID_ARGUMENT: a plugin that cannot be loaded.
  static absl::StatusOr<std::unique_ptr<UnderTest>> Make(const BuiltinOps& builtin,
                                                         const hy_kernel_table& builtin_kernels,
                                                         const std::vector<std::string>& plugins,
                                                         const hy_kernel_table* extra = nullptr);
  /// The same for programs that link the tree's own table.
  static absl::StatusOr<std::unique_ptr<UnderTest>> Make(const BuiltinOps& builtin,
                                                         const std::vector<std::string>& plugins,
                                                         const hy_kernel_table* extra = nullptr) {
    return Make(builtin, BuiltinKernelTable(), plugins, extra);
  }

  const registry::Registry& registry() const { return registry_; }
  absl::Span<const TestedOp> ops() const { return ops_; }
  /// nullptr if there is none.
  const TestedOp* Find(absl::string_view op) const;

 private:
  registry::Registry registry_;
  std::vector<TestedOp> ops_;
};

/// What kernels can use here: the instruction sets of this machine, and its vector length.
hy_kernel_target TargetHere(uint32_t workers);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_UNDER_TEST_H_
