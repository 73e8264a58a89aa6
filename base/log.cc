// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <mutex>
#include <utility>

namespace halyard {
namespace {

struct SinkHolder {
  std::mutex mutex;
  LogSink sink;
};

// Leaked on purpose: threads may log while the process ends.
SinkHolder& Holder() {
  static SinkHolder* const holder = new SinkHolder;
  return *holder;
}

}  // namespace

void SetLogSink(LogSink sink) {
  const std::lock_guard<std::mutex> lock(Holder().mutex);
  Holder().sink = std::move(sink);
}

void Log(LogLevel level, absl::string_view message) {
  const std::lock_guard<std::mutex> lock(Holder().mutex);
  if (Holder().sink) Holder().sink(level, message);
}

}  // namespace halyard
