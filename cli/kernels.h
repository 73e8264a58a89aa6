// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CLI_KERNELS_H_
#define HALYARD_CLI_KERNELS_H_

#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "cli/command.h"
#include "conformance/ops/under_test.h"

namespace halyard::cli {

/// The option that adds kernels of plugins to those of the tree.
struct KernelArgs {
  std::vector<std::string> plugins;

  void AddTo(CLI::App& app) {
    app.add_option("--kernels", plugins,
                   "Plugin with kernels (./libacme_kernels.so); can be given again")
        ->allow_extra_args(false);
  }
  /// Everything that there is to run. Errors   those of a plugin.
  absl::StatusOr<std::unique_ptr<conformance::UnderTest>> Load() const {
    return conformance::UnderTest::Make(TheBuiltinOps(), plugins);
  }
};

}  // namespace halyard::cli

#endif  // HALYARD_CLI_KERNELS_H_
