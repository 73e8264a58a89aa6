// SPDX-License-Identifier: Apache-2.0
#include "conformance/file_facts.h"

#include "absl/strings/str_cat.h"
#include "conformance/bundle/sha256.h"
#include "conformance/plan.h"

namespace halyard::conformance {

void AddFileDigests(const std::vector<std::string>& paths, RunResult* run) {
  for (const std::string& path : paths) {
    if (path.find('/') == std::string::npos) continue;  // built in
    const absl::StatusOr<std::string> digest = Sha256OfFile(path);
    if (digest.ok()) SetFact(absl::StrCat("sha256 of ", PortLabel(path)), *digest, run);
  }
}

}  // namespace halyard::conformance
