// SPDX-License-Identifier: Apache-2.0
//
// Finds, opens and checks ports: those linked into the program and plugins.
#ifndef HALYARD_HAL_LOADER_H_
#define HALYARD_HAL_LOADER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "halyard/hal.h"

namespace halyard::hal {

/// A port linked into the program.
struct BuiltinPort {
  const char* name;
  hy_hal_get_fn get;
};

/// The generated list of the program (cmake/builtin_ports.cc.in). Only programs may call it.
absl::Span<const BuiltinPort> BuiltinPorts();

/// A loaded port. Held by shared_ptr: devices keep it. Never unloaded.
class Port {
 public:
  virtual ~Port() = default;
  /// The table to call: the port's own slots, NULL where it has none. Its needed verbs are present.
  virtual const hy_hal_api& api() const = 0;
  /// The table as the port gave it: the `self` of enumerate and open.
  virtual const hy_hal_api* self() const = 0;
  virtual std::string name() const = 0;
  /// Where it came from: "built in", or the path of the plugin.
  virtual std::string origin() const = 0;
};

struct LoadOptions {
  absl::Span<const BuiltinPort> builtins;
  /// Folders with manifests of plugins, after those of HALYARD_PORT_PATH and before the installed.
  std::vector<std::string> search_path;
};

/// Loads a port by a word ("linux": a builtin, else a manifest <word>.port.yaml of the search path)
/// or by a path (anything with a slash or ending in .so; a manifest too). The search path is
/// HALYARD_PORT_PATH, the options', then lib/halyard/ports beside the program. A plugin is opened
/// with RTLD_NOW|LOCAL and RTLD_NODELETE.
/// Errors   NOT_FOUND: no such port, with the names that there are, or no such file;
///          PERMISSION_DENIED: the file cannot be read; INVALID_ARGUMENT: not a shared library, cut
///          short, built for another architecture (which), no entry symbol, an undefined symbol
///          (which), a table that lacks a needed verb (which), a manifest that does not read;
///          FAILED_PRECONDITION: another ABI version (which and what to do), a library that is not
///          installed, the digest of the manifest does not fit; UNAVAILABLE: not for this platform.
absl::StatusOr<std::shared_ptr<Port>> LoadPort(absl::string_view word_or_path,
                                               const LoadOptions& options);

/// Checks a table by the size rule and copies it: the part of loading that needs no file.
/// `get` is the entry; services are HostServices(). Errors as LoadPort.
absl::StatusOr<std::shared_ptr<Port>> AdoptPort(hy_hal_get_fn get, absl::string_view name,
                                                absl::string_view origin);

/// What can be named: builtins, then plugins with a manifest in the search path.
struct PortListing {
  std::string name;
  std::string origin;
  std::string problem;  ///< why it cannot be loaded; empty if its manifest reads well
};
std::vector<PortListing> ListPorts(const LoadOptions& options);

/// Devices that a port lists now, by `enumerate`.
/// Errors   those of the verb.
absl::StatusOr<std::vector<hy_device_info>> ListDevices(const Port& port);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_LOADER_H_
