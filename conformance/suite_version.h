// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CONFORMANCE_SUITE_VERSION_H_
#define HALYARD_CONFORMANCE_SUITE_VERSION_H_

#include <string>
#include <utility>
#include <vector>

namespace halyard::conformance {

inline constexpr char kSuiteFact[] = "suite";
inline constexpr char kCommitFact[] = "source_commit";  ///< as of when the build was configured
inline constexpr char kDirtyFact[] = "source_dirty";  ///< "yes": with changes on top of the commit

/// Which suite this is: version, commit, whether the tree had changes. "unknown" where the sources
/// were no Git tree.
std::vector<std::pair<std::string, std::string>> SuiteFacts();

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_SUITE_VERSION_H_
