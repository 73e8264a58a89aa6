// SPDX-License-Identifier: Apache-2.0
//
// The one file that is built again when the commit changes.
#include "conformance/suite_version.h"

namespace halyard::conformance {

std::vector<std::pair<std::string, std::string>> SuiteFacts() {
  return {{kSuiteFact, HALYARD_SUITE_VERSION},
          {kCommitFact, HALYARD_SOURCE_COMMIT},
          {kDirtyFact, HALYARD_SOURCE_DIRTY}};
}

}  // namespace halyard::conformance
