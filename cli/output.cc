// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/command.h"
#include "nlohmann/json.hpp"

namespace halyard::cli {

void Output::Text(absl::string_view text) const {
  std::FILE* const stream = json ? stderr : stdout;
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

void Output::Progress(absl::string_view line) const {
  if (isatty(STDERR_FILENO) != 0) {
    std::fprintf(stderr, "\r\033[K%.*s", static_cast<int>(line.size()), line.data());
    std::fflush(stderr);
  } else {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  }
}

void Output::EndProgress() const {
  if (isatty(STDERR_FILENO) != 0) std::fputs("\r\033[K", stderr);
}

void Output::Document(const nlohmann::json& document) const {
  if (!json) return;
  const std::string text = DocumentText(document);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

int Output::Fail(const absl::Status& status) const { return Fail(status, CodeOf(status)); }

int Output::Fail(const absl::Status& status, ExitCode code) const {
  const std::string message(status.message());
  std::fprintf(stderr, "halyard: %s\n", message.c_str());
  Document({{"error",
             {{"status", absl::StatusCodeToString(status.code())},
              {"message", message},
              {"exit_code", static_cast<int>(code)}}}});
  return code;
}

ExitCode CodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kHolds;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kOutOfRange:
      return kWrongInput;
    default:
      return kCannotRun;
  }
}

std::string DocumentText(const nlohmann::json& document) {
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::function<std::string(const std::string&)> Within(double least, double most) {
  const std::string range = absl::StrFormat("%g to %g", least, most);
  return [least, most, range](const std::string& text) {
    double value = 0;
    const bool within = absl::SimpleAtod(text, &value) && value >= least && value <= most;
    return within ? std::string() : absl::StrCat(text, " is no number from ", range);
  };
}

std::string HumanBytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  const bool whole = value == static_cast<double>(static_cast<uint64_t>(value));
  return whole ? absl::StrFormat("%.0f %s", value, kUnits[unit])
               : absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

}  // namespace halyard::cli
