// SPDX-License-Identifier: Apache-2.0
//
// The kernel's list format for sets of units and nodes, such as "0-3,8,10-11" and "0-30/2".
#ifndef HALYARD_BASE_CPU_LIST_H_
#define HALYARD_BASE_CPU_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace halyard {

/// Ids in ascending order, each once. An empty or blank text is an empty set.
/// Errors   INVALID_ARGUMENT: anything else that the kernel would not write, or more than 65,536
///          ids.
absl::StatusOr<std::vector<uint32_t>> ParseCpuList(absl::string_view text);

/// The shortest list text of the ids, such as "0-3,8". Order and repeats do not matter.
std::string FormatCpuList(absl::Span<const uint32_t> ids);

}  // namespace halyard

#endif  // HALYARD_BASE_CPU_LIST_H_
