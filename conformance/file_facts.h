// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CONFORMANCE_FILE_FACTS_H_
#define HALYARD_CONFORMANCE_FILE_FACTS_H_

#include <string>
#include <vector>

#include "conformance/result.h"

namespace halyard::conformance {

/// Adds "sha256 of NAME" for each path that is a file: which plugins were under test.
void AddFileDigests(const std::vector<std::string>& paths, RunResult* run);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_FILE_FACTS_H_
