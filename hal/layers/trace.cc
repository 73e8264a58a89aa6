// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/monotonic_clock.h"
#include "base/status_macros.h"
#include "hal/layers/interposer.h"
#include "hal/layers/layers.h"

namespace halyard::hal {
namespace {

// Small numbers are easier to tell apart in a trace than those of the system.
uint32_t ThreadNumber() {
  static std::atomic<uint32_t> next{1};
  thread_local const uint32_t number = next.fetch_add(1);
  return number;
}

// In quotes by JSON's rules. Bytes that are no ASCII become the character of their number, so that
// any text of a caller gives a valid document.
std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    const unsigned code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      absl::StrAppend(&quoted, "\\", std::string(1, letter));
    } else if (code < 0x20 || code > 0x7e) {
      absl::StrAppendFormat(&quoted, "\\u%04x", code);
    } else {
      quoted += letter;
    }
  }
  return quoted + "\"";
}

std::string Hex(uint64_t address) { return absl::StrFormat("0x%x", address); }

std::string ValueText(const Argument& argument, bool json) {
  switch (argument.kind) {
    case Argument::Kind::kNumber:
      return absl::StrCat(argument.number);
    case Argument::Kind::kAddress:
      return json ? Quoted(Hex(argument.number)) : Hex(argument.number);
    case Argument::Kind::kText:
      if (argument.text == nullptr) return "null";
      return Quoted(argument.text);
    case Argument::Kind::kOutHandle:
      break;
  }
  const void* handle = argument.out_handle == nullptr ? nullptr : *argument.out_handle;
  const std::string hex = Hex(reinterpret_cast<uintptr_t>(handle));
  return json ? Quoted(hex) : hex;
}

class TraceLayer : public Interposer {
 public:
  TraceLayer(std::shared_ptr<Port> inner, bool json,
             std::function<void(absl::string_view)> write_line)
      : Interposer(std::move(inner)), json_(json), write_line_(std::move(write_line)) {}

 protected:
  hy_status Around(const Call& call, absl::FunctionRef<hy_status()> proceed) override {
    const uint64_t sequence = next_.fetch_add(1);
    const uint64_t begin_ns = MonotonicRawNs();
    const hy_status status = proceed();
    const uint64_t duration_ns = MonotonicRawNs() - begin_ns;
    const std::string line = json_ ? JsonLine(call, sequence, status, duration_ns)
                                   : TextLine(call, sequence, status, duration_ns);
    const std::lock_guard<std::mutex> lock(mutex_);
    write_line_(line);
    return status;
  }

 private:
  // A handle that a failed call did not make is not shown.
  static bool Shown(const Argument& argument, hy_status status) {
    return argument.kind != Argument::Kind::kOutHandle || status == HY_OK;
  }

  static std::string JsonLine(const Call& call, uint64_t sequence, hy_status status, uint64_t ns) {
    std::string line = absl::StrCat("{\"sequence\":", sequence, ",\"thread\":", ThreadNumber(),
                                    ",\"verb\":\"", VerbName(call.verb), "\",\"arguments\":{");
    const char* separator = "";
    for (const Argument& argument : call.arguments) {
      if (!Shown(argument, status)) continue;
      absl::StrAppend(&line, separator, "\"", argument.name, "\":", ValueText(argument, true));
      separator = ",";
    }
    absl::StrAppend(&line, "},\"status\":\"", hy_status_name(status), "\",\"ns\":", ns, "}");
    return line;
  }

  static std::string TextLine(const Call& call, uint64_t sequence, hy_status status, uint64_t ns) {
    std::string line =
        absl::StrCat("#", sequence, " thread ", ThreadNumber(), " ", VerbName(call.verb), "(");
    const char* separator = "";
    std::string made;
    for (const Argument& argument : call.arguments) {
      const std::string text = absl::StrCat(argument.name, "=", ValueText(argument, false));
      if (argument.kind == Argument::Kind::kOutHandle) {
        if (Shown(argument, status)) made = absl::StrCat(" ", text);
        continue;
      }
      absl::StrAppend(&line, separator, text);
      separator = ", ";
    }
    return absl::StrCat(line, ") ", hy_status_name(status), made, " ", ns, " ns");
  }

  const bool json_;
  std::atomic<uint64_t> next_{1};
  std::mutex mutex_;  // one line at a time
  const std::function<void(absl::string_view)> write_line_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Port>> WithTrace(std::shared_ptr<Port> port, bool json,
                                                std::function<void(absl::string_view)> write_line) {
  if (port == nullptr || !write_line) {
    return absl::InvalidArgumentError("a trace needs a port and somewhere to write to");
  }
  auto layer = std::make_shared<TraceLayer>(std::move(port), json, std::move(write_line));
  HY_RETURN_IF_ERROR(layer->Attach());
  return layer;
}

}  // namespace halyard::hal
