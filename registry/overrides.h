// SPDX-License-Identifier: Apache-2.0
//
// Settings by hand that say which kernel is taken: HALYARD_FORCE_KERNEL, HALYARD_DISABLE_KERNEL.
#ifndef HALYARD_REGISTRY_OVERRIDES_H_
#define HALYARD_REGISTRY_OVERRIDES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "registry/registry.h"

namespace halyard::registry {

/// Marks kernels. `force`: "op=id-or-glob[,op=...]", the highest of those that can run a call goes
/// first. `disable`: "glob[,glob]"; a reference stays, so that "*" leaves the references; what is
/// forced as well stays, too. A glob matches whole ids, with *, ? and [].
/// Returns a line for each part that says nothing: no such op, no kernel that matches, no '='. Such a
/// part changes nothing. Threads: as Registry::Add.
std::vector<std::string> ApplyOverrides(absl::string_view force, absl::string_view disable,
                                        Registry* registry);

/// As ApplyOverrides, with the values of the environment; problems go to the log as warnings.
void ApplyEnvironment(Registry* registry);

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_OVERRIDES_H_
