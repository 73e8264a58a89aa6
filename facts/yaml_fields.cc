// SPDX-License-Identifier: Apache-2.0
#include "facts/yaml_fields.h"

#include <algorithm>
#include <exception>
#include <new>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace halyard::facts {
namespace {

constexpr uint32_t kMostItems = 100'000;

// yaml-cpp marks a quoted scalar with this tag, a plain one with "?".
bool IsPlain(const YAML::Node& node) { return node.Tag() != "!"; }

bool AllDigits(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

// A leading zero would be octal to some readers of YAML and decimal to others.
bool ParseWhole(absl::string_view text, uint32_t* out) {
  absl::string_view hex = text;
  if (absl::ConsumePrefix(&hex, "0x")) {
    return !hex.empty() && std::all_of(hex.begin(), hex.end(), absl::ascii_isxdigit) &&
           absl::SimpleHexAtoi(hex, out);
  }
  return AllDigits(text) && (text.size() == 1 || text[0] != '0') && absl::SimpleAtoi(text, out);
}

bool ParseDecimal(absl::string_view text, double* out) {
  const size_t point = text.find('.');
  const bool form = AllDigits(text.substr(0, point)) &&
                    (point == absl::string_view::npos || AllDigits(text.substr(point + 1)));
  return form && absl::SimpleAtod(text, out);
}

// What YAML makes no text of, unless it is quoted.
bool IsOtherType(absl::string_view text) {
  double number = 0;
  uint32_t whole = 0;
  const std::string lower = absl::AsciiStrToLower(text);
  for (const absl::string_view word :
       {"", "~", "null", "true", "false", "yes", "no", "on", "off"}) {
    if (lower == word) return true;
  }
  return absl::SimpleAtod(text, &number) || ParseWhole(text, &whole);
}

bool IsUnknown(const YAML::Node& node) {
  return node.IsScalar() && IsPlain(node) && node.Scalar() == "unknown";
}

}  // namespace

void YamlFault::SetKey(absl::string_view key, const YAML::Mark& mark) {
  key_ = std::string(key);
  key_mark_ = mark;
}

// A value that is not there is marked where the next thing begins.
void YamlFault::Value(const YAML::Node& node, absl::string_view must) {
  At(node.IsNull() ? key_mark_ : node.Mark(), absl::StrCat("'", key_, "' ", must));
}

void YamlFault::At(const YAML::Mark& mark, absl::string_view what) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      mark.is_null() ? std::string(what) : absl::StrCat("line ", mark.line + 1, ": ", what));
}

bool YamlFault::Spend() { return ++spent_ <= kMostItems; }

void ReadAnyText(const YAML::Node& node, YamlFault* fault, std::string* out) {
  if (!node.IsScalar() || (IsPlain(node) && IsOtherType(node.Scalar()))) {
    return fault->Value(node, "must be a text; quote what looks like a number or a truth value");
  }
  *out = node.Scalar();
}

void ReadText(const YAML::Node& node, YamlFault* fault, std::string* out) {
  ReadAnyText(node, fault, out);
  if (absl::StripAsciiWhitespace(*out).empty()) fault->Value(node, "must be a text, not blank");
}

void ReadWhole(const YAML::Node& node, YamlFault* fault, uint32_t* out) {
  if (!node.IsScalar() || !IsPlain(node) || !ParseWhole(node.Scalar(), out)) {
    fault->Value(node, "must be a whole number below 2^32, such as 64 or 0xd01");
  }
}

void ReadFlag(const YAML::Node& node, YamlFault* fault, bool* out) {
  const bool yes = node.IsScalar() && IsPlain(node) && node.Scalar() == "true";
  const bool no = node.IsScalar() && IsPlain(node) && node.Scalar() == "false";
  if (!yes && !no) fault->Value(node, "must be true or false");
  *out = yes;
}

