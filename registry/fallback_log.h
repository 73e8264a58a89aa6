// SPDX-License-Identifier: Apache-2.0
//
// Every time something else ran than was first in line, with the reason: counted always, said once.
#ifndef HALYARD_REGISTRY_FALLBACK_LOG_H_
#define HALYARD_REGISTRY_FALLBACK_LOG_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"

namespace halyard::registry {

struct Fallback {
  std::string op;
  std::string from;  ///< kernel that was to run, or the setting that named it
  std::string to;    ///< kernel that ran; empty: whatever selection gave
  std::string reason;
  uint64_t count = 0;
};

/// Threads: any.
class FallbackLog {
 public:
  /// Counts one; the first with this op, from, to and reason is a warning in the log.
  void Note(absl::string_view op, absl::string_view from, absl::string_view to,
            absl::string_view reason) const;

  /// In the order of op, from, to, reason.
  std::vector<Fallback> Read() const;
  uint64_t total() const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  mutable std::mutex mutex_;
  mutable std::map<Key, uint64_t> counts_;
};

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_FALLBACK_LOG_H_
