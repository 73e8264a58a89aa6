// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CLI_CONFORM_GOLDEN_H_
#define HALYARD_CLI_CONFORM_GOLDEN_H_

#include "cli/command.h"

namespace halyard::cli {

/// `halyard conform golden`.
void AddGoldenCommand(CLI::App& conform, const Program& program);

}  // namespace halyard::cli

#endif  // HALYARD_CLI_CONFORM_GOLDEN_H_
