// SPDX-License-Identifier: Apache-2.0
//
// Opens a plugin's library, and says in words why it cannot be opened.
#ifndef HALYARD_HAL_SHARED_LIBRARY_H_
#define HALYARD_HAL_SHARED_LIBRARY_H_

#include <string>

#include "absl/status/statusor.h"

namespace halyard::hal {

/// A library that stays loaded to the end of the process.
class SharedLibrary {
 public:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  /// Address of an exported symbol; nullptr if there is none.
  void* Find(const char* symbol) const;

 private:
  void* handle_;
};

/// Opens with RTLD_NOW|LOCAL and RTLD_NODELETE. A path without a slash is looked for in the system's
/// library folders.
/// Errors   as LoadPort for a file.
absl::StatusOr<SharedLibrary> OpenSharedLibrary(const std::string& path);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_SHARED_LIBRARY_H_
