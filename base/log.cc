// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace halyard {
namespace {

struct SinkHolder {
  absl::Mutex mutex;
  LogSink sink ABSL_GUARDED_BY(mutex);
};

// Leaked on purpose: threads may log while the process ends.
SinkHolder& Holder() {
  static SinkHolder* const holder = new SinkHolder;
  return *holder;
}

}  // namespace

void SetLogSink(LogSink sink) {
  absl::MutexLock lock(&Holder().mutex);
  Holder().sink = std::move(sink);
}

void Log(LogLevel level, absl::string_view message) {
  absl::MutexLock lock(&Holder().mutex);
  if (Holder().sink) Holder().sink(level, message);
}

}  // namespace halyard
