// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CLI_CONFORM_BUNDLE_H_
#define HALYARD_CLI_CONFORM_BUNDLE_H_

#include "cli/command.h"

namespace halyard::cli {

/// `halyard conform pack` and `halyard conform verify`.
void AddBundleCommands(CLI::App& conform, const Program& program);

}  // namespace halyard::cli

#endif  // HALYARD_CLI_CONFORM_BUNDLE_H_
