// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CLI_FILES_H_
#define HALYARD_CLI_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace halyard::cli {

/// The whole file.
/// Errors   NOT_FOUND, PERMISSION_DENIED: with the path and the system's reason.
absl::StatusOr<std::string> ReadFile(const std::string& path);

/// Writes the whole file, by way of a temporary one beside it, so that a reader never sees half.
/// Errors   PERMISSION_DENIED, with the path, the system's reason and what to do.
absl::Status WriteFile(const std::string& path, const std::string& contents);

/// Makes a folder and its parents and proves that it can be written to.
absl::Status MakeWritableDir(const std::string& path);

}  // namespace halyard::cli

#endif  // HALYARD_CLI_FILES_H_
