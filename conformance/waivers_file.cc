// SPDX-License-Identifier: Apache-2.0
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "conformance/waivers.h"

namespace halyard::conformance {
namespace {

struct Key {
  const char* name;
  std::string Waiver::*place;
};

constexpr Key kKeys[] = {{"id", &Waiver::id},           {"cases", &Waiver::cases},
                         {"kernel", &Waiver::kernel},   {"device", &Waiver::device},
                         {"reason", &Waiver::reason},   {"issue", &Waiver::issue},
                         {"expires", &Waiver::expires}, {"approved_by", &Waiver::approved_by}};
constexpr char kMaxError[] = "max_err_T";

absl::Status Wrong(const Waiver& waiver, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("waiver ", waiver.id.empty() ? "without id" : waiver.id, ": ", what));
}

absl::Status SetKey(const std::string& key, const std::string& value, Waiver* waiver) {
  if (key == kMaxError) {
    if (absl::SimpleAtod(value, &waiver->max_error) && std::isfinite(waiver->max_error) &&
        waiver->max_error > 0) {
      return absl::OkStatus();
    }
    return Wrong(*waiver, absl::StrCat(kMaxError, " is no number above 0: '", value, "'"));
  }
  for (const Key& known : kKeys) {
    if (key != known.name) continue;
    if (value.empty()) return Wrong(*waiver, absl::StrCat("'", key, "' is empty"));
    waiver->*known.place = value;
    return absl::OkStatus();
  }
  return Wrong(*waiver, absl::StrCat("unknown key '", key, "'"));
}

absl::Status CheckComplete(const Waiver& waiver) {
  for (const Key& known : kKeys) {
    const bool needed = known.place != &Waiver::device;
    if (needed && (waiver.*known.place).empty()) {
      return Wrong(waiver, absl::StrCat("no '", known.name, "'"));
    }
  }
  return waiver.max_error > 0 ? absl::OkStatus()
                              : Wrong(waiver, absl::StrCat("no '", kMaxError, "'"));
}

// A waiver names one op and does not take every kernel.
absl::Status CheckValues(const Waiver& waiver, int64_t today) {
  const std::vector<std::string> parts = absl::StrSplit(waiver.cases, '/');
  if (parts.size() < 3 || parts[0] != "L1" || parts[1].empty() ||
      parts[1].find_first_of("*?") != std::string::npos) {
    return Wrong(waiver, "'cases' does not begin with L1/OP/");
  }
  if (waiver.kernel.find_first_not_of("*?") == std::string::npos) {
    return Wrong(waiver, "'kernel' fits every kernel");
  }
  if (!absl::StartsWith(waiver.issue, "https://") && !absl::StartsWith(waiver.issue, "http://")) {
    return Wrong(waiver, "'issue' is no address (https://...)");
  }
  const absl::StatusOr<int64_t> last = DayOf(waiver.expires);
  if (!last.ok()) return Wrong(waiver, last.status().message());
  if (*last > today + kMostWaiverDays) {
    return Wrong(waiver, absl::StrCat("'expires' is more than ", kMostWaiverDays, " days ahead"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Waiver> ReadEntry(const YAML::Node& node, int64_t today) {
  if (!node.IsMap()) return absl::InvalidArgumentError("a waiver is no map of keys");
  Waiver waiver;
  if (node["id"]) waiver.id = node["id"].as<std::string>();  // so that faults name it
  std::set<std::string> seen;
  for (const auto& field : node) {
    const auto key = field.first.as<std::string>();
    if (!seen.insert(key).second) return Wrong(waiver, absl::StrCat("'", key, "' twice"));
    HY_RETURN_IF_ERROR(SetKey(key, field.second.as<std::string>(), &waiver));
  }
  HY_RETURN_IF_ERROR(CheckComplete(waiver));
  HY_RETURN_IF_ERROR(CheckValues(waiver, today));
  return waiver;
}

absl::StatusOr<std::vector<Waiver>> ReadDocument(const YAML::Node& root, int64_t today) {
  if (!root.IsMap() || root.size() != 1 || !root["waivers"] || !root["waivers"].IsSequence()) {
    return absl::InvalidArgumentError("there is to be one list, 'waivers'");
  }
  std::vector<Waiver> waivers;
  std::set<std::string> ids;
  for (const YAML::Node& item : root["waivers"]) {
    HY_ASSIGN_OR_RETURN(Waiver waiver, ReadEntry(item, today));
    if (!ids.insert(waiver.id).second) return Wrong(waiver, "the id is there twice");
    waivers.push_back(std::move(waiver));
  }
  return waivers;
}

bool Number(absl::string_view text, int* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

absl::StatusOr<int64_t> DayOf(absl::string_view date) {
  const auto wrong = [&] {
    return absl::InvalidArgumentError(absl::StrCat("'", date, "' is no date such as 2026-05-31"));
  };
  int year = 0;
  int month = 0;
  int day = 0;
  if (date.size() < 10 || (date.size() > 10 && date[10] != 'T') || date[4] != '-' ||
      date[7] != '-' || !Number(date.substr(0, 4), &year) || !Number(date.substr(5, 2), &month) ||
      !Number(date.substr(8, 2), &day) || month < 1 || day < 1) {
    return wrong();
  }
  const std::chrono::year_month_day parts{std::chrono::year(year),
                                          std::chrono::month(static_cast<unsigned>(month)),
                                          std::chrono::day(static_cast<unsigned>(day))};
  if (!parts.ok()) return wrong();
  return std::chrono::sys_days(parts).time_since_epoch().count();
}

absl::StatusOr<std::vector<Waiver>> ParseWaivers(absl::string_view yaml, absl::string_view today) {
  HY_ASSIGN_OR_RETURN(const int64_t day, DayOf(today));
  // The one place where yaml-cpp's exceptions end.
  try {
    return ReadDocument(YAML::Load(std::string(yaml)), day);
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

absl::StatusOr<std::vector<Waiver>> ReadWaivers(const std::string& path, absl::string_view today) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat("no file of waivers at ", path));
  std::stringstream text;
  text << file.rdbuf();
  absl::StatusOr<std::vector<Waiver>> waivers = ParseWaivers(text.str(), today);
  if (waivers.ok()) return waivers;
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", waivers.status().message()));
}

}  // namespace halyard::conformance
