// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/waivers_json.h"

#include "absl/strings/str_cat.h"

namespace halyard::conformance {
namespace {

using nlohmann::json;

struct Member {
  const char* name;
  std::string Waiver::*place;
};
constexpr Member kTexts[] = {{"id", &Waiver::id},           {"cases", &Waiver::cases},
                             {"kernel", &Waiver::kernel},   {"device", &Waiver::device},
                             {"reason", &Waiver::reason},   {"issue", &Waiver::issue},
                             {"expires", &Waiver::expires}, {"approved_by", &Waiver::approved_by}};
constexpr char kMaxError[] = "max_err_T";

}  // namespace

json WaiversToJson(const std::vector<Waiver>& waivers) {
  json list = json::array();
  for (const Waiver& one : waivers) {
    json object = {{kMaxError, one.max_error}};
    for (const Member& member : kTexts) object[member.name] = one.*member.place;
    list.push_back(std::move(object));
  }
  return list;
}

absl::StatusOr<std::vector<Waiver>> WaiversFromJson(const json& document) {
  const auto wrong = [](absl::string_view name) {
    return absl::InvalidArgumentError(absl::StrCat("waivers: ", name, " is missing or no text"));
  };
  std::vector<Waiver> waivers;
  if (!document.is_array()) return absl::InvalidArgumentError("waivers is no array");
  for (const json& object : document) {
    Waiver one;
    for (const Member& member : kTexts) {
      const bool there = object.is_object() && object.contains(member.name);
      if (!there || !object[member.name].is_string()) return wrong(member.name);
      one.*member.place = object[member.name].get<std::string>();
    }
    if (!object.contains(kMaxError) || !object[kMaxError].is_number()) return wrong(kMaxError);
    one.max_error = object[kMaxError].get<double>();
    waivers.push_back(std::move(one));
  }
  return waivers;
}

}  // namespace halyard::conformance
