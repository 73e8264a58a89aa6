// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "conformance/ops/coverage.h"
#include "conformance/report/coverage_json.h"
#include "conformance/report/report.h"
#include "conformance/report/waivers_json.h"

namespace halyard::conformance {
namespace {

using nlohmann::json;
using Facts = std::vector<std::pair<std::string, std::string>>;

constexpr char kSchema[] = "halyard-conformance/1";

json FactsToJson(const Facts& facts) {
  json object = json::object();
  for (const auto& [name, value] : facts) object[name] = value;
  return object;
}

json CaseToJson(const CaseResult& one) {
  json findings = json::array();
  for (const Finding& finding : one.findings) {
    findings.push_back(
        {{"message", finding.message}, {"file", finding.file}, {"line", finding.line}});
  }
  return {{"id", one.id},           {"level", one.level},
          {"duty", one.duty},       {"title", one.title},
          {"mode", one.mode},       {"verdict", std::string(VerdictName(one.verdict))},
          {"reason", one.reason},   {"findings", findings},
          {"seconds", one.seconds}, {"facts", FactsToJson(one.facts)}};
}

/// Reads members by name and type; the first that is wrong is kept as the error.
class Reader {
 public:
  Reader(const json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) Fail("", "is no object");
  }

  void Text(const char* name, std::string* out) {
    const json* const member = Find(name, &json::is_string, "is no string");
    if (member != nullptr) *out = member->get<std::string>();
  }
  void Number(const char* name, double* out) {
    const json* const member = Find(name, &json::is_number, "is no number");
    if (member != nullptr) *out = member->get<double>();
  }
  template <typename Integer>
  void Whole(const char* name, Integer* out) {
    const json* const member = Find(name, &json::is_number_integer, "is no whole number");
    if (member != nullptr) *out = member->get<Integer>();
  }
  void FactList(const char* name, Facts* out) {
    const json* const member = Find(name, &json::is_object, "is no object");
    if (member == nullptr) return;
    for (const auto& [key, value] : member->items()) {
      if (!value.is_string()) return Fail(name, "holds something other than strings");
      out->emplace_back(key, value.get<std::string>());
    }
  }
  const json* List(const char* name) { return Find(name, &json::is_array, "is no array"); }

  void Fail(absl::string_view name, absl::string_view what) {
    if (!error_.ok()) return;
    error_ = absl::InvalidArgumentError(
        absl::StrCat(path_.empty() && name.empty() ? "the document" : path_,
                     path_.empty() || name.empty() ? "" : ".", name, " ", what));
  }
  void Take(const absl::Status& status) {
    if (error_.ok()) error_ = status;
  }
  const absl::Status& error() const { return error_; }

 private:
  const json* Find(const char* name, bool (json::*is_type)() const noexcept, const char* problem) {
    if (!error_.ok()) return nullptr;
    const auto member = object_.find(name);
    if (member == object_.end()) {
      Fail(name, "is missing");
      return nullptr;
    }
    if (((*member).*is_type)()) return &*member;
    Fail(name, problem);
    return nullptr;
  }

  const json& object_;
  std::string path_;
  absl::Status error_;
};

absl::StatusOr<Verdict> VerdictFromName(absl::string_view name) {
  for (int i = 0; i < kVerdictCount; ++i) {
    if (VerdictName(static_cast<Verdict>(i)) == name) return static_cast<Verdict>(i);
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown verdict '", name, "'"));
}

void ReadFindings(Reader& reader, const std::string& path, CaseResult* out) {
  const json* const list = reader.List("findings");
  if (list == nullptr) return;
  for (size_t i = 0; i < list->size(); ++i) {
    Reader item((*list)[i], absl::StrCat(path, ".findings[", i, "]"));
    Finding finding;
    item.Text("message", &finding.message);
    item.Text("file", &finding.file);
    item.Whole("line", &finding.line);
    reader.Take(item.error());
    out->findings.push_back(std::move(finding));
  }
}

absl::StatusOr<CaseResult> CaseFromJson(const json& object, const std::string& path) {
  CaseResult one;
  std::string verdict;
  Reader reader(object, path);
  reader.Text("id", &one.id);
  reader.Text("level", &one.level);
  reader.Text("duty", &one.duty);
  reader.Text("title", &one.title);
  reader.Text("mode", &one.mode);
  reader.Text("verdict", &verdict);
  reader.Text("reason", &one.reason);
  reader.Number("seconds", &one.seconds);
  reader.FactList("facts", &one.facts);
  ReadFindings(reader, path, &one);
  HY_RETURN_IF_ERROR(reader.error());
  const absl::StatusOr<Verdict> known = VerdictFromName(verdict);
  if (!known.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ".verdict: ", known.status().message()));
  }
  one.verdict = *known;
  return one;
}

}  // namespace

