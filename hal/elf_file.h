// SPDX-License-Identifier: Apache-2.0
//
// Looks at a shared library before the dynamic linker does: its messages name neither the
// architecture found nor the one wanted, and a file cut short would kill the process.
#ifndef HALYARD_HAL_ELF_FILE_H_
#define HALYARD_HAL_ELF_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace halyard::hal {

/// OK if `path` is a complete shared library for this program's architecture.
/// Errors   NOT_FOUND, PERMISSION_DENIED; INVALID_ARGUMENT: anything else, said in words.
absl::Status CheckSharedLibrary(const std::string& path);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_ELF_FILE_H_
