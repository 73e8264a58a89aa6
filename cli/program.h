// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CLI_PROGRAM_H_
#define HALYARD_CLI_PROGRAM_H_

namespace halyard::cli {

/// Runs the command that the words name. Returns the exit code of the process.
int RunProgram(int argc, char** argv);

}  // namespace halyard::cli

#endif  // HALYARD_CLI_PROGRAM_H_