void ReadNumber(const YAML::Node& node, YamlFault* fault, double* out) {
  if (!node.IsScalar() || !IsPlain(node) || !ParseDecimal(node.Scalar(), out) || *out <= 0) {
    fault->Value(node, "must be a number above 0");
  }
}

void ReadWholeOrUnknown(const YAML::Node& node, YamlFault* fault, std::optional<uint32_t>* out) {
  if (IsUnknown(node)) return;
  uint32_t value = 0;
  ReadWhole(node, fault, &value);
  if (value == 0) fault->Value(node, "must be a whole number above 0, or unknown");
  *out = value;
}

void ReadNumberOrUnknown(const YAML::Node& node, YamlFault* fault, std::optional<double>* out) {
  if (IsUnknown(node)) return;
  double value = 0;
  ReadNumber(node, fault, &value);
  *out = value;
}

YamlMap::YamlMap(const YAML::Node& node, YamlFault* fault) : mark_(node.Mark()), fault_(fault) {
  if (!node.IsMap()) {
    fault->At(mark_, "expected a map of keys and values");
    return;
  }
  for (const auto& pair : node) Add(pair.first, pair.second);
}

void YamlMap::Add(const YAML::Node& key_node, const YAML::Node& value) {
  const YAML::Mark mark = key_node.Mark();
  if (!key_node.IsScalar()) return fault_->At(mark, "a key is not a word");
  const std::string& key = key_node.Scalar();
  const bool repeated = std::any_of(entries_.begin(), entries_.end(),
                                    [&key](const Entry& entry) { return entry.key == key; });
  if (repeated) return fault_->At(mark, absl::StrCat("key '", key, "' stands there twice"));
  if (!fault_->Spend()) return fault_->At(mark, "the file holds too much");
  entries_.push_back({key, mark, value});
}

const YAML::Node* YamlMap::Take(absl::string_view key, bool needed) {
  for (Entry& entry : entries_) {
    if (entry.key != key) continue;
    entry.taken = true;
    fault_->SetKey(key, entry.mark);
    return &entry.node;
  }
  if (needed && missing_.empty()) missing_ = std::string(key);
  return nullptr;
}

size_t YamlMap::GetOneOf(absl::string_view key, std::initializer_list<absl::string_view> choices) {
  const YAML::Node* const node = Take(key, true);
  if (node == nullptr) return 0;
  if (node->IsScalar()) {
    const auto place = std::find(choices.begin(), choices.end(), node->Scalar());
    if (place != choices.end()) return static_cast<size_t>(place - choices.begin());
  }
  fault_->Value(*node, absl::StrCat("must be one of: ", absl::StrJoin(choices, ", ")));
  return 0;
}

// A slip of the pen makes one key unknown and another missing: the unknown one has the better line.
void YamlMap::End() {
  for (const Entry& entry : entries_) {
    if (!entry.taken) fault_->At(entry.mark, absl::StrCat("unknown key '", entry.key, "'"));
  }
  if (!missing_.empty()) fault_->At(mark_, absl::StrCat("key '", missing_, "' is missing"));
}

absl::Status ReadYaml(const std::string& name, const std::string& text,
                      const std::function<void(const YAML::Node&, YamlFault*)>& read) {
  YamlFault fault;
  if (text.size() > kMostYamlBytes) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": larger than 256 KiB"));
  }
  const auto foreign = std::find_if_not(text.begin(), text.end(), absl::ascii_isascii);
  if (foreign != text.end()) {
    const auto line = std::count(text.begin(), foreign, '\n') + 1;
    return absl::InvalidArgumentError(absl::StrCat(name, ": line ", line, ": not ASCII"));
  }
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() == 1) {
      read(documents.front(), &fault);
    } else {
      fault.At(YAML::Mark::null_mark(), "expected one YAML document");
    }
  } catch (const YAML::Exception& error) {
    fault = YamlFault();
    fault.At(error.mark, error.msg);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat(name, ": no memory to read it"));
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", error.what()));
  }
  if (fault.status().ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", fault.status().message()));
}

}  // namespace halyard::facts
