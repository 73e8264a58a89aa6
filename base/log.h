// SPDX-License-Identifier: Apache-2.0
//
// The log of the libraries. They never print: a program installs a sink, else lines are dropped.
#ifndef HALYARD_BASE_LOG_H_
#define HALYARD_BASE_LOG_H_

#include <cstdint>
#include <functional>

#include "absl/strings/string_view.h"

namespace halyard {

enum class LogLevel : uint32_t { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };

using LogSink = std::function<void(LogLevel level, absl::string_view message)>;

/// Replaces the sink; an empty one drops every line. Threads: any; the sink is called by one thread
/// at a time.
void SetLogSink(LogSink sink);

/// Writes a line, without newline. Threads: any.
void Log(LogLevel level, absl::string_view message);

}  // namespace halyard

#endif  // HALYARD_BASE_LOG_H_
