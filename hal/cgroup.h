// SPDX-License-Identifier: Apache-2.0
//
// Where the cgroups of this process lie in the file system, for both versions of cgroups.
#ifndef HALYARD_HAL_CGROUP_H_
#define HALYARD_HAL_CGROUP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "hal/system_view.h"

namespace halyard::hal {

/// The group of this process in one mounted hierarchy.
struct CgroupPath {
  int version = 2;                   ///< 1 or 2
  std::vector<std::string> folders;  ///< the group itself, then its parents up to the mount
};

/// Groups in which `controller` ("cpu", "cpuset") may be at work: those of the v1 hierarchies that
/// have it, and those of v2. Parents above a container's mount cannot be seen, and are not listed.
std::vector<CgroupPath> FindCgroups(const SystemView& view, absl::string_view controller);

/// Units that the cpuset of this process holds; nothing if there is no cpuset.
std::optional<std::vector<uint32_t>> ReadCpuset(const SystemView& view);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_CGROUP_H_