json ToJson(const RunResult& result) {
  const Summary summary = result.Summarise();
  json cases = json::array();
  for (const CaseResult& one : result.cases) cases.push_back(CaseToJson(one));
  json document = {{"schema", kSchema},
                   {"level", result.level},
                   {"port", result.port},
                   {"port_origin", result.port_origin},
                   {"port_version", result.port_version},
                   {"device", result.device},
                   {"device_name", result.device_name},
                   {"started_utc", result.started_utc},
                   {"seconds", result.seconds},
                   {"shard", result.shard},
                   {"shards", result.shards},
                   {"facts", FactsToJson(result.facts)},
                   {"summary",
                    {{"passed", summary.passed},
                     {"failed", summary.failed},
                     {"weak", summary.weak},
                     {"skipped", summary.skipped},
                     {"waived", summary.waived},
                     {"fallback", summary.fallback},
                     {"holds", Holds(result)}}},
                   {"cases", cases}};
  if (!result.waivers.empty()) document["waivers"] = WaiversToJson(result.waivers);
  if (result.level == "L1") document["coverage"] = CoverageToJson(result);
  return document;
}

absl::StatusOr<RunResult> FromJson(absl::string_view text) {
  const json document = json::parse(text.begin(), text.end(), nullptr, false);
  if (document.is_discarded()) return absl::InvalidArgumentError("no JSON document");
  RunResult result;
  std::string schema;
  Reader reader(document, "");
  reader.Text("schema", &schema);
  if (reader.error().ok() && schema != kSchema)
    reader.Fail("schema", "is another than " + std::string(kSchema));
  reader.Text("level", &result.level);
  reader.Text("port", &result.port);
  reader.Text("port_origin", &result.port_origin);
  reader.Text("port_version", &result.port_version);
  reader.Text("device", &result.device);
  reader.Text("device_name", &result.device_name);
  reader.Text("started_utc", &result.started_utc);
  reader.Number("seconds", &result.seconds);
  reader.Whole("shard", &result.shard);
  reader.Whole("shards", &result.shards);
  reader.FactList("facts", &result.facts);
  const json* const cases = reader.List("cases");
  HY_RETURN_IF_ERROR(reader.error());
  for (size_t i = 0; i < cases->size(); ++i) {
    HY_ASSIGN_OR_RETURN(CaseResult one, CaseFromJson((*cases)[i], absl::StrCat("cases[", i, "]")));
    result.cases.push_back(std::move(one));
  }
  if (document.contains("waivers")) {
    HY_ASSIGN_OR_RETURN(result.waivers, WaiversFromJson(document["waivers"]));
  }
  return result;
}

std::string CaseToJsonLine(const CaseResult& one) {
  return CaseToJson(one).dump(-1, ' ', true, json::error_handler_t::replace);
}

absl::StatusOr<CaseResult> CaseFromJsonLine(absl::string_view line) {
  const json document = json::parse(line.begin(), line.end(), nullptr, false);
  if (document.is_discarded()) return absl::InvalidArgumentError("no JSON object");
  return CaseFromJson(document, "case");
}

}  // namespace halyard::conformance
