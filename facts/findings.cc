// SPDX-License-Identifier: Apache-2.0
#include "facts/findings.h"

#include <iterator>

namespace halyard::facts {

absl::string_view SeverityName(Severity severity) {
  static constexpr absl::string_view kNames[] = {"info", "warning", "error"};
  return kNames[static_cast<size_t>(severity)];
}

std::vector<Finding> LookAtAll(const Machine& machine) {
  std::vector<Finding> all;
  for (const auto look : {&LookAtIsa, &LookAtSheet, &LookAtThreads, &LookAtClock, &LookAtMemory,
                          &LookAtMemoryLimits}) {
    std::vector<Finding> found = look(machine);
    all.insert(all.end(), std::make_move_iterator(found.begin()),
               std::make_move_iterator(found.end()));
  }
  return all;
}

}  // namespace halyard::facts
