// SPDX-License-Identifier: Apache-2.0
//
// All ops of the tree, as the build collected them (cmake/ops.cmake).
#ifndef HALYARD_OPS_BUILTIN_H_
#define HALYARD_OPS_BUILTIN_H_

#include <cstdint>

#include "absl/types/span.h"
#include "halyard/kernel.h"
#include "ops/case.h"
#include "reference/reference.h"

namespace halyard {

using KernelTableFn = const hy_kernel_desc* const* (*)(uint64_t* count);
using LayoutTableFn = const hy_layout_desc* const* (*)(uint64_t* count);

/// In the order of ops/CMakeLists.txt; ops, cases and references go together by index.
struct BuiltinOps {
  absl::Span<const hy_op_desc* const> ops;
  absl::Span<const ops::OpCases* const> cases;
  absl::Span<const reference::ReferenceOp* const> references;
  absl::Span<const KernelTableFn> kernels;
  absl::Span<const LayoutTableFn> layouts;
};

const BuiltinOps& TheBuiltinOps();

/// The same as one table of provider "halyard", references included: what a registry is filled with.
const hy_kernel_table& BuiltinKernelTable();

}  // namespace halyard

#endif  // HALYARD_OPS_BUILTIN_H_
