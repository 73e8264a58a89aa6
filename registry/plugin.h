// SPDX-License-Identifier: Apache-2.0
//
// Kernels from plugins: libraries of their own, and those of ports.
#ifndef HALYARD_REGISTRY_PLUGIN_H_
#define HALYARD_REGISTRY_PLUGIN_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "hal/loader.h"
#include "halyard/kernel.h"
#include "registry/registry.h"

namespace halyard::registry {

/// Adds what the library at `path` gives by HY_KERNELS_GET_NAME.
/// Errors   as hal::LoadPort for a file; INVALID_ARGUMENT: no such entry, a table that cannot be
///          used; FAILED_PRECONDITION: another kernel ABI.
absl::Status AddPlugin(const std::string& path, Registry* registry);

/// Adds the kernels in a port's own library, if it is a plugin and has any.
absl::Status AddPortKernels(const hal::Port& port, Registry* registry);

/// Asks an entry for its table, and adds it: the part that needs no file. For tests.
absl::Status AddByEntry(hy_kernels_get_fn get, const std::string& origin, Registry* registry);

/// Which plugins a program loads.
struct PluginOptions {
  std::vector<std::string> files;    ///< named by the user: a problem is an error
  std::vector<std::string> folders;  ///< all *.so in them: a problem is a warning in the log
  const hal::Port* port = nullptr;   ///< whose own kernels are wanted, too; a problem is an error
};

/// Folders with kernels that are there without being named: HALYARD_KERNEL_PATH, then
/// lib/halyard/kernels beside the program.
std::vector<std::string> DefaultKernelFolders();

/// A registry of the program's own table and plugins, with the environment's overrides.
/// Errors   those of `built_in` and of options.files.
absl::StatusOr<std::unique_ptr<Registry>> MakeRegistry(const hy_kernel_table& built_in,
                                                       const PluginOptions& options);

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_PLUGIN_H_
