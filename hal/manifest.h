// SPDX-License-Identifier: Apache-2.0
//
// The small file that names a plugin: <name>.port.yaml. Reading it runs nothing of the plugin.
#ifndef HALYARD_HAL_MANIFEST_H_
#define HALYARD_HAL_MANIFEST_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace halyard::hal {

inline constexpr absl::string_view kManifestSuffix = ".port.yaml";

/// True for a port's name: a lower-case letter, then lower-case letters, digits and underscores,
/// at most 64 in all.
bool IsPortName(absl::string_view name);

struct Manifest {
  std::string name;
  std::string file;  ///< path of the library; a relative one begins at the manifest's folder
  uint32_t abi_major = 0;
  uint32_t abi_minor = 0;
  std::string min_host;  ///< least version of Halyard, such as "0.1.0"; empty: any
  std::string sha256;    ///< of the library, 64 lower-case hex digits; empty: not checked
  std::string description;
  std::string vendor;
};

/// Reads and checks a manifest; `path` must end in kManifestSuffix and begin with its name.
/// Errors   NOT_FOUND, PERMISSION_DENIED; INVALID_ARGUMENT with the line: not YAML, an unknown,
///          repeated, missing or malformed key.
absl::StatusOr<Manifest> ReadManifest(const std::string& path);

/// OK if this Halyard can load what the manifest names: ABI, least host, digest of the library.
/// Errors   FAILED_PRECONDITION with what differs and what to do; NOT_FOUND: no library.
absl::Status CheckManifest(const Manifest& manifest);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_MANIFEST_H_
