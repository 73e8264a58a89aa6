// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "ops/builtin.h"

namespace halyard {
namespace {

struct Lists {
  std::vector<const hy_kernel_desc*> kernels;
  std::vector<const hy_layout_desc*> layouts;
};

Lists Flatten(const BuiltinOps& all) {
  Lists lists;
  for (const reference::ReferenceOp* reference : all.references)
    lists.kernels.push_back(reference->kernel);
  uint64_t count = 0;
  for (const KernelTableFn table : all.kernels) {
    const hy_kernel_desc* const* first = table(&count);
    lists.kernels.insert(lists.kernels.end(), first, first + count);
  }
  for (const LayoutTableFn table : all.layouts) {
    const hy_layout_desc* const* first = table(&count);
    lists.layouts.insert(lists.layouts.end(), first, first + count);
  }
  return lists;
}

}  // namespace

const hy_kernel_table& BuiltinKernelTable() {
  static const Lists lists = Flatten(TheBuiltinOps());
  static const hy_kernel_table table = {sizeof(hy_kernel_table),
                                        HY_KERNEL_ABI_MAJOR,
                                        HY_KERNEL_ABI_MINOR,
                                        0,
                                        "halyard",
                                        lists.kernels.data(),
                                        lists.kernels.size(),
                                        lists.layouts.data(),
                                        lists.layouts.size(),
                                        TheBuiltinOps().ops.data(),
                                        TheBuiltinOps().ops.size()};
  return table;
}

}  // namespace halyard
