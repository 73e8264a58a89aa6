// SPDX-License-Identifier: Apache-2.0
#include "registry/fallback_log.h"

#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace halyard::registry {

void FallbackLog::Note(absl::string_view op, absl::string_view from, absl::string_view to,
                       absl::string_view reason) const {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Key key(op, from, to, reason);
    if (++counts_[std::move(key)] > 1) return;
  }
  Log(LogLevel::kWarning, absl::StrCat(op, ": ", to.empty() ? "the registry's choice" : to,
                                       " runs instead of ", from, ": ", reason));
}

std::vector<Fallback> FallbackLog::Read() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Fallback> fallbacks;
  for (const auto& [key, count] : counts_) {
    fallbacks.push_back(
        {std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key), count});
  }
  return fallbacks;
}

uint64_t FallbackLog::total() const {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t total = 0;
  for (const auto& entry : counts_) total += entry.second;
  return total;
}

}  // namespace halyard::registry
